package main

// setExpansion writes the parameters of expansion that are not at their default.
func (q request) setExpansion(in map[string]any) {
	d := newRequest("")
	if q.expansion != d.expansion {
		in["expansion"] = q.expansion
	}
	for name, n := range map[string][2]int64{"maxExpand": {q.maxExpand, d.maxExpand},
		"decay": {q.decay, d.decay}, "damping": {q.damping, d.damping}} {
		if n[0] != n[1] {
			in[name] = n[0]
		}
	}
}

// hubs are the entries in each bucket of u that direction and types allow.
func (q request) hubs(st *store, u string) (out, in int) {
	var n [2]int
	for side, name := range []string{"out", "in"} {
		if q.direction != "both" && q.direction != name {
			continue
		}
		for _, k := range st.bucket(side, u) {
			if len(q.expandTypes) == 0 || has(q.expandTypes, text(st.edges[k[len(k)-16:]], "type")) {
				n[side]++
			}
		}
	}
	return n[0], n[1]
}

// paths is clause 10.2: the gain of each node. p has what comes from each source.
func (q request) paths(st *store, c collection, sources []hit, a *answer) map[string]int64 {
	a.cut = map[string]bool{}
	rounds, order := []lent{{}}, sources
	for _, s := range sources {
		rounds[0].raise(s.id, s.id, s.score)
	}
	for h := 1; h <= int(q.expand); h++ {
		next, looked, texts := lent{}, 0, 0
		for i, u := range order {
			if i >= 128 || looked >= 1024 {
				if h == 1 {
					a.cut[u.id] = true
				}
				continue
			}
			links, entries := q.neighbours(st, u.id)
			looked += entries
			if out, in := q.hubs(st, u.id); h == 1 && (out > 256 || in > 256) {
				a.cut[u.id] = true
			}
			for _, e := range links {
				a.linked = true
				for s, n := range rounds[h-1][u.id] {
					next.raise(e.id, s, n*q.decay/one*min(e.score, one)/one*st.damped(e)/one)
				}
			}
			if h > 1 || i >= 20 {
				continue
			}
			for _, v := range q.mentions(st, c, u.id, &texts) {
				a.linked = true
				for s, n := range rounds[0][u.id] {
					next.raise(v, s, n*q.decay/one)
				}
			}
		}
		order = nil
		for v, row := range next {
			best := int64(0)
			for s, n := range row {
				for _, before := range rounds {
					if n <= before[v][s] {
						row[s] = 0
					}
				}
				best = max(best, row[s])
			}
			if best > 0 {
				order = append(order, hit{id: v, score: best})
			}
		}
		sortHits(order)
		rounds = append(rounds, next)
	}
	gain := map[string]int64{}
	for _, p := range rounds[1:] {
		for v, row := range p {
			for s, n := range row {
				if s != v {
					gain[v] = max(gain[v], n)
				}
			}
		}
	}
	return gain
}

// massLinks are the links of u for clause 10.3 but mentions, and e(u). It looks at all entries.
func (q request) massLinks(st *store, u string) (links []hit, entries int64) {
	for side, name := range []string{"out", "in"} {
		if q.direction != "both" && q.direction != name {
			continue
		}
		for _, k := range st.bucket(side, u) {
			id, far := k[len(k)-16:], k[len(k)-32:len(k)-16]
			if len(q.expandTypes) > 0 && !has(q.expandTypes, text(st.edges[id], "type")) {
				continue
			}
			entries++
			if far != u && !q.hides(st, "e"+id) && q.passes(st, far) {
				links = append(links, hit{id: far, score: q.edgeWeight(st.edges[id])})
			}
		}
	}
	return links, entries
}

// pageRank is clause 10.3: the gain of each node.
func (q request) pageRank(st *store, c collection, sources []hit, a *answer) map[string]int64 {
	a.cut = map[string]bool{}
	waiting, sent := map[string]int64{}, map[string]int64{}
	mentions := map[string][]hit{}
	texts, m := 0, int64(0)
	for i, s := range sources {
		waiting[s.id] = s.score * s.score
		m += waiting[s.id]
		if i >= 20 {
			continue
		}
		for _, v := range q.mentions(st, c, s.id, &texts) {
			mentions[s.id] = append(mentions[s.id], hit{id: v, score: one})
		}
	}
	m = max(1, m>>13)
	before, counted := map[string]bool{}, int64(0)
	for h := int64(1); h <= q.expand; h++ {
		var turn []hit
		for u, n := range waiting {
			if n > 0 {
				turn = append(turn, hit{id: u, score: n})
			}
		}
		sortHits(turn)
		coming := map[string]int64{}
		for _, u := range turn {
			links, e := q.massLinks(st, u.id)
			if u.score < m*max(1, e) {
				if h == 1 && u.score >= 256*m {
					a.cut[u.id] = true
				}
				continue
			}
			if !before[u.id] && counted >= 8192 {
				a.cut[u.id] = true
				continue
			}
			if !before[u.id] {
				before[u.id], counted = true, counted+max(1, e)
			}
			links = append(links, mentions[u.id]...)
			all := int64(0)
			for _, l := range links {
				all += l.score
			}
			for _, l := range links {
				a.linked = true
				coming[l.id] += mulDiv(mulDiv(u.score, q.damping, one), l.score, max(1, all))
			}
			waiting[u.id] = 0
		}
		for v, n := range coming {
			waiting[v] += n
			sent[v] += n
		}
	}
	gain := map[string]int64{}
	for v, n := range sent {
		gain[v] = n / one
	}
	return gain
}
