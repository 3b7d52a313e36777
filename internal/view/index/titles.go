package index

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/view/segment"
)

const (
	// titlesPerPart is the number of sums in each part of "titles" but the last.
	titlesPerPart = 8192
	// fewTitles is how many titles, each with its beginning, a segment has at most that is searched
	// together with others, these with titlesPerPart sums at most: in a grown memory most have few.
	fewTitles = 512
)

// titleSum is a hash of the terms of a title in order. Nearly all runs of words that are no titles are recognised by
// it, without a look at the dictionary.
type titleSum uint64

// termSum returns the hash of a term, FNV-1a, with its last bit set: 0 is no term.
func termSum(term string) uint64 {
	h := uint64(14_695_981_039_346_656_037)
	for i := range len(term) {
		h = (h ^ uint64(term[i])) * 1_099_511_628_211
	}
	return h | 1
}

// with returns the hash of the title that is longer by a term.
func (h titleSum) with(term uint64) titleSum {
	x := (bits.RotateLeft64(uint64(h), 25) ^ term) * 0x9e37_79b9_7f4a_7c15
	return titleSum(x ^ x>>32)
}

// stored returns the part of a title's hash that is stored.
func (h titleSum) stored() uint32 { return uint32(h>>32) &^ 1 }

// begun returns the stored part of the hash of the first beginTerms of a longer title. Most pairs of words begin no
// title: the longer runs that begin with them need not be looked up.
func (h titleSum) begun() uint32 { return uint32(h>>32) | 1 }

// beginTerms is how many terms a beginning has.
const beginTerms = 2

func sumOf(title []string) (h titleSum) {
	for _, term := range title {
		h = h.with(termSum(term))
	}
	return h
}

// appendSums appends the stored sums of the title with a key.
func appendSums(sums []uint32, key string) []uint32 {
	h := titleSum(0)
	rest, more := key[len(titleMark):], true
	for n := 1; more; n++ {
		var term string
		term, rest, more = strings.Cut(rest, titleMark)
		if h = h.with(termSum(term)); n == beginTerms && more {
			sums = append(sums, h.begun())
		}
	}
	return append(sums, h.stored())
}

// writeTitles writes "titles": the sums ascending, each once.
func writeTitles(w *segment.Section, sums []uint32) error {
	slices.Sort(sums)
	for part := range slices.Chunk(slices.Compact(sums), titlesPerPart) {
		for _, sum := range part {
			w.Buf = binary.BigEndian.AppendUint32(w.Buf, sum)
		}
		w.Key = bytes.Clone(w.Buf[:4])
		if err := w.Cut(); err != nil {
			return err
		}
	}
	return nil
}

// titlePart is a part of "titles", or several together: sums, ascending, and which of equal ranges of them have any.
// Sums are distributed evenly, so at most one range in eight has one, and most look-ups fail there.
type titlePart struct {
	sums   []uint32
	some   []uint64 // a bit for each range
	starts []uint16 // of the ranges of each word of some, the first sum; and their number
	shift  int      // a range is so many bits wide
}

// titleRanges is the number of ranges for each sum, at most.
const titleRanges = 16

func newTitlePart(sums []uint32) *titlePart {
	p := &titlePart{sums: sums}
	if len(sums) == 0 {
		return p
	}
	span := sums[len(sums)-1] - sums[0]
	p.shift = max(0, bits.Len32(span)-bits.Len(uint(titleRanges*len(sums)))+1)
	p.some = make([]uint64, span>>p.shift/64+1)
	p.starts = make([]uint16, 0, len(p.some)+1)
	for i, sum := range sums {
		at := (sum - sums[0]) >> p.shift
		p.some[at/64] |= 1 << (at % 64)
		for uint32(len(p.starts)) <= at/64 {
			p.starts = append(p.starts, uint16(i))
		}
	}
	p.starts = append(p.starts, uint16(len(sums)))
	return p
}

func decodeTitles(data []byte) (*titlePart, error) {
	n := len(data) / 4
	if len(data)%4 != 0 || n > titlesPerPart {
		return nil, segment.Corrupt("%d bytes of sums of titles", len(data))
	}
	sums := make([]uint32, n)
	for i := range sums {
		sums[i] = binary.BigEndian.Uint32(data[4*i:])
		if i > 0 && sums[i] <= sums[i-1] {
			return nil, segment.Corrupt("sum %x of a title after %x", sums[i], sums[i-1])
		}
	}
	return newTitlePart(sums), nil
}

func (p *titlePart) has(sum uint32) bool {
	if len(p.sums) == 0 || sum < p.sums[0] || sum > p.sums[len(p.sums)-1] {
		return false
	}
	at := (sum - p.sums[0]) >> p.shift
	if p.some[at/64]>>(at%64)&1 == 0 {
		return false
	}
	list := p.sums[p.starts[at/64]:p.starts[at/64+1]]
	if len(list) > 16 { // usually there are four
		_, ok := slices.BinarySearch(list, sum)
		return ok
	}
	for _, s := range list {
		if s >= sum {
			return s == sum
		}
	}
	return false
}

func (r *source) titles(ctx context.Context, s *segment.Segment, n int) (*titlePart, error) {
	return segment.Part(ctx, r.Reader, s, secTitles, n, func(_, data []byte) (*titlePart, int, error) {
		p, err := decodeTitles(data)
		return p, 2 * len(data), err
	})
}

// titleFinder looks titles up during one call, and can be reused in another: it keeps the parts that it has read. Not
// safe for concurrent use.
type titleFinder struct {
	ctx  context.Context
	x    *Index
	few  *titlePart // of all segments of few titles
	segs []titleSegment
}

// titleSegment holds the titles of one segment. A segment with few is opened when one of its titles is found.
type titleSegment struct {
	few    bool
	opened bool
	firsts []uint32     // the first sum of each part
	parts  []*titlePart // nil until it is read
}

// maxFinderParts is how many parts of "titles" an index has at most whose finders are used again, about 10 MB.
const maxFinderParts = 256

// titleFinder returns a finder, which its user leaves to the next one.
func (x *Index) titleFinder(ctx context.Context) (*titleFinder, error) {
	if f, ok := x.finders.Get().(*titleFinder); ok {
		f.ctx = ctx
		return f, nil
	}
	f := &titleFinder{ctx: ctx, x: x, segs: make([]titleSegment, len(x.segs))}
	room := titlesPerPart
	for n, s := range x.segs {
		most := 2 * (s.Docs + s.Kills)
		if s.Parts(secTitles) <= 1 && most <= min(2*fewTitles, room) {
			f.segs[n].few = true
			room -= most
		}
	}
	var err error
	f.few, err = x.fewTitles(f)
	return f, err
}

// leave ends the use of a finder.
func (f *titleFinder) leave() {
	parts := 0
	for _, s := range f.x.segs {
		parts += s.Parts(secTitles)
	}
	if parts <= maxFinderParts {
		f.ctx = nil
		f.x.finders.Put(f)
	}
}

// open finds out what parts a segment has.
func (f *titleFinder) open(n int) error {
	at, s := &f.segs[n], f.x.segs[n]
	if at.opened {
		return nil
	}
	parts := s.Parts(secTitles)
	at.parts, at.firsts = make([]*titlePart, parts), make([]uint32, parts)
	for i := range at.firsts {
		key, err := f.x.src.Key(f.ctx, s, secTitles, i)
		if err != nil {
			return err
		}
		if len(key) != 4 {
			return f.x.src.Wrap(s, secTitles, segment.Corrupt("directory key %.40x", key))
		}
		at.firsts[i] = binary.BigEndian.Uint32(key)
	}
	at.opened = true
	return nil
}

// fewTitles returns the sums of the segments of few titles, which are read once.
func (x *Index) fewTitles(f *titleFinder) (*titlePart, error) {
	x.mu.Lock()
	few := x.few
	x.mu.Unlock()
	if few != nil {
		return few, nil
	}
	// Two queries may both come here: they make the same.
	var sums []uint32
	for n := range f.segs {
		if !f.segs[n].few || x.segs[n].Parts(secTitles) == 0 {
			continue
		}
		p, err := x.src.titles(f.ctx, x.segs[n], 0)
		if err != nil {
			return nil, err
		}
		sums = append(sums, p.sums[:min(len(p.sums), 2*fewTitles)]...)
		if len(sums) > math.MaxUint16 { // positions in a part have 16 bits
			return nil, x.src.Wrap(x.segs[n], secTitles, segment.Corrupt("more titles than its documents have"))
		}
	}
	slices.Sort(sums)
	few = newTitlePart(slices.Compact(sums))
	x.mu.Lock()
	x.few = few
	x.mu.Unlock()
	return few, nil
}

func (f *titleFinder) part(n, i int) (*titlePart, error) {
	at := &f.segs[n]
	if at.parts[i] == nil {
		p, err := f.x.src.titles(f.ctx, f.x.segs[n], i)
		if err != nil {
			return nil, err
		}
		at.parts[i] = p
	}
	return at.parts[i], nil
}

// in reports whether a segment may have a title with a sum.
func (f *titleFinder) in(n int, sum uint32) (bool, error) {
	if err := f.open(n); err != nil {
		return false, err
	}
	firsts := f.segs[n].firsts
	if len(firsts) == 0 || sum < firsts[0] {
		return false, nil
	}
	// Sums are distributed evenly: this is the part, or a neighbour.
	i := int(uint64(sum) * uint64(len(firsts)) >> 32)
	for firsts[i] > sum {
		i--
	}
	for i+1 < len(firsts) && firsts[i+1] <= sum {
		i++
	}
	p, err := f.part(n, i)
	return err == nil && p.has(sum), err
}

// may reports whether the index may have a title with a stored hash, or one that begins with it. It errs about once in
// 2^31 times for each title.
func (f *titleFinder) may(sum uint32) (bool, error) {
	if f.few.has(sum) {
		return true, nil
	}
	for n := range f.segs {
		if f.segs[n].few {
			continue
		}
		if ok, err := f.in(n, sum); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// term is source.term of a title's key: segments that cannot have it are not asked.
func (f *titleFinder) term(n int, key string, h titleSum) (entry, error) {
	if ok, err := f.in(n, h.stored()); !ok || err != nil {
		return entry{}, err
	}
	e, _, err := f.x.src.term(f.ctx, f.x.segs[n], key)
	return e, err
}

// eachIn calls fn with possible titles among words, in order, until fn returns false: the index of the first word, the
// number of words, and the hash. Words are given by the hashes of their terms, 0 for one that is in no title.
func (f *titleFinder) eachIn(words []uint64, fn func(at, n int, h titleSum) (bool, error)) error {
	for i := range words {
		h := titleSum(0)
		for n := 1; n <= maxTitleTerms && i+n <= len(words) && words[i+n-1] != 0; n++ {
			h = h.with(words[i+n-1])
			ok, err := f.may(h.stored())
			if ok {
				ok, err = fn(i, n, h)
				if err == nil && !ok {
					return nil
				}
			}
			if err != nil {
				return err
			}
			if n != beginTerms {
				continue
			}
			if ok, err = f.may(h.begun()); err != nil {
				return err
			} else if !ok {
				break
			}
		}
	}
	return nil
}
