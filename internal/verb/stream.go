package verb

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/ipld"
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

// WriteJSON writes an answer as JSON in one line, without raw controls and bidirectional marks. Of structs it writes
// the members by their tags json; a list that is nil is [], and a text that is empty, or a 0, is null if its tag
// shape ends in null. One with an Each is written member by member, the items of that one by one.
func WriteJSON(w io.Writer, v any) error {
	out := &jsonBytes{to: w}
	if err := (&walker{to: out}).walk(v); err != nil {
		return err
	}
	out.buf = append(out.buf, '\n')
	return out.flush()
}

// JSON returns a value without an Each as WriteJSON writes it, but with nothing escaped that JSON allows.
func JSON(v any) ([]byte, error) {
	out := &jsonBytes{}
	err := (&walker{to: out}).walk(v)
	return out.buf, err
}

// Answer is one answer of a verb as other surfaces take it.
type Answer struct{ Of any }

// WriteJSON implements operation.Answer.
func (a Answer) WriteJSON(w io.Writer) error { return WriteJSON(w, a.Of) }

// Value implements operation.Answer.
func (a Answer) Value(most int) (v operation.Value, size int, err error) {
	out := &jsonValue{left: most}
	err = (&walker{to: out}).walk(a.Of)
	return out.done, most - out.left, err
}

// Text implements operation.Answer.
func (a Answer) Text(name string) string {
	v := reflect.Indirect(reflect.ValueOf(a.Of))
	if v.Kind() != reflect.Struct {
		return ""
	}
	for _, m := range membersOfStruct(v.Type()) {
		if to, err := v.FieldByIndexErr(m.path); m.name == name && err == nil {
			got, _, err := Answer{to.Interface()}.Value(maxText)
			if err == nil {
				return got.Word()
			}
		}
	}
	return ""
}

// maxText bounds a text of an answer that is asked for alone, as a CID or a cursor.
const maxText = 64 << 10

var eachType = reflect.TypeFor[eacher]()

// Streams reports whether a struct, or one in it, has an Each.
func Streams(t reflect.Type) bool {
	for i := range t.NumField() {
		f := t.Field(i)
		inner := pointed(f.Type)
		if f.IsExported() && f.Tag.Get("json") != "-" &&
			(f.Type.Implements(eachType) || inner.Kind() == reflect.Struct && inner != t && Streams(inner)) {
			return true
		}
	}
	return false
}

// pointed returns the type that a pointer is to, any other type as it is.
func pointed(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// parts takes a value in the order of its JSON form. What is none of its own error ends the walk.
type parts interface {
	open(kind byte) error      // of an object, '{', or a list, '['
	name(name string) error    // of the member that comes next
	text(s string) error       // a string
	literal(json []byte) error // any other value, as JSON
	close(kind byte) error     // '}' or ']'
}

// jsonBytes makes bytes of a value, and writes them to a writer, unless nil.
type jsonBytes struct {
	to    io.Writer
	buf   []byte // not yet written
	begun bool   // whether a comma comes before what comes next
}

// jsonBuffer is how many bytes are gathered before they are written.
const jsonBuffer = 32 << 10

func (w *jsonBytes) flush() error {
	_, err := w.to.Write(text.EscapeJSON(w.buf))
	w.buf = w.buf[:0]
	return err
}

func (w *jsonBytes) comma() {
	if w.begun {
		w.buf = append(w.buf, ',')
	}
	w.begun = true
}

func (w *jsonBytes) open(kind byte) error {
	w.comma()
	w.buf, w.begun = append(w.buf, kind), false
	return nil
}

func (w *jsonBytes) name(name string) error {
	w.comma()
	w.buf, w.begun = append(operation.AppendText(w.buf, name), ':'), false
	return nil
}

func (w *jsonBytes) text(s string) error {
	w.comma()
	w.buf = operation.AppendText(w.buf, s)
	return nil
}

func (w *jsonBytes) literal(json []byte) error {
	w.comma()
	w.buf = append(w.buf, json...)
	return nil
}

func (w *jsonBytes) close(kind byte) error {
	w.buf, w.begun = append(w.buf, kind), true
	if w.to != nil && len(w.buf) >= jsonBuffer {
		return w.flush()
	}
	return nil
}

// jsonValue makes an operation.Value of a value.
type jsonValue struct {
	left  int // bytes that more may have
	stack []operation.Value
	names []string
	done  operation.Value
}

func (w *jsonValue) add(v operation.Value, size int) error {
	if w.left -= size + 1; w.left < 0 {
		return operation.ErrTooLarge
	}
	n := len(w.stack) - 1
	switch {
	case n < 0:
		w.done = v
	case w.stack[n].Kind == '[':
		w.stack[n].Items = append(w.stack[n].Items, v)
	default:
		last := len(w.names) - 1
		w.stack[n].Members = append(w.stack[n].Members, operation.Member{Name: w.names[last], Value: v})
		w.names = w.names[:last]
	}
	return nil
}

func (w *jsonValue) open(kind byte) error {
	w.stack = append(w.stack, operation.Value{Kind: kind})
	return nil
}

func (w *jsonValue) name(name string) error {
	w.left -= len(name) + 2
	w.names = append(w.names, name)
	return nil
}

func (w *jsonValue) text(s string) error {
	return w.add(operation.TextValue(s), len(s)+1)
}

func (w *jsonValue) literal(json []byte) error {
	v, err := operation.ReadValue(json)
	return cmp.Or(err, w.add(v, len(json)))
}

func (w *jsonValue) close(byte) error {
	last := len(w.stack) - 1
	v := w.stack[last]
	w.stack = w.stack[:last]
	return w.add(v, 1)
}

type walker struct{ to parts }

func (w *walker) walk(v any) error { return w.value(reflect.ValueOf(v), false) }

var (
	marshalerType     = reflect.TypeFor[json.Marshaler]()
	textMarshalerType = reflect.TypeFor[encoding.TextMarshaler]()
	inlineType        = reflect.TypeFor[Inline]()
	ipldType          = reflect.TypeFor[ipld.Value]()
	propsType         = reflect.TypeFor[Props]()
	fieldValueType    = reflect.TypeFor[FieldValue]()
	textType          = reflect.TypeFor[Text]()
)

// Inline holds members of an answer that its type lacks.
type Inline []ipld.Entry

var null = []byte("null")

// value gives a value, and null for an empty text if nullable.
func (w *walker) value(v reflect.Value, nullable bool) error {
	if !v.IsValid() {
		return w.to.literal(null)
	}
	switch t := v.Type(); {
	case t == ipldType:
		return w.ipld(v.Interface().(ipld.Value))
	case t == propsType:
		return w.ipld(ipld.MapValue(v.Interface().(Props)...))
	case t == fieldValueType:
		return w.value(v.Field(0), false)
	case t == textType:
		return w.text(v, true)
	case t.Kind() == reflect.Func && t.Implements(eachType):
		return w.each(v.Interface().(eacher))
	case t.Kind() == reflect.Pointer && (v.IsNil() || marshals(t.Elem()) || !marshals(t)):
		return w.value(v.Elem(), nullable) // nil is no value
	case marshals(t):
		return w.encoded(v)
	}
	return w.plain(v, nullable)
}

// marshals reports whether values of a type say themselves what they are as JSON.
func marshals(t reflect.Type) bool {
	return t.Implements(marshalerType) || t.Implements(textMarshalerType)
}

// plain gives a value of a type that does not say itself what it is as JSON.
func (w *walker) plain(v reflect.Value, nullable bool) error {
	var buf [20]byte
	switch v.Kind() {
	case reflect.Interface:
		return w.value(v.Elem(), nullable)
	case reflect.Struct:
		return w.members(v)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return w.encoded(v)
		}
		return w.list(v)
	case reflect.Bool:
		return w.to.literal(strconv.AppendBool(buf[:0], v.Bool()))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if nullable && v.IsZero() {
			return w.to.literal(null)
		}
		return w.to.literal(strconv.AppendInt(buf[:0], v.Int(), 10))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return w.to.literal(strconv.AppendUint(buf[:0], v.Uint(), 10))
	case reflect.String:
		return w.text(v, nullable)
	}
	return w.encoded(v)
}

func (w *walker) list(v reflect.Value) error {
	err := w.to.open('[')
	for i := 0; i < v.Len() && err == nil; i++ {
		err = w.value(v.Index(i), false)
	}
	return cmp.Or(err, w.to.close(']'))
}

func (w *walker) text(v reflect.Value, nullable bool) error {
	if nullable && v.Len() == 0 {
		return w.to.literal(null)
	}
	return w.to.text(v.String())
}

// ipld gives a value of a node or a block.
func (w *walker) ipld(v ipld.Value) error {
	switch v.Kind() {
	case ipld.String:
		return w.to.text(v.Text())
	case ipld.List:
		err := w.to.open('[')
		for _, item := range v.List() {
			err = cmp.Or(err, w.ipld(item))
		}
		return cmp.Or(err, w.to.close(']'))
	case ipld.Map:
		return cmp.Or(w.to.open('{'), w.entries(v.Entries()), w.to.close('}'))
	}
	return w.to.literal(ipld.AppendJSON(nil, v))
}

func (w *walker) entries(list []ipld.Entry) error {
	for _, e := range list {
		if err := cmp.Or(w.to.name(e.Key), w.ipld(e.Value)); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) encoded(v reflect.Value) error {
	data, err := Encode(v.Interface())
	return cmp.Or(err, w.to.literal(data))
}

type member struct {
	path             []int // to it through embedded structs
	name             string
	inline           bool // whether it is an Inline
	omitZero, omitIf bool // left out if it is zero, or empty
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
		inner := pointed(f.Type)
		switch {
		case f.Type == inlineType:
			list = append(list, member{path: at, name: f.Name, inline: true})
		case name == "-":
		case f.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			list = appendMembers(list, inner, at)
		case f.IsExported():
			list = append(list, member{
				path: at, name: cmp.Or(name, f.Name), nullable: nullable(f.Tag.Get("shape")),
				omitZero: options == "omitzero", omitIf: options == "omitempty",
			})
		}
	}
	return list
}

func nullable(shape string) bool { return shape == "null" || strings.HasSuffix(shape, "|null") }

func (w *walker) members(v reflect.Value) error {
	err := w.to.open('{')
	for _, m := range membersOfStruct(v.Type()) {
		value, missing := v.FieldByIndexErr(m.path)
		switch {
		case err != nil:
			return err
		case missing != nil: // of no embedded struct
		case m.inline:
			err = w.entries(value.Interface().(Inline))
		case m.omitZero && isZero(value) || m.omitIf && isEmpty(value):
		default:
			err = cmp.Or(w.to.name(m.name), w.value(value, m.nullable))
		}
	}
	return cmp.Or(err, w.to.close('}'))
}

// isZero reports whether encoding/json leaves out a member with omitzero and this value.
func isZero(v reflect.Value) bool {
	if z, ok := v.Interface().(interface{ IsZero() bool }); ok && (v.Kind() != reflect.Pointer || !v.IsNil()) {
		return z.IsZero()
	}
	return v.IsZero()
}

// isEmpty reports whether encoding/json leaves out a member with omitempty and this value.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String, reflect.Array:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

func (w *walker) each(list eacher) error {
	err := w.to.open('[')
	if err == nil {
		err = list.each(func(item any) error { return w.walk(item) })
	}
	return cmp.Or(err, w.to.close(']'))
}

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
