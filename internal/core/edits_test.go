package core_test

import (
	"encoding/binary"
	"testing"

	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

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
	must.Check(t, !table.Set(make([]byte, 1<<16), []byte{1}) && !table.Set([]byte("k"), make([]byte, 1<<16)),
		"an edit that cannot be kept was taken")
}
