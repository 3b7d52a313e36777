package links

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// cursor walks the nodes of a segment.
type cursor struct {
	r    reader
	s    *segment.Segment
	next int // part
	p    *part
	i    int // node in the part
	seen int
	busy int // of those seen; -1 once compared with the section
	last graph.ID
}

// peek returns the part with the node at the cursor, and its index there; nil at the end.
func (u *cursor) peek(ctx context.Context) (*part, int, error) {
	if u.p != nil && u.i < u.p.len() {
		return u.p, u.i, nil
	}
	if u.next == u.s.Parts(secNodes) {
		if u.seen != u.s.Docs {
			return nil, 0, segment.Corrupt("segment %s has %d nodes, should have %d", u.s.CID, u.seen, u.s.Docs)
		}
		return nil, 0, u.countBusy(ctx)
	}
	p, err := u.r.part(ctx, u.s, u.next)
	if err != nil {
		return nil, 0, err
	}
	if u.seen > 0 && bytes.Compare(u.last[:], p.first()) >= 0 {
		return nil, 0, segment.Corrupt("segment %s: node %s does not ascend", u.s.CID, p.id(0))
	}
	v, err := u.r.bloom(ctx, u.s, p.id(0))
	if err != nil {
		return nil, 0, err
	}
	for i := 0; v != nil && i < p.len(); i++ {
		if !v.has(p.id(i)) {
			return nil, 0, segment.Corrupt("segment %s: the filter lacks node %s", u.s.CID, p.id(i))
		}
		if err := u.checkBusy(ctx, p, i); err != nil {
			return nil, 0, err
		}
	}
	u.p, u.i, u.next = p, 0, u.next+1
	return p, 0, nil
}

// checkBusy compares what is stored of a node among the busy ones with the node, in a segment that has filters.
func (u *cursor) checkBusy(ctx context.Context, p *part, i int) error {
	f, err := p.at(i)
	if err != nil {
		return err
	}
	degrees, ok, err := u.r.busy(ctx, u.s, p.id(i))
	if err != nil {
		return err
	}
	if ok {
		u.busy++
	}
	if ok != isBusy(f.degrees) || ok && degrees != stored(f.degrees) {
		return segment.Corrupt("segment %s: %v edges of node %s, of the busy ones %v", u.s.CID, f.degrees, p.id(i), degrees)
	}
	return nil
}

// countBusy compares the number of busy nodes, which have all been checked, with that of the section.
func (u *cursor) countBusy(ctx context.Context) error {
	if u.busy < 0 {
		return nil
	}
	for n := range u.s.Parts(secBusy) {
		p, err := segment.Part(ctx, u.r.Reader, u.s, secBusy, n, decodeBusy)
		if err != nil {
			return err
		}
		u.busy -= p.len()
	}
	if u.busy != 0 {
		return segment.Corrupt("segment %s has busy nodes that are none of its nodes", u.s.CID)
	}
	u.busy = -1
	return nil
}

// step moves past the node at the cursor, which peek has returned.
func (u *cursor) step() {
	u.last = u.p.id(u.i)
	u.i++
	u.seen++
}

// merger walks the nodes of consecutive segments, oldest first.
type merger struct {
	cursors []*cursor
	at      []*cursor // those at the current node
	n       Node      // the current node
}

func newMerger(r reader, segs []*segment.Segment) *merger {
	m := &merger{}
	for _, s := range segs {
		m.cursors = append(m.cursors, &cursor{r: r, s: s})
	}
	return m
}

// next moves to the next node, in the version of the newest segment that has it, and returns how many segments have
// it; 0 at the end.
func (m *merger) next(ctx context.Context) (have int, err error) {
	var low graph.ID
	at := m.at[:0]
	for _, u := range m.cursors {
		p, i, err := u.peek(ctx)
		if err != nil {
			return 0, err
		}
		if p == nil {
			continue
		}
		switch id := p.id(i); {
		case len(at) == 0 || id.Compare(low) < 0:
			low, at = id, append(at[:0], u)
		case id == low:
			at = append(at, u)
		}
	}
	if m.at = at; len(at) == 0 {
		return 0, nil
	}
	newest := at[len(at)-1]
	f, err := newest.p.at(newest.i)
	if err == nil {
		err = f.node(low, &m.n)
	}
	for _, u := range at {
		u.step()
	}
	return len(at), err
}

// merge merges consecutive segments, oldest first, into one, writes its parts, and returns it with its block. If no
// segment is older (oldest), it drops nodes without edges.
func merge(
	ctx context.Context, r *segment.Reader, segs []*segment.Segment, oldest bool, to *segment.Writer,
) (*segment.Segment, store.Block, error) {
	w := newWriter(to)
	m := newMerger(reader{r}, segs)
	kills := 0
	for _, s := range segs {
		kills += s.Kills
	}
	for {
		have, err := m.next(ctx)
		if err != nil {
			return nil, store.Block{}, err
		}
		if have == 0 {
			break
		}
		kills -= have - 1
		if oldest && m.n.Out.Degree == 0 && m.n.In.Degree == 0 {
			continue
		}
		if err := w.add(&m.n, 0); err != nil {
			return nil, store.Block{}, err
		}
	}
	if !oldest {
		w.Kills = max(0, kills)
	}
	return w.finish()
}

// Verify compares an index with the nodes it must have, which are those with edges, ascending by id, and returns the
// differences. An error means that it could not read everything; it wraps store.ErrCorrupt if a block is damaged.
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
