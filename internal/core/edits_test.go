package core_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/internal/state"
)

// TestEditTable compares random edits with a map.
func TestEditTable(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		var table state.EditTable
		want := make(map[string][]byte)
		for range 3000 {
			key := fmt.Appendf(nil, "%0*d", 1+r.IntN(20), r.IntN(700))
			var value []byte
			if n := r.IntN(6); n > 0 {
				value = bytes.Repeat([]byte{byte(r.IntN(256))}, n*r.IntN(300)+1)
			}
			if !table.Set(key, value) {
				t.Fatalf("seed %d: key %q refused", seed, key)
			}
			want[string(key)] = value
			clear(key) // it keeps a copy
		}
		checkEdits(t, &table, want)
		if _, ok := table.Get([]byte("none")); ok {
			t.Fatalf("seed %d: an edit of a key that was never set", seed)
		}
	}
}

func checkEdits(t *testing.T, table *state.EditTable, want map[string][]byte) {
	t.Helper()
	for key, value := range want {
		got, ok := table.Get([]byte(key))
		if !ok || !bytes.Equal(got, value) || (got == nil) != (value == nil) {
			t.Fatalf("get %q = %q, %v, want %q", key, got, ok, value)
		}
	}
	sorted := slices.Collect(table.Sorted())
	if len(sorted) != len(want) {
		t.Fatalf("%d edits, want %d", len(sorted), len(want))
	}
	for i, key := range slices.Sorted(maps.Keys(want)) {
		if e := sorted[i]; string(e.Key) != key || !bytes.Equal(e.Value, want[key]) {
			t.Fatalf("edit %d is %q = %q, want %q = %q", i, e.Key, e.Value, key, want[key])
		}
	}
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
		if most := n * (keyLen + valueLen + 30); size > most {
			t.Errorf("%d edits take %d bytes, want at most %d", n, size, most)
		}
	})
	if allocs > n/20 {
		t.Errorf("%.0f allocations for %d edits", allocs, n)
	}
}

func TestEditTableRefusesWhatNoTreeTakes(t *testing.T) {
	var table state.EditTable
	if table.Set(make([]byte, 1<<16), []byte{1}) || table.Set([]byte("k"), make([]byte, 1<<16)) {
		t.Error("an edit that cannot be kept was taken")
	}
}
