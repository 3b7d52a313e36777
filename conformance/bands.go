package main

import (
	"slices"
	"sort"
	"strings"
)

// rewriteWeight is the weight of each lane of a rewrite that is not given one.
func (q request) rewriteWeight() int64 {
	if q.second() {
		return 2 * one / int64(len(q.rewrites))
	}
	return one / 2 / int64(len(q.rewrites))
}

// weighByText is what clause 9.6 of ranking 2 makes of the weights of lanes.
func (q request) weighByText(st *store, c collection, lanes []ranking) {
	byVector := func(l ranking) bool {
		return strings.HasPrefix(l.name, "dense:") || strings.HasPrefix(l.name, "sparse:")
	}
	texts, vectors := -1, false
	for i, l := range lanes {
		if l.name == "text" {
			texts = i
		}
		vectors = vectors || byVector(l)
	}
	if !q.second() || q.fusion != "convex" || len(q.weights) > 0 || texts < 0 || !vectors {
		return
	}
	var list []hit
	for id, score := range lanes[texts].scores {
		list = append(list, hit{id: id, score: score})
	}
	sortHits(list)
	best := int64(0)
	share := q.shareOf(c, q.terms(st, c))
	for _, h := range list[:min(len(list), 10)] {
		best = max(best, share(h.id))
	}
	for i, l := range lanes {
		if byVector(l) {
			lanes[i].weight = one / int64(len(q.vectors)+len(q.sparse))
		}
	}
	lanes[texts].weight = max(16384, 4*best*best/one)
}

const week = int64(7 * 86_400_000_000)

// besides is clause 26.8, in place: the node beside which each neighbour stands.
func (q request) besides(st *store, a *answer) map[string]string {
	out := map[string]string{}
	if !q.second() || q.intent != "why" || q.blank() || q.timeAlone() {
		return out
	}
	best := ""
	for _, h := range a.order[:min(len(a.order), 50)] {
		if !q.onlyName(st, h, a) {
			best = h.id
			break
		}
	}
	if best == "" {
		return out
	}
	var found []hit
	for _, sign := range []int64{-1, 1} {
		if h, ok := q.nextTo(st, a, best, sign); ok {
			found = append(found, h)
			out[h.id] = best
			if a.signals[h.id] == nil {
				a.signals[h.id] = &signals{}
			}
		}
	}
	var order []hit
	for _, h := range a.order {
		if out[h.id] == "" {
			order = append(order, h)
		}
		if h.id == best {
			order = append(order, found...)
		}
	}
	a.order = order
	return out
}

// nextTo is the neighbour of a node before or after it, as the sign says.
func (q request) nextTo(st *store, a *answer, id string, sign int64) (hit, bool) {
	at := number(st.nodes[id], "created")
	var near []hit
	for other, node := range st.nodes {
		d := (number(node, "created") - at) * sign
		if d > 0 && d <= week && q.passes(st, other) {
			near = append(near, hit{id: other, score: -d})
		}
	}
	sortHits(near)
	for _, h := range near[:min(len(near), 32)] {
		n := hit{id: h.id}
		for _, known := range a.order {
			if known.id == h.id {
				n = known
			}
		}
		if !q.onlyName(st, n, a) {
			return n, true
		}
	}
	return hit{}, false
}

// signsOf are the signs of clause 11.9 of a candidate.
func (q request) signsOf(st *store, c collection, lanes []ranking) func(id string) []int64 {
	var shares []func(id string) int64
	if trimmed(q.text) != "" {
		shares = append(shares, q.shareOf(c, q.terms(st, c)))
	}
	for _, r := range q.rewrites {
		shares = append(shares, q.shareOf(c, analyse(r, "en")))
	}
	return func(id string) []int64 {
		var out []int64
		for _, share := range shares {
			out = append(out, share(id))
		}
		if len(q.vectors) > 0 {
			like := int64(0)
			for _, l := range lanes {
				s, found := l.cosines[id]
				if !found {
					continue
				}
				like = max(like, (min(s, 42598)-16384)*one/26214)
				if len(q.rewrites) == 0 {
					like = max(like, (min(s-scoreAt(l.cosines, 20), 26214)-5243)*one/20971)
				}
			}
			out = append(out, like)
		}
		sort.Slice(out, func(i, j int) bool { return out[i] > out[j] })
		return out
	}
}

// knownBy is how much a candidate of these signs is known, which are in order.
func knownBy(signs []int64) int64 {
	if len(signs) == 1 {
		return signs[0]
	}
	return (3*signs[0] + 2*signs[1]) / 5
}

// banded is clause 11.9: the band of every candidate.
func (q request) banded(
	st *store, c collection, lanes []ranking, a *answer, beside map[string]string,
) map[string]string {
	bands := map[string]string{}
	all := q.blank() || q.timeAlone()
	var kept, said []hit
	for _, h := range a.order {
		bands[h.id] = "rest"
		if all {
			bands[h.id] = "answer"
		} else if len(kept) < 50 && !q.onlyName(st, h, a) {
			if t := text(st.nodes[h.id], "type"); len(q.types) == 0 && (t == "Turn" || t == "Session") {
				said = append(said, h)
			} else {
				kept = append(kept, h)
			}
		}
	}
	signs := q.signsOf(st, c, lanes)
	said = said[:min(len(said), 50)]
	compared := slices.ContainsFunc(lanes, func(l ranking) bool { return len(l.cosines) > 0 })
	if !q.band(bands, kept, signs, compared) && !q.band(bands, said, signs, compared) && len(kept) > 0 {
		for _, h := range said {
			bands[h.id] = "rest"
		}
	}
	for _, h := range said {
		if h.tier > 0 {
			bands[h.id] = "answer"
		}
	}
	for id, of := range beside {
		if bands[of] == "answer" {
			bands[id] = "answer"
		}
	}
	return bands
}

// band gives the bands of some candidates, and reports whether they answer the question. Compared is whether any
// list of a dense lane has a node.
func (q request) band(bands map[string]string, window []hit, signs func(id string) []int64, compared bool) bool {
	if len(window) == 0 {
		return false
	}
	if len(signs(window[0].id)) == 0 {
		for _, h := range window {
			bands[h.id] = "answer"
		}
		return true
	}
	sure, each := int64(13107), int64(6554)
	if len(q.rewrites) > 0 {
		sure, each = 45875, 26214
	}
	known := func(h hit) int64 { return knownBy(signs(h.id)) }
	first := known(window[0])
	answered := window[0].tier > 0 || first >= each && first >= sure-ahead(window)/2
	best := int64(0)
	for _, h := range window {
		best = max(best, known(h))
	}
	answered = answered || best >= sure
	ofBest := int64(one / 4)
	if compared && len(q.rewrites) == 0 {
		ofBest = 20000
	}
	each = max(each, best*ofBest/one)
	for i, h := range window {
		switch k := known(h); {
		case h.tier > 0 || answered && k >= each:
			bands[h.id] = "answer"
		case answered && k >= 3*each/4, !answered && i < 2:
			bands[h.id] = "maybe"
		}
	}
	return answered
}

// ahead is how far the best score is ahead of the next.
func ahead(window []hit) int64 {
	f, g := int64(0), int64(0)
	for _, h := range window {
		if h.score > f {
			f, g = h.score, f
		} else {
			g = max(g, h.score)
		}
	}
	return mulDiv(f-g, one, f)
}

// above are the candidates that the floor lets be packed, in that order.
func (q request) above(order []hit, bands map[string]string) []hit {
	if q.floor == "rest" {
		return order
	}
	var out, maybe []hit
	for _, h := range order {
		switch bands[h.id] {
		case "answer":
			out = append(out, h)
		case "maybe":
			maybe = append(maybe, h)
		}
	}
	if q.floor == "answer" {
		return out
	}
	return append(out, maybe[:min(len(maybe), 2)]...)
}
