package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"

	"github.com/mnem-project/mnem/graph"
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
	must.True(t, !d.asked, "an update of many changes left a merge for later")
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
			key, merged, err := Format.MergeWaiting(ctx, w, m)
			must.Require(t, err == nil && key.Defined(), "merge %s of %s: %v", merged, key, err)
			if rng.IntN(4) == 0 {
				lost, merged = key, store.NewBlock(ipld.DagCBOR, fmt.Appendf(nil, "lost %d", i)).CID
				wait = rng.IntN(20)
			}
			d.made[key] = merged
			merges++
		}
	}
	must.True(t, merges >= 2, "%d merges during %d updates", merges, updates)
	checkVerify(t, w.Blocks, m, docs)
	last := Change{ID: fresh[0].Node.ID, Old: docs[fresh[0].Node.ID]}
	m = must.Get(Update(ctx, w, m, one(last), UpdateOptions{}))(t)
	delete(docs, last.ID)
	man, err := ReadManifest(ctx, w, m)
	must.True(t, err == nil && man.Run == (segment.Run{}) && len(man.Segments) <= 8*7,
		"an update that merges by itself left %+v of %d segments: %v", man.Run, len(man.Segments), err)
	if key, c, err := Format.MergeWaiting(ctx, w, m); key.Defined() || c.Defined() || err != nil {
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
	must.True(t, len(d.made) != 0, "no merge was left for later")
	checkVerify(t, blocks, m, docs)
}

func draftDocs(n int) []*Document {
	rng := rand.New(rand.NewPCG(7, 7))
	docs := make([]*Document, n)
	for i := range docs {
		nd := graph.Node{ID: numberedID(i), Type: fmt.Sprintf("T%d", rng.IntN(3)), Created: 5}
		nd.Summary = fmt.Sprintf("Title %d", rng.IntN(n))
		if rng.IntN(2) == 0 {
			nd.ValidFrom = graph.At(graph.Time(rng.IntN(1000)))
		}
		for p := range rng.IntN(4) {
			nd.Props = append(nd.Props, ipld.Entry{
				Key: fmt.Sprintf("p%d", p), Value: ipld.StringValue(fmt.Sprintf("word%d", rng.IntN(50))),
			})
		}
		content := ""
		for range rng.IntN(60) {
			content += fmt.Sprintf("word%d ", rng.IntN(300))
		}
		if rng.IntN(9) == 0 {
			content += "記憶の索引"
		}
		docs[i] = &Document{Node: node(nd).Node, Content: content}
	}
	return docs
}

func draftID(i int) ipld.CID { return ipld.Sum(ipld.DagCBOR, []byte{byte(i >> 8), byte(i)}) }

// draftRoom is room in memory, for so many bytes.
type draftRoom struct {
	data []byte
	most int
}

func (r *draftRoom) Add(b []byte) (int64, error) {
	if len(r.data)+len(b) > r.most {
		return 0, errors.New("no room")
	}
	at := len(r.data)
	r.data = append(r.data, b...)
	return int64(at), nil
}

func (r *draftRoom) ReadAt(b []byte, at int64) (int, error) {
	return bytes.NewReader(r.data).ReadAt(b, at)
}

func draftChanges(docs []*Document, d *Draft) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		for i, doc := range docs {
			a, err := d.Find(draftID(i))
			c := Change{ID: doc.Node.ID, Analysed: a}
			if c.Analysed == nil {
				c.New = doc
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// TestDraft makes the same index from documents and from drafts of them that are made in another
// order, that are too small for all, and that have documents of no use.
func TestDraft(t *testing.T) {
	ctx := context.Background()
	docs := draftDocs(900)
	index := func(d *Draft) ipld.CID {
		blocks := store.NewStage(mem.New().Derived(), 0)
		c := must.Get(Update(ctx, blocks, ipld.CID{}, draftChanges(docs, d), UpdateOptions{SpillDocs: 250}))(t)
		return c
	}
	want := index(nil)
	for _, limit := range []int{0, 100 << 10, 64 << 20} {
		d := NewDraft(limit, nil)
		d.Add(ipld.Sum(ipld.DagCBOR, []byte("useless")), &Document{
			Node: docs[0].Node, Content: "nothing of this may be anywhere",
		})
		for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(len(docs)) {
			d.Add(draftID(i), docs[i])
		}
		if got := index(d); got != want {
			t.Errorf("limit %d: manifest %s with a draft of %d, want %s", limit, got, len(d.docs), want)
		}
		if full := limit > 1<<20; full != (len(d.docs) == len(docs)+1) {
			t.Errorf("limit %d: %d of %d documents", limit, len(d.docs), len(docs))
		}
	}
}

// TestDraftApart makes the same index from drafts that mostly lie elsewhere, and from those that had
// no room there in the end.
func TestDraftApart(t *testing.T) {
	docs := draftDocs(2500)
	for i := range docs {
		for w := range 150 {
			docs[i].Content += fmt.Sprintf(" other%d", (i*31+w*w)%20_000)
		}
	}
	index := func(d *Draft) ipld.CID {
		blocks := store.NewStage(mem.New().Derived(), 0)
		return must.Get(Update(t.Context(), blocks, ipld.CID{}, draftChanges(docs, d), UpdateOptions{}))(t)
	}
	want := index(nil)
	for _, most := range []int{1 << 20, 1 << 30} {
		room := &draftRoom{most: most}
		d := NewDraft(64<<20, room)
		for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(len(docs)) {
			d.Add(draftID(i), docs[i])
		}
		d.Seal()
		must.Equal(t, index(d), want, "room for ", most, ": manifest")
		must.True(t, len(room.data) >= draftHeld && (len(d.docs) == len(docs)) == (most == 1<<30),
			"room for %d: has %d bytes of %d documents", most, len(room.data), len(d.docs))
		must.True(t, d.size <= draftHeld+2*draftPieceBytes, "%d bytes in memory", d.size)
	}
}
