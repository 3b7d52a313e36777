package prolly

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/mnem-project/mnem/ipld"
)

// Walk calls fn with every chunk of the tree, parents before children and in key order, on the calling goroutine.
// level is 0 for the chunks that hold entries, which Walk does not read. If fn returns false, the chunks below are
// skipped. The first error of fn ends the walk and is returned unchanged.
func (m *Map) Walk(ctx context.Context, fn func(c ipld.CID, level int) (descend bool, err error)) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("walk tree: %w", err)
	}
	descend, err := fn(m.root.cid, m.root.level)
	if err != nil || !descend {
		return err
	}
	return m.nodes.walk(ctx, m.root, fn)
}

// walk calls fn with the chunks below c. The recursion is as deep as the tree.
func (n *Nodes) walk(ctx context.Context, c *chunk, fn func(c ipld.CID, level int) (bool, error)) error {
	for i, link := range c.links {
		descend, err := fn(link, c.level-1)
		if err == nil && descend && c.level > 1 {
			var below *chunk
			if below, err = n.child(ctx, c, i); err == nil {
				err = n.walk(ctx, below, fn)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Check reads the whole tree from the store, bypassing the cache, and returns the first fault: an error of the store,
// which verifies hashes, or a *ShapeError for a block that is not canonical, keys that do not ascend, levels or counts
// that do not fit, or a chunk that does not end where SPEC 2.2 ends it. Memory is proportional to the height.
func (m *Map) Check(ctx context.Context) error {
	nodes := NewNodes(m.nodes.blocks, nil)
	fresh, err := nodes.Load(ctx, m.root.cid)
	if err != nil {
		return err
	}
	levels := make(levelChecks, fresh.Height())
	levels.begin()
	err = nodes.eachChunk(ctx, fresh.root, levels.enter)
	if err == nil {
		err = levels.finish()
	}
	return err
}

// ScanChecked returns the entries of the whole tree as Scan does, bypassing the cache. It sets good if it reached
// the end and Check would have found no fault. It does not return the errors that only Check finds.
func (m *Map) ScanChecked(ctx context.Context, good *bool) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		nodes := NewNodes(m.nodes.blocks, nil)
		fresh, err := nodes.Load(ctx, m.root.cid)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		levels := make(levelChecks, fresh.Height())
		levels.begin()
		var bad error
		stopped := false
		err = nodes.eachChunk(ctx, fresh.root, func(c *chunk) error {
			if bad == nil {
				bad = levels.enter(c)
			}
			for i := 0; c.level == 0 && i < len(c.keys); i++ {
				if !yield(Entry{c.keys[i], c.values[i]}, nil) {
					stopped = true
					return errStopped
				}
			}
			return nil
		})
		switch {
		case stopped:
		case err != nil:
			yield(Entry{}, err)
		case bad == nil:
			*good = levels.finish() == nil
		}
	}
}

var errStopped = errors.New("stop reading entries")

// eachChunk calls fn with c and every chunk below, parents before children and in key order.
func (n *Nodes) eachChunk(ctx context.Context, c *chunk, fn func(*chunk) error) error {
	err := fn(c)
	for i := 0; err == nil && i < len(c.links); i++ {
		var below *chunk
		if below, err = n.child(ctx, c, i); err == nil {
			err = n.eachChunk(ctx, below, fn)
		}
	}
	return err
}

// levelChecks has one check for each level of a tree, lowest first.
type levelChecks []levelCheck

func (l levelChecks) begin() {
	for i := range l {
		l[i].cutter = cutter{level: i, emit: l[i].cutHere}
	}
}

func (l levelChecks) enter(c *chunk) error { return l[c.level].enter(c) }

func (l levelChecks) finish() error {
	for i := range l {
		if err := l[i].finish(); err != nil {
			return err
		}
	}
	return nil
}

// levelCheck cuts a level again and compares the result with the stored chunks.
type levelCheck struct {
	cutter
	pending []*chunk // entered and not yet cut, at most MaxEntries+1
}

func (l *levelCheck) enter(c *chunk) error {
	l.pending = append(l.pending, c)
	for i := range c.keys {
		if err := l.add(c.item(i)); err != nil {
			return err
		}
	}
	return nil
}

func (l *levelCheck) cutHere(items []item) error {
	c := l.pending[0]
	l.pending = append(l.pending[:0], l.pending[1:]...)
	if len(items) != len(c.keys) {
		return misshapen(c.cid, "%d entries, a chunk ends after %d here", len(c.keys), len(items))
	}
	return nil
}

// Leaf returns the entries of a block that is a chunk of level 0, and none for a chunk of a higher level. It serves
// scans that visit blocks without their trees. Keys and values are views of block. It returns an error that wraps
// ipld.ErrInvalid for any other block.
func Leaf(block []byte) ([]Entry, error) {
	c, err := decodeChunk(ipld.CID{}, block)
	if err != nil || c.level > 0 {
		return nil, err
	}
	entries := make([]Entry, len(c.keys))
	for i, key := range c.keys {
		entries[i] = Entry{Key: key, Value: c.values[i]}
	}
	return entries, nil
}
