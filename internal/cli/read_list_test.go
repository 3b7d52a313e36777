package cli

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

// TestListPagesFitTogether reads lists page by page and compares them with the whole list, in
// which whatever must come first comes first.
func TestListPagesFitTogether(t *testing.T) {
	effort.Alone(t)
	w := withDemo(t)
	for _, args := range [][]string{
		{"ls"}, {"ls", "--sort", "-id"}, {"ls", "--sort", "key"}, {"ls", "--sort", "-key"},
		{"ls", "--sort", "created"}, {"ls", "--sort", "-updated"}, {"ls", "--sort", "props.status"},
		{"ls", "--sort", "-props.minutes", "--type", "Meeting", "--type", "Incident"},
		{"ls", "--edges"}, {"ls", "--edges", "--sort", "-created", "--type", "owns"},
		{"ls", "--edges", "--sort", "props.role"},
	} {
		list := "nodes"
		if slices.Contains(args, "--edges") {
			list = "edges"
		}
		whole := w.one(append(args, "--limit", "0")...)
		if whole["next"] != nil {
			t.Errorf("%q: the whole list has a cursor", args)
		}
		want := idsOf(whole[list])
		var got []string
		after := ""
		for {
			page := append(slices.Clone(args), "--limit", "37")
			if after != "" {
				page = append(page, "--after", after)
			}
			v := w.one(page...)
			got = append(got, idsOf(v[list])...)
			next, more := v["next"].(string)
			if !more {
				break
			}
			after = next
		}
		if len(want) < 5 || !slices.Equal(want, got) {
			t.Errorf("%q: %d rows in pages, %d in the whole list, or another order", args, len(got),
				len(want))
		}
		if unique := slices.Compact(slices.Sorted(slices.Values(got))); len(unique) != len(got) {
			t.Errorf("%q: %d rows more than once", args, len(got)-len(unique))
		}
	}
}

func idsOf(list any) []string {
	var ids []string
	items, _ := list.([]any)
	for _, item := range items {
		ids = append(ids, item.(map[string]any)["id"].(string))
	}
	return ids
}

func TestListOrders(t *testing.T) {
	w := newReading(t)
	w.commit(`{"node":{"key":"c","type":"T","props":{"x":10},"created":"2026-01-03"}}
{"node":{"key":"a","type":"T","props":{"x":9.5},"created":"2026-01-01"}}
{"node":{"key":"b","type":"T","props":{"x":"9"},"created":"2026-01-02"}}
{"node":{"key":"d","type":"U","props":{"x":true},"created":"2026-01-04"}}
{"node":{"key":"e","type":"U","props":{"x":[1]},"created":"2026-01-05"}}
{"node":{"key":"f","type":"U","created":"2026-01-06"}}
{"node":{"type":"U","summary":"no key","created":"2026-01-07"}}
`)
	w.commit(`{"node":{"key":"b","summary":"changed"}}`)
	for _, tt := range []struct{ order, want string }{
		{"key", "a b c d e f -"}, {"-key", "f e d c b a -"}, {"created", "a b c d e f -"},
		{"-created", "- f e d c b a"}, {"-updated", "b - f e d c a"},
		{"props.x", "a c b d e"}, {"-props.x", "e d b c a"},
	} {
		args := []string{"ls", "--sort", tt.order}
		if strings.Contains(tt.order, "props") {
			args = append(args, "--where", "x exists")
		}
		keys := keysOf(w.one(args...)["nodes"])
		for i, key := range keys {
			if key == "" {
				keys[i] = "-"
			}
		}
		if got := strings.Join(keys, " "); got != tt.want {
			t.Errorf("--sort %s: %s, want %s", tt.order, got, tt.want)
		}
	}
	missing := keysOf(w.one("ls", "--sort", "-props.x")["nodes"])
	if last := missing[5:]; !slices.Contains(last, "f") || !slices.Contains(last, "") {
		t.Errorf("what has no such property is not last: %q", missing)
	}
}

func TestListFilters(t *testing.T) {
	w := newReading(t)
	w.commit(`{"node":{"key":"a","type":"T","props":{"n":1}}}
{"node":{"key":"b","type":"T","props":{"n":2}}}
{"node":{"key":"c","type":"U","props":{"n":3}}}
{"edge":{"type":"x","src":"a","dst":"b","weight":0.25}}
{"edge":{"type":"y","src":"a","dst":"c","props":{"n":1}}}
{"mark":{"node":"b","state":"retired"}}
{"mark":{"edge":{"type":"y","src":"a","dst":"c"},"state":"superseded"}}
`)
	for _, tt := range []struct{ args, want string }{
		{"ls --sort key", "a c"},
		{"ls --sort key --marks retired", "a b c"},
		{"ls --sort key --marks expired,superseded", "a c"},
		{"ls --sort key --type T --marks retired", "a b"},
		{"ls --sort key --type T --type U --marks retired", "a b c"},
		{"ls --sort key --marks retired --where n>1", "b c"},
		{"ls --sort key --marks retired --where n>1 --where n<3", "b"},
	} {
		got := strings.Join(keysOf(w.one(strings.Fields(tt.args)...)["nodes"]), " ")
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.args, got, tt.want)
		}
	}
	for args, want := range map[string]int{
		"ls --edges": 1, "ls --edges --marks superseded": 2, "ls --edges --type y": 0,
		"ls --edges --marks superseded --where n=1": 1,
	} {
		if got := w.one(strings.Fields(args)...)["edges"].([]any); len(got) != want {
			t.Errorf("%s: %d edges, want %d", args, len(got), want)
		}
	}
	for args, want := range map[string]string{
		"neighbors a":                             "",
		"neighbors a --marks retired":             "b",
		"neighbors a --marks superseded":          "c",
		"neighbors a --marks superseded,retired":  "b c",
		"neighbors b --in --type x --type y":      "a",
		"neighbors a --in --marks retired":        "",
		"neighbors a --type y --marks superseded": "c",
	} {
		v := w.one(strings.Fields(args)...)
		got := strings.Join(append(keysOf(v["out"]), keysOf(v["in"])...), " ")
		if got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
	if v := w.one("path", "a", "b"); v["found"] != false {
		t.Errorf("a path leads to a hidden node: %v", v)
	}
	if v := w.one("path", "a", "b", "--marks", "retired"); v["found"] != true || v["hops"] != 1.0 {
		t.Errorf("no path to a node whose state is let through: %v", v)
	}
	edge := w.one("ls", "--edges")["edges"].([]any)[0].(map[string]any)
	if edge["weight"] != 0.25 || edge["src_key"] != "a" || edge["dst_key"] != "b" {
		t.Errorf("edge: %v", edge)
	}
}

// TestPagesInBoundedMemory sorts with room for few rows and compares with sorting all at once.
func TestPagesInBoundedMemory(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	w := newReading(t)
	var lines strings.Builder
	for i := range 60 {
		fmt.Fprintf(&lines, `{"node":{"key":"n%d","type":"T","props":{"x":%d}}}`+"\n", i, rng.IntN(20))
	}
	w.commit(lines.String())
	r, err := repo.Open(w.dir, repo.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx := context.Background()
	s, err := r.Snapshot(ctx, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	specs := []sortSpec{{"props.x", false}, {"props.x", true}, {"key", true}, {"id", true}}
	for _, spec := range specs {
		l := &lister{s: s, opt: listOptions{sort: spec}, see: ops.Visible{Snapshot: s, Let: nil}}
		var places []place
		for row, err := range l.rows(ctx, graph.ID{}) {
			if err != nil {
				t.Fatal(err)
			}
			places = append(places, spec.place(row))
		}
		slices.SortFunc(places, spec.compare)
		for _, room := range []int{1, 7, 59, 60, 61} {
			var got []graph.ID
			for id, err := range l.idsSorted(ctx, nil, room) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, id)
			}
			want := make([]graph.ID, len(places))
			for i, p := range places {
				want[i] = p.id
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%v in pages of %d: %s", spec, room, diff)
			}
		}
	}
}

// TestPageKeepsToItsBytes fills a page with large values.
func TestPageKeepsToItsBytes(t *testing.T) {
	p := newPage(sortSpec{field: "props.x"}, nil, maxPageRows)
	for i := range 64 {
		v := ipld.StringValue(fmt.Sprintf("%02d", 63-i) + strings.Repeat("x", 1<<20))
		p.add(place{id: graph.ID{byte(i + 1)}, value: &v})
	}
	places := p.places()
	if p.bytes > maxPageBytes || len(places) < 10 || !p.cut {
		t.Errorf("%d rows of %d bytes, cut %v", len(places), p.bytes, p.cut)
	}
	for i, at := range places {
		if !strings.HasPrefix(at.value.Text(), fmt.Sprintf("%02d", i)) {
			t.Fatalf("row %d is %.2s", i, at.value.Text())
		}
	}
}

func TestCursorPinsItsCommit(t *testing.T) {
	w := newReading(t)
	w.commit(`{"node":{"key":"a","type":"T"}}
{"node":{"key":"c","type":"T"}}
{"node":{"key":"d","type":"T"}}
`)
	next := w.one("ls", "--sort", "key", "--limit", "1")["next"].(string)
	w.commit(`{"node":{"key":"b","type":"T"}}
{"remove":{"node":"a"}}
`)
	for args, want := range map[string]string{"": "c d", "--at HEAD": "b c d", "--at HEAD~1": "c d"} {
		all := append([]string{"ls", "--sort", "key", "--after", next}, strings.Fields(args)...)
		if got := strings.Join(keysOf(w.one(all...)["nodes"]), " "); got != want {
			t.Errorf("after the cursor %s: %s, want %s", args, got, want)
		}
	}
}

func TestCompareValuesIsAnOrder(t *testing.T) {
	var values []ipld.Value
	for _, s := range []string{
		"-1", "0", "0.5", "1", "1.0", "9007199254740993", "9007199254740992.0", `""`, `"a"`, `"b"`,
		"false", "true", "null", "[]", "[1]", `{"a":1}`,
	} {
		v, err := ipld.ParseJSON([]byte(s))
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, v)
	}
	for _, a := range values {
		for _, b := range values {
			if compareValues(a, b) != -compareValues(b, a) {
				t.Errorf("%v and %v", a, b)
			}
			for _, c := range values {
				if compareValues(a, b) <= 0 && compareValues(b, c) <= 0 && compareValues(a, c) > 0 {
					t.Errorf("%v <= %v <= %v", a, b, c)
				}
			}
		}
	}
	if compareValues(values[5], values[6]) <= 0 {
		t.Error("2^53+1 is not above 2^53")
	}
}

func TestWeightsAreShort(t *testing.T) {
	for units, want := range map[uint32]string{
		1: "0.00002", 65536: "1", 32768: "0.5", 58982: "0.9", 6554: "0.1", 45875: "0.7", 65535: "0.99998",
	} {
		got := ops.Weight(units).String()
		v, err := ipld.ParseJSON([]byte(got))
		if err != nil || got != want {
			t.Errorf("%d: %s, want %s (%v)", units, got, want, err)
		}
		x := v.Float()
		if v.Kind() == ipld.Int {
			x = float64(v.Int())
		}
		if back, err := graph.EdgeWeight(x); err != nil || back != units {
			t.Errorf("%d is %s is %d (%v)", units, got, back, err)
		}
	}
}
