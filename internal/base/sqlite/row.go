package sqlite

import (
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

// Row is one row of a table.
type Row struct {
	Place
	d      *Database
	length int64  // of the record
	local  []byte // its first bytes
	next   uint32 // the page with the next ones, 0 for none
	types  []int64
	head   int64 // length of the record's head
}

// read fills p with the bytes of the record from a place on.
func (r *Row) read(p []byte, from int64) error {
	if from < 0 || from+int64(len(p)) > r.length {
		return damaged("a record of %d bytes has none at %d", r.length, from)
	}
	if from < int64(len(r.local)) {
		n := copy(p, r.local[from:])
		p, from = p[n:], from+int64(n)
	}
	at, next := int64(len(r.local)), r.next
	for len(p) > 0 { // each page is one step to the end of the record
		if r.d.chains--; r.d.chains < 0 {
			return damaged("pages that follow one another in circles")
		}
		if err := r.d.page(r.d.buf, next); err != nil {
			return err
		}
		data := r.d.buf[4:r.d.used]
		if skip := from - at; skip < int64(len(data)) {
			n := copy(p, data[skip:])
			p, from = p[n:], from+int64(n)
		}
		at += int64(len(data))
		next = binary.BigEndian.Uint32(r.d.buf)
	}
	return nil
}

// columns reads the types of the columns.
func (r *Row) columns() error {
	if r.head > 0 {
		return nil
	}
	start := make([]byte, min(r.length, 9))
	if err := r.read(start, 0); err != nil {
		return err
	}
	head, n := varint(start)
	if n == 0 || head < int64(n) || head > r.length || head > 9*maxColumns {
		return damaged("a head of %d bytes", head)
	}
	types := make([]byte, head-int64(n))
	if err := r.read(types, int64(n)); err != nil {
		return err
	}
	for len(types) > 0 {
		t, n := varint(types)
		if n == 0 || t < 0 || len(r.types) == maxColumns {
			return damaged("a column of type %d", t)
		}
		r.types, types = append(r.types, t), types[n:]
	}
	r.head = head
	return nil
}

// widths are the lengths of values by their types, of texts and others after them.
var widths = [...]int64{0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0}

func width(t int64) int64 {
	if t < int64(len(widths)) {
		return widths[t]
	}
	return (t - 12) / 2
}

// value returns the type of a column and its bytes; ok is false if the row has none, it is longer than most, or the row
// is damaged.
func (r *Row) value(column int, most int64) (t int64, data []byte, ok bool) {
	if column < 0 || r.columns() != nil || column >= len(r.types) {
		return 0, nil, false
	}
	from := r.head
	for _, t := range r.types[:column] {
		if from += width(t); from > r.length {
			return 0, nil, false
		}
	}
	t = r.types[column]
	if n := width(t); n <= most && from+n <= r.length {
		data = make([]byte, n)
		ok = r.read(data, from) == nil
	}
	return t, data, ok
}

// Null reports whether a column has no value; it is true of a column that the row lacks.
func (r *Row) Null(column int) bool {
	return r.columns() == nil && (column >= len(r.types) || column >= 0 && r.types[column] == 0)
}

// Text returns a text, or bytes that are UTF-8, of at most some bytes; ok is false for anything else.
func (r *Row) Text(column int, most int64) (s string, ok bool) {
	t, data, ok := r.value(column, most)
	if !ok || t < 12 || !utf8.Valid(data) {
		return "", false
	}
	return string(data), true
}

// Int returns a whole number; ok is false for anything else.
func (r *Row) Int(column int) (n int64, ok bool) {
	t, data, ok := r.value(column, 8)
	switch {
	case !ok || t == 0 || t == 7 || t > 9:
		return 0, false
	case t > 7:
		return t - 8, true
	}
	n = int64(int8(data[0]))
	for _, c := range data[1:] {
		n = n<<8 | int64(c)
	}
	return n, true
}

// columnsOf returns the names of the columns in a CREATE TABLE, up to what it cannot read.
func columnsOf(text string) (names []string) {
	depth, from := 0, -1
	quote := byte(0)
	for i := 0; i < len(text) && len(names) < maxColumns; i++ {
		c := text[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '`' || c == '\'':
			quote = c
		case c == '[':
			quote = ']'
		case c == '(':
			if depth++; depth == 1 {
				from = i + 1
			}
		case c == ')' || c == ',' && depth == 1:
			if c == ')' {
				depth--
			}
			if from < 0 || depth > 1 || c == ')' && depth == 1 {
				continue
			}
			name, constraint := firstWord(text[from:i])
			if constraint {
				return names
			}
			names, from = append(names, name), i+1
			if depth == 0 {
				return names
			}
		}
	}
	return names
}

const blanks = " \t\n\r"

// firstWord returns the first word of the definition of a column, without quotes, and whether it begins a constraint of
// the table instead.
func firstWord(s string) (word string, constraint bool) {
	s = strings.TrimLeft(s, blanks)
	if s == "" {
		return "", false
	}
	end := s[0]
	if end == '[' {
		end = ']'
	}
	if end == '"' || end == '`' || end == '\'' || end == ']' {
		word, _, _ = strings.Cut(s[1:], string(rune(end)))
		return word, false
	}
	if word = s; strings.ContainsAny(s, blanks+"(") {
		word = s[:strings.IndexAny(s, blanks+"(")]
	}
	switch upper(word) {
	case "CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN":
		return "", true
	}
	return word, false
}

func upper(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}
