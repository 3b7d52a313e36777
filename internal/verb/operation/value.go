package operation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

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
