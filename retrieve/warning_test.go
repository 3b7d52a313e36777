package retrieve

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
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
		req  Request
		want []Code
	}{
		{"found", Request{Text: "alpha"}, nil},
		{"blank", Request{Text: " "}, nil},
		{"blank and filtered", Request{Types: []string{"Z"}}, []Code{NothingPasses, NoType}},
		{"unknown word", Request{Text: "omega"}, nil},

		{"stop words only", Request{Text: "of the"}, []Code{NoTerms}},
		{"punctuation", Request{Text: "?!"}, []Code{NoTerms}},
		{"stop word is a key", Request{Text: "the"}, nil},
		{"stop word is a quoted key", Request{Text: `of "the"`}, nil},
		{"stop word is a hidden key", Request{Text: "the", Types: []string{"Z"}},
			[]Code{NoTerms, NoType}},

		{"type filters all out", Request{Text: "alpha", Types: []string{"B"}},
			[]Code{NothingPasses}},
		{"mark hides all", Request{Text: "beta"}, []Code{NothingPasses}},
		{"mark let through", Request{Text: "beta", Marks: []graph.State{graph.Retired}}, nil},
		{"another passes", Request{Text: "alpha beta"}, nil},
		{"an exact hit passes", Request{Text: "beta `the`"}, nil},
		{"unknown word and filter", Request{Text: "omega", Types: []string{"B"}}, nil},

		{"tiny budget", Request{Text: "alpha", Budget: new(3)}, []Code{BudgetTooSmall}},
		{"no budget", Request{Text: "alpha", Budget: new(0)}, nil},
		{"tiny budget and nothing found", Request{Text: "omega", Budget: new(3)}, nil},
	}
	for _, c := range cases {
		want := append([]Code{}, c.want...)
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
	a := m.ask(t, Request{Text: "a", Budget: new(1)})
	if d := diff([]Code{BudgetTooSmall}, codes(a)); d != "" {
		t.Fatal(d)
	}
	smallest, _ := ipld.FindEntry(a.Warnings[0].Params, "smallest")
	n := int(smallest.Int())
	if !strings.Contains(a.Warnings[0].Message(), fmt.Sprint(n)) ||
		!strings.Contains(a.Warnings[0].Remedy(), fmt.Sprintf("--budget to %d", n)) {
		t.Errorf("%s; %s", a.Warnings[0].Message(), a.Warnings[0].Remedy())
	}
	if got := m.ask(t, Request{Text: "a", Budget: &n}); len(got.Items) != 1 ||
		got.Items[0].ID != num(2) || len(got.Warnings) != 0 || got.Dropped != 2 {
		t.Errorf("budget %d: %d items, warnings %v", n, len(got.Items), got.Warnings)
	}
	n--
	if got := m.ask(t, Request{Text: "a", Budget: &n}); len(got.Items) != 0 {
		t.Errorf("budget %d: %d items", n, len(got.Items))
	}
}

func TestWarningInfos(t *testing.T) {
	want := []Code{NoTerms, NothingPasses, BudgetTooSmall, ExpansionTruncated, LinksCut,
		NothingLinked, Redacted, UnseenCut, NoVectors, Dimension, StaleVectors, Respelled,
		EdgeWeightsUnused, NoCommunity, NotReranked, NotRewritten, RewritesInVain, NoNow,
		NoneThen, NoType, NoEffect, NoSparse, NothingRelevant}
	infos := WarningInfos()
	if len(infos) != len(want) {
		t.Fatalf("%d infos, want %d", len(infos), len(want))
	}
	for i, info := range infos {
		w := Warning{Code: info.Code}
		if info.Param != "" {
			w.Params = []ipld.Entry{{Key: info.Param, Value: ipld.IntValue(7)}}
		}
		text := w.Message() + w.Remedy()
		if info.Code != want[i] || info.When == "" || strings.Contains(text, "%!") {
			t.Errorf("%+v: %s; %s", info, w.Message(), w.Remedy())
		}
		if !strings.Contains(info.Remedy, "--") {
			t.Errorf("%s: remedy %q names no flag", info.Code, info.Remedy)
		}
		if info.Param != "" && !strings.Contains(text, "7") {
			t.Errorf("%s: %q does not say the parameter", info.Code, text)
		}
	}
	later := Warning{Code: "of_a_later_version"}
	if later.Message() != "of_a_later_version" || later.Remedy() == "" {
		t.Errorf("%q, %q", later.Message(), later.Remedy())
	}
	infos[0].Code = "changed"
	if WarningInfos()[0].Code != NoTerms {
		t.Error("the table can be changed from outside")
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
		return nil, ipld.CID{}, ErrNoNode
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
		req := Request{Text: text, Expand: &expand}
		got, err := Run(t.Context(), erasedMemory{m, map[graph.ID]bool{b: true}}, m, ipld.CID{}, req)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if !slices.Contains(codes(got), Redacted) || !strings.Contains(
			got.Warnings[len(got.Warnings)-1].Message(), "1") {
			t.Errorf("%s: warnings %v", text, codes(got))
		}
		for _, item := range got.Items {
			if item.ID == b {
				t.Errorf("%s: it gives what was erased", text)
			}
		}
	}
	got, err := Run(t.Context(), erasedMemory{m, nil}, m, ipld.CID{}, Request{Text: "alpha"})
	if err != nil || slices.Contains(codes(got), Redacted) {
		t.Errorf("nothing was erased: %v, %v", codes(got), err)
	}
}
