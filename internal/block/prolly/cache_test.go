package prolly

import (
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/internal/base/cache"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// TestSharedCache checks that a cache sheds what exceeds its budget and counts what it keeps.
func TestSharedCache(t *testing.T) {
	const chunks, size = 400, 1000
	b := cache.NewBudget(100 * size)
	c := NewCache(1 << 20)
	c.Share(b)
	for i := range chunks {
		id := ipld.Sum(ipld.DagCBOR, fmt.Append(nil, i))
		if c.put(&chunk{cid: id, memory: size}); c.Bytes() > 100*size {
			t.Fatalf("%d bytes are kept", c.Bytes())
		}
	}
	if c.Bytes() < 80*size {
		t.Errorf("%d bytes are kept of %d", c.Bytes(), 100*size)
	}
	last := ipld.Sum(ipld.DagCBOR, fmt.Append(nil, chunks-1))
	must.Check(t, c.get(last).get() != nil, "the newest is not kept")
	c.Shed(1 << 40)
	if c.Bytes() != 0 || c.get(last).get() != nil {
		t.Errorf("%d bytes are left", c.Bytes())
	}
}
