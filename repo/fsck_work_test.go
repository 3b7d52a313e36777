package repo_test

import (
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

// TestWorkOfFsck bounds how often fsck reads what is stored, with caches that hold little of it:
// all once in the order in which it is stored, and apart from that the chunks of trees where they
// changed, where they are whole and for the index of links, and the nodes for their index. It does
// not grow with the size.
func TestWorkOfFsck(t *testing.T) {
	effort.Alone(t)
	for _, n := range effort.Pick([]int{1000, 8000}, []int{4000, 16_000}, []int{4000, 16_000}) {
		st := memory(t, n)
		r, err := repo.New(t.Context(), st, by, repo.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 50 {
			lines(t, r, fmt.Sprintf(`{"node":{"key":"one%d","type":"Note","summary":"one more"}}
{"edge":{"type":"after","src":"one%d","dst":"n%d"}}`, i, i, i*n/50))
		}
		stored := 0
		err = st.Facts().Iterate(t.Context(), ipld.CID{}, func(store.Block) error {
			stored++
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		c := newCounted(st)
		r, err = repo.New(t.Context(), c, by, repo.Options{TreeCache: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		c.facts.Reset()
		report, err := r.Fsck(t.Context(), repo.FsckOptions{})
		if err != nil || len(report.Errors) > 0 {
			t.Fatal(report.Errors, err)
		}
		read := c.facts.Counts().BlocksRead
		t.Logf("of %d nodes: reads %.2f times %d blocks of facts", n, float64(read)/float64(stored), stored)
		if 10*read > 19*int64(stored) {
			t.Errorf("of %d nodes: reads %d blocks, %d are stored", n, read, stored)
		}
	}
}
