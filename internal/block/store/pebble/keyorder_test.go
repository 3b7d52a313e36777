package pebble

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// TestKeyOrder orders blocks with many keys that share a prefix or are equal.
func TestKeyOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for n := range 400 {
		blocks := make([]store.Block, n)
		for i := range blocks {
			b := ipld.Sum([]ipld.Codec{ipld.Raw, ipld.DagCBOR}[r.IntN(2)], []byte{byte(i)}).Bytes()
			for at := len(b) - ipld.DigestLen; at < len(b) && r.IntN(12) > 0; at++ {
				b[at] = 7
			}
			c, err := ipld.CIDFromBytes(b)
			if err != nil {
				t.Fatal(err)
			}
			blocks[i].CID = c
		}
		var got, want [][]byte
		seen := make([]bool, n)
		for i, at := range keyOrder(blocks) {
			if i != len(got) || seen[at] {
				t.Fatalf("%d blocks: place %d is %d", n, i, at)
			}
			seen[at] = true
			got = append(got, Facts.key(blocks[at].CID))
		}
		for i := range blocks {
			want = append(want, Facts.key(blocks[i].CID))
		}
		slices.SortFunc(want, bytes.Compare)
		if !slices.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("%d blocks are not in the order of their keys", n)
		}
	}
}
