package main

import (
	"math/bits"
	"sort"
	"strings"
)

const (
	rankK = 58982
	rankB = 26214
	one   = 65536
)

var fieldWeights = [6]int64{131072, one, one, one, one, one}

// document is the analysed text of a node: term counts and lengths of its six fields.
type document struct {
	counts  [6]map[string]int64
	lengths [6]int64
}

// collection is clause 7.2.
type collection struct {
	docs   map[string]document
	total  [6]int64 // T_f
	having [6]int64 // D_f
	df     map[string]int64
}

func propTexts(props dict) []string {
	var out []string
	for _, name := range sortedKeys(props) {
		items, isList := props[name].([]any)
		if !isList {
			items = []any{props[name]}
		}
		for _, v := range items {
			if s, ok := v.(string); ok {
				out = append(out, s)
			}
		}
	}
	return out
}

func (s *store) document(node dict) document {
	fields := [6][]string{{text(node, "summary")}, {text(node, "context")},
		{s.contentText(node)}, propTexts(node["props"].(dict)), {text(node, "type")}, cuesOf(node)}
	var d document
	for f, texts := range fields {
		d.counts[f] = map[string]int64{}
		for _, t := range texts {
			for _, term := range analyse(t, "en") {
				d.counts[f][term]++
				d.lengths[f]++
			}
			for _, unit := range hanUnits(t) {
				d.counts[f][unit]++
			}
		}
	}
	return d
}

func (s *store) collect() collection {
	c := collection{docs: map[string]document{}, df: map[string]int64{}}
	for id, node := range s.nodes {
		d := s.document(node)
		c.docs[id] = d
		all := map[string]bool{}
		for f := range d.counts {
			c.total[f] += d.lengths[f]
			if d.lengths[f] > 0 {
				c.having[f]++
			}
			for t := range d.counts[f] {
				all[t] = true
			}
		}
		for t := range all {
			c.df[t]++
		}
	}
	return c
}

// logQ16 is L(x) of clause 9.1.
func logQ16(x uint64) int64 {
	e := bits.Len64(x) - 1
	m := x
	if e >= 31 {
		m >>= e - 31
	} else {
		m <<= 31 - e
	}
	r := int64(e) * one
	for i := 15; i >= 0; i-- {
		m = m * m >> 31
		if m >= 1<<32 {
			m >>= 1
			r += 1 << i
		}
	}
	return r
}

func (c collection) idf(term string) int64 {
	n := uint64(len(c.docs))
	return max(1, logQ16(2*n+2)-logQ16(2*uint64(c.df[term])+1))
}

// score is clause 9.2 for one node.
func (c collection) score(id string, query []string) int64 {
	d := c.docs[id]
	sum := int64(0)
	for _, t := range unique(query) {
		term, read := reads(t)
		x := int64(0)
		found := false
		for f := range d.counts {
			tf := d.counts[f][term]
			if tf == 0 {
				continue
			}
			found = true
			n := ((one-rankB)*c.total[f] + rankB*d.lengths[f]*c.having[f]) / c.total[f]
			x += fieldWeights[f] * tf * one / n
		}
		if found {
			sum += halved(max(1, c.idf(term)*x/(x+rankK))*times(query, t), read)
		}
	}
	return sum
}

const whiteSpace = " \t\n\r"

func trimmed(s string) string { return strings.Trim(s, whiteSpace) }

// spans are the quoted parts of a text that tier 1 looks at (clause 8.4).
func spans(s string) []string {
	closers := map[rune]string{'"': `"`, '`': "`", '“': "”"}
	var out []string
	rs := []rune(s)
	for i := 0; i < len(rs); i++ {
		closer, ok := closers[rs[i]]
		if !ok {
			continue
		}
		j := i + 1
		for j < len(rs) && string(rs[j]) != closer && rs[j] != '\n' && rs[j] != '\r' {
			j++
		}
		if j == len(rs) || string(rs[j]) != closer {
			continue
		}
		if span := string(rs[i+1 : j]); span != "" && len(span) <= 512 {
			out = append(out, span)
		}
		i = j
	}
	return out[:min(len(out), 64)]
}

// hexPrefix reports whether q is 4 or more hex digits of the id's text form, from its start.
func hexPrefix(q, id string) bool {
	full := uuid(id)
	digits, at := 0, 0
	for _, c := range q {
		for at < len(full) && full[at] == '-' && c != '-' {
			at++
		}
		if at >= len(full) || rune(full[at]) != c {
			return false
		}
		if c != '-' {
			digits++
		}
		at++
	}
	return digits >= 4
}

// tiers gives each passing node of tier 1 or 2 its tier.
func (q request) tiers(st *store) map[string]int {
	out := map[string]int{}
	query := trimmed(q.text)
	prefixed := 0
	for id := range st.nodes {
		if hexPrefix(query, id) {
			prefixed++
		}
	}
	quoted := spans(q.text)
	for id, node := range st.nodes {
		if !q.passes(st, id) {
			continue
		}
		key := text(node, "key")
		switch {
		case key != "" && key == query || query == uuid(id):
			out[id] = 2
		case hexPrefix(query, id) && prefixed == 1:
			out[id] = 2
		case key != "" && has(quoted, key):
			out[id] = 1
		}
	}
	return out
}

// hit is a node in an answer.
type hit struct {
	id    string
	tier  int
	score int64
}

func sortHits(hs []hit) {
	sort.Slice(hs, func(i, j int) bool {
		a, b := hs[i], hs[j]
		if a.tier != b.tier {
			return a.tier > b.tier
		}
		if a.score != b.score {
			return a.score > b.score
		}
		return a.id < b.id
	})
}

// lane is the list of the text lane or, for a blank request, of the recency lane.
func (q request) lane(st *store, c collection) map[string]int64 {
	var hs []hit
	query, more := q.terms(st, c), append(q.kin(st, c), q.added(st, c)...)
	for id, node := range st.nodes {
		if !q.passes(st, id) {
			continue
		}
		if trimmed(q.text) == "" {
			hs = append(hs, hit{id: id, score: min(max(0, updatedOf(node)), 1<<53-1)})
		} else if s := c.score(id, query) + c.more(id, more); s > 0 {
			hs = append(hs, hit{id: id, score: s})
		}
	}
	return best1000(hs)
}
