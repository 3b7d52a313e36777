package main

import "math/big"

// recordModels adds the parameters of clauses 21, 22 and 26 to the request of a receipt.
func (q request) recordModels(r dict) {
	if q = q.settled(); q.intent != "" {
		r["intent"] = q.intent
	}
	if q.rewrite != "" {
		r["rewrite"] = q.rewrite
	}
	links := []any{}
	for _, s := range q.rewrites {
		links = append(links, cidOf(codecRaw, []byte(s)))
	}
	if len(links) > 0 {
		r["rewrites"] = links
	}
	if q.rerank != "" {
		r["rerank"] = q.rerank
	}
	if q.rerankTop != nil && *q.rerankTop != 50 {
		r["rerankTop"] = *q.rerankTop
	}
	var ids []string
	for id := range q.reranked {
		ids = append(ids, id)
	}
	scores := []any{}
	for _, id := range sortedSet(ids) {
		scores = append(scores, dict{"id": []byte(id.(string)), "score": q.reranked[id.(string)]})
	}
	if len(scores) > 0 {
		r["reranked"] = scores
	}
}

func byUUID(scores map[string]int64) obj {
	out := obj{}
	for id, s := range scores {
		out[uuid(id)] = s
	}
	return out
}

// rewriteList is the list of a lane of clause 22.
func (q request) rewriteList(st *store, c collection, rewrite string) map[string]int64 {
	var hs []hit
	terms := q.reads(st, c, rewrite)
	for id := range st.nodes {
		if s := c.score(id, terms); s > 0 && q.passes(st, id) {
			hs = append(hs, hit{id: id, score: s})
		}
	}
	return best1000(hs)
}

// modelWarnings are those of clause 11.1 about clauses 21 and 22.
func (q request) modelWarnings(st *store, c collection, a *answer, idle bool) {
	warn := func(code, param string, v any) {
		a.warnings = append(a.warnings, dict{"code": code, "params": dict{param: v}})
	}
	if idle {
		warn("not_reranked", "model", q.rerank)
	}
	if q.rewrite != "" && len(q.rewrites) == 0 {
		warn("not_rewritten", "way", q.rewrite)
	}
	vain := 0
	for i, r := range q.rewrites {
		if q.weight("text:"+itoa(i+1), 1) > 0 && len(q.rewriteList(st, c, r)) == 0 {
			vain++
		}
	}
	if vain > 0 {
		warn("rewrites_in_vain", "rewrites", vain)
	}
}

// reranks is clause 21, in place; it reports whether nothing could be said of the window.
func (q request) reranks(st *store, c collection, order []hit) bool {
	for len(order) > 0 && order[0].tier > 0 {
		order = order[1:]
	}
	top := int64(50)
	if q.rerankTop != nil {
		top = *q.rerankTop
	}
	window := order[:min(int64(len(order)), top)]
	if q.rerank == "" || len(window) < 2 {
		return false
	}
	said := false
	if q.rerank == "local" {
		said = q.rerankLocal(st, c, window)
	} else {
		said = q.rerankModel(order, window)
	}
	sortHits(order)
	return !said
}

// mulDiv is floor(a * b / of) without bound, 0 where of is 0.
func mulDiv(a, b, of int64) int64 {
	if of == 0 {
		return 0
	}
	n := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
	return n.Quo(n, big.NewInt(of)).Int64()
}

// rerankModel is clause 21.2.
func (q request) rerankModel(all, window []hit) bool {
	low, known := int64(0), false
	for _, s := range q.reranked {
		low = min(low, s)
	}
	for _, h := range window {
		_, ok := q.reranked[h.id]
		known = known || ok
	}
	if !known {
		return false
	}
	top := all[0].score
	for i, h := range all {
		all[i].score = mulDiv(h.score, 1<<20-1, top)
		if s, ok := q.reranked[h.id]; ok && i < len(window) {
			all[i].score += (s - low + 1) << 20
		}
	}
	return true
}

// rerankLocal is clause 21.1.
func (q request) rerankLocal(st *store, c collection, window []hit) bool {
	query := q.terms(st, c)
	first := query[:min(len(query), 256)]
	counting := unique(first)
	counting = counting[:min(len(counting), 32)]
	s := func(id, term string) int64 {
		var alone []string
		for _, t := range query {
			if t == term {
				alone = append(alone, t)
			}
		}
		return c.score(id, alone)
	}
	m := map[string]int64{}
	all := int64(0)
	for _, t := range counting {
		for _, h := range window {
			m[t] = max(m[t], s(h.id, t))
		}
		all += m[t]
	}
	if all == 0 {
		return false
	}
	pairs := map[[2]string]bool{}
	for i := 1; i < len(first); i++ {
		a, b := first[i-1], first[i]
		if a != b && has(counting, a) && has(counting, b) {
			pairs[[2]string{a, b}] = true
		}
	}
	top := window[0].score
	for i, h := range window {
		have := int64(0)
		for _, t := range counting {
			if s(h.id, t) > 0 {
				have += m[t]
			}
		}
		var texts [][]string
		for _, text := range st.compared(st.nodes[h.id]) {
			texts = append(texts, analyse(text, "en"))
		}
		near, total := int64(0), int64(0)
		for p := range pairs {
			w := min(m[p[0]], m[p[1]])
			near += mulDiv(w, nearest(texts, p[0], p[1]), one)
			total += w
		}
		part := (mulDiv(have, one, all) + mulDiv(near, one, total)) / 2
		window[i].score += mulDiv(top, part, 8*one)
	}
	return true
}

// nearest is near(a, b) of clause 21.1.
func nearest(texts [][]string, a, b string) int64 {
	best := int64(0)
	for _, terms := range texts {
		for i := range terms {
			for j := range terms {
				if terms[i] != a || terms[j] != b {
					continue
				}
				d := max(i-j, j-i)
				if j == i+1 {
					best = one
				} else if d <= 16 {
					best = max(best, one/int64(d+1))
				}
			}
		}
	}
	return best
}
