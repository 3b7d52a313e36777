package links

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// desk knows which merges were made, and whether one was asked for that was not.
type desk struct {
	made  map[ipld.CID]ipld.CID
	asked bool
}

func (d *desk) Merged(_ context.Context, key ipld.CID) (ipld.CID, error) {
	c := d.made[key]
	d.asked = d.asked || !c.Defined()
	return c, nil
}

// TestLater makes merges a random while after they are due, or loses them, damages them or never
// makes them: no update writes more than a small merge takes, and every node is as it should be.
func TestLater(t *testing.T) {
	effort.Alone(t)
	const (
		base      = 3000
		mostBytes = 24 << 10 // a merge of 256 nodes, and a block of refs
	)
	updates := effort.Pick(800, 3000, 3000)
	for _, loses := range []int{4, 1} {
		rng := rand.New(rand.NewPCG(uint64(loses), 8))
		m := newMemory(t)
		d := &desk{made: map[ipld.CID]ipld.CID{}}
		opt := UpdateOptions{Later: d}
		nodes := make([]Node, base)
		for i := range nodes {
			nodes[i] = usual(rng, testID(i), base)
		}
		if m.apply(nodes, opt); d.asked {
			t.Error("an update of many nodes left a merge for later")
		}
		blocks := &metered{Blocks: m.blocks}
		m.blocks = blocks
		merges, worst, most, wait, lost := 0, 0, 0, 0, ipld.CID{}
		for i := range updates {
			blocks.written, d.asked = work{}, false
			var list []Node
			for _, n := range []int{rng.IntN(base), base + i} {
				if list = append(list, usual(rng, testID(n), base)); rng.IntN(5) == 0 {
					list[len(list)-1] = Node{ID: testID(n)}
				}
			}
			m.apply(list, opt)
			if worst = max(worst, blocks.written.bytes); blocks.written.bytes > mostBytes && loses > 1 {
				t.Errorf("update %d wrote %v", i, blocks.written)
			}
			most = max(most, len(m.open(new(segment.Cache)).segs))
			if rng.IntN(30) == 0 {
				delete(d.made, lost)
			}
			if !d.asked {
				wait = rng.IntN(50)
			} else if wait--; wait < 0 {
				key, merged, err := Merge(t.Context(), m.blocks, m.manifest)
				must.Require(t, err == nil && key.Defined(), "merge %s of %s: %v", merged, key, err)
				switch merges++; {
				case loses == 1: // never made
					wait = updates
				case merges%loses == 0:
					d.made[key], lost = store.NewBlock(ipld.DagCBOR, fmt.Append(nil, i)).CID, key
				case merges%loses == 1:
					d.made[key], lost = m.manifest, key // no segment
				default:
					d.made[key] = merged
				}
			}
			if i%50 == 0 {
				x := m.open(segment.NewCache(1 << 20))
				for range 200 {
					m.same(x, testID(rng.IntN(base+updates)))
				}
			}
		}
		wrong, err := Verify(t.Context(), m.blocks, m.manifest, m.of, m.all())
		must.Check(t, err == nil && len(wrong) <= 0, "%v, %v", wrong, err)
		must.Check(t, merges >= 1 && most <= maxWaiting+1, "%d merges, %d segments at most", merges, most)
		t.Logf("%d merges, at most %d bytes an update, %d segments", merges, worst, most)
		m.apply([]Node{usual(rng, testID(0), base)}, UpdateOptions{}) // merges by itself
		if key, c, err := Format.MergeWaiting(t.Context(), m.blocks, m.manifest); key.Defined() || c.Defined() || err != nil {
			t.Errorf("merged %s for %s where nothing waits: %v", c, key, err)
		}
	}
}
