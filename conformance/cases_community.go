package main

import "fmt"

// karate is Zachary's karate club of 1977: who met whom outside of the club.
var karate = [][]int{
	{2, 1}, {3, 1, 2}, {4, 1, 2, 3}, {5, 1}, {6, 1}, {7, 1, 5, 6}, {8, 1, 2, 3, 4}, {9, 1, 3},
	{10, 3}, {11, 1, 5, 6}, {12, 1}, {13, 1, 4}, {14, 1, 2, 3, 4}, {17, 6, 7}, {18, 1, 2},
	{20, 1, 2}, {22, 1, 2}, {26, 24, 25}, {28, 3, 24, 25}, {29, 3}, {30, 24, 27}, {31, 2, 9},
	{32, 1, 25, 26, 29}, {33, 3, 9, 15, 16, 19, 21, 23, 24, 30, 31, 32},
	{34, 9, 10, 14, 15, 16, 19, 20, 21, 23, 24, 27, 28, 29, 30, 31, 32, 33},
}

// numberedNodes are n nodes n0 … and the lines after them.
func numberedNodes(n int, lines ...string) batchText {
	var out batchText
	for i := range n {
		out = append(out, fmt.Sprintf(`{"node":{"key":"n%d","type":"T","summary":"word%d"}}`, i, i))
	}
	return append(out, lines...)
}

func wires(pairs ...[2]int) []string {
	var out []string
	for _, p := range pairs {
		out = append(out, wire("n"+itoa(p[0]), "n"+itoa(p[1]), ""))
	}
	return out
}

// cliqueWires connect each of from … to-1 with each.
func cliqueWires(from, to int) []string {
	var pairs [][2]int
	for a := from; a < to; a++ {
		for b := from; b < a; b++ {
			pairs = append(pairs, [2]int{a, b})
		}
	}
	return wires(pairs...)
}

func joinLines(lists ...[]string) []string {
	var out []string
	for _, list := range lists {
		out = append(out, list...)
	}
	return out
}

// ringOf is some cliques of a size, each with an edge to the next.
func ringOf(cliques, size int) batchText {
	var lines []string
	for c := range cliques {
		lines = append(lines, cliqueWires(c*size, (c+1)*size)...)
		lines = append(lines, wires([2]int{c * size, (c*size + size + 1) % (cliques * size)})...)
	}
	return numberedNodes(cliques*size, lines...)
}

func communityCases(s *suite) {
	add := func(name, title string, batches ...batchText) {
		list := []any{}
		for i, lines := range batches {
			list = append(list, obj{"time": t0 + int64(i)*1_000_000, "lines": lines})
		}
		groups := []any{}
		for _, c := range built(batches...).communities() {
			members := []any{}
			for _, id := range c.ids {
				members = append(members, []any{uuid(id), c.inside[id]})
			}
			groups = append(groups, members)
		}
		s.add("20.1", "community", name, title, obj{"author": "erin", "batches": list},
			obj{"communities": groups})
	}
	marked := func(lines batchText, more ...string) []batchText {
		return []batchText{lines, more}
	}
	bridge := numberedNodes(11, joinLines(cliqueWires(0, 5), cliqueWires(5, 10),
		wires([2]int{4, 5}))...)
	add("no-edges", "no edges", numberedNodes(3))
	add("pair", "two nodes", numberedNodes(2, wires([2]int{1, 0})...))
	add("loop", "a node with an edge to itself is in none", numberedNodes(1, wires([2]int{0, 0})...))
	add("loops", "edges to themselves hold nodes apart", numberedNodes(2, wire("n0", "n0", ""),
		wire("n1", "n1", ""), wire("n0", "n1", "0.00002")))
	add("loops-less", "and do not where they weigh little", numberedNodes(2, wire("n0", "n0", "0.2"),
		wire("n1", "n1", "0.2"), wire("n0", "n1", "0.6")))
	add("path", "a path", numberedNodes(9, wires([2]int{0, 1}, [2]int{1, 2}, [2]int{2, 3}, [2]int{3, 4},
		[2]int{4, 5}, [2]int{5, 6}, [2]int{6, 7}, [2]int{7, 8})...))
	add("triangle", "three nodes with each other", numberedNodes(3, cliqueWires(0, 3)...))
	add("bridge", "two cliques and a bridge, and a node alone", bridge)
	add("ring", "a ring of cliques", ringOf(6, 4))
	add("ring-large", "a ring of many small ones, which are united", ringOf(12, 3))
	add("weights", "weights count", numberedNodes(4, wire("n0", "n1", ""), wire("n1", "n2", "0.01"),
		wire("n2", "n3", "")))
	add("parallel", "parallel edges and both directions count together", numberedNodes(4,
		`{"edge":{"type":"a","src":"n1","dst":"n2"}}`, `{"edge":{"type":"b","src":"n2","dst":"n1"}}`,
		`{"edge":{"type":"b","src":"n1","dst":"n2","key":"2"}}`, wire("n0", "n1", ""),
		wire("n2", "n3", ""), wire("n3", "n0", "")))
	add("marks", "marks on nodes and edges do not count", marked(bridge,
		`{"mark":{"node":"n2","state":"forgotten"}}`,
		`{"mark":{"edge":{"type":"t","src":"n4","dst":"n5"},"state":"retired"}}`)...)
	add("star", "a hub", numberedNodes(12, func() (out []string) {
		for i := range 11 {
			out = append(out, wire("n0", "n"+itoa(i+1), ""))
		}
		return out
	}()...))
	var club []string
	for _, row := range karate {
		for _, other := range row[1:] {
			club = append(club, wires([2]int{row[0] - 1, other - 1})...)
		}
	}
	add("karate", "a karate club", numberedNodes(34, club...))
	for i := range 12 {
		r := rng(uint64(i)*7919 + 5)
		add(fmt.Sprintf("random-%02d", i), "a random graph", randomMemory(&r, 8+3*i)...)
	}
	for i := range 6 {
		r := rng(uint64(i)*104729 + 17)
		n := 20 + 4*i
		var lines []string
		for range 3 * n {
			a := r.below(n)
			b := a/5*5 + r.below(5)
			if r.below(4) == 0 {
				b = r.below(n)
			}
			lines = append(lines, fmt.Sprintf(`{"edge":{"type":"t","src":"n%d","dst":"n%d",`+
				`"key":"%d","weight":0.%02d}}`, a, b%n, len(lines), 1+r.below(99)))
		}
		add(fmt.Sprintf("groups-%02d", i), "random groups", numberedNodes(n, lines...))
	}
}

func memberCases(s *suite) {
	with := func(text string, edit func(q *request)) request {
		q := newRequest(text)
		q.community, q.limit, q.budget = true, 0, 0
		if edit != nil {
			edit(&q)
		}
		return q
	}
	none := func(q *request) { q.expand = 0 }
	ring := ringOf(6, 5)
	var star batchText
	star = append(star, `{"node":{"key":"hub","type":"S","summary":"the wordy middle"}}`)
	for i := range 280 {
		typ := "T"
		if i%9 == 0 {
			typ = "S"
		}
		star = append(star, fmt.Sprintf(`{"node":{"key":"n%d","type":"%s"}}`, i, typ),
			wire("hub", "n"+itoa(i), fmt.Sprintf("0.%03d", 999-i)))
	}
	for _, c := range []struct {
		name, title string
		q           request
		lines       batchText
	}{
		{"alone", "the members of one community", with("word7", none), ring},
		{"three", "three communities, of four", with("word0 word7 word13 word19", none), ring},
		{"raised", "candidates get more", with("word0 word1 word2 word7", none), ring},
		{"expanded", "after expansion", with("word0 word7", nil), ring},
		{"exact", "a node that is named", with("n3", nil), ring},
		{"exact-quoted", "and one in a community with it", with("word0 `n3`", nil), ring},
		{"rrf", "by ranks", with("word0 word1 word7", func(q *request) { q.fusion = "rrf" }), ring},
		{"filter", "members obey filters", with("word7",
			func(q *request) { q.expand, q.exclude = 0, []string{nodeIDOfKey("n8")} }), ring},
		{"blank", "a blank text", with(" ", nil), ring},
		{"nothing", "nothing found", with("zeppelin", nil), ring},
		{"no-edges", "no edges", with("word1", nil), numberedNodes(3)},
		{"limit", "few items", with("word0 word7", func(q *request) { q.limit = 3 }), ring},
		{"twenty", "no more than 20", with("wordy", none), star},
		{"looked", "of 256 that are looked at", with("wordy",
			func(q *request) { q.expand, q.types = 0, []string{"S"} }), star},
		{"low", "a score too low for all", with("wordy", func(q *request) {
			q.expand, q.fusion = 0, "rrf"
		}), star[:60]},
	} {
		s.retrieval("20.2", "community", "join-"+c.name, c.title, c.q, true, c.lines)
	}
	s.retrieval("20.2", "community", "join-marks", "hidden members do not join",
		with("word7", none), true, ring, batchText{`{"mark":{"node":"n8","state":"forgotten"}}`,
			`{"mark":{"node":"n9","state":"stale"}}`})
	seeds := numberedNodes(24, joinLines(cliqueWires(0, 12), cliqueWires(12, 24))...)
	for i := range 24 {
		times := 30 - i // the first 12 come first
		seeds[i] = fmt.Sprintf(`{"node":{"key":"n%d","type":"T","summary":"%s"}}`, i,
			rep("boat ", times)+rep("x ", i))
		if i > 12 {
			seeds[i] = fmt.Sprintf(`{"node":{"key":"n%d","type":"T"}}`, i)
		}
	}
	s.retrieval("20.2", "community", "join-seeds", "the first 10 candidates may be seeds",
		with("boat", none), true, seeds)
	for i := range 10 {
		r := rng(uint64(i)*15485863 + 3)
		memory := randomMemory(&r, 14+3*i)
		q := randomRequest(&r)
		q.community, q.summarize = true, int64(r.below(6))
		s.retrieval("20.2", "community", fmt.Sprintf("join-random-%02d", i),
			"a random request to a random memory", q, true, memory...)
	}
}

func sentenceCases(s *suite) {
	cases := []struct{ title, text string }{
		{"nothing", ""},
		{"blanks alone", " \t\r\n\u00a0\u3000"},
		{"one without a stop", "  One of them "},
		{"stops", "One. Two! Three? Four… Five؟ Six۔ Seven। Eight॥ Nine"},
		{"stops inside of words", "See v1.2.3 at a.b!c. Then go."},
		{"closers", "He said “Stop.” Then left. (All of it.) “Why?”) Yes"},
		{"abbreviations", "Dr. Smith met J. Doe (cf. Fig. 3, e.g. Boats). They spoke."},
		{"that are none", "mr. Smith. DR. Doe. No. Yes. It was Frost. The end"},
		{"soft stops before small letters", "Well... maybe… yes. no... No"},
		{"other stops before them", "Really? yes! no?. perhaps"},
		{"closers before them", "he said “stop.” then left... (yes.) no"},
		{"wide stops", "船は港を出た。潮は高い！本当？「はい。」と言う｡終"},
		{"wide stops and others", "a。b.。c.d。！？ e."},
		{"wrapped prose", "wrapped\nprose goes\r\non. And\non\n\nnew\n \n part"},
		{"lines", "- One\n- Two\r\n- Three\r4\n\u00e9te\n\u00c9te"},
		{"stops alone", "... . !? 。"},
		{"one letter", "Plan A. Then B. Then c. Then É. Then Ω. End"},
		{"an opener before", "(Mr. X) “St. Y” [vs. Z] i.e. W"},
		{"line separators are no breaks", "One\u2028Two\u0085Three\vFour"},
		{"500 scalars", rep("x", 500) + ". y"},
		{"501 scalars", rep("é", 500) + "z y"},
		{"a cut at blanks", rep("x", 499) + "  " + rep("y", 499) + " z. End"},
	}
	add := func(name, title string, in obj, most int) {
		list := []any{}
		for _, one := range sentencesOf(in["text"].(string), most) {
			list = append(list, one)
		}
		s.add("6.10", "sentences", name, title, in, obj{"sentences": list})
	}
	for i, c := range cases {
		add(fmt.Sprintf("case-%02d", i), c.title, obj{"text": c.text}, 500)
	}
	for i, c := range []struct {
		title, text string
		most        int
	}{
		{"after the last blank", "One and two and three. Four", 10},
		{"where there is none", "船は港を出た港を出た。潮。", 4},
		{"blanks at a cut", "abc \n  def \u3000\u00a0 ghi", 5},
		{"more blanks than fit", "abc" + rep(" ", 30) + "def", 5},
		{"no more scalars than may be", "abc de\nf. g", 8},
		{"a stop by itself", "abcdefgh. ij", 8},
		{"one scalar each", "ab c.", 1},
	} {
		add(fmt.Sprintf("cut-%02d", i), c.title, obj{"text": c.text, "most": c.most}, c.most)
	}
}

func summaryCases(s *suite) {
	with := func(text string, n int64, edit func(q *request)) request {
		q := newRequest(text)
		q.summarize = n
		if edit != nil {
			edit(&q)
		}
		return q
	}
	content := func(q *request) { q.show = []string{"content"} }
	story := batchText{
		`{"node":{"key":"a","type":"T","summary":"The boat left. The boat left the harbour. It rained.",` +
			`"context":"A log of the harbour.","content":"Only here. Nobody knows.\n\nThe end"}}`,
		`{"node":{"key":"b","type":"T","summary":"It rained. The crew of the boat\u2028slept."}}`,
		`{"node":{"key":"c","type":"T","summary":"the of boats"}}`,
		`{"node":{"key":"the","type":"T","summary":"of the."}}`,
	}
	for _, c := range []struct {
		name, title string
		q           request
		lines       batchText
	}{
		{"one", "one sentence", with("boat harbour tide", 1, nil), harbour},
		{"three", "three", with("boat harbour tide", 3, nil), harbour},
		{"all", "as many as there are", with("boat harbour", 50, nil), harbour},
		{"story", "context before summary, the same sentence once", with("boat", 50, nil), story},
		{"content", "with contents", with("boat", 50, content), story},
		{"few", "the best of them", with("boat", 2, content), story},
		{"asked", "words of the query count twice", with("boat crew slept", 1, nil), story},
		{"newest", "without a query", with("", 3, nil), harbour},
		{"cap", "texts are cut", with("boat", 9, func(q *request) {
			q.summaryCap, q.show = 20, []string{"content"}
		}), story},
		{"time", "in the order in which items are arranged", with("boat harbour tide", 4,
			func(q *request) { q.order = "time" }), harbour},
		{"limit", "of packed items alone", with("boat harbour tide", 9,
			func(q *request) { q.limit = 2 }), harbour},
		{"nothing", "of nothing found nothing", with("zeppelin", 3, nil), harbour},
		{"no-sentence", "items without a sentence", with("`the`", 3,
			func(q *request) { q.types, q.expand = []string{"U"}, 0 }), batchText{
			`{"node":{"key":"the","type":"U","summary":"of the."}}`}},
	} {
		s.retrieval("20.3", "pack", "summary-"+c.name, c.title, c.q, true, c.lines)
	}
	for name, n := range map[string]int64{"high": 51, "low": -1} {
		s.refuse("8.1", "pack", "refuse-summarize-"+name, "a number of sentences out of bounds",
			"request", obj{"author": "erin", "batches": []any{obj{"time": t0, "lines": harbour}},
				"request": obj{"text": "tide", "summarize": n}})
	}
	summaryReceipts(s)
}

// summaryReceipts are receipts of requests with the parameters of this file.
func summaryReceipts(s *suite) {
	st := built(harbour)
	q := newRequest("boat harbour")
	q.community, q.summarize, q.limit = true, 2, 3
	g := st.graphRecord()
	commit := baseCommit(dict{"graph": recordCID(g)})
	rec := q.receipt(st, recordCID(commit), q.retrieve(st))
	s.add("13.1", "receipt", "summary", "a receipt of an answer with a summary",
		obj{"author": "erin", "batches": []any{obj{"time": t0, "lines": harbour}},
			"request": q.input(), "commit": hx(encode(commit))},
		obj{"receipt": recordCID(rec).String(), "json": jsonForm(rec), "replay": "identical"})
	s.add("13.3", "receipt", "difference-summary", "only the summary differs",
		obj{"before": hx(encode(rec)),
			"after": hx(encode(with(rec, dict{"summary": []byte(rep("\x00", 32))})))},
		obj{"item": -1, "field": "summary"})
	asked := rec["request"].(dict)
	for _, c := range []struct {
		name, title string
		edit        dict
	}{
		{"missing", "a summary that was asked for is missing", dict{"summary": absent{}}},
		{"short", "a hash of 31 bytes", dict{"summary": []byte(rep("\x00", 31))}},
		{"unasked", "one that was not asked for",
			dict{"request": with(asked, dict{"summarize": absent{}})}},
		{"many", "more sentences than there may be",
			dict{"request": with(asked, dict{"summarize": 51})}},
		{"none", "a request for none", dict{"request": with(asked, dict{"summarize": 0})}},
	} {
		s.refuse("13.1", "receipt", "refuse-summary-"+c.name, c.title, "field",
			obj{"block": pieces(encode(with(rec, c.edit)))})
	}
}
