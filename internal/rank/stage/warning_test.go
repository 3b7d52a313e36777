package stage

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

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
		if !slices.Contains(codes(got), retrieve.Redacted) || !strings.Contains(
			got.Warnings[len(got.Warnings)-1].Message(), "1") {
			t.Errorf("%s: warnings %v", text, codes(got))
		}
		for _, item := range got.Items {
			must.Check(t, item.ID != b, "%s: it gives what was erased", text)
		}
	}
	got, err := Runner{}.Run(t.Context(), erasedMemory{m, nil}, m, ipld.CID{}, retrieve.Request{Text: "alpha"})
	if err != nil || slices.Contains(codes(got), retrieve.Redacted) {
		t.Errorf("nothing was erased: %v, %v", codes(got), err)
	}
}
