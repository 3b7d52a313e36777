package prolly_test

import (
	"slices"

	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/ipld"
)

// million is the size of the trees that benchmarks use, built once.
const million = 1_000_000

func sortedKeys(n int) []string {
	rng := newRand(11)
	keys := make([]string, n)
	for i := range keys {
		keys[i] = key16(rng)
	}
	slices.Sort(keys)
	return keys
}

// linkEntries returns entries that hold a link for each key, as a graph's trees do. It reuses buffers.
func linkEntries(keys []string) func(func(prolly.Entry, error) bool) {
	return func(yield func(prolly.Entry, error) bool) {
		var key, value []byte
		for _, k := range keys {
			key = append(key[:0], k...)
			value = appendLinkTo(value[:0], k)
			if !yield(prolly.Entry{Key: key, Value: value}, nil) {
				return
			}
		}
	}
}

func appendLinkTo(b []byte, key string) []byte {
	return ipld.AppendLink(b, ipld.Sum(ipld.DagCBOR, []byte(key)))
}
