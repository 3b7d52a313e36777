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

type kind int

const (
	text kind = iota + 1
	number
	decimal
	boolean
	texts
	objects
)

// kinds has the JSON Schema of each kind, and how an error calls it.
var kinds = [...]struct{ schema, want string }{
	text:    {`"type":"string"`, "a string"},
	number:  {`"type":"integer"`, "an integer"},
	decimal: {`"type":"number"`, "a number"},
	boolean: {`"type":"boolean"`, "true or false"},
	texts:   {`"type":"array","items":{"type":"string"}`, "a list of strings"},
	objects: {`"type":"array","items":{"type":"object"}`, "a list of objects"},
}

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

func schema(params []param) json.RawMessage {
	var properties, required []string
	for _, p := range params {
		properties = append(properties, quoted(p.name)+":"+p.schema())
		if p.required {
			required = append(required, p.name)
		}
	}
	more := ""
	if len(required) > 0 {
		more = fmt.Sprintf(`,"required":%s`, encode(required))
	}
	return fmt.Appendf(nil, `{"type":"object","properties":{%s}%s,"additionalProperties":false}`,
		strings.Join(properties, ","), more)
}

func (p *param) schema() string {
	parts := []string{kinds[p.kind].schema}
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

// unwrap returns the value of the right kind that came as JSON in a string, and whether there is one.
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

func (p *param) check(v json.RawMessage) error {
	bad := func(want string) error {
		return invalid(fmt.Sprintf("argument %q: want %s", p.name, want), p.doc)
	}
	var s string
	var n int64
	var list []*string
	var entries []json.RawMessage
	to := [...]any{
		text: &s, number: &n, decimal: new(json.Number), boolean: new(bool), texts: &list, objects: &entries,
	}[p.kind]
	switch err := json.Unmarshal(v, to); {
	case err != nil || p.kind == decimal && v[0] == '"' || slices.Contains(list, nil):
		return bad(kinds[p.kind].want)
	case p.kind == number && (p.min != 0 || p.max != 0) && (n < p.min || n > p.max):
		return bad(fmt.Sprintf("%d to %d", p.min, p.max))
	case max(len(list), len(entries)) > maxList:
		return bad(fmt.Sprintf("at most %d entries", maxList))
	case p.kind == text:
		return p.checkText(s)
	}
	for _, s := range list {
		if err := p.checkText(*s); err != nil {
			return err
		}
	}
	for i, o := range entries {
		if !bytes.HasPrefix(o, []byte("{")) {
			return bad(fmt.Sprintf("an object at [%d]", i))
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

// set gives the parameter of a flag its value, setWord that of a word of the command.
func set(call *operation.Call, flag string, v json.RawMessage) {
	give(call, flagged(call.Operation, flag), v)
}

func setWord(call *operation.Call, n int, v json.RawMessage) {
	give(call, worded(call.Operation, n), v)
}

// give gives a parameter its value; a single text becomes a list where the operation takes one.
func give(call *operation.Call, to *operation.Param, v json.RawMessage) {
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
	return nth(op, 1, func(p *operation.Param) bool { return p.Flag == flag })
}

// worded returns the n-th parameter that is a word of the command, nil for none.
func worded(op *operation.Operation, n int) *operation.Param {
	return nth(op, n, func(p *operation.Param) bool { return p.Flag == "" && p.Kind != operation.Lines })
}

// nth returns the n-th parameter, counted from 1, of those that are wanted, nil for none.
func nth(op *operation.Operation, n int, wanted func(*operation.Param) bool) *operation.Param {
	for i := range op.Params {
		if wanted(&op.Params[i]) {
			if n--; n == 0 {
				return &op.Params[i]
			}
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
