package remember

import (
	"testing"

	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/block/store/storetest"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestRememberWork bounds what remembering reads with nothing cached, whatever the size of the
// memory.
func TestRememberWork(t *testing.T) {
	last := int64(0)
	for _, n := range []int{1_000, 10_000} {
		st := mem.New()
		r, err := care.New(t.Context(), st, linkBy, core.Options{})
		must.OK(t, err)
		fill(t, r, n)
		keep(t, New(r), said("Alice moved note 7 from Redis to Kafka")...)
		c := &countedStore{st, storetest.NewCounting(st.Facts()), storetest.NewCounting(st.Derived())}
		cold, err := care.New(t.Context(), c, linkBy, core.Options{})
		must.OK(t, err)
		c.facts.Reset()
		c.derived.Reset()
		keep(t, New(cold), said("note 998 says that w17 met w23 and Priya")...)
		facts, derived := c.facts.Counts().BlocksRead, c.derived.Counts().BlocksRead
		t.Logf("%d nodes: reads %d+%d blocks", n, facts, derived)
		reads := facts + derived
		if reads > 1000 || last > 0 && reads > 2*last+10 {
			t.Errorf("%d nodes: read %d blocks, %d in a tenth of it", n, reads, last)
		}
		last = reads
	}
}
