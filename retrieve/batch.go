package retrieve

import (
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// SetMember sets the parameter that a member of a JSON request sets. It returns a *RequestError that names the member
// if there is no such parameter or the value is not of its kind; ValidateGiven tells of bounds.
func (r *Request) SetMember(name string, v ipld.Value) error {
	m := &memberParser{name: name, v: v}
	p := whichParam(func(p *param) bool { return p.Member == m.name })
	if p == nil {
		return badParam(m.name, "unknown member")
	}
	if p.read(r, m); m.err != nil {
		return m.err
	}
	r.decides(p.Name)
	return nil
}

// memberParser reads the value of one member and keeps the first error.
type memberParser struct {
	name string
	v    ipld.Value
	err  error
}

func (p *memberParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = badParam(p.name, format, args...)
	}
}

func (p *memberParser) text() string {
	if p.v.Kind() != ipld.String {
		p.fail("%s, want a string", p.v.Kind())
		return ""
	}
	return p.v.Text()
}

// texts reads one string or a list of strings.
func (p *memberParser) texts() []string {
	if p.v.Kind() != ipld.List {
		return []string{p.text()}
	}
	var out []string
	for _, item := range p.v.List() {
		if item.Kind() != ipld.String {
			p.fail("list with %s, want strings", item.Kind())
		}
		out = append(out, item.Text())
	}
	return out
}

// words reads a list of strings, or words separated by commas in one string.
func (p *memberParser) words() []string {
	if p.v.Kind() == ipld.String {
		if p.v.Text() == "" {
			return nil
		}
		return strings.Split(p.v.Text(), ",")
	}
	return p.texts()
}

// number reads an integer no larger than any bound of requests. It never returns nil.
func (p *memberParser) number() *int {
	n := p.v.Int()
	if p.v.Kind() != ipld.Int {
		p.fail("%s, want an integer", p.v.Kind())
	}
	if n < -MaxBudget || n > MaxBudget {
		p.fail("%d is outside 0 to %d", n, MaxBudget)
		n = 0
	}
	return new(int(n))
}

func (p *memberParser) time() graph.OptTime {
	s := p.text()
	if p.err != nil {
		return graph.OptTime{}
	}
	t, err := graph.ParseTime(s)
	if err != nil {
		p.fail("%v", err)
	}
	return graph.At(t)
}

func (p *memberParser) predicates() []Predicate {
	var out []Predicate
	for _, s := range p.texts() {
		predicate, err := ParsePredicate(s)
		if err != nil && p.err == nil {
			p.err = err
		}
		out = append(out, predicate)
	}
	return out
}

func (p *memberParser) truth() bool {
	if p.v.Kind() != ipld.Bool {
		p.fail("%s, want true or false", p.v.Kind())
	}
	return p.v.Bool()
}

// lambda reads a share of 0 to 1.
func (p *memberParser) lambda() *int {
	x, ok := p.v.Number()
	if !ok {
		p.fail("%s, want a number", p.v.Kind())
	}
	units, ok := Lambda(x)
	if !ok {
		p.fail("%v is outside 0 to 1", x)
	}
	return &units
}
