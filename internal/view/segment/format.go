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
