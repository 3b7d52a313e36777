package verb

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
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

// Shapes returns the shapes that an answer may have, as operation.Schema reads them, from the types of
// the answers: the tags json and shape describe their members. The tag shape gives the shape of a value
// whose type does not tell it; null adds that a value may be null, and ? on an embedded struct that all of
// it may be missing.
func (s *Spec) Shapes() []string {
	var types []reflect.Type
	if s.result != nil && s.Answers == nil {
		types = []reflect.Type{s.result}
	}
	for _, a := range s.Answers {
		types = append(types, reflect.TypeOf(a))
	}
	out := make([]string, len(types))
	for i, t := range types {
		out[i] = shapeOf(t, "")
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
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			members := membersOf(inner)
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
