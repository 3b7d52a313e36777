package links

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// Verify compares an index with the nodes it must have, which are those with edges, ascending by id, and returns
// the differences. An error means that it could not read everything; it wraps store.ErrCorrupt if a block is
// damaged.
func Verify(
	ctx context.Context, get store.Getter, c ipld.CID, of Of, nodes iter.Seq2[Node, error],
) (wrong []string, err error) {
	x, err := Open(ctx, get, c, of, segment.NewCache(mergeCache))
	if err != nil {
		return nil, err
	}
	m := newMerger(x.src, x.segs)
	next := func() (n *Node, ok bool, err error) {
		for {
			have, err := m.next(ctx)
			if have == 0 || err != nil || m.n.Out.Degree > 0 || m.n.In.Degree > 0 {
				return &m.n, have > 0, err
			}
		}
	}
	bad := 0
	count := func(format string, args ...any) {
		if bad++; bad == 1 {
			wrong = append(wrong, fmt.Sprintf(format, args...))
		}
	}
	got, more, err := next()
	for want, wantErr := range nodes {
		if wantErr != nil {
			return nil, wantErr
		}
		for err == nil && more && got.ID.Compare(want.ID) < 0 {
			count("links of %s, which has none", got.ID)
			got, more, err = next()
		}
		switch {
		case err != nil:
			return wrong, err
		case !more || got.ID != want.ID:
			count("no links of %s, which has %d and %d", want.ID, want.Out.Degree, want.In.Degree)
			continue
		case !got.Out.equal(want.Out) || !got.In.equal(want.In):
			count("links of %s are not those of the commit", want.ID)
		}
		got, more, err = next()
	}
	for ; err == nil && more; got, more, err = next() {
		count("links of %s, which has none", got.ID)
	}
	if bad > 1 {
		wrong = append(wrong, fmt.Sprintf("links of %d nodes are wrong", bad))
	}
	return wrong, err
}

func (b Bucket) equal(c Bucket) bool {
	return b.Degree == c.Degree && (!b.Whole() || slices.Equal(b.Entries, c.Entries))
}
