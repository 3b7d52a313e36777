package main

import "sort"

// addedTerm is a term that clause 9.11 adds to a text.
type addedTerm struct {
	term   string
	weight int64
}

// byNumber sorts terms by a number, the greatest first, and then bytewise.
func byNumber(terms []string, of func(t string) int64) {
	sort.Slice(terms, func(i, j int) bool {
		x, y := of(terms[i]), of(terms[j])
		return x > y || x == y && terms[i] < terms[j]
	})
}

// shown are the terms of the texts of a node that clause 11.2 looks at.
func (s *store) shown(id string) []string {
	var out []string
	for _, t := range s.compared(s.nodes[id]) {
		out = append(out, analyse(t, "en")...)
	}
	return out
}

// added are the terms of clause 9.11.
func (q request) added(st *store, c collection) []addedTerm {
	if q.feedback == 0 || !q.runsText() {
		return nil
	}
	query := q.terms(st, c)
	var asked []string
	all := int64(0)
	for _, t := range unique(query) {
		as, read := reads(t)
		asked = append(asked, as)
		if c.df[as] > 0 {
			all += halved(c.idf(as)*times(query, t), read)
		}
	}
	var first []hit
	for id := range st.nodes {
		if s := c.score(id, query) + c.more(id, q.kin(st, c)); s > 0 && q.passes(st, id) {
			first = append(first, hit{id: id, score: s})
		}
	}
	sortHits(first)
	share := map[string]int64{}
	for i, h := range first {
		if int64(i) == q.feedback {
			break
		}
		list := st.shown(h.id)
		for _, t := range unique(list) {
			if !has(asked, t) {
				share[t] += h.score * 65536 / first[0].score * times(list, t) * 256 / int64(len(list))
			}
		}
	}
	terms := sortedKeysOf(share)
	byNumber(terms, func(t string) int64 { return share[t] })
	terms = terms[:min(len(terms), 256)]
	score := func(t string) int64 {
		if c.df[t] == 0 {
			return 0
		}
		return share[t] * c.idf(t)
	}
	byNumber(terms, score)
	terms = terms[:min(len(terms), 32)]
	sum := int64(0)
	for _, t := range terms {
		sum += score(t)
	}
	var out []addedTerm
	for _, t := range terms {
		if w := min(65536, mulDiv(all*8192, share[t], sum)); w > 0 && c.df[t] > 0 {
			out = append(out, addedTerm{t, w})
		}
	}
	return out
}

func sortedKeysOf(m map[string]int64) []string {
	var out []string
	for t := range m {
		out = append(out, t)
	}
	sort.Strings(out)
	return out
}

// more is what added terms give a node.
func (c collection) more(id string, list []addedTerm) int64 {
	sum := int64(0)
	for _, t := range list {
		if s := c.score(id, []string{t.term}); s > 0 {
			sum += max(1, s*t.weight/65536)
		}
	}
	return sum
}

// feedbackWarning is the one of clause 11.1 about clause 9.11.
func (q request) feedbackWarning(st *store, c collection, a *answer) {
	if q.feedback > 0 && len(q.added(st, c)) == 0 {
		a.warnings = append(a.warnings, dict{"code": "no_feedback"})
	}
}
