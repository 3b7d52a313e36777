package index

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// zipfDocs yields n documents of about 20 words each from a vocabulary of 50,000, ids ascending.
func zipfDocs(n int) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		rng := rand.New(rand.NewPCG(7, 7))
		zipf := rand.NewZipf(rng, 1.1, 3, 50_000)
		for i := range n {
			if !yield(Change{ID: numberedID(i), New: zipfDoc(i, rng, zipf)}, nil) {
				return
			}
		}
	}
}

func numberedID(i int) (id graph.ID) {
	binary.BigEndian.PutUint64(id[:], uint64(i+1)<<20)
	return id
}

func zipfDoc(i int, rng *rand.Rand, zipf *rand.Zipf) *Document {
	var s strings.Builder
	for range 10 + rng.IntN(20) {
		fmt.Fprintf(&s, "word%d ", zipf.Uint64())
	}
	return &Document{Node: &graph.Node{
		ID: numberedID(i), Type: []string{"Person", "Note", "Service"}[i%3], Summary: s.String(),
		Created: graph.Time(1_700_000_000_000_000 + int64(i)*1_000_003%7_919_000_000),
		Props:   []ipld.Entry{{Key: "team", Value: ipld.StringValue(fmt.Sprint("team", i%50))}},
	}}
}
