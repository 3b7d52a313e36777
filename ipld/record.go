package ipld

import (
	"errors"
	"fmt"
	"slices"
)

const (
	fieldKind    = "kind"
	fieldVersion = "v"
)

// ownFields are the fields that every record has besides those of its kind, in canonical order.
var ownFields = []string{fieldVersion, fieldKind}

// Record is a map that is written or read: one with a "kind", a version "v" and the fields of its kind, or a map inside
// of such a record. One function names its fields in canonical key order (shorter first, then bytewise) by calling the
// methods below, and so defines both directions. It must not change what it points to unless Reading reports true.
// Unknown fields are preserved, so that rewriting a record of a later version loses nothing.
type Record struct {
	kind    string
	version int64
	own     []string // ownFields still to come
	partial bool     // whether one of ownFields is missing
	names   []string // if not nil, collects the names of the fields instead

	d       *Decoder // nil to write
	left    int      // entries after key
	key     []byte   // the key read last
	held    bool     // whether its value is still to be read
	extra   *[]Entry // receives unknown fields; nil refuses them
	missing string   // the first required field that is not there
	err     error

	buf     []byte
	start   int // offset of the map's one-byte head
	count   int
	last    string  // key written last
	unknown []Entry // unknown fields still to be written
}

// WriteRecord returns the block of the record with these fields. size is its expected length in bytes. It panics if
// the fields are not in canonical order, because the record could never be read again.
func WriteRecord(size int, fields func(*Record)) []byte {
	r := &Record{buf: make([]byte, 0, size)}
	r.run(fields)
	return r.buf
}

// ReadRecord reads block into the value to which the fields belong, and returns it if check, which may be nil, finds
// no fault. Every error wraps ErrInvalid.
func ReadRecord[T any](block []byte, into *T, fields func(*Record), check func() error) (*T, error) {
	var reading struct { // one allocation
		d Decoder
		r Record
	}
	d, r := &reading.d, &reading.r
	d.in, r.d = block, d
	if err := d.tooLong(); err != nil {
		return nil, err
	}
	r.run(fields)
	if r.err == nil && r.partial {
		r.err = d.fail("not a %s record: no kind or version", r.kind)
	}
	if r.err != nil && !errors.Is(r.err, ErrInvalid) { // of a field's own parser
		return nil, fmt.Errorf("%w: %s record: %w", ErrInvalid, r.kind, r.err)
	}
	if r.err != nil {
		return nil, fmt.Errorf("%s record: %w", r.kind, r.err)
	}
	if err := d.End(); err != nil {
		return nil, err
	}
	if r.missing != "" {
		return nil, fmt.Errorf("%w: %s record: %s: missing", ErrInvalid, r.kind, r.missing)
	}
	if check != nil {
		if err := check(); err != nil {
			return nil, fmt.Errorf("%w: %s record: %w", ErrInvalid, r.kind, err)
		}
	}
	return into, nil
}

// FieldNames returns the names of all fields.
func FieldNames(fields func(*Record)) []string {
	r := &Record{names: []string{}}
	r.run(fields)
	return r.names
}

// run writes or reads one map.
func (r *Record) run(fields func(*Record)) {
	if r.d != nil {
		r.left, r.err = r.d.mapHead()
	} else {
		r.start = len(r.buf)
		r.buf = append(r.buf, 0)
	}
	fields(r)
	for len(r.own) > 0 {
		r.ownField()
	}
	if r.d != nil {
		for r.next() {
			r.keep()
		}
		return
	}
	for len(r.unknown) > 0 {
		r.writeUnknown()
	}
	if r.count <= smallHead {
		r.buf[r.start] = majorMap<<5 | byte(r.count)
		return
	}
	// A map with many unknown fields needs a longer head than the byte reserved for it.
	r.buf = slices.Replace(r.buf, r.start, r.start+1, AppendMap(nil, r.count)...)
}

// Begin makes the map a record. It precedes all fields. extra holds the unknown fields in canonical order; if it is nil,
// they are refused.
func (r *Record) Begin(kind string, version int64, extra *[]Entry) {
	r.kind, r.version, r.own = kind, version, ownFields
	r.Extra(extra)
}

// Extra lets a map inside of a record have unknown fields. It precedes all fields.
func (r *Record) Extra(extra *[]Entry) {
	r.extra = extra
	if r.d == nil && extra != nil {
		r.unknown = *extra
	}
}

// Reading reports whether values are read, not written.
func (r *Record) Reading() bool { return r.d != nil }

// Has reports whether an optional field follows, which the function must then name: given if the record is written.
func (r *Record) Has(key string, given bool) bool {
	r.ownBefore(key)
	if r.d != nil {
		return r.seek(key)
	}
	return given || r.names != nil
}

// Refuse makes reading fail at the item read last if bad.
func (r *Record) Refuse(bad bool, format string, args ...any) {
	if bad && r.d != nil && r.err == nil {
		r.err = r.d.fail(format, args...)
	}
}

// Field writes a value by one function, or reads it by the other, which must read exactly the value.
func (r *Record) Field(key string, write func(b []byte) []byte, read func(d *Decoder) error) {
	r.ownBefore(key)
	switch r.begin(key) {
	case toWrite:
		r.buf = write(r.buf)
	case toRead:
		r.err = read(r.d)
	}
}

// What a field's method has to do with its value.
type task int

const (
	nothing task = iota
	toWrite
	toRead
)

// begin writes the key of a required field, or finds it.
func (r *Record) begin(key string) task {
	switch {
	case r.names != nil:
		r.names = append(r.names, key)
	case r.d == nil:
		for len(r.unknown) > 0 && CompareKeys(r.unknown[0].Key, key) < 0 {
			r.writeUnknown()
		}
		if len(r.unknown) > 0 && r.unknown[0].Key == key { // the field replaces it
			r.unknown = r.unknown[1:]
		}
		r.writeKey(key)
		return toWrite
	case r.seek(key):
		r.held = false
		return toRead
	case r.missing == "":
		r.missing = key
	}
	return nothing
}

// ownBefore writes or reads those of ownFields that come before key.
func (r *Record) ownBefore(key string) {
	for len(r.own) > 0 && CompareKeys(r.own[0], key) < 0 {
		r.ownField()
	}
}

func (r *Record) ownField() {
	key, missing := r.own[0], r.missing
	r.own = r.own[1:]
	switch r.begin(key) {
	case toWrite:
		if key == fieldKind {
			r.buf = AppendString(r.buf, r.kind)
		} else {
			r.buf = AppendInt(r.buf, r.version)
		}
	case toRead:
		r.readOwn(key)
	default:
		r.partial, r.missing = true, missing
	}
}

// readOwn checks the kind or the version.
func (r *Record) readOwn(key string) {
	if key == fieldKind {
		kind, err := r.d.textBytes()
		r.err = err
		r.Refuse(string(kind) != r.kind, "record of kind %q, want %q", shorten(string(kind)), r.kind)
		return
	}
	version, err := r.d.Int()
	r.err = err
	r.Refuse(version != r.version, "record version %d, want %d", version, r.version)
}

func (r *Record) writeUnknown() {
	e := r.unknown[0]
	r.unknown = r.unknown[1:]
	r.writeKey(e.Key)
	r.buf = AppendValue(r.buf, e.Value)
}

func (r *Record) writeKey(key string) {
	if r.count > 0 && CompareKeys(r.last, key) >= 0 {
		panic("ipld: record field " + key + " written after " + r.last)
	}
	r.buf = AppendString(r.buf, key)
	r.last = key
	r.count++
}

// next reads the next key unless a value is still to be read, and reports whether there is one.
func (r *Record) next() bool {
	if r.err == nil && !r.held && r.left > 0 {
		r.left--
		r.key, r.err = r.d.key(r.key)
		r.held = true
	}
	return r.err == nil && r.held
}

// seek reads up to a key and reports whether it is there.
func (r *Record) seek(key string) bool {
	for r.next() {
		if string(r.key) == key {
			return true
		}
		if len(r.key) > len(key) || len(r.key) == len(key) && string(r.key) > key {
			return false
		}
		r.keep()
	}
	return false
}

// keep reads an unknown field.
func (r *Record) keep() {
	key := r.d.copyLast(r.key)
	r.held = false
	if r.extra == nil {
		r.err = r.d.fail("unknown field %q", shorten(key))
		return
	}
	v, err := r.d.Value()
	*r.extra, r.err = append(*r.extra, Entry{key, v}), err
}

// field writes or reads a required value.
func field[T any](r *Record, key string, v *T, write func([]byte, T) []byte, read func(*Decoder) (T, error)) {
	r.ownBefore(key)
	switch r.begin(key) {
	case toWrite:
		r.buf = write(r.buf, *v)
	case toRead:
		*v, r.err = read(r.d)
	}
}

// Int is an integer.
func (r *Record) Int(key string, n *int64) { field(r, key, n, AppendInt, (*Decoder).Int) }

// Number is an integer from least to most.
func Number[N ~int | ~int64 | ~uint32 | ~uint64](r *Record, key string, n *N, least, most int64) {
	write := func(b []byte, n N) []byte { return AppendInt(b, int64(n)) }
	field(r, key, n, write, func(d *Decoder) (N, error) {
		n, err := d.Int()
		if err == nil && (n < least || n > most) {
			err = d.fail("number %d out of range", n)
		}
		return N(n), err
	})
}

// Bool is a boolean.
func (r *Record) Bool(key string, b *bool) { field(r, key, b, AppendBool, (*Decoder).Bool) }

// String is a string.
func (r *Record) String(key string, s *string) { field(r, key, s, AppendString, (*Decoder).String) }

// OptString is a string that is left out if it is empty.
func (r *Record) OptString(key string, s *string) {
	if r.Has(key, *s != "") {
		r.String(key, s)
		r.Refuse(*s == "", "empty string in an optional field")
	}
}

// Bytes is a byte string. What is read is a part of the block.
func (r *Record) Bytes(key string, b *[]byte) { field(r, key, b, AppendBytes, (*Decoder).Bytes) }

// Fixed is a byte string of the length of b, into which it is read.
func (r *Record) Fixed(key string, b []byte) {
	got := b
	r.Bytes(key, &got)
	if r.Reading() {
		r.Refuse(len(got) != len(b), "%d bytes, want %d", len(got), len(b))
		copy(b, got)
	}
}

// Link is a link.
func (r *Record) Link(key string, c *CID) { field(r, key, c, AppendLink, (*Decoder).Link) }

// OptLink is a link that is left out if it is undefined.
func (r *Record) OptLink(key string, c *CID) {
	if r.Has(key, c.Defined()) {
		r.Link(key, c)
	}
}

// Links is a list of least to most links.
func (r *Record) Links(key string, links *[]CID, least, most int) {
	field(r, key, links, appendLinks, func(d *Decoder) ([]CID, error) {
		list, err := d.Links(most)
		if err == nil && len(list) < least {
			err = d.fail("%d links, want %d to %d", len(list), least, most)
		}
		if len(list) == 0 {
			return nil, err
		}
		return list, err
	})
}

func appendLinks(b []byte, links []CID) []byte {
	b = AppendList(b, len(links))
	for _, c := range links {
		b = AppendLink(b, c)
	}
	return b
}

// Strings is a list of least to most strings.
func (r *Record) Strings(key string, list *[]string, least, most int) {
	field(r, key, list, appendStrings, func(d *Decoder) ([]string, error) {
		n, err := d.List()
		if err == nil && (n < least || n > most) {
			err = d.fail("list of %d strings, want %d to %d", n, least, most)
		}
		if err != nil {
			return nil, err
		}
		out := make([]string, n)
		for i := range out {
			if out[i], err = d.String(); err != nil {
				return nil, err
			}
		}
		return out, nil
	})
}

func appendStrings(b []byte, list []string) []byte {
	b = AppendList(b, len(list))
	for _, s := range list {
		b = AppendString(b, s)
	}
	return b
}

// OptStrings is a list of at most most strings that is left out if it is empty.
func (r *Record) OptStrings(key string, list *[]string, most int) {
	if r.Has(key, len(*list) > 0) {
		r.Strings(key, list, 1, most)
	}
}

// Value is a value of any kind.
func (r *Record) Value(key string, v *Value) { field(r, key, v, AppendValue, (*Decoder).Value) }

// Entries is a map with any keys.
func (r *Record) Entries(key string, entries *[]Entry) {
	field(r, key, entries, appendEntries, (*Decoder).entries)
}

// Map is a map with fields of its own, and no others unless they begin with Extra.
func (r *Record) Map(key string, fields func(*Record)) {
	r.ownBefore(key)
	if r.begin(key) != nothing {
		r.inside(fields)
	}
}

// inside writes or reads a map inside of the record.
func (r *Record) inside(fields func(*Record)) {
	outer := *r
	*r = Record{d: r.d, buf: r.buf}
	r.run(fields)
	r.Refuse(r.missing != "", "map without %s", r.missing)
	outer.buf, outer.err = r.buf, r.err
	*r = outer
}

// Maps is a list of at most most maps, each with the same fields, as Record.Map has them.
func Maps[T any](r *Record, key string, list *[]T, most int, fields func(*T, *Record)) {
	r.ownBefore(key)
	n := len(*list)
	switch r.begin(key) {
	case nothing:
		return
	case toWrite:
		r.buf = AppendList(r.buf, n)
	case toRead:
		n, r.err = r.d.List()
		if r.Refuse(n > most, "list of %d items, limit %d", n, most); r.err != nil {
			return
		}
		*list = nil
	}
	for i := 0; i < n && r.err == nil; i++ {
		if r.Reading() {
			*list = append(*list, *new(T))
		}
		r.inside(func(r *Record) { fields(&(*list)[i], r) })
	}
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
