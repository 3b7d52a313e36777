package operation

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// stdin is the argument that stands for standard input on the command line.
const stdin = "-"

// Arguments are the checked arguments of a call.
type Arguments struct {
	// Values are the values of the given parameters: a string, []string, int64, float64 or bool.
	Values map[string]any
	Body   io.Reader // nil for nothing
	// Lines is whether the body holds lines.
	Lines bool
}

// Arguments checks the arguments of the call. The error is an *Error of Usage and names the parameter.
func (c *Call) Arguments() (*Arguments, error) {
	o := c.Operation
	for name := range c.Args {
		if o.Param(name) == nil {
			return nil, unknown(o, name)
		}
	}
	out := &Arguments{Values: map[string]any{}, Body: c.Body}
	skipped := "" // the first word that is left out: none can follow it
	for i := range o.Params {
		p := &o.Params[i]
		raw, given := c.Args[p.Name]
		given = given && string(raw) != "null"
		var err error
		switch {
		case p.Kind == Lines && given && c.Body != nil:
			return nil, usage(p, "the body has the lines already")
		case p.Kind == Lines && given:
			out.Body, err = lines(p, raw)
			out.Lines = true
		case p.Kind == Lines && c.Body != nil:
			out.Lines = true
		case !given && p.Required:
			return nil, usage(p, "is required")
		case !given && p.Flag == "" && skipped == "" && p.Kind != Strings && p.Kind != Lines:
			skipped = p.Name
		case given:
			var value any
			if value, err = p.value(raw); err != nil || value == nil {
				break
			}
			out.Values[p.Name] = value
			if list, is := value.([]string); p.Flag == "" && skipped != "" && !p.Required && !(is && len(list) == 0) {
				return nil, usage(p, "needs %q too", skipped)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	if o.Body == "" {
		out.Body = nil
	}
	return out, nil
}

// value returns an argument as its field has it, nil for false that leaves a flag out.
func (p *Param) value(raw json.RawMessage) (any, error) {
	if p.True != "" && string(raw) == "true" {
		return p.True, nil
	} else if p.True != "" && string(raw) == "false" {
		return nil, nil
	}
	switch p.Kind {
	case Strings:
		list, err := decode[[]string](p, raw, "a list of strings")
		for i := 0; i < len(list) && err == nil; i++ {
			err = p.check(list[i])
		}
		if err == nil && list == nil {
			err = usage(p, "want a list of strings")
		}
		return list, err
	case Integer:
		n, err := strconv.ParseInt(string(raw), 10, 64)
		if err != nil {
			return nil, usage(p, "want an integer")
		}
		return n, nil
	case Number:
		return decode[float64](p, raw, "a number")
	case Boolean:
		return decode[bool](p, raw, "true or false")
	}
	s, err := decode[string](p, raw, "a string"+p.orBoolean())
	return s, cmp.Or(err, p.check(s))
}

func decode[T any](p *Param, raw json.RawMessage, want string) (value T, err error) {
	if json.Unmarshal(raw, &value) != nil {
		err = usage(p, "want %s", want)
	}
	return value, err
}

func (p *Param) check(s string) error {
	switch {
	case strings.ContainsRune(s, 0):
		return usage(p, "has a NUL")
	case s == stdin && p.Flag == "":
		return usage(p, `"-" is standard input on the command line, which is not here`)
	case p.Enum != nil && !slices.Contains(p.Enum, s):
		return usage(p, "%q is not one of %s%s", s, strings.Join(p.Enum, ", "), p.orBoolean())
	}
	return nil
}

// orBoolean says that a parameter of texts takes true and false too.
func (p *Param) orBoolean() string {
	if p.True == "" {
		return ""
	}
	return ", or true or false"
}

// lines returns a list of objects as lines. Their members are unchanged; the reader refuses duplicate members.
func lines(p *Param, raw json.RawMessage) (io.Reader, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil || list == nil {
		return nil, usage(p, "want a list of objects")
	}
	var b bytes.Buffer
	for i, item := range list {
		if len(item) == 0 || item[0] != '{' {
			return nil, usage(p, "item %d is not an object", i+1)
		}
		if err := json.Compact(&b, item); err != nil {
			return nil, usage(p, "item %d: %v", i+1, err)
		}
		b.WriteByte('\n')
	}
	return &b, nil
}

func usage(p *Param, format string, args ...any) error {
	return &Error{Outcome: Usage, Message: p.Name + ": " + fmt.Sprintf(format, args...)}
}

func unknown(o *Operation, name string) error {
	known := make([]string, len(o.Params))
	for i := range o.Params {
		known[i] = o.Params[i].Name
	}
	hint := o.Name + " has no parameters"
	if len(known) > 0 {
		hint = o.Name + " has " + strings.Join(known, ", ")
	}
	return &Error{Outcome: Usage, Message: fmt.Sprintf("unknown parameter %q", name), Hint: hint}
}

// A shape is how the docs write what an answer looks like: JSON whose strings say what stands in their place. "cid",
// "id", "time", "int", "number", "text", "bool", "object", "json" and "null" are kinds of values, other words are
// themselves, "a|b" is one of both; a list has any number of items of the one shape in it; a member whose name ends
// in |null may be null, and one whose name ends in ? may be missing.

// Schema returns the JSON Schema, 2020-12, of a shape. Members that it does not name are allowed:
// later releases may add some.
func Schema(shape string) (json.RawMessage, error) {
	var v any
	if err := json.Unmarshal([]byte(shape), &v); err != nil {
		return nil, fmt.Errorf("shape: %w: %s", err, shape)
	}
	return json.Marshal(schemaOf(v))
}

func schemaOf(shape any) map[string]any {
	switch shape := shape.(type) {
	case string:
		return wordSchema(shape)
	case []any:
		if len(shape) == 0 {
			return map[string]any{"type": "array"}
		}
		return map[string]any{"type": "array", "items": schemaOf(shape[0])}
	case map[string]any:
		return objectSchema(shape)
	}
	return map[string]any{}
}

func objectSchema(shape map[string]any) map[string]any {
	properties, required := map[string]any{}, []string{}
	for name, member := range shape {
		bare, optional := strings.CutSuffix(name, "?")
		bare, null := strings.CutSuffix(bare, "|null")
		s := schemaOf(member)
		if null {
			s["type"] = []any{s["type"], "null"}
		}
		properties[bare] = s
		if !optional {
			required = append(required, bare)
		}
	}
	return map[string]any{
		"type": "object", "properties": properties, "required": slices.Sorted(slices.Values(required)),
	}
}

// kindSchemas lists the schemas of the words that stand for a kind of value, made when a door first wants them.
var kindSchemas = sync.OnceValue(func() map[string]map[string]any {
	return map[string]map[string]any{
		"json":   {},
		"null":   {"type": "null"},
		"text":   {"type": "string"},
		"bool":   {"type": "boolean"},
		"number": {"type": "number"},
		"object": {"type": "object"},
		"int":    {"type": "integer"},
		"cid":    {"type": "string", "pattern": "^baf(yrei|krei)[a-z2-7]{52}$"},
		"id":     {"type": "string", "format": "uuid"},
		"time":   {"type": "string", "format": "date-time"},
	}
})

// wordSchema returns the schema of words with | between them.
func wordSchema(shape string) map[string]any {
	var literals []any
	var kinds []map[string]any
	null := false
	for word := range strings.SplitSeq(shape, "|") {
		switch s, known := kindSchemas()[word]; {
		case word == "null":
			null = true
		case known:
			kinds = append(kinds, maps.Clone(s)) // which are changed below
		default:
			literals = append(literals, word)
		}
	}
	if literals != nil {
		if null && kinds == nil {
			literals, null = append(literals, nil), false
		}
		kinds = append(kinds, map[string]any{"enum": literals})
	}
	switch {
	case len(kinds) == 0:
		return map[string]any{"type": "null"}
	case len(kinds) > 1:
		if null {
			kinds = append(kinds, map[string]any{"type": "null"})
		}
		return map[string]any{"anyOf": kinds}
	}
	if typ, has := kinds[0]["type"]; has && null {
		kinds[0]["type"] = []any{typ, "null"}
	}
	return kinds[0]
}

// Schema returns the JSON Schema of a parameter's value.
func (p *Param) Schema() map[string]any {
	item := map[string]any{"type": "string"}
	if p.Enum != nil {
		item["enum"] = p.Enum
	}
	s := map[string]any{"type": map[ParamKind]string{Integer: "integer", Number: "number", Boolean: "boolean"}[p.Kind]}
	switch p.Kind {
	case String:
		s = item
		if p.True != "" {
			s = map[string]any{"anyOf": []any{map[string]any{"type": "boolean"}, item}}
		}
	case Strings:
		s = map[string]any{"type": "array", "items": item}
	case Lines:
		s = map[string]any{"type": "array", "items": map[string]any{"type": "object"}}
	}
	if p.Doc != "" {
		s["description"] = p.Doc
	}
	return s
}

// InputSchema returns the JSON Schema of the arguments: an object with no other members.
func (o *Operation) InputSchema() json.RawMessage {
	properties, required := map[string]any{}, []string{}
	for i := range o.Params {
		p := &o.Params[i]
		properties[p.Name] = p.Schema()
		if p.Required {
			required = append(required, p.Name)
		}
	}
	s := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	data, _ := json.Marshal(s) // maps and strings always have a JSON form
	return data
}

// OutputSchema returns the JSON Schema of an answer, or of each line of one, nil for one that is no
// JSON. It is an object's wherever all shapes are, so that a surface which wants objects can tell.
func (o *Operation) OutputSchema() (json.RawMessage, error) {
	if len(o.Shapes) == 0 {
		return nil, nil
	}
	var all []json.RawMessage
	objects := true
	for _, shape := range o.Shapes {
		s, err := Schema(shape)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.Name, err)
		}
		all = append(all, s)
		objects = objects && strings.HasPrefix(shape, "{")
	}
	if len(all) == 1 {
		return all[0], nil
	}
	s := map[string]any{"anyOf": all}
	if objects {
		s["type"] = "object"
	}
	return json.Marshal(s)
}

// Answer is one answer to a call, in the type of its verb.
type Answer interface {
	// WriteJSON writes the answer as JSON in one line.
	WriteJSON(w io.Writer) error
	// Value returns the answer part by part and about how many bytes its JSON form has, or ErrTooLarge if they are
	// more than most.
	Value(most int) (v Value, size int, err error)
	// Text returns the member of a name if that is a text, else "".
	Text(name string) string
}

// ErrTooLarge is returned for an answer that has more bytes than its caller takes.
var ErrTooLarge = errors.New("the answer is too large")

// Value is a part of an answer as JSON has it, before bytes are made of it.
type Value struct {
	Kind    byte     // '{' of an object, '[' of a list, '"' of a text, 0 of any other
	Text    string   // the text, or the JSON form of a number, true, false or null
	Members []Member // of an object, in their order
	Items   []Value  // of a list
}

// Member is a name of an object with its value.
type Member struct {
	Name  string
	Value Value
}

// TextValue returns a text.
func TextValue(s string) Value { return Value{Kind: '"', Text: s} }

// Find returns the value of a name, the zero Value if there is none.
func (v *Value) Find(name string) Value {
	for i := range v.Members {
		if v.Members[i].Name == name {
			return v.Members[i].Value
		}
	}
	return Value{}
}

// Word returns a text, "" for any other value.
func (v Value) Word() string {
	if v.Kind != '"' {
		return ""
	}
	return v.Text
}

// IsZero reports whether there is no value, not even null.
func (v Value) IsZero() bool { return v.Kind == 0 && v.Text == "" }

// Append appends the value as JSON.
func (v *Value) Append(to []byte) []byte {
	switch v.Kind {
	case '"':
		return AppendText(to, v.Text)
	case '{':
		to = append(to, '{')
		for i := range v.Members {
			if i > 0 {
				to = append(to, ',')
			}
			to = append(AppendText(to, v.Members[i].Name), ':')
			to = v.Members[i].Value.Append(to)
		}
		return append(to, '}')
	case '[':
		to = append(to, '[')
		for i := range v.Items {
			if i > 0 {
				to = append(to, ',')
			}
			to = v.Items[i].Append(to)
		}
		return append(to, ']')
	}
	return append(to, v.Text...)
}

// AppendText appends a text as JSON, with nothing escaped for HTML.
func AppendText(to []byte, s string) []byte {
	if strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) < 0 {
		return append(append(append(to, '"'), s...), '"')
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a text has a JSON form
	return append(to, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}

// ReadValue reads one JSON value, as another process wrote it.
func ReadValue(data []byte) (Value, error) {
	data = bytes.Trim(data, " \t\r\n")
	if len(data) > 0 && data[0] != '{' && data[0] != '[' && data[0] != '"' && json.Valid(data) {
		return Value{Text: string(data)}, nil
	}
	if !json.Valid(data) { // which bounds the depth, too
		return Value{}, fmt.Errorf("an answer is no JSON: %.40q", data)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return readNext(dec)
}

func readNext(dec *json.Decoder) (v Value, err error) {
	t, err := dec.Token()
	if err != nil {
		return v, err
	}
	switch t := t.(type) {
	case string:
		return TextValue(t), nil
	case nil:
		return Value{Text: "null"}, nil
	case json.Delim:
		v.Kind = byte(t)
	default:
		return Value{Text: fmt.Sprint(t)}, nil
	}
	for dec.More() && err == nil {
		var m Member
		if v.Kind == '{' {
			var name json.Token
			if name, err = dec.Token(); err != nil {
				break
			}
			m.Name, _ = name.(string)
		}
		m.Value, err = readNext(dec)
		if v.Kind == '{' {
			v.Members = append(v.Members, m)
		} else {
			v.Items = append(v.Items, m.Value)
		}
	}
	if err == nil {
		_, err = dec.Token()
	}
	return v, err
}

// Values runs a call and returns its answers part by part, or ErrTooLarge if they have more than about most bytes.
func Values(ctx context.Context, r Runner, call Call, most int) ([]Value, Outcome, error) {
	g := &gathered{left: most}
	call.Answer = func(answer Answer) error {
		v, size, err := answer.Value(g.left)
		g.left, g.values, g.large = g.left-size, append(g.values, v), g.large || errors.Is(err, ErrTooLarge)
		return err
	}
	outcome, err := r.Run(ctx, call, g)
	switch {
	case g.large:
		return nil, Invalid, ErrTooLarge
	case err != nil:
		return nil, outcome, err
	}
	for line := range bytes.Lines(g.bytes) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			v, err := ReadValue(line)
			if err != nil {
				return nil, outcome, err
			}
			g.values = append(g.values, v)
		}
	}
	return g.values, outcome, nil
}

// gathered keeps answers up to a size, and refuses more.
type gathered struct {
	values []Value
	bytes  []byte // what another process answered, one value a line
	left   int
	large  bool
}

func (g *gathered) Write(data []byte) (int, error) {
	if g.left -= len(data); g.left < 0 {
		g.large = true
		return 0, ErrTooLarge
	}
	g.bytes = append(g.bytes, data...)
	return len(data), nil
}

// Bytes is an answer as another process wrote it.
type Bytes []byte

// WriteJSON implements Answer.
func (b Bytes) WriteJSON(w io.Writer) error {
	_, err := w.Write(append(bytes.TrimSpace(b), '\n'))
	return err
}

// Value implements Answer.
func (b Bytes) Value(most int) (v Value, size int, err error) {
	if len(b) > most {
		return v, len(b), ErrTooLarge
	}
	v, err = ReadValue(b)
	return v, len(b), err
}

// Text implements Answer.
func (b Bytes) Text(name string) string {
	v, err := ReadValue(b)
	if err != nil {
		return ""
	}
	member := v.Find(name)
	return member.Word()
}
