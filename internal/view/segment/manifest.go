package segment

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// Manifest is one index.
type Manifest struct {
	Roots []ipld.CID // of the facts that it is of
	Sums  []int64
	Text  string
	List
}

// maxText is the longest text of a manifest in bytes.
const maxText = 64

// fields names the fields of a manifest.
func (m *Manifest) fields(f *Format) func(*ipld.Record) {
	return func(r *ipld.Record) {
		r.Begin(f.Name, f.Version, nil)
		intsField(r, "sums", &m.Sums, f.Totals)
		r.String("text", &m.Text)
		r.Refuse(len(m.Text) > maxText, "text of %d bytes", len(m.Text))
		r.Links("roots", &m.Roots, f.Roots, f.Roots)
		r.Field("segments", m.List.append, func(d *ipld.Decoder) (err error) {
			m.List, err = f.decodeList(d)
			return err
		})
	}
}

// EncodeManifest returns the block of a manifest.
func (f *Format) EncodeManifest(m *Manifest) []byte { return ipld.WriteRecord(256, m.fields(f)) }

// DecodeManifest reads the block of a manifest.
func (f *Format) DecodeManifest(block []byte) (*Manifest, error) {
	m := new(Manifest)
	_, err := ipld.ReadRecord(block, m, m.fields(f), nil)
	return m, Damaged(err)
}

// ReadManifest reads a manifest. The error for another block wraps store.ErrCorrupt.
func (f *Format) ReadManifest(ctx context.Context, get store.Getter, c ipld.CID) (*Manifest, error) {
	block, err := get.Get(ctx, c)
	var m *Manifest
	if err == nil {
		m, err = f.DecodeManifest(block)
	}
	if err != nil {
		return nil, fmt.Errorf("read manifest %s: %w", c, err)
	}
	return m, nil
}

// WriteManifest writes a manifest and returns its CID.
func (f *Format) WriteManifest(ctx context.Context, put store.Putter, m *Manifest) (ipld.CID, error) {
	block := store.NewBlock(ipld.DagCBOR, f.EncodeManifest(m))
	if err := put.Put(ctx, block); err != nil {
		return ipld.CID{}, fmt.Errorf("write manifest: %w", err)
	}
	return block.CID, nil
}

// EncodeList returns a list as encoded in a manifest.
func EncodeList(l *List) []byte { return l.append(nil) }

// DecodeList decodes the output of EncodeList.
func (f *Format) DecodeList(item []byte) (l List, err error) {
	d, err := ipld.NewDecoder(item)
	if err == nil {
		l, err = f.decodeList(d)
	}
	if err == nil {
		err = d.End()
	}
	return l, Damaged(err)
}

func (l *List) append(b []byte) []byte {
	n := len(l.Segments)
	if l.Run.Count > 0 {
		n++
	}
	b = ipld.AppendList(b, n)
	for _, s := range l.Segments {
		b = ipld.AppendLink(ipld.AppendList(b, 3), s.CID)
		b = ipld.AppendInt(ipld.AppendInt(b, int64(s.Docs)), int64(s.Kills))
	}
	if l.Run.Count > 0 {
		b = ipld.AppendInt(ipld.AppendInt(ipld.AppendList(b, 2), int64(l.Run.From)), int64(l.Run.Count))
	}
	return b
}

func (f *Format) decodeList(d *ipld.Decoder) (l List, err error) {
	n, err := d.List()
	if err == nil && n > f.MaxSegments+1 {
		err = d.Errorf("%d segments, limit %d", n, f.MaxSegments)
	}
	for ; n > 0 && err == nil; n-- {
		var items int
		if items, err = d.List(); err != nil {
			break
		}
		if n == 1 && items == 2 {
			l.Run, err = l.decodeRun(d)
			return l, err
		}
		if items != 3 {
			return l, d.Errorf("segment of %d items, want 3", items)
		}
		var s Ref
		if s.CID, err = d.Link(); err == nil {
			s.Docs, err = decodeCount(d, f.MaxDocs)
		}
		if err == nil {
			s.Kills, err = decodeCount(d, f.MaxDocs)
		}
		l.Segments = append(l.Segments, s)
	}
	if err == nil && len(l.Segments) > f.MaxSegments {
		err = d.Errorf("%d segments, limit %d", len(l.Segments), f.MaxSegments)
	}
	return l, err
}

func (l *List) decodeRun(d *ipld.Decoder) (r Run, err error) {
	if r.From, err = decodeCount(d, len(l.Segments)); err == nil {
		r.Count, err = decodeCount(d, len(l.Segments)-r.From)
	}
	if err == nil && r.Count < 2 {
		err = d.Errorf("run of %d segments", r.Count)
	}
	return r, err
}
