package index

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// Stats are the collection statistics of clause 7.2.
type Stats struct {
	Nodes  int64         // N, the number of nodes
	Terms  [Fields]int64 // T of each field: its terms in all nodes
	Filled [Fields]int64 // D of each field: the nodes in which it has a term
}

// Manifest is the index of one graph: segments, the oldest first, and their sums.
type Manifest struct {
	Analyser int64  // version of the analyser
	Language string // its language
	Stats    Stats
	segment.List
}

// totals is how many sums a manifest has: the analyser's version, nodes, and what a segment has.
const totals = 2 + 2*Fields

func (m *Manifest) record() *segment.Manifest {
	sums := append([]int64{m.Analyser, m.Stats.Nodes}, m.Stats.Terms[:]...)
	return &segment.Manifest{
		Sums: append(sums, m.Stats.Filled[:]...), Text: m.Language, List: m.List,
	}
}

func ofRecord(r *segment.Manifest) (*Manifest, error) {
	for _, n := range r.Sums {
		if n < 0 {
			return nil, segment.Corrupt("sum %d of a manifest", n)
		}
	}
	m := &Manifest{Analyser: r.Sums[0], Language: r.Text, List: r.List}
	m.Stats = Stats{r.Sums[1], sums(r.Sums[2 : 2+Fields]), sums(r.Sums[2+Fields:])}
	return m, m.check()
}

// check compares sums that follow from each other.
func (m *Manifest) check() error {
	nodes := int64(0)
	for _, s := range m.Segments {
		nodes += int64(s.Docs) - int64(s.Kills)
	}
	if nodes != m.Stats.Nodes {
		return segment.Corrupt("manifest of %d nodes, its segments have %d", m.Stats.Nodes, nodes)
	}
	for f := range Fields {
		filled, terms := m.Stats.Filled[f], m.Stats.Terms[f]
		if filled > nodes || filled > terms || filled == 0 && terms > 0 {
			return segment.Corrupt("field %d has %d terms in %d of %d nodes", f, terms, filled, nodes)
		}
	}
	return nil
}

// ReadManifest reads a manifest. It returns an error that wraps store.ErrCorrupt if the
// block is damaged.
func ReadManifest(ctx context.Context, get store.Getter, c ipld.CID) (*Manifest, error) {
	r, err := Format.ReadManifest(ctx, get, c)
	if err != nil {
		return nil, err
	}
	m, err := ofRecord(r)
	if err != nil {
		return nil, fmt.Errorf("read manifest %s: %w", c, err)
	}
	return m, nil
}
