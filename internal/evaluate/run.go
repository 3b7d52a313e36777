package evaluate

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	stagepkg "github.com/mnem-project/mnem/internal/rank/stage"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// Defaults of requests that differ from those of retrieval: metrics look further down.
const (
	DefaultLimit  = 200
	DefaultBudget = 0 // none
)

// The ends of the names of a pair of files.
const (
	changesEnd = ".changes.jsonl"
	queriesEnd = ".queries.jsonl"
)

// commitTime is the time of the commit that holds a change file, 2000-01-01: what has no time of
// its own gets this one, so that no figure depends on the clock.
const commitTime graph.Time = 946_684_800_000_000

// maxMissing is how many missing nodes an error names.
const maxMissing = 5

// By says what the report has rows of.
type By string

// The rows there are.
const (
	ByCategory By = "cat"     // of the queries of each category; "" means this too
	ByProfile  By = "profile" // of the queries that were answered with each profile
	// ByIntent has a row of the queries of each intent, as their words tell it or they say.
	ByIntent By = "intent"
	// ByLane has a row of all queries for each lane on its own, with all else as it is: those of
	// retrieve.Request.Lanes, the exact look-up and the newest nodes.
	ByLane By = "lane"
	// ByStage has a row of all queries for each stage: where it runs without it, else with it.
	ByStage By = "stage"
)

// RunOptions says how queries are answered and what is called on the way. The zero value works.
type RunOptions struct {
	Base retrieve.Request // parameters that a query does not give itself
	// Profiles may be named by queries and Base; nil for the built-in ones alone. Those of
	// the change files do not exist: they hold no profiles.
	Profiles *retrieve.Profiles
	// By names the groups of queries that get rows of their own, besides the row over all queries.
	By By
	// Prepare, if set, is called with the repository of each pair and its only commit. It may commit
	// more, and returns the commit that queries are answered from.
	Prepare func(context.Context, *core.Repo, ipld.CID) (ipld.CID, error)
	// Ask, if set, completes the request of each query before it is answered, for example by a model.
	// It is called once a query, even if the query is answered several times. Its error ends the run.
	Ask   func(context.Context, retrieve.Request) (retrieve.Request, error)
	Shown string // what messages call the directory, "" for nothing
	// Answer, if set, is called with each query and its answer, one at a time in the order of files
	// and lines. An error ends the run and is returned unchanged.
	Answer func(*Query, *retrieve.Answer) error
	// Progress, if set, is called as work goes on; total is 0 if it is unknown.
	Progress func(what string, done, total int)
}

// Run measures all pairs NAME.changes.jsonl and NAME.queries.jsonl in the root of a file system: each pair is a
// repository of its own, which is in memory and gone afterwards. Errors in a line are a *graph.LineError; everything
// that can be seen in query files alone is seen before the first query is answered.
func Run(ctx context.Context, dir fs.FS, opt RunOptions) (*Report, error) {
	opt.Base = defaults(opt.Base)
	if opt.Progress == nil {
		opt.Progress = func(string, int, int) {}
	}
	r := &runner{dir: dir, opt: opt, report: &Report{}}
	pairs, err := r.pairs()
	if err != nil {
		return nil, err
	}
	if err := r.look(pairs); err != nil {
		return nil, err
	}
	for _, name := range pairs {
		if err := r.pair(ctx, name); err != nil {
			return nil, err
		}
	}
	r.report.All, r.report.Categories = r.sums.all.row(""), r.sums.rows()
	if r.variants() != nil {
		r.report.Categories = r.varied.rows()
	}
	return r.report, nil
}

func defaults(base retrieve.Request) retrieve.Request {
	base.Limit, base.Budget = cmp.Or(base.Limit, new(DefaultLimit)), cmp.Or(base.Budget, new(DefaultBudget))
	base.Floor = cmp.Or(base.Floor, retrieve.FloorRest) // how high what is asked for ranks, not what is printed
	return base
}

type runner struct {
	dir    fs.FS
	opt    RunOptions
	report *Report
	sums   tallies
	varied variantTallies
	types  []string // of the edges of the pair, if a variant depends on them
	done   int      // queries answered
	total  int
}

func (r *runner) shown(name string) string { return path.Join(r.opt.Shown, name) }

// pairs returns the names of the pairs, sorted.
func (r *runner) pairs() ([]string, error) {
	entries, err := fs.ReadDir(r.dir, ".")
	var perr *fs.PathError
	if errors.As(err, &perr) && r.opt.Shown != "" {
		err = fmt.Errorf("read directory %s: %w", r.opt.Shown, perr.Err)
	}
	if err != nil {
		return nil, err
	}
	there := make(map[string]bool)
	for _, e := range entries {
		there[e.Name()] = true
	}
	var names []string
	for _, e := range entries {
		name, isChanges := strings.CutSuffix(e.Name(), changesEnd)
		other := queriesEnd
		if !isChanges {
			var ok bool
			if name, ok = strings.CutSuffix(e.Name(), queriesEnd); !ok {
				continue
			}
			other = changesEnd
		}
		switch {
		case name == "":
		case !there[name+other]:
			return nil, graph.Fieldf(r.shown(e.Name()), "no %s%s next to it", name, other)
		case isChanges:
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, graph.Fieldf(r.shown("."), "no pair of files NAME%s and NAME%s", changesEnd,
			queriesEnd)
	}
	slices.Sort(names)
	return names, nil
}

// look reads all query files once, so that a mistake in the last is known before work begins.
func (r *runner) look(pairs []string) error {
	first := make(map[string]string) // where each qid stands
	for _, name := range pairs {
		queries, _, err := r.queries(name)
		if err != nil {
			return err
		}
		file := r.shown(name + queriesEnd)
		for i := range queries {
			q := &queries[i]
			if at, twice := first[q.ID]; twice {
				err := graph.Fieldf("qid", "%q is taken by %s", q.ID, at)
				return &graph.LineError{File: file, Line: q.Line, Err: err}
			}
			first[q.ID] = fmt.Sprintf("%s:%d", file, q.Line)
		}
		r.total += len(queries)
	}
	return nil
}

// queries reads a query file, and returns the hash of its bytes.
func (r *runner) queries(name string) (queries []Query, hash string, err error) {
	err = r.open(name+queriesEnd, func(f io.Reader, file string) error {
		sum := sha256.New()
		queries, err = ReadQueries(io.TeeReader(f, sum), file, r.opt.Base)
		if err == nil && len(queries) == 0 {
			err = graph.Fieldf(file, "no queries")
		}
		hash = hex.EncodeToString(sum.Sum(nil))
		return err
	})
	return queries, hash, err
}

func (r *runner) open(name string, read func(f io.Reader, file string) error) error {
	return openFile(r.dir, name, r.shown(name), read)
}

func openFile(dir fs.FS, name, shown string, read func(f io.Reader, file string) error) error {
	f, err := dir.Open(name)
	var perr *fs.PathError
	if errors.As(err, &perr) {
		err = fmt.Errorf("open %s: %w", shown, perr.Err)
	}
	if err != nil {
		return err
	}
	err = read(f, shown)
	if errors.As(err, &perr) {
		err = fmt.Errorf("read %s: %w", shown, perr.Err)
	}
	return errors.Join(err, f.Close())
}

func (r *runner) pair(ctx context.Context, name string) (err error) {
	s, rp, err := r.build(ctx, name)
	if rp != nil {
		defer func() { err = errors.Join(err, rp.Close()) }()
	}
	if err != nil {
		return err
	}
	queries, hash, err := r.queries(name)
	if err != nil {
		return err
	}
	at := func(q *Query, err error) error {
		return &graph.LineError{File: r.shown(name + queriesEnd), Line: q.Line, Err: err}
	}
	for i := range queries {
		queries[i].file = name + queriesEnd
		if err := known(ctx, s, &queries[i]); err != nil {
			return at(&queries[i], err)
		}
	}
	nodes, edges, _, _ := s.Sizes()
	r.report.Files = append(r.report.Files, FilePair{
		Name: name, Graph: s.Graph(), Nodes: int(nodes), Edges: int(edges), Queries: len(queries),
		Questions: hash,
	})
	if r.types, err = r.edgeTypes(ctx, s); err != nil {
		return err
	}
	for i := range queries {
		if err := r.query(ctx, s, &queries[i]); err != nil {
			return err
		}
		r.done++
		r.opt.Progress("queries:", r.done, r.total)
	}
	return nil
}

// query answers one query, and again for each further row.
func (r *runner) query(ctx context.Context, s *core.Snapshot, q *Query) (err error) {
	at := func(err error) error {
		return &graph.LineError{File: r.shown(q.file), Line: q.Line, Err: err}
	}
	if r.opt.Ask != nil {
		if q.Request, err = r.opt.Ask(ctx, q.Request); err != nil {
			return at(err)
		}
	}
	req, err := r.opt.Profiles.Apply(q.Request)
	if err != nil {
		return at(err)
	}
	answer, err := rank.Retrieve(ctx, s, req)
	if err != nil {
		return at(err)
	}
	category := q.Category
	if r.opt.By == ByProfile {
		category = cmp.Or(req.Profile, retrieve.DefaultProfile)
	}
	if r.opt.By == ByIntent {
		category = string(intentOf(req))
	}
	whole := Score(q, ranked(answer))
	r.sums.add(category, whole)
	if list := r.variants(); list != nil {
		if err := r.vary(ctx, s, q, list(req, answer), whole); err != nil {
			return at(err)
		}
	}
	if r.opt.Answer != nil {
		return r.opt.Answer(q, answer)
	}
	return nil
}

// Stamp says who made the commits of a pair's repository, and when.
func Stamp() state.Stamp {
	return state.Stamp{Author: "mnem bench", Time: commitTime, Command: []string{"bench", "eval"}}
}

// build makes the repository of a change file. It is returned with an error too, to be closed.
func (r *runner) build(ctx context.Context, name string) (*core.Snapshot, *core.Repo, error) {
	by := Stamp()
	rp, err := care.New(ctx, mem.New(), by, core.Options{})
	if err != nil {
		return nil, rp, err
	}
	var head ipld.CID
	err = r.open(name+changesEnd, func(f io.Reader, file string) error {
		res, err := rp.Commit(ctx, r.counted(state.ReadChanges(f, file)),
			core.CommitOptions{Stamp: by, Message: "what the questions are about"})
		if err == nil {
			head = res.Commit
		}
		return err
	})
	if err == nil && r.opt.Prepare != nil {
		head, err = r.opt.Prepare(ctx, rp, head)
	}
	if err != nil {
		return nil, rp, err
	}
	s, err := rp.At(ctx, head)
	return s, rp, err
}

func (r *runner) counted(changes state.Changes) state.Changes {
	return func(yield func(graph.Change, error) bool) {
		n := 0
		for change, err := range changes {
			if !yield(change, err) {
				return
			}
			n++
			r.opt.Progress("changes read:", n, 0)
		}
	}
}

// known refuses a query whose known answers are not there to be found.
func known(ctx context.Context, s *core.Snapshot, q *Query) error {
	if err := exist(ctx, s, "gold", q.names, q.Gold); err != nil {
		return err
	}
	return exist(ctx, s, "gold_sessions", q.Sessions, q.sessionIDs)
}

// exist refuses names of a member whose nodes do not exist.
func exist(ctx context.Context, s *core.Snapshot, member string, names []string, ids []graph.ID) error {
	var missing []string
	for i, id := range ids {
		if _, _, err := s.Node(ctx, id); errors.Is(err, store.ErrNotFound) {
			missing = append(missing, fmt.Sprintf("%q", names[i]))
		} else if err != nil {
			return err
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if more := len(missing) - maxMissing; more > 0 {
		missing = append(missing[:maxMissing], fmt.Sprintf("and %d more", more))
	}
	return graph.Fieldf(member, "the change file makes no node %s", strings.Join(missing, ", "))
}

func ranked(a *retrieve.Answer) []Ranked {
	out := make([]Ranked, len(a.Items))
	for i := range a.Items {
		it := &a.Items[i]
		out[i] = Ranked{ID: it.ID, Name: cmp.Or(it.Key, it.ID.String()), Tokens: it.Tokens}
	}
	return out
}

// intentOf returns the intent of a query: its own, or that which its words tell.
func intentOf(r retrieve.Request) retrieve.Intent {
	if r.Intent == "" || r.Intent == retrieve.IntentAuto {
		return stagepkg.ReadIntent(r.Text)
	}
	return r.Intent
}
