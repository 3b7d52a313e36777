package index

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/testkit/differ"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// phrase reports whether title stands in terms.
func phrase(terms, title []string) bool {
	for i := range terms {
		if len(terms)-i >= len(title) && slices.Equal(terms[i:i+len(title)], title) {
			return true
		}
	}
	return false
}

// TestMentions compares titles in texts, and texts with titles, with those that a walk over all
// pairs finds, in indexes of several segments with removals.
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
	for range effort.Pick(8, 15, 300) {
		docs, x := grown(t, rng, 60, func(id graph.ID) *Document {
			return &Document{
				Node: &graph.Node{ID: id, Type: "T", Summary: some(4), Created: 1}, Content: some(30),
			}
		})
		byTitle := map[string][]graph.ID{}
		for id, d := range docs {
			title := strings.Join(Title(x.analyser, d.Node.Summary), " ")
			byTitle[title] = append(byTitle[title], id)
		}
		for id, d := range docs {
			content := x.analyser.Terms(d.Content)
			var in, with []graph.ID
			for title, ids := range byTitle {
				if len(ids) <= maxTitleNodes && phrase(content, strings.Fields(title)) {
					in = append(in, ids...)
				}
			}
			title := Title(x.analyser, d.Node.Summary)
			for other, o := range docs {
				if len(byTitle[strings.Join(title, " ")]) <= maxTitleNodes &&
					phrase(x.analyser.Terms(o.Content), title) {
					with = append(with, other)
				}
			}
			got, err := x.TitlesIn(ctx, d.Content)
			if diff := differ.Diff(sortedIDs(in), got); err != nil || diff != "" {
				t.Fatalf("titles in the content of %s (-want +got): %v\n%s", id, err, diff)
			}
			all, err := x.Mentioning(ctx, d.Node.Summary, 1000)
			if err != nil {
				t.Fatalf("mentioning %v: %v", title, err)
			}
			var verified []graph.ID
			for _, other := range all {
				if x.HasTitle(docs[other].Content, d.Node.Summary) {
					verified = append(verified, other)
				}
			}
			if diff := differ.Diff(sortedIDs(with), verified); diff != "" {
				t.Fatalf("mentioning %v (-want +got):\n%s", title, diff)
			}
		}
		checkNamed(t, x, docs, some(20))
	}
}

// checkNamed compares the titles that a text has with those of a walk over all documents, in an
// order of their own.
func checkNamed(t *testing.T, x *Index, docs collection, text string) {
	t.Helper()
	var ids []graph.ID
	for id := range docs {
		ids = append(ids, id)
	}
	named, err := x.Analyse(text).TitlesNamed(t.Context(), nil, ids)
	must.OK(t, err)
	for i, id := range ids {
		want := naming(x.analyser, text, nil, docs[id].Node.Summary)
		if diff := differ.Diff(want, named[i]); diff != "" {
			t.Fatalf("%q in %q (-want +got):\n%s", docs[id].Node.Summary, text, diff)
		}
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
	for summary, want := range map[string]int{
		"common": 0, "name7": 0, "shared": 0, "": 0, "rare": 1, "rare common": 1, "common word": 0,
	} {
		ids, err := x.Mentioning(ctx, summary, 256)
		if err != nil || len(ids) != want {
			t.Errorf("%q: %v, %v", summary, ids, err)
		}
	}
}
