package index

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	ranking "github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// TestLens writes columns of every width and reads them back.
func TestLens(t *testing.T) {
	rng := newRand(t)
	for _, most := range []uint32{0, 1, 255, 256, 65_535, 65_536, math.MaxUint32} {
		docs := make([]docLens, 1+rng.IntN(docsPerPart))
		for i := range docs {
			for f := range Fields {
				docs[i][f] = uint32(rng.Uint64N(uint64(most)/uint64(f+1) + 1))
			}
		}
		docs[rng.IntN(len(docs))][0] = most
		data := encodeLens(docs)
		p := must.Get(decodeLens(data, len(docs)))(t, "at most ", most)
		for i, want := range docs {
			must.Equal(t, p.at(docsPerPart+uint32(i), allFields), want, "at most ", most, ": document ", i)
			if got := p.at(uint32(i), 1<<2); got != (docLens{2: want[2]}) {
				t.Fatalf("at most %d: document %d has %v of one field, want %v", most, i, got, want[2])
			}
		}
		for _, bad := range [][]byte{data[:len(data)-1], append(data, 0), nil, {3}, {5}} {
			if _, err := decodeLens(bad, len(docs)); !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("%d bytes of %d: %v, want %v", len(bad), len(data), err, store.ErrCorrupt)
			}
		}
	}
}

// TestTypesUnread holds that a query whose filter asks for ids alone reads no types and times, and
// that one which asks for them fails where they are missing.
func TestTypesUnread(t *testing.T) {
	ctx := context.Background()
	blocks := mem.New().Derived()
	m := must.Get(Update(ctx, blocks, ipld.CID{}, zipfDocs(5000), UpdateOptions{}))(t)
	x := must.Get(Open(ctx, blocks, m, nil))(t)
	seen := &counter{Getter: blocks, got: map[ipld.CID]int{}}
	src, gone := source{Format.NewReader(seen, nil)}, map[ipld.CID]bool{}
	for doc := range x.segs[0].Docs {
		must.Get(src.meta(ctx, x.segs[0], uint32(doc)))(t)
	}
	for c := range seen.got {
		gone[c] = true
	}
	x.src = source{Format.NewReader(without{blocks, gone}, nil)}
	res, err := x.Text(ctx, "word0", func(d Doc) (bool, error) { return !d.ID().IsZero(), nil }, 10)
	must.OK(t, err, "hits")
	must.Equal(t, len(res.Hits), 10, "hits")
	ofType := func(d Doc) (bool, error) { return d.Type() == "", nil }
	_, err = x.Text(ctx, "word0", ofType, 10)
	must.Fail(t, err, store.ErrNotFound)
	var last error
	for d, err := range x.Docs(ctx) {
		if last = err; err == nil {
			d.Type()
		}
	}
	must.Fail(t, last, store.ErrNotFound, "listed by type")
	d, ok, err := x.Doc(ctx, numberedID(7))
	if err != nil || !ok || d.Err() != nil {
		t.Errorf("%v, %v, %v", ok, err, d.Err())
	}
	if d.Times(); !errors.Is(d.Err(), store.ErrNotFound) {
		t.Errorf("asked when it was created: %v, want %v", d.Err(), store.ErrNotFound)
	}
}

// without lacks some blocks.
type without struct {
	store.Getter
	gone map[ipld.CID]bool
}

func (w without) Get(ctx context.Context, c ipld.CID) ([]byte, error) {
	if w.gone[c] {
		return nil, &store.NotFoundError{CID: c}
	}
	return w.Getter.Get(ctx, c)
}
