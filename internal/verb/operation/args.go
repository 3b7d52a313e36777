package operation

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
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
