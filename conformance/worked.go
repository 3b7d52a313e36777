package main

import (
	"fmt"
	"strings"
)

// workedLines and workedText are the example that SPEC.md works through.
var workedLines = batchText{
	`{"node":{"key":"svc/billing","type":"Service","summary":"Billing charges customers"}}`,
	`{"node":{"key":"alice","type":"Person","summary":"Alice leads infra"}}`,
	`{"node":{"key":"bob","type":"Person","summary":"Bob sells anchors to customers abroad"}}`,
	`{"edge":{"type":"owns","src":"alice","dst":"svc/billing"}}`,
}

const workedText = "What charges customers?"

func workedRequest() request {
	q := newRequest(workedText)
	q.expand = 1
	return q
}

// workedCase holds the answer of the example.
func workedCase(s *suite) {
	s.retrieval("9.2", "score", "worked", "the worked retrieval of the first page", workedRequest(), true,
		workedLines)
}

// worked is the example with its numbers, as SPEC.md has it between its two marks.
func worked() string {
	st := built(workedLines)
	c := st.collect()
	names := map[string]string{}
	for _, key := range []string{"svc/billing", "alice", "bob"} {
		names[nodeIDOfKey(key)] = key
	}
	terms := analyse(workedText, "en")
	var b strings.Builder
	fmt.Fprintf(&b, "```\n%s\n```\n\n", strings.Join(workedLines, "\n"))
	fmt.Fprintf(&b, "The `text` is `%s`, `expand` is 1, all else at its default. The terms (6) are `%s`. "+
		"There are N = %d nodes, and D = %d summaries of T = %d terms together (7.2). By 9.2, of the field `summary` alone, "+
		"idf = L(%d) − L(2·df + 1), n = ⌊(39,322·T + 26,214·len·D) / T⌋, x = ⌊131,072·65,536 / n⌋, "+
		"term = ⌊idf·x / (x + 58,982)⌋:\n\n",
		workedText, strings.Join(terms, "`, `"), len(c.docs), c.having[0], c.total[0], 2*len(c.docs)+2)
	b.WriteString("| term | df | idf | node | len | n | x | term |\n|---|---|---|---|---|---|---|---|\n")
	part := map[string]map[string]int64{}
	for _, t := range terms {
		for _, key := range []string{"svc/billing", "bob"} {
			id := nodeIDOfKey(key)
			d := c.docs[id]
			if d.counts[0][t] == 0 {
				continue
			}
			n := ((one-rankB)*c.total[0] + rankB*d.lengths[0]*c.having[0]) / c.total[0]
			x := fieldWeights[0] * one / n
			if part[id] == nil {
				part[id] = map[string]int64{}
			}
			part[id][t] = c.idf(t) * x / (x + rankK)
			fmt.Fprintf(&b, "| `%s` | %d | %s − %s = %s | `%s` | %d | %s | %s | %s |\n", t, c.df[t],
				grouped(logQ16(uint64(2*len(c.docs)+2))), grouped(logQ16(uint64(2*c.df[t]+1))), grouped(c.idf(t)),
				key, d.lengths[0], grouped(n), grouped(x), grouped(part[id][t]))
		}
	}
	sum := func(key string) (n int64) {
		for _, t := range terms {
			n += part[nodeIDOfKey(key)][t]
		}
		return n
	}
	const best = "svc/billing"
	top := sum(best)
	fmt.Fprintf(&b, "\n1. *Lane* (9.2): `%s` %s, `bob` %s.\n", best, grouped(top), grouped(sum("bob")))
	fmt.Fprintf(&b, "2. *Fusion* (9.6): one lane counts, so f = ⌊score · 65,536 / %s⌋: `%s` %s, `bob` %s.\n", grouped(top), best,
		grouped(one), grouped(sum("bob")*one/top))
	var lent []string
	gain := int64(0)
	for _, t := range terms {
		share := part[nodeIDOfKey(best)][t] * one / top
		lent = append(lent, fmt.Sprintf("⌊%s / 2⌋", grouped(share)))
		gain += share / 2
	}
	fmt.Fprintf(&b, "3. *Expansion* (10.1): the edge leads from `%s` to `alice`, which receives half of what that has of each term: %s = %s.\n",
		best, strings.Join(lent, " + "), grouped(gain))
	var items []string
	for _, it := range workedRequest().retrieve(st).items {
		items = append(items, fmt.Sprintf("`%s` %s (%d tokens)", names[it.id], grouped(it.score), it.tokens))
	}
	fmt.Fprintf(&b, "4. *Packing* (11) in the order of scores (9.4), with the tokens of the rendered lines (12, 11.7): %s.",
		strings.Join(items, ", "))
	return b.String() + "\n"
}

// grouped is a number with a comma before each three digits.
func grouped(n int64) string {
	s := itoa(int(n))
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
