package index

import (
	"bytes"
	"context"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// gone is the new number of a document that a merge drops.
const gone = 1<<32 - 1

// merger makes one segment of several that follow each other, the oldest first.
type merger struct {
	ctx    context.Context
	src    *source
	segs   []*segment.Segment
	oldest bool // nothing is older than these, so that kills have nothing to hit
	w      *segmentWriter
	// number[i][d] is the new number of document d of segment i, or gone.
	number [][]uint32
}

// merge writes the parts of the merged segment and returns it with its block. Kills of documents
// within the run are carried out and those of older documents kept; of statistics both parts are
// sums already, so that what was negative within the run cancels by itself.
func merge(
	ctx context.Context, r *segment.Reader, segs []*segment.Segment, oldest bool, to *segment.Writer,
) (*segment.Segment, store.Block, error) {
	m := &merger{ctx: ctx, src: &source{r}, segs: segs, oldest: oldest, w: newSegmentWriter(to)}
	m.number = make([][]uint32, len(segs))
	for _, s := range segs {
		m.w.sum(sumsOf(s))
	}
	for _, step := range []func() error{m.documents, m.properties, m.terms} {
		if err := step(); err != nil {
			return nil, store.Block{}, err
		}
	}
	s, block, err := m.w.finish()
	if err == nil && s.Ref().Size() == 0 && slices.ContainsFunc(s.Sums, func(n int64) bool { return n != 0 }) {
		err = segment.Corrupt("nothing is left, but its statistics are %v", s.Sums)
	}
	return s, block, err
}

// documents numbers the documents that stay and writes their columns, and the kills that stay.
func (m *merger) documents() error {
	for i, s := range m.segs {
		m.number[i] = make([]uint32, s.Docs)
		for doc := range m.number[i] {
			m.number[i][doc] = gone
		}
	}
	metas := make([]metaReader, len(m.segs))
	return m.src.MergeIDs(m.ctx, m.segs, m.oldest, m.w.AddKill, func(id graph.ID, i, doc int) error {
		return m.keep(id, i, doc, &metas[i])
	})
}

func (m *merger) keep(id graph.ID, i, doc int, metas *metaReader) error {
	s := m.segs[i]
	lens, err := m.src.lens(m.ctx, s, doc/docsPerPart)
	if err != nil {
		return err
	}
	meta, err := metas.at(m.ctx, m.src, s, uint32(doc))
	if err != nil {
		return err
	}
	m.number[i][doc] = uint32(m.w.Docs)
	return m.w.addDoc(id, lens.at(uint32(doc), allFields), meta)
}

// propCursor walks "props" by name and document.
type propCursor struct {
	src    *source
	seg    *segment.Segment
	number []uint32
	n      int // the next part
	part   propPart
	g, i   int
}

// skip moves to the next property of a document that stays, and reports whether there is one.
func (c *propCursor) skip(ctx context.Context) (bool, error) {
	for {
		if c.g == len(c.part) {
			if c.n == c.seg.Parts(secProps) {
				return false, nil
			}
			part, err := c.src.props(ctx, c.seg, c.n)
			if err != nil {
				return false, err
			}
			c.part, c.g, c.i = part, 0, 0
			c.n++
			continue
		}
		group := &c.part[c.g]
		for ; c.i < len(group.docs); c.i++ {
			if c.number[group.docs[c.i]] != gone {
				return true, nil
			}
		}
		c.g, c.i = c.g+1, 0
	}
}

func (c *propCursor) name() string { return c.part[c.g].name }
func (c *propCursor) doc() uint32  { return c.number[c.part[c.g].docs[c.i]] }

func (c *propCursor) before(d *propCursor) bool {
	if k := ipld.CompareKeys(c.name(), d.name()); k != 0 {
		return k < 0
	}
	return c.doc() < d.doc()
}

func (m *merger) properties() error {
	var open []*propCursor
	for i, s := range m.segs {
		open = append(open, &propCursor{src: m.src, seg: s, number: m.number[i]})
	}
	lastName, next := "", uint32(0)
	for {
		c, err := m.leastProp(&open)
		if err != nil || c == nil {
			return err
		}
		name, doc := c.name(), c.doc()
		if k := ipld.CompareKeys(name, lastName); k < 0 || k == 0 && doc < next {
			return m.src.Wrap(c.seg, secProps, segment.Corrupt("property %q out of order", name))
		}
		lastName, next = name, doc+1
		item, err := m.src.item(m.ctx, c.seg, c.part[c.g].items[c.i])
		if err != nil {
			return err
		}
		if err := m.w.props.add(name, doc, item); err != nil {
			return err
		}
		c.i++
	}
}

// leastProp returns the cursor with the next property, nil at the end of all, which leave open.
func (m *merger) leastProp(open *[]*propCursor) (*propCursor, error) {
	var low *propCursor
	left := (*open)[:0]
	for _, c := range *open {
		ok, err := c.skip(m.ctx)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		left = append(left, c)
		if low == nil || c.before(low) {
			low = c
		}
	}
	*open = left
	return low, nil
}

// mergeTerm is one segment in the merge of dictionaries and, for one term, of postings.
type mergeTerm struct {
	dictCursor
	posts  postReader
	number []uint32
	i      int
	doc    uint32 // the new number of the document of posting i
	done   bool   // no term is left
}

func (t *mergeTerm) advance(ctx context.Context) error {
	ok, err := t.next(ctx)
	t.done = !ok
	return err
}

func (m *merger) terms() error {
	all := make([]*mergeTerm, len(m.segs))
	for i, s := range m.segs {
		all[i] = &mergeTerm{number: m.number[i]}
		all[i].src, all[i].seg = m.src, s
		if err := all[i].advance(m.ctx); err != nil {
			return err
		}
	}
	var with []*mergeTerm
	for {
		with = leastTerm(with[:0], all)
		if len(with) == 0 {
			return nil
		}
		if err := m.term(with); err != nil {
			return err
		}
		for _, t := range with {
			if err := t.advance(m.ctx); err != nil {
				return err
			}
		}
	}
}

// leastTerm appends the segments that stand at the smallest term to with, none at the end of all.
func leastTerm(with, all []*mergeTerm) []*mergeTerm {
	for _, t := range all {
		if t.done {
			continue
		}
		k := 0
		if len(with) > 0 {
			k = bytes.Compare(t.term, with[0].term)
		}
		if k < 0 {
			with = with[:0]
		}
		if k <= 0 {
			with = append(with, t)
		}
	}
	return with
}

func (m *merger) term(with []*mergeTerm) error {
	if err := m.ctx.Err(); err != nil {
		return err
	}
	net := 0
	term := string(with[0].term)
	open := make([]*mergeTerm, 0, len(with))
	for _, t := range with {
		net += t.count - t.neg
		t.posts.open(t.src, t.seg, t.entry)
		t.i = 0
		if ok, err := t.skip(m.ctx); err != nil {
			return err
		} else if ok {
			open = append(open, t)
		}
	}
	count := 0
	for len(open) > 0 {
		at := 0
		for i := range open {
			if open[i].doc < open[at].doc {
				at = i
			}
		}
		t := open[at]
		if err := m.w.posts.add(t.doc, &t.posts.block.posts[t.i].tf); err != nil {
			return err
		}
		count++
		t.i++
		if ok, err := t.skip(m.ctx); err != nil {
			return err
		} else if !ok {
			open = append(open[:at], open[at+1:]...)
		}
	}
	if net > count || m.oldest && net != count {
		return segment.Corrupt("term %q is in %d documents, its segments say %d", term, count, net)
	}
	return m.w.endTerm(term, count-net)
}

// skip moves to the next posting of a document that stays, and reports whether there is one.
func (t *mergeTerm) skip(ctx context.Context) (bool, error) {
	for {
		for ; t.i < t.posts.n; t.i++ {
			if t.doc = t.number[t.posts.block.posts[t.i].doc]; t.doc != gone {
				return true, nil
			}
		}
		if ok, err := t.posts.next(ctx); !ok {
			return false, err
		}
		t.i = 0
	}
}
