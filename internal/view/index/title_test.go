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
			want := must.Get(one.TitlesIn(ctx, d.Content))(t)
			got := must.Get(x.TitlesIn(ctx, d.Content))(t, "titles in the content of ", id, " (-want +got)")
			must.Equal(t, differ.Diff(want, got), "", "titles in the content of ", id, " (-want +got)")
			for _, other := range got {
				if found++; !x.HasTitle(d.Content, docs[other].Node.Summary) {
					t.Fatalf("%q has not the title %q", d.Content, docs[other].Node.Summary)
				}
			}
			want = must.Get(one.Mentioning(ctx, d.Node.Summary, 1000))(t)
			got, err := x.Mentioning(ctx, d.Node.Summary, 1000)
			must.OK(t, err, "mentioning ", d.Node.Summary, " (-want +got)")
			must.Equal(t, differ.Diff(want, got), "", "mentioning ", d.Node.Summary, " (-want +got)")
			named := must.Get(one.Analyse(d.Content).TitlesNamed(ctx, nil, ids))(t)
			again, err := x.Analyse(d.Content).TitlesNamed(ctx, nil, ids)
			must.OK(t, err, "titles named in ", d.Content, " (-want +got)")
			must.Equal(t, differ.Diff(named, again), "", "titles named in ", d.Content, " (-want +got)")
		}
	}
	must.Check(t, found != 0, "no title stood in any text")
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
	x := must.Get(Open(ctx, blocks, build(t, blocks, docs, UpdateOptions{}), nil))(t)
	var all strings.Builder
	for i := range 300 {
		fmt.Fprintf(&all, "name%d ", i)
	}
	must.Equal(t, len(must.Get(x.TitlesIn(ctx, all.String()))(t)), maxMentioned, "titles")
	must.Equal(t, len(must.Get(x.TitlesIn(ctx, "shared"))(t)), 0, "a title of too many nodes")
	far := strings.Repeat("filler ", maxTitleText) + "name1"
	if ids, err := x.TitlesIn(ctx, far); err != nil || len(ids) != 0 || x.HasTitle(far, "name1") {
		t.Errorf("a title too far on: %v, %v", ids, err)
	}
	for end, want := range map[string]int{"-é": 1, "-- name2": 2, "-- name23": 2, "--- name23": 1} {
		long := "name1 " + strings.Repeat("-", maxTitleBytes-len("name1 -- name2")) + end + "3"
		ids, err := x.TitlesIn(ctx, long)
		must.Check(t, err == nil && len(ids) == want && x.HasTitle(long, "name1"),
			"a text that is cut after %q has %d titles, %v, want %d", end, len(ids), err, want)
	}
	for summary, want := range map[string]int{
		"common": 0, "name7": 0, "shared": 0, "": 0, "rare": 1, "rare common": 1, "common word": 0,
	} {
		ids := must.Get(x.Mentioning(ctx, summary, 256))(t, summary)
		must.Equal(t, len(ids), want, summary)
	}
}
