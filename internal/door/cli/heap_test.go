package cli

import (
	"testing"

	"github.com/mnem-project/mnem/internal/door/line"
)

// TestHeap: a heap has at most a few tens of megabytes more than is in use, or half as much again where that
// is much.
func TestHeap(t *testing.T) {
	for used, most := range map[uint64]uint64{
		1 << 20: 5 << 20, 24 << 20: 120 << 20, 25 << 20: 50 << 20, 96 << 20: 192 << 20, 97 << 20: 146 << 20, 1 << 30: 1536 << 20,
	} {
		if heap := used * uint64(100+line.PercentOf(used, false)) / 100; heap > most {
			t.Errorf("%d bytes in use have a heap of %d, want at most %d", used, heap, most)
		}
	}
}

// TestLastingHeap: the heap of a server has at most 16 MiB more than is in use, or half as much again.
func TestLastingHeap(t *testing.T) {
	for used, most := range map[uint64]uint64{
		0: 0, 1 << 20: 5 << 20, 4 << 20: 20 << 20, 20 << 20: 36 << 20, 32 << 20: 48 << 20, 67 << 20: 101 << 20, 1 << 30: 1536 << 20,
	} {
		if heap := used * uint64(100+line.PercentOf(used, true)) / 100; heap > most {
			t.Errorf("%d bytes in use have a heap of %d, want at most %d", used, heap, most)
		}
	}
}
