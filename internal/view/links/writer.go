package links

import (
	"bytes"
	"fmt"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/view/segment"
)

// writer writes the parts of one segment.
type writer struct {
	*segment.Writer
	nodes, filters *segment.Section
	part           partWriter
	hashes         []uint64 // of the nodes of the next filter
	first          graph.ID // of them
	parts          int      // that they are in
	last           graph.ID
}

func newWriter(to *segment.Writer) *writer {
	w := &writer{Writer: to, part: partWriter{numbers: map[string]int{}}}
	w.nodes, w.filters = w.Section(secNodes), w.Section(secFilters)
	return w
}

// add adds a node, whose id must ascend; kills is how many segments' nodes it replaces.
func (w *writer) add(n *Node, kills int) error {
	if w.Docs > 0 && bytes.Compare(w.last[:], n.ID[:]) >= 0 {
		return fmt.Errorf("node %s after %s", n.ID, w.last)
	}
	for _, b := range [...]*Bucket{&n.Out, &n.In} {
		if b.Degree < 0 || b.Degree > maxDegree || b.Whole() && len(b.Entries) != b.Degree {
			return fmt.Errorf("node %s: %d of %d entries", n.ID, len(b.Entries), b.Degree)
		}
	}
	if len(w.part.ids) > 0 && w.part.size+n.most() > partSize {
		if err := w.endPart(); err != nil {
			return err
		}
	}
	if w.last = n.ID; len(w.hashes) == 0 {
		w.first = n.ID
	}
	w.hashes = append(w.hashes, hashID(n.ID))
	w.Docs++
	w.Kills += kills
	w.part.add(n)
	return nil
}

// full reports whether the segment takes no further node.
func (w *writer) full() bool { return w.Docs == maxNodes }

func (w *writer) endPart() error {
	if len(w.part.ids) == 0 {
		return nil
	}
	first := graph.ID(w.part.ids)
	w.nodes.Buf, w.nodes.Key = w.part.finish(), first[:]
	if err := w.nodes.Cut(); err != nil {
		return err
	}
	if w.parts++; w.parts < filterParts {
		return nil
	}
	return w.endFilter()
}

// endFilter writes the Bloom filter of the last parts.
func (w *writer) endFilter() error {
	w.filters.Buf, w.filters.Key = newBloom(w.hashes), bytes.Clone(w.first[:])
	w.hashes, w.parts = w.hashes[:0], 0
	return w.filters.Cut()
}

// finish writes the remaining parts and returns the segment with its block, which is not written.
func (w *writer) finish() (*segment.Segment, store.Block, error) {
	err := w.endPart()
	if err == nil && w.parts > 0 && w.Spilled() { // inline parts need no filter
		err = w.endFilter()
	}
	if err != nil {
		return nil, store.Block{}, err
	}
	return w.Finish()
}
