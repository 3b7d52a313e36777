package main

import "fmt"

// words are the vocabulary of random collections: frequent ones first.
var words = []string{"boat", "harbour", "tide", "dock", "berth", "winter", "storm", "north",
	"crane", "pilot", "keel", "sail", "rope", "anchor", "lantern", "chart", "wharf", "ferry",
	"TideTable", "berth-planner", "2026", "1,250", "captain's", "東京港", "naïve", "the"}

// sentence is n words; low numbers of words are more frequent.
func sentence(r *rng, n int) string {
	out := ""
	for i := range n {
		if i > 0 {
			out += " "
		}
		out += words[min(r.below(len(words)), r.below(len(words)))]
	}
	return out
}

func randomNode(r *rng, i int) string {
	rest := ""
	if r.below(3) == 0 {
		rest += `,"context":"` + sentence(r, 1+r.below(4)) + `"`
	}
	if r.below(3) == 0 {
		rest += `,"content":"` + sentence(r, 5+r.below(30)) + `"`
	}
	if r.below(2) == 0 {
		rest += fmt.Sprintf(`,"props":{"n":%d,"place":"%s"}`, r.below(10), sentence(r, 1))
	}
	if r.below(4) == 0 {
		rest += fmt.Sprintf(`,"created":"2025-%02d-01"`, 1+r.below(12))
	}
	return fmt.Sprintf(`{"node":{"key":"n%d","type":"%s","summary":"%s"%s}}`, i,
		[]string{"Place", "Person", "Note"}[r.below(3)], sentence(r, 3+r.below(9)), rest)
}

// randomMemory is two batches: a collection of n nodes with edges and marks, then changes to it.
func randomMemory(r *rng, n int) []batchText {
	var first, second batchText
	for i := range n {
		first = append(first, randomNode(r, i))
	}
	name := func() string { return "n" + itoa(r.below(n)) }
	for range 2 * n {
		first = append(first,
			fmt.Sprintf(`{"edge":{"type":"%s","src":"%s","dst":"%s","weight":0.%d}}`,
				[]string{"near", "owns", "cites"}[r.below(3)], name(), name(), 1+r.below(99)))
	}
	states := []string{"stale", "superseded", "retired", "forgotten", "expired", "contradicted"}
	for range n / 6 {
		first = append(first, fmt.Sprintf(`{"mark":{"node":"%s","state":"%s"}}`, name(),
			states[r.below(6)]))
	}
	for range n / 5 {
		second = append(second, randomNode(r, r.below(n)))
	}
	second = append(second, `{"remove":{"node":"`+name()+`"}}`)
	return []batchText{first, second}
}

func randomRequest(r *rng) request {
	q := newRequest(sentence(r, 1+r.below(4)))
	q.expand = int64(r.below(4))
	q.limit = int64([]int{0, 3, 10, 25}[r.below(4)])
	q.budget = int64([]int{0, 100, 400, 2000}[r.below(4)])
	q.adjacency = int64(r.below(4))
	q.direction = []string{"both", "out", "in"}[r.below(3)]
	q.summaryCap = int64([]int{0, 20, 8192}[r.below(3)])
	if r.below(3) == 0 {
		q.types = []string{"Place", "Note"}
	}
	if r.below(3) == 0 {
		q.where = []predicate{{name: "n", op: []string{"<", "!=", ">="}[r.below(3)],
			value: int64(r.below(10)), hasValue: true}}
	}
	if r.below(3) == 0 {
		q.marks = []string{"superseded", "expired"}
	}
	if r.below(3) == 0 {
		q.expandTypes = []string{"near", "cites"}
	}
	if r.below(3) == 0 {
		q.text += fmt.Sprintf(" `n%d`", r.below(20))
	}
	if r.below(2) == 0 {
		q.show = []string{"times", "content"}
	}
	return q
}

// randomCases are whole retrievals over random collections, everything compared.
func randomCases(s *suite) {
	for i := range 24 {
		r := rng(uint64(i)*2654435761 + 17)
		memory := randomMemory(&r, 10+i*2)
		q := randomRequest(&r)
		s.retrieval("11", "pack", fmt.Sprintf("random-%02d", i),
			"a random request of a random memory",
			q, true, memory...)
	}
}
