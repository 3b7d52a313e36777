package graph

import (
	"bytes"
	"maps"
	"slices"

	"github.com/mnem-project/mnem/ipld"
)

// propsField is the field whose entries merge separately.
const propsField = "props"

// field is one thing that merges separately: a field of a record, or one of its properties.
type field struct {
	prop bool
	name string
}

func (f field) String() string {
	if f.prop {
		return propsField + "." + f.name
	}
	return f.name
}

// fields are the encoded values of a record's fields and properties.
type fields map[field][]byte

func readFields(block []byte) (fields, error) {
	d, err := ipld.NewDecoder(block)
	if err != nil {
		return nil, err
	}
	out := make(fields)
	read := func(prop bool, name string) error {
		item, err := d.Item()
		out[field{prop, name}] = item
		return err
	}
	err = d.Map(func(key string) error {
		if key == propsField {
			return d.Map(func(name string) error { return read(true, name) })
		}
		return read(false, key)
	})
	return out, err
}

// encode returns the record. Only nodes and edges have properties, and they always have that field.
func (f fields) encode() []byte {
	var names, props []string
	for key := range f {
		if key.prop {
			props = append(props, key.name)
		} else {
			names = append(names, key.name)
		}
	}
	if kind := f[field{name: "kind"}]; !bytes.Equal(kind, ipld.AppendString(nil, KindMark)) {
		names = append(names, propsField)
	}
	slices.SortFunc(names, ipld.CompareKeys)
	slices.SortFunc(props, ipld.CompareKeys)
	b := ipld.AppendMap(nil, len(names))
	for _, name := range names {
		b = ipld.AppendString(b, name)
		if name != propsField {
			b = append(b, f[field{name: name}]...)
			continue
		}
		b = ipld.AppendMap(b, len(props))
		for _, prop := range props {
			b = append(ipld.AppendString(b, prop), f[field{true, prop}]...)
		}
	}
	return b
}

// equal reports whether two states agree in the named fields.
func (f fields) equal(g fields, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		return !bytes.Equal(f[field{name: name}], g[field{name: name}])
	})
}

// names returns the names of the fields.
func (f fields) names() []string {
	var out []string
	for key := range f {
		if !key.prop {
			out = append(out, key.name)
		}
	}
	return out
}

// fieldNames returns the fields of either state, in order.
func fieldNames(a, b fields) []field {
	all := slices.Collect(maps.Keys(a))
	for key := range b {
		if _, ok := a[key]; !ok {
			all = append(all, key)
		}
	}
	slices.SortFunc(all, func(a, b field) int {
		switch {
		case a.prop == b.prop:
			return ipld.CompareKeys(a.name, b.name)
		case b.prop:
			return -1
		}
		return 1
	})
	return all
}
