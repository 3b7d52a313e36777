package index

import (
	"context"
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// desk knows which merges were made, and which were asked for.
type desk struct {
	made  map[ipld.CID]ipld.CID
	asked bool
}

func (d *desk) Merged(_ context.Context, key ipld.CID) (ipld.CID, error) {
	c := d.made[key]
	d.asked = d.asked || !c.Defined()
	return c, nil
}

// TestLater makes merges a random while after they are due, or loses them: no update writes more than a small merge
// does, answers and sums equal those of an index that merges by itself, and the number of segments stays bounded.
func TestLater(t *testing.T) {
	effort.Alone(t)
	const (
		base      = 2000
		mostBytes = 64 << 10 // 256 documents of some 200 bytes in a merged segment, and the manifest
	)
	updates := effort.Pick(1100, 1600, 32_000)
	rng, ctx := newRand(t), context.Background()
	d := &desk{made: map[ipld.CID]ipld.CID{}}
	w := &meter{Blocks: mem.New().Derived()}
	docs := collection{}
	for c := range zipfDocs(base) {
		docs[c.ID] = c.New
	}
	fresh := make([]*Document, 0, updates)
	for c := range zipfDocs(base + 2*updates) {
		if docs[c.ID] == nil {
			fresh = append(fresh, c.New)
		}
	}
	opt := UpdateOptions{Later: d}
	m := must.Get(Update(ctx, w, ipld.CID{}, zipfDocs(base), opt))(t)
	must.Check(t, !d.asked, "an update of many changes left a merge for later")
	merges, worst, wait := 0, 0, 0
	var lost ipld.CID                                              // the key of a merge that was made, and whose segment is gone
	for i := 0; i < updates || merges < 2 && i < len(fresh); i++ { // a merge waits as long as the seed says
		c := Change{ID: fresh[i].Node.ID, New: fresh[i]}
		if i%3 == 2 { // a change of an old one
			c.ID = numberedID(rng.IntN(base))
			c.Old, c.New = docs[c.ID], &Document{Node: fresh[i].Node}
			n := *fresh[i].Node
			n.ID, c.New.Node = c.ID, &n
		}
		w.blocks, w.bytes, d.asked = 0, 0, false
		m = must.Get(Update(ctx, w, m, one(c), opt))(t)
		docs[c.ID] = c.New
		delete(d.made, lost)
		if worst = max(worst, w.bytes); w.bytes > mostBytes {
			t.Errorf("update %d wrote %d blocks of %d bytes", i, w.blocks, w.bytes)
		}
		if !d.asked {
			wait = rng.IntN(effort.Pick(20, 100, 100))
		} else if wait--; wait < 0 {
			key, merged, err := Merge(ctx, w, m)
			must.Require(t, err == nil && key.Defined(), "merge %s of %s: %v", merged, key, err)
			if rng.IntN(4) == 0 {
				lost, merged = key, store.NewBlock(ipld.DagCBOR, fmt.Appendf(nil, "lost %d", i)).CID
				wait = rng.IntN(20)
			}
			d.made[key] = merged
			merges++
		}
	}
	must.Check(t, merges >= 2, "%d merges during %d updates", merges, updates)
	checkVerify(t, w.Blocks, m, docs)
	last := Change{ID: fresh[0].Node.ID, Old: docs[fresh[0].Node.ID]}
	m = must.Get(Update(ctx, w, m, one(last), UpdateOptions{}))(t)
	delete(docs, last.ID)
	man, err := ReadManifest(ctx, w, m)
	must.Check(t, err == nil && man.Run == (segment.Run{}) && len(man.Segments) <= 8*7,
		"an update that merges by itself left %+v of %d segments: %v", man.Run, len(man.Segments), err)
	if key, c, err := Merge(ctx, w, m); key.Defined() || c.Defined() || err != nil {
		t.Errorf("merged %s for %s where nothing waits: %v", c, key, err)
	}
	var all []*Index
	for _, c := range []ipld.CID{build(t, w.Blocks, docs, UpdateOptions{}), m} {
		x := must.Get(Open(ctx, w, c, nil))(t)
		all = append(all, x)
	}
	for _, query := range []string{"word0 word1", "word5 word50 word500", "word2000 team7", "note"} {
		checkSame(t, all, query)
	}
	t.Logf("%d merges, at most %d bytes an update, %d segments", merges, worst, len(all[1].segs))
}

// TestLaterIsBounded: where merges are never made updates make them after a while.
func TestLaterIsBounded(t *testing.T) {
	ctx, blocks := context.Background(), mem.New().Derived()
	opt := UpdateOptions{Later: &desk{}, Fanout: 2}
	m := must.Get(Update(ctx, blocks, ipld.CID{}, zipfDocs(600), opt))(t)
	most, waited := 0, false
	for c := range zipfDocs(1600) {
		if c.ID.Compare(numberedID(600)) < 0 {
			continue
		}
		m = must.Get(Update(ctx, blocks, m, one(c), opt))(t)
		man := must.Get(ReadManifest(ctx, blocks, m))(t)
		most, waited = max(most, len(man.Segments)), waited || man.Run.Count > 0
	}
	must.Check(t, waited && most <= maxWaiting+1, "%d segments at most, waited: %v", most, waited)
}

// TestLaterDamaged: a merged segment that is damaged is passed over.
func TestLaterDamaged(t *testing.T) {
	ctx, blocks := context.Background(), mem.New().Derived()
	d := &desk{made: map[ipld.CID]ipld.CID{}}
	opt := UpdateOptions{Later: d, Fanout: 2}
	m := must.Get(Update(ctx, blocks, ipld.CID{}, zipfDocs(600), opt))(t)
	docs := collection{}
	for c := range zipfDocs(1300) {
		docs[c.ID] = c.New
		if c.ID.Compare(numberedID(600)) < 0 {
			continue
		}
		m = must.Get(Update(ctx, blocks, m, one(c), opt))(t)
		man := must.Get(ReadManifest(ctx, blocks, m))(t)
		if man.Run.Count > 0 { // the manifest is no segment
			d.made[man.Key(Format.Name)] = m
		}
	}
	must.Check(t, len(d.made) != 0, "no merge was left for later")
	checkVerify(t, blocks, m, docs)
}

// TestManifestRun refuses runs that are none.
func TestManifestRun(t *testing.T) {
	m := &Manifest{Language: "en", List: segment.List{Segments: make([]segment.Ref, 5)}}
	for i := range m.Segments {
		m.Segments[i].CID = ipld.Sum(ipld.Raw, []byte{byte(i)})
	}
	for at, ok := range map[[2]int]bool{
		{}: true, {0, 5}: true, {2, 3}: true, {3, 3}: false, {0, 1}: false, {5, 0}: true,
		{1 << 30, 2}: false,
	} {
		run := segment.Run{From: at[0], Count: at[1]}
		m.Run = run
		got, err := decodeManifest(encodeManifest(m))
		if ok != (err == nil) || ok && run.Count > 0 && got.Run != run {
			t.Errorf("run %v: %+v, %v", run, got, err)
		}
	}
}
