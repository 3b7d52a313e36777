package ipld

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// shareText is the largest block in bytes whose strings share one copy of the block: one allocation instead of one
// for each string. A retained string keeps at most this much memory alive.
const shareText = 1024

// Decoder reads canonical DAG-CBOR items from a block, strictly and in one pass. After an error
// the decoder must not be used further. Not for concurrent use.
type Decoder struct {
	in    []byte
	text  string // copy of a small block, made when its first string is read
	pos   int
	start int // offset of the item being read, for errors
	items int
	links *[]CID // if set, collects the links read
	depth int
	// left[i] is the number of items still to come in the i-th open list or map, from 1. The decoder counts items
	// itself, so that callers who read lists item by item cannot get the depth wrong and every reader refuses
	// exactly the blocks that Check refuses.
	left [MaxDepth + 1]int32
}

// NewDecoder returns a decoder over block, which must not be changed while decoded bytes are in
// use; decoded strings are copies. A block over MaxBlock is refused.
func NewDecoder(block []byte) (*Decoder, error) {
	d := &Decoder{in: block}
	if err := d.tooLong(); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *Decoder) tooLong() error {
	if len(d.in) > MaxBlock {
		return d.fail("block of %d bytes, limit %d", len(d.in), MaxBlock)
	}
	return nil
}

func (d *Decoder) fail(format string, args ...any) error {
	return &DecodeError{Offset: d.start, Reason: fmt.Sprintf(format, args...)}
}

// Errorf returns a DecodeError at the item read last, for a caller that finds a well-formed item unacceptable.
func (d *Decoder) Errorf(format string, args ...any) error { return d.fail(format, args...) }

// End returns an error unless all input was read.
func (d *Decoder) End() error {
	d.start = d.pos
	if d.pos != len(d.in) {
		return d.fail("%d trailing bytes", len(d.in)-d.pos)
	}
	return nil
}

// begin accounts for one item in the innermost list or map that is not complete.
func (d *Decoder) begin() {
	d.start = d.pos
	for d.depth > 0 && d.left[d.depth] == 0 {
		d.depth--
	}
	d.left[d.depth]--
}

// open starts a list or map of n items, keys included, whose head was just read. Each item takes at least a byte,
// so it refuses more items than bytes left before anything is allocated.
func (d *Decoder) open(n uint64, what string) error {
	if n > uint64(len(d.in)-d.pos) {
		return d.fail("%s of %d items in %d bytes", what, n, len(d.in)-d.pos)
	}
	if d.depth == MaxDepth {
		return d.fail("nested deeper than %d", MaxDepth)
	}
	d.depth++
	d.left[d.depth] = int32(n)
	return nil
}

// head reads one item head: its major type and its argument, which must be minimal.
func (d *Decoder) head() (major byte, n uint64, err error) {
	d.begin()
	if d.pos >= len(d.in) {
		return 0, 0, d.fail("unexpected end")
	}
	if d.items++; d.items > MaxItems {
		return 0, 0, d.fail("more than %d items", MaxItems)
	}
	first := d.in[d.pos]
	d.pos++
	major, info := first>>5, first&0x1f
	if major == majorOther {
		return major, uint64(info), nil
	}
	if info <= smallHead {
		return major, uint64(info), nil
	}
	if info > 27 {
		return 0, 0, d.fail("indefinite length or reserved head 0x%02x", first)
	}
	width := 1 << (info - 24)
	rest := d.in[d.pos:]
	if len(rest) < width {
		return 0, 0, d.fail("unexpected end")
	}
	// least is the smallest argument that needs this width.
	var least uint64
	switch width {
	case 1:
		n, least = uint64(rest[0]), smallHead+1
	case 2:
		n, least = uint64(binary.BigEndian.Uint16(rest)), 1<<8
	case 4:
		n, least = uint64(binary.BigEndian.Uint32(rest)), 1<<16
	default:
		n, least = binary.BigEndian.Uint64(rest), 1<<32
	}
	if n < least {
		return 0, 0, d.fail("head not minimally encoded")
	}
	d.pos += width
	return major, n, nil
}

func (d *Decoder) want(major byte) (uint64, error) {
	got, n, err := d.head()
	if err == nil && got != major {
		err = d.fail("item of major type %d, want %d", got, major)
	}
	return n, err
}

// Int reads an integer.
func (d *Decoder) Int() (int64, error) {
	major, n, err := d.head()
	if err != nil {
		return 0, err
	}
	if major != majorUint && major != majorNeg {
		return 0, d.fail("item of major type %d, want an integer", major)
	}
	if n > math.MaxInt64 {
		return 0, d.fail("integer outside int64")
	}
	if major == majorNeg {
		return ^int64(n), nil
	}
	return int64(n), nil
}

func (d *Decoder) take(n uint64) ([]byte, error) {
	if n > uint64(len(d.in)-d.pos) {
		return nil, d.fail("length %d exceeds the %d bytes left", n, len(d.in)-d.pos)
	}
	out := d.in[d.pos : d.pos+int(n) : d.pos+int(n)]
	d.pos += int(n)
	return out, nil
}

// Bytes reads a byte string. The result is a part of the block.
func (d *Decoder) Bytes() ([]byte, error) {
	n, err := d.want(majorBytes)
	if err != nil {
		return nil, err
	}
	return d.take(n)
}

// String reads a text string.
func (d *Decoder) String() (string, error) {
	b, err := d.textBytes()
	if err != nil {
		return "", err
	}
	return d.copyLast(b), nil
}

// copyLast returns a copy of b, the bytes just before the decoder's position.
func (d *Decoder) copyLast(b []byte) string {
	if len(d.in) > shareText {
		return string(b)
	}
	if d.text == "" {
		d.text = string(d.in)
	}
	return d.text[d.pos-len(b) : d.pos]
}

func (d *Decoder) textBytes() ([]byte, error) {
	n, err := d.want(majorText)
	if err != nil {
		return nil, err
	}
	b, err := d.take(n)
	if err == nil && !utf8.Valid(b) {
		err = d.fail("string is not valid UTF-8")
	}
	return b, err
}

// Bool reads a boolean.
func (d *Decoder) Bool() (bool, error) {
	major, n, err := d.head()
	if err != nil {
		return false, err
	}
	if major != majorOther || (n != byteFalse&0x1f && n != byteTrue&0x1f) {
		return false, d.fail("not a boolean")
	}
	return n == byteTrue&0x1f, nil
}

// Link reads a link.
func (d *Decoder) Link() (CID, error) {
	d.begin()
	b, err := d.take(uint64(linkLen))
	if err != nil {
		return CID{}, err
	}
	if string(b[:len(linkHead)]) != string(linkHead[:]) {
		return CID{}, d.fail("not a link to a 36-byte CID")
	}
	c, err := CIDFromBytes(b[len(linkHead):])
	if err != nil {
		return CID{}, d.fail("%v", err)
	}
	if d.links != nil {
		*d.links = append(*d.links, c)
	}
	return c, nil
}

// Links reads a list of at most limit links.
func (d *Decoder) Links(limit int) ([]CID, error) {
	n, err := d.List()
	if err != nil {
		return nil, err
	}
	if n > limit {
		return nil, d.fail("%d links, limit %d", n, limit)
	}
	if n > (len(d.in)-d.pos)/linkLen {
		return nil, d.fail("%d links in %d bytes", n, len(d.in)-d.pos)
	}
	links := make([]CID, n)
	for i := range links {
		if links[i], err = d.Link(); err != nil {
			return nil, err
		}
	}
	return links, nil
}

// List reads a list's head and returns its number of items, which the caller reads next. The
// number is at most the bytes left, so that allocating it is safe.
func (d *Decoder) List() (int, error) {
	n, err := d.want(majorList)
	if err == nil {
		err = d.open(n, "list")
	}
	if err != nil {
		return 0, err
	}
	return int(n), nil
}

// Map reads a map, calling entry for each key in order; entry must read exactly the value.
func (d *Decoder) Map(entry func(key string) error) error {
	n, err := d.mapHead()
	if err != nil {
		return err
	}
	var last []byte
	for range n {
		if last, err = d.key(last); err != nil {
			return err
		}
		if err := entry(d.copyLast(last)); err != nil {
			return err
		}
	}
	return nil
}

// mapHead reads a map's head and returns the number of its entries.
func (d *Decoder) mapHead() (int, error) {
	n, err := d.want(majorMap)
	if err != nil {
		return 0, err
	}
	if n > uint64(len(d.in)-d.pos)/2 {
		return 0, d.fail("map of %d entries in %d bytes", n, len(d.in)-d.pos)
	}
	return int(n), d.open(2*n, "map")
}

// key reads a map key that must come after last, the key before it; nil for the first key.
func (d *Decoder) key(last []byte) ([]byte, error) {
	key, err := d.textBytes()
	if err != nil {
		return nil, err
	}
	if last != nil && (len(key) < len(last) ||
		len(key) == len(last) && bytes.Compare(key, last) <= 0) {
		return nil, d.fail("map key %q after %q", shorten(string(key)), shorten(string(last)))
	}
	return key, nil
}

// Value reads any item.
func (d *Decoder) Value() (Value, error) {
	if d.pos >= len(d.in) {
		d.start = d.pos
		return Value{}, d.fail("unexpected end")
	}
	switch d.in[d.pos] >> 5 {
	case majorUint, majorNeg:
		n, err := d.Int()
		return IntValue(n), err
	case majorBytes:
		b, err := d.Bytes()
		if err != nil {
			return Value{}, err
		}
		return Value{kind: Bytes, text: d.copyLast(b)}, nil
	case majorText:
		s, err := d.String()
		return StringValue(s), err
	case majorList:
		return d.listValue()
	case majorMap:
		return d.mapValue()
	case majorTag:
		c, err := d.Link()
		if err != nil {
			return Value{}, err
		}
		return LinkValue(c), nil
	default:
		return d.simple()
	}
}

// growFrom is the largest number of items allocated from a head alone: a Value is far larger than the byte an item
// may take, so longer lists and maps grow as items are decoded.
const growFrom = 16

func (d *Decoder) listValue() (Value, error) {
	n, err := d.List()
	if err != nil || n == 0 {
		return Value{kind: List}, err
	}
	items := make([]Value, 0, min(n, growFrom))
	for range n {
		item, err := d.Value()
		if err != nil {
			return Value{}, err
		}
		items = append(items, item)
	}
	return ListValue(items...), nil
}

func (d *Decoder) mapValue() (Value, error) {
	entries, err := d.entries()
	return mapOf(entries), err
}

// entries reads a map, nil for one without entries.
func (d *Decoder) entries() ([]Entry, error) {
	n, err := d.mapHead()
	if err != nil || n == 0 {
		return nil, err
	}
	entries := make([]Entry, 0, min(n, growFrom))
	var last []byte
	for range n {
		if last, err = d.key(last); err != nil {
			return nil, err
		}
		key := d.copyLast(last)
		v, err := d.Value()
		if err != nil {
			return nil, err
		}
		entries = append(entries, Entry{key, v})
	}
	return entries, nil
}

// simple reads what major type 7 allows: false, true, null and 64-bit floats.
func (d *Decoder) simple() (Value, error) {
	_, info, err := d.head()
	if err != nil {
		return Value{}, err
	}
	switch info {
	case byteFalse & 0x1f, byteTrue & 0x1f:
		return BoolValue(info == byteTrue&0x1f), nil
	case byteNull & 0x1f:
		return Value{}, nil
	case byteFloat & 0x1f:
		b, err := d.take(8)
		if err != nil {
			return Value{}, err
		}
		f := math.Float64frombits(binary.BigEndian.Uint64(b))
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return Value{}, d.fail("NaN or infinity")
		}
		return FloatValue(f), nil
	}
	return Value{}, d.fail("undefined, a short float or another simple value")
}

// Skip reads any item and discards it.
func (d *Decoder) Skip() error {
	_, err := d.Item()
	return err
}

// Item reads any item and returns its encoding, a part of the block.
func (d *Decoder) Item() ([]byte, error) {
	from := d.pos
	if err := d.check(); err != nil {
		return nil, err
	}
	return d.in[from:d.pos:d.pos], nil
}

// check validates one item without building it.
func (d *Decoder) check() error {
	if d.pos >= len(d.in) {
		d.start = d.pos
		return d.fail("unexpected end")
	}
	switch d.in[d.pos] >> 5 {
	case majorUint, majorNeg:
		_, err := d.Int()
		return err
	case majorBytes:
		_, err := d.Bytes()
		return err
	case majorText:
		_, err := d.textBytes()
		return err
	case majorList:
		return d.checkList()
	case majorMap:
		return d.checkMap()
	case majorTag:
		_, err := d.Link()
		return err
	default:
		_, err := d.simple()
		return err
	}
}

func (d *Decoder) checkList() error {
	n, err := d.List()
	if err != nil {
		return err
	}
	for range n {
		if err := d.check(); err != nil {
			return err
		}
	}
	return nil
}

func (d *Decoder) checkMap() error {
	n, err := d.mapHead()
	if err != nil {
		return err
	}
	var last []byte
	for range n {
		if last, err = d.key(last); err != nil {
			return err
		}
		if err := d.check(); err != nil {
			return err
		}
	}
	return nil
}

// IsLink reports whether item is one canonical link and nothing else.
func IsLink(item []byte) bool {
	if len(item) != linkLen || [len(linkHead)]byte(item) != linkHead {
		return false
	}
	_, err := CIDFromBytes(item[len(linkHead):])
	return err == nil
}

// Check returns an error that wraps ErrInvalid unless block is one canonical item.
func Check(block []byte) error {
	d := Decoder{in: block} // not by NewDecoder: it stays on the stack
	if err := d.tooLong(); err != nil {
		return err
	}
	return d.checkAll()
}

func (d *Decoder) checkAll() error {
	if err := d.check(); err != nil {
		return err
	}
	return d.End()
}

// DecodeValue reads block as one value.
func DecodeValue(block []byte) (Value, error) {
	d := Decoder{in: block} // not by NewDecoder: it stays on the stack
	if err := d.tooLong(); err != nil {
		return Value{}, err
	}
	v, err := d.Value()
	if err != nil {
		return Value{}, err
	}
	if err := d.End(); err != nil {
		return Value{}, err
	}
	return v, nil
}

// Links calls fn for every link in a canonical block, in byte order, repeated links included, until fn returns an
// error, which Links returns. It reports no link of a block that is not canonical. A raw block has none.
func Links(c CID, block []byte, fn func(CID) error) error {
	if c.Codec() == Raw {
		return nil
	}
	d, err := NewDecoder(block)
	if err != nil {
		return err
	}
	var links []CID
	d.links = &links
	if err := d.checkAll(); err != nil {
		return err
	}
	for _, link := range links {
		if err := fn(link); err != nil {
			return err
		}
	}
	return nil
}

// ErrInvalid marks every error about bytes that are not one strictly canonical DAG-CBOR item.
var ErrInvalid = errors.New("invalid dag-cbor")

// ErrCID is returned when a string or bytes are not a CID in the one form used here: version 1, dag-cbor or raw,
// sha2-256 with 32 bytes.
var ErrCID = errors.New("invalid CID")

// DecodeError says where and why a block was refused. errors.Is(err, ErrInvalid) holds.
type DecodeError struct {
	Offset int // byte offset of the item that was refused
	Reason string
}

func (e *DecodeError) Error() string {
	return fmt.Sprintf("invalid dag-cbor at byte %d: %s", e.Offset, e.Reason)
}

// Is reports whether target is ErrInvalid.
func (e *DecodeError) Is(target error) bool { return target == ErrInvalid }

const (
	// MaxBlock is the largest block in bytes. Other IPLD software transports 1 MiB without trouble (Bitswap's limit
	// is 2 MiB).
	MaxBlock = 1 << 20
	// MaxDepth is the deepest nesting of lists and maps. Records nest three deep; the rest is for user properties,
	// while a hostile block cannot exhaust a stack.
	MaxDepth = 64
	// MaxItems is the largest number of items (map keys included) in one block. Links do not count: their 41 bytes
	// each bound their number. Decoding allocates at most about 48 MiB, including the growth of slices, however
	// small the items are.
	MaxItems = 1 << 17
	// ChunkSize is the length in bytes of all but the last raw chunk of content too large for its record.
	ChunkSize = 256 << 10
)
