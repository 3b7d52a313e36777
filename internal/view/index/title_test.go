package index

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
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
			return &Document{Node: &graph.Node{ID: id, Type: "T", Summary: some(4), Created: 1}, Content: some(30)}
		})
		one, ids := fresh(t, docs), slices.SortedFunc(maps.Keys(docs), graph.ID.Compare)
		for id, d := range docs {
			want := must.Get(one.TitlesIn(ctx, d.Content))(t)
			got := must.Get(x.TitlesIn(ctx, d.Content))(t, "titles in the content of ", id)
			must.Same(t, got, want, "titles in the content of ", id)
			for _, other := range got {
				if found++; !x.HasTitle(d.Content, docs[other].Node.Summary) {
					t.Fatalf("%q has not the title %q", d.Content, docs[other].Node.Summary)
				}
			}
			want = must.Get(one.Mentioning(ctx, d.Node.Summary, 1000))(t)
			got, err := x.Mentioning(ctx, d.Node.Summary, 1000)
			must.OK(t, err, "mentioning ", d.Node.Summary)
			must.Same(t, got, want, "mentioning ", d.Node.Summary)
			named := must.Get(one.Analyse(d.Content).TitlesNamed(ctx, nil, ids))(t)
			again, err := x.Analyse(d.Content).TitlesNamed(ctx, nil, ids)
			must.OK(t, err, "titles named in ", d.Content)
			must.Same(t, again, named, "titles named in ", d.Content)
		}
	}
	must.True(t, found != 0, "no title stood in any text")
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
		must.True(t, err == nil && len(ids) == want && x.HasTitle(long, "name1"),
			"a text that is cut after %q has %d titles, %v, want %d", end, len(ids), err, want)
	}
	for summary, want := range map[string]int{
		"common": 0, "name7": 0, "shared": 0, "": 0, "rare": 1, "rare common": 1, "common word": 0,
	} {
		ids := must.Get(x.Mentioning(ctx, summary, 256))(t, summary)
		must.Equal(t, len(ids), want, summary)
	}
}

// TestTitleParts looks up sums that are there and others, also if sums are close together.
func TestTitleParts(t *testing.T) {
	rng := newRand(t)
	for _, n := range []int{0, 1, 2, 63, 1000, titlesPerPart} {
		for _, span := range []uint32{uint32(2*n + 1), 1 << 20, 1<<32 - 1} {
			there := map[uint32]bool{}
			low := rng.Uint32N(1<<32 - 1 - span + 1)
			for len(there) < n {
				there[low+rng.Uint32N(span)] = true
			}
			var sums []uint32
			for sum := range there {
				sums = append(sums, sum)
			}
			slices.Sort(sums)
			var data []byte
			for _, sum := range sums {
				data = binary.BigEndian.AppendUint32(data, sum)
			}
			p := must.Get(decodeTitles(data))(t)
			for range 1000 {
				sum := low + rng.Uint32N(span)
				if rng.IntN(4) == 0 {
					sum = rng.Uint32()
				}
				if got := p.has(sum); got != there[sum] {
					t.Fatalf("%d of %d: %x there %t, want %t", n, span, sum, got, there[sum])
				}
			}
			for _, sum := range sums {
				must.Require(t, p.has(sum), "%d of %d: no %x", n, span, sum)
			}
		}
	}
	for name, data := range map[string][]byte{
		"half": {1, 2, 3, 4, 5, 6}, "twice": {1, 2, 3, 4, 1, 2, 3, 4}, "descending": {1, 2, 3, 4, 1, 2, 3, 3},
		"too many": make([]byte, 4*titlesPerPart+4),
	} {
		_, err := decodeTitles(data)
		must.Fail(t, err, store.ErrCorrupt, name)
	}
}

func TestTitleSums(t *testing.T) {
	titles := [][]string{{"a"}, {"a", "b"}, {"ab"}, {"b", "a"}, {"a", "b", "c"}, {"a", "a"}, {"字", "b"}}
	seen := map[uint32][]string{}
	for _, title := range titles {
		h, want := sumOf(title), []uint32{7}
		if len(title) > beginTerms {
			want = append(want, sumOf(title[:beginTerms]).begun())
		}
		want = append(want, h.stored())
		must.Same(t, appendSums([]uint32{7}, titleKey(title)), want, title, " has the sums")
		other := seen[h.stored()]
		must.True(t, other == nil, "%q and %q have one sum", title, other)
		seen[h.stored()] = title
	}
	must.Equal(t, sumOf([]string{"steeli", "dan"}).stored(), uint32(0xa68e_14ce), "sum")
}

// titledDocs returns documents with titles of one word and another, and more of them by updates; each leaves a segment.
func titledDocs(t *testing.T, blocks store.Blocks, n, updates int) ipld.CID {
	t.Helper()
	doc := func(i int) Change {
		id := numberedID(i)
		return Change{ID: id, New: &Document{
			Node: &graph.Node{ID: id, Type: "T", Summary: fmt.Sprintf("name%d word", i), Created: 1},
		}}
	}
	m, err := Update(t.Context(), blocks, ipld.CID{}, func(yield func(Change, error) bool) {
		for i := range n {
			if !yield(doc(i), nil) {
				return
			}
		}
	}, UpdateOptions{})
	for i := 0; i < updates && err == nil; i++ {
		m, err = Update(t.Context(), blocks, m, one(doc(n+i)), UpdateOptions{Fanout: 1000})
	}
	must.OK(t, err)
	return m
}

// TestTitlesWork bounds what looking for titles in a text reads: the dictionary for titles that are
// there, and for words that are none the sums, four bytes of each title.
func TestTitlesWork(t *testing.T) {
	const docs, updates = 20_000, 20
	blocks := mem.New().Derived()
	m := titledDocs(t, blocks, docs, updates)
	var none, some strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&none, "name%d elsewhere ", i)
	}
	for _, i := range []int{5, docs / 2, docs + updates - 1} {
		fmt.Fprintf(&some, "word name%d word name%d name%d ", i, i, i)
	}
	for name, c := range map[string]struct {
		text   string
		titles int
		blocks int
	}{
		"none": {none.String(), 0, docs/titlesPerPart + 1},
		// Of each title two parts of the dictionary at most, and one of ids.
		"three": {some.String(), 3, docs/titlesPerPart + 1 + 3*3},
	} {
		read := &counter{Getter: blocks, got: map[ipld.CID]int{}}
		x := must.Get(Open(t.Context(), read, m, segment.NewCache(64<<20)))(t)
		read.got, read.bytes = map[ipld.CID]int{}, 0
		ids := must.Get(x.TitlesIn(t.Context(), c.text))(t, name)
		must.Equal(t, len(ids), c.titles, name)
		t.Logf("%s: %d blocks of %d bytes", name, len(read.got), read.bytes)
		if most := 5*docs + 3*3*maxPart; len(read.got) > c.blocks || read.bytes > most {
			t.Errorf("%s: read %d blocks of %d bytes, want at most %d of %d", name, len(read.got),
				read.bytes, c.blocks, most)
		}
	}
}

// TestTitlesVerified holds that Verify sees sums that are not those of the titles.
func TestTitlesVerified(t *testing.T) {
	ctx := context.Background()
	blocks := mem.New().Derived()
	m := titledDocs(t, blocks, 3, 0)
	x := must.Get(Open(ctx, blocks, m, nil))(t)
	data := must.Get(x.src.Bytes(ctx, x.segs[0], secTitles, 0))(t)
	raw := must.Get(blocks.Get(ctx, x.segs[0].CID))(t)
	other := slices.Clone(data)
	other[len(other)-1] ^= 1
	block := store.NewBlock(ipld.DagCBOR, bytes.Replace(raw, data, other, 1))
	changed := Manifest{Stats: x.m.Stats, Analyser: x.m.Analyser, Language: x.m.Language,
		List: segment.List{Segments: []segment.Ref{{CID: block.CID, Docs: 3}}}}
	root := store.NewBlock(ipld.DagCBOR, encodeManifest(&changed))
	must.OK(t, blocks.Put(ctx, block, root))
	for c, want := range map[ipld.CID]int{m: 0, root.CID: 1} {
		found, err := verify(ctx, blocks, c, x.documentsOf(t))
		titles := 0
		for _, f := range found {
			if strings.Contains(f, "3 sums of titles") {
				titles++
			}
		}
		must.True(t, err == nil && titles == want && len(found) == want, "%v, %v, want %d", found, err, want)
	}
}

// documentsOf returns the documents of titledDocs that an index has.
func (x *Index) documentsOf(t *testing.T) func(func(*Document, error) bool) {
	t.Helper()
	return func(yield func(*Document, error) bool) {
		for i := range int(x.m.Stats.Nodes) {
			if !yield(&Document{Node: &graph.Node{ID: numberedID(i), Type: "T", Created: 1,
				Summary: fmt.Sprintf("name%d word", i)}}, nil) {
				return
			}
		}
	}
}
