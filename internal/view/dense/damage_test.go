package dense

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// faulty damages one block, as no store does.
type faulty struct {
	store.Blocks
	at     ipld.CID
	damage func(data []byte) []byte
}

func (f *faulty) Get(ctx context.Context, id ipld.CID) ([]byte, error) {
	data, err := f.Blocks.Get(ctx, id)
	if err != nil || id != f.at {
		return data, err
	}
	return f.damage(bytes.Clone(data)), nil
}

// damaged is an index with blocks of every kind, and its blocks: a group of many parts with kills,
// others of one block, a tree of groups of more than one chunk.
func damaged(t *testing.T) (*memory, []ipld.CID) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 3))
	m := newMemory(t)
	changes := map[key][]int8{}
	for i := range 600 {
		changes[key{denseID(i), "m"}] = randomVector(rng, 100, 127)
	}
	for i := range 40 {
		changes[key{denseID(i), "other"}] = randomVector(rng, 64, 9)
	}
	for i := range 90 {
		changes[key{denseID(i), "dims"}] = randomVector(rng, 1+i, 9)
	}
	m.apply(changes, UpdateOptions{})
	for range 3 {
		changes = map[key][]int8{{denseID(rng.IntN(600)), "m"}: nil}
		for range 5 {
			changes[key{denseID(rng.IntN(700)), "m"}] = randomVector(rng, 100, 127)
			changes[key{denseID(rng.IntN(50)), "other"}] = randomVector(rng, 64, 9)
		}
		m.apply(changes, UpdateOptions{})
	}
	m.verify()
	var cids []ipld.CID
	seen := map[ipld.CID]bool{}
	must.OK(t, Walk(t.Context(), m.blocks, m.manifest, func(c ipld.CID) error {
		if !seen[c] {
			seen[c], cids = true, append(cids, c)
		}
		return nil
	}))
	return m, cids
}

// TestDamageUnseen damages blocks, in a long run every one in turn, behind the store's back: every operation ends in an
// answer or in one of the errors of the contract, and Verify sees what changes an answer.
func TestDamageUnseen(t *testing.T) {
	effort.Alone(t)
	m, cids := damaged(t)
	want := m.tryAll(m.blocks)
	rng, stride := rand.New(rand.NewPCG(4, 4)), effort.Pick(4, 1, 1)
	for n := rng.IntN(stride); n < len(cids); n += stride {
		c := cids[n]
		other := must.Get(m.blocks.Get(t.Context(), cids[(n+1+rng.IntN(len(cids)-1))%len(cids)]))(t)
		ways := map[string]func(data []byte) []byte{
			"replaced":   func([]byte) []byte { return other },
			"empty":      func([]byte) []byte { return nil },
			"lengthened": func(data []byte) []byte { return append(data, 0) },
			"shortened":  func(data []byte) []byte { return data[:len(data)-1] },
		}
		at, bit, cut, swap := rng.Float64(), byte(1)<<rng.IntN(8), rng.Float64(), rng.Float64()
		ways["flipped"] = func(data []byte) []byte {
			data[int(at*float64(len(data)))] ^= bit
			return data
		}
		ways["cut"] = func(data []byte) []byte { return data[:int(cut*float64(len(data)))] }
		ways["overwritten"] = func(data []byte) []byte {
			copy(data[int(swap*float64(len(data))):], data)
			return data
		}
		for way, damage := range ways {
			m.try(&faulty{Blocks: m.blocks, at: c, damage: damage}, way, want)
		}
	}
}

// TestFlips flips single bits all over the blocks of a small index.
func TestFlips(t *testing.T) {
	effort.Alone(t)
	m := newMemory(t)
	m.apply(map[key][]int8{
		{denseID(0), "m"}: {1, 2, 3}, {denseID(1), "m"}: {4, -5, 6}, {denseID(1), "o"}: {7},
	}, UpdateOptions{})
	m.apply(map[key][]int8{{denseID(0), "m"}: {3, 2, 1}, {denseID(2), "m"}: {1, 1, 1}}, UpdateOptions{})
	want := m.tryAll(m.blocks)
	err := Walk(t.Context(), m.blocks, m.manifest, func(c ipld.CID) error {
		data, err := m.blocks.Get(t.Context(), c)
		for i := 0; i < 8*len(data); i += effort.Pick(5, 1, 1) { // 5: in turn each bit of a byte
			m.try(&faulty{Blocks: m.blocks, at: c, damage: func(data []byte) []byte {
				data[i/8] ^= 1 << (i % 8)
				return data
			}}, "flipped", want)
		}
		return err
	})
	must.OK(t, err)
}

// try compares answers about damaged blocks with those there should be.
func (m *memory) try(get *faulty, way string, want []any) {
	m.t.Helper()
	wrong, err := Verify(m.t.Context(), get, m.manifest, m.of(), m.source, digester, m.all())
	checkError(m.t, err)
	got := m.tryAll(get)
	if err != nil || len(wrong) > 0 {
		return
	}
	for i := range want {
		must.True(m.t, i < len(got) && reflect.DeepEqual(got[i], want[i]),
			"block %s %s: not seen, but answer %d differs", get.at, way, i)
	}
}

// tryAll runs every operation on an index that may be damaged and returns the answers.
func (m *memory) tryAll(blocks store.Blocks) (answers []any) {
	m.t.Helper()
	ctx := context.Background()
	add := func(answer any, err error) {
		checkError(m.t, err)
		if err != nil {
			answer = nil
		}
		answers = append(answers, answer)
	}
	add(nil, Walk(ctx, blocks, m.manifest, func(ipld.CID) error { return nil }))
	stats, err := readStats(ctx, blocks, m.manifest)
	add(stats, err)
	rng := rand.New(rand.NewPCG(9, 9))
	changes := map[key][]int8{{denseID(1), "m"}: {9, 9, 9}, {denseID(2), "m"}: nil, {denseID(5000), "m"}: {9}}
	var list []VectorChange
	for k, v := range changes {
		list = append(list, VectorChange{ID: k.id, Model: k.model, Old: len(m.vectors[k]), New: v})
	}
	for _, fanout := range []int{2, 0} {
		next, err := Update(ctx, blocks, m.manifest, m.of(), yielded(list), UpdateOptions{Fanout: fanout})
		add(err == nil, err) // what it writes is compared by its answer: no answer depends on sumVectors
		if err != nil {
			continue
		}
		y, err := Open(ctx, blocks, next, m.of(), m.source, nil)
		if err == nil {
			var res Result
			res, err = y.Search(ctx, Query{Model: "m", Values: []int8{1, 2, 3}})
			add(res, err)
		}
		checkError(m.t, err)
	}
	x, err := Open(ctx, blocks, m.manifest, m.of(), m.source, segment.NewCache(1<<20))
	checkError(m.t, err)
	if err != nil {
		return answers
	}
	x.exactWork = 0
	models, err := x.Models(ctx, 100)
	add(models, err)
	for _, q := range []Query{
		{Model: "m", Values: randomVector(rng, 100, 99)},
		{Model: "m", Values: []int8{1, 2, 3}},
		{Model: "m", Values: randomVector(rng, 100, 99), Shortlist: 20},
		{Model: "other", Values: randomVector(rng, 64, 9), Shortlist: 7, K: 3},
		{Model: "dims", Values: randomVector(rng, 40, 9)},
		{Model: "none", Values: []int8{1}},
	} {
		res, err := x.Search(ctx, q)
		add(res, err)
		q.Accept = func(id graph.ID) (bool, error) { return id[7]%32 == 1, nil }
		res, err = x.Search(ctx, q)
		add(res, err)
	}
	return answers
}

// nowhere loses all blocks.
type nowhere struct{}

func (nowhere) Put(context.Context, ...store.Block) error { return nil }

// TestClaims asks groups that claim far more vectors than there are: nothing large is allocated
// for blocks that could not be read.
func TestClaims(t *testing.T) {
	m := newMemory(t)
	w := newWriter(Format.NewWriter(t.Context(), nowhere{}), 64)
	w.Docs = maxRows
	for i, per := range map[int]int{segment.IDs: segment.IDsPerPart, secSketch: w.full / len(w.sketch.out)} {
		for n := range (maxRows + per - 1) / per {
			part := w.Section(i)
			if part.Buf = append(part.Buf, 0); i == segment.IDs {
				part.Key = binary.BigEndian.AppendUint32(nil, uint32(n))
			}
			must.OK(t, part.Cut())
		}
	}
	s, block, err := w.Finish()
	if err == nil {
		err = m.blocks.Put(t.Context(), block)
	}
	must.OK(t, err)
	ref := s.Ref()
	for n, want := range map[int]error{
		1: store.ErrNotFound, maxGroupRows / maxRows: store.ErrNotFound,
		maxGroupRows/maxRows + 1: store.ErrCorrupt, maxSegments: store.ErrCorrupt,
	} {
		k := groupKey{"m", 64}
		m.manifest = writeGroup(t, m.blocks, m.of(), k, slices.Repeat([]segment.Ref{ref}, n))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		must.Fail(t, must.Err(Verify(t.Context(), m.blocks, m.manifest, m.of(), m.source, digester, m.all())), want, n)
		for _, shortlist := range []int{0, 10} {
			q := Query{Model: "m", Values: make([]int8, 64), Shortlist: shortlist}
			must.Fail(t, must.Err(m.open(nil).Search(t.Context(), q)), want, n)
		}
		changes := []VectorChange{{ID: denseID(1), Model: "m", New: make([]int8, 64)}}
		_, err := Update(t.Context(), m.blocks, m.manifest, m.of(), yielded(changes), UpdateOptions{})
		must.True(t, n <= 1 || err != nil, "%d segments: updated", n)
		runtime.ReadMemStats(&after)
		got := after.TotalAlloc - before.TotalAlloc
		must.True(t, got <= 24<<20, "%d segments: %d bytes allocated", n, got)
	}
}

// TestManySegments writes as many segments as options ask for and a group may have.
func TestManySegments(t *testing.T) {
	m := newMemory(t)
	for i := range 200 {
		m.apply(map[key][]int8{{denseID(i), "m"}: {1, 2}}, UpdateOptions{Fanout: 1 << 20})
	}
	m.verify()
	ref := segment.Ref{CID: m.manifest, Docs: maxGroupRows / maxSegments, Kills: maxRows}
	list := slices.Repeat([]segment.Ref{ref}, maxSegments)
	writeGroup(t, m.blocks, m.of(), groupKey{"m", 2}, list)
	full := segment.List{Segments: list, Run: segment.Run{From: maxSegments - 2, Count: 2}}
	value := segment.EncodeList(&full)
	got, err := decodeSegments(value)
	must.True(t, err == nil && slices.Equal(got.Segments, list) && got.Run == full.Run && len(value) <= prolly.MaxValue,
		"%v, %v in %d bytes", got, err, len(value))
	for _, bad := range []segment.List{
		{Segments: append(list, ref)}, {Run: segment.Run{Count: 2}},
		{Segments: list, Run: segment.Run{From: maxSegments - 1, Count: 2}},
		{Segments: list, Run: segment.Run{Count: 1}},
	} {
		_, err := decodeSegments(segment.EncodeList(&bad))
		must.True(t, errors.Is(err, store.ErrCorrupt), "%d segments and %v: %v", len(bad.Segments), bad.Run, err)
	}
}

// indexStats counts what an index has.
type indexStats struct{ Groups, Segments, Rows int }

func readStats(ctx context.Context, blocks segment.Blocks, c ipld.CID) (s indexStats, err error) {
	_, groups, err := loadGroups(ctx, blocks, c)
	if err != nil {
		return s, err
	}
	for l, err := range eachList(ctx, groups) {
		if err != nil {
			return s, err
		}
		s.Groups, s.Segments = s.Groups+1, s.Segments+len(l.Segments)
		s.Rows += live(l.Segments)
	}
	return s, nil
}

// desk knows which merges were made, and whether one was asked for that was not.
type desk struct {
	made  map[ipld.CID]ipld.CID
	asked bool
}

func (d *desk) Merged(_ context.Context, key ipld.CID) (ipld.CID, error) {
	c := d.made[key]
	d.asked = d.asked || !c.Defined()
	return c, nil
}

// TestLater makes merges of two groups a random while after they are due, or loses them, damages
// them or never makes them: no update merges more than it may, and answers are exact.
func TestLater(t *testing.T) {
	effort.Alone(t)
	const (
		base = 1500
		dims = 16
	)
	models, updates := []string{"a", "b"}, effort.Pick(1000, 3000, 3000)
	for _, loses := range []int{4, 1} {
		rng := rand.New(rand.NewPCG(uint64(loses), 8))
		m := newMemory(t)
		d := &desk{made: map[ipld.CID]ipld.CID{}}
		opt := UpdateOptions{Fanout: 4, Later: d}
		changes := map[key][]int8{}
		for i := range base {
			changes[key{denseID(i), models[i%2]}] = randomVector(rng, dims, 100)
		}
		m.apply(changes, opt)
		must.True(t, !d.asked, "an update of many vectors left a merge for later")
		merges, wait, lost := 0, 0, ipld.CID{}
		for i := range updates {
			d.asked = false
			k := key{denseID(rng.IntN(base)), models[rng.IntN(2)]}
			changes := map[key][]int8{{denseID(base + i), k.model}: randomVector(rng, dims, 100)}
			if changes[k] = randomVector(rng, dims, 100); rng.IntN(4) == 0 {
				if changes[k] = nil; m.vectors[k] == nil {
					delete(changes, k)
				}
			}
			m.apply(changes, opt)
			if rng.IntN(30) == 0 {
				delete(d.made, lost)
			}
			if !d.asked {
				wait = rng.IntN(40)
			} else if wait--; wait < 0 {
				at, merged, err := Merge(t.Context(), m.blocks, m.manifest, d)
				must.Require(t, err == nil && at.Defined(), "merge %s of %s: %v", merged, at, err)
				switch merges++; {
				case loses == 1: // never made
					wait = updates
				case merges%loses == 0:
					d.made[at], lost = store.NewBlock(ipld.DagCBOR, fmt.Append(nil, i)).CID, at
				case merges%loses == 1:
					d.made[at], lost = m.manifest, at // no segment
				default:
					d.made[at] = merged
				}
			}
			if i%100 == 99 {
				m.verify()
				x := m.open(segment.NewCache(1 << 20))
				q := Query{Model: models[i%2], Values: randomVector(rng, dims, 100), K: 20}
				must.Same(t, search1(t, x, q).Hits, m.ranked(q))
			}
		}
		stats, err := readStats(t.Context(), m.blocks, m.manifest)
		must.True(t, err == nil && merges >= 1 && stats.Segments <= 2*(maxWaiting+1),
			"%d merges, %+v, %v", merges, stats, err)
		for _, model := range models { // updates of both groups that merge by themselves
			m.apply(map[key][]int8{{denseID(0), model}: randomVector(rng, dims, 100)}, UpdateOptions{Fanout: 4})
		}
		m.verify()
		if at, c, err := Merge(t.Context(), m.blocks, m.manifest, d); at.Defined() || c.Defined() || err != nil {
			t.Errorf("merged %s for %s where nothing waits: %v", c, at, err)
		}
	}
}
