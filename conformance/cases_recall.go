package main

import "fmt"

// questions have the intents that clause 26.1 must tell.
var questions = []struct{ intent, text string }{
	{"why", "Why did the ferry stop?"}, {"why", "How come the ferry stopped?"},
	{"why", "What caused the flood in the cellar?"}, {"why", "What was the reason for the flood?"},
	{"why", "Who asked why the pump failed?"}, {"why", "The pump failed. Why?"},
	{"when", "When did the ferry stop?"}, {"when", "So tell me when the ferry leaves"},
	{"when", "In spring, when was the quay built?"}, {"when", "What year was the quay built?"},
	{"when", "How long was the quay closed?"}, {"when", "Since when is the quay open?"},
	{"entity", "Who runs the ferry?"}, {"entity", "What does Ana drink?"},
	{"entity", "Which pump failed?"}, {"entity", "Where's the key?"},
	{"entity", "What did Ana say when the ferry stopped?"},
	{"general", "ferry timetable"}, {"general", "How does the pump work?"},
	{"general", "a ferry stops when it rains"}, {"general", "no matter what"},
	{"general", "Is Ana here?"}, {"general", ""}, {"general", "?!"}, {"general", "the"},
	{"why", "渡轮为什么停运？"}, {"why", "停运的原因"}, {"when", "渡轮什么时候开？"},
	{"when", "碼頭是何時建成的"}, {"entity", "谁在开渡轮"}, {"entity", "他喝什么？"},
	{"general", "渡轮时刻表"}, {"general", "苹果什么的"},
	{"why", "Warum fährt die Fähre nicht?"}, {"why", "Was ist der Grund dafür?"},
	{"when", "Wann fährt die Fähre?"}, {"when", "In welchem Jahr war das?"},
	{"entity", "Wer fährt die Fähre?"}, {"entity", "Was trinkt Ana, und was ist neu?"},
	{"general", "Wie fährt die Fähre?"}, {"general", "Was he here?"},
	{"why", "Pourquoi le bac est-il arrêté ?"}, {"when", "Quand part le bac ?"},
	{"when", "À quelle heure part le bac ?"}, {"entity", "Qui conduit le bac ?"},
	{"entity", "Où est la clé ?"}, {"entity", "ou est la clé"}, {"general", "la clé ou le sac"},
	{"general", "il part quand il pleut"},
	{"why", "¿Por qué no sale el ferry?"}, {"when", "¿Cuándo sale el ferry?"},
	{"when", "cuando sale el ferry"}, {"general", "sale cuando llueve"},
	{"entity", "¿Quién lleva el ferry?"}, {"entity", "¿Qué bebe Ana?"}, {"entity", "que bebe Ana"},
	{"general", "el ferry que sale hoy"}, {"general", "¿Cómo funciona?"},
	{"why", "Perché il traghetto è fermo?"}, {"when", "Quando começou?"},
	{"entity", "Quem conduz?"}, {"why", "Waarom vaart hij niet?"}, {"when", "Когда уходит паром?"},
	{"general", "паром, когда дождь"}, {"entity", "Кто ведёт паром?"},
	{"why", "なぜ止まったのですか"}, {"when", "いつ出ますか"}, {"general", "いつもの船"},
	{"entity", "だれが運転しますか"}, {"why", "배가 왜 멈췄나요?"}, {"when", "배는 언제 떠나요?"},
	{"entity", "누가 운전하나요?"}, {"why", "ทำไมเรือหยุด"}, {"when", "เรือออกเมื่อไหร่"},
	{"entity", "ใครขับเรือ"},
}

func intentCases(s *suite) {
	for i, q := range questions {
		if got := intentOf(q.text); got != q.intent {
			s.err = fmt.Errorf("%q is %s, want %s", q.text, got, q.intent)
		}
		s.add("26.1", "intent", fmt.Sprintf("question-%02d", i), "what a question asks for",
			obj{"text": q.text}, obj{"intent": q.intent})
	}
	s.add("26.1", "intent", "scalars-4096", "a word that ends there counts",
		obj{"text": rep("x ", 2046) + "é why"}, obj{"intent": intentOf(rep("x ", 2046) + "é why")})
	s.add("26.1", "intent", "scalars-4097", "half of it does not",
		obj{"text": rep("x ", 2046) + "éé why"}, obj{"intent": intentOf(rep("x ", 2046) + "éé why")})
}

// asking is a recall of all candidates.
func asking(intent, text string, rounds int64) request {
	q := everything(text)
	q.intent, q.expand = intent, rounds
	return q
}

// typed is an edge of a type.
func typedEdge(typ, from, to string) string {
	return `{"edge":{"type":"` + typ + `","src":"` + from + `","dst":"` + to + `"}}`
}

// said is a node of some words.
func said(key, words string) string {
	return `{"node":{"key":"` + key + `","type":"T","summary":"` + words + `"}}`
}

// pump is what happened to a pump, and why.
var pump = batchText{
	said("fail", "The pump failed in the night"), said("silt", "Silt had blocked the inlet"),
	said("storm", "A storm stirred up the harbour"), said("fuse", "The pump blew a fuse and failed"),
	said("tea", "Ana Ng drinks tea"), said("ana", "Ana Ng"), said("pay", "A failed pump costs Ana Ng"),
	said("like", "Engines stall at night"),
	typedEdge("causes", "silt", "fail"), typedEdge("enables", "storm", "silt"),
	typedEdge("follows", "fail", "storm"), typedEdge("mentions", "tea", "ana"),
	typedEdge("mentions", "pay", "ana"), typedEdge("similar", "fail", "like"),
	typedEdge("owns", "ana", "fuse"), typedEdge("causes", "fuse", "fail"),
}

func recallCases(s *suite) {
	intentCases(s)
	for _, intent := range []string{"why", "when", "entity", "general"} {
		for _, rounds := range []int64{0, 3} {
			name := fmt.Sprintf("%s-%d", intent, rounds)
			s.retrieval("26.4", "recall", "pump-"+name, "signals of a small memory",
				asking(intent, "pump failed Ana Ng", rounds), false, pump)
			s.retrieval("26.3", "recall", "pump-one-"+name, "from one anchor",
				asking(intent, "silt", rounds), false, pump)
		}
	}
	s.retrieval("26.2", "recall", "auto", "the intent of the text",
		asking("auto", "Why did the pump fail?", 3), false, pump)
	s.retrieval("26.2", "recall", "auto-when", "another one", asking("auto", "When did the pump fail?", 3),
		false, pump)
	s.retrieval("26.2", "recall", "blank", "a blank text is ranked by nothing else",
		asking("why", " ", 3), false, pump)
	beamCases(s)
	causeCases(s)
	knownCases(s)
	nameCases(s)
	recallOptions(s)
	recallReceipts(s)
	randomRecalls(s)
}

func beamCases(s *suite) {
	add := func(name, title string, q request, lines batchText) {
		s.retrieval("26.3", "recall", "beam-"+name, title, q, false, lines)
	}
	chain := wired("abcdefg", typedEdge("causes", "b", "a"), typedEdge("causes", "c", "b"),
		typedEdge("t", "d", "c"), typedEdge("similar", "d", "e"), typedEdge("causes", "f", "e"),
		typedEdge("causes", "g", "f"))
	for _, intent := range []string{"why", "general"} {
		add("chain-"+intent, "along a chain", asking(intent, "worda", 0), chain)
		add("between-"+intent, "between two anchors", asking(intent, "worda wordd", 0), chain)
	}
	add("out", "from source to destination", asking("why", "wordc", 0).with(func(q *request) {
		q.direction = "out"
	}), chain)
	add("types", "edge types to follow", asking("why", "worda", 0).with(func(q *request) {
		q.expandTypes = []string{"causes"}
	}), chain)
	add("weights", "weights of types", asking("why", "worda", 0).with(func(q *request) {
		q.edgeWeights = map[string]int64{"causes": 16384, "t": 131072}
	}), chain)
	add("hidden-node", "nothing goes through a hidden node", asking("why", "worda", 0),
		append(append(batchText{}, chain...), `{"mark":{"node":"b","state":"forgotten"}}`))
	add("hidden-edge", "nor over a hidden edge", asking("why", "worda", 0),
		append(append(batchText{}, chain...),
			`{"mark":{"edge":{"type":"causes","src":"b","dst":"a"},"state":"retired"}}`))
	add("parallel", "the best of parallel edges, and loops", asking("why", "worda", 0),
		wired("abc", wire("a", "b", "0.9"), typedEdge("causes", "a", "b"), wire("b", "a", ""),
			wire("a", "a", ""), wire("c", "a", "0.5"), wire("a", "c", "0.5")))
	star, many := wired("a"), wired("ab", wire("a", "b", ""))
	for i := range 20 {
		k := fmt.Sprintf("n%02d", i)
		star = append(star, said(k, "x"), wire("a", k, fmt.Sprintf("0.%02d", 40+i)),
			said("m"+k, "y"), wire(k, "m"+k, ""))
		many = append(many, said(k, "word worda of many"), wire(k, "b", ""))
	}
	add("width", "the best ten go on", asking("general", "worda", 0), star)
	add("width-why", "the best fifteen do", asking("why", "worda", 0), star)
	add("anchors", "no more anchors than the width", asking("general", "worda", 0), many)
	add("max-expand", "of the new nodes so many join", asking("why", "worda", 0).with(
		func(q *request) { q.maxExpand = 4 }), star)
	wide := wired("a")
	for i := range 30 {
		k := fmt.Sprintf("p%02d", i)
		wide = append(wide, said(k, "word worda"), said("h"+k, "x"), wire(k, "h"+k, ""))
		for j := range 60 {
			far := fmt.Sprintf("q%02d-%02d", i, j)
			wide = append(wide, said(far, "z"), wire(k, far, fmt.Sprintf("0.%03d", 100+i*20+j)))
		}
	}
	q := asking("entity", "worda", 0)
	q.maxExpand = 1000
	add("visited", "no more than 400 are looked at", q, wide)
}

func causeCases(s *suite) {
	add := func(name, title string, q request, lines batchText) {
		s.retrieval("26.5", "recall", "causes-"+name, title, q, false, lines)
	}
	three := func(lines ...string) batchText {
		return append(batchText{said("a", "pump failed"), said("b", "pump failed at night"),
			said("c", "pump failed at night in the rain"), said("d", "rain")}, lines...)
	}
	ask := asking("why", "pump failed", 0)
	chain := three(typedEdge("causes", "c", "b"), typedEdge("causes", "b", "a"))
	add("chain", "the first cause first", ask, chain)
	add("general", "but only where a reason is asked for", asking("general", "pump failed", 0), chain)
	add("kinds", "every kind of causal edge", ask, three(typedEdge("prevents", "c", "a"),
		typedEdge("enables", "b", "a")))
	add("other", "no other edge", ask, three(wire("c", "a", ""), typedEdge("follows", "b", "a")))
	add("cycle", "a cycle ends where it would return", ask, three(typedEdge("causes", "c", "b"),
		typedEdge("causes", "b", "a"), typedEdge("causes", "a", "c")))
	add("both", "two that cause each other", ask, three(typedEdge("causes", "a", "b"),
		typedEdge("causes", "b", "a")))
	add("self", "a node that causes itself", ask, three(typedEdge("causes", "a", "a")))
	add("irrelevant", "a cause that does not fit stays where it is", ask, three(
		typedEdge("causes", "d", "a")))
	weak := append(three(typedEdge("causes", "e", "a")), said("e", "pump "+rep("and so on ", 20)))
	add("weak", "nor does one that fits less than half as well", ask, weak)
	add("hidden", "a hidden edge does not count", ask, append(chain,
		`{"mark":{"edge":{"type":"causes","src":"b","dst":"a"},"state":"retired"}}`))
	add("mmr", "after diversification", ask.with(func(q *request) { q.mmr = new(int64(45875)) }), chain)
	add("rerank", "and reranking", ask.with(func(q *request) { q.rerank = "local" }), chain)
	add("key", "a node that is named stays first", asking("why", "a", 0), chain)
}

func knownCases(s *suite) {
	for _, c := range []struct{ name, title, text string }{
		{"all", "all words are known", "pump failed"}, {"none", "none is", "zebra quagga"},
		{"few", "few are", "the captain of a submarine failed to dive"},
		{"third", "a third is", "pump zebra quagga"},
		{"key", "a node is named", "tea"}, {"stop", "no telling word", "why is it"},
	} {
		s.retrieval("26.6", "recall", "known-"+c.name, c.title, asking("auto", c.text, 0), false, pump)
	}
	s.retrieval("26.6", "recall", "known-spelling", "what is read otherwise counts for half",
		asking("auto", "zebra engnies", 0), false, pump)
	s.retrieval("26.6", "recall", "known-filter", "nothing passes",
		asking("auto", "pump", 0).with(func(q *request) { q.types = []string{"U"} }), false, pump)
	s.retrieval("26.6", "recall", "known-budget", "nothing fits",
		asking("auto", "zebra pump", 0).with(func(q *request) { q.budget = 1 }), false, pump)
	s.retrieval("26.6", "recall", "known-retrieve", "no recall says it",
		asking("", "zebra quagga", 0), false, pump)
	close := near("zebra quagga", 127, 63, 0)
	close.intent = "general"
	s.retrieval("26.6", "recall", "known-vector", "a vector is close", close, false, pier)
	s.retrieval("26.4", "recall", "vectors", "similarity beside the others",
		near("harbour crane", 127, 63, 0).with(func(q *request) { q.intent = "why" }), false, pier)
}

// nameCases are nodes that are nothing but names.
func nameCases(s *suite) {
	names := batchText{said("m", "Ana Ng runs the ferry"),
		`{"node":{"key":"entity/ana ng","type":"Entity","summary":"Ana Ng"}}`,
		`{"node":{"key":"entity/bo","type":"Entity","summary":"Bo Ng","props":{"age":40}}}`,
		`{"node":{"key":"entity/cy","type":"Entity","summary":"Cy Ng","context":"a pilot"}}`,
		`{"node":{"key":"entity/di","type":"Entity","summary":"Di Ng","content":"She dives."}}`,
		`{"node":{"key":"tag/ng","type":"Tag","summary":"Ng"}}`,
		`{"node":{"key":"Ng","type":"Entity","summary":"Ng"}}`,
		`{"node":{"key":"eve","type":"Entity","summary":"Ng"}}`,
		`{"node":{"key":"entity/fay","type":"Person","summary":"Fay Ng"}}`,
		typedEdge("mentions", "m", "entity/ana ng"), typedEdge("tagged", "m", "tag/ng"),
		typedEdge("mentions", "eve", "entity/ana ng")}
	for _, c := range []struct {
		name, title string
		q           request
	}{
		{"recall", "names alone are no items", asking("entity", "Who is Ana Ng?", 3)},
		{"retrieve", "but in retrieval they are", asking("", "Who is Ana Ng?", 3)},
		{"types", "and where they are asked for", asking("entity", "Who is Ana Ng?", 0).with(
			func(q *request) { q.types = []string{"Entity"} })},
		{"named", "or named", asking("entity", "Who is \"entity/ana ng\" Ng?", 0)},
		{"limit", "they take no room", asking("entity", "Who is Ana Ng?", 3).with(
			func(q *request) { q.limit = 2 })},
		{"blank", "of a blank request they do", asking("entity", " ", 0)},
	} {
		s.retrieval("26.7", "recall", "name-"+c.name, c.title, c.q, false, names)
	}
}

// recallOptions are recalls with other parameters.
func recallOptions(s *suite) {
	add := func(name, title string, edit func(*request)) {
		s.retrieval("26.4", "recall", "with-"+name, title,
			asking("why", "pump failed Ana Ng", 3).with(edit), false, pump)
	}
	for _, f := range []string{"rrf", "weighted-rrf", "score-norm"} {
		add(f, "another fusion", func(q *request) { q.fusion = f })
	}
	add("ppr", "another expansion", func(q *request) { q.expansion = "ppr" })
	add("filter", "filters", func(q *request) {
		q.types = []string{"U"}
	})
	add("feedback", "feedback", func(q *request) { q.feedback = 2 })
	add("limit", "the best two", func(q *request) { q.limit = 2 })
	s.refuse("8.1", "recall", "unknown", "an unknown intent", "request", obj{"author": "erin",
		"batches": []any{obj{"time": t0, "lines": pump}}, "request": asking("how", "pump", 0).input()})
}

func recallReceipts(s *suite) {
	st := built(pump)
	commit := baseCommit(dict{"graph": recordCID(st.graphRecord()), "message": ""})
	for _, c := range []struct{ name, title, intent string }{
		{"recall", "a recall: its intent was read from its text", "auto"},
		{"recall-given", "a recall of a given intent", "entity"},
	} {
		q := newRequest("Why did the pump of Ana Ng fail?")
		q.intent = c.intent
		rec := q.receipt(st, recordCID(commit), q.retrieve(st))
		in := obj{"author": "erin", "batches": []any{obj{"time": t0, "lines": pump}},
			"request": q.input(), "commit": hx(encode(commit))}
		s.add("13.1", "receipt", c.name, c.title, in,
			obj{"receipt": recordCID(rec).String(), "json": jsonForm(rec)})
		s.add("13.3", "receipt", "replay-"+c.name, c.title+", again", in,
			obj{"receipt": recordCID(rec).String(), "replay": "identical"})
	}
	bad := func(v any) dict {
		return dict{"request": with(newRequest("tide").record(), dict{"intent": v})}
	}
	base := newRequest("tide").receipt(built(harbour), recordCID(baseCommit(nil)), answer{})
	s.records("receipt", base, []recordCase{
		{"13.1", "intent-auto", "it is read before", "field", bad("auto")},
		{"13.1", "intent-empty", "none is left out", "field", bad("")},
		{"8.1", "intent-unknown", "an unknown one", "field", bad("how")},
		{"13.1", "intent-number", "another kind", "field", bad(3)},
	})
}

// randomRecalls are whole recalls of random memories.
func randomRecalls(s *suite) {
	types := []string{"causes", "follows", "mentions", "similar", "owns", "enables"}
	for i := range 20 {
		r := rng(uint64(i)*7919 + 3)
		q := randomRequest(&r)
		q.intent = []string{"why", "when", "entity", "general", "why"}[i%5]
		q.expand = int64(r.below(3))
		memory := randomMemory(&r, 10+i*3)
		for range 30 + i*4 {
			memory[0] = append(memory[0], fmt.Sprintf(
				`{"edge":{"type":"%s","src":"n%d","dst":"n%d","weight":0.%d}}`, types[r.below(6)],
				r.below(10+i*3), r.below(10+i*3), 1+r.below(99)))
		}
		s.retrieval([]string{"26.3", "26.4"}[i%2], "recall", fmt.Sprintf("random-%02d", i),
			"a random recall of a random memory", q, false, memory...)
	}
}
