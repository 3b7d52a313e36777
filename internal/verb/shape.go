package verb

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// words are the shapes of types that are written as one value.
var words = map[reflect.Type]string{
	reflect.TypeFor[ipld.CID]():        "cid",
	reflect.TypeFor[graph.ID]():        "id",
	reflect.TypeFor[graph.Time]():      "time",
	reflect.TypeFor[graph.OptTime]():   "time|null",
	reflect.TypeFor[Text]():            "text|null",
	reflect.TypeFor[Weight]():          "number",
	reflect.TypeFor[Props]():           "object",
	reflect.TypeFor[json.RawMessage](): "json",
	reflect.TypeFor[Raw]():             "json",
	reflect.TypeFor[FieldValue]():      "json",
}

// Shapes returns the shapes that an answer may have, as operation.Schema reads them, from the types of the answers:
// the tags json and shape describe their members. The tag shape gives the shape of a value whose type does not tell
// it; null adds that a value may be null, and ? on an embedded struct that all of it may be missing.
func (s *Spec) Shapes() []string {
	if s.result != nil && s.Answers == nil {
		return []string{shapeOf(s.result, "")}
	}
	out := make([]string, len(s.Answers))
	for i, a := range s.Answers {
		out[i] = shapeOf(reflect.TypeOf(a), "")
	}
	return out
}

func shapeOf(t reflect.Type, tag string) string {
	word, known := words[t]
	switch {
	case tag == "null" && known:
		return quote(word + "|null")
	case tag != "" && tag != "null":
		if t.Kind() == reflect.Slice && t != reflect.TypeFor[json.RawMessage]() && tag != "object" {
			return "[" + quote(tag) + "]"
		}
		return quote(tag)
	case known:
		return quote(word)
	}
	switch t.Kind() {
	case reflect.Interface:
		if tag != "" {
			return quote(tag)
		}
		return quote("json")
	case reflect.Func: // an Each
		return "[" + shapeOf(t.In(0).In(0), "") + "]"
	case reflect.Pointer:
		return shapeOf(t.Elem(), tag)
	case reflect.Slice:
		return "[" + shapeOf(t.Elem(), "") + "]"
	case reflect.Struct:
		return "{" + strings.Join(membersOf(t), ", ") + "}"
	case reflect.Bool:
		return quote("bool")
	case reflect.String:
		if tag == "null" {
			return quote("text|null")
		}
		return quote("text")
	case reflect.Map:
		return quote("object")
	case reflect.Int, reflect.Int64, reflect.Uint64, reflect.Uint32:
		if tag == "null" {
			return quote("int|null")
		}
		return quote("int")
	}
	panic(fmt.Sprintf("%s has no shape", t))
}

func membersOf(t reflect.Type) (all []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			members := membersOf(pointed(f.Type))
			for i, m := range members {
				if name, shape, _ := strings.Cut(m, `": `); f.Tag.Get("shape") == "?" && !strings.HasSuffix(name, "?") {
					members[i] = name + `?": ` + shape
				}
			}
			all = append(all, members...)
			continue
		}
		if !f.IsExported() || name == "-" || strings.HasPrefix(name, "_") {
			continue
		}
		shape := shapeOf(f.Type, f.Tag.Get("shape"))
		optional := strings.HasPrefix(options, "omit")
		switch {
		case optional:
			name += "?"
		case f.Type.Kind() == reflect.Pointer && strings.HasPrefix(shape, "{"):
			if !Streams(f.Type.Elem()) { // what is written while it is made is always there
				name += "|null"
			}
		case f.Type.Kind() == reflect.Pointer && f.Tag.Get("shape") == "":
			shape = strings.TrimSuffix(shape, `"`) + `|null"`
		}
		all = append(all, quote(name)+": "+shape)
	}
	return all
}

func quote(s string) string { return `"` + s + `"` }

// Encode returns v as JSON that nothing is escaped in for HTML.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Text is a text of an answer that is null if it is empty.
type Text string

// MarshalJSON writes null for the empty text.
func (t Text) MarshalJSON() ([]byte, error) {
	if t == "" {
		return []byte("null"), nil
	}
	return Encode(string(t))
}

// Weight is the weight of an edge, written as the shortest decimal fraction that means it.
type Weight uint32

// MarshalJSON writes the fraction.
func (w Weight) MarshalJSON() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalJSON reads a fraction.
func (w *Weight) UnmarshalJSON(data []byte) error {
	x, err := strconv.ParseFloat(string(data), 64)
	if err != nil {
		return err
	}
	units, err := graph.EdgeWeight(x)
	*w = Weight(units)
	return err
}

func (w Weight) String() string {
	x := float64(w) / graph.MaxWeight
	for digits := range 6 {
		s := strconv.FormatFloat(x, 'f', digits, 64)
		short, err := strconv.ParseFloat(s, 64)
		if err != nil {
			break
		}
		if units, err := graph.EdgeWeight(short); err == nil && units == uint32(w) {
			return s
		}
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// Raw is a value in its JSON form, null if it is nil.
type Raw []byte

// MarshalJSON writes the value.
func (r Raw) MarshalJSON() ([]byte, error) {
	if r == nil {
		return []byte("null"), nil
	}
	return r, nil
}

// UnmarshalJSON reads a value, null as none.
func (r *Raw) UnmarshalJSON(data []byte) error {
	if *r = nil; string(data) != "null" {
		*r = bytes.Clone(data)
	}
	return nil
}

// Value returns the JSON form of a value; nil, which is written as null, for none.
func Value(v *ipld.Value) Raw {
	if v == nil {
		return nil
	}
	return ipld.AppendJSON(nil, *v)
}

// Props is a map of properties, written as an object in canonical order.
type Props []ipld.Entry

// MarshalJSON writes the object.
func (p Props) MarshalJSON() ([]byte, error) {
	return ipld.AppendJSON(nil, ipld.MapValue(p...)), nil
}

// UnmarshalJSON reads an object.
func (p *Props) UnmarshalJSON(data []byte) error {
	v, err := ipld.ParseJSON(data)
	*p = v.Entries()
	return err
}

// FieldValue is the value of one field alone.
type FieldValue struct{ Value any }

// MarshalJSON writes the value.
func (v FieldValue) MarshalJSON() ([]byte, error) { return Encode(v.Value) }

// UnmarshalJSON reads the value: a string is a text, and all else stays as it is.
func (v *FieldValue) UnmarshalJSON(data []byte) error {
	var text string
	if data[0] != '"' {
		v.Value = json.RawMessage(bytes.Clone(data))
		return nil
	}
	err := json.Unmarshal(data, &text)
	v.Value = text
	return err
}
