package rank_test

import (
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/retrieve"
)

// BenchmarkRetrieve answers questions of three words that some hundred nodes each have, from an open
// snapshot. MNEM_LONG=2 makes it 10^5 nodes.
func BenchmarkRetrieve(b *testing.B) {
	n := effort.Pick(10_000, 10_000, 100_000)
	r, err := care.New(b.Context(), repokit.Memory(b, n), repokit.By, core.Options{})
	if err != nil {
		b.Fatal(err)
	}
	s := repokit.Head(b, r)
	for _, rounds := range []int{0, retrieve.DefaultExpand} {
		b.Run(fmt.Sprintf("nodes=%d/expand=%d", n, rounds), func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				req := retrieve.Request{
					Text: fmt.Sprintf("about w%d w%d w%d", i%5000, i*7%5000, i*31%5000), Expand: &rounds,
				}
				if _, err := rank.Retrieve(b.Context(), s, req); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}
