package index

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// Draft analyses documents before their order in an index is known, such as those that a large commit makes, one after
// the other: Update need not be given documents that it finds in the draft. It takes about a third of the text's bytes.
// One goroutine fills a draft; then any goroutine may read it.
type Draft struct {
	b     *builder // its terms are the dictionary
	limit int
	room  DraftRoom
	types map[string]int
	names []string // of types

	pieces []draftPiece
	held   int                 // the first piece that is not in the room
	size   int                 // bytes of the pieces that are not
	docs   map[uint64]draftDoc // by draftKey; of two with the same key the later one
	full   bool
}

// DraftRoom stores the parts of a draft that do not fit in memory. Several goroutines read it.
type DraftRoom interface {
	// Add writes bytes and returns where ReadAt finds them.
	Add(b []byte) (at int64, err error)
	io.ReaderAt
}

// draftPiece has some records, in memory or in the room.
type draftPiece struct {
	data []byte // nil for those in the room
	at   int64
}

// draftDoc locates a record, which begins with its CID.
type draftDoc struct{ piece, at, size uint32 }

// Analysed is a document in a draft.
type Analysed struct {
	draft  *Draft
	record []byte
}

const (
	draftPieceBytes = 256 << 10
	// draftHeld is how many bytes of records stay in memory if there is a room.
	draftHeld = 2 * draftPieceBytes
	// draftDocBytes and draftTermBytes are the overhead of each document and each term.
	draftDocBytes, draftTermBytes = 40, 4
)

// NewDraft returns an empty draft for an index, that takes documents until
// it has about limit bytes in memory. If it is given a room it keeps their records there.
func NewDraft(limit int, room DraftRoom) *Draft {
	return &Draft{
		b: newBuilder(text.English), limit: limit, room: room, types: map[string]int{}, docs: map[uint64]draftDoc{},
	}
}

// Add analyses a document and stores it under a CID that identifies it. It keeps nothing of the document. A full draft
// ignores it.
func (d *Draft) Add(c ipld.CID, doc *Document) {
	used := d.size + d.b.lexicon.Bytes() + draftTermBytes*cap(d.b.places) + draftDocBytes*len(d.docs)
	if d.full = d.full || used >= d.limit; d.full {
		return
	}
	var buf []byte
	n := len(d.pieces)
	if n > d.held {
		buf = d.pieces[n-1].data
	}
	start := len(buf)
	b := d.append(c.Append(buf), doc)
	if cap(b) != cap(buf) { // it did not fit the piece: it begins the next one
		b = append(make([]byte, 0, max(draftPieceBytes, len(b)-start)), b[start:]...)
		start = 0
		if !d.spill() {
			return
		}
		d.pieces = append(d.pieces, draftPiece{})
		d.size += cap(b)
		n = len(d.pieces)
	}
	d.pieces[n-1].data = b
	d.docs[draftKey(c)] = draftDoc{uint32(n - 1), uint32(start), uint32(len(b) - start)}
}

// spill moves the pieces to the room if they take too much memory, and reports whether it could store all of them: if
// the room fails, the draft accepts no further documents.
func (d *Draft) spill() bool {
	if d.room == nil || d.size < draftHeld {
		return true
	}
	for ; d.held < len(d.pieces); d.held++ {
		p := &d.pieces[d.held]
		at, err := d.room.Add(p.data)
		if err != nil {
			d.full = true
			return false
		}
		d.size -= cap(p.data)
		p.data, p.at = nil, at
	}
	return true
}

// Seal ends a draft, to be read from then on.
func (d *Draft) Seal() {
	d.b.lexicon.Seal()
	d.b.places = nil
}

func draftKey(c ipld.CID) uint64 {
	digest := c.Digest()
	return binary.BigEndian.Uint64(digest[:])
}

// append appends what follows the CID: lengths, what filters ask for, properties, then each term by its number
// in the dictionary as a posting.
func (d *Draft) append(b []byte, doc *Document) []byte {
	b = appendLens(b, d.b.count(doc))
	m := doc.meta()
	typ, ok := d.types[m.typ]
	if !ok {
		typ = len(d.names)
		m.typ = strings.Clone(m.typ)
		d.types[m.typ] = typ
		d.names = append(d.names, m.typ)
	}
	b = m.append(putUint(b, uint64(typ)), 0)
	b = putUint(b, uint64(len(doc.Node.Props)))
	for _, e := range doc.Node.Props {
		b = append(putUint(b, uint64(len(e.Key))), e.Key...)
		item := ipld.AppendValue(d.b.scratch[:0], e.Value)
		b = append(putUint(b, uint64(len(item))), item...)
		d.b.scratch = item
	}
	b = putUint(b, uint64(len(d.b.touched)))
	for i := range d.b.touched {
		t := &d.b.touched[i]
		b = appendPosting(b, uint32(t.term), &t.tf)
	}
	return b
}

// Find returns the document under a CID, nil if there is none.
func (d *Draft) Find(c ipld.CID) (*Analysed, error) {
	if d == nil {
		return nil, nil
	}
	doc, ok := d.docs[draftKey(c)]
	if !ok {
		return nil, nil
	}
	b, err := d.record(doc)
	if err != nil {
		return nil, fmt.Errorf("read draft of a document: %w", err)
	}
	if !bytes.HasPrefix(b, c.Bytes()) {
		return nil, nil
	}
	return &Analysed{d, b[ipld.CIDLen:]}, nil
}

func (d *Draft) record(doc draftDoc) ([]byte, error) {
	p := &d.pieces[doc.piece]
	if p.data != nil {
		return p.data[doc.at:][:doc.size:doc.size], nil
	}
	b := make([]byte, doc.size)
	_, err := d.room.ReadAt(b, p.at+int64(doc.at))
	return b, err
}

func (b *builder) addAnalysed(c Change) error {
	d := c.Analysed.draft
	if b.draft != d {
		b.draft, b.drafted = d, nil
	}
	if n := d.b.lexicon.Len(); len(b.drafted) < n {
		b.drafted = append(b.drafted, make([]int32, n-len(b.drafted))...)
	}
	in := input{b: c.Analysed.record}
	var lens docLens
	for f := range lens {
		lens[f] = uint32(in.uint(maxTF))
	}
	m := docMeta{typ: d.names[in.uint(uint64(len(d.names)-1))]}
	m.decode(&in, 0)
	doc := b.addDoc(c.ID, m, lens)
	for range in.uint(maxCount) {
		name := in.take(in.uint(graph.MaxPropName))
		b.addProp(doc, string(name), in.take(in.uint(ipld.MaxBlock)))
	}
	for range in.uint(maxCount) {
		number := in.uint(uint64(len(b.drafted)) - 1)
		tfs := in.rawTFs()
		if in.bad {
			break
		}
		if b.drafted[number] == 0 {
			b.drafted[number] = int32(b.lexicon.Number(string(d.b.lexicon.Term(int(number))))) + 1
			b.grow()
		}
		t := &b.posts[b.drafted[number]-1]
		posts := append(putUint(t.posts, uint64(doc-t.next)), tfs...)
		b.size += len(posts) - len(t.posts)
		t.posts, t.next = posts, doc+1
		t.count++
	}
	b.measure()
	if in.bad || !in.done() {
		return segment.Corrupt("draft of document %s, of its own making, unreadable", c.ID)
	}
	return nil
}
