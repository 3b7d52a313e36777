package care_test

import (
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/internal/view"
	"github.com/mnem-project/mnem/ipld"
)

// TestKnownRecords: a record is known under its own id and kind alone, and entries of edges add up.
func TestKnownRecords(t *testing.T) {
	k := view.NewKnownRecords()
	id := func(i int) (id graph.ID) {
		binary.BigEndian.PutUint64(id[8:], uint64(i))
		return id
	}
	sum := uint64(0)
	var items [][]byte
	for i := range 3000 {
		e := &graph.Edge{ID: id(i + 1), Type: "to", Src: id(1 + i/2), Dst: id(1 + i%7),
			Weight: 1 + uint32(i), Created: 1}
		b := store.NewBlock(ipld.DagCBOR, e.Encode())
		r, ok := k.Read(b.CID, b.Data)
		must.Require(t, ok, "edge %d is not known", i)
		k.Add(r)
		k.Add(r)
		items = append(items, ipld.AppendLink(nil, b.CID))
		sum += k.Entry('o', adjacency.OutKey(e), adjacency.Value(e))
		sum += k.Entry('i', adjacency.InKey(e), adjacency.Value(e))
	}
	for i, item := range items {
		key := id(i + 1)
		entries, ok := k.Has(state.RoleEdge, key[:], item)
		if sum -= entries; !ok {
			t.Fatalf("edge %d is not known", i)
		}
		if _, ok := k.Has(state.RoleNode, key[:], item); ok {
			t.Fatalf("edge %d is known as a node", i)
		}
		if _, ok := k.Has(state.RoleEdge, key[:], items[(i+1)%len(items)]); ok {
			t.Fatalf("edge %d is known under another id", i)
		}
		if _, ok := k.Has(state.RoleEdge, key[:], ipld.AppendInt(nil, 1)); ok {
			t.Fatal("a number is known")
		}
	}
	must.Equal(t, sum, 0, "entries of edges and of trees differ")
	if _, ok := (*view.KnownRecords)(nil).Has(state.RoleEdge, nil, items[0]); ok {
		t.Error("nothing knows a record")
	}
}

// TestKnownRecordsMemory bounds the memory for each record.
func TestKnownRecordsMemory(t *testing.T) {
	const n = 300_000
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before, k := heap(), view.NewKnownRecords()
	for i := range n {
		c := repokit.Numbered(ipld.DagCBOR, i)
		k.Add(view.KnownRecord{Record: k.Record(state.RoleNode, c.Bytes(), c)})
	}
	if each := (heap() - before) / n; each > 36 {
		t.Errorf("%d bytes for each record", each)
	}
	runtime.KeepAlive(k)
}
