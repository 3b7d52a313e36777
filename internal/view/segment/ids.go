package segment

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/mnem-project/mnem/graph"
)

// Sections of a format that identifies documents by id, and kills by the id of the killed document. The position of
// an id in IDs is the number of its document.
const (
	IDs = iota
	Dead
)

// IDsPerPart is the number of ids in each part of IDs and Dead but the last.
const IDsPerPart = 2048

// IDPart is a concatenation of ids, ascending.
type IDPart []byte

// Len returns the number of ids.
func (p IDPart) Len() int { return len(p) / graph.IDLen }

// At returns an id.
func (p IDPart) At(i int) []byte { return p[i*graph.IDLen : (i+1)*graph.IDLen] }

// Find returns the position of the first id that is not below id, and whether it equals id.
func (p IDPart) Find(id graph.ID) (int, bool) {
	h := binary.BigEndian.Uint64(id[:])
	low, high := 0, p.Len()
	for low < high {
		mid := int(uint(low+high) / 2)
		at := binary.BigEndian.Uint64(p[mid*graph.IDLen:])
		if at < h || at == h && bytes.Compare(p.At(mid), id[:]) < 0 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, low < p.Len() && graph.ID(p.At(low)) == id
}

// DecodeIDs reads n ids.
func DecodeIDs(data []byte, n int) (IDPart, error) {
	p := IDPart(data)
	if len(data) != n*graph.IDLen {
		return nil, Corrupt("%d bytes of ids, want %d ids", len(data), n)
	}
	for i := 1; i < n; i++ {
		if bytes.Compare(p.At(i-1), p.At(i)) >= 0 {
			return nil, Corrupt("id %x after %x", p.At(i), p.At(i-1))
		}
	}
	return p, nil
}

// AddDoc adds the id of a document, above those before.
func (w *Writer) AddDoc(id graph.ID) error { return w.addID(IDs, &w.Docs, id) }

// AddKill adds the id of a killed document, above those before.
func (w *Writer) AddKill(id graph.ID) error { return w.addID(Dead, &w.Kills, id) }

func (w *Writer) addID(sec int, n *int, id graph.ID) error {
	if *n == w.format.MaxDocs {
		return fmt.Errorf("segment of more than %d documents or kills", *n)
	}
	s := w.Section(sec)
	if *n%IDsPerPart == 0 {
		if err := s.Cut(); err != nil {
			return err
		}
		s.Key = id[:]
	}
	s.Buf = append(s.Buf, id[:]...)
	*n++
	return nil
}

// CheckIDs compares the numbers of parts of IDs and Dead with the numbers of documents and kills.
func (s *Segment) CheckIDs() error {
	parts := func(n int) int { return (n + IDsPerPart - 1) / IDsPerPart }
	if s.Parts(IDs) != parts(s.Docs) || s.Parts(Dead) != parts(s.Kills) {
		return Corrupt("segment of %d documents and %d kills has %d and %d parts of ids", s.Docs, s.Kills,
			s.Parts(IDs), s.Parts(Dead))
	}
	return nil
}

// IDList returns part n of IDs or Dead.
func (r *Reader) IDList(ctx context.Context, s *Segment, sec, n int) (IDPart, error) {
	total := s.Docs
	if sec == Dead {
		total = s.Kills
	}
	return Part(ctx, r, s, sec, n, func(key, data []byte) (IDPart, int, error) {
		p, err := DecodeIDs(data, min(IDsPerPart, total-n*IDsPerPart))
		if err == nil && !bytes.Equal(p.At(0), key) {
			err = Corrupt("ids begin with %x", p.At(0))
		}
		return p, len(data), err
	})
}

// EachID calls fn with every id of IDs or Dead in order.
func (r *Reader) EachID(ctx context.Context, s *Segment, sec int, fn func(graph.ID) error) error {
	for c := r.IDCursor(s, sec); ; c.N++ {
		id, err := c.Peek(ctx)
		if err == nil && id != nil {
			err = fn(graph.ID(id))
		}
		if id == nil || err != nil {
			return err
		}
	}
}

// IDFinder finds documents by id. It caches the parts that it has read.
type IDFinder struct {
	r     *Reader
	s     *Segment
	pages []*idPage // part n is in page n / idPageParts, nil if none of its parts was read
}

// idPageParts is how many parts share a page of an IDFinder: a query that looks up a few ids in a segment of 10^7
// allocates a page for each and the short list of pages, not a slot for every part of the segment.
const idPageParts = 64

type idPage [idPageParts]IDPart

// IDFinder returns a finder of the documents of a segment.
func (r *Reader) IDFinder(s *Segment) IDFinder { return IDFinder{r: r, s: s} }

// Find returns the number of the document with an id.
func (f *IDFinder) Find(ctx context.Context, id graph.ID) (doc uint32, ok bool, err error) {
	n, err := f.r.Find(ctx, f.s, IDs, id[:])
	if n < 0 || err != nil {
		return 0, false, err
	}
	part, err := f.part(ctx, n)
	if err != nil {
		return 0, false, err
	}
	i, ok := part.Find(id)
	if !ok {
		return 0, false, nil
	}
	return uint32(n*IDsPerPart + i), true, nil
}

func (f *IDFinder) part(ctx context.Context, n int) (part IDPart, err error) {
	if f.pages == nil {
		f.pages = make([]*idPage, (f.s.Parts(IDs)+idPageParts-1)/idPageParts)
	}
	page := &f.pages[n/idPageParts]
	if *page == nil {
		*page = new(idPage)
	}
	at := &(*page)[n%idPageParts]
	if *at == nil {
		*at, err = f.r.IDList(ctx, f.s, IDs, n)
	}
	return *at, err
}

// IDCursor walks IDs or Dead. N may be moved forward.
type IDCursor struct {
	N     int // position
	r     *Reader
	s     *Segment
	sec   int
	total int
	part  IDPart
	from  int // position of the part's first id
}

// IDCursor returns a cursor at the first id.
func (r *Reader) IDCursor(s *Segment, sec int) IDCursor {
	c := IDCursor{r: r, s: s, sec: sec, total: s.Docs}
	if sec == Dead {
		c.total = s.Kills
	}
	return c
}

// Peek returns the id at the position, nil at the end.
func (c *IDCursor) Peek(ctx context.Context) ([]byte, error) {
	if c.N-c.from < c.part.Len() {
		return c.part.At(c.N - c.from), nil
	}
	if c.N == c.total {
		return nil, nil
	}
	last := c.part
	var err error
	if c.part, err = c.r.IDList(ctx, c.s, c.sec, c.N/IDsPerPart); err != nil {
		return nil, err
	}
	c.from = c.N / IDsPerPart * IDsPerPart
	if last != nil && bytes.Compare(last.At(last.Len()-1), c.part.At(0)) >= 0 {
		return nil, c.r.Wrap(c.s, c.sec, Corrupt("id %x out of order", c.part.At(0)))
	}
	return c.part.At(c.N - c.from), nil
}

// take reports whether the cursor stands at id, and moves past it.
func (c *IDCursor) take(ctx context.Context, id graph.ID) (bool, error) {
	next, err := c.Peek(ctx)
	if err != nil || !bytes.Equal(next, id[:]) {
		return false, err
	}
	c.N++
	return true, nil
}

// MergeIDs walks the ids of consecutive segments, oldest first, in ascending order. It calls kill with ids of
// killed documents older than the run, which is damage if none is older (oldest), and then keep with ids of live
// documents, their segments and numbers.
//
// The history of an id is read from the oldest segment to the newest, in each a kill before a document: a leading
// kill hits something older than the run, and a final document is alive.
func (r *Reader) MergeIDs(
	ctx context.Context, segs []*Segment, oldest bool,
	kill func(graph.ID) error, keep func(id graph.ID, seg, doc int) error,
) error {
	cursors := make([][2]IDCursor, len(segs))
	for i, s := range segs {
		cursors[i] = [2]IDCursor{r.IDCursor(s, IDs), r.IDCursor(s, Dead)}
	}
	for {
		low, err := least(ctx, cursors)
		if err != nil || low == nil {
			return err
		}
		id := graph.ID(low)
		live, killed, err := settle(ctx, cursors, id)
		if err == nil && killed && oldest {
			err = Corrupt("kill of %s, which there is not", id)
		}
		if err == nil && killed {
			err = kill(id)
		}
		if err == nil && live >= 0 {
			err = keep(id, live, cursors[live][IDs].N-1)
		}
		if err != nil {
			return err
		}
	}
}

// least returns the smallest id at the cursors, nil at the end of all.
func least(ctx context.Context, cursors [][2]IDCursor) (low []byte, err error) {
	for i := range cursors {
		for sec := range cursors[i] {
			id, err := cursors[i][sec].Peek(ctx)
			if err != nil {
				return nil, err
			}
			if id != nil && (low == nil || bytes.Compare(id, low) < 0) {
				low = id
			}
		}
	}
	return low, nil
}

// settle moves the cursors past an id. It returns the segment whose document with that id is alive, or -1, and
// whether an older document than the run is killed.
func settle(ctx context.Context, cursors [][2]IDCursor, id graph.ID) (live int, killed bool, err error) {
	live = -1
	first := true
	for i := range cursors {
		kill, err := cursors[i][Dead].take(ctx, id)
		if err != nil {
			return 0, false, err
		}
		if kill {
			killed = killed || first
			if !first && live < 0 {
				return 0, false, Corrupt("second kill of %s", id)
			}
			first, live = false, -1
		}
		add, err := cursors[i][IDs].take(ctx, id)
		if err != nil {
			return 0, false, err
		}
		if add {
			if live >= 0 {
				return 0, false, Corrupt("%s is there twice", id)
			}
			first, live = false, i
		}
	}
	return live, killed, nil
}

// Bitset is a set of document numbers. The nil Bitset is empty and cannot be added to.
type Bitset []uint64

// NewBitset returns an empty set for numbers below n.
func NewBitset(n int) Bitset { return make(Bitset, (n+63)/64) }

// Set adds a number.
func (s Bitset) Set(i uint32) { s[i/64] |= 1 << (i % 64) }

// Has reports whether a number is in the set.
func (s Bitset) Has(i uint32) bool { return s != nil && s[i/64]>>(i%64)&1 == 1 }
