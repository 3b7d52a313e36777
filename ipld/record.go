package ipld

import (
	"fmt"
	"slices"
)

// A record is a map with a "kind", a version "v" and the fields of its kind. Unknown fields are preserved, so that
// rewriting a record of a later version loses nothing.
const (
	fieldKind    = "kind"
	fieldVersion = "v"
)

// RecordWriter appends one record. Fields must be written in canonical key order (shorter first, then bytewise);
// otherwise it panics, because the record could never be read again. Unknown fields are inserted in order.
type RecordWriter struct {
	buf   []byte
	start int // offset of the map's one-byte head
	count int
	last  string // key written last
	extra []Entry
}

// NewRecord starts a record in buf. extra holds unknown fields in canonical order; a written field replaces one
// with the same key.
func NewRecord(buf []byte, extra []Entry) *RecordWriter {
	return &RecordWriter{buf: append(buf, 0), start: len(buf), extra: extra}
}

// Field writes a field's key, whose value must be written next with one of the methods below.
func (w *RecordWriter) Field(key string) *RecordWriter {
	for len(w.extra) > 0 && CompareKeys(w.extra[0].Key, key) < 0 {
		w.writeExtra()
	}
	if len(w.extra) > 0 && w.extra[0].Key == key {
		w.extra = w.extra[1:]
	}
	w.writeKey(key)
	return w
}

func (w *RecordWriter) writeExtra() {
	e := w.extra[0]
	w.extra = w.extra[1:]
	w.writeKey(e.Key)
	w.buf = AppendValue(w.buf, e.Value)
}

func (w *RecordWriter) writeKey(key string) {
	if w.count > 0 && CompareKeys(w.last, key) >= 0 {
		panic("ipld: record field " + key + " written after " + w.last)
	}
	w.buf = AppendString(w.buf, key)
	w.last = key
	w.count++
}

// Kind writes the field "kind". The field "v" is separate, as other keys may come between the two.
func (w *RecordWriter) Kind(kind string) { w.Field(fieldKind); w.buf = AppendString(w.buf, kind) }

// Version writes the field "v".
func (w *RecordWriter) Version(v int64) { w.Field(fieldVersion); w.buf = AppendInt(w.buf, v) }

// Int writes an integer field.
func (w *RecordWriter) Int(key string, n int64) { w.Field(key); w.buf = AppendInt(w.buf, n) }

// String writes a string field.
func (w *RecordWriter) String(key, s string) { w.Field(key); w.buf = AppendString(w.buf, s) }

// OptString writes a string field unless s is empty.
func (w *RecordWriter) OptString(key, s string) {
	if s != "" {
		w.String(key, s)
	}
}

// Bytes writes a bytes field.
func (w *RecordWriter) Bytes(key string, b []byte) { w.Field(key); w.buf = AppendBytes(w.buf, b) }

// Link writes a link field.
func (w *RecordWriter) Link(key string, c CID) { w.Field(key); w.buf = AppendLink(w.buf, c) }

// OptLink writes a link field unless c is undefined.
func (w *RecordWriter) OptLink(key string, c CID) {
	if c.Defined() {
		w.Link(key, c)
	}
}

// Links writes a field that is a list of links.
func (w *RecordWriter) Links(key string, links []CID) {
	w.Field(key)
	w.buf = AppendList(w.buf, len(links))
	for _, c := range links {
		w.buf = AppendLink(w.buf, c)
	}
}

// Value writes a field of any kind.
func (w *RecordWriter) Value(key string, v Value) { w.Field(key); w.buf = AppendValue(w.buf, v) }

// Append writes a field whose value fn appends.
func (w *RecordWriter) Append(key string, fn func(b []byte) []byte) {
	w.Field(key)
	w.buf = fn(w.buf)
}

// Finish ends the record and returns the buffer.
func (w *RecordWriter) Finish() []byte {
	for len(w.extra) > 0 {
		w.writeExtra()
	}
	if w.count <= smallHead {
		w.buf[w.start] = majorMap<<5 | byte(w.count)
		return w.buf
	}
	// A record with many unknown fields needs a longer head than the byte reserved for it.
	head := AppendMap(nil, w.count)
	return slices.Replace(w.buf, w.start, w.start+1, head...)
}

// DecodeRecord reads block as one record of the given kind and version. field is called for every other key, in
// canonical order, and must consume the value and return true, or consume nothing and return false, which puts the
// field into extra. Its first error ends the decoding.
func DecodeRecord(
	block []byte, kind string, version int64, field func(key string, d *Decoder) (bool, error),
) (extra []Entry, err error) {
	d, err := NewDecoder(block)
	if err != nil {
		return nil, err
	}
	extra, err = d.Record(kind, version, field)
	if err != nil {
		return nil, fmt.Errorf("%s record: %w", kind, err)
	}
	if err := d.End(); err != nil {
		return nil, err
	}
	return extra, nil
}

// Record reads one record as DecodeRecord does, in the middle of a block.
func (d *Decoder) Record(
	kind string, version int64, field func(key string, d *Decoder) (bool, error),
) (extra []Entry, err error) {
	var sawKind, sawVersion bool
	err = d.Map(func(key string) error {
		switch key {
		case fieldKind:
			sawKind = true
			return d.expectKind(kind)
		case fieldVersion:
			sawVersion = true
			return d.expectVersion(version)
		}
		known, err := field(key, d)
		if err != nil || known {
			return err
		}
		v, err := d.Value()
		extra = append(extra, Entry{key, v})
		return err
	})
	if err == nil && (!sawKind || !sawVersion) {
		err = d.fail("not a %s record: no kind or version", kind)
	}
	return extra, err
}

func (d *Decoder) expectKind(want string) error {
	got, err := d.textBytes()
	if err == nil && string(got) != want {
		err = d.fail("record of kind %q, want %q", shorten(string(got)), want)
	}
	return err
}

func (d *Decoder) expectVersion(want int64) error {
	got, err := d.Int()
	if err == nil && got != want {
		err = d.fail("record version %d, want %d", got, want)
	}
	return err
}

// RecordKind returns the kind of the record in block, of any version, or "" if the block is not a record.
func RecordKind(block []byte) string {
	if Check(block) != nil {
		return ""
	}
	return PeekKind(block)
}

// PeekKind returns the same as RecordKind for a canonical block, and anything for another: it reads the fields up
// to the kind and does not check what it skips.
func PeekKind(block []byte) string {
	p := peeker{block}
	major, n, ok := p.head()
	if !ok || major != majorMap {
		return ""
	}
	sawVersion := false
	for range n {
		key, ok := p.text()
		if !ok || len(key) > len(fieldKind) {
			return ""
		}
		switch string(key) {
		case fieldKind:
			kind, ok := p.text()
			if !ok || !sawVersion {
				return ""
			}
			return string(kind)
		case fieldVersion: // before the kind, as it is shorter
			if major, _, ok := p.head(); !ok || major > majorNeg {
				return ""
			}
			sawVersion = true
			continue
		}
		if !p.skip() {
			return ""
		}
	}
	return ""
}

// peeker skips over items without validating them. It never leaves the block.
type peeker struct{ rest []byte }

// head reads an item's head.
func (p *peeker) head() (major byte, n uint64, ok bool) {
	if len(p.rest) == 0 {
		return 0, 0, false
	}
	first := p.rest[0]
	p.rest = p.rest[1:]
	major, n = first>>5, uint64(first&0x1f)
	if n <= smallHead {
		return major, n, true
	}
	width := 1 << (n - smallHead - 1)
	if n > 27 || len(p.rest) < width {
		return 0, 0, false
	}
	n = 0
	for _, b := range p.rest[:width] {
		n = n<<8 | uint64(b)
	}
	p.rest = p.rest[width:]
	return major, n, true
}

func (p *peeker) take(n uint64) ([]byte, bool) {
	if n > uint64(len(p.rest)) {
		return nil, false
	}
	b := p.rest[:n]
	p.rest = p.rest[n:]
	return b, true
}

func (p *peeker) text() ([]byte, bool) {
	major, n, ok := p.head()
	if !ok || major != majorText {
		return nil, false
	}
	return p.take(n)
}

// skip skips one item and everything in it.
func (p *peeker) skip() bool {
	for left := uint64(1); left > 0; left-- {
		major, n, ok := p.head()
		if !ok {
			return false
		}
		switch major {
		case majorBytes, majorText:
			if _, ok := p.take(n); !ok {
				return false
			}
		case majorList, majorMap:
			if n > uint64(len(p.rest)) { // each item takes a byte at least
				return false
			}
			left += n
			if major == majorMap {
				left += n
			}
		case majorTag:
			left++
		}
	}
	return true
}
