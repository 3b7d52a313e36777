package main

import (
	"fmt"
	"strings"
)

// trimming is a request for the passages of all nodes.
func trimming(text string, tokens int64) request {
	q := everything(text)
	q.packing, q.passageTokens = "passages", &tokens
	return q
}

func passageCases(s *suite) {
	node := func(summary, content string) batchText {
		line := `{"node":{"key":"a","type":"T","summary":` + quoted(summary)
		if content != "" {
			line += `,"content":` + quoted(content)
		}
		return batchText{line + `}}`, `{"node":{"key":"b","type":"T","summary":"kelp tide"}}`}
	}
	para := func(word string, n int) string { return rep(word+" ", n) + word }
	body := para("rope", 40) + "\n\n" + para("tide", 30) + "\n\n" + para("sail", 40) + ". " +
		para("kelp", 40) + "\r\n\r\n" + para("boat", 20) + "\n" + para("kelp tide", 15)
	for _, c := range []struct {
		name, title, query string
		tokens             int64
		lines              batchText
	}{
		{"best", "the best passage", "kelp", 60, node("kelp", body)},
		{"two", "two that do not follow each other", "kelp", 130, node("kelp", body)},
		{"rare", "a rarer word weighs more", "kelp tide", 40, node("kelp", body)},
		{"twice", "a word that is asked for twice weighs twice", "tide tide kelp", 40,
			node("kelp", body)},
		{"all", "all passages are the text", "kelp", 1000, node("kelp", " \n"+body+"\n ")},
		{"first", "one passage is always taken", "kelp", 1, node("kelp", body)},
		{"blank", "without a text the beginning", "", 100, node("kelp", body)},
		{"unknown", "nor with words that no node has", "`a` zeppelin", 100, node("kelp", body)},
		{"summary", "a long summary", "kelp", 60, node(body, "")},
		{"both", "summary and content have a cap each", "kelp", 60, node(body, body)},
		{"stop", "taking ends with what does not fit", "kelp tide", 75, node("kelp",
			para("kelp tide", 20)+"\n\n"+para("kelp", 40)+"\n\n"+"tide")},
		{"word", "a word of 600 characters", "kelp", 70, node("kelp", rep("x", 600)+" kelp")},
		{"spaces", "a sentence of 600 characters", "kelp", 70, node("kelp", para("oar", 150)+" kelp")},
		{"marks", "where sentences end", "kelp", 45, node("kelp", para("rope", 25)+"?!) "+
			para("e.g.kelp", 16)+"…” "+para("sail", 25)+".\u00a0"+para("boat", 26))},
		{"prose", "lines of wrapped prose, and of a list", "kelp", 45, node("kelp", rep("rope of the\n", 15)+
			"kelp\n"+rep("- tide\n", 20)+"- Kelp\r\n"+rep("- Sail\r\n", 20)+"Mr. Kelp e.g. boats")},
		{"strong", "sentences without white space", "潮", 90, node("kelp", rep("船", 130)+"。」"+
			rep("潮", 120)+"！"+rep("港", 100)+"｡.x"+rep("湾", 99)+"？)  kelp")},
		{"weak-strong", "a mark of each kind", "kelp", 40, node("kelp", rep("a", 150)+".。kelp"+
			rep("b", 150)+"。.kelp")},
		{"break", "a blank line after 120 characters", "kelp", 31, node("kelp", rep("a", 120)+
			"\n\nkelp\n\n"+rep("b", 119)+".\n \nkelp")},
		{"short", "and none after fewer", "kelp", 31, node("kelp", rep("a", 119)+"\n\nkelp\n\n"+
			rep("b", 239)+"\n\nkelp")},
		{"white", "a text of white space", "kelp", 31, node("kelp", " \n\t\r\n ")},
		{"lines", "passages forge no lines", "kelp", 80, node("kelp\nid: x", "kelp\nid: y\n\n"+
			rep("\u202e\u2028", 100)+"<...> kelp\u0000")},
		{"cap", "the cap comes after", "kelp", 130, node("kelp", body)},
		{"escaped", "tokens are those of the escaped text", "kelp", 70, node("kelp",
			"kelp"+rep("\u2028", 60)+"\n\n"+rep("kelp kelp\t", 16)+"\n\n")},
		{"far", "65,536 bytes count", "kelp", 65536, node("kelp", "x"+rep("é", 32767)+"kelp")},
		{"near", "and no more", "kelp", 65536, node("kelp", rep("é", 32766)+"kelp")},
	} {
		q := trimming(c.query, c.tokens)
		if c.name == "cap" {
			q.summaryCap = 100
		}
		s.retrieval("11.6", "pack", "passages-"+c.name, c.title, q, true, c.lines)
	}
	for i := range 12 {
		r := rng(uint64(i)*7919 + 5)
		var text strings.Builder
		pieces := []string{". ", "\n", "\n\n", "。", "! ", " ", " ", " ", "」", ")", "...", "\t", "\r\n"}
		for range 300 {
			text.WriteString(words[r.below(len(words))])
			text.WriteString(pieces[r.below(len(pieces))])
		}
		q := trimming(sentence(&r, 1+r.below(3)), int64(1+r.below(300)))
		q.order = []string{"rank", "document"}[r.below(2)]
		memory := randomMemory(&r, 8)
		memory[0] = append(memory[0], node(text.String()[:200], text.String())...)
		s.retrieval("11.6", "pack", fmt.Sprintf("passages-random-%02d", i),
			"passages of a random text", q, true, memory...)
	}
	autoCases(s)
	bad := func(name, title string, in obj) {
		s.refuse("8.1", "pack", "refuse-"+name, title, "request", obj{"author": "erin",
			"batches": []any{obj{"time": t0, "lines": harbour}}, "request": in})
	}
	bad("pack", "a way of packing that is none", obj{"pack": "parts"})
	bad("passage-tokens", "tokens without passages", obj{"passageTokens": 5})
	bad("passage-tokens-low", "no tokens", obj{"pack": "passages", "passageTokens": 0})
	bad("passage-tokens-high", "too many", obj{"pack": "passages", "passageTokens": 65537})
	bad("tokenizer", "a token counter that is not there", obj{"tokenizer": "nobody's"})
	bad("tokenizer-name", "a name that is none", obj{"tokenizer": "a\nb"})
}

// autoCases are about the default: passages of parts of documents, but for the first item.
func autoCases(s *suite) {
	long := rep("The rope is long. ", 30) + "A tide. " + rep("The sail is short. ", 30)
	part := func(n int, summary, content string) string {
		return fmt.Sprintf(`{"node":{"key":"doc/%d#top/0","type":"Chunk","summary":%s,"content":%s}}`,
			n, quoted(summary), quoted(content))
	}
	short := part(3, "Tide three", "The tide is low.")
	parts := batchText{part(1, "Tide one, tide", "A tide. "+long), part(2, "Tide two", long), short,
		`{"node":{"key":"doc/4#top/0","type":"Chunk","summary":` + quoted("Tide. "+long) + `}}`,
		`{"node":{"key":"a","type":"T","summary":"Tide five","content":` + quoted(long) + `}}`}
	for _, c := range []struct {
		name, title string
		change      func(*request)
		lines       batchText
	}{
		{"parts", "parts after the first item are trimmed", func(*request) {}, parts},
		{"named", "by its name", func(q *request) { q.packing = "auto" }, parts},
		{"tokens", "with other tokens", func(q *request) { q.packing, q.passageTokens = "auto", new(int64(90)) }, parts},
		{"brief", "in the other form", briefly, parts},
		{"content", "contents of others are whole", func(q *request) { q.show = []string{"content"} }, parts},
		{"whole", "not where texts are shown whole", func(q *request) { q.packing = "whole" }, parts},
		{"blank", "nor without a text", func(q *request) { q.text = "" }, parts},
		{"one", "nor is the first", func(q *request) { q.limit = 1 }, parts},
		{"dropped", "one that does not fit is none", func(q *request) { q.budget = 200 }, parts},
		{"short", "where nothing is cut receipts say nothing", func(*request) {}, batchText{short,
			part(5, "Tide", "Tides.")}},
		{"white", "white space at the ends", func(*request) {}, batchText{short, part(5, "Tide", "Tides. \n")}},
	} {
		q := everything("tide")
		c.change(&q)
		s.retrieval("11.6", "pack", "auto-"+c.name, c.title, q, true, c.lines)
	}
}

func quoted(s string) string { return jsonForm(s) }

func documentCases(s *suite) {
	boats := func(created ...int) batchText {
		var lines batchText
		for i, year := range created {
			lines = append(lines, fmt.Sprintf(
				`{"node":{"key":"n%d","type":"T","summary":"boat%s","created":"20%02d-01-01"}}`, i,
				rep(" boat", (i*7)%5), year))
		}
		return append(lines, `{"node":{"key":"box","type":"T"}}`, `{"node":{"key":"jar","type":"T"}}`)
	}
	edge := func(src, typ, dst string) string {
		return `{"edge":{"type":"` + typ + `","src":"` + src + `","dst":"` + dst + `"}}`
	}
	same := []int{10, 10, 10, 10, 10, 10}
	apart := []int{15, 14, 13, 12, 11, 10}
	for _, c := range []struct {
		name, title string
		types       []string
		lines       batchText
	}{
		{"none", "nothing is joined", nil, boats(same...)},
		{"edge", "joined by an edge, the older first", nil, append(boats(apart...),
			edge("n0", "t", "n3"), edge("n5", "t", "n1"))},
		{"chain", "of one time along the edges", nil, append(boats(same...),
			edge("n4", "t", "n2"), edge("n2", "t", "n5"), edge("n5", "u", "n0"))},
		{"ring", "edges that lead round", nil, append(boats(same...), edge("n4", "t", "n2"),
			edge("n2", "t", "n5"), edge("n5", "t", "n4"), edge("n4", "t", "n4"))},
		{"box", "in one box", nil, append(boats(apart...), edge("box", "has", "n1"),
			edge("box", "has", "n4"), edge("box", "had", "n2"), edge("n3", "has", "box"))},
		{"into", "leading to one box", nil, append(boats(apart...), edge("n1", "in", "box"),
			edge("n4", "in", "box"), edge("n2", "by", "box"))},
		{"third", "joined to a third", nil, append(boats(apart...), edge("n1", "in", "box"),
			edge("n4", "in", "box"), edge("n4", "in", "jar"), edge("n0", "in", "jar"))},
		{"types", "by edges of some types", []string{"in"}, append(boats(apart...),
			edge("n1", "in", "box"), edge("n4", "in", "box"), edge("n4", "by", "n0"))},
		{"hidden", "hidden edges and boxes join nothing", nil, append(boats(apart...),
			edge("n1", "in", "box"), edge("n4", "in", "box"), edge("n4", "t", "n0"),
			`{"mark":{"node":"box","state":"retired"}}`,
			`{"mark":{"edge":{"type":"t","src":"n4","dst":"n0"},"state":"expired"}}`)},
	} {
		q := chosen("boat", func(q *request) {
			q.order, q.expandTypes, q.expand = "document", c.types, 0
		})
		s.retrieval("11.5", "pack", "document-"+c.name, c.title, q, true, c.lines)
		q.limit = 3
		s.retrieval("11.5", "pack", "document-"+c.name+"-cut", c.title+", three items", q, true,
			c.lines)
	}
	for _, n := range []int{254, 255} {
		lines := boats(apart...)
		for i := range n {
			lines = append(lines, fmt.Sprintf(`{"node":{"key":"m%d","type":"T"}}`, i),
				edge(fmt.Sprintf("m%d", i), "in", "box"))
		}
		lines = append(lines, edge("n1", "in", "box"), edge("n4", "in", "box"))
		q := chosen("boat", func(q *request) { q.order, q.expand = "document", 0 })
		s.retrieval("11.5", "pack", "document-hub-"+itoa(n+2),
			"a node of "+itoa(n+2)+" entries", q, true, lines)
	}
	for i := range 12 {
		r := rng(uint64(i)*104729 + 3)
		q := randomRequest(&r)
		q.order, q.types, q.where = "document", nil, nil
		s.retrieval("11.5", "pack", fmt.Sprintf("document-random-%02d", i),
			"a random memory as a document", q, true, randomMemory(&r, 10+2*i)...)
	}
}

// idleCases are the last warnings of clause 11.1.
func idleCases(s *suite) {
	for _, c := range []struct {
		name, title string
		q           request
	}{
		{"type", "types that no node has", chosen("tide", func(q *request) {
			q.types = []string{"Zeppelin", "Rule", "Airship", "Person"}
		})},
		{"type-alone", "no node of the type", chosen("", func(q *request) {
			q.types = []string{"Zeppelin"}
		})},
		{"newest", "all of the newest are left out", chosen("", func(q *request) {
			q.createdFrom = new(t0 * 2)
		})},
		{"fusion", "one lane is not fused", chosen("tide", func(q *request) { q.fusion = "rrf" })},
		{"fusion-expand", "but ranks count in expansion", chosen("tide", func(q *request) {
			q.fusion, q.expand = "rrf", 1
		})},
		{"weights", "the weight of one lane", chosen("tide", func(q *request) {
			q.weights = map[string]int64{"text": 5}
		})},
		{"weights-rrf", "beside expansion by ranks", chosen("tide", func(q *request) {
			q.weights, q.fusion, q.expand = map[string]int64{"text": 5}, "weighted-rrf", 1
		})},
		{"expansion", "parts of no expansion", chosen("tide", func(q *request) {
			q.expandTypes, q.direction = []string{"governs"}, "in"
		})},
		{"blank", "nor is there one of the newest", chosen("", func(q *request) {
			q.expandTypes, q.direction, q.expand = []string{"governs"}, "in", 2
		})},
		{"document", "edges of some types join items", chosen("tide", func(q *request) {
			q.expandTypes, q.order = []string{"governs"}, "document"
		})},
		{"lines", "nothing of what is asked for is there", chosen("accountant", func(q *request) {
			q.adjacency, q.show, q.limit = 3, []string{"content"}, 1
			q.marks = []string{"forgotten"}
		})},
		{"mmr", "one node is not spread", chosen("`kelp` accountant", func(q *request) {
			q.mmr = new(int64(7))
		})},
		{"pack", "nothing to trim", chosen("accountant", func(q *request) {
			q.packing, q.passageTokens = "passages", new(int64(256))
		})},
		{"empty", "an answer without items", chosen("zeppelin", func(q *request) {
			q.fusion, q.order, q.adjacency = "rrf", "document", 2
		})},
	} {
		s.retrieval("11.1", "pack", "idle-"+c.name, c.title, c.q, true, harbour)
	}
}
