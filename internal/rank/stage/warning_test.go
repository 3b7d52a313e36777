package stage

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/source"
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

func TestWarnings(t *testing.T) {
	cases := []struct {
		name string
		req  retrieve.Request
		want []retrieve.Code
	}{
		{"found", retrieve.Request{Text: "alpha"}, nil},
		{"blank", retrieve.Request{Text: " "}, nil},
		{"blank and filtered", retrieve.Request{Types: []string{"Z"}}, []retrieve.Code{retrieve.NothingPasses, retrieve.NoType}},
		{"unknown word", retrieve.Request{Text: "omega"}, nil},

		{"stop words only", retrieve.Request{Text: "of the"}, []retrieve.Code{retrieve.NoTerms}},
		{"punctuation", retrieve.Request{Text: "?!"}, []retrieve.Code{retrieve.NoTerms}},
		{"stop word is a key", retrieve.Request{Text: "the"}, nil},
		{"stop word is a quoted key", retrieve.Request{Text: `of "the"`}, nil},
		{"stop word is a hidden key", retrieve.Request{Text: "the", Types: []string{"Z"}},
			[]retrieve.Code{retrieve.NoTerms, retrieve.NoType}},

		{"type filters all out", retrieve.Request{Text: "alpha", Types: []string{"B"}},
			[]retrieve.Code{retrieve.NothingPasses}},
		{"mark hides all", retrieve.Request{Text: "beta"}, []retrieve.Code{retrieve.NothingPasses}},
		{"mark let through", retrieve.Request{Text: "beta", Marks: []graph.State{graph.Retired}}, nil},
		{"another passes", retrieve.Request{Text: "alpha beta"}, nil},
		{"an exact hit passes", retrieve.Request{Text: "beta `the`"}, nil},
		{"unknown word and filter", retrieve.Request{Text: "omega", Types: []string{"B"}}, nil},

		{"tiny budget", retrieve.Request{Text: "alpha", Budget: new(3)}, []retrieve.Code{retrieve.BudgetTooSmall}},
		{"no budget", retrieve.Request{Text: "alpha", Budget: new(0)}, nil},
		{"tiny budget and nothing found", retrieve.Request{Text: "omega", Budget: new(3)}, nil},
	}
	for _, c := range cases {
		want := append([]retrieve.Code{}, c.want...)
		if got := codes(warned().ask(t, c.req)); !slices.Equal(got, want) {
			t.Errorf("%s: warnings %v, want %v", c.name, got, want)
		}
	}
}

// TestBudgetWarning checks the smallest budget that the warning names: it is enough, and one less
// is not. TestFrontier checks expansion_truncated both ways.
func TestBudgetWarning(t *testing.T) {
	m := newMemory()
	m.add(graph.Node{ID: num(1), Summary: "a " + strings.Repeat("long ", 20), Created: 1})
	m.add(graph.Node{ID: num(2), Summary: "a short", Created: 1})
	m.add(graph.Node{ID: num(3), Summary: "a " + strings.Repeat("longer ", 30), Created: 1})
	a := m.ask(t, retrieve.Request{Text: "a", Budget: new(1)})
	if d := diff([]retrieve.Code{retrieve.BudgetTooSmall}, codes(a)); d != "" {
		t.Fatal(d)
	}
	smallest, _ := ipld.FindEntry(a.Warnings[0].Params, "smallest")
	n := int(smallest.Int())
	if !strings.Contains(a.Warnings[0].Message(), fmt.Sprint(n)) ||
		!strings.Contains(a.Warnings[0].Remedy(), fmt.Sprintf("--budget to %d", n)) {
		t.Errorf("%s; %s", a.Warnings[0].Message(), a.Warnings[0].Remedy())
	}
	if got := m.ask(t, retrieve.Request{Text: "a", Budget: &n}); len(got.Items) != 1 ||
		got.Items[0].ID != num(2) || len(got.Warnings) != 0 || got.Dropped != 2 {
		t.Errorf("budget %d: %d items, warnings %v", n, len(got.Items), got.Warnings)
	}
	n--
	if got := m.ask(t, retrieve.Request{Text: "a", Budget: &n}); len(got.Items) != 0 {
		t.Errorf("budget %d: %d items", n, len(got.Items))
	}
}

// erasedMemory is a memory of which some nodes were erased: it cannot read them.
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
		got, err := Run(t.Context(), erasedMemory{m, map[graph.ID]bool{b: true}}, m, ipld.CID{}, req)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if !slices.Contains(codes(got), retrieve.Redacted) || !strings.Contains(
			got.Warnings[len(got.Warnings)-1].Message(), "1") {
			t.Errorf("%s: warnings %v", text, codes(got))
		}
		for _, item := range got.Items {
			if item.ID == b {
				t.Errorf("%s: it gives what was erased", text)
			}
		}
	}
	got, err := Run(t.Context(), erasedMemory{m, nil}, m, ipld.CID{}, retrieve.Request{Text: "alpha"})
	if err != nil || slices.Contains(codes(got), retrieve.Redacted) {
		t.Errorf("nothing was erased: %v, %v", codes(got), err)
	}
}
