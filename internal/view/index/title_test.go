package index

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/testkit/differ"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestMentions compares titles in texts, and texts with titles, with those of an index of one segment, in indexes of
// several segments with removals.
func TestMentions(t *testing.T) {
	effort.Alone(t)
	ctx := context.Background()
	rng := newRand(t)
	vocabulary := []string{"harbour", "light", "north", "team", "river", "new", "york", "city"}
	some := func(n int) string {
		var out []string
		for range 1 + rng.IntN(n) {
			out = append(out, vocabulary[rng.IntN(len(vocabulary))])
		}
		return strings.Join(out, " ")
	}
	found := 0
	for range effort.Pick(8, 15, 300) {
		docs, x := grown(t, rng, 60, func(id graph.ID) *Document {
			return &Document{
				Node: &graph.Node{ID: id, Type: "T", Summary: some(4), Created: 1}, Content: some(30),
			}
		})
		one, ids := fresh(t, docs), slices.SortedFunc(maps.Keys(docs), graph.ID.Compare)
		for id, d := range docs {
			want, err := one.TitlesIn(ctx, d.Content)
			must.OK(t, err)
			got, err := x.TitlesIn(ctx, d.Content)
			if diff := differ.Diff(want, got); err != nil || diff != "" {
				t.Fatalf("titles in the content of %s (-want +got): %v\n%s", id, err, diff)
			}
			for _, other := range got {
				if found++; !x.HasTitle(d.Content, docs[other].Node.Summary) {
					t.Fatalf("%q has not the title %q", d.Content, docs[other].Node.Summary)
				}
			}
			want, err = one.Mentioning(ctx, d.Node.Summary, 1000)
			must.OK(t, err)
			got, err = x.Mentioning(ctx, d.Node.Summary, 1000)
			if diff := differ.Diff(want, got); err != nil || diff != "" {
				t.Fatalf("mentioning %q (-want +got): %v\n%s", d.Node.Summary, err, diff)
			}
			named, err := one.Analyse(d.Content).TitlesNamed(ctx, nil, ids)
			must.OK(t, err)
			again, err := x.Analyse(d.Content).TitlesNamed(ctx, nil, ids)
			if diff := differ.Diff(named, again); err != nil || diff != "" {
				t.Fatalf("titles named in %q (-want +got): %v\n%s", d.Content, err, diff)
			}
		}
	}
	if found == 0 {
		t.Error("no title stood in any text")
	}
}

func TestMentionsBounds(t *testing.T) {
	ctx := context.Background()
	docs := collection{}
	for i := range 300 {
		id := graph.NodeID(fmt.Sprint(i))
		docs[id] = &Document{
			Node:    &graph.Node{ID: id, Type: "T", Summary: fmt.Sprint("name", i), Created: 1},
			Content: "common word",
		}
	}
	for i := range maxTitleNodes + 1 {
		id := graph.NodeID(fmt.Sprint("shared", i))
		docs[id] = &Document{Node: &graph.Node{ID: id, Type: "T", Summary: "shared", Created: 1}}
	}
	for _, summary := range []string{"common", "rare", "rare common", "common word"} {
		id := graph.NodeID(summary)
		docs[id] = &Document{Node: &graph.Node{ID: id, Type: "T", Summary: summary, Created: 1}}
		if summary == "rare" {
			docs[id].Content = "a rare, common word"
		}
	}
	blocks := mem.New().Derived()
	x, err := Open(ctx, blocks, build(t, blocks, docs, UpdateOptions{}), nil)
	must.OK(t, err)
	var all strings.Builder
	for i := range 300 {
		fmt.Fprintf(&all, "name%d ", i)
	}
	if ids, err := x.TitlesIn(ctx, all.String()); err != nil || len(ids) != maxMentioned {
		t.Errorf("%d titles, %v", len(ids), err)
	}
	if ids, err := x.TitlesIn(ctx, "shared"); err != nil || len(ids) != 0 {
		t.Errorf("a title of too many nodes: %v, %v", ids, err)
	}
	far := strings.Repeat("filler ", maxTitleText) + "name1"
	if ids, err := x.TitlesIn(ctx, far); err != nil || len(ids) != 0 || x.HasTitle(far, "name1") {
		t.Errorf("a title too far on: %v, %v", ids, err)
	}
	for end, want := range map[string]int{"-é": 1, "-- name2": 2, "-- name23": 2, "--- name23": 1} {
		long := "name1 " + strings.Repeat("-", maxTitleBytes-len("name1 -- name2")) + end + "3"
		ids, err := x.TitlesIn(ctx, long)
		if err != nil || len(ids) != want || !x.HasTitle(long, "name1") {
			t.Errorf("a text that is cut after %q has %d titles, %v, want %d", end, len(ids), err, want)
		}
	}
	for summary, want := range map[string]int{
		"common": 0, "name7": 0, "shared": 0, "": 0, "rare": 1, "rare common": 1, "common word": 0,
	} {
		ids, err := x.Mentioning(ctx, summary, 256)
		if err != nil || len(ids) != want {
			t.Errorf("%q: %v, %v", summary, ids, err)
		}
	}
}
