package index

import (
	"bytes"
	"context"
	"fmt"

	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// kindParts is the kind of a directory block.
const kindParts = "parts"

// partRef names a part or a directory block.
type partRef struct {
	key  []byte   // first key in the part
	data []byte   // the part itself where it is inline, not nil then
	cid  ipld.CID // else its block
}

// section is a sequence of parts. Where parts is more than len(refs), refs are directory blocks of
// dirFan parts each.
type section struct {
	parts int
	refs  []partRef
}

func (s *section) deep() bool { return s.parts != len(s.refs) }

func appendRefs(b []byte, refs []partRef) []byte {
	for _, r := range refs {
		b = ipld.AppendBytes(b, r.key)
		if r.data != nil {
			b = ipld.AppendBytes(b, r.data)
		} else {
			b = ipld.AppendLink(b, r.cid)
		}
	}
	return b
}

func (s *section) append(b []byte) []byte {
	b = ipld.AppendList(b, 1+2*len(s.refs))
	return appendRefs(ipld.AppendInt(b, int64(s.parts)), s.refs)
}

// decodeRefs reads n pairs of key and part, whose keys ascend. Only the sections of a segment's
// own block may hold parts inline, and only the keys of "large" are all empty.
func decodeRefs(d *ipld.Decoder, n int, inline bool) ([]partRef, error) {
	refs := make([]partRef, 0, min(n, dirFan))
	for i := range n {
		var r partRef
		key, err := d.Bytes()
		if err != nil {
			return nil, err
		}
		if len(key) > maxKey || i > 0 && len(key) > 0 && bytes.Compare(refs[i-1].key, key) >= 0 {
			return nil, d.Errorf("directory key %x out of order", shorten(key))
		}
		r.key = bytes.Clone(key)
		if err := r.decode(d, inline); err != nil {
			return nil, err
		}
		refs = append(refs, r)
	}
	return refs, nil
}

func (r *partRef) decode(d *ipld.Decoder, inline bool) error {
	item, err := d.Item()
	if err != nil {
		return err
	}
	if len(item) == linkLen && item[0] == linkHead {
		r.cid, err = ipld.CIDFromBytes(item[linkLen-ipld.CIDLen:])
		return err
	}
	if !inline {
		return d.Errorf("part is no link")
	}
	in, err := ipld.NewDecoder(item)
	if err != nil {
		return err
	}
	data, err := in.Bytes()
	if err != nil {
		return d.Errorf("part is neither link nor bytes")
	}
	r.data = append([]byte{}, data...)
	return nil
}

// A link is the head of tag 42, two bytes of the head of a byte string and a zero byte, 5 bytes
// with the tag's number, before the CID.
const (
	linkHead = 0xd8
	linkLen  = 5 + ipld.CIDLen
)

func shorten(b []byte) []byte { return b[:min(len(b), 40)] }

func decodeSection(d *ipld.Decoder) (s section, err error) {
	n, err := d.List()
	if err != nil {
		return s, err
	}
	if n%2 != 1 || n/2 > maxRefs {
		return s, d.Errorf("section of %d items", n)
	}
	parts, err := d.Int()
	if err != nil {
		return s, err
	}
	refs := int64(n / 2)
	if parts != refs && (parts < 0 || refs != (parts+dirFan-1)/dirFan) {
		return s, d.Errorf("%d parts in %d entries", parts, refs)
	}
	s.parts = int(parts)
	s.refs, err = decodeRefs(d, n/2, parts == refs)
	return s, err
}

// encodeDir returns a directory block.
func encodeDir(refs []partRef) []byte {
	w := ipld.NewRecord(nil, nil)
	w.Version(Format)
	w.Kind(kindParts)
	w.Append("parts", func(b []byte) []byte {
		return appendRefs(ipld.AppendList(b, 2*len(refs)), refs)
	})
	return w.Finish()
}

func decodeDir(block []byte) (refs []partRef, err error) {
	_, err = ipld.DecodeRecord(block, kindParts, Format,
		func(key string, d *ipld.Decoder) (bool, error) {
			if key != "parts" {
				return false, nil
			}
			n, err := d.List()
			if err == nil && (n%2 != 0 || n > 2*dirFan) {
				err = d.Errorf("directory of %d items", n)
			}
			if err == nil {
				refs, err = decodeRefs(d, n/2, false)
			}
			return true, err
		})
	return refs, asDamage(err)
}

// putBatch is the number of blocks handed to the store in one call.
const putBatch = 16

// sink takes the parts of one segment. It keeps them until they are more than a segment's block
// should hold, then writes them, and every later one, as blocks of their own.
type sink struct {
	ctx     context.Context
	put     store.Putter
	held    []*partRef // parts not written
	size    int64      // bytes of all parts
	spilled bool
	batch   []store.Block
}

func (s *sink) add(r *partRef) error {
	s.size += int64(len(r.data))
	s.held = append(s.held, r)
	if !s.spilled && s.size <= maxInline {
		return nil
	}
	s.spilled = true
	for _, r := range s.held {
		block := store.NewBlock(ipld.Raw, r.data)
		r.cid, r.data = block.CID, nil
		if err := s.write(block); err != nil {
			return err
		}
	}
	s.held = s.held[:0]
	return nil
}

func (s *sink) write(b store.Block) error {
	s.batch = append(s.batch, b)
	if len(s.batch) < putBatch {
		return nil
	}
	return s.flush()
}

func (s *sink) flush() error {
	if len(s.batch) == 0 {
		return nil
	}
	err := s.put.Put(s.ctx, s.batch...)
	clear(s.batch)
	s.batch = s.batch[:0]
	if err != nil {
		return fmt.Errorf("write index parts: %w", err)
	}
	return nil
}

// sectionWriter cuts a section into parts. The caller begins a part before it appends to buf.
type sectionWriter struct {
	sink *sink
	buf  []byte
	key  []byte
	refs []*partRef
}

// cut ends the part that was begun, if any.
func (w *sectionWriter) cut() error {
	if len(w.buf) == 0 {
		return nil
	}
	r := &partRef{key: w.key, data: bytes.Clone(w.buf)}
	w.refs = append(w.refs, r)
	w.buf, w.key = w.buf[:0], nil
	return w.sink.add(r)
}

// begin ends the part once it has size bytes and gives the key to a part that starts here.
func (w *sectionWriter) begin(size int, key func() []byte) error {
	if len(w.buf) >= size {
		if err := w.cut(); err != nil {
			return err
		}
	}
	if len(w.buf) == 0 {
		w.key = key()
	}
	return nil
}

// fold moves the entries of a long section into directory blocks. It must run after the last part
// of the segment: until then it is open whether parts are inline.
func (s *section) fold(k *sink) error {
	if s.parts <= dirFan {
		return nil
	}
	if s.parts > dirFan*maxRefs {
		return fmt.Errorf("segment section of %d parts, limit %d", s.parts, dirFan*maxRefs)
	}
	var dirs []partRef
	for from := 0; from < s.parts; from += dirFan {
		refs := s.refs[from:min(from+dirFan, s.parts)]
		block := store.NewBlock(ipld.DagCBOR, encodeDir(refs))
		if err := k.write(block); err != nil {
			return err
		}
		dirs = append(dirs, partRef{key: refs[0].key, cid: block.CID})
	}
	s.refs = dirs
	return nil
}
