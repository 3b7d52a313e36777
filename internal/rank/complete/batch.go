package complete

import (
	"errors"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// Query is one line of a batch of requests.
type Query struct {
	ID      string // the member qid, "" for none
	Request retrieve.Request
	Echo    []ipld.Entry // members to be repeated with the answer, in canonical order
}

// ParseRequestJSON reads a JSON object as a request: qid, text, and flags of the retrieve command
// by their names. A member replaces what base has; where it is a list it replaces the whole list.
// The members cat, meta and those whose name begins with gold are echoed. Any other member, and a
// value of the wrong kind or beyond a bound (see ValidateGiven), gives a *RequestError that names it.
func ParseRequestJSON(v ipld.Value, base retrieve.Request) (Query, error) {
	if v.Kind() != ipld.Map {
		return Query{}, source.Reject("request", "%s, want an object", v.Kind())
	}
	q := Query{Request: base}
	q.Request.Explicit = slices.Clone(base.Explicit)
	for _, e := range v.Entries() {
		if e.Key == "cat" || e.Key == "meta" || strings.HasPrefix(e.Key, "gold") {
			q.Echo = append(q.Echo, e)
			continue
		}
		if err := q.setMember(e.Key, e.Value); err != nil {
			return Query{}, err
		}
	}
	var re *retrieve.RequestError
	if err := q.Request.ValidateGiven(); errors.As(err, &re) {
		return Query{}, source.Reject(retrieve.MemberName(re.Param), "%s", re.Reason)
	}
	return q, nil
}

// setMember sets what a member of the line says.
func (q *Query) setMember(name string, v ipld.Value) error {
	if name != "qid" {
		return q.Request.SetMember(name, v)
	}
	if v.Kind() != ipld.String {
		return source.Reject(name, "%s, want a string", v.Kind())
	}
	q.ID = v.Text()
	return nil
}
