package stage

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// evenMemory is a memory in which all words that the table of rarity does not know tell the same.
type evenMemory struct{ *memory }

func (m evenMemory) Counts(_ context.Context, terms []string) ([]int64, int64, error) {
	return slices.Repeat([]int64{1}, len(terms)), 1, m.fail("Counts")
}

func (m evenMemory) IDFs(_ context.Context, terms []string) ([]int64, error) {
	return slices.Repeat([]int64{1 << 16}, len(terms)), m.fail("IDFs")
}

// says makes a memory of nodes with summaries.
func says(summaries ...string) evenMemory {
	m := evenMemory{newMemory()}
	for i, s := range summaries {
		m.add(graph.Node{ID: num(i), Summary: s, Created: 1})
	}
	return m
}

// tenWords are words that nothing knows.
const tenWords = "zorb plim grak thix wexo brin dolf quem yarp fosk"

func (m evenMemory) answer(t *testing.T, req retrieve.Request) *retrieve.Answer {
	t.Helper()
	req.Expand, req.Budget = new(0), new(0)
	if req.Limit == nil {
		req.Limit = new(0)
	}
	return must.Get(Runner{}.Run(t.Context(), m, m, testCommit, req))(t)
}

// TestJudgedBeforeTheLimit has the same verdict, whatever is shown of the answer, and in its receipt.
func TestJudgedBeforeTheLimit(t *testing.T) {
	m := says("stranger zorb zorb zorb zorb", tenWords)
	m.scores = map[graph.ID]int64{num(0): 100, num(1): 99}
	for name, req := range map[string]retrieve.Request{
		"all": {}, "one item": {Limit: new(1)}, "no room": {Limit: new(0), Floor: retrieve.FloorAnswer},
	} {
		req.Text = tenWords
		a := m.answer(t, req)
		must.Equal(t, a.Verdict, retrieve.Known, name)
		must.Equal(t, a.Because, "all of 'zorb', 'plim', 'grak', 'thix', 'wexo', 'brin' is in it", name)
		r, _ := a.Receipt()
		back := must.Get(retrieve.DecodeReceipt(r.Encode()))(t, name, ": the receipt")
		must.Equal(t, back.Verdict, retrieve.Known, name, ": the receipt")
	}
}

// TestShortlistOfAnyLimit: what a score counts as follows from the 200th and the 20th of a dense lane, which must be the
// same whatever is asked for at most, so that an answer with a lower limit is the beginning of one with a higher.
func TestShortlistOfAnyLimit(t *testing.T) {
	for limit, most := range map[int]int{1: 2560, 10: 2560, 40: 10_240, 200: maxShortlist} {
		list := shortlistOf(retrieve.Request{Limit: &limit})
		must.Equal(t, list.Near, distantRank, "limit ", limit)
		must.Equal(t, list.Most, most, "limit ", limit)
	}
	limit := 10
	list := shortlistOf(retrieve.Request{Limit: &limit, Ranking: retrieve.PlainRanking})
	must.True(t, list.Near == limit, "plain: %+v", list)
}

func shortlistOf(req retrieve.Request) source.Shortlist {
	return (&request{req: req, row: rankingOf(req.Ranking)}).shortlist()
}

// warned is a memory with a node of type A that has the word alpha, and a hidden one with beta.
func warned() *memory {
	m := newMemory()
	m.add(graph.Node{Key: "the", Type: "A", Summary: "alpha", Created: 1})
	m.mark(m.add(graph.Node{Key: "b", Type: "B", Summary: "beta", Created: 1}), graph.Retired)
	return m
}

// erasedMemory is a memory with erased nodes: it cannot read them.
type erasedMemory struct {
	*memory
	gone map[graph.ID]bool
}

func (m erasedMemory) ErasedNodes() int { return len(m.gone) }

func (m erasedMemory) IsErased(_ context.Context, id graph.ID) (bool, error) {
	return m.gone[id], nil
}

func (m erasedMemory) Node(ctx context.Context, id graph.ID) (*graph.Node, ipld.CID, error) {
	if m.gone[id] {
		return nil, ipld.CID{}, source.ErrNoNode
	}
	return m.memory.Node(ctx, id)
}

// TestRedactedWarning leaves out what was erased, however the request comes to it.
func TestRedactedWarning(t *testing.T) {
	m := newMemory()
	a := m.add(graph.Node{Key: "a", Type: "A", Summary: "alpha", Created: 1})
	b := m.add(graph.Node{Key: "b", Type: "A", Created: 1})
	m.link(a, "knows", b, 1<<16)
	expand := 1
	for _, text := range []string{"alpha", "b", b.String(), b.String()[:8], "alpha `b`"} {
		req := retrieve.Request{Text: text, ExpansionOptions: retrieve.ExpansionOptions{Expand: &expand}}
		got, err := Runner{}.Run(t.Context(), erasedMemory{m, map[graph.ID]bool{b: true}}, m, ipld.CID{}, req)
		must.OK(t, err, text)
		must.True(t, slices.Contains(codes(got), retrieve.Redacted) &&
			strings.Contains(got.Warnings[len(got.Warnings)-1].Message(), "1"), "%s: warnings %v", text, codes(got))
		for _, item := range got.Items {
			must.True(t, item.ID != b, "%s: it gives what was erased", text)
		}
	}
	got, err := Runner{}.Run(t.Context(), erasedMemory{m, nil}, m, ipld.CID{}, retrieve.Request{Text: "alpha"})
	must.True(t, err == nil && !slices.Contains(codes(got), retrieve.Redacted),
		"nothing was erased: %v, %v", codes(got), err)
}

func TestTrace(t *testing.T) {
	m := warned()
	m.add(graph.Node{Key: "c", Type: "C", Summary: "alpha", Created: 1})
	m.add(graph.Node{Key: "d", Type: "A", Summary: "alpha", Created: 99})
	m.add(graph.Node{Key: "e", Type: "A", Summary: "alpha alpha", Created: 1})
	now := time.Duration(0)
	trace := &Trace{Clock: func() time.Duration { now += time.Second; return now }}
	req := retrieve.Request{Text: "alpha", Types: []string{"A", "B"},
		TimeFilter: retrieve.TimeFilter{CreatedTo: graph.At(50)},
		Exclusions: retrieve.Exclusions{Exclude: []graph.ID{graph.NodeID("the")}}}
	plain := m.ask(t, req)
	for range 2 { // a trace may be used again
		a := must.Get(Runner{Trace: trace}.Run(t.Context(), m, m, testCommit, ofAll(req)))(t)
		must.Equal(t, diff(plain, a), "")
		want := []LaneTrace{{Lane: retrieve.LaneText, Weight: 1 << 16, Passed: 1, Found: 1, Best: 2, Worst: 2, Whole: 2,
			LeftOut: source.LeftOut{Exclude: 1, Types: 1, Times: 1, Marks: 1}}}
		must.Equal(t, diff(want, trace.Lanes), "")
		stages := fmt.Sprint(trace.Stages)
		must.Equal(t, stages, "[{lanes 1000000} {fuse 1000000} {expand 1000000} {arrange 1000000} {pack 1000000}]")
	}
	l := LaneTrace{Best: 8, Worst: 4, Whole: 8}
	for f, want := range map[retrieve.Fusion]int64{retrieve.Convex: 49_152, retrieve.ScoreNorm: 32_768, retrieve.RRF: 1 << 32 / 63} {
		must.Equal(t, l.Share(f, retrieve.LaneHit{Rank: 3, Score: 6}), want, f, ": share")
	}
}
