package guard

import (
	"reflect"
	"sync"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// field is a field of a struct that contains strings. Fields are found by reflection, so that new ones are read
// automatically.
type field struct {
	index int
	name  string // as in "node.summary"
	walk  func(p *places, name string, v reflect.Value)
}

var (
	changeFields = sync.OnceValue(func() []field { return fieldsOf(reflect.TypeFor[graph.Change](), "") })
	nodeFields   = sync.OnceValue(func() []field { return fieldsOf(reflect.TypeFor[graph.Node](), "node.") })
)

// References name existing items and are not written: marking or removing a node whose key is a credential must be
// possible.
var references = map[reflect.Type]bool{
	reflect.TypeFor[graph.Ref]():      true,
	reflect.TypeFor[graph.MarkRef]():  true,
	reflect.TypeFor[*graph.Removal](): true,
}

// unwritten lists further fields that are not written: the name of a file, and fields to remove.
var unwritten = map[string]bool{"file": true, "node.unset": true, "edge.unset": true}

// shortNames are display names of nested fields.
var shortNames = map[string]string{"node.content.text": "node.content", "node.chunks": "node.content"}

// fieldsOf returns the fields of a struct that contain strings. path prefixes their names.
func fieldsOf(t reflect.Type, path string) (out []field) {
	for i := range t.NumField() {
		f := t.Field(i)
		name := path + string(lower[f.Name[0]]) + f.Name[1:]
		if references[f.Type] || unwritten[name] || !f.IsExported() {
			continue
		}
		if walk := walker(f.Type, name); walk != nil {
			if short := shortNames[name]; short != "" {
				name = short
			}
			out = append(out, field{i, name, walk})
		}
	}
	return out
}

// walker returns a function that reads the values of a type, nil if they contain no strings.
func walker(t reflect.Type, name string) func(*places, string, reflect.Value) {
	switch t {
	case reflect.TypeFor[ipld.Value]():
		return func(p *places, name string, v reflect.Value) {
			p.value(name, "", *v.Addr().Interface().(*ipld.Value))
		}
	case reflect.TypeFor[[]ipld.Entry]():
		return func(p *places, name string, v reflect.Value) {
			p.entries(name, *v.Addr().Interface().(*[]ipld.Entry))
		}
	case reflect.TypeFor[[]graph.Chunk]():
		return func(p *places, name string, v reflect.Value) {
			p.chunks(name, *v.Addr().Interface().(*[]graph.Chunk))
		}
	}
	switch t.Kind() {
	case reflect.String:
		return func(p *places, name string, v reflect.Value) { p.text(name, v.String()) }
	case reflect.Pointer:
		if inner := walker(t.Elem(), name); inner != nil {
			return func(p *places, name string, v reflect.Value) {
				if !v.IsNil() {
					inner(p, name, v.Elem())
				}
			}
		}
	case reflect.Slice, reflect.Array:
		if inner := walker(t.Elem(), name); inner != nil {
			return func(p *places, name string, v reflect.Value) {
				for i := range v.Len() {
					inner(p, name, v.Index(i))
				}
			}
		}
	case reflect.Struct:
		if list := fieldsOf(t, name+"."); len(list) > 0 {
			return func(p *places, _ string, v reflect.Value) { p.fields(list, v) }
		}
	}
	return nil
}

// fields reads fields of a struct, which must be addressable.
func (p *places) fields(list []field, v reflect.Value) {
	for i := range list {
		f := &list[i]
		f.walk(p, f.name, v.Field(f.index))
	}
}

// overlap is how much of a chunk is read again with the next one: more than the longest credential.
const overlap = reachKey

func (p *places) chunks(field string, chunks []graph.Chunk) {
	var part []byte
	for i := range chunks {
		part = append(part[max(0, len(part)-overlap):], chunks[i].Data...)
		p.text(field, string(part))
	}
}
