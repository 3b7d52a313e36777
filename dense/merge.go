package dense

import (
	"bytes"
	"context"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/segment"
	"github.com/mnem-project/mnem/store"
)

// merge writes the parts of one segment made of several that follow each other, the oldest first,
// and returns it with its block. Kills of vectors within the run are carried out and those of older
// ones kept; where nothing is older (oldest) there are none.
func merge(
	ctx context.Context, r *segment.Reader, segs []*segment.Segment, oldest bool, to *segment.Writer,
) (*segment.Segment, store.Block, error) {
	m := &merger{ctx: ctx, segs: tablesOf(segs)}
	m.w = newWriter(to, m.segs[0].dims)
	for _, t := range m.segs {
		if t.dims != m.segs[0].dims {
			return nil, store.Block{}, segment.Corrupt("vectors of %d and %d dimensions", t.dims, m.segs[0].dims)
		}
		m.docs = append(m.docs, cursor{r: reader{r}, c: &t.cols[colVectors]})
		m.dead = append(m.dead, cursor{r: reader{r}, c: &t.cols[colDead]})
		m.sketches = append(m.sketches, cursor{r: reader{r}, c: &t.cols[colSketch]})
	}
	for {
		id, err := m.least()
		if err != nil {
			return nil, store.Block{}, err
		}
		if id == nil {
			return m.w.Finish()
		}
		if err := m.settle(graph.ID(id), oldest); err != nil {
			return nil, store.Block{}, err
		}
	}
}

type merger struct {
	ctx                  context.Context
	segs                 []*table
	docs, dead, sketches []cursor
	w                    *writer
}

// least returns the smallest id at the cursors, nil at the end of all.
func (m *merger) least() ([]byte, error) {
	var low []byte
	for i := range m.segs {
		for _, c := range [...]*cursor{&m.docs[i], &m.dead[i]} {
			row, err := c.peek(m.ctx)
			if err != nil {
				return nil, err
			}
			if row != nil && (low == nil || bytes.Compare(row[:graph.IDLen], low) < 0) {
				low = row[:graph.IDLen]
			}
		}
	}
	return low, nil
}

// settle moves the cursors past an id and writes what is left of it. What happened is read from the
// oldest segment to the newest, in each a kill before a vector: a first kill is of something older
// than the run, and a last vector is what lives.
func (m *merger) settle(id graph.ID, oldest bool) error {
	var row, sketch []byte
	first, killed := true, false
	for i := range m.segs {
		kill, err := m.dead[i].at(m.ctx, id)
		if err != nil {
			return err
		}
		if kill != nil {
			if !first && row == nil {
				return segment.Corrupt("second kill of %s", id)
			}
			killed = killed || first
			first, row = false, nil
		}
		add, err := m.docs[i].at(m.ctx, id)
		if err != nil {
			return err
		}
		if add == nil {
			continue
		}
		if row != nil {
			return segment.Corrupt("%s is there twice", id)
		}
		// The rows of both columns are parallel.
		m.sketches[i].n = m.docs[i].n - 1
		if sketch, err = m.sketches[i].peek(m.ctx); err != nil {
			return err
		}
		first, row = false, add
	}
	if killed {
		if oldest {
			return segment.Corrupt("kill of %s, which there is not", id)
		}
		if err := m.w.kill(id); err != nil {
			return err
		}
	}
	if row == nil {
		return nil
	}
	return m.w.addRow(row, sketch)
}

// at returns the row at the cursor where it is that of an id, and moves past it.
func (u *cursor) at(ctx context.Context, id graph.ID) ([]byte, error) {
	row, err := u.peek(ctx)
	if err != nil || row == nil || !bytes.Equal(row[:graph.IDLen], id[:]) {
		return nil, err
	}
	return row, u.next(row)
}
