package core_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

// memoryScratch is scratch room in memory that fails at some number of bytes, if at any.
type memoryScratch struct {
	data   []byte
	fails  int
	closed bool
}

var errScratch = errors.New("no room left")

func (s *memoryScratch) Scratch(context.Context) (store.Scratch, error) { return s, nil }

func (s *memoryScratch) Write(b []byte) (int, error) {
	if s.fails > 0 && len(s.data)+len(b) > s.fails {
		return 0, errScratch
	}
	s.data = append(s.data, b...)
	return len(b), nil
}

func (s *memoryScratch) ReadAt(b []byte, at int64) (int, error) {
	n := copy(b, s.data[at:])
	if int(at)+n == len(s.data) {
		return n, io.EOF // as files may
	}
	return n, nil
}

func (s *memoryScratch) Close() error {
	s.closed = true
	return nil
}

func (s *memoryScratch) room(ctx context.Context) *state.ScratchRoom {
	return &state.ScratchRoom{Ctx: ctx, From: s}
}

// testTree returns a tree of entries.
func testTree(t *testing.T, entries map[string][]byte) *prolly.Map {
	t.Helper()
	nodes := prolly.NewNodes(mem.New().Facts(), nil)
	return must.Get(nodes.Build(t.Context(), func(yield func(prolly.Entry, error) bool) {
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			if !yield(prolly.Entry{Key: []byte(key), Value: entries[key]}, nil) {
				return
			}
		}
	}))(t)
}

// TestOverlayApart makes random edits of a tree, keeping most of them apart, and compares the view of the
// edits and the tree they make with a map.
func TestOverlayApart(t *testing.T) {
	ctx := t.Context()
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 2))
		key := func() string {
			n := r.IntN(9_000)
			return fmt.Sprintf("%0*d", graph.IDLen-n%3*int(1-seed%3/2), n)
		}
		want := map[string][]byte{}
		for range []int{0, 900}[seed%2] {
			want[key()] = ipld.AppendInt(nil, int64(r.IntN(1000)))
		}
		base := maps.Clone(want)
		var scratch memoryScratch
		o := state.NewOverlay(testTree(t, want)).Apart(scratch.room(ctx), state.LookFor(seed%3))
		o.Limit = 2 * state.LargePiece
		for range 12_000 {
			k := key()
			if r.IntN(4) == 0 {
				o.Remove([]byte(k))
				delete(want, k)
			} else {
				want[k] = ipld.AppendInt(nil, int64(r.IntN(1000)))
				o.Set([]byte(k), want[k])
			}
			k = key()
			if got, err := o.Get(ctx, []byte(k)); err != nil || !bytes.Equal(got, want[k]) {
				t.Fatalf("seed %d: %q is %q, %v, want %q", seed, k, got, err, want[k])
			}
			if got, err := o.Has(ctx, []byte(k)); err != nil || got != (want[k] != nil) {
				t.Fatalf("seed %d: %q is there is %v, %v, want %q", seed, k, got, err, want[k])
			}
			gone, err := o.Removed([]byte(k))
			if _, there := want[k]; err != nil || there && gone || base[k] != nil && !there != gone {
				t.Fatalf("seed %d: %q removed is %v, %v", seed, k, gone, err)
			}
		}
		seen := map[string]bool{}
		for e, err := range o.Each() {
			must.OK(t, err)
			seen[string(e.Key)] = true
		}
		for k := range want {
			must.Require(t, base[k] != nil || seen[k], "seed %d: edit of %q is in none", seed, k)
		}
		must.True(t, len(o.Runs.Runs) >= 2, "seed %d: %d runs", seed, len(o.Runs.Runs))
		m, entries, err := o.Flush(ctx)
		must.OK(t, err)
		must.Equal(t, m.Root(), testTree(t, want).Root(), "seed ", seed, ": tree")
		must.True(t, (entries == nil) == (len(base) > 0),
			"seed %d: the entries of a tree made from nothing: %v", seed, entries != nil)
		var fresh state.FreshTrees
		fresh.Add(m, entries)
		for range 2 { // as often as one likes
			got := map[string][]byte{}
			for e, err := range fresh.Scan(ctx, m) {
				must.OK(t, err)
				got[string(e.Key)] = e.Value
			}
			must.True(t, maps.EqualFunc(got, want, bytes.Equal),
				"seed %d: %d entries, want %d", seed, len(got), len(want))
		}
	}
}

// TestOverlayWithoutRoom fails to keep edits apart: no tree is made without them.
func TestOverlayWithoutRoom(t *testing.T) {
	ctx := t.Context()
	scratch := memoryScratch{fails: 200 << 10}
	o := state.NewOverlay(testTree(t, nil)).Apart(scratch.room(ctx), state.LookInVain)
	o.Limit = 2 * state.LargePiece
	for i := range 20_000 {
		o.Set(fmt.Appendf(nil, "key %d", i), ipld.AppendInt(nil, int64(i)))
	}
	if got, err := o.Get(ctx, []byte("key 19999")); err != nil || got == nil {
		t.Errorf("edit that is in memory: %q, %v", got, err)
	}
	_, _, err := o.Flush(ctx)
	must.Fail(t, err, errScratch)
	err = o.Runs.Room.Close()
	must.True(t, err == nil && scratch.closed, "close: %v, closed %v", err, scratch.closed)
}

// TestEditTableMemory bounds the overhead of an edit over its bytes.
func TestEditTableMemory(t *testing.T) {
	const n, keyLen, valueLen = 20_000, 55, 3
	allocs := testing.AllocsPerRun(1, func() {
		var table state.EditTable
		key, value := make([]byte, keyLen), make([]byte, valueLen)
		for i := range n {
			binary.BigEndian.PutUint32(key, uint32(i))
			table.Set(key, value)
		}
		size := 8*len(table.Slots) + 12*len(table.Entries)
		for _, p := range table.Pieces {
			size += cap(p)
		}
		most := n * (keyLen + valueLen + 30)
		must.True(t, size <= most, "%d edits take %d bytes, want at most %d", n, size, most)
	})
	must.True(t, allocs <= n/20, "%.0f allocations for %d edits", allocs, n)
}

func TestEditTableRefusesWhatNoTreeTakes(t *testing.T) {
	var table state.EditTable
	must.True(t, !table.Set(make([]byte, 1<<16), []byte{1}) && !table.Set([]byte("k"), make([]byte, 1<<16)),
		"an edit that cannot be kept was taken")
}

// TestCIDSet compares a set with a map, of both codecs: the same bytes as a raw block and as a record are two members.
func TestCIDSet(t *testing.T) {
	const n = 20_000
	var s state.CidSet
	want := make(map[ipld.CID]bool)
	must.True(t, !s.Has(repokit.Numbered(ipld.Raw, 0)) && s.Len() == 0, "an empty set has a member")
	for i := range 2 * n {
		c := repokit.Numbered(ipld.DagCBOR, i*i%n)
		if i%3 == 0 {
			c = repokit.Numbered(ipld.Raw, i*i%n)
		}
		got := s.Add(c)
		must.Require(t, got != want[c], "Add of %d: %v", i, got)
		want[c] = true
	}
	for i := range n {
		for _, codec := range []ipld.Codec{ipld.Raw, ipld.DagCBOR} {
			c := repokit.Numbered(codec, i)
			must.Require(t, s.Has(c) == want[c], "%d as %x: %v, want %v", i, codec, s.Has(c), want[c])
		}
	}
	must.Equal(t, s.Len(), len(want), "members")
}

// TestCIDSetMemory bounds what a set takes for each CID.
func TestCIDSetMemory(t *testing.T) {
	const n = 300_000
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	s := new(state.CidSet)
	for i := range n {
		s.Add(repokit.Numbered(ipld.DagCBOR, i))
	}
	each := (heap() - before) / n
	must.True(t, each <= 36, "%d bytes for each CID", each)
	runtime.KeepAlive(s)
}

// FuzzLeads reads anything in every role: it never panics, and refuses with the marker of bytes
// that are no such record.
func FuzzLeads(f *testing.F) {
	tree := ipld.Sum(ipld.DagCBOR, nil)
	e := &commit.Export{Scope: commit.ScopeAll, Format: commit.ExportFormat, Refs: tree}
	f.Add(e.Encode())
	g := &graph.Graph{Nodes: tree, Edges: tree, Out: tree, In: tree, Marks: tree}
	f.Add(g.Encode())
	f.Add([]byte("\xa1\x65level\x00"))
	f.Fuzz(func(t *testing.T, block []byte) {
		for as := state.RoleManifest; as <= state.RoleRaw; as++ {
			codec := ipld.DagCBOR
			if as == state.RoleRaw {
				codec = ipld.Raw
			}
			l := state.Lead{Cid: ipld.Sum(codec, block), As: as}
			next, got, err := state.Leads(l, block)
			must.Require(t, err == nil || errors.Is(err, ipld.ErrInvalid), "as %s: %v", as, err)
			must.Require(t, err == nil || next == nil || len(next) <= 0, "as %s: leads beside an error", as)
			must.Require(t, err != nil || got == as || as == state.RoleNamed, "a %s became a %s", as, got)
		}
	})
}

// TestRoles checks that every role has a name.
func TestRoles(t *testing.T) {
	for as := state.RoleManifest; as <= state.RoleRaw; as++ {
		must.True(t, as.String() != "", "role %d has no name", as)
	}
}
