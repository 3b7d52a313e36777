package graph

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/mnem-project/mnem/ipld"
)

// recordVersion is the version of every kind of record in this package.
const recordVersion = 1

const (
	// headRoom is an upper bound for the head of any item; linkRoom, for any link.
	headRoom = 9
	linkRoom = ipld.CIDLen + headRoom
	// baseRoom and baseItems are upper bounds for the names, times and ids of any record, which a meter does not count.
	baseRoom  = 1024
	baseItems = 64
)

// A meter computes an upper bound for the size of an encoded record, so that only the rare record near the limit
// must be encoded to be checked.
type meter struct{ bytes, items int }

func (m *meter) text(parts ...string) {
	for _, s := range parts {
		m.bytes += headRoom + len(s)
	}
	m.items += len(parts)
}

func (m *meter) links(n int) { m.bytes += n * linkRoom }

// fits returns an error unless the record that encode returns fits into a block.
func (m *meter) fits(encode func() []byte) error {
	if m.bytes+baseRoom <= ipld.MaxBlock && m.items+baseItems <= ipld.MaxItems {
		return nil
	}
	if err := ipld.Check(encode()); err != nil {
		return Fieldf("", "too large for one block: %v", err)
	}
	return nil
}

// entries checks a map that callers may have built by hand: order, names of at most maxName bytes and values nested
// at most depth deep.
func (m *meter) entries(field string, entries []ipld.Entry, maxName, depth int) error {
	for i := range entries {
		e := &entries[i]
		if i > 0 && ipld.CompareKeys(entries[i-1].Key, e.Key) >= 0 {
			return Fieldf(field, "%s does not come after %s in canonical order", quote(e.Key), quote(entries[i-1].Key))
		}
		if err := CheckText(field, e.Key, 1, maxName); err != nil {
			return Fieldf(field, "name %s: %s", quote(e.Key), err.(*FieldError).Reason)
		}
		if reason := m.value(e.Value, depth); reason != "" {
			return within(field, Fieldf(e.Key, "%s", reason))
		}
		m.text(e.Key)
	}
	return nil
}

// value returns why v cannot be encoded, or "".
func (m *meter) value(v ipld.Value, depth int) string {
	m.items++
	m.bytes += headRoom
	switch v.Kind() {
	case ipld.Float:
		if math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0) {
			return "NaN or infinity"
		}
	case ipld.String:
		m.bytes += len(v.Text())
		if !utf8.ValidString(v.Text()) {
			return "not valid UTF-8"
		}
	case ipld.Bytes:
		m.bytes += len(v.Text())
	case ipld.Link:
		m.bytes += linkRoom
		if !v.Link().Defined() {
			return "link to nothing"
		}
	case ipld.List, ipld.Map:
		if depth == 0 {
			return "nested too deep"
		}
		return m.nested(v, depth-1)
	}
	return ""
}

func (m *meter) nested(v ipld.Value, depth int) string {
	for _, item := range v.List() {
		if reason := m.value(item, depth); reason != "" {
			return reason
		}
	}
	entries := v.Entries()
	for i, e := range entries {
		if i > 0 && ipld.CompareKeys(entries[i-1].Key, e.Key) >= 0 {
			return fmt.Sprintf("map key %s twice or out of order", quote(e.Key))
		}
		if !utf8.ValidString(e.Key) {
			return "map key is not valid UTF-8"
		}
		m.text(e.Key)
		if reason := m.value(e.Value, depth); reason != "" {
			return reason
		}
	}
	return ""
}

// props checks the properties of a node or edge.
func (m *meter) props(entries []ipld.Entry) error {
	if len(entries) > MaxProps {
		return Fieldf("props", "%d properties, limit %d", len(entries), MaxProps)
	}
	return m.entries("props", entries, MaxPropName, MaxPropDepth)
}

// extra checks unknown fields, whose names must not be those of known fields.
func (m *meter) extra(entries []ipld.Entry, known []string) error {
	for i := range entries {
		if slices.Contains(known, entries[i].Key) {
			return Fieldf(entries[i].Key, "given as an unknown field")
		}
	}
	return m.entries("", entries, ipld.MaxBlock, ipld.MaxDepth-1)
}

// optTime is a time that is left out if it is absent.
func optTime(r *ipld.Record, key string, t *OptTime) {
	if r.Has(key, t.Given) {
		r.Int(key, (*int64)(&t.Time))
		if r.Reading() {
			t.Given = true
		}
	}
}
