package verb

import (
	"cmp"
	"encoding"
	"encoding/json"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mnem-project/mnem/internal/base/text"
)

// Each is a list of an answer that is made while it is written, so that an answer of any length is never
// held. What follows it in the answer may be filled in by it.
type Each[T any] func(yield func(T) error) error

func (e Each[T]) each(yield func(any) error) error {
	return e(func(v T) error { return yield(v) })
}

// eacher is an Each of any type.
type eacher interface {
	each(yield func(any) error) error
}

// WriteJSON writes an answer as JSON in one line, without raw controls and bidirectional marks. Of structs it writes the
// members by their tags json; a list that is nil is [], and a text that is empty, or a 0, is null if its tag shape
// ends in null.
// One with an Each is written member by member, the items of that one by one.
func WriteJSON(w io.Writer, v any) error {
	out := &jsonWriter{to: w}
	out.value(reflect.ValueOf(v), false)
	out.bytes("\n")
	return out.flush()
}

// JSON returns a value without an Each as WriteJSON writes it, but with nothing escaped that JSON allows.
func JSON(v any) ([]byte, error) {
	w := &jsonWriter{}
	w.value(reflect.ValueOf(v), false)
	return w.buf, w.err
}

var eachType = reflect.TypeFor[eacher]()

// Streams reports whether a struct, or one in it, has an Each.
func Streams(t reflect.Type) bool {
	for i := range t.NumField() {
		f := t.Field(i)
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if f.IsExported() && f.Tag.Get("json") != "-" &&
			(f.Type.Implements(eachType) || inner.Kind() == reflect.Struct && inner != t && Streams(inner)) {
			return true
		}
	}
	return false
}

// jsonWriter writes values as JSON. Its first error stops it.
type jsonWriter struct {
	to  io.Writer
	buf []byte // not yet written
	err error
}

// jsonBuffer is how many bytes are gathered before they are written.
const jsonBuffer = 32 << 10

func (w *jsonWriter) bytes(text string) { w.buf = append(w.buf, text...) }

// flush writes what was gathered.
func (w *jsonWriter) flush() error {
	if w.err == nil {
		_, w.err = w.to.Write(text.EscapeJSON(w.buf))
	}
	w.buf = w.buf[:0]
	return w.err
}

var (
	listType          = reflect.TypeFor[interface{ isList() }]()
	marshalerType     = reflect.TypeFor[json.Marshaler]()
	textMarshalerType = reflect.TypeFor[encoding.TextMarshaler]()
)

// value writes a value, and null for an empty text if nullable.
func (w *jsonWriter) value(v reflect.Value, nullable bool) {
	switch {
	case w.err != nil:
	case !v.IsValid():
		w.bytes("null")
	case v.Type().Implements(eachType) && v.Kind() == reflect.Func:
		w.each(v.Interface().(eacher))
	case v.Type().Implements(listType):
		w.plain(v, nullable) // its items are written as all else is
	case v.Type().Implements(marshalerType), v.Type().Implements(textMarshalerType):
		w.encoded(v)
	default:
		w.plain(v, nullable)
	}
}

// plain writes a value of a type that does not say itself what it is as JSON.
func (w *jsonWriter) plain(v reflect.Value, nullable bool) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		w.value(v.Elem(), nullable) // nil is no value
	case reflect.Struct:
		w.bytes("{")
		w.members(v)
		w.bytes("}")
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			w.encoded(v)
			return
		}
		w.bytes("[")
		for i := range v.Len() {
			if i > 0 {
				w.bytes(",")
			}
			w.value(v.Index(i), false)
		}
		w.bytes("]")
	case reflect.Bool:
		w.buf = strconv.AppendBool(w.buf, v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if nullable && v.IsZero() {
			w.bytes("null")
			return
		}
		w.buf = strconv.AppendInt(w.buf, v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		w.buf = strconv.AppendUint(w.buf, v.Uint(), 10)
	case reflect.String:
		w.text(v, nullable)
	default:
		w.encoded(v)
	}
}

func (w *jsonWriter) text(v reflect.Value, nullable bool) {
	s := v.String()
	switch {
	case s == "" && nullable:
		w.bytes("null")
	case strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) < 0:
		w.bytes(quote(s))
	default:
		w.encoded(v)
	}
}

// encoded writes a value as the standard library does.
func (w *jsonWriter) encoded(v reflect.Value) {
	data, err := Encode(v.Interface())
	if err != nil {
		w.err = err
		return
	}
	w.buf = append(w.buf, data...)
}

// member is a field of a struct as it is written.
type member struct {
	path             []int  // to it through embedded structs
	name             string // in quotes, with a colon
	omitZero, omitIf bool   // left out if it is zero, or empty
	nullable         bool
}

var membersByType sync.Map // of reflect.Type, []member

// membersOfStruct returns the members of a struct in their order. Of several with one name the least embedded counts.
func membersOfStruct(t reflect.Type) []member {
	if known, ok := membersByType.Load(t); ok {
		return known.([]member)
	}
	list := appendMembers([]member{}, t, nil)
	least := make(map[string]int)
	for _, m := range list {
		if n, ok := least[m.name]; !ok || len(m.path) < n {
			least[m.name] = len(m.path)
		}
	}
	list = slices.DeleteFunc(list, func(m member) bool { return len(m.path) > least[m.name] })
	membersByType.Store(t, list)
	return list
}

func appendMembers(list []member, t reflect.Type, path []int) []member {
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(path[:len(path):len(path)], i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case name == "-":
		case f.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			list = appendMembers(list, inner, at)
		case f.IsExported():
			list = append(list, member{
				path: at, name: quote(cmp.Or(name, f.Name)) + ":", nullable: nullable(f.Tag.Get("shape")),
				omitZero: options == "omitzero", omitIf: options == "omitempty",
			})
		}
	}
	return list
}

// nullable reports whether a shape has null.
func nullable(shape string) bool { return shape == "null" || strings.HasSuffix(shape, "|null") }

func (w *jsonWriter) members(v reflect.Value) {
	begun := false
	for _, m := range membersOfStruct(v.Type()) {
		value, err := v.FieldByIndexErr(m.path)
		if err != nil || m.omitZero && isZero(value) || m.omitIf && isEmpty(value) { // of no embedded struct, or left out
			continue
		}
		if begun {
			w.bytes(",")
		}
		begun = true
		w.bytes(m.name)
		w.value(value, m.nullable)
	}
}

// isZero is what the standard library leaves out of a member with omitzero.
func isZero(v reflect.Value) bool {
	if z, ok := v.Interface().(interface{ IsZero() bool }); ok && (v.Kind() != reflect.Pointer || !v.IsNil()) {
		return z.IsZero()
	}
	return v.IsZero()
}

// isEmpty is what the standard library leaves out of a member with omitempty.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String, reflect.Array:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

// each writes items as they come, and what was gathered before.
func (w *jsonWriter) each(list eacher) {
	w.bytes("[")
	first := true
	err := list.each(func(item any) error {
		if !first {
			w.bytes(",")
		}
		first = false
		w.value(reflect.ValueOf(item), false)
		if len(w.buf) >= jsonBuffer && w.err == nil {
			return w.flush()
		}
		return w.err
	})
	if w.err == nil {
		w.err = err
	}
	w.bytes("]")
}
