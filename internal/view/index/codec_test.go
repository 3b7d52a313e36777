package index

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/view/segment"
)

func TestInput(t *testing.T) {
	cases := []struct {
		name string
		data []byte
		most uint64
		want uint64
		bad  bool
	}{
		{"zero", []byte{0}, 10, 0, false},
		{"one byte", []byte{0x7f}, 0x7f, 0x7f, false},
		{"two bytes", []byte{0x80, 1}, 0x80, 0x80, false},
		{"over the limit", []byte{11}, 10, 0, true},
		{"long over the limit", []byte{0x80, 2}, 0x80, 0, true},
		{"not minimal", []byte{0x81, 0}, 10, 0, true},
		{"cut", []byte{0x80}, 1000, 0, true},
		{"empty", nil, 1000, 0, true},
		{"too large", bytes.Repeat([]byte{0xff}, 10), 1<<64 - 1, 0, true},
		{"largest", append(bytes.Repeat([]byte{0xff}, 9), 1), 1<<64 - 1, 1<<64 - 1, false},
	}
	for _, c := range cases {
		in := input{b: c.data}
		if got := in.uint(c.most); got != c.want || in.bad != c.bad || !c.bad && !in.done() {
			t.Errorf("%s: %d, bad %t, want %d, %t", c.name, got, in.bad, c.want, c.bad)
		}
	}
	for _, n := range []int64{0, -1, 1, 63, -64, 1 << 40, -1 << 63, 1<<63 - 1} {
		in := input{b: putInt(nil, n)}
		got := in.int()
		must.True(t, got == n && !in.bad, "%d reads back as %d", n, got)
	}
}

// TestPosts writes lists of random lengths and reads them back, wholly and by skipping.
func TestPosts(t *testing.T) {
	rng := newRand(t)
	ctx := context.Background()
	const docs = 30_000
	blocks := mem.New().Derived()
	w := newSegmentWriter(Format.NewWriter(ctx, blocks))
	w.posts.lens = make([]docLens, docs)
	for i := range w.posts.lens {
		for f := range Fields {
			w.posts.lens[i][f] = uint32(1000 + rng.IntN(1000))
		}
	}
	var lists [][]posting
	var places []entry
	for _, n := range []int{1, 2, 30, 127, 128, 129, 256, 5000, docs} {
		list := randomPosts(rng, n, docs)
		for i := range list {
			must.OK(t, w.posts.add(list[i].doc, &list[i].tf))
		}
		count, at, err := w.posts.finish()
		must.OK(t, err, "postings")
		must.Equal(t, count, n, "postings")
		at.data = bytes.Clone(at.data)
		lists, places = append(lists, list), append(places, entry{count: count, at: at})
	}
	w.Docs = docs
	seg, _, err := w.Finish()
	must.OK(t, err)
	if seg.Parts(secPosts) < 3 {
		t.Errorf("%d parts, want lists that cross parts", seg.Parts(secPosts))
	}
	src := &source{Format.NewReader(blocks, segment.NewCache(1<<20))}
	for i, list := range lists {
		checkPosts(t, src, seg, places[i], list)
		checkSeek(t, rng, src, seg, places[i], list)
	}
}

func randomPosts(rng *rand.Rand, n, docs int) []posting {
	at := rng.Perm(docs)[:n]
	slices.Sort(at)
	list := make([]posting, n)
	for i := range list {
		list[i].doc = uint32(at[i])
		for list[i].tf == [Fields]uint32{} {
			for f := range Fields {
				list[i].tf[f] = uint32(rng.IntN(4) * rng.IntN(2))
			}
		}
	}
	return list
}

func checkPosts(t *testing.T, src *source, seg *segment.Segment, e entry, want []posting) {
	t.Helper()
	var r postReader
	r.open(src, seg, e)
	var got []posting
	for {
		ok := must.Get(r.next(context.Background()))(t)
		if !ok {
			break
		}
		got = append(got, r.posts[:r.n]...)
	}
	must.Same(t, got, want, "list of")
}

func checkSeek(t *testing.T, rng *rand.Rand, src *source, seg *segment.Segment, e entry, want []posting) {
	t.Helper()
	for range 5 {
		var r termReader
		r.open(src, seg, e)
		target := uint32(0)
		for {
			target += uint32(rng.IntN(4000))
			i := slices.IndexFunc(want, func(p posting) bool { return p.doc >= target })
			ok, err := r.seek(context.Background(), target)
			must.Require(t, err == nil && ok == (i >= 0), "seek %d: %t, %v, want %t", target, ok, err, i >= 0)
			if !ok {
				break
			}
			must.Equal(t, r.posts[r.i], want[i], "seek ", target)
		}
	}
}

// TestDict writes terms with long shared and unshared prefixes and finds each of them, and none
// between.
func TestDict(t *testing.T) {
	ctx := context.Background()
	var terms []string
	for i := range 3000 {
		terms = append(terms, fmt.Sprintf("term%05d", 2*i), fmt.Sprintf("x%s%d", strings.Repeat("y", i%200), i))
	}
	terms = append(terms, strings.Repeat("z", maxTerm), "\x00", "é")
	slices.Sort(terms)
	terms = slices.Compact(terms)
	blocks := mem.New().Derived()
	w := newSegmentWriter(Format.NewWriter(ctx, blocks))
	for i, term := range terms {
		must.OK(t, w.dict.add(term, &entry{neg: i + 1}))
	}
	seg, _, err := w.finish()
	must.OK(t, err)
	src := &source{Format.NewReader(blocks, segment.NewCache(1<<20))}
	for i, term := range terms {
		for _, absent := range []string{term + "\x00", term[:len(term)-1]} {
			_, ok, err := src.term(ctx, seg, absent)
			_, known := slices.BinarySearch(terms, absent)
			must.Require(t, err == nil && ok == known, "term %q: %t, %v, want %t", absent, ok, err, known)
		}
		if e, ok, err := src.term(ctx, seg, term); err != nil || !ok || e.neg != i+1 {
			t.Fatalf("term %q: %+v, %t, %v, want number %d", term, e, ok, err, i+1)
		}
	}
	cursor := dictCursor{src: src, seg: seg}
	for _, term := range terms {
		if ok, err := cursor.next(ctx); !ok || err != nil || string(cursor.term) != term {
			t.Fatalf("next is %q, %t, %v, want %q", cursor.term, ok, err, term)
		}
	}
	if ok, err := cursor.next(ctx); ok || err != nil {
		t.Errorf("a term after the last: %t, %v", ok, err)
	}
	for _, term := range []string{"", strings.Repeat("z", maxTerm+1)} {
		must.True(t, w.dict.add(term, &entry{neg: 1}) != nil, "term of %d bytes written", len(term))
	}
}

func TestMeta(t *testing.T) {
	docs := []docMeta{
		{typ: "b", created: 5},
		{typ: "a", created: graph.MinTime, updated: graph.At(graph.MaxTime)},
		{typ: "b", created: graph.MaxTime, validFrom: graph.At(graph.MinTime)},
		{typ: strings.Repeat("t", graph.MaxType), validTo: graph.At(0)},
	}
	data := encodeMeta(docs)
	p := must.Get(decodeMeta(data, docKey(7), 11))(t)
	got, err := p.group(nil, 0)
	if diff := cmp.Diff(docs, got, cmp.AllowUnexported(docMeta{})); diff != "" || p.first != 7 || err != nil {
		t.Errorf("first %d, %v (-want +got):\n%s", p.first, err, diff)
	}
	for i := range docs {
		typ := p.typ(7 + uint32(i))
		must.True(t, typ == docs[i].typ && p.has(7+uint32(i)), "document %d is of type %.9q", i, typ)
	}
	must.True(t, !p.has(6) && !p.has(11) && !(*metaPart)(nil).has(0), "a document of another part")
	outside := putInt([]byte{0}, int64(graph.MaxTime)+1)
	far := putInt([]byte{0}, 1<<62)
	one := func(times []byte) []byte { return append([]byte{1, 1, 1, 'a', 0, byte(len(times)), 0}, times...) }
	bad := map[string]struct {
		data, key []byte
		docs      int
	}{
		"too many":       {data, docKey(7), 10},
		"short key":      {data, docKey(7)[:3], 11},
		"trailing":       {append(bytes.Clone(data), 0), docKey(7), 11},
		"cut":            {data[:len(data)-1], docKey(7), 11},
		"empty":          {[]byte{0, 0}, docKey(0), 11},
		"no columns":     {[]byte{1, 1, 1, 'a'}, docKey(0), 11},
		"no ends":        {[]byte{1, 1, 1, 'a', 0}, docKey(0), 11},
		"unknown type":   {[]byte{1, 1, 1, 'a', 1, 2, 0, 0, 0}, docKey(0), 11},
		"early end":      {[]byte{1, 1, 1, 'a', 0, 1, 0, 0, 0}, docKey(0), 11},
		"unknown flag":   {one([]byte{8, 0}), docKey(0), 11},
		"time outside":   {one(outside), docKey(0), 11},
		"far outside":    {one(far), docKey(0), 11},
		"two times more": {one([]byte{0, 0, 0}), docKey(0), 11},
	}
	for name, c := range bad {
		p, err := decodeMeta(c.data, c.key, c.docs)
		if err == nil {
			_, err = p.group(nil, 0)
		}
		must.True(t, err != nil, "%s: read as %+v", name, p)
	}
	p, err = decodeMeta(one([]byte{0, 0}), docKey(0), 1)
	if err == nil {
		_, err = p.group(nil, 0)
	}
	must.OK(t, err, "the least part")
}
