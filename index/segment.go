package index

import (
	"github.com/mnem-project/mnem/ipld"
)

const (
	kindSegment = "segment"
	// Format is the version of every record of this package.
	Format = 2
)

// sums are signed per-field statistics: of a segment's documents less those of the documents it
// kills, or of a collection.
type sums [Fields]int64

// segment is the decoded block of a segment. It is immutable.
type segment struct {
	cid    ipld.CID
	docs   int
	kills  int
	terms  sums // terms of each field
	filled sums // documents with a term in each field
	sec    [sections]section
}

func (s *segment) encode() []byte {
	w := ipld.NewRecord(nil, nil)
	field := func(n int) { w.Append(sectionNames[n], s.sec[n].append) }
	w.Version(Format)
	field(secIDs)
	field(secDead)
	w.Int("docs", int64(s.docs))
	w.Kind(kindSegment)
	field(secLens)
	field(secMeta)
	w.Int("kills", int64(s.kills))
	field(secLarge)
	field(secPosts)
	field(secProps)
	field(secTerms)
	w.Append("filled", s.filled.append)
	field(secTitles)
	w.Append("totals", s.terms.append)
	return w.Finish()
}

func (s *sums) append(b []byte) []byte {
	b = ipld.AppendList(b, Fields)
	for _, n := range s {
		b = ipld.AppendInt(b, n)
	}
	return b
}

func (s *sums) decode(d *ipld.Decoder, low int64) error {
	n, err := d.List()
	if err != nil {
		return err
	}
	if n != Fields {
		return d.Errorf("%d sums, want %d", n, Fields)
	}
	for f := range s {
		if s[f], err = decodeCount(d, low, maxCount); err != nil {
			return err
		}
	}
	return nil
}

func decodeCount(d *ipld.Decoder, low, high int64) (int64, error) {
	n, err := d.Int()
	if err == nil && (n < low || n > high) {
		err = d.Errorf("count %d outside %d to %d", n, low, high)
	}
	return n, err
}

// segmentFields is the number of fields of a segment's record beside kind and version.
const segmentFields = sections + 4

func decodeSegment(cid ipld.CID, block []byte) (*segment, error) {
	s := &segment{cid: cid}
	seen := 0
	_, err := ipld.DecodeRecord(block, kindSegment, Format,
		func(key string, d *ipld.Decoder) (bool, error) {
			known, err := s.field(key, d)
			if known {
				seen++
			}
			return known, err
		})
	if err != nil {
		return nil, asDamage(err)
	}
	if seen != segmentFields {
		return nil, corrupt("segment of %d fields, want %d", seen, segmentFields)
	}
	return s, s.check()
}

func (s *segment) field(key string, d *ipld.Decoder) (known bool, err error) {
	var n int64
	switch key {
	case "docs":
		n, err = decodeCount(d, 0, maxDocs)
		s.docs = int(n)
		return true, err
	case "kills":
		n, err = decodeCount(d, 0, maxDocs)
		s.kills = int(n)
		return true, err
	case "totals":
		return true, s.terms.decode(d, -maxCount)
	case "filled":
		return true, s.filled.decode(d, -maxCount)
	}
	for i, name := range sectionNames {
		if key == name {
			s.sec[i], err = decodeSection(d)
			return true, err
		}
	}
	return false, nil
}

// check compares the numbers of parts that follow from the number of documents.
func (s *segment) check() error {
	want := func(n int) int { return (n + docsPerPart - 1) / docsPerPart }
	if s.sec[secIDs].parts != want(s.docs) || s.sec[secLens].parts != want(s.docs) ||
		s.sec[secDead].parts != want(s.kills) {
		return corrupt("segment of %d documents and %d kills has %d, %d and %d parts", s.docs,
			s.kills, s.sec[secIDs].parts, s.sec[secLens].parts, s.sec[secDead].parts)
	}
	return nil
}

// partDocs returns how many of n entries part p of docsPerPart each holds.
func partDocs(n, p int) int { return min(docsPerPart, n-p*docsPerPart) }
