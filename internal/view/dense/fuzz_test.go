package dense

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
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
					changes[key{denseID(i), "m"}] = vectorOf(denseID(i), 100)
				}
			}
			changes[key{denseID(n), "m"}] = vectorOf(denseID(n), 2)
			m.apply(changes, UpdateOptions{})
		}
		must.OK(f, Walk(f.Context(), m.blocks, m.manifest, func(c ipld.CID) error {
			data, err := m.blocks.Get(f.Context(), c)
			out = append(out, data)
			return err
		}))
	}
	return out
}

// checkError fails where an error is none of those that damage may cause.
func checkError(t testing.TB, err error) {
	t.Helper()
	must.True(t, err == nil || errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrNotFound),
		"error of no kind: %v", err)
}

// FuzzManifest holds that a manifest has one encoding, unknown fields apart.
func FuzzManifest(f *testing.F) {
	for _, data := range seedBlocks(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Format.DecodeManifest(data)
		if checkError(t, err); err != nil {
			return
		}
		b := Format.EncodeManifest(m)
		must.True(t, len(b) <= len(data) && (len(b) != len(data) || bytes.Equal(b, data)),
			"manifest has two encodings: %x and %x", data, b)
	})
}

// FuzzGroup holds that the key and the value of a group have one encoding.
func FuzzGroup(f *testing.F) {
	ref := segment.Ref{CID: ipld.Sum(ipld.DagCBOR, nil), Docs: 30, Kills: 4}
	f.Add(groupKey{"m", 384}.bytes(), segment.EncodeList(&segment.List{Segments: []segment.Ref{ref}}))
	f.Add(groupKey{"a/b", 1}.bytes(), segment.EncodeList(&segment.List{
		Segments: []segment.Ref{ref, ref, {CID: ref.CID}}, Run: segment.Run{From: 1, Count: 2},
	}))
	f.Fuzz(func(t *testing.T, name, value []byte) {
		k, err := parseGroupKey(name)
		if checkError(t, err); err == nil && !bytes.Equal(k.bytes(), name) {
			t.Errorf("key has two encodings: %x and %x", name, k.bytes())
		}
		list, err := decodeSegments(value)
		if checkError(t, err); err == nil && !bytes.Equal(segment.EncodeList(&list), value) {
			t.Errorf("value has two encodings: %x and %x", value, segment.EncodeList(&list))
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
		s, err := Format.Decode(block.CID, data)
		if checkError(t, err); err != nil {
			return
		}
		blocks := mem.New().Derived()
		if err := blocks.Put(t.Context(), block); err != nil {
			t.Skip()
		}
		ask(t, blocks, tableOf(s))
	})
}

// ask asks everything of a group of segments, and compares what Verify accepts with ranking all.
func ask(t *testing.T, blocks store.Blocks, segs ...*table) {
	t.Helper()
	ctx := context.Background()
	var list []segment.Ref
	for _, s := range segs {
		list = append(list, s.Ref())
	}
	dims := segs[0].dims
	m := &memory{t: t, blocks: blocks, vectors: map[key][]int8{}}
	m.manifest = writeGroup(t, blocks, m.of(), groupKey{"m", dims}, list)
	err := Walk(ctx, blocks, m.manifest, func(ipld.CID) error { return nil })
	checkError(t, err)
	_, err = readStats(ctx, blocks, m.manifest)
	checkError(t, err)

	fits := m.read(segs)
	wrong, err := Verify(ctx, blocks, m.manifest, m.of(), m.source, digester, m.all())
	checkError(t, err)
	accepted := fits && err == nil && len(wrong) == 0
	for _, cache := range []*segment.Cache{nil, segment.NewCache(1 << 20)} {
		x := m.open(cache)
		x.exactWork = 0
		for _, shortlist := range []int{0, 3} {
			q := Query{Model: "m", Values: slices.Repeat([]int8{1, 5}, dims)[:dims], Shortlist: shortlist}
			res, err := x.Search(ctx, q)
			checkError(t, err)
			must.True(t, shortlist != 0 || !accepted || (err == nil && slices.Equal(res.Hits, m.ranked(q))),
				"verified, but answers %v, %v", res.Hits, err)
			q.Accept = func(id graph.ID) (bool, error) { return id[15]%16 == 1, nil }
			_, err = x.Search(ctx, q)
			checkError(t, err)
		}
	}
	_, err = Update(ctx, blocks, m.manifest, m.of(), yielded([]VectorChange{
		{ID: denseID(0), Model: "m", Old: dims, New: make([]int8, dims)},
	}), UpdateOptions{Fanout: 2})
	checkError(t, err)
}

// writeGroup writes the manifest of an index of one group.
func writeGroup(t testing.TB, blocks store.Blocks, of ipld.CID, k groupKey, list []segment.Ref) ipld.CID {
	t.Helper()
	ctx := context.Background()
	groups := must.Get(Update(ctx, blocks, ipld.CID{}, of, yielded(nil), UpdateOptions{}))(t)
	_, tree, err := loadGroups(ctx, blocks, groups)
	must.OK(t, err)
	u := &updater{ctx: ctx, blocks: blocks, lists: map[groupKey]*segment.List{k: {Segments: list}}}
	edits := u.edits()
	edits[0].Value = segment.EncodeList(&segment.List{Segments: list})
	tree = must.Get(tree.Edit(ctx, edits))(t)
	m := &segment.Manifest{Roots: []ipld.CID{of, tree.Root()}}
	return must.Get(Format.WriteManifest(ctx, blocks, m))(t)
}

// vectorOf returns the vector that a node has in fuzz tests: one that follows from its id.
func vectorOf(id graph.ID, dims int) []int8 {
	rng := rand.New(rand.NewPCG(binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(id[8:])))
	return randomVector(rng, dims, 127)
}

// read sets the vectors to those of the nodes that live in segments, and reports whether these could be read.
func (m *memory) read(segs []*table) bool {
	r := Format.NewReader(m.blocks, nil)
	ids := func(s *table, sec int, fn func(graph.ID)) error {
		return r.EachID(context.Background(), s.Segment, sec, func(id graph.ID) error { fn(id); return nil })
	}
	for _, s := range segs {
		if ids(s, segment.Dead, func(id graph.ID) { delete(m.vectors, key{id, "m"}) }) != nil ||
			ids(s, segment.IDs, func(id graph.ID) { m.vectors[key{id, "m"}] = vectorOf(id, s.dims) }) != nil {
			return false
		}
	}
	return true
}

// FuzzParts makes two segments of any bytes as their parts: one that adds, one that kills.
func FuzzParts(f *testing.F) {
	m := newMemory(f)
	m.apply(map[key][]int8{
		{denseID(0), "m"}: vectorOf(denseID(0), 3), {denseID(1), "m"}: vectorOf(denseID(1), 3),
	}, UpdateOptions{})
	s, r := m.segments(groupKey{"m", 3})[0], Format.NewReader(m.blocks, nil)
	ids := must.Get(r.Bytes(f.Context(), s.Segment, segment.IDs, 0))(f)
	sketches := must.Get(r.Bytes(f.Context(), s.Segment, secSketch, 0))(f)
	f.Add(ids, ids[:16], sketches, uint16(3))
	for _, data := range seedBlocks(f) {
		f.Add(data, data, data, uint16(100))
	}
	f.Fuzz(func(t *testing.T, ids, dead, sketches []byte, width uint16) {
		blocks := mem.New().Derived()
		dims := 1 + int(width-1)%300
		to := func() *writer { return newWriter(Format.NewWriter(t.Context(), blocks), dims) }
		add, kill := to(), to()
		add.Docs = len(ids) / graph.IDLen
		kill.Kills = len(dead) / graph.IDLen
		add.fill(t, segment.IDs, add.Docs, ids)
		add.fill(t, secSketch, add.Docs, sketches)
		kill.fill(t, segment.Dead, kill.Kills, dead)
		var segs []*table
		for _, w := range []*writer{add, kill} {
			_, block, err := w.Finish()
			var s *segment.Segment
			if err == nil {
				s, err = Format.Decode(block.CID, block.Data)
			}
			if err == nil {
				err = blocks.Put(t.Context(), block)
			}
			if err != nil {
				t.Skip() // first ids that do not ascend, for one
			}
			segs = append(segs, tableOf(s))
		}
		ask(t, blocks, segs...)
	})
}

// fill writes bytes as the parts of a column of so many rows, the last of them as long as it comes out, but not empty.
func (w *writer) fill(t *testing.T, col, rows int, data []byte) {
	t.Helper()
	per, width := segment.IDsPerPart, graph.IDLen
	if col == secSketch {
		width = len(w.sketch.out)
		per = w.full / width
	}
	for n := range (rows + per - 1) / per {
		from := min(n*per*width, len(data))
		s := w.Section(col)
		s.Buf = append(s.Buf, data[from:min(from+min(per, rows-n*per)*width, len(data))]...)
		if len(s.Buf) == 0 {
			s.Buf = append(s.Buf, 0)
		}
		if col == segment.IDs {
			s.Key = append(bytes.Clone(s.Buf), make([]byte, graph.IDLen)...)[:graph.IDLen]
		}
		must.OK(t, s.Cut())
	}
}

// segments returns the segments of a group.
func (m *memory) segments(k groupKey) []*table {
	m.t.Helper()
	g, err := m.open(nil).group(context.Background(), k)
	must.Require(m.t, err == nil && g != nil, "group %v: %v", k, err)
	return g.segs
}
