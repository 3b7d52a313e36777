package links

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/internal/tiers"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

const kindManifest = "links"

// Of are the roots of the trees that an index is a function of.
type Of struct{ Out, In, Marks ipld.CID }

// manifest is an index: segments, the oldest first.
type manifest struct {
	of         Of
	tiers.List // the run is to be merged by Merge
}

func (m *manifest) encode() []byte {
	w := ipld.NewRecord(nil, nil)
	w.Version(formatVersion)
	w.Link("in", m.of.In)
	w.Link("out", m.of.Out)
	w.Kind(kindManifest)
	w.Link("marks", m.of.Marks)
	if m.Run.Count > 0 {
		w.Append("merging", func(b []byte) []byte { return tiers.AppendRun(b, m.Run) })
	}
	w.Append("segments", func(b []byte) []byte {
		return tiers.AppendRefs(ipld.AppendList(b, len(m.Segments)), m.Segments)
	})
	return w.Finish()
}

func decodeManifest(block []byte) (*manifest, error) {
	m := new(manifest)
	seen := 0
	_, err := ipld.DecodeRecord(block, kindManifest, formatVersion,
		func(key string, d *ipld.Decoder) (known bool, err error) {
			seen++
			switch key {
			case "in":
				m.of.In, err = d.Link()
			case "out":
				m.of.Out, err = d.Link()
			case "marks":
				m.of.Marks, err = d.Link()
			case "segments":
				m.Segments, err = decodeSegments(d)
			case "merging":
				seen-- // only those have it that have one
				m.Run, err = decodeRun(d)
			default:
				seen--
				return false, nil
			}
			return true, err
		})
	if err == nil && seen != 4 {
		err = fmt.Errorf("manifest of %d fields, want 4", seen)
	}
	if err == nil {
		err = m.Check()
	}
	return m, asDamage(err)
}

func decodeSegments(d *ipld.Decoder) ([]tiers.Ref, error) {
	n, err := d.List()
	if err == nil && n > maxSegments {
		err = d.Errorf("%d segments, limit %d", n, maxSegments)
	}
	if err != nil {
		return nil, err
	}
	return tiers.DecodeRefs(d, n, maxNodes)
}

func decodeRun(d *ipld.Decoder) (r tiers.Run, err error) {
	items, err := d.List()
	if err == nil {
		r, err = tiers.DecodeRun(d, items)
	}
	return r, err
}

func readManifest(ctx context.Context, get store.Getter, c ipld.CID) (*manifest, error) {
	block, err := get.Get(ctx, c)
	var m *manifest
	if err == nil {
		m, err = decodeManifest(block)
	}
	if err != nil {
		return nil, fmt.Errorf("read manifest %s: %w", c, err)
	}
	return m, nil
}

// ReadOf returns what a manifest is of. The error of a block that is none wraps store.ErrCorrupt.
func ReadOf(ctx context.Context, get store.Getter, c ipld.CID) (Of, error) {
	m, err := readManifest(ctx, get, c)
	if err != nil {
		return Of{}, err
	}
	return m.of, nil
}
