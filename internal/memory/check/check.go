package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/dates"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/rank/stage"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

const (
	// checkDepth is how many memories a check compares, of so many items that retrieval finds: some
	// are nodes that memories share, and no memories.
	checkDepth = 10
	checkItems = 20
	// DefaultNearest and MaxNearest bound how many memories a check lists beside the best.
	DefaultNearest = 3
	MaxNearest     = checkDepth - 1
)

// Request asks whether a memory may be relied on for an answer.
type Request struct {
	// Request has the question in Text, which must not be blank; in Vectors what models make of it,
	// if wanted; and filters. How many items it asks for and how it prints them does not count.
	Request retrieve.Request
	// Gate is what decides; "" for GateLexical without vectors and GateFused with them.
	Gate Gate
	// Thresholds stand for those of the memory; nil for these.
	Thresholds *Thresholds
	// Nearest is how many other memories to list, default DefaultNearest, at most MaxNearest.
	Nearest *int
}

// Result is an answer to a Request: a function of commit and request alone.
type Result struct {
	Commit     ipld.CID
	Verdict    Verdict
	Gate       Gate
	Thresholds Thresholds
	// Best is what the best memory holds: STRONG relies on it, WEAK points to it. nil for MISS.
	Best *Evidence
	// Nearest are the next best; of MISS the best is the first of them.
	Nearest []*Evidence
	// Signals are those of the best memory, whatever the verdict is; nil where no memory has anything
	// of the question.
	Signals  *Evidence
	Readings []retrieve.Reading // what words that no memory has were read as

	best  *Evidence // of all that was found; nil where there is none
	apart bool      // whether words were judged apart from vectors
	words *Evidence // the best by words then, nil where there is none
}

func badParam(param, format string, args ...any) error {
	return &retrieve.RequestError{Param: param, Reason: fmt.Sprintf(format, args...)}
}

// Check says whether the memories of a snapshot hold the answer to a question, and which does. It
// reads what one retrieval of twenty items reads and these items, with GateFused what two do, and
// writes nothing. A request that breaks a bound gives a *retrieve.RequestError. Safe for concurrent
// use.
func Check(ctx context.Context, s *core.Snapshot, req Request) (*Result, error) {
	if err := req.complete(ctx, s); err != nil {
		return nil, err
	}
	if without, ok := stage.WithoutVectors(req.Request); ok && req.Gate == GateLexical {
		req.Request = without
	}
	res := &Result{Commit: s.CID(), Gate: req.Gate, Thresholds: *req.Thresholds}
	found, readings, err := gatherEvidence(ctx, s, req.Request)
	if err != nil {
		return nil, err
	}
	res.Readings = readings
	res.Verdict, found = req.Thresholds.judge(req.Gate, found)
	if len(found) > 0 {
		res.best = found[0]
	}
	if without, ok := stage.WithoutVectors(req.Request); ok && req.Gate == GateFused {
		req.Request = without
		if found, err = res.byWords(ctx, s, req, found); err != nil {
			return nil, err
		}
	}
	if len(found) == 0 {
		return res, nil
	}
	res.Signals, res.Nearest = found[0], found
	if res.Verdict != Miss {
		res.Best, res.Nearest = found[0], found[1:]
	}
	res.Nearest = res.Nearest[:min(len(res.Nearest), *req.Nearest)]
	return res, nil
}

// byWords judges what was found with vectors by these alone, and by words what a request without them
// finds; it returns what the verdict is about. Vectors raise what is like the question too, so that the
// best memory is less far ahead of the next: what words say is not taken back for that.
func (res *Result) byWords(
	ctx context.Context, s *core.Snapshot, req Request, found []*Evidence,
) ([]*Evidence, error) {
	cosines := make(map[graph.ID]map[string]int64)
	for _, e := range found {
		cosines[e.ID] = e.Cosines
	}
	words, _, err := gatherEvidence(ctx, s, req.Request)
	if err != nil {
		return nil, err
	}
	verdict, words := req.Thresholds.judge(GateLexical, words)
	for _, e := range words {
		e.Cosines = cosines[e.ID]
	}
	res.apart = true
	if len(words) > 0 {
		res.words = words[0]
	}
	near, missing := req.Thresholds.byVectors(res.best)
	if len(words) > 0 && wordsDecide(verdict, near) {
		res.Verdict = verdict
		return words, nil
	}
	if res.Verdict = near; res.best != nil {
		res.best.Missing = missing
	}
	return found, nil
}

// ThresholdsAt returns the thresholds of a snapshot's memory, and whether these are its own.
func ThresholdsAt(ctx context.Context, s *core.Snapshot) (t Thresholds, own bool, err error) {
	p, err := rank.Profiles(ctx, s)
	if err != nil {
		return t, false, err
	}
	return ThresholdsIn(p)
}

// ThresholdsIn returns the thresholds in a record of profiles, and whether it has any: docs/check.md, "Thresholds".
func ThresholdsIn(p *retrieve.Profiles) (t Thresholds, own bool, err error) {
	entries, err := memory.ParamsIn(p, verbCheck)
	if err == nil {
		t, err = thresholdsOf(entries)
	}
	if err != nil {
		err = fmt.Errorf("thresholds of check: %w", err)
	}
	return t, entries != nil, err
}

// SetThresholds makes the thresholds of a branch's memory t by one commit, which changes nothing
// else; none where they are so already. The defaults take a memory's own away.
func SetThresholds(
	ctx context.Context, r *core.Repo, t Thresholds, opt core.CommitOptions,
) (*core.CommitResult, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	return memory.SetVerbParams(ctx, r, verbCheck, t.entries(), opt)
}

// complete fills in what a request leaves open.
func (r *Request) complete(ctx context.Context, s *core.Snapshot) error {
	vectors := len(r.Request.Vectors) > 0
	if r.Gate == "" {
		if r.Gate = GateLexical; vectors {
			r.Gate = GateFused
		}
	}
	switch {
	case !slices.Contains([]Gate{GateLexical, GateSemantic, GateFused}, r.Gate):
		return badParam("gate", "%q is not lexical, semantic or fused", r.Gate)
	case r.Gate != GateLexical && !vectors:
		return badParam("gate", "%s needs a vector of the question", r.Gate)
	case blankText(r.Request.Text):
		return badParam("text", "want a question or a statement")
	case r.Nearest == nil:
		r.Nearest = new(DefaultNearest)
	case *r.Nearest < 0 || *r.Nearest > MaxNearest:
		return badParam("nearest", "%d, want 0 to %d", *r.Nearest, MaxNearest)
	}
	if r.Thresholds != nil {
		return r.Thresholds.Validate()
	}
	t, _, err := ThresholdsAt(ctx, s)
	r.Thresholds = &t
	return err
}

func blankText(s string) bool {
	blank := true
	text.EachFolded(s, func(_, _ int, kind text.Kind, _ string) bool {
		blank = kind == text.KindOther
		return blank
	})
	return blank
}

// gatherEvidence retrieves the memories that fit best and finds what each holds of the question.
func gatherEvidence(
	ctx context.Context, s *core.Snapshot, req retrieve.Request,
) ([]*Evidence, []retrieve.Reading, error) {
	// Check judges by itself, by the words of the claim.
	req.Limit, req.Budget, req.Floor = new(checkItems), new(0), retrieve.FloorRest
	req.Ranking = retrieve.PlainRanking
	req.Dedup, req.Order, req.Adjacency = true, "", 0
	answer, err := rank.Retrieve(ctx, s, req)
	if err != nil {
		return nil, nil, err
	}
	a, err := text.New(retrieve.Language)
	if err != nil {
		return nil, nil, err
	}
	q := readCheck(a, req.Text, answer.Readings, dayOf(req.Now))
	nodes, of, err := rank.TermCounts(ctx, s, q.terms())
	if err != nil {
		return nil, nil, err
	}
	q.weigh(nodes, of)
	w := newWeigher(s, a, q)
	var out []*Evidence
	for i := range answer.Items {
		it := &answer.Items[i]
		if isNameNode(it) || len(out) == checkDepth {
			continue
		}
		e, err := w.weigh(ctx, it)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, e)
	}
	return out, answer.Readings, nil
}

// isNameNode reports whether an item is a node that memories which name the same thing share: it says
// no more than a name, which proves nothing, and would only stand in the way of the memories. What a
// question names as a whole stays.
func isNameNode(it *retrieve.Item) bool {
	return it.Tier != namedWhole &&
		(it.Type == memory.TypeEntity && strings.HasPrefix(it.Key, memory.EntityPrefix) ||
			it.Type == memory.TypeTag && strings.HasPrefix(it.Key, memory.TagPrefix))
}

func dayOf(t graph.OptTime) dates.Now {
	if !t.Given {
		return dates.Now{}
	}
	return dates.At(int64(t.Time))
}

// judge puts the best memory first, the others after it as retrieval has them, and gives the verdict
// about it.
func (t Thresholds) judge(gate Gate, found []*Evidence) (Verdict, []*Evidence) {
	if len(found) == 0 {
		return Miss, nil
	}
	best := 0
	for i, e := range found {
		if e.rank(gate) > found[best].rank(gate) {
			best = i
		}
	}
	e := found[best]
	second := int64(0)
	for i, o := range found {
		if i != best {
			second = max(second, o.Score)
		}
	}
	if e.Score > second {
		e.Lead = int64(fixed.MulDivSat(uint64(e.Score-second), fixed.One, uint64(e.Score)))
	}
	out := append([]*Evidence{e}, slices.Delete(slices.Clone(found), best, best+1)...)
	verdict, missing := t.decide(gate, e)
	e.Missing = missing
	return verdict, out
}

// rank is what the best memory has the most of: the score that retrieval gave it, as far as it holds
// what is asked; by vectors alone the cosine. What the question names goes before everything.
func (e *Evidence) rank(gate Gate) uint64 {
	rank := uint64(max(e.Score, 0))
	if gate == GateSemantic {
		rank = 0
		for _, c := range e.Cosines {
			rank = max(rank, uint64(max(c, 0)))
		}
	} else {
		rank = fixed.MulDivSat(rank, uint64(e.Coverage), fixed.One)
	}
	if e.tier == namedWhole {
		rank |= 1 << 62
	}
	return rank
}
