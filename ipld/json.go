package ipld

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxNumber is the longest text of a JSON number in bytes: the exact decimal expansion of every
// float64 fits (the longest has a sign, "0." and 1,074 digits).
const MaxNumber = 1100

// reserved is the one key that no map may have in JSON: it marks links and bytes.
const reserved = "/"

// ErrJSON marks every error about text that is not one JSON value in the form used here.
var ErrJSON = errors.New("invalid JSON")

// JSONError says where and why JSON was refused. errors.Is(err, ErrJSON) holds.
type JSONError struct {
	Offset int64 // byte offset of the token that was refused, or of a byte inside it
	Reason string
}

func (e *JSONError) Error() string {
	return fmt.Sprintf("invalid JSON at byte %d: %s", e.Offset, e.Reason)
}

// Is reports whether target is ErrJSON.
func (e *JSONError) Is(target error) bool { return target == ErrJSON }

// base64Text is the spelling of bytes; Strict refuses spare bits, the caller line ends.
var base64Text = base64.RawStdEncoding.Strict()

// ParseJSON reads data as one JSON value. Numbers without point and exponent are integers and must lie within
// int64, all others are floats and must be finite. {"/":"CID"} is a link and {"/":{"bytes":"base64"}} is bytes,
// both in their one spelling; the key "/" anywhere else is refused, as are duplicate names, invalid UTF-8, lone
// surrogates, trailing data, and anything beyond MaxDepth, MaxItems or MaxNumber. Every error is a *JSONError.
// Memory is bounded by the length of data and MaxItems; the value keeps no reference to data.
func ParseJSON(data []byte) (Value, error) {
	p := jsonParser{data: data, dec: jsontext.NewDecoder(bytes.NewBuffer(data))}
	v, err := p.value()
	if err != nil {
		return Value{}, err
	}
	end := p.dec.InputOffset()
	rest := bytes.TrimLeft(data[end:], " \t\r\n")
	if len(rest) > 0 {
		return Value{}, p.fail(int64(len(data)-len(rest)), "data after the value")
	}
	return v, nil
}

// MarshalJSON writes the form of AppendJSON.
func (v Value) MarshalJSON() ([]byte, error) { return AppendJSON(nil, v), nil }

// UnmarshalJSON reads the output of MarshalJSON, also for a value that has no JSON form: marshalling it again gives
// the same text.
func (v *Value) UnmarshalJSON(data []byte) (err error) {
	if *v, err = ParseJSON(data); err != nil {
		p := jsonParser{data: data, dec: jsontext.NewDecoder(bytes.NewBuffer(data)), loose: true}
		*v, err = p.value()
	}
	return err
}

type jsonParser struct {
	data  []byte
	dec   *jsontext.Decoder
	loose bool // whether the key "/" is one as any other
	depth int
	items int
}

func (p *jsonParser) fail(offset int64, format string, args ...any) error {
	return &JSONError{Offset: offset, Reason: fmt.Sprintf(format, args...)}
}

// syntax converts an error of the tokenizer.
func (p *jsonParser) syntax(err error) error {
	if err == io.EOF {
		return p.fail(int64(len(p.data)), "unexpected end")
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return p.fail(syntactic.ByteOffset, "duplicate object name")
		}
		return p.fail(syntactic.ByteOffset, "%v", syntactic.Err)
	}
	return p.fail(p.dec.InputOffset(), "%v", err)
}

// count counts the item that was just read.
func (p *jsonParser) count(offset int64) error {
	if p.items++; p.items > MaxItems {
		return p.fail(offset, "more than %d items", MaxItems)
	}
	return nil
}

// raw reads one literal, string or number and returns its text and offset.
func (p *jsonParser) raw() (text jsontext.Value, offset int64, err error) {
	text, err = p.dec.ReadValue()
	if err != nil {
		return nil, 0, p.syntax(err)
	}
	return text, p.dec.InputOffset() - int64(len(text)), nil
}

// delim reads a delimiter of one byte and returns its offset.
func (p *jsonParser) delim() (int64, error) {
	if _, err := p.dec.ReadToken(); err != nil {
		return 0, p.syntax(err)
	}
	return p.dec.InputOffset() - 1, nil
}

func (p *jsonParser) value() (Value, error) {
	switch p.dec.PeekKind() {
	case '{':
		return p.object()
	case '[':
		return p.array()
	}
	text, offset, err := p.raw()
	if err != nil {
		return Value{}, err
	}
	if err := p.count(offset); err != nil {
		return Value{}, err
	}
	switch text.Kind() {
	case '"':
		return StringValue(unquote(text)), nil
	case '0':
		return p.number(string(text), offset)
	case 'n':
		return Value{}, nil
	default:
		return BoolValue(text.Kind() == 't'), nil
	}
}

// unquote decodes a string that the tokenizer accepted, which cannot fail.
func unquote(text jsontext.Value) string {
	if bytes.IndexByte(text, '\\') < 0 {
		return string(text[1 : len(text)-1])
	}
	s, _ := jsontext.AppendUnquote(nil, text)
	return string(s)
}

func (p *jsonParser) number(text string, offset int64) (Value, error) {
	if len(text) > MaxNumber {
		return Value{}, p.fail(offset, "number of %d bytes, limit %d", len(text), MaxNumber)
	}
	if !strings.ContainsAny(text, ".eE") {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return Value{}, p.fail(offset, "integer %s outside int64", shorten(text))
		}
		return IntValue(n), nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) {
		return Value{}, p.fail(offset, "number %s beyond the range of a float", shorten(text))
	}
	return FloatValue(f), nil
}

// enter counts one more list or map, which begins at offset, as an item and a level.
func (p *jsonParser) enter(offset int64) error {
	if p.depth++; p.depth > MaxDepth {
		return p.fail(offset, "nested deeper than %d", MaxDepth)
	}
	return p.count(offset)
}

func (p *jsonParser) array() (Value, error) {
	start, err := p.delim()
	if err != nil {
		return Value{}, err
	}
	if err := p.enter(start); err != nil {
		return Value{}, err
	}
	var items []Value
	for p.dec.PeekKind() != ']' {
		v, err := p.value()
		if err != nil {
			return Value{}, err
		}
		items = append(items, v)
	}
	p.depth--
	_, err = p.delim()
	return ListValue(items...), err
}

func (p *jsonParser) object() (Value, error) {
	start, err := p.delim()
	if err != nil {
		return Value{}, err
	}
	// Links and bytes are neither maps nor a level of nesting: the first name decides.
	var entries []Entry
	for p.dec.PeekKind() != '}' {
		name, offset, err := p.raw()
		if err != nil {
			return Value{}, err
		}
		key := unquote(name)
		if key == reserved && !p.loose {
			if len(entries) > 0 {
				return Value{}, p.fail(offset, "the key %q is reserved", reserved)
			}
			return p.reservedForm(start)
		}
		if len(entries) == 0 {
			if err := p.enter(start); err != nil {
				return Value{}, err
			}
		}
		if err := p.count(offset); err != nil {
			return Value{}, err
		}
		v, err := p.value()
		if err != nil {
			return Value{}, err
		}
		entries = append(entries, Entry{key, v})
	}
	if len(entries) > 0 {
		p.depth--
	} else if err := p.enterEmpty(start); err != nil {
		return Value{}, err
	}
	_, err = p.delim()
	return MapValue(entries...), err
}

func (p *jsonParser) enterEmpty(offset int64) error {
	err := p.enter(offset)
	p.depth--
	return err
}

// reservedForm reads a link or bytes after {"/": up to and including the closing brace.
func (p *jsonParser) reservedForm(start int64) (v Value, err error) {
	switch p.dec.PeekKind() {
	case '"':
		v, err = p.link()
	case '{':
		v, err = p.bytes()
	default:
		// Bad syntax is reported as such.
		if _, _, err := p.raw(); err != nil {
			return Value{}, err
		}
		err = p.fail(start, "the key %q is reserved for links and bytes", reserved)
	}
	if err != nil {
		return Value{}, err
	}
	return v, p.endReserved()
}

// endReserved reads the closing brace of an object that has one member.
func (p *jsonParser) endReserved() error {
	if p.dec.PeekKind() != '}' {
		_, offset, err := p.raw()
		if err != nil {
			return err
		}
		return p.fail(offset, "another name next to the reserved key %q", reserved)
	}
	_, err := p.delim()
	return err
}

func (p *jsonParser) link() (Value, error) {
	text, offset, err := p.raw()
	if err != nil {
		return Value{}, err
	}
	c, err := ParseCID(unquote(text))
	if err != nil {
		return Value{}, p.fail(offset, "link: %v", err)
	}
	return LinkValue(c), nil
}

func (p *jsonParser) bytes() (Value, error) {
	start, err := p.delim()
	if err != nil {
		return Value{}, err
	}
	if err := p.count(start); err != nil {
		return Value{}, err
	}
	if p.dec.PeekKind() == '}' {
		return Value{}, p.fail(start, "the key %q is reserved for links and bytes", reserved)
	}
	name, offset, err := p.raw()
	if err != nil {
		return Value{}, err
	}
	if unquote(name) != "bytes" {
		return Value{}, p.fail(offset, "the key %q is reserved for links and bytes", reserved)
	}
	text, offset, err := p.raw()
	if err != nil {
		return Value{}, err
	}
	if text.Kind() != '"' {
		return Value{}, p.fail(offset, "bytes are not a string")
	}
	s := unquote(text)
	if strings.ContainsAny(s, "\r\n") {
		return Value{}, p.fail(offset, "line end in base64")
	}
	data, err := base64Text.DecodeString(s)
	if err != nil {
		return Value{}, p.fail(offset, "bytes: %v", err)
	}
	return BytesValue(data), p.endReserved()
}

// HasJSON reports whether v has a JSON form: no map in it may have the key "/", which JSON reserves for links and
// bytes. Values that ParseJSON returned always have one.
func HasJSON(v Value) bool {
	for _, item := range v.List() {
		if !HasJSON(item) {
			return false
		}
	}
	for _, e := range v.Entries() {
		if e.Key == reserved || !HasJSON(e.Value) {
			return false
		}
	}
	return true
}

// AppendJSON appends the JSON form of v without white space: maps in canonical order, floats with a point or exponent,
// links and bytes as ParseJSON reads them. If HasJSON holds for a value, ParseJSON gives it back. Any other is printed,
// but ParseJSON refuses the text or, if it has that form, reads it as a link or bytes. It panics if AppendValue does.
func AppendJSON(b []byte, v Value) []byte { return appendJSON(b, v, nil) }

// appendJSON writes maps in the order of compare, nil for the order of the entries.
func appendJSON(b []byte, v Value, compare func(a, b Entry) int) []byte {
	switch v.kind {
	case Bool:
		return strconv.AppendBool(b, v.Bool())
	case Int:
		return strconv.AppendInt(b, v.Int(), 10)
	case Float:
		return appendJSONFloat(b, v.Float())
	case String:
		return appendQuote(b, v.text)
	case Bytes:
		b = append(b, `{"/":{"bytes":"`...)
		b = base64Text.AppendEncode(b, []byte(v.text))
		return append(b, `"}}`...)
	case Link:
		return appendJSONLink(b, v.Link())
	case List:
		b = append(b, '[')
		for i, item := range v.List() {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, item, compare)
		}
		return append(b, ']')
	case Map:
		return appendJSONMap(b, v.Entries(), compare)
	default:
		return append(b, "null"...)
	}
}

func appendJSONLink(b []byte, c CID) []byte {
	if !c.Defined() {
		panic("ipld: link to the undefined CID")
	}
	b = append(b, `{"/":"`...)
	b = c.appendText(b)
	return append(b, `"}`...)
}

func appendJSONMap(b []byte, entries []Entry, compare func(a, b Entry) int) []byte {
	if compare != nil {
		entries = slices.SortedFunc(slices.Values(entries), compare)
	}
	b = append(b, '{')
	for i, e := range entries {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendQuote(b, e.Key), ':')
		b = appendJSON(b, e.Value, compare)
	}
	return append(b, '}')
}

// appendQuote cannot fail: strings of values are valid UTF-8.
func appendQuote(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s)
	return b
}

// Floats below leastPositional and from positional on are written with an exponent:
// go-ipld-prime's reader fails on 20 digits before a point.
const (
	leastPositional = 1e-6
	positional      = 1e16
)

// appendJSONFloat writes the fewest digits that read back as f. What would otherwise read as an
// integer gets ".0"; -0.0 keeps its sign.
func appendJSONFloat(b []byte, f float64) []byte {
	abs := math.Abs(f)
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		panic("ipld: NaN or infinity has no JSON form")
	case f == 0 || leastPositional <= abs && abs < positional:
		from := len(b)
		b = strconv.AppendFloat(b, f, 'f', -1, 64)
		if bytes.IndexByte(b[from:], '.') < 0 {
			b = append(b, ".0"...)
		}
		return b
	default:
		b = strconv.AppendFloat(b, f, 'e', -1, 64)
		// strconv pads the exponent to two digits.
		if n := len(b); b[n-2] == '0' && (b[n-3] == '-' || b[n-3] == '+') {
			b = append(b[:n-2], b[n-1])
		}
		return b
	}
}

// MismatchError is returned when bytes do not hash to the expected CID.
type MismatchError struct {
	Want CID // the CID that was asked for
	Got  CID // the CID of the bytes
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("block mismatch: want %s, bytes are %s", e.Want, e.Got)
}

// DAGJSON writes the block that c names to w as DAG-JSON, without white space or a line end: map keys in bytewise order
// as that codec requires, floats with a point or exponent, the bytes of a raw block as {"/":{"bytes":"base64"}}. It
// returns an error that wraps ErrInvalid if the block is over MaxBlock or not canonical, and one that wraps ErrJSON if
// a map has the reserved key "/"; then nothing is written. It does not verify that block hashes to c.
func DAGJSON(w io.Writer, c CID, block []byte) error {
	v, err := BlockValue(c, block)
	if err != nil {
		return err
	}
	return writeDAGJSON(w, c, v)
}

// writeDAGJSON writes a value in block c.
func writeDAGJSON(w io.Writer, c CID, v Value) error {
	if !HasJSON(v) {
		return fmt.Errorf("%w: block %s has a map with the reserved key %q", ErrJSON, c, reserved)
	}
	_, err := w.Write(appendJSON(nil, v, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) }))
	return err
}

// BlockValue decodes a block: the value of canonical DAG-CBOR, or the bytes of a raw one. The error wraps
// ErrInvalid, or ErrCID for another codec. It does not verify that block hashes to c.
func BlockValue(c CID, block []byte) (Value, error) {
	switch c.Codec() {
	case DagCBOR:
		return DecodeValue(block)
	case Raw:
		// NewDecoder enforces the size limit for raw blocks, too.
		if _, err := NewDecoder(block); err != nil {
			return Value{}, err
		}
		return BytesValue(block), nil
	default:
		return Value{}, fmt.Errorf("%w: codec 0x%x", ErrCID, uint8(c.Codec()))
	}
}
