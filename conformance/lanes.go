package main

import (
	"math/big"
	"sort"
)

func sortedModels[V any](m map[string]V) []string {
	var out []string
	for name := range m {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

// vectorWeight is the weight of each lane by embeddings that is not given one.
func (q request) vectorWeight() int64 { return one / 2 / int64(len(q.vectors)+len(q.sparse)) }

// headOf reads the number of the head of a CBOR item, and what follows it.
func headOf(b []byte) (int64, []byte) {
	low := b[0] & 31
	if low < 24 {
		return int64(low), b[1:]
	}
	size, n := 1<<(low-24), int64(0)
	for _, x := range b[1 : 1+size] {
		n = n<<8 | int64(x)
	}
	return n, b[1+size:]
}

// sparseWeights are the weights of a sparse embedding, nil for another one.
func sparseWeights(e dict) map[string]int64 {
	if text(e, "dtype") != "sparse" {
		return nil
	}
	n, b := headOf(e["vector"].([]byte))
	out := map[string]int64{}
	for range n {
		var size, w int64
		size, b = headOf(b)
		term := string(b[:size])
		w, b = headOf(b[size:])
		out[term] = w
	}
	return out
}

// sparseList is the list of the lane sparse:MODEL (clause 9.7).
func (q request) sparseList(st *store, model string) map[string]int64 {
	var hs []hit
	most := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 64), big.NewInt(1))
	for key, e := range st.vectors {
		if key[16:] != model || !q.passes(st, key[:16]) {
			continue
		}
		sum, shared := big.NewInt(0), false
		for t, w := range sparseWeights(e) {
			if mine, ok := q.sparse[model][t]; ok {
				shared = true
				sum.Add(sum, new(big.Int).Mul(big.NewInt(w), big.NewInt(mine)))
			}
		}
		if sum.Cmp(most) > 0 {
			sum = most
		}
		if shared {
			score := new(big.Int).Quo(sum, big.NewInt(65536)).Int64()
			hs = append(hs, hit{id: key[:16], score: max(1, score)})
		}
	}
	return best1000(hs)
}

// runsSparse are the models of sparse vectors whose lane has a weight.
func (q request) runsSparse() []string {
	var out []string
	for _, m := range sortedModels(q.sparse) {
		if q.weight("sparse:"+m, 1) > 0 {
			out = append(out, m)
		}
	}
	return out
}

func (q request) runsEntities() bool { return trimmed(q.text) != "" && q.weights["entity"] > 0 }

// laneWarnings are those of clause 11.1 about the lanes of clauses 9.7 and 9.8.
func (q request) laneWarnings(st *store, c collection, a *answer) {
	there := map[string]bool{}
	for key, e := range st.vectors {
		if sparseWeights(e) != nil {
			there[key[16:]] = true
		}
	}
	for _, m := range q.runsSparse() {
		if there[m] {
			continue
		}
		params := dict{"model": m}
		if names := sortedModels(there); len(names) > 0 {
			params["models"] = anyList(names[:min(len(names), 16)])
		}
		a.warnings = append(a.warnings, dict{"code": "no_sparse_vectors", "params": params})
	}
	if !q.runsEntities() {
		return
	}
	all := entitiesIn(q.text)
	if len(all) == 0 {
		a.warnings = append(a.warnings, dict{"code": "no_entities"})
	}
	if n := len(all) - len(q.entitiesCounted(st, c, all)); n > 0 {
		a.warnings = append(a.warnings, dict{"code": "common_entities", "params": dict{"entities": n}})
	}
}
