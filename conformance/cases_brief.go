package main

import "fmt"

// briefly asks for the brief form.
func briefly(q *request) { q.format = "brief" }

func showing(show ...string) func(q *request) { return func(q *request) { q.show = show } }

// replaced are memories of which newer ones take the place of older ones.
var replaced = batchText{
	dated("old", "2026-01-10", "The gate code of the north dock is 1234"),
	dated("new", "2026-03-10", "The gate code of the north dock is now 9876"),
	dated("mid", "2026-02-10", "The gate code of the north dock changed to 5555"),
	dated("more", "2026-04-10", "The gate code of the north dock is kept at the office"),
	dated("other", "2026-05-10", "The crane is new"),
	dated("south", "2026-01-01", "The south dock has a gate"),
}

// renderedCases are the brief form, and what is outdated.
func renderedCases(s *suite) {
	briefCases(s)
	outdatedCases(s)
	changeCases(s)
}

func briefCases(s *suite) {
	add := func(name, title string, q request, lines batchText) {
		s.retrieval("12.4", "render", "brief-"+name, title, q.with(briefly), true, lines)
	}
	add("harbour", "properties, states, keys", by2("harbour tide guests"), harbour)
	add("all", "times, content and edges", by2("harbour tide", showing("content", "key", "times"),
		func(q *request) { q.adjacency = 5 }), harbour)
	add("1", "in ranking 1", everything("harbour tide"), harbour)
	add("cap", "texts are cut", by2("tide boats", showing("content"), func(q *request) { q.summaryCap = 12 }),
		harbour)
	add("passages", "passages are the content, whether it is shown or not", by2("tide metres",
		func(q *request) { q.packing, q.passageTokens = "passages", new(int64(12)) }), harbour)
	add("more", "edges that are not shown", by2("boats", func(q *request) { q.adjacency = 1 }), harbour)
	add("hidden", "states that are let through", by2("guests crane", func(q *request) {
		q.marks = []string{"superseded", "forgotten"}
	}), harbour)
	add("props", "names of properties like those of lines", by2("word"), batchText{
		`{"node":{"key":"a","type":"T","summary":"word","props":{"State":"x","props.y":1,"a:b":true," c":1.5,` +
			`"d\n":"e\nf","Outdated By":"z","list":["x"],"null":null}}}`})
	add("escapes", "every value is within its line", by2("word", showing("content", "times")), batchText{
		`{"node":{"key":"a\n[b] c","type":"T\nU","summary":"word\n[x] y","context":"\r\nc\u0085","content":"l\n\n  m",` +
			`"sources":["s\nt · u","v"],"validTo":"2027-01-01"}}`})
	sum := rep("0a", 32)
	sourced := func(source string) string {
		return `{"node":{"type":"T","summary":"word ` + source + `","sources":["` + source + `"]}}`
	}
	add("source", "the sum in a source is left out, and nothing else", by2("word"), batchText{
		sourced("file:a.md?sha256=" + sum + "#L3-L9"), sourced("file:a.md?sha256=" + sum),
		sourced("file:a.md?sha256=" + rep("0A", 32) + "#"), sourced("file:a.md?sha256=" + sum + "0"),
		sourced("file:a.md?sha256=" + sum + "&x"), sourced("url:https://a.b/?sha256=" + rep("0g", 32)),
		sourced("a?sha256=?sha256=" + sum), sourced("?sha256=" + sum)})
	parts := batchText{`{"node":{"key":"doc/1#top/0","type":"Chunk","summary":"Ferry","content":"It leaves."}}`,
		`{"node":{"key":"doc/1/2","type":"Section","summary":"Ferry","content":"It floats."}}`,
		`{"node":{"key":"quay","type":"Chunk","summary":"Ferry","content":"It waits."}}`}
	add("chunk", "the content of a part of a document", by2("ferry", func(q *request) { q.summarize = 3 }), parts)
	s.retrieval("12.1", "render", "chunk", "the content of a part of a document", everything("ferry"), true, parts)
	add("key", "a key of 32 bytes, and one of 33", by2("word"), batchText{
		fmt.Sprintf(`{"node":{"key":%q,"type":"T","summary":"word"}}`, rep("k", 32)),
		fmt.Sprintf(`{"node":{"key":%q,"type":"T","summary":"word"}}`, rep("k", 33))})
	add("least", "a node without anything but a type, found by it", by2("thing"), batchText{
		`{"node":{"id":"00112233-4455-6677-8899-aabbccddeeff","type":"Thing","created":"0000-01-01"}}`})
	add("year", "the last day there is", by2("thing"), batchText{
		`{"node":{"id":"00112233-4455-6677-8899-aabbccddeeff","type":"Thing","created":"9999-12-31T23:59:59.999999Z"}}`})
	anon := func(digits, rest string) string {
		return `{"node":{"id":"` + digits + `","type":"T"` + rest + `}}`
	}
	same := batchText{anon("abcdef01-0000-0000-0000-000000000001", `,"summary":"word one"`),
		anon("abcdef01-0000-0000-0000-000000000002", `,"summary":"word two"`),
		anon("abcdef01-2345-0000-0000-000000000001", `,"summary":"word three"`),
		anon("abcdef02-0000-0000-0000-000000000001", ""), said("keyed", "word four")}
	add("digits", "ids that share digits", by2("word"), same)
	add("digits-by", "what a mark names", by2("word", func(q *request) {
		q.marks = []string{"superseded"}
	}), append(append(batchText{}, same...),
		`{"mark":{"node":"keyed","state":"superseded","by":"abcdef01-0000-0000-0000-000000000002"}}`,
		`{"mark":{"node":"abcdef02-0000-0000-0000-000000000001","state":"stale"}}`,
		`{"mark":{"node":"abcdef01-2345-0000-0000-000000000001","state":"contradicted","by":"keyed"}}`))
	gone := append(append(batchText{}, same...), anon("abcdef03-0000-0000-0000-000000000001", ""),
		anon("abcdef02-0000-0000-0000-000000000009", ""),
		`{"mark":{"node":"keyed","state":"contradicted","by":"abcdef03-0000-0000-0000-000000000001"}}`,
		`{"mark":{"node":"abcdef01-0000-0000-0000-000000000001","state":"contradicted",`+
			`"by":"abcdef02-0000-0000-0000-000000000009"}}`)
	s.retrieval("12.4", "render", "brief-digits-gone", "which may be gone, or begin like another",
		by2("word", briefly), true, gone, batchText{
			`{"remove":{"node":"abcdef03-0000-0000-0000-000000000001"}}`,
			`{"remove":{"node":"abcdef02-0000-0000-0000-000000000009"}}`})
	long := rep("é", 60)
	edges := func(lines ...string) batchText {
		return append(batchText{said("a", "word"), said("b", long), said("c", long+"xy"), said("d", "semi; colon"),
			`{"node":{"key":"e","type":"T"}}`, `{"node":{"key":"` + rep("k", 61) + `","type":"T"}}`,
			anon("abcdef01-0000-0000-0000-000000000001", ""), `{"node":{"key":"f","type":"T","summary":"l\nm"}}`}, lines...)
	}
	named := by2("word", func(q *request) { q.adjacency, q.limit = 20, 1 })
	add("names", "what an edge leads to is called by its summary, key or digits", named, edges(
		wire("a", "b", ""), wire("a", "c", ""), wire("a", "d", ""), wire("a", "e", ""), wire("a", rep("k", 61), ""),
		wire("a", "abcdef01-0000-0000-0000-000000000001", ""), wire("a", "f", "")))
	add("types", "a line for each type and direction", named, edges(wire("a", "b", ""), typedEdge("u", "a", "b"),
		typedEdge("u", "a", "d"), typedEdge("s", "d", "a"), wire("a", "a", ""), typedEdge("x\\ny", "a", "d")))
	add("names-cap", "whatever cap the texts have", named.with(func(q *request) { q.summaryCap = 3 }), edges(
		wire("a", "c", ""), wire("d", "a", "")))
	add("budget", "tokens are those of this form", by2("harbour tide guests", func(q *request) { q.budget = 60 }), harbour)
}

// outdatedCases are clause 11.10.
func outdatedCases(s *suite) {
	gate := by2("gate code of the north dock", atFloor(""))
	add := func(name, title string, q request, lines batchText) {
		s.retrieval("11.10", "render", "outdated-"+name, title, q, true, lines)
	}
	add("two", "older ones stand behind what takes their place", gate, replaced)
	add("brief", "in the brief form", gate.with(briefly), replaced)
	add("state", "beside a state", gate, append(append(batchText{}, replaced...),
		`{"mark":{"node":"old","state":"stale"}}`))
	add("rest", "not with every band", gate.with(atFloor("rest")), replaced)
	add("1", "nor in ranking 1", everything("gate code"), replaced)
	add("blank", "nor of a blank request", by2("", atFloor("")), replaced)
	add("answers", "among answers alone", gate.with(atFloor("answer")), replaced)
	add("adjacency", "beside edges", gate.with(func(q *request) { q.adjacency = 2 }),
		append(append(batchText{}, replaced...), wire("old", "new", "")))
	add("budget", "what is not packed takes a place as well", gate.with(func(q *request) { q.budget = 50 }), replaced)
	add("limit", "in their new order", gate.with(func(q *request) { q.limit = 2 }), replaced)
	add("order", "arranged by time", gate.with(func(q *request) { q.order = "time" }), replaced)
	add("time", "where the time lane is alone", by2("What happened in 2026?", atFloor("")), append(append(batchText{},
		replaced...), `{"node":{"key":"tag/gate code now","type":"Tag","summary":"gate code now","created":"2026-06-01"}}`))
	add("same-time", "not where it was created at the same time", gate, batchText{
		dated("x", "2026-01-01", "The gate code of the dock is 1"),
		dated("y", "2026-01-01", "The gate code of the dock is now 2")})
	for _, c := range []struct{ name, title, older, newer, day, text string }{
		{"later", "what says nearly the same a day later stands first, without a sign", "the gate code is 4711",
			"the gate code is 1147", "2026-01-02", "gate code"},
		{"sooner", "not where it was said within a day", "the gate code is 4711", "the gate code is 1147",
			"2026-01-01T23:59:59.999999Z", "gate code"},
		{"less", "nor where it has less of the question", "the gate code of the dock is 4711", "the gate code is 1147",
			"2026-02-01", "gate code dock"},
		{"more", "but where it has more", "the gate code is 4711", "the gate code is 1147 on the dock, as ever",
			"2026-02-01", "gate code dock"},
		{"half", "of which half is shared", "gate code north", "gate code east", "2026-02-01", "gate code"},
		{"other", "nor where less than half is", "gate code north red kite", "gate code east blue gull sail",
			"2026-02-01", "gate code"},
		{"none", "nor of a text that neither has anything of", "gate code north", "gate code east", "2026-02-01", "zebra"},
		{"vector", "nor of a vector alone", "gate code north", "gate code east", "2026-02-01", ""},
	} {
		q := by2(c.text, atFloor(""))
		if c.text == "" || c.name == "none" {
			q = q.with(toward("m", 3, 4))
		}
		add("twin-"+c.name, c.title, q, batchText{dated("x", "2026-01-01", c.older), dated("y", c.day, c.newer),
			dated("z", "2026-01-01", "a kite, a gull and a sail"), embedded("x", "m", "3,4"), embedded("y", "m", "4,3")})
	}
	add("unfit", "by an answer alone", by2("zebra quagga okapi gnu lemur ibex yak ox elk gate code", atFloor("")), batchText{
		dated("x", "2026-01-01", "The gate code is 1"), dated("y", "2026-02-01", "gate code is now 2"),
		said("z", "zebra stripes")})
	add("ties", "the first of those created last", gate, append(append(batchText{}, replaced...),
		dated("new2", "2026-03-10", "The gate code of the dock is now gone")))
	add("follower", "and what contradicts an item", gate.with(atFloor("answer")), append(append(batchText{}, replaced...),
		`{"mark":{"node":"new","state":"contradicted","by":"mid"}}`))
	add("named", "a property of that name", gate, batchText{
		`{"node":{"key":"x","type":"T","summary":"The gate code","props":{"outdated by":"me","Outdated By":1}}}`})
	add("named-1", "which in ranking 1 is one like others", everything("gate"), batchText{
		`{"node":{"key":"x","type":"T","summary":"The gate code","props":{"outdated by":"me","Outdated By":1}}}`})
	var many batchText
	for i := range 20 {
		many = append(many, dated(fmt.Sprintf("k%02d", i), "2026-01-01", "The gate code of the north dock "+rep("x ", i)))
	}
	last := dated("last", "2026-02-01", "The gate code of the north dock now"+rep(" y", 40))
	add("20", "the first 20 are compared", gate, append(many[:19:19], last))
	add("21", "and no other", gate, append(many, last))
}

// changeCases are what tells of a change, and what has the same subject.
func changeCases(s *suite) {
	for i, c := range []struct{ title, older, newer string }{
		{"a word in upper case", "The quay hut has a key", "NEW: the quay hut has a code"},
		{"beside digits and marks", "The quay hut has a key", "The quay hut has 2now-codes"},
		{"not within a word", "The quay hut has a key", "The quay hut has renewed codes"},
		{"of another language", "Die Hütte am Kai hat ein Schloss", "Künftig hat die Hütte am Kai zwei"},
		{"with marks apart it is the same word", "Die Hütte am Kai hat ein Schloss", "Ku\u0308nftig hat die Hütte am Kai zwei"},
		{"an apostrophe ends a word", "The quay hut has a key", "What's new's that the quay hut has codes"},
		{"one shared term is too few", "The quay hut has a key", "The hut is painted now"},
		{"two of many are too light", "The quay hut has a key, a lamp, a stove, a bench, a table, a shelf, a rug",
			"Now the quay and a hut far away, beyond valleys, rivers, mountains, forests, deserts, oceans, islands"},
		{"of the lighter one they are enough", "quay hut", "Now the quay and a hut far away, beyond valleys, rivers, oceans"},
		{"a term that is there twice counts once", "quay quay quay hut", "the quay is now a quay, a quay"},
		{"terms beyond 8,192 scalars do not count", "quay hut", "now " + rep("z ", 4096) + "quay hut"},
		{"nor words there", "quay hut", "quay hut " + rep("z ", 4092) + "now"},
		{"but those that end there", "quay hut", "quay hut " + rep("z ", 4090) + "now"},
		{"a word that may tell of one puts it before, and no more", "The quay hut has a key", "The rent of the quay hut was raised"},
		{"as of", "The quay hut has a key", "As of 3 May the quay hut has a code"},
		{"from and on", "The quay hut has a key", "From this week on the quay hut has a code"},
		{"from and on, too far from each other", "The quay hut has a key", "From the sea and its two islands on the quay hut has codes"},
		{"as without of", "The quay hut has a key", "As the quay hut has a code"},
		{"kindred terms count for that", "The price of the quay hut", "As of May the fee of a hut"},
		{"but not for the sign", "The price of the quay hut", "The fee of a hut is now 5"},
		{"a text that is not settled may be replaced by any", "Perhaps the quay hut gets a key", "The quay hut has a code"},
		{"but without a sign for that", "Idea: a key for the quay hut", "The quay hut has codes, as of May"},
		{"what is not settled replaces nothing by that", "The quay hut has a key", "Perhaps the quay hut gets a code"},
		{"compounds count for that", "Das Quayhaus hat Strandkorbmiete", "As of May: hut, Korbmieten, quay, Strandkorb"},
		{"a run of six code points does", "zebrastripes hut", "hut abrast, as of May"},
		{"one of five does not", "zebrastripes hut", "hut abrasu, as of May"},
		{"nor one with a digit", "zebra12stripes hut", "hut ebra12s, as of May"},
		{"nor does one count for the sign", "zebrastripes hut", "hut abrast now"},
		{"a confirmed one", "The quay hut has a key", "Confirmed: the quay hut has a code"},
		{"Japanese has no such words", "埠頭の小屋の鍵", "埠頭の小屋の新しい鍵"},
	} {
		q := by2(c.older+" hut quay 埠頭", atFloor("answer"))
		q.summaryCap = 30
		s.retrieval("11.10", "render", fmt.Sprintf("change-%02d", i), c.title, q, true,
			batchText{dated("o", "2026-01-01", c.older), dated("n", "2026-02-01", c.newer), said("z", "a boat")})
	}
	shares := func(name, title string, lines ...string) {
		s.retrieval("11.10", "render", "change-share-"+name, title, by2("quay hut lamp", atFloor("answer")), true, lines)
	}
	old := dated("o", "2026-01-01", "quay hut lamp stove")
	shares("most", "what shares the most may take the place, not what is newest", old,
		dated("n", "2026-02-01", "As of May: quay hut lamp"), dated("m", "2026-03-01", "As of May: quay hut bench"))
	shares("even", "of equal shares the newest may", old,
		dated("n", "2026-02-01", "As of May: quay hut bench"), dated("m", "2026-03-01", "As of May: quay hut bench"))
	shares("sign", "a sign goes before all that", old,
		dated("n", "2026-02-01", "As of May: quay hut lamp stove"), dated("m", "2026-03-01", "now quay hut bench"))
	for _, n := range []int{4, 5, 6, 7, 8, 9, 10} {
		var words, others string
		for i := range n {
			words += fmt.Sprintf(" w%dw", i)
			others += fmt.Sprintf(" o%do", i)
		}
		shares(fmt.Sprintf("of-%d", n), "a fifth of the lighter one must be shared",
			dated("o", "2026-01-01", "quay hut"+words), dated("n", "2026-02-01", "raised quay hut"+others+" x y"))
	}
	s.retrieval("11.10", "render", "change-context", "the summary alone tells", by2("quay hut", atFloor("answer")), true,
		batchText{dated("o", "2026-01-01", "The quay hut has a key"), `{"node":{"key":"n","type":"T",` +
			`"summary":"The quay hut has a code","context":"now","content":"changed","created":"2026-02-01"}}`})
}
