package evaluate

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory/check"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// CheckOptions say how checks are measured. The zero value works.
type CheckOptions struct {
	Gate check.Gate
	// Thresholds stand for the defaults; nil for these.
	Thresholds *check.Thresholds
	// Sample is how many questions of each kind count, those of the smallest hash; 0 for all.
	Sample   int
	Prepare  func(context.Context, *core.Repo, ipld.CID) (ipld.CID, error)
	Ask      func(context.Context, retrieve.Request) (retrieve.Request, error)
	Shown    string
	Progress func(what string, done, total int)
}

// Kinds of questions of a measurement of checks.
const (
	Answerable = "answerable" // as they are
	// Foreign are the questions of every other pair, which its memories answer by nothing but chance;
	// names of people in that pair are those of this one.
	Foreign = "foreign"
	// Removed are as they are with the memories that answer them left out: what is left may say it
	// again, so not every STRONG of these is false.
	Removed = "removed"
)

// CheckReport is how questions that have an answer, and others, came out.
type CheckReport struct {
	Files      []File
	Gate       check.Gate
	Thresholds check.Thresholds
	Figures    check.CheckFigures // answerable and foreign ones
	Removed    check.CheckFigures // answerable and removed ones
	// Calibration is over all questions, and not only for those of one pair.
	Calibration check.Calibration
	// LeftOut has, for each pair, how its questions come out with the thresholds that those of the
	// others give.
	LeftOut []LeftOutRow
	// Others is the sum of those.
	Others check.CheckFigures
}

// LeftOutRow is a pair measured by the others.
type LeftOutRow struct {
	Name       string
	Thresholds *check.Thresholds // nil where the others give none
	Figures    check.CheckFigures
}

// checkSet is a pair, open.
type checkSet struct {
	name    string
	rp      *core.Repo
	snap    *core.Snapshot
	queries []Query
	names   []string
}

// checkPoint is a checked question, and whose it is.
type checkPoint struct {
	check.CheckPoint
	kind   string
	of     int // the pair that was asked
	from   int // the pair whose question it is
	query  int // its place there
	sample [sha256.Size]byte
}

// Check measures what checks find, on all pairs in a directory as Run reads them. Questions that
// have no answer are made of those that have: see Foreign and Removed. With a single pair those of
// Removed stand for Foreign ones.
func Check(ctx context.Context, dir fs.FS, opt CheckOptions) (report *CheckReport, err error) {
	if opt.Progress == nil {
		opt.Progress = func(string, int, int) {}
	}
	r := &runner{dir: dir, report: &Report{}, opt: Options{
		Base: defaults(retrieve.Request{}), Shown: opt.Shown, Progress: opt.Progress,
		Prepare: opt.Prepare,
	}}
	pairs, err := r.pairs()
	if err == nil {
		err = r.look(pairs)
	}
	if err != nil {
		return nil, err
	}
	c := &checker{runner: r, opt: opt}
	defer func() { err = errors.Join(err, c.close()) }()
	for _, name := range pairs {
		if err := c.open(ctx, name); err != nil {
			return nil, err
		}
	}
	if err := c.ask(ctx); err != nil {
		return nil, err
	}
	return c.report(), nil
}

type checker struct {
	*runner
	opt    CheckOptions
	sets   []*checkSet
	points []checkPoint
}

func (c *checker) close() (err error) {
	for _, s := range c.sets {
		err = errors.Join(err, s.rp.Close())
	}
	return err
}

// open makes the repository of a pair.
func (c *checker) open(ctx context.Context, name string) error {
	set := &checkSet{name: name}
	var err error
	set.snap, set.rp, err = c.build(ctx, name)
	if set.rp != nil {
		c.sets = append(c.sets, set)
	}
	if err != nil {
		return err
	}
	queries, hash, err := c.queries(name)
	if err != nil {
		return err
	}
	for i := range queries {
		if err := known(ctx, set.snap, &queries[i]); err != nil {
			return &graph.LineError{File: c.shown(name + queriesEnd), Line: queries[i].Line, Err: err}
		}
	}
	set.queries = queries
	nodes, edges, _, _ := set.snap.Sizes()
	c.runner.report.Files = append(c.runner.report.Files, File{
		Name: name, Graph: set.snap.Graph(), Nodes: int(nodes), Edges: int(edges),
		Queries: len(queries), Questions: hash,
	})
	set.names, err = namesIn(ctx, set.snap)
	return err
}

// plan lists what is to be asked: of each kind all questions, or a sample.
func (c *checker) plan() []checkPoint {
	kinds := make(map[string][]checkPoint)
	for from, set := range c.sets {
		for i := range set.queries {
			for of := range c.sets {
				kind := Foreign
				if of == from {
					kind = Answerable
				}
				p := checkPoint{kind: kind, of: of, from: from, query: i}
				p.sample = sha256.Sum256([]byte(set.queries[i].ID + "\x00" + c.sets[of].name))
				kinds[kind] = append(kinds[kind], p)
				if of == from {
					p.kind = Removed
					kinds[Removed] = append(kinds[Removed], p)
				}
			}
		}
	}
	var out []checkPoint
	for _, kind := range []string{Answerable, Foreign, Removed} {
		list := kinds[kind]
		if n := c.opt.Sample; n > 0 && n < len(list) {
			slices.SortFunc(list, bySample)
			list = list[:n]
		}
		out = append(out, list...)
	}
	return out
}

// bySample orders points by hash.
func bySample(a, b checkPoint) int {
	return cmp.Or(bytes.Compare(a.sample[:], b.sample[:]), cmp.Compare(a.of, b.of),
		cmp.Compare(a.from, b.from), cmp.Compare(a.query, b.query))
}

// ask checks every question of the plan.
func (c *checker) ask(ctx context.Context) error {
	c.points = c.plan()
	for i := range c.points {
		p := &c.points[i]
		set := c.sets[p.from]
		q := &set.queries[p.query]
		if err := c.one(ctx, p, q); err != nil {
			return &graph.LineError{File: c.shown(set.name + queriesEnd), Line: q.Line, Err: err}
		}
		c.opt.Progress("checks:", i+1, len(c.points))
	}
	return nil
}

// one checks a question.
func (c *checker) one(ctx context.Context, p *checkPoint, q *Query) error {
	req := retrieve.Request{Text: q.Request.Text, Now: q.Request.Now}
	switch p.kind {
	case Foreign:
		req.Text = Renamed(req.Text, c.sets[p.from].names, c.sets[p.of].names)
	case Removed:
		req.Exclude = q.Gold
	}
	if c.opt.Ask != nil {
		var err error
		if req, err = c.opt.Ask(ctx, req); err != nil {
			return err
		}
	}
	res, err := check.Check(ctx, c.sets[p.of].snap, check.Request{
		Request: req, Gate: c.opt.Gate, Thresholds: c.opt.Thresholds,
	})
	if err == nil {
		p.CheckPoint = res.Point(p.kind == Answerable, q.Gold)
	}
	return err
}

// of returns the points of some kinds that keep passes, nil for all.
func (c *checker) of(keep func(checkPoint) bool, kinds ...string) []check.CheckPoint {
	var out []check.CheckPoint
	for _, p := range c.points {
		if slices.Contains(kinds, p.kind) && (keep == nil || keep(p)) {
			out = append(out, p.CheckPoint)
		}
	}
	return out
}

// report sums up.
func (c *checker) report() *CheckReport {
	t := check.DefaultThresholds()
	if c.opt.Thresholds != nil {
		t = *c.opt.Thresholds
	}
	gate := c.opt.Gate
	if gate == "" {
		gate = check.GateLexical
	}
	wrong := Foreign
	if len(c.sets) == 1 {
		wrong = Removed
	}
	all := c.of(nil, Answerable, wrong)
	with := check.CalibrateOptions{Gate: gate, Base: t}
	out := &CheckReport{
		Files: c.runner.report.Files, Gate: gate, Thresholds: t,
		Removed:     t.Measure(gate, c.of(nil, Answerable, Removed)),
		Calibration: check.Calibrate(all, with),
	}
	if wrong == Foreign {
		out.Figures = t.Measure(gate, all)
	}
	for i, set := range c.sets {
		if len(c.sets) == 1 {
			break
		}
		others := c.of(func(p checkPoint) bool { return p.of != i && p.from != i }, Answerable, wrong)
		row := LeftOutRow{Name: set.name}
		if got := check.Calibrate(others, with).Chosen; got != nil {
			row.Thresholds = &got.Thresholds
			own := c.of(func(p checkPoint) bool { return p.of == i }, Answerable, wrong)
			row.Figures = got.Thresholds.Measure(gate, own)
			out.Others = out.Others.Plus(row.Figures)
		}
		out.LeftOut = append(out.LeftOut, row)
	}
	return out
}
