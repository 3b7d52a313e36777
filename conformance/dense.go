package main

import (
	"math/big"
	"slices"
	"sort"
)

// models are the models of the request's vectors, ascending.
func (q request) models() []string {
	var out []string
	for m := range q.vectors {
		out = append(out, m)
	}
	sort.Strings(out)
	return out
}

func (q request) blank() bool { return trimmed(q.text) == "" && len(q.vectors)+len(q.sparse) == 0 }

func vectorBytes(v []int8) []byte {
	var out []byte
	for _, x := range v {
		out = append(out, byte(x))
	}
	return out
}

// dimensionsOf is a dense vector of an embedding record, nil for a sparse one.
func dimensionsOf(e dict) []int8 {
	if text(e, "dtype") != "i8" {
		return nil
	}
	var out []int8
	for _, b := range e["vector"].([]byte) {
		out = append(out, int8(b))
	}
	return out
}

// cosine is clause 9.5, in numbers without bound.
func cosine(a, b []int8) int64 {
	sum := func(x, y []int8) *big.Int {
		s := big.NewInt(0)
		for i := range x {
			s.Add(s, big.NewInt(int64(x[i])*int64(y[i])))
		}
		return s
	}
	dot := sum(a, b)
	if dot.Sign() <= 0 {
		return 0
	}
	root := new(big.Int).Sqrt(new(big.Int).Mul(sum(a, a), sum(b, b)))
	return new(big.Int).Quo(new(big.Int).Mul(dot, big.NewInt(65536)), root).Int64()
}

// denseList is the list of the lane dense:MODEL.
func (q request) denseList(st *store, model string) map[string]int64 {
	var hs []hit
	for key, e := range st.vectors {
		v := dimensionsOf(e)
		if key[16:] != model || len(v) != len(q.vectors[model]) || !q.passes(st, key[:16]) {
			continue
		}
		if s := cosine(q.vectors[model], v); s > 0 {
			hs = append(hs, hit{id: key[:16], score: s})
		}
	}
	return best1000(hs)
}

// vectorsBy are the dense vectors of a model.
func (st *store) vectorsBy(model string) map[string][]int8 {
	out := map[string][]int8{}
	for key, e := range st.vectors {
		if key[16:] == model {
			out[key[:16]] = dimensionsOf(e)
		}
	}
	return out
}

// own is clause 9.5 of ranking 2, in numbers without bound: what nodes have beside the nearest 20.
func own(cosines map[string]int64, vectors map[string][]int8) map[string]int64 {
	var list []hit
	for id, s := range cosines {
		list = append(list, hit{id: id, score: s})
	}
	sortHits(list)
	peers := list[:min(len(list), 20)]
	like := func(a, b string) *big.Int {
		opposite := slices.Clone(vectors[b])
		for i := range opposite {
			opposite[i] = -opposite[i]
		}
		return big.NewInt(cosine(vectors[a], vectors[b]) - cosine(vectors[a], opposite))
	}
	var known [][]*big.Int
	for _, p := range peers {
		var row []*big.Int
		for _, other := range peers {
			row = append(row, like(p.id, other.id))
		}
		known = append(known, row)
	}
	y := make([]*big.Int, len(peers))
	for i := range y {
		y[i] = new(big.Int)
	}
	for range 32 {
		for i, p := range peers {
			rest := new(big.Int).Mul(big.NewInt(p.score), big.NewInt(one))
			for j := range peers {
				if i != j {
					rest.Sub(rest, new(big.Int).Mul(known[i][j], y[j]))
				}
			}
			y[i] = rest.Div(rest, big.NewInt(7*one)) // toward negative infinity: the divisor is positive
		}
	}
	out := map[string]int64{}
	for _, h := range list {
		common := new(big.Int)
		for j, p := range peers {
			common.Add(common, new(big.Int).Mul(like(h.id, p.id), y[j]))
		}
		out[h.id] = max(1, h.score-common.Div(common, big.NewInt(one)).Int64())
	}
	return out
}

func best1000(hs []hit) map[string]int64 {
	sortHits(hs)
	out := map[string]int64{}
	for _, h := range hs[:min(len(hs), 1000)] {
		out[h.id] = h.score
	}
	return out
}

// ranking is the list of one lane and its weight.
type ranking struct {
	name   string
	weight int64
	scores map[string]int64
	ground int64 // of a score that is nothing: clause 9.6 of ranking 2
	// cosines are the scores by clause 9.5 of a dense lane, which in ranking 2 are not those of its list.
	cosines map[string]int64
}

// rankings are the lanes of clause 9.6 whose lists are not empty.
func (q request) rankings(st *store, c collection) []ranking {
	var all []ranking
	add := func(name string, weight int64, scores map[string]int64) {
		if len(scores) > 0 {
			all = append(all, ranking{name: name, weight: weight, scores: scores})
		}
	}
	if q.blank() {
		add("recency", one, q.lane(st, c))
	}
	if q.runsText() {
		add("text", q.weight("text", one), q.lane(st, c))
	}
	for i, r := range q.rewrites {
		name := "text:" + itoa(i+1)
		if w := q.weight(name, q.rewriteWeight()); w > 0 {
			add(name, w, q.rewriteList(st, c, r))
		}
	}
	for _, m := range q.models() {
		if w := q.weight("dense:"+m, q.vectorWeight()); w > 0 {
			if list := q.denseList(st, m); len(list) > 0 {
				l := ranking{name: "dense:" + m, weight: w, scores: list, cosines: list}
				if q.second() {
					l.scores = own(list, st.vectorsBy(m))
					l.ground = scoreAt(l.scores, 200) / 2
				}
				all = append(all, l)
			}
		}
	}
	if q.timeAlone() {
		list, _ := q.timeList(st)
		add("time", q.weight("time", 4*one), list)
	}
	for _, m := range q.runsSparse() {
		add("sparse:"+m, q.weight("sparse:"+m, q.vectorWeight()), q.sparseList(st, m))
	}
	if q.runsEntities() {
		add("entity", q.weights["entity"], q.entityList(st, c))
	}
	q.weighByText(st, c, all)
	return all
}

func (q request) runsText() bool { return trimmed(q.text) != "" && q.weight("text", one) > 0 }

// weight is the weight of a lane that is w unless given.
func (q request) weight(lane string, w int64) int64 {
	if given, ok := q.weights[lane]; ok {
		return given
	}
	if q.fusion == "rrf" {
		return one
	}
	return w
}

// runs are the models whose lane has a weight.
func (q request) runs() []string {
	var out []string
	for _, m := range q.models() {
		if q.weight("dense:"+m, 1) > 0 {
			out = append(out, m)
		}
	}
	return out
}

func (q request) byRanks() bool { return q.fusion == "rrf" || q.fusion == "weighted-rrf" }

// byRank is f of rank fusion.
func byRank(lanes []ranking) map[string]int64 {
	out := map[string]int64{}
	for _, l := range lanes {
		var hs []hit
		for id, s := range l.scores {
			hs = append(hs, hit{id: id, score: s})
		}
		sortHits(hs)
		for i, h := range hs {
			out[h.id] += l.weight * 65536 / int64(61+i)
		}
	}
	return out
}

// fused is f of clause 9.6.
func (q request) fused(lanes []ranking) map[string]int64 {
	if q.byRanks() {
		return byRank(lanes)
	}
	return weighed(lanes, q.fusion == "score-norm")
}

// beforeGain is what step 6 of clause 10 adds gains to.
func (q request) beforeGain(lanes []ranking, tiers map[string]int) map[string]int64 {
	out := q.fused(lanes)
	for id := range tiers {
		out[id] = one
	}
	return out
}

func convex(lanes []ranking) map[string]int64 { return weighed(lanes, false) }

func weights(lanes []ranking) int64 {
	sum := int64(0)
	for _, l := range lanes {
		sum += l.weight
	}
	return sum
}

func (r ranking) best() int64 {
	best := int64(0)
	for _, s := range r.scores {
		best = max(best, s)
	}
	return best
}

// scoreAt is the score of a place from 1 in a list, or of its last one.
func scoreAt(scores map[string]int64, place int) int64 {
	var all []int64
	for _, s := range scores {
		all = append(all, s)
	}
	slices.Sort(all)
	return all[max(len(all)-place, 0)]
}

// joinedByRank is step 6 of clause 10 for rank fusion.
func (q request) joinedByRank(lanes []ranking, base, gain map[string]int64, joined []hit,
	tiers map[string]int) []hit {
	reached := map[string]int64{}
	var ids []string
	for _, h := range joined {
		ids = append(ids, h.id)
	}
	for id := range base {
		ids = append(ids, id)
	}
	for _, id := range ids {
		if gain[id] > 0 {
			reached[id] = gain[id]
		}
	}
	f := byRank(append(lanes[:len(lanes):len(lanes)], ranking{name: "expand", weight: one, scores: reached}))
	var out []hit
	for _, id := range ids {
		out = append(out, hit{id: id, tier: tiers[id], score: f[id]})
	}
	return out
}

// parts are what the nodes of a list have of the way to its best score, from 0 or from its worst.
func (r ranking) parts(fromWorst bool) map[string]int64 {
	best, worst := int64(0), int64(1)<<62
	for _, s := range r.scores {
		best, worst = max(best, s), min(worst, s)
	}
	if !fromWorst {
		worst = r.ground
	}
	out := map[string]int64{}
	for id, s := range r.scores {
		if fromWorst && best == worst {
			out[id] = one
			continue
		}
		out[id] = max(s-worst, 0) * one / max(best-worst, 1)
	}
	return out
}

// weighed is f of convex or score-norm.
func weighed(lanes []ranking, fromWorst bool) map[string]int64 {
	out := map[string]int64{}
	for _, l := range lanes {
		for id, p := range l.parts(fromWorst) {
			out[id] += l.weight * p
		}
	}
	for id := range out {
		out[id] /= weights(lanes)
	}
	return out
}

// denseWarnings are those of clause 11.1 about vectors.
func (q request) denseWarnings(st *store, a *answer) {
	there := map[string]bool{}
	other := map[string]int{}
	for key, e := range st.vectors {
		v := dimensionsOf(e)
		if v == nil {
			continue
		}
		there[key[16:]] = true
		if mine, asked := q.vectors[key[16:]]; asked && len(mine) != len(v) {
			other[key[16:]]++
		}
	}
	var names []string
	for m := range there {
		names = append(names, m)
	}
	sort.Strings(names)
	for _, m := range q.runs() {
		if there[m] {
			continue
		}
		params := dict{"model": m}
		if len(names) > 0 {
			params["models"] = anyList(names[:min(len(names), 16)])
		}
		a.warnings = append(a.warnings, dict{"code": "no_vectors", "params": params})
	}
	for _, m := range q.runs() {
		if other[m] > 0 {
			a.warnings = append(a.warnings, dict{"code": "dimension",
				"params": dict{"model": m, "vectors": other[m]}})
		}
	}
	if n := q.staleItems(st, a); n > 0 {
		a.warnings = append(a.warnings, dict{"code": "stale_vectors", "params": dict{"nodes": n}})
	}
}

func anyList(names []string) []any {
	var out []any
	for _, n := range names {
		out = append(out, n)
	}
	return out
}

// staleItems counts the items that an embedding of another text found.
func (q request) staleItems(st *store, a *answer) int {
	n := 0
	for _, it := range a.items {
		node := st.nodes[it.id]
		now := map[string]bool{string(embeddedText(node, st.contentText(node))): true}
		if q.ranking < 2 {
			bare := dict{}
			for name, v := range node {
				if name != "props" {
					bare[name] = v
				}
			}
			now[string(embeddedText(bare, st.contentText(node)))] = true
		}
		stale := false
		for _, m := range q.runs() {
			_, found := q.denseList(st, m)[it.id]
			stale = stale || found && !now[string(st.vectors[it.id+m]["text"].([]byte))]
		}
		for _, m := range q.runsSparse() {
			_, found := q.sparseList(st, m)[it.id]
			stale = stale || found && !now[string(st.vectors[it.id+m]["text"].([]byte))]
		}
		if stale {
			n++
		}
	}
	return n
}
