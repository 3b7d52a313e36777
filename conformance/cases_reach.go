package main

import "fmt"

// reaching is a request with another expansion than lending.
func reaching(way, text string, rounds int64) request {
	q := everything(text)
	q.expansion, q.expand = way, rounds
	return q
}

func (q request) with(edit func(*request)) request {
	edit(&q)
	return q
}

// reachCase is a case of clauses 10.2 and 10.3.
type reachCase struct {
	name, title string
	q           request
	lines       batchText
}

// sharedCases are those of both ways.
func sharedCases(way string, rounds int64) []reachCase {
	chain := wired("abcdef", wire("a", "b", "0.9"), wire("b", "c", "0.8"), wire("c", "d", ""),
		wire("d", "e", "0.5"), wire("e", "f", ""))
	ask := func(text string) request { return reaching(way, text, rounds) }
	hidden := append(wired("abc", wire("a", "b", ""), wire("b", "c", "")),
		`{"mark":{"node":"b","state":"forgotten"}}`)
	toto := batchText{passage("a", "Jeff Porcaro", "A drummer of the band Toto, from Hartford."),
		passage("b", "Toto (band)", "Formed in Los Angeles."), passage("c", "Hartford", "A city.")}
	typed := wired("abc", wire("a", "b", ""), `{"edge":{"type":"u","src":"a","dst":"c"}}`)
	many := wired("a")
	for i := range 12 {
		k := fmt.Sprintf("n%02d", i)
		many = append(many, plainNode(k), wire("a", k, fmt.Sprintf("0.%02d", 40+i)))
	}
	return []reachCase{
		{"none", "no rounds", reaching(way, "worda", 0), chain},
		{"one", "one round", reaching(way, "worda", 1), chain},
		{"chain", "along a chain", ask("worda"), chain},
		{"out", "from source to destination", ask("wordc").with(func(q *request) {
			q.direction = "out"
		}), chain},
		{"in", "from destination to source", ask("wordc").with(func(q *request) {
			q.direction = "in"
		}), chain},
		{"key", "from an exact node", ask("a"), chain},
		{"key-reached", "to an exact node", ask(`wordc "b"`), chain},
		{"blank", "a blank text is not expanded", ask(" "), chain},
		{"two", "from two nodes to one another", ask("worda wordc"), chain},
		{"cycle", "around a cycle", ask("worda"), wired("abc", wire("a", "b", ""),
			wire("b", "c", ""), wire("c", "a", ""))},
		{"ties", "equal nodes: the smaller id first", ask("worda"), wired("abcde",
			wire("a", "b", ""), wire("a", "c", ""), wire("d", "a", ""), wire("e", "a", ""))},
		{"parallel", "parallel edges and a loop", ask("worda"), wired("abc", wire("a", "b", "0.2"),
			wire("b", "a", "0.7"), `{"edge":{"type":"u","src":"a","dst":"b","weight":0.5}}`,
			wire("a", "a", ""), wire("a", "c", "0.6"))},
		{"types", "edge types to follow", ask("worda").with(func(q *request) {
			q.expandTypes = []string{"u"}
		}), typed},
		{"unlinked", "no edges of the types to follow", ask("worda").with(func(q *request) {
			q.expandTypes = []string{"v"}
		}), typed},
		{"hidden-node", "nothing goes through a hidden node", ask("worda"), hidden},
		{"marks", "but through one whose state is let through", ask("worda").with(func(q *request) {
			q.marks = []string{"forgotten"}
		}), hidden},
		{"hidden-edge", "nor over a hidden edge", ask("worda"), wired("abc", wire("a", "b", ""),
			wire("a", "c", ""),
			`{"mark":{"edge":{"type":"t","src":"a","dst":"b"},"state":"retired"}}`)},
		{"filter", "nor through what does not pass", ask("worda").with(func(q *request) {
			q.types = []string{"T"}
		}), append(wired("ac", `{"node":{"key":"b","type":"U"}}`), wire("a", "b", ""),
			wire("b", "c", ""), wire("c", "a", "0.1"))},
		{"max-expand", "of the new nodes so many join", ask("worda").with(func(q *request) {
			q.maxExpand = 5
		}), many},
		{"rrf", "one more lane where ranks are fused", ask("worda wordc").with(func(q *request) {
			q.fusion = "rrf"
		}), chain},
		{"score-norm", "gains beside another fusion", ask("worda wordc").with(func(q *request) {
			q.fusion = "score-norm"
		}), chain},
		{"mention-out", "to what a content mentions", ask("drummer"), toto},
		{"mention-in", "from where it is mentioned", ask("angeles"), toto},
		{"mention-types", "with edge types mentions do not count", ask("drummer").with(
			func(q *request) { q.expandTypes = []string{"t"} }), toto},
		{"mention-one-way", "mentions have a direction", ask("drummer").with(func(q *request) {
			q.direction = "in"
		}), toto},
	}
}

// manySources are n nodes of the text with one edge each, of different scores, and one node that
// mentions a title among the first 20, and among the others.
func manySources(n int) batchText {
	var out batchText
	for i := range n {
		k := fmt.Sprintf("s%03d", i)
		out = append(out, passage(k, "boat"+rep(" pad", i%50)+" a b c d e f g h i", "port"+k),
			`{"node":{"key":"x`+k+`","type":"T"}}`, wire(k, "x"+k, fmt.Sprintf("0.%03d", 600+i)),
			passage("p"+k, "port"+k, ""))
	}
	return out
}

func pathCases(s *suite) {
	clause := "10.2"
	add := func(c reachCase) {
		s.retrieval(clause, "expand", "decay-"+c.name, c.title, c.q, false, c.lines)
	}
	for _, c := range sharedCases("decay", 4) {
		add(c)
	}
	ask := func(text string) request { return reaching("decay", text, 3) }
	long := wired("abcd", wire("a", "d", "0.2"), wire("a", "b", ""), wire("b", "c", ""),
		wire("c", "d", ""))
	star := wired("abcdefg", wire("a", "b", ""), wire("a", "c", ""), wire("a", "d", ""),
		wire("e", "a", ""), wire("a", "f", ""))
	for _, c := range []reachCase{
		{"longer", "a longer path may be better", ask("worda"), long},
		{"too-long", "if it is short enough", reaching("decay", "worda", 2), long},
		{"whole", "nothing is lost on the way", ask("worda").with(func(q *request) {
			q.decay = 65536
		}), long},
		{"half", "half is", ask("worda").with(func(q *request) { q.decay = 32768 }), long},
		{"least", "nearly all is", ask("worda").with(func(q *request) { q.decay = 1 }), long},
		{"elsewhere", "a path back says nothing, one from elsewhere does", ask("worda wordc"),
			wired("abcd", wire("a", "b", ""), wire("b", "c", "0.3"), wire("a", "d", ""))},
		{"degree", "more than four entries take away", ask("wordb"), star},
	} {
		add(c)
	}
	add(reachCase{"sources", "the first 100 are sources, mentions of the first 20 count",
		reaching("decay", "boat", 2), manySources(102)})
	clause = "11.1"
	s.limits("decay", map[string]forest{"fan-out-256": {Count: 257, Fanout: 256},
		"fan-out-257": {Count: 258, Fanout: 257}, "senders-128": {Count: 201, Fanout: 100}})
	q := everything("worda")
	q.expand, q.maxExpand = 1, 3
	s.retrieval("10.1", "expand", "max-expand", "of the nodes that are lent something so many join", q,
		false, sharedCases("lend", 1)[18].lines)
}

// boundCases are the bounds of clause 8.1.
func boundCases(s *suite) {
	for _, c := range []struct {
		name, title string
		q           request
	}{
		{"unknown", "an unknown expansion", reaching("pagerank", "boat", 1)},
		{"decay-5", "five rounds of paths", reaching("decay", "boat", 5)},
		{"ppr-65", "65 rounds of PageRank", reaching("ppr", "boat", 65)},
		{"join-0", "no node may join", newRequest("boat").with(func(q *request) { q.maxExpand = 0 })},
		{"join-1001", "1,001 nodes join", newRequest("boat").with(func(q *request) {
			q.maxExpand = 1001
		})},
		{"decay-0", "nothing is kept", reaching("decay", "boat", 1).with(func(q *request) {
			q.decay = 0
		})},
		{"decay-over", "more than all is kept", reaching("decay", "boat", 1).with(func(q *request) {
			q.decay = 65537
		})},
		{"damping-0", "nothing moves on", reaching("ppr", "boat", 1).with(func(q *request) {
			q.damping = 0
		})},
		{"damping-over", "all moves on", reaching("ppr", "boat", 1).with(func(q *request) {
			q.damping = 65536
		})},
		{"lend-decay", "decay of what is lent", newRequest("boat").with(func(q *request) {
			q.decay = 32768
		})},
		{"decay-damping", "damping of paths", reaching("decay", "boat", 1).with(func(q *request) {
			q.damping = 32768
		})},
	} {
		s.refuse("8.1", "expand", "bound-"+c.name, c.title, "request", obj{"author": "erin",
			"batches": []any{obj{"time": t0, "lines": wired("a")}}, "request": c.q.input()})
	}
}

// randomReach are whole retrievals over random collections.
func randomReach(s *suite) {
	for i := range 16 {
		r := rng(uint64(i)*40503 + 5)
		way := []string{"decay", "ppr"}[i%2]
		q := randomRequest(&r)
		q.expansion, q.limit, q.budget, q.expand = way, 0, 0, int64(1+r.below(4))
		if r.below(2) == 0 {
			q.maxExpand = int64(1 + r.below(4))
		}
		s.retrieval([]string{"10.2", "10.3"}[i%2], "expand", fmt.Sprintf("random-%02d-%s", i, way),
			"a random request of a random memory", q, false, randomMemory(&r, 10+i*2)...)
	}
}

// limits adds cases of bounds, in which two nodes of a forest are named.
func (s *suite) limits(way string, forests map[string]forest) {
	for name, f := range forests {
		q := reaching(way, `"n0" "n1"`, 2)
		a := q.retrieve(built(f.lines()))
		s.add("11.1", "expand", way+"-"+name, "how many entries of how many nodes are looked at",
			obj{"author": "erin", "batches": []any{obj{"time": t0, "forest": f, "lines": []string{}}},
				"request": q.input()}, a.expect(false))
	}
}

func pageRankCases(s *suite) {
	add := func(c reachCase) {
		s.retrieval("10.3", "expand", "ppr-"+c.name, c.title, c.q, false, c.lines)
	}
	for _, c := range sharedCases("ppr", 20) {
		add(c)
	}
	ask := func(text string) request { return reaching("ppr", text, 20) }
	dangling := wired("abcd", wire("a", "b", ""), wire("a", "c", "0.5"), wire("d", "c", ""))
	for _, c := range []reachCase{
		{"dangling", "what a node without links has is lost", ask("worda").with(func(q *request) {
			q.direction = "out"
		}), dangling},
		{"mention-twice", "two nodes that mention each other", ask("drummer"), batchText{
			passage("a", "Jeff Porcaro", "A drummer of the band Toto, with Hungate."),
			passage("b", "Toto (band)", "Founded by Jeff Porcaro."),
			passage("c", "Hungate", "A bassist.")}},
		{"64", "64 rounds", reaching("ppr", "worda", 64), dangling},
		{"damping", "half moves on", ask("worda").with(func(q *request) { q.damping = 32768 }),
			dangling},
		{"damping-1", "nearly nothing does", ask("worda").with(func(q *request) { q.damping = 1 }),
			dangling},
		{"damping-most", "nearly everything does", ask("worda").with(func(q *request) {
			q.damping = 65535
		}), dangling},
		{"squares", "the best have most of the mass", ask("boat"), batchText{
			`{"node":{"key":"a","type":"T","summary":"boat boat boat boat"}}`,
			`{"node":{"key":"b","type":"T","summary":"boat and much else that is no boating matter"}}`,
			plainNode("c"), plainNode("d"), wire("a", "c", ""), wire("b", "d", "")}},
	} {
		add(c)
	}
	add(reachCase{"sources", "the first 100 are sources, mentions of the first 20 count",
		reaching("ppr", "boat", 3), manySources(102)})
	// A source with half of the mass may have 4,096 entries.
	s.limits("ppr", map[string]forest{"hub-4096": {Count: 4098, Fanout: 4096},
		"hub-4097": {Count: 4099, Fanout: 4097}})
	// n0 and its 90 children have 8,280 entries, so that none of the 8,100 leaves sends.
	full := forest{Count: 8191, Fanout: 90}
	q := reaching("ppr", `"n0"`, 3)
	q.damping = 65535
	a := q.retrieve(built(full.lines()))
	s.add("11.1", "expand", "ppr-entries-8192", "none sends for the first time after 8,192 entries",
		obj{"author": "erin", "batches": []any{obj{"time": t0, "forest": full, "lines": []string{}}},
			"request": q.input()}, a.expect(false))
}
