package segment

import (
	"bytes"
	"encoding/binary"
	"sort"

	"github.com/mnem-project/mnem/ipld"
)

// part names a part or a directory.
type part struct {
	key  []byte   // first key in the part
	data []byte   // the part itself if it is inline, then not nil
	cid  ipld.CID // otherwise its block
}

// section is a sequence of parts. If there are more parts than refs, refs are directories of fan parts each.
type section struct {
	parts int
	refs  []part
	heads []uint64 // of the keys of refs
}

func (s *section) deep() bool { return s.parts != len(s.refs) }

func (s *section) append(b []byte) []byte {
	b = ipld.AppendList(b, 1+2*len(s.refs))
	return appendParts(ipld.AppendInt(b, int64(s.parts)), s.refs)
}

func appendParts(b []byte, refs []part) []byte {
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

func decodeSection(d *ipld.Decoder) (s section, err error) {
	n, err := d.List()
	if err == nil && (n%2 != 1 || n/2 > maxRefs) {
		err = d.Errorf("section of %d items", n)
	}
	if err != nil {
		return s, err
	}
	refs := n / 2
	if s.parts, err = decodeCount(d, fan*maxRefs); err != nil {
		return s, err
	}
	if s.parts != refs && refs != (s.parts+fan-1)/fan {
		return s, d.Errorf("%d parts in %d entries", s.parts, refs)
	}
	s.refs, err = decodeParts(d, refs, s.parts == refs)
	s.heads = headsOf(s.refs)
	return s, err
}

// decodeParts reads n pairs of key and part, whose keys ascend unless empty. Only the sections of a segment's own
// block may hold parts inline.
func decodeParts(d *ipld.Decoder, n int, inline bool) ([]part, error) {
	refs := make([]part, 0, min(n, fan))
	size := 0
	for i := range n {
		var r part
		key, err := d.Bytes()
		if err != nil {
			return nil, err
		}
		if len(key) > maxKey || i > 0 && len(key) > 0 && bytes.Compare(refs[i-1].key, key) >= 0 {
			return nil, d.Errorf("key of part %d out of order", i)
		}
		r.key = key
		size += len(key)
		if err := r.decode(d, inline); err != nil {
			return nil, err
		}
		refs = append(refs, r)
	}
	keys := make([]byte, 0, size) // copies of all keys, so that the block can be freed
	for i := range refs {
		from := len(keys)
		keys = append(keys, refs[i].key...)
		refs[i].key = keys[from:len(keys):len(keys)]
	}
	return refs, nil
}

// A link is the head of tag 42, two bytes of the head of a byte string and a zero byte, 5 bytes with the tag's
// number, before the CID.
const (
	linkHead = 0xd8
	linkLen  = 5 + ipld.CIDLen
)

func (r *part) decode(d *ipld.Decoder, inline bool) error {
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

// dirFields names the fields of a directory.
func (f *Format) dirFields(refs *[]part) func(*ipld.Record) {
	return func(r *ipld.Record) {
		r.Begin(kindParts, f.Version, nil)
		write := func(b []byte) []byte { return appendParts(ipld.AppendList(b, 2*len(*refs)), *refs) }
		r.Field(kindParts, write, func(d *ipld.Decoder) error {
			n, err := d.List()
			if err == nil && (n%2 != 0 || n > 2*fan) {
				err = d.Errorf("directory of %d items", n)
			}
			if err == nil {
				*refs, err = decodeParts(d, n/2, false)
			}
			return err
		})
	}
}

func (f *Format) encodeDir(refs []part) []byte { return ipld.WriteRecord(1024, f.dirFields(&refs)) }

func (f *Format) decodeDir(block []byte) (refs []part, err error) {
	_, err = ipld.ReadRecord(block, &refs, f.dirFields(&refs), nil)
	return refs, Damaged(err)
}

// head returns the first bytes of a key as a number that orders keys whose heads differ.
func head(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}

// headsOf returns the heads of the keys of parts: searching these touches a tenth of the keys' memory.
func headsOf(refs []part) []uint64 {
	heads := make([]uint64, len(refs))
	for i := range refs {
		heads[i] = head(refs[i].key)
	}
	return heads
}

// lastAtMost returns the last part whose key is at most key, -1 if there is none. heads are the heads of the keys.
func lastAtMost(refs []part, heads []uint64, key []byte) int {
	h := head(key)
	low, high := 0, len(heads) // the first part whose head is above h
	for low < high {
		if mid := int(uint(low+high) / 2); heads[mid] > h {
			high = mid
		} else {
			low = mid + 1
		}
	}
	if low == 0 || heads[low-1] < h {
		return low - 1
	}
	from := low - 1 // the first of the same head
	for from > 0 && heads[from-1] == h {
		from--
	}
	return from - 1 + sort.Search(low-from, func(i int) bool { return bytes.Compare(refs[from+i].key, key) > 0 })
}
