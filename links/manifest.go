package links

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/index"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

const kindManifest = "links"

// Of are the roots of the trees that an index is a function of.
type Of struct{ Out, In, Marks ipld.CID }

// manifest is an index: segments, the oldest first.
type manifest struct {
	of       Of
	segments []index.SegmentRef
}

func (m *manifest) encode() []byte {
	w := ipld.NewRecord(nil, nil)
	w.Version(formatVersion)
	w.Link("in", m.of.In)
	w.Link("out", m.of.Out)
	w.Kind(kindManifest)
	w.Link("marks", m.of.Marks)
	w.Append("segments", func(b []byte) []byte {
		b = ipld.AppendList(b, len(m.segments))
		for _, s := range m.segments {
			b = ipld.AppendLink(ipld.AppendList(b, 3), s.CID)
			b = ipld.AppendInt(ipld.AppendInt(b, int64(s.Docs)), int64(s.Kills))
		}
		return b
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
				m.segments, err = decodeSegments(d)
			default:
				seen--
				return false, nil
			}
			return true, err
		})
	if err == nil && seen != 4 {
		err = fmt.Errorf("manifest of %d fields, want 4", seen)
	}
	return m, asDamage(err)
}

func decodeSegments(d *ipld.Decoder) ([]index.SegmentRef, error) {
	n, err := d.List()
	if err == nil && n > maxSegments {
		err = d.Errorf("%d segments, limit %d", n, maxSegments)
	}
	if err != nil {
		return nil, err
	}
	list := make([]index.SegmentRef, n)
	for i := range list {
		s := &list[i]
		items, err := d.List()
		if err == nil && items != 3 {
			err = d.Errorf("segment of %d items, want 3", items)
		}
		if err == nil {
			s.CID, err = d.Link()
		}
		if err == nil {
			s.Docs, err = decodeCount(d)
		}
		if err == nil {
			s.Kills, err = decodeCount(d)
		}
		if err != nil {
			return nil, err
		}
	}
	return list, nil
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
