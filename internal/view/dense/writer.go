package dense

import (
	"fmt"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/view/segment"
)

// writer writes the parts of one segment: rows and kills, each ascending by id.
type writer struct {
	*segment.Writer
	bare   bool
	shapes [columns]shape
	sketch *sketcher
	row    []byte
}

func newWriter(to *segment.Writer, dims int, bare bool) *writer {
	if to.Sums[sumDims] = int64(dims); bare {
		to.Sums[sumBare] = 1
	}
	return &writer{Writer: to, bare: bare, shapes: shapes(dims), sketch: newSketcher(dims)}
}

// add adds a vector.
func (w *writer) add(id graph.ID, vector []int8) error {
	w.row = appendRow(w.row[:0], id, vector)
	return w.addRow(id, w.row, w.sketch.bytes(vector))
}

// addRow adds a row of "vectors", which a bare segment does not keep, and its sketch.
func (w *writer) addRow(id graph.ID, row, sketch []byte) error {
	if w.Docs == maxRows {
		return fmt.Errorf("segment of more than %d vectors", maxRows)
	}
	err := w.Section(colIDs).AddID(w.Docs, id)
	if w.Docs++; err == nil {
		err = w.append(colSketch, sketch)
	}
	if err == nil && !w.bare {
		err = w.append(colVectors, row)
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

// append adds a row to a column of "sketch" and "vectors".
func (w *writer) append(col int, row []byte) error {
	s, full := w.Section(col), w.shapes[col].per*w.shapes[col].width
	if err := s.Begin(full, func() []byte { return nil }); err != nil {
		return err
	}
	s.Buf = append(s.Buf, row...)
	return nil
}
