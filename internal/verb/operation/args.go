package operation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// stdin is the argument that stands for standard input on the command line.
const stdin = "-"

// Arguments are those of a call, checked: the texts that stand for the values of each parameter that is
// given, as on the command line, and the body.
type Arguments struct {
	Values map[string][]string
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
	out := &Arguments{Values: map[string][]string{}, Body: c.Body}
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
			var values []string
			if values, err = p.values(raw); err == nil && values != nil {
				out.Values[p.Name] = values
			}
			if p.Flag == "" && skipped != "" && !p.Required && len(values) > 0 {
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

// values returns the texts that stand for an argument on the command line.
func (p *Param) values(raw json.RawMessage) ([]string, error) {
	var list []string
	if answer := string(raw); p.True != "" && (answer == "true" || answer == "false") {
		if answer == "false" {
			return nil, nil
		}
		return []string{p.True}, nil
	}
	switch p.Kind {
	case Strings:
		if err := json.Unmarshal(raw, &list); err != nil || list == nil {
			return nil, usage(p, "want a list of strings")
		}
	case String:
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, usage(p, "want a string%s", p.orBoolean())
		}
		list = []string{s}
	case Integer:
		n, err := strconv.ParseInt(string(raw), 10, 64)
		if err != nil {
			return nil, usage(p, "want an integer")
		}
		return []string{strconv.FormatInt(n, 10)}, nil
	case Number:
		var n json.Number
		if err := json.Unmarshal(raw, &n); err != nil || raw[0] == '"' {
			return nil, usage(p, "want a number")
		}
		return []string{n.String()}, nil
	case Boolean:
		if s := string(raw); s != "true" && s != "false" {
			return nil, usage(p, "want true or false")
		}
		return []string{string(raw)}, nil
	}
	for _, s := range list {
		if err := p.check(s); err != nil {
			return nil, err
		}
	}
	return list, nil
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

// lines returns a list of objects as one a line. Their members stay as they are: who reads them
// refuses what is given twice.
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
