package retrieve

import (
	"errors"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// Query is one line of a batch of requests.
type Query struct {
	ID      string // the member qid, "" for none
	Request Request
	Echo    []ipld.Entry // members to be repeated with the answer, in canonical order
}

// ParseRequestJSON reads a JSON object as a request: qid, text, and flags of the retrieve command
// by their names. A member replaces what base has; where it is a list it replaces the whole list.
// The members cat, meta and those whose name begins with gold are echoed. Any other member, and a
// value of the wrong kind or beyond a bound (see ValidateGiven), gives a *RequestError that names it.
func ParseRequestJSON(v ipld.Value, base Request) (Query, error) {
	if v.Kind() != ipld.Map {
		return Query{}, badParam("request", "%s, want an object", v.Kind())
	}
	q := Query{Request: base}
	q.Request.Explicit = slices.Clone(base.Explicit)
	for _, e := range v.Entries() {
		if e.Key == "cat" || e.Key == "meta" || strings.HasPrefix(e.Key, "gold") {
			q.Echo = append(q.Echo, e)
			continue
		}
		p := memberParser{name: e.Key, v: e.Value}
		if err := q.setMember(&p); err != nil {
			return Query{}, err
		}
		q.Request.decides(paramName(e.Key))
	}
	var re *RequestError
	if err := q.Request.ValidateGiven(); errors.As(err, &re) {
		return Query{}, badParam(FlagName(re.Param), "%s", re.Reason)
	}
	return q, nil
}

// FlagName returns the name of the member of a JSON request that sets a parameter of clause 8.1:
// "summary-cap" for "summaryCap", "type" for "types". Of most parameters it is the flag's name too.
func FlagName(param string) string {
	switch param {
	case "types":
		return "type"
	case "expandTypes":
		return "expand-type"
	case "unseenFrom":
		return "unseen"
	}
	var b []byte
	for _, c := range []byte(param) {
		if c >= 'A' && c <= 'Z' {
			b = append(b, '-')
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return string(b)
}

// paramName is the inverse of FlagName.
func paramName(member string) string {
	switch member {
	case "type":
		return "types"
	case "expand-type":
		return "expandTypes"
	}
	parts := strings.Split(member, "-")
	for i, part := range parts[1:] {
		if part != "" {
			parts[i+1] = strings.ToUpper(part[:1]) + part[1:]
		}
	}
	return strings.Join(parts, "")
}

func (q *Query) setMember(p *memberParser) error {
	r := &q.Request
	switch p.name {
	case "qid":
		q.ID = p.text()
	case "text":
		r.Text = p.text()
	case "vectors":
		r.Vectors = p.vectors()
	case "sparse":
		r.Sparse = p.sparse()
	case "fusion":
		r.Fusion = Fusion(p.text())
	case "spelling":
		r.Spelling = Spelling(p.text())
	case "oversample":
		r.Oversample = p.number()
	case "weights":
		r.Weights = p.weights()
	case "type":
		r.Types = p.texts()
	case "where":
		r.Where = p.predicates()
	case "created-from":
		r.CreatedFrom = p.time()
	case "created-to":
		r.CreatedTo = p.time()
	case "updated-from":
		r.UpdatedFrom = p.time()
	case "updated-to":
		r.UpdatedTo = p.time()
	case "valid-at":
		r.ValidAt = p.time()
	case "now":
		r.Now = p.time()
	case "limit":
		r.Limit = p.number()
	case "budget":
		r.Budget = p.number()
	case "expand":
		r.Expand = p.number()
	case "expand-type":
		r.ExpandTypes = p.texts()
	case "direction":
		r.Direction = Direction(p.text())
	case "summary-cap":
		r.SummaryCap = p.number()
	default:
		return q.setShown(p)
	}
	return p.err
}

// setShown sets the members that remain.
func (q *Query) setShown(p *memberParser) error {
	switch p.name {
	case "marks":
		q.Request.Marks = nil
		for _, s := range p.words() {
			q.Request.Marks = append(q.Request.Marks, graph.State(s))
		}
	case "show":
		q.Request.Show = p.words()
	case "adjacency":
		q.Request.Adjacency = *p.number()
	case "edge-weights":
		q.Request.EdgeWeights = p.edgeWeights()
	case "profile":
		q.Request.Profile = p.text()
	default:
		return q.setPacking(p)
	}
	return p.err
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

// number reads an integer that fits any bound of requests. It never returns nil.
func (p *memberParser) number() *int {
	n := p.v.Int()
	if p.v.Kind() != ipld.Int {
		p.fail("%s, want an integer", p.v.Kind())
	}
	if n < 0 || n > MaxBudget {
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

// vectors reads an object of models and their vectors.
func (p *memberParser) vectors() []QueryVector {
	if p.v.Kind() != ipld.Map {
		p.fail("%s, want an object", p.v.Kind())
	}
	var out []QueryVector
	for _, e := range p.v.Entries() {
		v, err := ParseQueryVector(e.Key, e.Value)
		if err != nil && p.err == nil {
			p.err = err
		}
		out = append(out, v)
	}
	return out
}

// weights reads an object of lanes and their weights.
func (p *memberParser) weights() []LaneWeight {
	if p.v.Kind() != ipld.Map {
		p.fail("%s, want an object", p.v.Kind())
	}
	var out []LaneWeight
	for _, e := range p.v.Entries() {
		w, err := ParseLaneWeight(e.Key, e.Value)
		if err != nil && p.err == nil {
			p.err = err
		}
		out = append(out, w)
	}
	return out
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
