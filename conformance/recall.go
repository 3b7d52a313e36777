package main

import (
	"sort"
	"strings"
)

// recallPlan is a row of the table of clause 26.2.
type recallPlan struct {
	width, depth, visited              int
	kind                               string
	keyword, entity, likeness, linking int64
}

var recallPlans = map[string]recallPlan{
	"why":     {15, 5, 500, "causal", 6554, 6554, 19660, 32768},
	"when":    {10, 5, 400, "temporal", 9830, 9830, 19661, 26215},
	"entity":  {10, 4, 400, "entity", 13107, 26215, 13107, 13107},
	"general": {10, 4, 500, "", 16384, 16384, 16384, 16384},
}

var kindOfEdge = map[string]string{"causes": "causal", "enables": "causal", "prevents": "causal",
	"follows": "temporal", "near": "temporal", "mentions": "entity", "about": "entity",
	"similar": "semantic"}

func (p recallPlan) keeps(typ string) int64 {
	kind := kindOfEdge[typ]
	switch {
	case kind != "" && kind == p.kind:
		return 49152
	case kind == "semantic":
		return 13107
	}
	return 32768
}

// signals are those of clause 26.4.
type signals struct{ keyword, entity, likeness, linking int64 }

// walked is a node that the beam search reached: its value, and where its way begins.
type walked struct {
	value int64
	seed  string
}

// beamed is clause 26.3: what the search reaches from anchors, which are in order.
func (q request) beamed(st *store, p recallPlan, anchors []hit) map[string]walked {
	begin := map[string]int64{}
	layer := append([]hit{}, anchors...)
	at := map[string]walked{}
	for _, a := range anchors {
		begin[a.id] = a.score
		at[a.id] = walked{a.score, a.id}
	}
	reached := map[string]walked{}
	looked := map[string]bool{}
	for h := 0; h < p.depth; h++ {
		type arriving struct {
			from, to string
			side     int
			n        int64
		}
		best := map[string]arriving{}
		for _, u := range layer {
			from := at[u.id]
			for side, name := range []string{"out", "in"} {
				if q.direction != "both" && q.direction != name {
					continue
				}
				entries := 0
				for _, k := range st.bucket(side, u.id) {
					id, far := k[len(k)-16:], k[len(k)-32:len(k)-16]
					typ := text(st.edges[id], "type")
					if len(q.expandTypes) > 0 && !has(q.expandTypes, typ) {
						continue
					}
					if entries++; entries > 256 {
						break
					}
					n := from.value * p.keeps(typ) / one * min(q.edgeWeight(st.edges[id]), one) / one
					if far == u.id || far == from.seed || looked[far] || n == 0 ||
						q.hides(st, "e"+id) || n <= best[far].n {
						continue
					}
					best[far] = arriving{u.id, far, 1 - side, n}
				}
			}
		}
		var list []arriving
		for _, a := range best {
			list = append(list, a)
		}
		sort.Slice(list, func(i, j int) bool {
			a, b := list[i], list[j]
			return a.n > b.n || a.n == b.n && a.to < b.to
		})
		var next []hit
		now := map[string]walked{}
		for _, a := range list {
			was, anchor := begin[a.to]
			if !anchor {
				if len(looked) == p.visited {
					continue
				}
				looked[a.to] = true
			}
			if !q.passes(st, a.to) {
				continue
			}
			n := a.n * st.damped(step{hit{id: a.to}, a.side}) / one
			if n == 0 || n <= reached[a.to].value {
				continue
			}
			reached[a.to] = walked{n, at[a.from].seed}
			if !anchor || n > was {
				now[a.to] = reached[a.to]
				next = append(next, hit{id: a.to, score: n})
			}
		}
		for id, w := range now {
			at[id] = w
		}
		sortHits(next)
		layer = next[:min(len(next), p.width)]
	}
	return reached
}

// settled is the request with its intent read from the text.
func (q request) settled() request {
	if q.intent == "auto" {
		q.intent = intentOf(q.text)
	}
	return q
}

// likeTo is the similarity of a node.
func likeTo(lanes []ranking, id string) int64 {
	best := int64(0)
	for _, l := range lanes {
		if len(l.name) > 6 && (l.name[:6] == "dense:" || l.name[:7] == "sparse:") {
			best = max(best, l.parts(false)[id])
		}
	}
	return best
}

// recalls is clause 26: all candidates in their new order, and the signals of each.
func (q request) recalls(
	st *store, c collection, lanes []ranking, order []hit, a *answer,
) []hit {
	a.signals = map[string]*signals{}
	if q.intent == "" || q.blank() || len(order) == 0 {
		return order
	}
	p := recallPlans[q.intent]
	top := int64(0)
	for _, h := range order {
		if h.tier == 0 {
			top = max(top, h.score)
		}
	}
	var anchors []hit
	for i, h := range order {
		s := &signals{keyword: one, likeness: likeTo(lanes, h.id)}
		if h.tier == 0 {
			s.keyword = mulDiv(h.score, one, top)
		}
		a.signals[h.id] = s
		if i < p.width {
			anchors = append(anchors, hit{id: h.id, score: s.keyword})
		}
	}
	judged := append([]hit{}, order[:min(len(order), 100)]...)
	var reached []hit
	for id, w := range q.beamed(st, p, anchors) {
		reached = append(reached, hit{id: id, score: w.value})
	}
	sortHits(reached)
	joined, n := int64(0), 0
	for _, h := range reached {
		if a.signals[h.id] == nil {
			if joined == q.maxExpand {
				continue
			}
			joined++
			a.signals[h.id] = &signals{}
			order = append(order, hit{id: h.id})
		}
		a.signals[h.id].linking = h.score
		if n++; n <= 100 {
			judged = append(judged, h)
		}
	}
	q.judge(st, c, judged, a)
	a.weights = q.weighSignals(p, order, a)
	for i, h := range order {
		s, w := a.signals[h.id], a.weights
		raise := (w.entity*s.entity + w.likeness*s.likeness + w.linking*s.linking) / one
		order[i].score += mulDiv(max(top, one), raise, one)
	}
	sortHits(order)
	return order
}

// judge is the signal of entities.
func (q request) judge(st *store, c collection, list []hit, a *answer) {
	all := entitiesIn(q.text)
	weights := make([]int64, len(all))
	total := int64(0)
	for i, p := range all {
		for _, t := range p.terms() {
			if c.df[t] > 0 {
				weights[i] += c.idf(t)
			}
		}
		total += weights[i]
	}
	for _, h := range list {
		sum := int64(0)
		for i, p := range all {
			found := false
			for _, s := range st.textsOf(st.nodes[h.id]) {
				found = found || p.in(s)
			}
			if found {
				sum += weights[i]
			}
		}
		a.signals[h.id].entity = mulDiv(sum, one, total)
	}
}

// weighSignals is step 4 of clause 26.4.
func (q request) weighSignals(p recallPlan, order []hit, a *answer) signals {
	w := signals{0, p.entity, p.likeness, p.linking}
	var sum signals
	for _, h := range order {
		s := a.signals[h.id]
		sum.entity += s.entity
		sum.likeness += s.likeness
		sum.linking += s.linking
	}
	if sum.entity == 0 {
		w.entity = 0
	}
	if sum.likeness == 0 {
		w.likeness = 0
	}
	if sum.linking == 0 {
		w.linking = 0
	}
	all := p.keyword + w.entity + w.likeness + w.linking
	return signals{one, w.entity * one / all / 2, w.likeness * one / all / 2, w.linking * one / all / 2}
}

// causesFirst is clause 26.5.
func (q request) causesFirst(st *store, lanes []ranking, order []hit, a *answer) {
	if q.intent != "why" || len(a.signals) == 0 {
		return
	}
	base := convex(lanes)
	window := order[:min(len(order), 50)]
	least := int64(1)
	for _, h := range window {
		if h.tier == 0 {
			least = max(least, base[h.id]/2)
		}
	}
	relevant := func(h hit) bool { return h.tier == 0 && base[h.id] >= least }
	leads := func(cause, effect string) bool {
		seen := 0
		for _, k := range st.bucket(0, cause) {
			id := k[len(k)-16:]
			if kindOfEdge[text(st.edges[id], "type")] != "causal" {
				continue
			}
			if seen++; seen > 256 {
				break
			}
			if k[len(k)-32:len(k)-16] == effect && !q.hides(st, "e"+id) {
				return true
			}
		}
		return false
	}
	done := map[string]bool{}
	var out []hit
	var put func(h hit)
	put = func(h hit) {
		if done[h.id] {
			return
		}
		done[h.id] = true
		for _, cause := range window {
			if relevant(cause) && relevant(h) && cause.id != h.id && leads(cause.id, h.id) {
				put(cause)
			}
		}
		out = append(out, h)
	}
	for _, h := range window {
		put(h)
	}
	copy(window, out)
}

// shareOf gives the share of the weights of a text's terms that a node has, and of kin where that counts.
func (q request) shareOf(c collection, query []string) func(id string) int64 {
	share := q.shareBy(c, query)
	return func(id string) int64 {
		return share(func(term string) bool { return c.score(id, []string{term}) > 0 })
	}
}

// shareBy is the same of whatever has some of the terms.
func (q request) shareBy(c collection, query []string) func(has func(term string) bool) int64 {
	most, total, unknown := int64(0), int64(0), int64(0)
	of := c.weightsOf(query)
	for _, n := range of {
		most = max(most, n)
		total += n
	}
	for _, t := range unique(query) {
		if of[t] == 0 {
			of[t] = most
			unknown++
		}
	}
	total += unknown * most
	var kin []kinTerm
	if q.second() {
		kin = c.kin(query)
	}
	return func(has func(term string) bool) int64 {
		credit := map[string]int64{}
		for _, k := range kin {
			for _, t := range k.of {
				if has(k.term) {
					credit[t] = 26214
				}
			}
		}
		sum := int64(0)
		for t, n := range of {
			if has(t) {
				credit[t] = one
			}
			sum += n * credit[t] / one
		}
		return mulDiv(sum, one, total)
	}
}

// knownWarning is clause 26.6.
func (q request) knownWarning(st *store, c collection, tiers map[string]int, lanes []ranking, a *answer) {
	if q.intent == "" || !q.runsText() || len(tiers) > 0 || q.timeAlone() ||
		len(a.items) == 0 && a.dropped > 0 {
		return
	}
	for _, w := range a.warnings {
		if w.(dict)["code"] == "nothing_passes" {
			return
		}
	}
	bare := q
	bare.feedback = 0
	query := bare.terms(st, c)
	if len(query) == 0 {
		return
	}
	items := a.items[:min(len(a.items), 10)]
	for _, it := range items {
		for _, l := range lanes {
			if l.cosines[it.id] >= one/2 {
				return
			}
		}
	}
	share := q.shareOf(c, query)
	best := int64(0)
	for _, it := range items {
		best = max(best, share(it.id))
	}
	if best < 19661 {
		a.warnings = append(a.warnings, dict{"code": "nothing_relevant",
			"params": dict{"covered": best * 100 / one}})
	}
}

// onlyName is clause 26.7.
func (q request) onlyName(st *store, h hit, a *answer) bool {
	n := st.nodes[h.id]
	typ, key := text(n, "type"), text(n, "key")
	if a.signals[h.id] == nil && !q.second() || h.tier > 0 || has(q.types, typ) {
		return false
	}
	props := n["props"].(dict)
	if begin := map[string]string{"Collection": "files:", "Document": "doc/", "Section": "doc/"}[typ]; begin != "" && q.second() {
		return strings.HasPrefix(key, begin) && n["cues"] == nil && n["content"] == nil &&
			props["aliases"] == nil && props["meta"] == nil && props["tags"] == nil
	}
	prefix := map[string]string{"Entity": "entity/", "Tag": "tag/"}[typ]
	return prefix != "" && (strings.HasPrefix(key, prefix) || key != "" && key == text(n, "summary")) &&
		n["context"] == nil && n["cues"] == nil && n["content"] == nil && len(props) == 0
}
