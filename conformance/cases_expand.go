package main

import "fmt"

func wire(from, to, weight string) string {
	if weight != "" {
		weight = `,"weight":` + weight
	}
	return `{"edge":{"type":"t","src":"` + from + `","dst":"` + to + `"` + weight + `}}`
}

func plainNode(key string) string {
	return `{"node":{"key":"` + key + `","type":"T","summary":"word` + key + `"}}`
}

// wired is the nodes named, one letter each, and the lines after them.
func wired(letters string, lines ...string) batchText {
	var out batchText
	for _, r := range letters {
		out = append(out, plainNode(string(r)))
	}
	return append(out, lines...)
}

func expandCases(s *suite) {
	hops := func(text string, n int64) request {
		q := everything(text)
		q.expand = n
		return q
	}
	typed := func(typ string) request {
		q := hops("worda", 2)
		q.expandTypes = []string{typ}
		return q
	}
	directed := func(d string) request {
		q := hops("wordb", 2)
		q.direction = d
		return q
	}
	chain := wired("abcdef", wire("a", "b", "0.9"), wire("b", "c", "0.8"), wire("c", "d", ""),
		wire("d", "e", "0.5"), wire("e", "f", ""))
	for _, c := range []struct {
		name, title string
		q           request
		lines       batchText
	}{
		{"none", "no hop", hops("worda", 0), chain},
		{"one", "one hop", hops("worda", 1), chain},
		{"two", "two hops", hops("worda", 2), chain},
		{"four", "four hops", hops("worda", 4), chain},
		{"both", "both directions", directed("both"), chain},
		{"out", "from source to destination", directed("out"), chain},
		{"in", "from destination to source", directed("in"), chain},
		{"key", "from an exact node", hops("a", 1), chain},
		{"blank", "a blank text does not expand", hops(" ", 1), chain},
		{"two-seeds", "nodes of the list gain from one another", hops("worda wordb", 1), chain},
		{"ties", "equal nodes: the smaller id first", hops("worda", 1),
			wired("abcdef", wire("a", "b", ""), wire("a", "c", ""), wire("d", "a", ""),
				wire("e", "a", ""))},
		{"best-path", "the best of several edges counts, not their sum", hops("worda", 1),
			wired("ab", wire("a", "b", "0.2"), wire("b", "a", "0.7"),
				`{"edge":{"type":"u","src":"a","dst":"b","weight":0.5}}`)},
		{"two-ways", "a node is lent to over each way, in each round", hops("worda", 2),
			wired("abc", wire("a", "c", "0.01"), wire("a", "b", ""), wire("b", "c", ""))},
		{"loop", "a self-loop lends nothing", hops("worda", 2), wired("ab", wire("a", "a",
			""), wire("a", "b", ""))},
		{"cycle", "a cycle returns to its source", hops("worda", 4),
			wired("abc", wire("a", "b", ""), wire("b", "c", ""), wire("c", "a", ""))},
		{"types", "edge types to follow", typed("u"), wired("abc", wire("a", "b", ""),
			`{"edge":{"type":"u","src":"a","dst":"c"}}`)},
		{"tiny", "what is lent nothing does not join", hops("worda", 2),
			wired("abc", wire("a", "b", "0.00002"), wire("b", "c", "0.00002"))},
		{"hidden-edge", "a hidden edge is not followed", hops("worda", 1), wired("ab",
			wire("a", "b", ""),
			`{"mark":{"edge":{"type":"t","src":"a","dst":"b"},"state":"retired"}}`)},
		{"stale-edge", "a stale edge is", hops("worda", 1), wired("ab", wire("a", "b", ""),
			`{"mark":{"edge":{"type":"t","src":"a","dst":"b"},"state":"stale"}}`)},
		{"hidden-node", "a hidden node is not followed through", hops("worda", 2), wired("abc",
			wire("a", "b", ""), wire("b", "c", ""), `{"mark":{"node":"b","state":"forgotten"}}`)},
		{"marks", "but is where its state is let through", func() request {
			q := hops("worda", 2)
			q.marks = []string{"forgotten", "retired"}
			return q
		}(), wired("abc", wire("a", "b", ""), wire("b", "c", ""),
			`{"mark":{"node":"b","state":"forgotten"}}`)},
		{"filter", "a node that does not pass is not followed through", func() request {
			q := hops("worda", 2)
			q.types = []string{"T"}
			return q
		}(), append(wired("ac", `{"node":{"key":"b","type":"U"}}`), wire("a", "b", ""),
			wire("b", "c", ""))},
	} {
		s.retrieval("10", "expand", c.name, c.title, c.q, false, c.lines)
	}
	expandMany(s)
}

// passage is a node with a title and a content.
func passage(key, title, content string) string {
	return `{"node":{"key":"` + key + `","type":"T","summary":"` + title + `","content":"` + content +
		`"}}`
}

// lookedAt are six titles that 60 contents have the terms of, and the last that one has.
func lookedAt() batchText {
	var out batchText
	for i := range 6 {
		title := "boat"
		for j := range i {
			title += " pad" + itoa(j)
		}
		out = append(out, passage("t"+itoa(i), title+" q"+itoa(i), ""))
	}
	for i := range 60 {
		out = append(out, passage("c"+itoa(i), "word word word word word word word word word",
			"pad0 pad1 pad2 pad3 pad4 q0 boat q1 q2 q3 q4 q5"))
	}
	return append(out, passage("d", "nothing here", "boat q0 and boat pad0 pad1 pad2 pad3 pad4 q5"))
}

// mentionCases are about the links that texts make.
func mentionCases(s *suite) {
	ask := func(text string) request {
		q := everything(text)
		q.expand = 1
		return q
	}
	with := func(q request, edit func(*request)) request {
		edit(&q)
		return q
	}
	toto := batchText{passage("a", "Jeff Porcaro", "A drummer of the band Toto, from Hartford."),
		passage("b", "Toto (band)", "Formed in Los Angeles."), passage("c", "Hartford", "A city.")}
	shared := func(n int) batchText {
		out := batchText{passage("a", "Jeff", "A drummer of Toto.")}
		for i := range n {
			out = append(out, passage("t"+itoa(i), "Toto", "formed"))
		}
		return out
	}
	naming := func(n int) batchText {
		out := batchText{passage("t", "Toto", "formed early")}
		for i := range n {
			out = append(out, passage("p"+itoa(i), "word word word", "Toto again"))
		}
		return out
	}
	many := batchText{}
	for i := range 22 {
		many = append(many, passage("s"+itoa(i), "boat"+rep(" pad", i)+" a b c d e f g h i",
			"Uses harbour"+itoa(i)), passage("h"+itoa(i), "harbour"+itoa(i), ""))
	}
	for _, c := range []struct {
		clause, name, title string
		q                   request
		lines               batchText
	}{
		{"7.3", "mention-out", "to the nodes that a content mentions", ask("drummer"), toto},
		{"7.3", "mention-in", "to the node whose content mentions it", ask("angeles"), toto},
		{"7.3", "mention-both", "both ways", ask("drummer angeles city"), toto},
		{"7.3", "mention-phrase", "only where the terms follow each other", ask("word"), batchText{
			passage("a", "word", "New lights of York."), passage("b", "New York", ""),
			passage("c", "lights York", ""), passage("d", "lights of York", "")}},
		{"7.3", "title-8", "a title of eight terms", ask("word"), batchText{
			passage("a", "word", "b1 b2 b3 b4 b5 b6 b7 b8"), passage("b", "b1 b2 b3 b4 b5 b6 b7 b8", "")}},
		{"7.3", "title-9", "nine terms are a sentence", ask("word"), batchText{
			passage("a", "word", "b1 b2 b3 b4 b5 b6 b7 b8 b9"),
			passage("b", "b1 b2 b3 b4 b5 b6 b7 b8 b9", "")}},
		{"7.3", "title-brackets", "brackets at the beginning are kept", ask("word"), batchText{
			passage("a", "word", "the blue one"), passage("b", " (blue)", ""),
			passage("c", "blue (one) (two)", "")}},
		{"7.3", "shared-4", "four nodes share a title", ask("drummer"), shared(4)},
		{"7.3", "shared-5", "a title of five nodes names none", ask("drummer"), shared(5)},
		{"7.3", "shared-in-5", "nor is any of them named", ask("formed"), shared(5)},
		{"10", "mention-64", "64 nodes have the rarest term of a title", ask("early"), naming(63)},
		{"10", "mention-65", "65 nodes have it", ask("early"), naming(64)},
		{"10", "mention-types", "with edge types no mentions", with(ask("drummer"),
			func(q *request) { q.expandTypes = []string{"t"} }), toto},
		{"10", "mention-only-out", "out is from a content to what it mentions",
			with(ask("angeles"), func(q *request) { q.direction = "out" }), toto},
		{"10", "mention-only-in", "in is the other way",
			with(ask("drummer"), func(q *request) { q.direction = "in" }), toto},
		{"10", "mention-hidden", "a hidden node is lent nothing", ask("drummer"), append(toto,
			`{"mark":{"node":"b","state":"forgotten"}}`)},
		{"10", "mention-once", "mentions are followed in the first round alone",
			with(ask("word"), func(q *request) { q.expand = 3 }), batchText{
				passage("a", "word", "of Toto"), passage("b", "Toto", "of Hartford"),
				passage("c", "Hartford", "")}},
		{"10", "mention-edge", "the greater of a mention and an edge counts", ask("drummer"),
			append(toto, wire("a", "b", "0.5"), wire("a", "c", ""))},
		{"7.3", "title-32768", "a title at the end of the first 32,768 bytes", ask("word"), batchText{
			passage("a", "word", rep("é", 16380)+" Toto é"), passage("b", "Toto", "")}},
		{"7.3", "title-32769", "a title that goes beyond", ask("word"), batchText{
			passage("a", "word", rep("é", 16382)+" Toto"), passage("b", "Toto", "")}},
		{"10", "looked-256", "once 256 nodes were looked at no further title is looked for", ask("boat"),
			lookedAt()},
		{"10", "mention-20", "mentions of the first 20 sources are followed", ask("boat"), many},
	} {
		s.retrieval(c.clause, "expand", c.name, c.title, c.q, false, c.lines)
	}
}

// padding is n terms that no node has.
func padding(n int) string {
	out := ""
	for i := range n {
		out += " filler" + itoa(i)
	}
	return out
}

func lendCases(s *suite) {
	ask := func(text string, rounds int64) request {
		q := everything(text)
		q.expand = rounds
		return q
	}
	star := wired("abcdefg", wire("a", "b", ""), wire("a", "c", ""), wire("a", "d", ""),
		wire("a", "e", ""))
	words := ""
	long := batchText{}
	for i := range 40 {
		words += " term" + itoa(i)
		long = append(long, `{"node":{"key":"k`+itoa(i)+`","type":"T","summary":"term`+itoa(i)+
			rep(" pad", i)+`"}}`, plainNode("x"+itoa(i)), wire("k"+itoa(i), "x"+itoa(i), ""))
	}
	for _, c := range []struct {
		name, title string
		q           request
		lines       batchText
	}{
		{"halves", "two halves of a question on linked nodes", ask("harbour light", 1), batchText{
			`{"node":{"key":"a","type":"T","summary":"harbour"}}`,
			`{"node":{"key":"b","type":"T","summary":"light"}}`,
			`{"node":{"key":"c","type":"T","summary":"harbour"}}`, wire("a", "b", "")}},
		{"own-term", "a term that a node has itself is lent half", ask("harbour light", 1), batchText{
			`{"node":{"key":"a","type":"T","summary":"harbour harbour"}}`,
			`{"node":{"key":"b","type":"T","summary":"harbour light"}}`, wire("a", "b", "")}},
		{"degree-4", "four edges take nothing away", ask("wordb", 1), star},
		{"degree-5", "five do", ask("wordb", 1), append(star, wire("a", "f", ""))},
		{"degree-6", "more take more", ask("wordb", 1), append(star, wire("a", "f", ""),
			wire("a", "g", ""))},
		{"degree-out", "edges of the other bucket do not", ask("wordb", 1), append(star,
			wire("f", "a", ""), wire("g", "a", ""))},
		{"degree-in", "but of its own, forward", ask("wordb", 1), wired("abcdefg", wire("b", "a", ""),
			wire("c", "a", ""), wire("d", "a", ""), wire("e", "a", ""), wire("f", "a", ""),
			wire("a", "g", ""))},
		{"back", "in the second round a node is lent back", ask("worda", 2), wired("ab",
			wire("a", "b", ""))},
		{"terms-32", "32 terms spread", ask(words, 1), long},
		{"terms-256", "of the first 256 distinct terms", ask(padding(255)+" worda wordb", 1),
			wired("abc", wire("a", "c", ""), wire("b", "c", ""))},
		{"title-late", "and a title counts by these", ask(padding(255)+" blue harbour", 1),
			batchText{passage("a", "Blue Harbour", "x"), plainNode("e"), wire("a", "e", "")}},
		{"title-asked", "a node whose title is asked for counts for more", ask("the Blue Harbour?", 1),
			batchText{passage("a", "Blue Harbour (port)", "x"), passage("b", "Harbour Blue", "x"),
				passage("c", "blue harbour of nine terms is no title at all here", "x"),
				passage("d", "Blue", "x"), plainNode("e"), wire("a", "e", "")}},
		{"twice", "a term that is asked for twice", ask("worda worda wordb", 2), wired("abc",
			wire("a", "c", ""), wire("b", "c", ""))},
	} {
		s.retrieval("10", "expand", c.name, c.title, c.q, false, c.lines)
	}
	mentionCases(s)
}

func expandMany(s *suite) {
	lendCases(s)
	hub := wired("a")
	for i := range 110 {
		k := fmt.Sprintf("n%03d", i)
		hub = append(hub, plainNode(k), wire("a", k, fmt.Sprintf("0.%03d", 400+i)))
	}
	q := everything("worda")
	q.expand = 1
	s.retrieval("10", "expand", "new-100", "of the new nodes the best 100 join", q, false, hub)
	sources := batchText{}
	for i := range 102 {
		k := fmt.Sprintf("s%03d", i)
		sources = append(sources, `{"node":{"key":"`+k+`","type":"T","summary":"boat`+
			rep(" pad", i%50)+`"}}`, `{"node":{"key":"x`+k+`","type":"T"}}`,
			wire(k, "x"+k, fmt.Sprintf("0.%03d", 600+i)))
	}
	q = everything("boat")
	q.expand = 1
	s.retrieval("10", "expand", "sources-100", "only the first 100 are sources", q, false, sources)
	for _, n := range []int{256, 257} {
		fan := forest{Count: n + 1, Fanout: n}
		last := fan.lastChild()
		extra := []string{plainNode("z"), wire(last, "z", "")}
		q := everything(`"n0" wordz`)
		q.expand = 2
		a := q.retrieve(built(append(fan.lines(), extra...)))
		s.add("10", "expand", "fan-out-"+itoa(n),
			"256 entries of a bucket are looked at: z hangs on "+
				"entry "+itoa(n), obj{"author": "erin", "batches": []any{obj{"time": t0, "forest": fan,
				"lines": extra}}, "request": q.input()}, a.expect(false))
	}
	for _, c := range []struct {
		name, title string
		fan         forest
		named       int
		rounds      int64
	}{
		{"lenders-128", "128 nodes lend in one round", forest{Count: 201, Fanout: 100}, 2, 2},
		{"entries-1024", "none lends after 1,024 entries", forest{Count: 1226, Fanout: 245}, 6, 1},
	} {
		text := ""
		for i := range c.named {
			text += ` "n` + itoa(i) + `"`
		}
		q := everything(text)
		q.expand = c.rounds
		a := q.retrieve(built(c.fan.lines()))
		s.add("11.1", "expand", c.name, c.title, obj{"author": "erin", "batches": []any{obj{
			"time": t0, "forest": c.fan, "lines": []string{}}}, "request": q.input()}, a.expect(false))
	}
}

// forest stands for lines: nodes n0 to n(Count-1) of type T; then an edge of type t from the node
// of number ⌊(i − 1) / Fanout⌋ to node i, for each i from 1; then, where State is given, a mark
// of that state on each node from n1.
type forest struct {
	Count  int    `json:"count"`
	Fanout int    `json:"fanout"`
	State  string `json:"state,omitempty"`
}

func (f forest) lines() batchText {
	var out batchText
	for i := range f.Count {
		out = append(out, `{"node":{"key":"n`+itoa(i)+`","type":"T"}}`)
	}
	for i := 1; i < f.Count; i++ {
		out = append(out, wire("n"+itoa((i-1)/f.Fanout), "n"+itoa(i), ""))
	}
	for i := 1; i < f.Count && f.State != ""; i++ {
		out = append(out, `{"mark":{"node":"n`+itoa(i)+`","state":"`+f.State+`"}}`)
	}
	return out
}

// lastChild is the key of the child of n0 that is last in the order of ids.
func (f forest) lastChild() string {
	last := "n1"
	for i := 1; i <= f.Fanout; i++ {
		if k := "n" + itoa(i); nodeIDOfKey(k) > nodeIDOfKey(last) {
			last = k
		}
	}
	return last
}
