package index

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/internal/tiers"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

const kindManifest = "manifest"

// maxLanguage is the longest language name in bytes.
const maxLanguage = 32

// Stats are the collection statistics of clause 7.2.
type Stats struct {
	Nodes  int64         // N, the number of nodes
	Terms  [Fields]int64 // T of each field: its terms in all nodes
	Filled [Fields]int64 // D of each field: the nodes in which it has a term
}

// Manifest is the index of one graph: segments, the oldest first, and their sums.
type Manifest struct {
	Analyser   int64  // version of the analyser
	Language   string // its language
	Stats      Stats
	tiers.List // the run is to be merged by Merge
}

func (m *Manifest) encode() []byte {
	w := ipld.NewRecord(nil, nil)
	w.Version(Format)
	w.Kind(kindManifest)
	w.Int("nodes", m.Stats.Nodes)
	w.Append("filled", (*sums)(&m.Stats.Filled).append)
	w.Append("totals", (*sums)(&m.Stats.Terms).append)
	if m.Run.Count > 0 {
		w.Append("merging", func(b []byte) []byte { return tiers.AppendRun(b, m.Run) })
	}
	w.Int("analyser", m.Analyser)
	w.String("language", m.Language)
	w.Append("segments", func(b []byte) []byte {
		return tiers.AppendRefs(ipld.AppendList(b, len(m.Segments)), m.Segments)
	})
	return w.Finish()
}

// manifestFields is the number of fields of a manifest's record beside kind, version and "merging",
// which only those have that have one.
const manifestFields = 6

func decodeManifest(block []byte) (*Manifest, error) {
	m := new(Manifest)
	seen := 0
	_, err := ipld.DecodeRecord(block, kindManifest, Format,
		func(key string, d *ipld.Decoder) (bool, error) {
			known, err := m.field(key, d)
			if known && key != "merging" {
				seen++
			}
			return known, err
		})
	if err != nil {
		return nil, asDamage(err)
	}
	if seen != manifestFields {
		return nil, corrupt("manifest of %d fields, want %d", seen, manifestFields)
	}
	return m, m.check()
}

func (m *Manifest) field(key string, d *ipld.Decoder) (known bool, err error) {
	switch key {
	case "nodes":
		m.Stats.Nodes, err = decodeCount(d, 0, maxCount)
	case "filled":
		err = (*sums)(&m.Stats.Filled).decode(d, 0)
	case "totals":
		err = (*sums)(&m.Stats.Terms).decode(d, 0)
	case "analyser":
		m.Analyser, err = decodeCount(d, 0, maxCount)
	case "language":
		m.Language, err = d.String()
		if err == nil && len(m.Language) > maxLanguage {
			err = d.Errorf("language of %d bytes", len(m.Language))
		}
	case "segments":
		err = m.decodeSegments(d)
	case "merging":
		m.Run, err = decodeRun(d)
	default:
		return false, nil
	}
	return true, err
}

func (m *Manifest) decodeSegments(d *ipld.Decoder) error {
	n, err := d.List()
	if err != nil {
		return err
	}
	if n > maxSegments {
		return d.Errorf("%d segments, limit %d", n, maxSegments)
	}
	m.Segments, err = tiers.DecodeRefs(d, n, maxDocs)
	return err
}

func decodeRun(d *ipld.Decoder) (r tiers.Run, err error) {
	items, err := d.List()
	if err == nil {
		r, err = tiers.DecodeRun(d, items)
	}
	return r, err
}

// check compares sums that follow from each other.
func (m *Manifest) check() error {
	if err := m.Check(); err != nil {
		return asDamage(err)
	}
	nodes := int64(0)
	for _, s := range m.Segments {
		nodes += int64(s.Docs) - int64(s.Kills)
	}
	if nodes != m.Stats.Nodes {
		return corrupt("manifest of %d nodes, its segments have %d", m.Stats.Nodes, nodes)
	}
	for f := range Fields {
		filled, terms := m.Stats.Filled[f], m.Stats.Terms[f]
		if filled > nodes || filled > terms || filled == 0 && terms > 0 {
			return corrupt("field %d has %d terms in %d of %d nodes", f, terms, filled, nodes)
		}
	}
	return nil
}

// ReadManifest reads a manifest. It returns an error that wraps store.ErrCorrupt where the
// block is damaged.
func ReadManifest(ctx context.Context, get store.Getter, c ipld.CID) (*Manifest, error) {
	block, err := get.Get(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("read manifest %s: %w", c, err)
	}
	m, err := decodeManifest(block)
	if err != nil {
		return nil, fmt.Errorf("read manifest %s: %w", c, err)
	}
	return m, nil
}
