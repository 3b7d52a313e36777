package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	escape "github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// kind is the type of a tool's argument.
type kind int

const (
	text    kind = iota + 1
	number       // an integer
	decimal      // any number
	boolean      // true or false
	texts        // a list of strings
	objects      // a list of JSON objects
)

// param is one argument of a tool.
type param struct {
	name     string
	kind     kind
	doc      string
	enum     []string
	required bool
	min, max int64 // of numbers; both 0 for any

	// If the value goes: the flag of the operation's command, or the place among its words,
	// counted from 1. With neither the tool itself reads it.
	flag string
	word int
}

const (
	maxArgument  = 1 << 20 // bytes of one string
	maxList      = 10_000  // entries of one list
	maxTokensMin = 200     // below, nothing but a cursor fits
	maxTokensMax = 20_000  // clients refuse answers of 25,000 tokens whole
	maxTokens    = 4_000   // where the call does not say
)

// paged are the arguments of every tool whose answers have pages.
var paged = []param{
	{name: "max_tokens", kind: number, min: maxTokensMin, max: maxTokensMax},
	{name: "cursor", kind: text, doc: "to go on"},
}

// schema returns the JSON Schema of a tool's arguments.
func schema(params []param) json.RawMessage {
	var b bytes.Buffer
	b.WriteString(`{"type":"object","properties":{`)
	var required []string
	for i, p := range params {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%s:%s", quoted(p.name), p.schema())
		if p.required {
			required = append(required, p.name)
		}
	}
	b.WriteByte('}')
	if len(required) > 0 {
		fmt.Fprintf(&b, `,"required":%s`, encode(required))
	}
	b.WriteString(`,"additionalProperties":false}`)
	return b.Bytes()
}

func (p *param) schema() string {
	var parts []string
	switch p.kind {
	case text:
		parts = append(parts, `"type":"string"`)
	case number:
		parts = append(parts, `"type":"integer"`)
	case decimal:
		parts = append(parts, `"type":"number"`)
	case boolean:
		parts = append(parts, `"type":"boolean"`)
	case texts:
		parts = append(parts, `"type":"array","items":{"type":"string"}`)
	case objects:
		parts = append(parts, `"type":"array","items":{"type":"object"}`)
	}
	if p.enum != nil {
		parts = append(parts, `"enum":`+string(encode(p.enum)))
	}
	doc := p.doc
	if p.min != 0 || p.max != 0 { // in fewer tokens than minimum and maximum are
		doc = strings.TrimPrefix(doc+", ", ", ") + fmt.Sprintf("%d to %d", p.min, p.max)
	}
	if doc != "" {
		parts = append(parts, `"description":`+quoted(doc))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// arguments holds the arguments of one call, by name, each of the type of its param. A null is as if it were
// not there: clients send it for what was left open.
type arguments map[string]json.RawMessage

// check reads the arguments of a call and says what is wrong with them. A list, number or truth value that came as JSON
// in a string is read from there, and named in misread.
func check(params []param, data json.RawMessage) (args arguments, misread []string, err error) {
	args = arguments{}
	if len(bytes.TrimSpace(data)) > 0 {
		if err := json.Unmarshal(data, &args); err != nil {
			return nil, nil, invalid("arguments are not a JSON object", "")
		}
	}
	var names []string
	for _, p := range params {
		names = append(names, p.name)
		v, given := args[p.name]
		if given && string(v) == "null" {
			delete(args, p.name)
			given = false
		}
		switch {
		case given:
			inner, is := p.unwrap(v)
			if is {
				args[p.name], v, misread = inner, inner, append(misread, p.name)
			}
			if err := p.check(v); err != nil {
				return nil, nil, err
			}
		case p.required:
			return nil, nil, invalid(fmt.Sprintf("argument %q is missing", p.name), p.doc)
		}
	}
	for name := range args {
		if !slices.Contains(names, name) {
			return nil, nil, invalid(fmt.Sprintf("unknown argument %q", name),
				"this tool has: "+strings.Join(names, ", "))
		}
	}
	return args, misread, nil
}

// unwrap returns the JSON value in a string that was given for what is no string, and whether there is one of the right
// kind.
func (p *param) unwrap(v json.RawMessage) (json.RawMessage, bool) {
	var s string
	if p.kind == text || len(v) > maxArgument || !bytes.HasPrefix(v, []byte(`"`)) || json.Unmarshal(v, &s) != nil {
		return nil, false
	}
	inner := bytes.TrimSpace([]byte(s))
	if !json.Valid(inner) || p.check(inner) != nil {
		return nil, false
	}
	return inner, true
}

// check says what is wrong with the value of one argument.
func (p *param) check(v json.RawMessage) error {
	bad := func(want string) error {
		return invalid(fmt.Sprintf("argument %q: want %s", p.name, want), p.doc)
	}
	switch p.kind {
	case text:
		var s string
		if json.Unmarshal(v, &s) != nil {
			return bad("a string")
		}
		return p.checkText(s)
	case number:
		var n int64
		if json.Unmarshal(v, &n) != nil {
			return bad("an integer")
		}
		if (p.min != 0 || p.max != 0) && (n < p.min || n > p.max) {
			return bad(fmt.Sprintf("%d to %d", p.min, p.max))
		}
	case decimal:
		var x json.Number
		if v[0] == '"' || json.Unmarshal(v, &x) != nil {
			return bad("a number")
		}
	case boolean:
		var is bool
		if json.Unmarshal(v, &is) != nil {
			return bad("true or false")
		}
	case texts:
		var list []*string
		if json.Unmarshal(v, &list) != nil || slices.Contains(list, nil) {
			return bad("a list of strings")
		}
		if len(list) > maxList {
			return bad(fmt.Sprintf("at most %d entries", maxList))
		}
		for _, s := range list {
			if err := p.checkText(*s); err != nil {
				return err
			}
		}
	case objects:
		var list []json.RawMessage
		if json.Unmarshal(v, &list) != nil {
			return bad("a list of objects")
		}
		if len(list) > maxList {
			return bad(fmt.Sprintf("at most %d entries", maxList))
		}
		for i, o := range list {
			if !bytes.HasPrefix(o, []byte("{")) {
				return bad(fmt.Sprintf("an object at [%d]", i))
			}
		}
	}
	return nil
}

func (p *param) checkText(s string) error {
	if len(s) > maxArgument {
		return invalid(fmt.Sprintf("argument %q is longer than 1 MiB", p.name), "")
	}
	if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
		return invalid(fmt.Sprintf("argument %q holds a NUL or no UTF-8", p.name), "")
	}
	if p.enum != nil && !slices.Contains(p.enum, s) {
		return invalid(fmt.Sprintf("argument %q: want one of %s", p.name, strings.Join(p.enum, ", ")), "")
	}
	return nil
}

func (a arguments) text(name string) (s string) {
	if v, ok := a[name]; ok {
		_ = json.Unmarshal(v, &s) // checked
	}
	return s
}

func (a arguments) number(name string, otherwise int) int {
	n := otherwise
	if v, ok := a[name]; ok {
		_ = json.Unmarshal(v, &n) // checked
	}
	return n
}

func (a arguments) list(name string) (list []json.RawMessage) {
	if v, ok := a[name]; ok {
		_ = json.Unmarshal(v, &list) // checked
	}
	return list
}

// bind gives an operation the arguments that go to it.
func bind(call *operation.Call, params []param, args arguments) {
	for _, p := range params {
		v, given := args[p.name]
		if !given {
			continue
		}
		switch {
		case p.flag != "":
			set(call, flagged(call.Operation, p.flag), v)
		case p.word > 0:
			set(call, worded(call.Operation, p.word), v)
		}
	}
}

// set gives a parameter its value; a single text becomes a list where the operation takes one.
func set(call *operation.Call, to *operation.Param, v json.RawMessage) {
	if to == nil {
		return // an operation without it: a test of the table holds tools and operations together
	}
	if to.Kind == operation.Strings && !bytes.HasPrefix(v, []byte("[")) {
		v = slices.Concat([]byte("["), v, []byte("]"))
	}
	call.Args[to.Name] = v
}

// flagged returns the parameter that a flag of the command is, nil for none.
func flagged(op *operation.Operation, flag string) *operation.Param {
	for i := range op.Params {
		if op.Params[i].Flag == flag {
			return &op.Params[i]
		}
	}
	return nil
}

// worded returns the n-th parameter that is a word of the command, nil for none.
func worded(op *operation.Operation, n int) *operation.Param {
	for i := range op.Params {
		p := &op.Params[i]
		if p.Flag == "" && p.Kind != operation.Lines {
			if n--; n == 0 {
				return p
			}
		}
	}
	return nil
}

// lined returns the parameter that takes lines, nil for none.
func lined(op *operation.Operation) *operation.Param {
	for i := range op.Params {
		if op.Params[i].Kind == operation.Lines {
			return &op.Params[i]
		}
	}
	return nil
}

// encode writes a value whose JSON form cannot fail, on one line and cleaned, with & and > as they are.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // a mistake in the code
	}
	return cleaned(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// cleaned returns JSON of the same value in which no control, bidirectional mark or beginning of a tag stands raw.
func cleaned(data []byte) json.RawMessage {
	return json.RawMessage(escape.EscapeJSONTags(string(escape.EscapeJSON(data))))
}

func quoted(s string) string { return string(encode(s)) }
