package links

import (
	"bytes"
	"context"
	"fmt"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// writer writes the parts of one segment. Until they are more than its block should hold, all of
// them are in memory; from then on one part and its directory.
type writer struct {
	ctx     context.Context
	put     store.Putter
	seg     segment
	part    partWriter
	inline  []written
	size    int      // of inline
	spilled bool     // whether parts are blocks
	rows    []byte   // of the directory
	hashes  []uint64 // of its nodes
	last    graph.ID
}

// written is a part and its first id.
type written struct {
	first  graph.ID
	data   []byte
	hashes []uint64 // of its nodes
}

func newWriter(ctx context.Context, put store.Putter) *writer {
	return &writer{ctx: ctx, put: put, part: partWriter{numbers: map[string]int{}}}
}

// add adds a node, which comes after the one before; kills says how many of older segments it
// replaces.
func (w *writer) add(n *Node, kills int) error {
	if w.seg.docs > 0 && bytes.Compare(w.last[:], n.ID[:]) >= 0 {
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
	w.last = n.ID
	w.seg.docs++
	w.seg.kills += kills
	w.part.add(n)
	return nil
}

// full reports whether the segment takes no further node.
func (w *writer) full() bool { return w.seg.docs == maxNodes }

func (w *writer) endPart() error {
	p := written{first: graph.ID(w.part.ids)}
	for at := 0; at < len(w.part.ids); at += graph.IDLen {
		p.hashes = append(p.hashes, hashID(graph.ID(w.part.ids[at:])))
	}
	p.data = w.part.finish()
	if w.spilled {
		return w.write(p)
	}
	w.inline = append(w.inline, p)
	if w.size += len(p.data); w.size <= maxInline {
		return nil
	}
	w.spilled = true
	for _, p := range w.inline {
		if err := w.write(p); err != nil {
			return err
		}
	}
	w.inline = nil
	return nil
}

// write writes a part.
func (w *writer) write(p written) error {
	c, err := w.block(p.data)
	if err != nil {
		return err
	}
	w.rows = c.Append(append(w.rows, p.first[:]...))
	w.hashes = append(w.hashes, p.hashes...)
	w.seg.apart++
	if len(w.rows) < dirFan*dirRow {
		return nil
	}
	return w.endDir()
}

func (w *writer) endDir() error {
	c, err := w.block(w.rows)
	if err != nil {
		return err
	}
	w.seg.dirs = append(w.seg.dirs, c)
	w.seg.first = append(w.seg.first, w.rows[:graph.IDLen]...)
	if c, err = w.block(newSieve(w.hashes)); err != nil {
		return err
	}
	w.seg.sieves = append(w.seg.sieves, c)
	w.rows, w.hashes = w.rows[:0], w.hashes[:0]
	return nil
}

func (w *writer) block(data []byte) (ipld.CID, error) {
	b := store.NewBlock(ipld.Raw, data)
	if err := w.put.Put(w.ctx, b); err != nil {
		return ipld.CID{}, fmt.Errorf("write part: %w", err)
	}
	return b.CID, nil
}

// finish writes what is left and returns the segment with its block, which is not written.
func (w *writer) finish() (*segment, store.Block, error) {
	if len(w.part.ids) > 0 {
		if err := w.endPart(); err != nil {
			return nil, store.Block{}, err
		}
	}
	if len(w.rows) > 0 {
		if err := w.endDir(); err != nil {
			return nil, store.Block{}, err
		}
	}
	block := store.NewBlock(ipld.DagCBOR, encodeSegment(&w.seg, w.inline))
	s, err := decodeSegment(block.CID, block.Data)
	return s, block, err
}
