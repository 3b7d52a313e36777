// Package sqlite reads tables of SQLite databases: rows in the order of their numbers, and columns of them. It knows
// no SQL but the names in CREATE TABLE, uses no index, and writes nothing. Changes that are still in the write-ahead
// log are read from there. Any bytes may come: every page, length and chain is checked before it is followed.
//
// A file consists of pages, numbered from 1. The first begins with 100 bytes about the file:
//
//	0   16  "SQLite format 3" and a zero byte
//	16   2  size of a page, 1 for 65,536
//	20   1  bytes at the end of each page that are not used
//	56   4  encoding of texts, 1 for UTF-8
//
// A table is a tree of pages: inner ones (5) of the numbers of pages and the largest row in them, and leaves (13) of
// rows. A row has the length of its record, its number, the record's first bytes and the page with the next ones, which
// begins with the number of the page after it. A record begins with the length of its head and the types of its
// columns. The first tree has a row for each table: type, name, table, first page, and the text that made it.
//
// The log has 32 bytes about itself and then frames of 24 bytes and a page. A frame counts if it has the two salts of the
// log and the checksum of everything before it, and if it ends a commit or comes before the end of one.
package sqlite

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// ErrDamaged marks the error for bytes that no database has.
var ErrDamaged = errors.New("not a readable SQLite database")

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

const (
	// Magic begins every database.
	Magic      = "SQLite format 3\x00"
	headerSize = 100
	minPage    = 512
	maxPage    = 65_536
	maxDepth   = 40 // of a tree: one of 2^32 pages has fewer levels
	maxTables  = 10_000
	maxSchema  = 1 << 20 // bytes of the text of a table
	maxColumns = 2000
	leastRow   = 2  // bytes of a row before its record: its length and its number
	rereads    = 16 // how often the page of a chain is read at most, on average
)

// Sized is a file of known size.
type Sized struct {
	io.ReaderAt
	Size int64
}

// Database is one that is read. Not safe for concurrent use.
type Database struct {
	file   Sized
	log    Sized
	frames map[uint32]int64 // where the log has a page
	pages  uint32
	size   int // of a page
	used   int // bytes of it that are used
	tables []Table
	buf    []byte // a page of a chain
	chains int64  // how many pages of chains may still be read: pages may lead to one another
}

// Table is one table.
type Table struct {
	Name    string
	Columns []string
	root    uint32
}

// Column returns the place of a column, -1 if there is none.
func (t *Table) Column(name string) int {
	for i, c := range t.Columns {
		if c == name {
			return i
		}
	}
	return -1
}

// Open reads the head of a database and its tables. log is its write-ahead log, of size 0 if there is none.
func Open(file, log Sized) (*Database, error) {
	head := make([]byte, headerSize)
	if _, err := file.ReadAt(head, 0); err != nil || !bytes.HasPrefix(head, []byte(Magic)) {
		return nil, damaged("no header")
	}
	d := &Database{file: file, log: log, size: int(binary.BigEndian.Uint16(head[16:]))}
	if d.size == 1 {
		d.size = maxPage
	}
	if d.size < minPage || d.size > maxPage || d.size&(d.size-1) != 0 {
		return nil, damaged("pages of %d bytes", d.size)
	}
	if d.used = d.size - int(head[20]); d.used < 480 {
		return nil, damaged("%d bytes of a page are used", d.used)
	}
	if enc := binary.BigEndian.Uint32(head[56:]); enc > 1 {
		return nil, damaged("texts are not UTF-8")
	}
	d.pages = uint32(min(file.Size/int64(d.size), 1<<32-2))
	d.buf = make([]byte, d.size)
	if err := d.readLog(); err != nil {
		return nil, err
	}
	d.chains = rereads*(int64(d.pages)+int64(len(d.frames))) + 1000
	return d, d.readTables()
}

// Table returns a table; ok is false if there is none of that name.
func (d *Database) Table(name string) (t *Table, ok bool) {
	for i := range d.tables {
		if d.tables[i].Name == name {
			return &d.tables[i], true
		}
	}
	return nil, false
}

// page reads a page into p.
func (d *Database) page(p []byte, n uint32) error {
	at, in := int64(n-1)*int64(d.size), d.file
	if frame, ok := d.frames[n]; ok {
		at, in = frame, d.log
	} else if n == 0 || n > d.pages {
		return damaged("there is no page %d", n)
	}
	if _, err := in.ReadAt(p, at); err != nil {
		return damaged("page %d: %v", n, err)
	}
	return nil
}

func (d *Database) readTables() error {
	schema := &Table{Name: "sqlite_schema", Columns: make([]string, 5), root: 1}
	return d.Each(schema, func(r *Row) error {
		if kind, _ := r.Text(0, 16); kind != "table" {
			return nil
		}
		name, ok := r.Text(1, maxSchema)
		root, isInt := r.Int(3)
		text, hasText := r.Text(4, maxSchema)
		if !ok || !isInt || !hasText || root <= 0 || root > 1<<32-2 {
			return nil // virtual, or not readable: it is as if absent
		}
		if len(d.tables) == maxTables {
			return damaged("more than %d tables", maxTables)
		}
		d.tables = append(d.tables, Table{name, columnsOf(text), uint32(root)})
		return nil
	})
}

// Place is where a row is.
type Place struct {
	page uint32
	cell uint16
}

// cursor walks the pages of a tree.
type cursor struct {
	d     *Database
	seen  pageSet
	yield func(*Row) error
}

// Each calls yield with the rows of a table in the order of their numbers, and returns its first error. A row is valid
// until yield returns. Damaged is an error too, after the rows before it.
func (d *Database) Each(t *Table, yield func(*Row) error) error {
	c := &cursor{d, pageSet{of: d.pages}, yield}
	return c.walk(t.root, 0)
}

// pageSet is a set of pages, most of them up to a number.
type pageSet struct {
	of    uint32
	bits  []uint64
	other map[uint32]bool
}

// add adds a page; ok is false if it was there.
func (s *pageSet) add(n uint32) (ok bool) {
	if n > s.of {
		if s.other == nil {
			s.other = make(map[uint32]bool)
		}
		ok = !s.other[n]
		s.other[n] = true
		return ok
	}
	if s.bits == nil {
		s.bits = make([]uint64, s.of/64+1)
	}
	word, bit := &s.bits[n/64], uint64(1)<<(n%64)
	ok = *word&bit == 0
	*word |= bit
	return ok
}

func (c *cursor) walk(n uint32, depth int) error {
	if depth > maxDepth || !c.seen.add(n) {
		return damaged("page %d is reached again", n)
	}
	p, err := c.d.open(n)
	if err != nil {
		return err
	}
	switch p.kind {
	case 5:
		for i := range p.cells {
			at, err := p.cell(i, 4)
			if err != nil {
				return err
			}
			if err := c.walk(binary.BigEndian.Uint32(p.data[at:]), depth+1); err != nil {
				return err
			}
		}
		return c.walk(p.right, depth+1)
	case 13:
		taken := 0
		for i := range p.cells {
			row, err := p.row(i)
			if err == nil {
				// Rows of one page do not overlap: a page is no more work than its bytes.
				if taken += leastRow + len(row.local); taken > c.d.used {
					return damaged("page %d: its rows overlap", n)
				}
				err = c.yield(row)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return damaged("page %d is none of a table: %d", n, p.kind)
}

// At returns the row at a place that a row of Each had.
func (d *Database) At(at Place) (*Row, error) {
	p, err := d.open(at.page)
	if err != nil {
		return nil, err
	}
	if p.kind != 13 || int(at.cell) >= p.cells {
		return nil, damaged("page %d has no row %d", at.page, at.cell)
	}
	return p.row(int(at.cell))
}

// treePage is a page of a tree.
type treePage struct {
	d     *Database
	n     uint32
	data  []byte
	kind  byte
	cells int
	list  int    // where the places of cells begin
	right uint32 // of an inner page: the last child
}

func (d *Database) open(n uint32) (*treePage, error) {
	p := &treePage{d: d, n: n, data: make([]byte, d.size)}
	if err := d.page(p.data, n); err != nil {
		return nil, err
	}
	at := 0
	if n == 1 {
		at = headerSize
	}
	p.kind, p.cells, p.list = p.data[at], int(binary.BigEndian.Uint16(p.data[at+3:])), at+8
	if p.kind == 5 {
		p.right, p.list = binary.BigEndian.Uint32(p.data[at+8:]), at+12
	}
	if p.list+2*p.cells > d.used {
		return nil, damaged("page %d has %d cells", n, p.cells)
	}
	return p, nil
}

// cell returns where a cell of at least some bytes begins.
func (p *treePage) cell(i, least int) (int, error) {
	at := int(binary.BigEndian.Uint16(p.data[p.list+2*i:]))
	if at+least > p.d.used {
		return 0, damaged("page %d: cell %d is at %d", p.n, i, at)
	}
	return at, nil
}

// row reads the head of a row.
func (p *treePage) row(i int) (*Row, error) {
	at, err := p.cell(i, 2)
	if err != nil {
		return nil, err
	}
	rest := p.data[at:p.d.used]
	length, n := varint(rest)
	_, m := varint(rest[n:])
	if n == 0 || m == 0 || length < 0 {
		return nil, damaged("page %d: row %d has no length", p.n, i)
	}
	rest = rest[n+m:]
	r := &Row{d: p.d, Place: Place{p.n, uint16(i)}, length: length}
	local := length
	// A part of a long record is in the page, as much as leaves whole pages over.
	if u := int64(p.d.used); length > u-35 {
		least := (u-12)*32/255 - 23
		if local = least + (length-least)%(u-4); local > u-35 {
			local = least
		}
		if int64(len(rest)) < local+4 {
			return nil, damaged("page %d: row %d has no next page", p.n, i)
		}
		r.next = binary.BigEndian.Uint32(rest[local:])
	}
	if int64(len(rest)) < local {
		return nil, damaged("page %d: row %d has %d bytes", p.n, i, length)
	}
	r.local = rest[:local]
	return r, nil
}

// varint reads a number of up to 9 bytes, n is 0 if it has no end.
func varint(p []byte) (v int64, n int) {
	for i, c := range p[:min(len(p), 9)] {
		if i == 8 {
			return v<<8 | int64(c), 9
		}
		v = v<<7 | int64(c&0x7f)
		if c < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

const (
	logHead   = 32
	frameHead = 24
	logMagic  = 0x377f0682 // the last bit is the byte order of sums
)

// readLog finds the pages that the log has in place of those of the file.
func (d *Database) readLog() error {
	if d.log.Size < logHead {
		return nil
	}
	head := make([]byte, logHead)
	if _, err := d.log.ReadAt(head, 0); err != nil {
		return damaged("its log: %v", err)
	}
	magic := binary.BigEndian.Uint32(head)
	order := binary.ByteOrder(binary.LittleEndian)
	if magic&1 == 1 {
		order = binary.BigEndian
	}
	var sum checksum
	sum.add(order, head[:24])
	if magic&^1 != logMagic || binary.BigEndian.Uint32(head[8:]) != uint32(d.size) || !sum.is(head[24:]) {
		return nil // of no database, or left behind by an earlier one
	}
	frame := make([]byte, frameHead+d.size)
	pending := map[uint32]int64{}
	d.frames = map[uint32]int64{}
	in := io.NewSectionReader(d.log, logHead, d.log.Size-logHead)
	for at := int64(logHead); ; at += int64(len(frame)) {
		if _, err := io.ReadFull(in, frame); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		} else if err != nil {
			return damaged("its log: %v", err)
		}
		sum.add(order, frame[:8])
		sum.add(order, frame[frameHead:])
		if string(frame[8:16]) != string(head[16:24]) || !sum.is(frame[16:24]) {
			return nil // the rest belongs to an earlier log
		}
		pending[binary.BigEndian.Uint32(frame)] = at + frameHead
		if pages := binary.BigEndian.Uint32(frame[4:]); pages > 0 { // the end of a commit
			for n, at := range pending {
				d.frames[n] = at
			}
			clear(pending)
		}
	}
}

// checksum is the sum of a log.
type checksum struct{ a, b uint32 }

func (s *checksum) add(order binary.ByteOrder, p []byte) {
	for ; len(p) >= 8; p = p[8:] {
		s.a += order.Uint32(p) + s.b
		s.b += order.Uint32(p[4:]) + s.a
	}
}

func (s *checksum) is(p []byte) bool {
	return binary.BigEndian.Uint32(p) == s.a && binary.BigEndian.Uint32(p[4:]) == s.b
}
