package segment

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// known is a format whose documents consist only of ids.
var known = &Format{
	Name: "known", Version: 1, Sections: []Spec{{"ids", IDsPerPart * 16}, {"dead", IDsPerPart * 16}},
	Inline: 1 << 10, MaxDocs: 1 << 20, MaxSegments: 9,
}

func idOf(b byte) graph.ID { return graph.ID{b} }

// idSegment writes a segment of documents and kills, both ascending, named by letters.
func idSegment(t *testing.T, put store.Putter, docs, kills string) *Segment {
	t.Helper()
	w := known.NewWriter(t.Context(), put)
	for i := range len(docs) {
		must.OK(t, w.AddDoc(idOf(docs[i])))
	}
	for i := range len(kills) {
		must.OK(t, w.AddKill(idOf(kills[i])))
	}
	s, _, err := w.Finish()
	must.OK(t, err)
	return s
}

// TestMergeIDs merges documents and kills, written as "documents/kills" of segments, oldest first. In results "-x"
// is a kill and "x1" a document of the second segment.
func TestMergeIDs(t *testing.T) {
	for text, want := range map[string]string{
		"ab/ c/":        "a0 b0 c1",
		"ab/ /a":        "b0",
		"ab/ a/a":       "a1 b0",
		"a/ /a a/":      "a2",
		"a/ /a a/ /a":   "",
		"b/a":           "-a b0",
		"/a a/":         "-a a1",
		"a/a":           "-a a0",
		"a/a /a":        "-a",
		"a/ a/":         "damaged",
		"/a /a":         "damaged",
		"abc/ /b b/ d/": "a0 b2 c0 d3",
		"":              "",
	} {
		for _, oldest := range []bool{false, true} {
			derived := mem.New().Derived()
			var segs []*Segment
			for _, s := range strings.Fields(text) {
				docs, kills, _ := strings.Cut(s, "/")
				segs = append(segs, idSegment(t, derived, docs, kills))
			}
			var got []string
			err := known.NewReader(derived, nil).MergeIDs(t.Context(), segs, oldest,
				func(id graph.ID) error {
					got = append(got, "-"+string(id[:1]))
					return nil
				},
				func(id graph.ID, seg, doc int) error {
					docs, _, _ := strings.Cut(strings.Fields(text)[seg], "/")
					must.Equal(t, docs[doc], id[0], text, ": document ", doc, " of segment ", seg)
					got = append(got, fmt.Sprintf("%c%d", id[0], seg))
					return nil
				})
			bad := want == "damaged" || oldest && strings.Contains(want, "-")
			if bad != errors.Is(err, store.ErrCorrupt) || !bad && (err != nil || strings.Join(got, " ") != want) {
				t.Errorf("%q, oldest %v: %v, %v, want %q", text, oldest, got, err, want)
			}
		}
	}
}

// TestIDs finds ids of many parts, and none between.
func TestIDs(t *testing.T) {
	const n = 3*IDsPerPart + 7
	derived := mem.New().Derived()
	w := known.NewWriter(t.Context(), derived)
	var all []graph.ID
	for i := range n {
		all = append(all, graph.ID(append(number(2*i), make([]byte, 12)...)))
		must.OK(t, w.AddDoc(all[i]))
	}
	s, _, err := w.Finish()
	must.OK(t, err)
	must.Equal(t, s.Parts(IDs), 4)
	r := known.NewReader(derived, NewCache(1<<20))
	find := r.IDFinder(s)
	for i := 0; i < n; i += 91 {
		doc, ok, err := find.Find(t.Context(), all[i])
		must.Require(t, err == nil && ok && int(doc) == i, "id %d: %d, %v, %v", i, doc, ok, err)
		other := all[i]
		other[15]++
		_, ok, err = find.Find(t.Context(), other)
		must.Require(t, !ok && err == nil, "after id %d: %v, %v", i, ok, err)
	}
	var got []graph.ID
	must.OK(t, r.EachID(t.Context(), s, IDs, func(id graph.ID) error {
		got = append(got, id)
		return nil
	}), "ids")
	must.Same(t, got, all, "ids")
	c := r.IDCursor(s, IDs)
	for _, c.N = range []int{5, IDsPerPart + 1, n - 1} {
		must.Equal(t, graph.ID(must.Get(c.Peek(t.Context()))(t)), all[c.N], "id ", c.N)
	}
	for _, bad := range [][]byte{number(1), make([]byte, 32)} {
		must.Fail(t, must.Err(DecodeIDs(bad, 2)), store.ErrCorrupt, bad)
	}
}

// TestIDFinderMemory: a finder that looks up one id allocates for the parts near it, not for all of a segment.
func TestIDFinderMemory(t *testing.T) {
	const parts = 3*idPageParts + 1
	derived := mem.New().Derived()
	w := known.NewWriter(t.Context(), derived)
	const n = (parts-1)*IDsPerPart + 1
	for i := range n {
		must.OK(t, w.AddDoc(graph.ID(append(number(i), make([]byte, 12)...))))
	}
	s, _, err := w.Finish()
	must.OK(t, err, "parts")
	must.Equal(t, s.Parts(IDs), parts, "parts")
	find := known.NewReader(derived, NewCache(1<<20)).IDFinder(s)
	for _, c := range []struct{ doc, pages int }{{n - 1, 1}, {0, 2}, {IDsPerPart, 2}} {
		doc, ok, err := find.Find(t.Context(), graph.ID(append(number(c.doc), make([]byte, 12)...)))
		must.Require(t, err == nil && ok && int(doc) == c.doc, "id %d: %d, %v, %v", c.doc, doc, ok, err)
		pages := 0
		for _, p := range find.pages {
			if p != nil {
				pages++
			}
		}
		must.True(t, len(find.pages) == 4 && pages == c.pages,
			"after id %d: %d of %d pages, want %d of 4", c.doc, pages, len(find.pages), c.pages)
	}
}
