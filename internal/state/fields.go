package state

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// hiddenFields are fields of a record that never differ between versions of an item.
var hiddenFields = []string{"v", "id", "kind"}

// FieldOrder is the display order of fields; others follow in canonical order.
var FieldOrder = []string{
	"key", "type", "src", "dst", "weight", "summary", "context", "content",
	"cues", "created", "updated", "validFrom", "validTo", "sources",
}

// fieldDiffs compares two records of one kind field by field and property by property; nil is the absent record.
func fieldDiffs[T any, R interface {
	*T
	Encode() []byte
}](before, after R) ([]FieldDiff, error) {
	encoded := func(r R) []byte {
		if r == nil {
			return nil
		}
		return r.Encode()
	}
	old, err := FieldsOf(encoded(before))
	if err != nil {
		return nil, err
	}
	next, err := FieldsOf(encoded(after))
	if err != nil {
		return nil, err
	}
	var out []FieldDiff
	for _, name := range fieldNames(old, next) {
		d := FieldDiff{Field: name}
		if v, ok := old[name]; ok {
			d.Old = &v
		}
		if v, ok := next[name]; ok {
			d.New = &v
		}
		if d.Old != nil && d.New != nil && d.Old.Equal(*d.New) {
			continue
		}
		out = append(out, d)
	}
	return out, nil
}

// fieldNames returns the names in any set: first those of FieldOrder, then the others.
func fieldNames(sets ...map[string]ipld.Value) []string {
	var names, rest []string
	has := func(name string) bool {
		return slices.ContainsFunc(sets, func(s map[string]ipld.Value) bool {
			_, ok := s[name]
			return ok
		})
	}
	for _, name := range FieldOrder {
		if has(name) {
			names = append(names, name)
		}
	}
	for _, s := range sets {
		for name := range s {
			if !slices.Contains(FieldOrder, name) {
				rest = append(rest, name)
			}
		}
	}
	slices.SortFunc(rest, ipld.CompareKeys)
	return append(names, slices.Compact(rest)...)
}

// FieldsOf returns the fields of an encoded record in display form.
func FieldsOf(record []byte) (map[string]ipld.Value, error) {
	out := make(map[string]ipld.Value)
	if record == nil {
		return out, nil
	}
	v, err := ipld.DecodeValue(record)
	if err != nil {
		return nil, fmt.Errorf("compare records: %w", err)
	}
	for _, e := range v.Entries() {
		switch {
		case slices.Contains(hiddenFields, e.Key):
		case e.Key == "props":
			for _, p := range e.Value.Entries() {
				out["props."+p.Key] = p.Value
			}
		default:
			out[e.Key] = shown(e.Key, e.Value)
		}
	}
	return out, nil
}

// shown converts times and ids to text.
func shown(field string, v ipld.Value) ipld.Value {
	switch field {
	case "created", "updated", "validFrom", "validTo", "time":
		if v.Kind() == ipld.Int {
			return ipld.StringValue(graph.Time(v.Int()).String())
		}
	case "src", "dst", "by":
		if b := v.Data(); len(b) == graph.IDLen {
			return ipld.StringValue(graph.ID(b).String())
		}
	}
	return v
}

// markValue returns a mark in display form, or nil.
func markValue(m *graph.Mark) *ipld.Value {
	if m == nil {
		return nil
	}
	entries := []ipld.Entry{
		{Key: "state", Value: ipld.StringValue(string(m.State))},
		{Key: "actor", Value: ipld.StringValue(m.Actor)},
		{Key: "time", Value: ipld.StringValue(m.Time.String())},
	}
	if !m.By.IsZero() {
		entries = append(entries, ipld.Entry{Key: "by", Value: ipld.StringValue(m.By.String())})
	}
	if m.Reason != "" {
		entries = append(entries, ipld.Entry{Key: "reason", Value: ipld.StringValue(m.Reason)})
	}
	v := ipld.MapValue(entries...)
	return &v
}

// FieldText returns a field's value as one line of JSON, without quotes around a plain string.
func FieldText(v *ipld.Value) string {
	if v == nil {
		return ""
	}
	if v.Kind() == ipld.String {
		return v.Text()
	}
	return strings.TrimSpace(string(ipld.AppendJSON(nil, *v)))
}
