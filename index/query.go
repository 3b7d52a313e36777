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

// Query analyses a text. Every term counts wholly, as itself.
func (x *Index) Query(text string) Query {
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
	return q
}

// Read reads terms as others, which then count with the weight of readings.
func (q Query) Read(readings []Reading) { q.read(readings) }

// read returns the readings as a map.
func (q Query) read(readings []Reading) map[string]string {
	if len(readings) == 0 {
		return nil
	}
	as := make(map[string]string, len(readings))
	for _, r := range readings {
		as[r.Term] = r.As
	}
	for i := range q {
		if other, ok := as[q[i].Term]; ok {
			q[i].As, q[i].Weight = other, readingWeight
		}
	}
	return as
}
