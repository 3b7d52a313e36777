package main

import (
	"math/big"
	"sort"
	"strings"
)

// step is a followed edge: the other end, the weight, and the bucket that it arrives in.
type step struct {
	hit
	side int
}

// neighbours are the followed edges from u, the other end and the weight, and how many entries were
// looked at.
func (q request) neighbours(st *store, u string) (found []step, entries int) {
	for side, name := range []string{"out", "in"} {
		if q.direction != "both" && q.direction != name {
			continue
		}
		looked := 0
		for _, k := range st.bucket(side, u) {
			id := k[len(k)-16:]
			if len(q.expandTypes) > 0 && !has(q.expandTypes, text(st.edges[id], "type")) {
				continue
			}
			if looked == 256 {
				break
			}
			looked++
			far := k[len(k)-32 : len(k)-16]
			if far != u && !q.hides(st, "e"+id) && q.passes(st, far) {
				to := hit{id: far, score: q.edgeWeight(st.edges[id])}
				found = append(found, step{to, 1 - side})
			}
		}
		entries += looked
	}
	return found, entries
}

// titleOf is clause 7.3.
func titleOf(summary string) []string {
	if at := strings.LastIndex(summary, " ("); at > 0 && strings.HasSuffix(summary, ")") {
		summary = summary[:at]
	}
	terms := analyse(summary, "en")
	size := 0
	for _, t := range terms {
		size += len(t) + 1
	}
	if len(terms) > 8 || size > 256 {
		return nil
	}
	return terms
}

// hasTitle returns the place of a title in a text, -1 where it has none.
func hasTitle(s string, title []string) int {
	return titleAmong(analyse(beginning(s), "en"), title)
}

func beginning(s string) string {
	for n := 32768; len(s) > 32768; n-- {
		if s[n]&0xc0 != 0x80 {
			s = s[:n]
		}
	}
	return s
}

// titleAmong returns the place of a title among the terms of a text.
func titleAmong(terms, title []string) int {
	terms = terms[:min(len(terms), 4096)]
	for i := 0; len(title) > 0 && i+len(title) <= len(terms); i++ {
		if strings.Join(terms[i:i+len(title)], " ") == strings.Join(title, " ") {
			return i
		}
	}
	return -1
}

// sharing is how many nodes have a title.
func (s *store) sharing(title []string) int {
	n := 0
	for _, node := range s.nodes {
		if strings.Join(titleOf(text(node, "summary")), " ") == strings.Join(title, " ") {
			n++
		}
	}
	return n
}

// mentioned are the nodes mentioned in a text, ascending.
func (s *store) mentioned(in string) []string {
	type place struct {
		at, terms int
		id        string
	}
	var found []place
	for id, node := range s.nodes {
		title := titleOf(text(node, "summary"))
		if at := hasTitle(in, title); at >= 0 && s.sharing(title) <= 4 {
			found = append(found, place{at, len(title), id})
		}
	}
	sort.Slice(found, func(i, j int) bool {
		a, b := found[i], found[j]
		if a.at != b.at {
			return a.at < b.at
		}
		if a.terms != b.terms {
			return a.terms < b.terms
		}
		return a.id < b.id
	})
	out := []string{}
	for _, f := range found[:min(len(found), 256)] {
		out = append(out, f.id)
	}
	sort.Strings(out)
	return out
}

// mentions are the nodes that a mention links to u.
func (q request) mentions(st *store, c collection, u string, looked *int) []string {
	var out []string
	if len(q.expandTypes) > 0 {
		return nil
	}
	if q.direction != "in" {
		out = st.mentioned(st.contentText(st.nodes[u]))
	}
	title := titleOf(text(st.nodes[u], "summary"))
	rare := false
	for _, t := range title {
		rare = rare || c.df[t] <= 64
	}
	if q.direction != "out" && rare && st.sharing(title) <= 4 && *looked < 256 {
		for id, node := range st.nodes {
			all := true
			for _, t := range title {
				all = all && c.docs[id].counts[2][t] > 0
			}
			if all {
				*looked++
			}
			if hasTitle(st.contentText(node), title) >= 0 {
				out = append(out, id)
			}
		}
	}
	var links []string
	for _, id := range out {
		if id != u && q.passes(st, id) {
			links = append(links, id)
		}
	}
	return links
}

func unique(list []string) []string {
	var out []string
	for _, s := range list {
		if !has(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// lent is what nodes were lent in one round, by what spreads.
type lent map[string]map[string]int64

func (l lent) raise(id, t string, n int64) {
	if l[id] == nil {
		l[id] = map[string]int64{}
	}
	l[id][t] = max(l[id][t], n)
}

func total(m map[string]int64) int64 {
	sum := int64(0)
	for _, n := range m {
		sum += n
	}
	return sum
}

// damped is D of where a step arrives.
func (s *store) damped(v step) int64 {
	n := int64(len(s.bucket(v.side, v.id)))
	if n <= 4 {
		return one
	}
	return new(big.Int).Sqrt(big.NewInt(1 << 34 / n)).Int64()
}

// lenders are the nodes of a round in order; in round 1 the sources are given.
func (l lent) lenders() []hit {
	var list []hit
	for id, m := range l {
		if n := total(m); n > 0 {
			list = append(list, hit{id: id, score: n})
		}
	}
	sortHits(list)
	return list
}

// spread is step 3: what was lent in each round, how many sources did not lend, and whether any link
// was followed.
func (q request) spread(st *store, c collection, sources []hit, g lent) ([]lent, int, bool) {
	var rounds []lent
	silent, linked := 0, false
	for h := int64(1); h <= q.expand; h++ {
		next := lent{}
		looked, texts := 0, 0
		for i, u := range sources {
			if i == 128 || looked >= 1024 {
				if h == 1 {
					silent = len(sources) - i
				}
				break
			}
			links, entries := q.neighbours(st, u.id)
			looked += entries
			linked = linked || len(links) > 0
			for _, e := range links {
				for t, n := range g[u.id] {
					next.raise(e.id, t, n/2*e.score/one*st.damped(e)/one)
				}
			}
			if h > 1 || i >= 20 {
				continue
			}
			for _, v := range q.mentions(st, c, u.id, &texts) {
				linked = true
				for t, n := range g[u.id] {
					next.raise(v, t, n/2)
				}
			}
		}
		rounds, g, sources = append(rounds, next), next, next.lenders()
	}
	return rounds, silent, linked
}

// part is c(v, t) of a term of the query, or of a lane.
func (c collection) part(lanes []ranking, query []string, id, term string) int64 {
	for _, l := range lanes {
		if "lane "+l.name == term {
			return l.weight * l.parts(false)[id] / weights(lanes)
		}
	}
	var alone []string
	for _, t := range query {
		if t == term {
			alone = append(alone, t)
		}
	}
	if len(alone) == 0 {
		return 0
	}
	l := lanes[0]
	return l.weight * (c.score(id, alone) * one / l.best()) / weights(lanes)
}

// expanded is clause 10: the candidates with their final scores.
func (q request) expanded(
	st *store, c collection, lanes []ranking, tiers map[string]int, a *answer,
) []hit {
	base := convex(lanes)
	for id := range tiers {
		base[id] = one
	}
	var sources []hit
	for id, n := range base {
		sources = append(sources, hit{id: id, tier: tiers[id], score: n})
	}
	sortHits(sources)
	sources = sources[:min(len(sources), 100)]
	switch q.expansion {
	case "decay":
		return q.joined(lanes, base, q.paths(st, c, sources, a), nil, tiers)
	case "ppr":
		return q.joined(lanes, base, q.pageRank(st, c, sources, a), nil, tiers)
	}
	query := q.terms(st, c)
	dense := lanes
	if len(lanes) > 0 && lanes[0].name == "text" {
		dense = lanes[1:]
	} else {
		query = nil
	}
	of := func(id, term string) int64 { return c.part(lanes, query, id, term) }
	first := unique(query)
	first = first[:min(len(first), 256)]
	terms := append([]string{}, first...)
	sums := map[string]int64{}
	for _, s := range sources {
		for _, t := range terms {
			sums[t] += of(s.id, t)
		}
	}
	sort.SliceStable(terms, func(i, j int) bool { return sums[terms[i]] > sums[terms[j]] })
	terms = terms[:min(len(terms), 32)]
	for _, l := range dense {
		terms = append(terms, "lane "+l.name) // no term has a space
	}
	g, titled := lent{}, map[string]int64{}
	for _, s := range sources {
		for _, t := range terms {
			g.raise(s.id, t, of(s.id, t))
		}
		if s.tier > 0 {
			g.raise(s.id, "named ", one)
			continue
		}
		title := titleOf(text(st.nodes[s.id], "summary"))
		if titleAmong(readAs(query, beginning(q.text)), title) >= 0 {
			sum := int64(0)
			for _, t := range unique(title) {
				sum += of(s.id, firstAs(first, t))
			}
			g.raise(s.id, "named ", sum/2)
			titled[s.id] = sum / 2
		}
	}
	rounds, silent, linked := q.spread(st, c, sources, g)
	a.silent, a.linked = silent, linked
	gain := map[string]int64{}
	for _, l := range rounds {
		for id, m := range l {
			for t, n := range m {
				if _, known := base[id]; known && has(terms, t) && of(id, t) > 0 {
					n /= 2
				}
				gain[id] += n
			}
		}
	}
	return q.joined(lanes, base, gain, titled, tiers)
}

// joined are all nodes after expansion: those with gain that were not known are the best of them.
func (q request) joined(
	lanes []ranking, base, gain, titled map[string]int64, tiers map[string]int,
) []hit {
	final := q.beforeGain(lanes, tiers)
	var fresh, out []hit
	for id, n := range gain {
		if _, known := base[id]; !known && n > 0 {
			fresh = append(fresh, hit{id: id, score: n})
		}
	}
	sortHits(fresh)
	fresh = fresh[:min(int64(len(fresh)), q.maxExpand)]
	if q.byRanks() {
		return q.joinedByRank(lanes, base, gain, fresh, tiers)
	}
	out = append(out, fresh...)
	for id := range base {
		out = append(out, hit{id: id, tier: tiers[id], score: final[id] + titled[id] + gain[id]})
	}
	return out
}
