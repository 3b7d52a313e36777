package dense

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/tiers"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
	"github.com/mnem-project/mnem/store/mem"
)

// seedBlocks returns the blocks of a few indexes, whose segments are one block and many.
func seedBlocks(f *testing.F) [][]byte {
	f.Helper()
	var out [][]byte
	for _, n := range []int{1, 40, 700} {
		rng := rand.New(rand.NewPCG(uint64(n), 1))
		m := newMemory(f)
		for range 2 {
			changes := map[key][]int8{}
			for i := range n {
				if rng.IntN(3) > 0 {
					changes[key{denseID(i), "m"}] = randomVector(rng, 100, 127)
				}
			}
			changes[key{denseID(n), "m"}] = []int8{1, 2}
			m.apply(changes, Options{})
		}
		err := Walk(f.Context(), m.blocks, m.manifest, func(c ipld.CID) error {
			data, err := m.blocks.Get(f.Context(), c)
			out = append(out, data)
			return err
		})
		if err != nil {
			f.Fatal(err)
		}
	}
	return out
}

// checkError fails where an error is none of those that damage may cause.
func checkError(t testing.TB, err error) {
	t.Helper()
	if err != nil && !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, store.ErrNotFound) {
		t.Errorf("error of no kind: %v", err)
	}
}

// FuzzManifest holds that a manifest has one encoding, unknown fields apart.
func FuzzManifest(f *testing.F) {
	for _, data := range seedBlocks(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		of, groups, err := decodeManifest(data)
		if checkError(t, err); err != nil {
			return
		}
		b := encodeManifest(of, groups)
		if len(b) > len(data) || len(b) == len(data) && !bytes.Equal(b, data) {
			t.Errorf("manifest has two encodings: %x and %x", data, b)
		}
	})
}

// FuzzGroup holds that the key and the value of a group have one encoding.
func FuzzGroup(f *testing.F) {
	ref := tiers.Ref{CID: ipld.Sum(ipld.DagCBOR, nil), Docs: 30, Kills: 4}
	f.Add(groupKey{"m", 384}.bytes(), encodeSegments(&tiers.List{Segments: []tiers.Ref{ref}}))
	f.Add(groupKey{"a/b", 1}.bytes(), encodeSegments(&tiers.List{
		Segments: []tiers.Ref{ref, ref, {CID: ref.CID}}, Run: tiers.Run{From: 1, Count: 2},
	}))
	f.Fuzz(func(t *testing.T, name, value []byte) {
		k, err := parseGroupKey(name)
		if checkError(t, err); err == nil && !bytes.Equal(k.bytes(), name) {
			t.Errorf("key has two encodings: %x and %x", name, k.bytes())
		}
		list, err := decodeSegments(value)
		if checkError(t, err); err == nil && !bytes.Equal(encodeSegments(&list), value) {
			t.Errorf("value has two encodings: %x and %x", value, encodeSegments(&list))
		}
	})
}

// FuzzSegment makes an index of any bytes and asks it everything.
func FuzzSegment(f *testing.F) {
	for _, data := range seedBlocks(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		block := store.NewBlock(ipld.DagCBOR, data)
		s, err := decodeSegment(block.CID, data)
		if checkError(t, err); err != nil {
			return
		}
		b := s.encode()
		if len(b) > len(data) || len(b) == len(data) && !bytes.Equal(b, data) {
			t.Errorf("segment has two encodings: %x and %x", data, b)
		}
		blocks := mem.New().Derived()
		if err := blocks.Put(t.Context(), block); err != nil {
			t.Skip()
		}
		ask(t, blocks, s)
	})
}

// ask asks everything of a group of segments, and compares what Verify accepts with ranking all.
func ask(t *testing.T, blocks store.Blocks, segs ...*segment) {
	t.Helper()
	ctx := context.Background()
	var list []tiers.Ref
	for _, s := range segs {
		list = append(list, tiers.Ref{CID: s.cid, Docs: s.docs, Kills: s.kills})
	}
	dims := segs[0].dims
	m := &memory{t: t, blocks: blocks, vectors: map[key][]int8{}}
	m.manifest = writeGroup(t, blocks, m.of(), groupKey{"m", dims}, list)
	err := Walk(ctx, blocks, m.manifest, func(ipld.CID) error { return nil })
	checkError(t, err)
	_, err = ReadStats(ctx, blocks, m.manifest)
	checkError(t, err)

	fits := m.read(segs)
	wrong, err := Verify(ctx, blocks, m.manifest, m.of(), m.all())
	checkError(t, err)
	accepted := fits && err == nil && len(wrong) == 0
	for _, cache := range []*Cache{nil, NewCache(1 << 20)} {
		x := m.open(cache)
		x.exactWork = 0
		for _, shortlist := range []int{0, 3} {
			q := Query{Model: "m", Values: slices.Repeat([]int8{1, 5}, dims)[:dims], Shortlist: shortlist}
			res, err := x.Search(ctx, q)
			checkError(t, err)
			if shortlist == 0 && accepted && (err != nil || !slices.Equal(res.Hits, m.ranked(q))) {
				t.Errorf("verified, but answers %v, %v", res.Hits, err)
			}
			q.Accept = func(id graph.ID) (bool, error) { return id[15]%16 == 1, nil }
			_, err = x.Search(ctx, q)
			checkError(t, err)
		}
	}
	_, err = Update(ctx, blocks, m.manifest, m.of(), yielded([]Change{
		{ID: denseID(0), Model: "m", Old: dims, New: make([]int8, dims)},
	}), Options{Fanout: 2})
	checkError(t, err)
}

// writeGroup writes the manifest of an index of one group.
func writeGroup(
	t testing.TB, blocks store.Blocks, of ipld.CID, k groupKey, list []tiers.Ref,
) ipld.CID {
	t.Helper()
	ctx := context.Background()
	groups, err := Update(ctx, blocks, ipld.CID{}, of, yielded(nil), Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, root, err := manifest(ctx, blocks, groups)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := loadGroups(ctx, blocks, root)
	if err != nil {
		t.Fatal(err)
	}
	u := &updater{ctx: ctx, blocks: blocks, lists: map[groupKey]*tiers.List{
		k: {Segments: list},
	}}
	edits := u.edits()
	edits[0].Value = encodeSegments(&tiers.List{Segments: list})
	if tree, err = tree.Edit(ctx, edits); err != nil {
		t.Fatal(err)
	}
	block := store.NewBlock(ipld.DagCBOR, encodeManifest(of, tree.Root()))
	if err := blocks.Put(ctx, block); err != nil {
		t.Fatal(err)
	}
	return block.CID
}

// read sets the vectors to those of segments, and reports whether that makes sense.
func (m *memory) read(segs []*segment) bool {
	r := &reader{get: m.blocks, cache: new(Cache)}
	rows := func(c *column, fn func(row []byte)) bool {
		for n := range c.parts() {
			data, err := r.part(context.Background(), c, n)
			if err != nil {
				return false
			}
			for row := range slices.Chunk(data, c.width) {
				fn(row)
			}
		}
		return true
	}
	for _, s := range segs {
		if !rows(&s.cols[colDead], func(row []byte) { delete(m.vectors, key{graph.ID(row), "m"}) }) ||
			!rows(&s.cols[colVectors], func(row []byte) {
				m.vectors[key{graph.ID(row), "m"}] = values(row)
			}) {
			return false
		}
	}
	return true
}

// FuzzParts makes two segments of any bytes as their parts: one of vectors, one that kills.
func FuzzParts(f *testing.F) {
	m := newMemory(f)
	m.apply(map[key][]int8{{denseID(0), "m"}: {1, 2, 3}, {denseID(1), "m"}: {4, 5, 6}}, Options{})
	s := m.segments(groupKey{"m", 3})[0]
	f.Add(s.cols[colIDs].data, s.cols[colIDs].data[:16], s.cols[colSketch].data,
		s.cols[colVectors].data, uint16(3))
	for _, data := range seedBlocks(f) {
		f.Add(data, data, data, data, uint16(100))
	}
	f.Fuzz(func(t *testing.T, ids, dead, sketches, vectors []byte, width uint16) {
		blocks := mem.New().Derived()
		dims := 1 + int(width-1)%300
		add, kill := newSegment(dims), newSegment(dims)
		add.docs = len(vectors) / add.cols[colVectors].width
		kill.kills = len(dead) / graph.IDLen
		for i := range add.cols {
			for _, s := range []*segment{&add, &kill} {
				if s.cols[i].rows = s.docs; i == colDead {
					s.cols[i].rows = s.kills
				}
			}
		}
		fill(t, blocks, &add.cols[colIDs], ids)
		fill(t, blocks, &add.cols[colSketch], sketches)
		fill(t, blocks, &add.cols[colVectors], vectors)
		fill(t, blocks, &kill.cols[colDead], dead)
		for n := range add.cols[colIDs].parts() {
			at := min(n*idsPerPart*graph.IDLen, len(ids))
			first := append(bytes.Clone(ids[at:]), make([]byte, graph.IDLen)...)
			add.first = append(add.first, first[:graph.IDLen]...)
		}
		for _, s := range []*segment{&add, &kill} {
			block := store.NewBlock(ipld.DagCBOR, s.encode())
			s.cid = block.CID
			if _, err := decodeSegment(s.cid, block.Data); err != nil {
				t.Fatal(err)
			}
			if err := blocks.Put(t.Context(), block); err != nil {
				t.Fatal(err)
			}
		}
		ask(t, blocks, &add, &kill)
	})
}

// fill writes bytes as the parts of a column, the last of them as long as it comes out.
func fill(t *testing.T, blocks store.Blocks, c *column, data []byte) {
	t.Helper()
	if c.rows == 0 {
		return
	}
	w := &segmentWriter{ctx: t.Context(), put: blocks}
	var dir []byte
	for n := range c.parts() {
		from := min(n*c.per*c.width, len(data))
		part, err := w.block(data[from:min(from+c.partRows(n)*c.width, len(data))])
		if err != nil {
			t.Fatal(err)
		}
		dir = part.Append(dir)
	}
	for d := range slices.Chunk(dir, dirFan*ipld.CIDLen) {
		at, err := w.block(d)
		if err != nil {
			t.Fatal(err)
		}
		c.dirs = append(c.dirs, at)
	}
}

// segments returns the segments of a group.
func (m *memory) segments(k groupKey) []*segment {
	m.t.Helper()
	g, err := m.open(nil).group(context.Background(), k)
	if err != nil || g == nil {
		m.t.Fatalf("group %v: %v", k, err)
	}
	return g.segs
}

// FuzzDirectory reads any bytes as a directory.
func FuzzDirectory(f *testing.F) {
	for _, data := range seedBlocks(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		blocks := mem.New().Derived()
		block := store.NewBlock(ipld.Raw, data)
		if err := blocks.Put(t.Context(), block); err != nil {
			t.Skip()
		}
		r := &reader{get: blocks, cache: new(Cache)}
		parts := 1 + len(data)/ipld.CIDLen%dirFan
		c := column{width: 1, per: 1, rows: parts, dirs: []ipld.CID{block.CID}}
		for _, c.rows = range []int{parts, max(1, parts-1)} {
			dir, err := r.dir(t.Context(), &c, 0)
			checkError(t, err)
			if err != nil {
				continue
			}
			var b []byte
			for _, at := range dir {
				b = at.Append(b)
			}
			if !bytes.Equal(b, data) {
				t.Errorf("directory has two encodings: %x and %x", data, b)
			}
		}
	})
}
