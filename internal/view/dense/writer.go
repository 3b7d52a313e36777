package dense

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/view/segment"
)

// writer writes the parts of one segment: rows and kills, each ascending by id.
type writer struct {
	*segment.Writer
	shapes [columns]shape
	sketch *sketcher
	row    []byte // scratch
}

func newWriter(to *segment.Writer, dims int) *writer {
	to.Sums[sumDims] = int64(dims)
	return &writer{
		Writer: to, shapes: shapes(dims), sketch: newSketcher(dims), row: make([]byte, 0, rowHead+dims),
	}
}

// add adds a vector.
func (w *writer) add(id graph.ID, vector []int8) error {
	hash := sha256.Sum256(appendRow(w.row[:0], id, vector))
	w.Sums[sumVectors] += int64(binary.LittleEndian.Uint64(hash[:]) & vectorsMask)
	w.Sums[sumVectors] &= vectorsMask
	return w.addSketch(id, w.sketch.bytes(vector))
}

// addSketch adds the sketch of a vector.
func (w *writer) addSketch(id graph.ID, sketch []byte) error {
	if w.Docs == maxRows {
		return fmt.Errorf("segment of more than %d vectors", maxRows)
	}
	err := w.Section(colIDs).AddID(w.Docs, id)
	if w.Docs++; err == nil {
		err = w.append(colSketch, sketch)
	}
	return err
}

func (w *writer) kill(id graph.ID) error {
	if w.Kills == maxRows {
		return fmt.Errorf("segment of more than %d kills", maxRows)
	}
	w.Kills++
	return w.Section(colDead).AddID(w.Kills-1, id)
}

// append adds a row to the column "sketch".
func (w *writer) append(col int, row []byte) error {
	s, full := w.Section(col), w.shapes[col].per*w.shapes[col].width
	if err := s.Begin(full, func() []byte { return nil }); err != nil {
		return err
	}
	s.Buf = append(s.Buf, row...)
	return nil
}
