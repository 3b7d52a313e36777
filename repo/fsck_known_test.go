package repo

import (
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// TestKnownRecords: a record is known under its own id and kind alone, and entries of edges add up.
func TestKnownRecords(t *testing.T) {
	k := newKnownRecords()
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
		r, ok := k.read(b.CID, b.Data)
		if !ok {
			t.Fatalf("edge %d is not known", i)
		}
		k.add(r)
		k.add(r)
		items = append(items, ipld.AppendLink(nil, b.CID))
		sum += k.entry('o', adjacency.OutKey(e), adjacency.Value(e))
		sum += k.entry('i', adjacency.InKey(e), adjacency.Value(e))
	}
	for i, item := range items {
		key := id(i + 1)
		entries, ok := k.has(roleEdge, key[:], item)
		if sum -= entries; !ok {
			t.Fatalf("edge %d is not known", i)
		}
		if _, ok := k.has(roleNode, key[:], item); ok {
			t.Fatalf("edge %d is known as a node", i)
		}
		if _, ok := k.has(roleEdge, key[:], items[(i+1)%len(items)]); ok {
			t.Fatalf("edge %d is known under another id", i)
		}
		if _, ok := k.has(roleEdge, key[:], ipld.AppendInt(nil, 1)); ok {
			t.Fatal("a number is known")
		}
	}
	if sum != 0 {
		t.Errorf("entries of edges and of trees differ by %x", sum)
	}
	if _, ok := (*knownRecords)(nil).has(roleEdge, nil, items[0]); ok {
		t.Error("nothing knows a record")
	}
}

// TestKnownRecordsMemory bounds what is kept for each record.
func TestKnownRecordsMemory(t *testing.T) {
	const n = 300_000
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before, k := heap(), newKnownRecords()
	for i := range n {
		c := numbered(ipld.DagCBOR, i)
		k.add(knownRecord{record: k.record(roleNode, c.Bytes(), c)})
	}
	if each := (heap() - before) / n; each > 36 {
		t.Errorf("%d bytes for each record", each)
	}
	runtime.KeepAlive(k)
}
