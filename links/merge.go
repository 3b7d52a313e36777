package links

import (
	"bytes"
	"context"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/store"
)

// cursor walks the nodes of a segment.
type cursor struct {
	r    *reader
	s    *segment
	next int // part, of the segment or of the directory
	nd   int // directory
	d    dir
	p    *part
	i    int // node in the part
	seen int
	last graph.ID
}

// peek returns the part and the place in it of the node at the cursor, nil at the end.
func (u *cursor) peek(ctx context.Context) (*part, int, error) {
	if u.p != nil && u.i < u.p.len() {
		return u.p, u.i, nil
	}
	p, err := u.nextPart(ctx)
	if err != nil {
		return nil, 0, err
	}
	if p == nil && u.seen != u.s.docs {
		return nil, 0, corrupt("segment %s has %d nodes, should have %d", u.s.cid, u.seen, u.s.docs)
	}
	if p != nil && u.seen > 0 && bytes.Compare(u.last[:], p.first()) >= 0 {
		return nil, 0, corrupt("segment %s: node %s does not ascend", u.s.cid, p.id(0))
	}
	u.p, u.i = p, 0
	return p, 0, nil
}

func (u *cursor) nextPart(ctx context.Context) (*part, error) {
	if len(u.s.dirs) == 0 {
		if u.next == len(u.s.parts) {
			return nil, nil
		}
		u.next++
		return u.s.parts[u.next-1], nil
	}
	if u.d == nil || u.next == u.d.len() {
		if u.nd == len(u.s.dirs) {
			return nil, nil
		}
		var err error
		if u.d, err = u.r.dir(ctx, u.s, u.nd); err != nil {
			return nil, err
		}
		u.nd, u.next = u.nd+1, 0
	}
	u.next++
	p, err := u.r.part(ctx, u.d, u.next-1)
	if err != nil {
		return nil, err
	}
	v, err := u.r.sieve(ctx, u.s, u.nd-1)
	for i := 0; err == nil && i < p.len(); i++ {
		if !v.has(p.id(i)) {
			err = corrupt("segment %s: the sieve lacks node %s", u.s.cid, p.id(i))
		}
	}
	return p, err
}

// step moves past the node at the cursor, which peek has returned.
func (u *cursor) step() {
	u.last = u.p.id(u.i)
	u.i++
	u.seen++
}

// merger walks the nodes of segments that follow each other, the oldest first.
type merger struct {
	cursors []*cursor
	at      []*cursor // those at the node at hand
	n       Node      // the node at hand
}

func newMerger(r *reader, segs []*segment) *merger {
	m := &merger{}
	for _, s := range segs {
		m.cursors = append(m.cursors, &cursor{r: r, s: s})
	}
	return m
}

// next moves to the next node, which is as the newest segment that has it does, and returns how many
// have it; 0 at the end.
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

// merge writes the parts of one segment made of several that follow each other, the oldest first,
// and returns it with its block. Where nothing is older (oldest), nodes without edges are left out.
func merge(
	ctx context.Context, r *reader, segs []*segment, oldest bool, put store.Putter,
) (*segment, store.Block, error) {
	w := newWriter(ctx, put)
	m := newMerger(r, segs)
	kills := 0
	for _, s := range segs {
		kills += s.kills
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
		w.seg.kills = max(0, kills)
	}
	return w.finish()
}
