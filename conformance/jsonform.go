package main

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// jsonForm writes v as clause 1.5 says.
func jsonForm(v any) string {
	var b strings.Builder
	writeJSON(&b, v)
	return b.String()
}

func writeJSON(b *strings.Builder, v any) {
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case int, int64:
		fmt.Fprint(b, v)
	case float64:
		b.WriteString(floatText(v))
	case string:
		writeJSONString(b, v)
	case []byte:
		b.WriteString(`{"/":{"bytes":"` + base64.RawStdEncoding.EncodeToString(v) + `"}}`)
	case link:
		b.WriteString(`{"/":"` + v.String() + `"}`)
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			writeJSON(b, e)
		}
		b.WriteByte(']')
	case dict:
		b.WriteByte('{')
		for i, k := range sortedKeys(v) {
			if i > 0 {
				b.WriteByte(',')
			}
			writeJSONString(b, k)
			b.WriteByte(':')
			writeJSON(b, v[k])
		}
		b.WriteByte('}')
	default:
		panic("a value outside the data model")
	}
}

func floatText(x float64) string {
	if a := math.Abs(x); x == 0 || a >= 1e-6 && a < 1e16 {
		s := strconv.FormatFloat(x, 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	}
	s := strconv.FormatFloat(x, 'e', -1, 64)
	i := strings.IndexByte(s, 'e')
	return s[:i+2] + strings.TrimLeft(s[i+2:], "0")
}

func writeJSONString(b *strings.Builder, s string) {
	short := map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\t': `\t`, '\n': `\n`,
		'\f': `\f`, '\r': `\r`}
	b.WriteByte('"')
	for _, r := range s {
		switch e, ok := short[r]; {
		case ok:
			b.WriteString(e)
		case r < 0x20:
			fmt.Fprintf(b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
}

// jsonReader reads the JSON form; the first error is kept and ends the reading.
type jsonReader struct {
	s     string
	pos   int
	items int
}

// reason is an error with the class that vectors name.
type reason struct{ class, text string }

func (r *reason) Error() string { return r.class + ": " + r.text }

func fail(class, format string, args ...any) error {
	return &reason{class: class, text: fmt.Sprintf(format, args...)}
}

// parseJSON reads one value of clause 1.5.
func parseJSON(s string) (any, error) {
	if !utf8.ValidString(s) {
		return nil, fail("utf8", "not UTF-8")
	}
	r := &jsonReader{s: s}
	v, err := r.value(0)
	if err != nil {
		return nil, err
	}
	r.space()
	if r.pos < len(s) {
		return nil, fail("syntax", "text after the value")
	}
	return v, nil
}

func (r *jsonReader) space() {
	for r.pos < len(r.s) && strings.IndexByte(" \t\n\r", r.s[r.pos]) >= 0 {
		r.pos++
	}
}

func (r *jsonReader) peek() byte {
	if r.pos >= len(r.s) {
		return 0
	}
	return r.s[r.pos]
}

func (r *jsonReader) take(c byte) bool {
	r.space()
	if r.peek() != c {
		return false
	}
	r.pos++
	return true
}

func (r *jsonReader) value(depth int) (any, error) {
	r.space()
	for text, v := range map[string]any{"null": nil, "true": true, "false": false} {
		if strings.HasPrefix(r.s[r.pos:], text) {
			r.pos += len(text)
			return v, r.count()
		}
	}
	switch c := r.peek(); {
	case c == '"':
		s, err := r.str()
		if err == nil {
			err = r.count()
		}
		return s, err
	case c == '[':
		return r.list(depth + 1)
	case c == '{':
		return r.object(depth + 1)
	case c == '-' || '0' <= c && c <= '9':
		v, err := r.number()
		if err == nil {
			err = r.count()
		}
		return v, err
	}
	return nil, fail("syntax", "no value at %d", r.pos)
}

func (r *jsonReader) count() error {
	if r.items++; r.items > 131072 {
		return fail("items", "too many items")
	}
	return nil
}

func (r *jsonReader) list(depth int) (any, error) {
	if depth > 64 {
		return nil, fail("depth", "nested too deep")
	}
	r.pos++
	out := []any{}
	if err := r.count(); err != nil || r.take(']') {
		return out, err
	}
	for {
		v, err := r.value(depth)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		if r.take(']') {
			return out, nil
		}
		if !r.take(',') {
			return nil, fail("syntax", "no comma at %d", r.pos)
		}
	}
}

func (r *jsonReader) object(depth int) (any, error) {
	r.pos++
	out := dict{}
	if r.take('}') {
		return r.finish(out, depth)
	}
	for {
		r.space()
		if r.peek() != '"' {
			return nil, fail("syntax", "no name at %d", r.pos)
		}
		k, err := r.str()
		if err != nil {
			return nil, err
		}
		if !r.take(':') {
			return nil, fail("syntax", "no colon at %d", r.pos)
		}
		if _, dup := out[k]; dup {
			return nil, fail("duplicate", "the name %q twice", k)
		}
		before := r.items
		v, err := r.member(k, depth)
		if err != nil {
			return nil, err
		}
		if k == "/" {
			r.items = before
		}
		out[k] = v
		if r.take('}') {
			return r.finish(out, depth)
		}
		if !r.take(',') {
			return nil, fail("syntax", "no comma at %d", r.pos)
		}
	}
}

// member reads the value after a name; the value of "/" is read as a plain value and judged in
// finish, one level deeper than a value may be nested.
func (r *jsonReader) member(name string, depth int) (any, error) {
	if name != "/" {
		return r.value(depth)
	}
	inner := &jsonReader{s: r.s, pos: r.pos}
	v, err := inner.value(0)
	r.pos = inner.pos
	return v, err
}

// finish turns the members of an object into a map, a link or bytes.
func (r *jsonReader) finish(m dict, depth int) (any, error) {
	v, special := m["/"]
	if !special {
		if depth > 64 {
			return nil, fail("depth", "nested too deep")
		}
		r.items += len(m) // the keys
		return m, r.count()
	}
	if len(m) != 1 {
		return nil, fail("reserved", "a member beside /")
	}
	if s, ok := v.(string); ok {
		return parseCID(s)
	}
	o, ok := v.(dict)
	text, isText := o["bytes"].(string)
	if !ok || len(o) != 1 || !isText {
		return nil, fail("reserved", "the name / with another value")
	}
	b, err := base64.RawStdEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") {
		return nil, fail("base64", "bad base64")
	}
	return b, r.count()
}

func parseCID(s string) (link, error) {
	if len(s) != 59 || s[0] != 'b' {
		return "", fail("cid", "no CID")
	}
	b, err := base32Lower.DecodeString(s[1:])
	l := link(b)
	if err != nil || l.String() != s {
		return "", fail("cid", "bad base32")
	}
	head := string(b[:4])
	if head != "\x01\x71\x12\x20" && head != "\x01\x55\x12\x20" {
		return "", fail("cid", "another kind of CID")
	}
	return l, nil
}

func (r *jsonReader) digits() bool {
	start := r.pos
	for '0' <= r.peek() && r.peek() <= '9' {
		r.pos++
	}
	return r.pos > start
}

func (r *jsonReader) number() (any, error) {
	start, float := r.pos, false
	if r.peek() == '-' {
		r.pos++
	}
	if r.peek() == '0' {
		r.pos++
	} else if !r.digits() {
		return nil, fail("syntax", "no digits at %d", r.pos)
	}
	if r.peek() == '.' {
		float = true
		if r.pos++; !r.digits() {
			return nil, fail("syntax", "no digits at %d", r.pos)
		}
	}
	if c := r.peek(); c == 'e' || c == 'E' {
		float = true
		r.pos++
		if c := r.peek(); c == '+' || c == '-' {
			r.pos++
		}
		if !r.digits() {
			return nil, fail("syntax", "no digits at %d", r.pos)
		}
	}
	text := r.s[start:r.pos]
	if len(text) > 1100 {
		return nil, fail("number-size", "a number of %d bytes", len(text))
	}
	if float {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fail("range", "a float out of range")
		}
		return f, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, fail("range", "an integer out of range")
	}
	return n, nil
}

func (r *jsonReader) str() (string, error) {
	var b strings.Builder
	for r.pos++; ; {
		c := r.peek()
		switch {
		case r.pos >= len(r.s):
			return "", fail("syntax", "an open string")
		case c == '"':
			r.pos++
			return b.String(), nil
		case c < 0x20:
			return "", fail("syntax", "a control character in a string")
		case c != '\\':
			b.WriteByte(c)
			r.pos++
			continue
		}
		s, err := r.escape()
		if err != nil {
			return "", err
		}
		b.WriteString(s)
	}
}

func (r *jsonReader) escape() (string, error) {
	r.pos++
	c := r.peek()
	r.pos++
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 && c != 0 {
		return "\"\\/\b\f\n\r\t"[i : i+1], nil
	}
	if c != 'u' {
		return "", fail("syntax", "an unknown escape")
	}
	u, err := r.hex4()
	if err != nil || u < 0xd800 || u > 0xdfff {
		return string(rune(u)), err
	}
	if u >= 0xdc00 || !strings.HasPrefix(r.s[r.pos:], `\u`) {
		return "", fail("surrogate", "a lone surrogate")
	}
	r.pos += 2
	low, err := r.hex4()
	if err != nil || low < 0xdc00 || low > 0xdfff {
		return "", fail("surrogate", "a lone surrogate")
	}
	return string(rune(0x10000 + (u-0xd800)<<10 + (low - 0xdc00))), nil
}

func (r *jsonReader) hex4() (int64, error) {
	if r.pos+4 > len(r.s) {
		return 0, fail("syntax", "a short escape")
	}
	text := r.s[r.pos : r.pos+4]
	n, err := strconv.ParseUint(text, 16, 32)
	if err != nil {
		return 0, fail("syntax", "a bad escape")
	}
	r.pos += 4
	return int64(n), nil
}
