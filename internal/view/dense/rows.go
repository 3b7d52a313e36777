package dense

import (
	"context"
	"sync"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/view/segment"
)

// A row is a vector as queries compare it: id, sum of squares as u32, little-endian, dimensions as int8. Segments have no
// rows; Source reads what they are made of.

// page is a run of rows of a segment, for queries that compare all of them. Safe for concurrent use.
type page struct {
	mu   sync.Mutex
	rows [][]byte // nil if not read yet; once set, a row never changes
}

func (t *table) perPage() int { return max(1, pageBytes/(rowHead+t.dims)) }
func (t *table) pages() int   { return (t.Docs + t.perPage() - 1) / t.perPage() }

// page returns page n of a segment, which may lack rows.
func (x *Index) page(t *table, n int) *page {
	v, ok, epoch := x.src.Cached(t.Segment, madePages, n)
	if !ok {
		rows := min(t.perPage(), t.Docs-n*t.perPage())
		v = &page{rows: make([][]byte, rows)}
		x.src.Retain(epoch, t.Segment, madePages, n, v, rows*(rowHead+t.dims+24))
	}
	return v.(*page)
}

// missing returns which rows of a page were not read yet though they live.
func (p *page) missing(dead segment.Bitset, first int) (list []int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, row := range p.rows {
		if row == nil && !dead.Has(uint32(first+i)) {
			list = append(list, i)
		}
	}
	return list
}

// set sets rows that were missing, unless another query has set them.
func (p *page) set(list []int, rows [][]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, n := range list {
		if p.rows[n] == nil {
			p.rows[n] = rows[i]
		}
	}
}

// fill reads the live rows that pages lack, all at once.
func (x *Index) fill(ctx context.Context, g *group, batch []scanned) error {
	var ids []graph.ID
	missing := make([][]int, len(batch))
	for b, at := range batch {
		missing[b] = at.page.missing(g.dead[at.seg], at.first)
		cursor := x.src.IDCursor(g.segs[at.seg].Segment, segment.IDs)
		for _, i := range missing[b] {
			cursor.N = at.first + i
			id, err := cursor.Peek(ctx)
			if err != nil {
				return err
			}
			ids = append(ids, graph.ID(id))
		}
	}
	vectors, err := x.read(ctx, g, ids)
	if err != nil {
		return err
	}
	for b, list := range missing {
		rows := rowsOf(ids[:len(list)], vectors[:len(list)])
		ids, vectors = ids[len(list):], vectors[len(list):]
		batch[b].page.set(list, rows)
	}
	return nil
}

// read returns the vectors of nodes, which live in a group.
func (x *Index) read(ctx context.Context, g *group, ids []graph.ID) ([][]int8, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	vectors, err := x.source(ctx, g.model, ids)
	if err == nil && len(vectors) != len(ids) {
		err = segment.Corrupt("%d vectors by %q, should be %d", len(vectors), g.model, len(ids))
	}
	if err != nil {
		return nil, err
	}
	for i, v := range vectors {
		if len(v) != g.dims {
			return nil, segment.Corrupt("vector of %s by %q of %d dimensions, should have %d", ids[i], g.model, len(v), g.dims)
		}
	}
	return vectors, nil
}

// rowsOf returns the rows of vectors, one after the other in memory.
func rowsOf(ids []graph.ID, vectors [][]int8) [][]byte {
	if len(ids) == 0 {
		return nil
	}
	rows := make([][]byte, len(ids))
	all := make([]byte, 0, len(ids)*(rowHead+len(vectors[0])))
	for i, v := range vectors {
		from := len(all)
		all = appendRow(all, ids[i], v)
		rows[i] = all[from:]
	}
	return rows
}

// fetch sets the rows of candidates that are in the order of place. Those that no query has read before it reads at once.
func (x *Index) fetch(ctx context.Context, g *group, list []candidate) error {
	var missing []*candidate
	var ids []graph.ID
	var cursor segment.IDCursor
	seg, since := -1, 0
	for i := range list {
		c := &list[i]
		if len(c.row) > graph.IDLen {
			continue
		}
		s := g.segs[c.seg].Segment
		v, ok, epoch := x.src.Cached(s, madeRows, c.n)
		if ok {
			c.row = v.([]byte)
			continue
		}
		if c.seg != seg {
			seg, cursor = c.seg, x.src.IDCursor(s, segment.IDs)
		}
		cursor.N = c.n
		id, err := cursor.Peek(ctx)
		if err != nil {
			return err
		}
		if len(missing) == 0 {
			since = epoch
		}
		missing, ids = append(missing, c), append(ids, graph.ID(id))
	}
	vectors, err := x.read(ctx, g, ids)
	for i, v := range vectors {
		c := missing[i]
		c.row = appendRow(make([]byte, 0, rowHead+g.dims), ids[i], v)
		x.src.Retain(since, g.segs[c.seg].Segment, madeRows, c.n, c.row, len(c.row))
	}
	return err
}

type scanned struct {
	seg    int
	first  int // its first row
	page   *page
	scores []int32 // 0 for dead ones
}

// scanBatch is how many pages are read at a time, which bounds memory.
const scanBatch = 512

// eachBatch calls fn with all pages of a group, which have the rows that live, some at a time.
func (x *Index) eachBatch(ctx context.Context, g *group, fn func(batch []scanned) error) error {
	var batch []scanned
	flush := func() error {
		err := ctx.Err()
		if err == nil {
			err = x.fill(ctx, g, batch)
		}
		if err == nil {
			err = fn(batch)
		}
		batch = batch[:0]
		return err
	}
	for seg, t := range g.segs {
		for n := range t.pages() {
			batch = append(batch, scanned{seg: seg, first: n * t.perPage(), page: x.page(t, n)})
			if len(batch) == scanBatch {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	return flush()
}
