package segment

import (
	"context"
	"fmt"

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

func appendInts(list []int64) func([]byte) []byte {
	return func(b []byte) []byte {
		b = ipld.AppendList(b, len(list))
		for _, n := range list {
			b = ipld.AppendInt(b, n)
		}
		return b
	}
}

func (f *Format) encode(s *Segment) []byte {
	w := ipld.NewRecord(nil, nil)
	w.Version(f.Version)
	w.Int("docs", int64(s.Docs))
	w.Kind(f.kind())
	w.Append("sums", appendInts(s.Sums))
	w.Int("kills", int64(s.Kills))
	w.Append("sections", func(b []byte) []byte {
		b = ipld.AppendList(b, len(s.sections))
		for i := range s.sections {
			b = s.sections[i].append(b)
		}
		return b
	})
	return w.Finish()
}

// Decode reads the block of a segment.
func (f *Format) Decode(c ipld.CID, block []byte) (*Segment, error) {
	s := &Segment{CID: c}
	seen := 0
	_, err := ipld.DecodeRecord(block, f.kind(), f.Version,
		func(key string, d *ipld.Decoder) (known bool, err error) {
			seen++
			switch key {
			case "docs":
				s.Docs, err = decodeCount(d, f.MaxDocs)
			case "kills":
				s.Kills, err = decodeCount(d, f.MaxDocs)
			case "sums":
				s.Sums, err = decodeInts(d, f.Sums)
			case "sections":
				s.sections, err = f.decodeSections(d)
			default:
				seen--
				return false, nil
			}
			return true, err
		})
	if err == nil && seen != 4 {
		err = fmt.Errorf("segment of %d fields, want 4", seen)
	}
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
