package main

import (
	"math/big"
	"sort"
)

// quote is a sentence of an item.
type quote struct {
	id, text string
	terms    map[string]bool
}

func termsOf(s string) map[string]bool {
	set := map[string]bool{}
	for _, t := range analyse(s, "en") {
		set[t] = true
	}
	return set
}

// counting are the sentences that a summary is chosen from.
func (q request) counting(st *store, items []item) []quote {
	var out []quote
	seen := map[string]bool{}
	for _, it := range items {
		node := st.nodes[it.id]
		texts := []string{text(node, "context"), text(node, "summary")}
		if q.showsContent(node) {
			texts = append(texts, st.contentText(node))
		}
		for _, t := range texts {
			most := int64(8192)
			if q.summaryCap > 0 {
				most = min(most, q.summaryCap)
			}
			rs := []rune(t)
			rs = rs[:min(len(rs), int(most))]
			for _, s := range sentencesOf(string(rs), 500) {
				terms := termsOf(s)
				if !seen[s] && len(terms) > 0 && len(out) < 2000 {
					out = append(out, quote{it.id, s, terms})
				}
				seen[s] = true
			}
		}
	}
	return out
}

// summary is clause 20.3.
func (q request) summary(st *store, items []item) []quote {
	list := q.counting(st, items)
	if q.summarize == 0 || len(list) == 0 {
		return nil
	}
	weight := map[string]int64{}
	for _, s := range list {
		for t := range s.terms {
			weight[t]++
		}
	}
	squares := int64(0)
	asked := termsOf(q.text)
	for t := range weight {
		if asked[t] {
			weight[t] *= 2
		}
		squares += weight[t] * weight[t]
	}
	relevance := make([]int64, len(list))
	top := int64(1)
	for i, s := range list {
		sum := int64(0)
		for t := range s.terms {
			sum += weight[t]
		}
		root := new(big.Int).Sqrt(big.NewInt(int64(len(s.terms)) * squares)).Int64()
		relevance[i] = one * sum / root
		top = max(top, relevance[i])
	}
	var chosen []int
	for int64(len(chosen)) < q.summarize && len(chosen) < len(list) {
		best, most := -1, int64(0)
		for i, s := range list {
			near := int64(0)
			for _, j := range chosen {
				near = max(near, similarity(s.terms, list[j].terms))
			}
			v := 45875*(one*relevance[i]/top) - 19661*near
			if !contains(chosen, i) && (best < 0 || v > most) {
				best, most = i, v
			}
		}
		chosen = append(chosen, best)
	}
	sort.Ints(chosen)
	var out []quote
	for _, i := range chosen {
		out = append(out, list[i])
	}
	return out
}

func shownSummary(list []quote) string {
	if len(list) == 0 {
		return ""
	}
	out := "Summary:\n"
	for _, s := range list {
		out += "  " + uuid(s.id) + ": " + escapeLine(s.text) + "\n"
	}
	return out
}
