package index

import "github.com/mnem-project/mnem/internal/fixed"

// Query is the distinct terms of a text in the order of their first place.
type Query []QueryTerm

// QueryTerm is one of them, and how it counts.
type QueryTerm struct {
	Term   string // of the text
	As     string // what is looked up for it: the term itself unless it is read as another
	Times  int64  // how often the text has it, above 0
	Weight int64  // in units of 2^-16, above 0; Times · Weight is at most 2^40
}

// Query analyses a text. A term of which there is a reading is looked up as that says, with the
// weight of readings; any other counts wholly, as itself.
func (x *Index) Query(text string, readings ...Reading) Query {
	var q Query
	at := make(map[string]int)
	x.analyser.Each(text, func(term string) bool {
		i, ok := at[term]
		if !ok {
			i = len(q)
			at[term] = i
			q = append(q, QueryTerm{Term: term, As: term, Weight: fixed.One})
		}
		q[i].Times++
		return true
	})
	for _, r := range readings {
		if i, ok := at[r.Term]; ok {
			q[i].As, q[i].Weight = r.As, readingWeight
		}
	}
	return q
}
