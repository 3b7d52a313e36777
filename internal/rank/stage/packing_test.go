package stage

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// TestExcludeIsFilter compares --exclude with a filter that the same nodes fail.
func TestExcludeIsFilter(t *testing.T) {
	rng := seeded(t)
	for range 60 {
		m := randomMemory(rng, 60, 150)
		req := retrieve.Request{Text: []string{"a b", "a", "", "c `key3`"}[rng.IntN(4)],
			ExpansionOptions: retrieve.ExpansionOptions{Expand: new(rng.IntN(4))}, Budget: new(0), Limit: new(0),
			OutputOptions: retrieve.OutputOptions{Adjacency: rng.IntN(3)}}
		all := m.ask(t, req)
		var out []graph.ID
		for _, item := range all.Items {
			if rng.IntN(3) == 0 {
				out = append(out, item.ID)
			}
		}
		for id, n := range m.nodes {
			n.Props = []ipld.Entry{{Key: "in", Value: ipld.BoolValue(!slices.Contains(out, id))}}
		}
		byWhere, byID := req, req
		byWhere.Where = []retrieve.Predicate{{Name: "in", Op: retrieve.Equal, Value: ipld.BoolValue(true)}}
		byID.Exclude = out
		want, got := m.ask(t, byWhere), m.ask(t, byID)
		want.Request, got.Request = retrieve.Request{}, retrieve.Request{}
		if d := diff(want, got); d != "" {
			t.Fatal(d)
		}
	}
}

func TestExcludeExact(t *testing.T) {
	m := library()
	alice := graph.NodeID("alice")
	for _, text := range []string{"alice", alice.String(), alice.String()[:8], "the `alice`", ""} {
		a := m.ask(t, retrieve.Request{Text: text, Exclusions: retrieve.Exclusions{Exclude: []graph.ID{alice}}})
		if slices.Contains(ids(a), alice) {
			t.Errorf("%q gives what is excluded", text)
		}
	}
}

func TestUnresolved(t *testing.T) {
	m := library()
	for param, req := range map[string]retrieve.Request{
		"exclude": {Exclusions: retrieve.Exclusions{ExcludeNames: []string{"alice"}}},
		"unseen":  {Exclusions: retrieve.Exclusions{Unseen: true}},
	} {
		_, err := Run(t.Context(), m, m, testCommit, req)
		var re *retrieve.RequestError
		if !errors.As(err, &re) || re.Param != param {
			t.Errorf("%s: %v", param, err)
		}
	}
}

// records yields records newest first, then fails where the error is given.
func records(list []complete.Shown, fail error) iter.Seq2[complete.Shown, error] {
	return func(yield func(complete.Shown, error) bool) {
		for _, rec := range list {
			if !yield(rec, nil) {
				return
			}
		}
		if fail != nil {
			yield(complete.Shown{}, fail)
		}
	}
}

func TestExcludeSeen(t *testing.T) {
	block := func(seq int64, from, to int) complete.Shown { return complete.Shown{Seq: seq, IDs: manyIDs(to)[from:]} }
	empty := make([]complete.Shown, 1001)
	for i := range empty {
		empty[i].Seq = int64(1000 - i)
	}
	cases := []struct {
		name string
		own  []graph.ID
		list []complete.Shown
		want int
		from int64
	}{
		{"nothing shown", nil, nil, 0, 0},
		{"own stay", manyIDs(3), nil, 3, 0},
		{"all", manyIDs(1), []complete.Shown{block(2, 0, 10), {Seq: 1}, block(0, 5, 20)}, 20, 0},
		{"exactly full", nil, []complete.Shown{block(1, 0, 600), block(0, 400, 1000)}, 1000, 0},
		{"one too many", nil, []complete.Shown{block(1, 0, 600), block(0, 400, 1001)}, 600, 1},
		{"nothing older", nil, []complete.Shown{block(9, 0, 600), block(8, 0, 1001), block(7, 600, 601)},
			600, 9},
		{"own and full", []graph.ID{num(5000)}, []complete.Shown{block(4, 0, 1000)}, 1, 5},
		{"1,000 records", nil, empty[1:], 0, 0},
		{"1,001 records", nil, empty, 0, 1},
	}
	for _, c := range cases {
		r, err := complete.ExcludeSeen(retrieve.Request{Exclusions: retrieve.Exclusions{Exclude: c.own,
			Unseen: true}}, records(c.list, nil))
		if err != nil || r.Unseen || len(r.Exclude) != c.want || r.UnseenFrom != c.from {
			t.Errorf("%s: %d excluded, from %d, %v", c.name, len(r.Exclude), r.UnseenFrom, err)
		}
		if err := r.Validate(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := complete.ExcludeSeen((retrieve.Request{Exclusions: retrieve.Exclusions{Unseen: true}}),
		records(nil, errBroken)); err == nil {
		t.Error("the error of a record is lost")
	}
	r, err := complete.ExcludeSeen(retrieve.Request{}, records([]complete.Shown{block(0, 0, 9)}, errBroken))
	if err != nil || r.Exclude != nil {
		t.Errorf("a request that does not ask: %v, %v", r.Exclude, err)
	}
}

func TestUnseenWarning(t *testing.T) {
	a := library().ask(t, retrieve.Request{Text: "web", Exclusions: retrieve.Exclusions{UnseenFrom: 12}})
	if !slices.Equal(codes(a), []retrieve.Code{retrieve.UnseenCut}) ||
		!strings.Contains(a.Warnings[0].Message(), "record 12 ") {
		t.Errorf("warnings %v", a.Warnings)
	}
}

func TestLambda(t *testing.T) {
	for x, want := range map[float64]int{0: 0, 1: 65_536, 0.5: 32_768, 0.7: 45_875,
		1.0 / 131_072: 0, 3.0 / 131_072: 2} {
		if got, ok := retrieve.Lambda(x); !ok || got != want {
			t.Errorf("%v: %d, want %d", x, got, want)
		}
	}
	for _, x := range []float64{-0.1, 1.0000001, math.NaN(), math.Inf(1)} {
		if got, ok := retrieve.Lambda(x); ok {
			t.Errorf("%v: %d", x, got)
		}
	}
}

func TestOrderByTime(t *testing.T) {
	rng := seeded(t)
	for range 20 {
		m := randomMemory(rng, 60, 100)
		for _, n := range m.nodes {
			n.Created = graph.Time(rng.IntN(9))
		}
		req := retrieve.Request{Text: "a b", Budget: new(300), Limit: new(0),
			OutputOptions: retrieve.OutputOptions{Order: retrieve.ByTime}}
		got := m.ask(t, req)
		req.Order = retrieve.ByRank
		want := m.ask(t, req)
		want.Request.Order = retrieve.ByTime
		for i := 1; i < len(got.Items); i++ {
			a, b := got.Items[i-1].ID, got.Items[i].ID
			if x, y := m.nodes[a].Created, m.nodes[b].Created; x > y || x == y && a.Compare(b) > 0 {
				t.Fatalf("%s of %d comes before %s of %d", a, x, b, y)
			}
		}
		slices.SortFunc(got.Items, func(a, b retrieve.Item) int { return a.Rank - b.Rank })
		for i, item := range want.Items {
			if item.Rank != i+1 {
				t.Fatalf("item %d has rank %d", i, item.Rank)
			}
		}
		if d := diff(want, got); d != "" {
			t.Fatal(d)
		}
	}
}

// TestReceiptKeepsPacking replays what is not at its default.
func TestReceiptKeepsPacking(t *testing.T) {
	m := fullLibrary()
	for i, req := range []retrieve.Request{{Exclusions: retrieve.Exclusions{Exclude: manyIDs(2)}}, {Dedup: true},
		{OutputOptions: retrieve.OutputOptions{Order: retrieve.ByTime}}, {Exclusions: retrieve.Exclusions{UnseenFrom: 1}}} {
		req.Text = "web"
		before, text := m.ask(t, req).Receipt()
		again, err := before.Request(string(text))
		if err != nil {
			t.Fatal(err)
		}
		after, _ := m.ask(t, again).Receipt()
		if d := retrieve.CompareReceipts(before, after); d != nil {
			t.Errorf("%d: %+v", i, d)
		}
	}
	param := func(key, json string) *retrieve.Receipt {
		r, _ := m.ask(t, retrieve.Request{Text: "web"}).Receipt()
		v := parsed(t, json)
		r.Params = withParam(r.Params, key, &v)
		return r
	}
	for key, values := range map[string][]string{
		"exclude": {`[]`, `["a"]`, `[{"/":{"bytes":"AAAA"}}]`, `7`,
			`[{"/":{"bytes":"AAAAAAAAAAAAAAAAAAAAAA"}}]`},
		"dedup": {`1`, `null`, `false`}, "order": {`"rand"`, `1`, `""`, `"rank"`},
		"unseenFrom": {`0`, `-1`, `"a"`}, "excludeNames": {`["a"]`}, "unseen": {`true`},
	} {
		for _, v := range values {
			if err := param(key, v).Validate(); err == nil {
				t.Errorf("a receipt with %s %s is accepted", key, v)
			}
		}
	}
}

// note returns a node of the given text, which is no more than one.
func note(i int, text string) graph.Node {
	return graph.Node{ID: num(i), Type: "Note", Summary: text, Created: graph.Time(i)}
}

const rotate = "rotate the signing keys of every service before the release and tell the owners " +
	"of each service that clients must fetch new keys"

func TestRepeats(t *testing.T) {
	long := strings.Repeat(rotate+" ", 90) // more than what counts
	mark := &graph.Mark{State: graph.Stale}
	cases := []struct {
		name string
		edit func(n *graph.Node) *graph.Mark
		want bool
	}{
		{"the same", func(n *graph.Node) *graph.Mark { return nil }, true},
		{"capital and full stop", func(n *graph.Node) *graph.Mark {
			n.Summary = "Rotate" + rotate[6:] + "."
			return nil
		}, true},
		{"one stop word more", func(n *graph.Node) *graph.Mark {
			n.Summary = "so " + rotate
			return nil
		}, true},
		{"a negation more", func(n *graph.Node) *graph.Mark {
			n.Summary = "do not " + rotate
			return nil
		}, false},
		{"a number more", func(n *graph.Node) *graph.Mark {
			n.Summary = rotate + " 7"
			return nil
		}, false},
		{"a name more", func(n *graph.Node) *graph.Mark {
			n.Summary = rotate + " Bob"
			return nil
		}, false},
		{"a word more", func(n *graph.Node) *graph.Mark {
			n.Summary = rotate + " quickly"
			return nil
		}, true},
		{"other words", func(n *graph.Node) *graph.Mark {
			n.Summary = rotate + " quickly when storms allow"
			return nil
		}, false},
		{"in another field", func(n *graph.Node) *graph.Mark {
			n.Context, n.Summary = n.Summary, ""
			return nil
		}, true},
		{"another type", func(n *graph.Node) *graph.Mark { n.Type = "Task"; return nil }, false},
		{"another property", func(n *graph.Node) *graph.Mark {
			n.Props = []ipld.Entry{{Key: "host", Value: ipld.StringValue("b")}}
			return nil
		}, false},
		{"one property more", func(n *graph.Node) *graph.Mark {
			n.Props = append(slices.Clone(n.Props),
				ipld.Entry{Key: "port", Value: ipld.IntValue(80)})
			return nil
		}, true},
		{"another state", func(n *graph.Node) *graph.Mark { return mark }, false},
		{"another validity", func(n *graph.Node) *graph.Mark {
			n.ValidTo = graph.At(5)
			return nil
		}, false},
		{"beyond what counts", func(n *graph.Node) *graph.Mark {
			n.Content = &graph.Content{Text: long + "Bob 7"}
			return nil
		}, true},
	}
	p := &run{g: newMemory()}
	of := func(n graph.Node, m *graph.Mark) *features {
		out, err := p.features(t.Context(), &n, m)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, c := range cases {
		n := note(0, rotate)
		n.Props = []ipld.Entry{{Key: "host", Value: ipld.StringValue("a")}}
		first := of(n, nil)
		m := c.edit(&n)
		second := of(n, m)
		if first.repeats(second) != c.want || second.repeats(first) != c.want {
			t.Errorf("%s: %v, want %v", c.name, first.repeats(second), c.want)
		}
	}
	if a := of(note(0, "Alice beats Bob"), nil); a.repeats(
		of(note(1, "Bob beats Alice"), nil)) {
		t.Error("turned around, it says something else")
	}
	if none := of(note(0, "the of"), nil); none.repeats(none) {
		t.Error("what has no term repeats nothing")
	}
}

// noteWords make texts of which some repeat others.
var noteWords = strings.Fields("web shop opens at dawn and closes late when not Alice Bob 7 or 8 says so")

// notes is a memory of texts of which many repeat others.
func notes(pick func(n int) int, count int) *memory {
	m := newMemory()
	for i := range count {
		words := append([]string{}, noteWords...)
		for range pick(4) {
			words[pick(len(words))] = noteWords[pick(len(noteWords))]
		}
		n := note(i, strings.Join(words, " "))
		n.Type = []string{"Note", "Task"}[pick(8)/7]
		m.add(n)
	}
	return m
}

// TestDedupOracle compares --dedup with a naive walk over all candidates, and runs it again without
// what it dropped: then nothing is dropped any more.
func TestDedupOracle(t *testing.T) {
	rng := seeded(t)
	dropped := 0
	for range 30 {
		m := notes(rng.IntN, 50)
		req := retrieve.Request{Text: "web shop", Limit: new(0), Budget: new(0),
			ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}}
		all := m.ask(t, req)
		r := &run{g: m}
		var kept, out []graph.ID
		var said []*features
		for _, item := range all.Items {
			p, err := r.features(t.Context(), m.nodes[item.ID], nil)
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(said, p.repeats) {
				out = append(out, item.ID)
				continue
			}
			kept, said = append(kept, item.ID), append(said, p)
		}
		req.Dedup = true
		got := m.ask(t, req)
		if d := diff(kept, ids(got)); d != "" {
			t.Fatal(d)
		}
		checkDropped(t, got, out)
		dropped += len(out)
		req.Exclude = out
		if again := m.ask(t, req); again.Dropped != 0 || diff(ids(got), ids(again)) != "" {
			t.Fatalf("again: %d dropped", again.Dropped)
		}
	}
	if dropped == 0 {
		t.Error("no case had a duplicate")
	}
}

func checkDropped(t *testing.T, a *retrieve.Answer, want []graph.ID) {
	t.Helper()
	if a.Dropped != len(want) || len(a.DroppedItems) != len(want) {
		t.Fatalf("%d dropped, %d named, want %d", a.Dropped, len(a.DroppedItems), len(want))
	}
	for i, d := range a.DroppedItems {
		if d.ID != want[i] || d.Reason != retrieve.ReasonDuplicate || d.Tokens == 0 ||
			!slices.Contains(ids(a), d.Repeats) {
			t.Fatalf("dropped %+v, want %s", d, want[i])
		}
	}
}

// TestDedupLimit goes on to what does not repeat, and names a duplicate before it asks the budget.
func TestDedupLimit(t *testing.T) {
	m := newMemory()
	for i := range 5 {
		m.add(note(i, "web "+rotate))
	}
	other := m.add(note(9, "web"))
	req := retrieve.Request{Text: "web", Limit: new(2), Dedup: true,
		ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}, Budget: new(0)}
	a := m.ask(t, req)
	if !slices.Equal(ids(a), []graph.ID{num(0), other}) || a.Dropped != 4 {
		t.Errorf("items %v, %d dropped", ids(a), a.Dropped)
	}
	req.Budget = new(a.Items[0].Tokens)
	a = m.ask(t, req)
	var reasons []string
	for _, d := range a.DroppedItems {
		reasons = append(reasons, d.Reason)
	}
	if want := "[duplicate duplicate duplicate duplicate budget]"; fmt.Sprint(reasons) != want {
		t.Errorf("reasons %v", reasons)
	}
	m.failOn = "Content"
	m.nodes[num(3)].Content = &graph.Content{Text: "x"}
	if _, err := Run(t.Context(), m, m, testCommit, req); !errors.Is(err, errBroken) {
		t.Errorf("error %v", err)
	}
}
