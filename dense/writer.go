package dense

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// columnWriter writes one column. Until the segment is more than its block should hold, all of it
// is in memory; from then on one part.
type columnWriter struct {
	column
	buf   []byte
	cids  []byte // of the parts written, as a directory has them
	count int
}

// segmentWriter writes the parts of one segment: rows and kills, each ascending by id.
type segmentWriter struct {
	ctx     context.Context
	put     store.Putter
	seg     segment
	cols    [columns]columnWriter
	size    int // bytes of all columns
	spilled bool
	sketch  *sketcher
	row     []byte
}

func newSegmentWriter(ctx context.Context, put store.Putter, dims int) *segmentWriter {
	w := &segmentWriter{ctx: ctx, put: put, seg: newSegment(dims), sketch: newSketcher(dims)}
	for i := range w.cols {
		w.cols[i].column = w.seg.cols[i]
	}
	return w
}

// add adds a vector.
func (w *segmentWriter) add(id graph.ID, vector []int8) error {
	w.row = appendRow(w.row[:0], id, vector)
	return w.addRow(w.row, w.sketch.bytes(vector))
}

// addRow adds a row of "vectors" and its sketch.
func (w *segmentWriter) addRow(row, sketch []byte) error {
	if w.seg.docs == maxRows {
		return fmt.Errorf("segment of more than %d vectors", maxRows)
	}
	if w.seg.docs%idsPerPart == 0 {
		w.seg.first = append(w.seg.first, row[:graph.IDLen]...)
	}
	w.seg.docs++
	err := w.append(colIDs, row[:graph.IDLen])
	if err == nil {
		err = w.append(colSketch, sketch)
	}
	if err == nil {
		err = w.append(colVectors, row)
	}
	return err
}

func (w *segmentWriter) kill(id graph.ID) error {
	if w.seg.kills == maxRows {
		return fmt.Errorf("segment of more than %d kills", maxRows)
	}
	w.seg.kills++
	return w.append(colDead, id[:])
}

func (w *segmentWriter) append(col int, row []byte) error {
	c := &w.cols[col]
	c.buf = append(c.buf, row...)
	c.rows++
	if w.spilled {
		return w.flush(c, false)
	}
	if w.size += len(row); w.size <= maxInline {
		return nil
	}
	w.spilled = true
	for i := range w.cols {
		if err := w.flush(&w.cols[i], false); err != nil {
			return err
		}
	}
	return nil
}

// flush writes the parts that are full, at the end the last one too.
func (w *segmentWriter) flush(c *columnWriter, end bool) error {
	full, from := c.per*c.width, 0
	for len(c.buf)-from >= full || end && from < len(c.buf) {
		to := min(from+full, len(c.buf))
		cid, err := w.block(c.buf[from:to])
		if err != nil {
			return err
		}
		c.cids = cid.Append(c.cids)
		if c.count++; c.count%dirFan == 0 {
			if err := w.dir(c); err != nil {
				return err
			}
		}
		from = to
	}
	if from > 0 {
		c.buf = append(c.buf[:0], c.buf[from:]...)
	}
	if end && len(c.cids) > 0 {
		return w.dir(c)
	}
	return nil
}

// dir writes a directory.
func (w *segmentWriter) dir(c *columnWriter) error {
	cid, err := w.block(c.cids)
	c.dirs, c.cids = append(c.dirs, cid), c.cids[:0]
	return err
}

func (w *segmentWriter) block(data []byte) (ipld.CID, error) {
	b := store.NewBlock(ipld.Raw, data)
	if err := w.put.Put(w.ctx, b); err != nil {
		return ipld.CID{}, fmt.Errorf("write part: %w", err)
	}
	return b.CID, nil
}

// finish writes what is left and returns the segment with its block, which is not written.
func (w *segmentWriter) finish() (*segment, store.Block, error) {
	for i := range w.cols {
		c := &w.cols[i]
		if w.spilled {
			if err := w.flush(c, true); err != nil {
				return nil, store.Block{}, err
			}
		} else {
			c.data = c.buf
		}
		w.seg.cols[i] = c.column
	}
	seg := w.seg
	block := store.NewBlock(ipld.DagCBOR, seg.encode())
	seg.cid = block.CID
	return &seg, block, nil
}
