package index

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/block/store"
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
	if n := (s.Docs + docsPerPart - 1) / docsPerPart; s.Parts(secLens) != n {
		return segment.Corrupt("segment of %d documents has %d parts of lengths", s.Docs, s.Parts(secLens))
	}
	return s.CheckIDs()
}

// The text fields of a node, in the order of clause 7.1.
const (
	FieldSummary = iota
	FieldContext
	FieldContent
	FieldProps
	FieldType
	FieldCues
	// Fields is the number of text fields.
	Fields
)

// Limits of the format. The package comment says which structure each belongs to.
const (
	// maxPart is the longest part in bytes, except in the section "large": a query reads little for one term, and
	// hashing a part takes some tens of microseconds.
	maxPart = 64 << 10
	// partSize is the length at which a part ends: with any one entry it stays below maxPart.
	partSize = 32 << 10
	// dictSize is the length at which a part of the dictionary ends. A query reads one of them for each term and needs
	// only a little of it.
	dictSize = 16 << 10
	// maxInline is the largest total of parts kept inside the segment's own block: the segment
	// of a small commit is one block.
	maxInline = 48 << 10
	// docsPerPart is the number of documents in each part of "ids" and "lens" but the last, and
	// of a window of the search.
	docsPerPart = 2048
	// maxDocs is the largest number of documents or of kills in one segment. It limits the allocations that a segment's
	// block can cause, and merges stay below it.
	maxDocs = 1 << 24
	// maxTerm is the longest term in bytes.
	maxTerm = text.MaxTermRunes * utf8.UTFMax
	// restartEvery is the number of dictionary entries from one full term to the next.
	restartEvery = 16
	// blockDocs is the number of postings in a block with its own maxima.
	blockDocs = 128
	// maxInlinePosts is the longest posting list in bytes that is stored in the dictionary: most terms occur in a few
	// documents, and reading a part for them would be waste.
	maxInlinePosts = 64
	// maxSmallItem is the longest property value in bytes inside a part of "props"; longer ones are parts of "large".
	maxSmallItem = 8 << 10
	// maxSegments is the largest number of segments in a manifest.
	maxSegments = 4096
	// maxWaiting is how many segments an index may have while a merge is waited for.
	maxWaiting = 128
	// maxCount bounds sums, so that any reader keeps them and no arithmetic overflows.
	maxCount = 1<<53 - 1
	// maxTF is the largest number of occurrences or length counted: content has at most 64 MiB.
	maxTF = 1<<32 - 1
)

// ErrAnalyser is returned when a manifest was made by another version of the analyser: the index must be rebuilt.
var ErrAnalyser = errors.New("index of another analyser")

// input reads the bytes of a part. The first error sets bad, and then every read returns zero values; callers check bad
// once, at any point.
type input struct {
	b   []byte
	pos int
	bad bool
}

func (in *input) fail()      { in.bad = true }
func (in *input) done() bool { return in.bad || in.pos == len(in.b) }

// uint reads a varint of the shortest form that is at most limit.
func (in *input) uint(limit uint64) uint64 {
	if !in.bad && in.pos < len(in.b) {
		if c := in.b[in.pos]; c < 0x80 && uint64(c) <= limit {
			in.pos++
			return uint64(c)
		}
	}
	return in.longUint(limit)
}

func (in *input) longUint(limit uint64) uint64 {
	if in.bad {
		return 0
	}
	n, width := binary.Uvarint(in.b[in.pos:])
	if width <= 0 || n > limit || width > 1 && in.b[in.pos+width-1] == 0 {
		in.bad = true
		return 0
	}
	in.pos += width
	return n
}

// int reads a zigzag varint.
func (in *input) int() int64 {
	u := in.uint(1<<64 - 1)
	return int64(u>>1) ^ -int64(u&1)
}

func (in *input) byte() byte {
	if in.bad || in.pos >= len(in.b) {
		in.bad = true
		return 0
	}
	in.pos++
	return in.b[in.pos-1]
}

// take returns the next n bytes, a part of the input.
func (in *input) take(n uint64) []byte {
	if in.bad || n > uint64(len(in.b)-in.pos) {
		in.bad = true
		return nil
	}
	in.pos += int(n)
	return in.b[in.pos-int(n) : in.pos : in.pos]
}

func putUint(b []byte, n uint64) []byte { return binary.AppendUvarint(b, n) }

func putInt(b []byte, n int64) []byte {
	return binary.AppendUvarint(b, uint64(n)<<1^uint64(n>>63))
}

// docKey is the directory key of a part that starts at a document number.
func docKey(doc uint32) []byte { return binary.BigEndian.AppendUint32(nil, doc) }

// Stats are the collection statistics of clause 7.2.
type Stats struct {
	Nodes  int64         // N, the number of nodes
	Terms  [Fields]int64 // T of each field: its terms in all nodes
	Filled [Fields]int64 // D of each field: the nodes in which it has a term
}

// Manifest is the index of one graph: segments, the oldest first, and their sums.
type Manifest struct {
	Analyser int64  // version of the analyser
	Language string // its language
	Stats    Stats
	segment.List
}

// totals is how many sums a manifest has: the analyser's version, nodes, and what a segment has.
const totals = 2 + 2*Fields

func (m *Manifest) record() *segment.Manifest {
	sums := append([]int64{m.Analyser, m.Stats.Nodes}, m.Stats.Terms[:]...)
	return &segment.Manifest{
		Sums: append(sums, m.Stats.Filled[:]...), Text: m.Language, List: m.List,
	}
}

func ofRecord(r *segment.Manifest) (*Manifest, error) {
	for _, n := range r.Sums {
		if n < 0 {
			return nil, segment.Corrupt("sum %d of a manifest", n)
		}
	}
	m := &Manifest{Analyser: r.Sums[0], Language: r.Text, List: r.List}
	m.Stats = Stats{r.Sums[1], sums(r.Sums[2 : 2+Fields]), sums(r.Sums[2+Fields:])}
	return m, m.check()
}

// check compares sums that follow from each other.
func (m *Manifest) check() error {
	nodes := int64(0)
	for _, s := range m.Segments {
		nodes += int64(s.Docs) - int64(s.Kills)
	}
	if nodes != m.Stats.Nodes {
		return segment.Corrupt("manifest of %d nodes, its segments have %d", m.Stats.Nodes, nodes)
	}
	for f := range Fields {
		filled, terms := m.Stats.Filled[f], m.Stats.Terms[f]
		if filled > nodes || filled > terms || filled == 0 && terms > 0 {
			return segment.Corrupt("field %d has %d terms in %d of %d nodes", f, terms, filled, nodes)
		}
	}
	return nil
}

// ReadManifest reads a manifest. It returns an error that wraps store.ErrCorrupt if the block is damaged.
func ReadManifest(ctx context.Context, get store.Getter, c ipld.CID) (*Manifest, error) {
	r, err := Format.ReadManifest(ctx, get, c)
	if err != nil {
		return nil, err
	}
	m, err := ofRecord(r)
	if err != nil {
		return nil, fmt.Errorf("read manifest %s: %w", c, err)
	}
	return m, nil
}
