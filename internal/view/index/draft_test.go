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
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

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
		must.Check(t, len(room.data) >= draftHeld && (len(d.docs) == len(docs)) == (most == 1<<30),
			"room for %d: has %d bytes of %d documents", most, len(room.data), len(d.docs))
		must.Check(t, d.size <= draftHeld+2*draftPieceBytes, "%d bytes in memory", d.size)
	}
}
