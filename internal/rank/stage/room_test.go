package stage

import (
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

// TestAnswersOutliveTheirRoom: what an answer has does not change as later retrievals work in the same memory.
func TestAnswersOutliveTheirRoom(t *testing.T) {
	m := newMemory()
	for i := range 40 {
		m.add(graph.Node{ID: num(i), Type: "T", Summary: fmt.Sprintf("alice w%d", i), Context: fmt.Sprintf("bob w%d", i%7)})
		if i > 0 {
			m.link(num(i), "e", num(i/2), 65_536)
		}
	}
	ask := func(text string) *retrieve.Answer {
		a, err := Runner{}.Run(t.Context(), m, m, testCommit, retrieve.Request{Text: text,
			ExpansionOptions: retrieve.ExpansionOptions{Expand: new(int)}}) // nothing else adds lanes
		if err != nil || len(a.Items) == 0 || len(a.Items[0].Lanes) == 0 || a.Items[0].Lanes[0].Rank != 1 {
			t.Fatalf("%q: %+v, %v", text, a, err)
		}
		return a
	}
	first := ask("alice w3")
	was := fmt.Sprintf("%+v", first.Items)
	for i := range 20 {
		ask(fmt.Sprintf("bob w%d", i%7))
	}
	must.Equal(t, fmt.Sprintf("%+v", first.Items), was, "items were\n")
}
