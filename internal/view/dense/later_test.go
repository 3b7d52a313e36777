package dense

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

// TestLater makes merges of two groups a random while after they are due, or loses them, damages
// them or never makes them: no update merges more than it may, and answers are exact.
func TestLater(t *testing.T) {
	effort.Alone(t)
	const (
		base = 1500
		dims = 16
	)
	models, updates := []string{"a", "b"}, effort.Pick(1000, 3000, 3000)
	for _, loses := range []int{4, 1} {
		rng := rand.New(rand.NewPCG(uint64(loses), 8))
		m := newMemory(t)
		d := &desk{made: map[ipld.CID]ipld.CID{}}
		opt := UpdateOptions{Fanout: 4, Later: d}
		changes := map[key][]int8{}
		for i := range base {
			changes[key{denseID(i), models[i%2]}] = randomVector(rng, dims, 100)
		}
		if m.apply(changes, opt); d.asked {
			t.Error("an update of many vectors left a merge for later")
		}
		merges, wait, lost := 0, 0, ipld.CID{}
		for i := range updates {
			d.asked = false
			k := key{denseID(rng.IntN(base)), models[rng.IntN(2)]}
			changes := map[key][]int8{{denseID(base + i), k.model}: randomVector(rng, dims, 100)}
			if changes[k] = randomVector(rng, dims, 100); rng.IntN(4) == 0 {
				if changes[k] = nil; m.vectors[k] == nil {
					delete(changes, k)
				}
			}
			m.apply(changes, opt)
			if rng.IntN(30) == 0 {
				delete(d.made, lost)
			}
			if !d.asked {
				wait = rng.IntN(40)
			} else if wait--; wait < 0 {
				at, merged, err := Merge(t.Context(), m.blocks, m.manifest, d)
				must.Require(t, err == nil && at.Defined(), "merge %s of %s: %v", merged, at, err)
				switch merges++; {
				case loses == 1: // never made
					wait = updates
				case merges%loses == 0:
					d.made[at], lost = store.NewBlock(ipld.DagCBOR, fmt.Append(nil, i)).CID, at
				case merges%loses == 1:
					d.made[at], lost = m.manifest, at // no segment
				default:
					d.made[at] = merged
				}
			}
			if i%100 == 99 {
				m.verify()
				x := m.open(segment.NewCache(1 << 20))
				q := Query{Model: models[i%2], Values: randomVector(rng, dims, 100), K: 20}
				must.Same(t, search1(t, x, q).Hits, m.ranked(q))
			}
		}
		stats, err := readStats(t.Context(), m.blocks, m.manifest)
		must.Check(t, err == nil && merges >= 1 && stats.Segments <= 2*(maxWaiting+1),
			"%d merges, %+v, %v", merges, stats, err)
		t.Logf("%d merges, %+v", merges, stats)
		for _, model := range models { // updates of both groups that merge by themselves
			m.apply(map[key][]int8{{denseID(0), model}: randomVector(rng, dims, 100)}, UpdateOptions{Fanout: 4})
		}
		m.verify()
		if at, c, err := Merge(t.Context(), m.blocks, m.manifest, d); at.Defined() || c.Defined() || err != nil {
			t.Errorf("merged %s for %s where nothing waits: %v", c, at, err)
		}
	}
}
