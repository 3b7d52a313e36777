package stage

import (
	"context"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
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
