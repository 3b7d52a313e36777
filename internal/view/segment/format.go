package segment

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"sort"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// Blocks is the store that an update reads and writes.
type Blocks interface {
	store.Getter
	store.Putter
}

// Format is one kind of index. It is immutable.
type Format struct {
	Name     string
	Version  int64
	Sections []Spec // of a segment
	Sums     int    // number of a segment's sums
	// Roots and Totals are the numbers of a manifest's roots and sums.
	Roots, Totals int
	Inline        int64 // largest total of parts kept inside the segment's own block, in bytes
	MaxDocs       int   // largest number of documents, and of kills, in one segment
	MaxSegments   int   // largest number of segments in a list
	MaxWaiting    int   // segments above which nothing waits for a merge any longer
	CacheBytes    int64 // of parts, the cache of an update or merge
	// Check, if not nil, checks the numbers of a decoded segment for consistency.
	Check func(*Segment) error
	// Merge merges consecutive segments, oldest first, into one, and writes everything except its own block. oldest
	// says that no older segment exists, so that kills have no effect.
	Merge func(ctx context.Context, r *Reader, segs []*Segment, oldest bool, w *Writer) (
		*Segment, store.Block, error)
}

// Spec is a section of a segment.
type Spec struct {
	Name    string
	MaxPart int // its longest part in bytes
}

const (
	// fan is the number of parts under one directory.
	fan = 256
	// maxRefs is the largest number of entries of a section in the segment's block; with directories they reach fan
	// times as many parts.
	maxRefs = 4096
	// maxKey is the longest key of a part.
	maxKey = 1 << 10
	// maxCount bounds numbers, so that any reader represents them exactly and no arithmetic overflows.
	maxCount = 1<<53 - 1

	kindParts = "parts"
)

// Segment is the decoded block of a segment. It is immutable.
type Segment struct {
	CID         ipld.CID
	Docs, Kills int
	Sums        []int64
	sections    []section
}

// Ref names the segment in a List.
func (s *Segment) Ref() Ref { return Ref{CID: s.CID, Docs: s.Docs, Kills: s.Kills} }

// Parts returns how many parts a section has.
func (s *Segment) Parts(sec int) int { return s.sections[sec].parts }

func (f *Format) kind() string { return f.Name + " segment" }

// intsField is a list of want sums.
func intsField(r *ipld.Record, key string, list *[]int64, want int) {
	write := func(b []byte) []byte {
		b = ipld.AppendList(b, len(*list))
		for _, n := range *list {
			b = ipld.AppendInt(b, n)
		}
		return b
	}
	r.Field(key, write, func(d *ipld.Decoder) (err error) {
		*list, err = decodeInts(d, want)
		return err
	})
}

func (s *Segment) fields(f *Format) func(*ipld.Record) {
	return func(r *ipld.Record) {
		r.Begin(f.kind(), f.Version, nil)
		ipld.Number(r, "docs", &s.Docs, 0, int64(f.MaxDocs))
		intsField(r, "sums", &s.Sums, f.Sums)
		ipld.Number(r, "kills", &s.Kills, 0, int64(f.MaxDocs))
		write := func(b []byte) []byte {
			b = ipld.AppendList(b, len(s.sections))
			for i := range s.sections {
				b = s.sections[i].append(b)
			}
			return b
		}
		r.Field("sections", write, func(d *ipld.Decoder) (err error) {
			s.sections, err = f.decodeSections(d)
			return err
		})
	}
}

func (f *Format) encode(s *Segment) []byte { return ipld.WriteRecord(1024, s.fields(f)) }

// Decode reads the block of a segment.
func (f *Format) Decode(c ipld.CID, block []byte) (*Segment, error) {
	s := &Segment{CID: c}
	_, err := ipld.ReadRecord(block, s, s.fields(f), nil)
	if err != nil {
		return nil, Damaged(err)
	}
	if f.Check != nil {
		err = f.Check(s)
	}
	return s, err
}

func (f *Format) decodeSections(d *ipld.Decoder) ([]section, error) {
	n, err := d.List()
	if err == nil && n != len(f.Sections) {
		err = d.Errorf("%d sections, want %d", n, len(f.Sections))
	}
	list := make([]section, len(f.Sections))
	for i := range list {
		if err == nil {
			list[i], err = decodeSection(d)
		}
	}
	return list, err
}

func decodeInts(d *ipld.Decoder, want int) ([]int64, error) {
	n, err := d.List()
	if err == nil && n != want {
		err = d.Errorf("%d sums, want %d", n, want)
	}
	list := make([]int64, want)
	for i := range list {
		if err != nil {
			break
		}
		if list[i], err = d.Int(); err == nil && (list[i] < -maxCount || list[i] > maxCount) {
			err = d.Errorf("sum %d is out of bounds", list[i])
		}
	}
	return list, err
}

func decodeCount(d *ipld.Decoder, most int) (int, error) {
	n, err := d.Int()
	if err == nil && (n < 0 || n > int64(most)) {
		err = d.Errorf("%d is outside 0 to %d", n, most)
	}
	return int(n), err
}

// Damaged makes a decoder's error, unless nil, wrap store.ErrCorrupt: this package stored the data.
func Damaged(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", store.ErrCorrupt, err)
}

// Corrupt returns an error that wraps store.ErrCorrupt.
func Corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", store.ErrCorrupt, fmt.Sprintf(format, args...))
}

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
