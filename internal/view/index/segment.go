package index

import (
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// Format is the format of text indexes. A segment has the sums "totals" and "filled" of its documents less those of the
// documents it kills.
var Format = &segment.Format{
	Name: "texts", Version: 6, Sums: 2 * Fields, Totals: totals,
	Sections: []segment.Spec{
		secIDs: {Name: "ids", MaxPart: maxPart}, secDead: {Name: "dead", MaxPart: maxPart},
		secLens: {Name: "lens", MaxPart: maxPart}, secMeta: {Name: "meta", MaxPart: maxPart},
		secLarge: {Name: "large", MaxPart: ipld.MaxBlock}, secPosts: {Name: "posts", MaxPart: maxPart},
		secProps: {Name: "props", MaxPart: maxPart}, secTerms: {Name: "terms", MaxPart: maxPart},
		secTitles: {Name: "titles", MaxPart: maxPart},
	},
	Inline: maxInline, MaxDocs: maxDocs, MaxSegments: maxSegments, MaxWaiting: maxWaiting,
	CacheBytes: defaultCache, Check: checkSegment, Merge: merge,
}

// Sections of a segment.
const (
	secIDs  = segment.IDs
	secDead = segment.Dead
	secLens = iota
	secMeta
	secLarge
	secPosts
	secProps
	secTerms
	secTitles
	sections
)

// sums are signed per-field statistics: of a segment's documents less those of the documents it kills, or of a
// collection.
type sums [Fields]int64

// sumsOf returns the statistics of a segment: terms of each field, and documents with one.
func sumsOf(s *segment.Segment) (terms, filled sums) {
	return sums(s.Sums[:Fields]), sums(s.Sums[Fields:])
}

// checkSegment compares the numbers of parts that follow from the number of documents.
func checkSegment(s *segment.Segment) error {
	want := func(n int) int { return (n + docsPerPart - 1) / docsPerPart }
	if s.Parts(secIDs) != want(s.Docs) || s.Parts(secLens) != want(s.Docs) ||
		s.Parts(secDead) != want(s.Kills) {
		return segment.Corrupt("segment of %d documents and %d kills has %d, %d and %d parts", s.Docs,
			s.Kills, s.Parts(secIDs), s.Parts(secLens), s.Parts(secDead))
	}
	return nil
}

// partDocs returns how many of n entries part p of docsPerPart each holds.
func partDocs(n, p int) int { return min(docsPerPart, n-p*docsPerPart) }
