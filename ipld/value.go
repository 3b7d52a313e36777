package ipld

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Kind is the kind of a value in the IPLD data model.
type Kind uint8

const (
	Null Kind = iota
	Bool
	Int
	Float
	String
	Bytes
	List
	Map
	Link
)

var kindNames = [...]string{
	"null", "bool", "int", "float", "string", "bytes", "list", "map", "link",
}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Value is one immutable value of the IPLD data model, such as a property's value. The zero Value is null. Values
// may be copied and read concurrently.
type Value struct {
	kind Kind
	bits uint64 // bool, integer (two's complement) or float bits
	text string // string or bytes
	// ref is a []Value, []Entry or CID; nil for an empty list or map. A single field keeps a Value at 48 bytes,
	// which limits the memory of hostile blocks with many small items.
	ref any
}

// Entry is one entry of a map.
type Entry struct {
	Key   string
	Value Value
}

// BoolValue returns a boolean.
func BoolValue(b bool) Value {
	v := Value{kind: Bool}
	if b {
		v.bits = 1
	}
	return v
}

// IntValue returns an integer.
func IntValue(n int64) Value { return Value{kind: Int, bits: uint64(n)} }

// FloatValue returns a 64-bit float. NaN and infinities have no encoding: encoding one panics, so
// callers check first with math.IsNaN and math.IsInf.
func FloatValue(f float64) Value { return Value{kind: Float, bits: math.Float64bits(f)} }

// StringValue returns a string, which must be valid UTF-8.
func StringValue(s string) Value { return Value{kind: String, text: s} }

// BytesValue returns a copy of b.
func BytesValue(b []byte) Value { return Value{kind: Bytes, text: string(b)} }

// ListValue returns a list that takes ownership of items.
func ListValue(items ...Value) Value {
	if len(items) == 0 {
		return Value{kind: List}
	}
	return Value{kind: List, ref: items}
}

// LinkValue returns a link. The undefined CID has no encoding: encoding a link to it panics.
func LinkValue(c CID) Value { return Value{kind: Link, ref: c} }

// MapValue returns a map that takes ownership of entries, which it sorts in place into canonical order. Keys must
// be distinct and valid UTF-8.
func MapValue(entries ...Entry) Value {
	SortEntries(entries)
	return mapOf(entries)
}

// mapOf returns a map of entries in canonical order.
func mapOf(entries []Entry) Value {
	if len(entries) == 0 {
		return Value{kind: Map}
	}
	return Value{kind: Map, ref: entries}
}

// Kind returns the value's kind.
func (v Value) Kind() Kind { return v.kind }

// Bool returns a boolean's value, false for other kinds.
func (v Value) Bool() bool { return v.kind == Bool && v.bits == 1 }

// Int returns an integer's value, 0 for other kinds.
func (v Value) Int() int64 {
	if v.kind != Int {
		return 0
	}
	return int64(v.bits)
}

// Float returns a float's value, 0 for other kinds.
func (v Value) Float() float64 {
	if v.kind != Float {
		return 0
	}
	return math.Float64frombits(v.bits)
}

// Number returns the value of a float, or of an integer as the nearest float; ok is false for other kinds.
func (v Value) Number() (x float64, ok bool) {
	switch v.kind {
	case Int:
		return float64(v.Int()), true
	case Float:
		return v.Float(), true
	}
	return 0, false
}

// Text returns the text of a string or the bytes of a bytes value, "" for other kinds. To iterate over bytes use
// Data: ranging over a string steps by characters.
func (v Value) Text() string { return v.text }

// Data returns a copy of the bytes of a bytes value, nil for other kinds.
func (v Value) Data() []byte {
	if v.kind != Bytes {
		return nil
	}
	return []byte(v.text)
}

// List returns a list's items, which must not be changed; nil for other kinds.
func (v Value) List() []Value {
	items, _ := v.ref.([]Value)
	return items
}

// Entries returns a map's entries in canonical order, which must not be changed; nil for other kinds.
func (v Value) Entries() []Entry {
	entries, _ := v.ref.([]Entry)
	return entries
}

// Link returns a link's target, the undefined CID for other kinds.
func (v Value) Link() CID {
	c, _ := v.ref.(CID)
	return c
}

// Get returns a map's value under key.
func (v Value) Get(key string) (Value, bool) { return FindEntry(v.Entries(), key) }

// Equal reports whether two values have the same encoding. 0.0 and -0.0 differ.
func (v Value) Equal(w Value) bool {
	if v.kind != w.kind || v.bits != w.bits || v.text != w.text || v.Link() != w.Link() {
		return false
	}
	return slices.EqualFunc(v.List(), w.List(), Value.Equal) &&
		slices.EqualFunc(v.Entries(), w.Entries(), func(a, b Entry) bool {
			return a.Key == b.Key && a.Value.Equal(b.Value)
		})
}

// CompareKeys is the canonical order of map keys: shorter first, then bytewise.
func CompareKeys(a, b string) int {
	if c := cmp.Compare(len(a), len(b)); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}

// SortEntries sorts entries in place into canonical order.
func SortEntries(entries []Entry) {
	slices.SortFunc(entries, func(a, b Entry) int { return CompareKeys(a.Key, b.Key) })
}

// FindEntry returns the value under key in entries of canonical order.
func FindEntry(entries []Entry, key string) (Value, bool) {
	i, ok := slices.BinarySearchFunc(entries, key, func(e Entry, k string) int { return CompareKeys(e.Key, k) })
	if !ok {
		return Value{}, false
	}
	return entries[i].Value, true
}
