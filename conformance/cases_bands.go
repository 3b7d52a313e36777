package main

import (
	"cmp"
	"fmt"
	"strings"
)

// by2 is a request of ranking 2 for every candidate.
func by2(text string, edits ...func(q *request)) request {
	q := everything(text)
	q.ranking, q.floor = 2, "rest"
	for _, edit := range edits {
		edit(&q)
	}
	return q
}

// atFloor sets the floor, the empty one being maybe.
func atFloor(floor string) func(q *request) { return func(q *request) { q.floor = floor } }

func asks(intent string) func(q *request) { return func(q *request) { q.intent = intent } }

func rounds(n int64) func(q *request) { return func(q *request) { q.expand = n } }

func inWords(rewrites ...string) func(q *request) {
	return func(q *request) { q.rewrites = rewrites }
}

func toward(model string, v ...int8) func(q *request) {
	return func(q *request) {
		vectors := map[string][]int8{model: v}
		for m, w := range q.vectors {
			vectors[m] = w
		}
		q.vectors = vectors
	}
}

// bandCases are those of ranking 2 about lanes, expansion and bands.
func bandCases(s *suite) {
	fusionBands(s)
	timeEdges(s)
	signBands(s)
	saidBands(s)
	placeBands(s)
	gradedCases(s)
	floorCases(s)
	besideCases(s)
	for i := range 24 {
		s.randomBands(i)
	}
}

// fusionBands are the weights of clause 9.6.
func fusionBands(s *suite) {
	sparse := func(q *request) { q.sparse = map[string]map[string]int64{"words": {"booking": 70000}} }
	fusion := func(way string) func(q *request) { return func(q *request) { q.fusion = way } }
	weigh := func(lane string, w int64) func(q *request) {
		return func(q *request) { q.weights = map[string]int64{lane: w} }
	}
	m := toward("m", 127, 63, 0)
	for _, c := range []struct {
		name, title string
		q           request
	}{
		{"all", "a node has all of the text: it weighs four times what a vector does",
			by2("tide table year", m)},
		{"half", "the best has some of it", by2("tide zebra mechanic", m)},
		{"least", "it has next to nothing of it", by2("zebra quagga okapi gnu boat", m)},
		{"two", "two vectors share", by2("tide mechanic", m, toward("other/large", 4, 3))},
		{"sparse", "with a sparse one", by2("booking berth tide", m, sparse)},
		{"in-vain", "a vector that finds nothing", by2("tide", toward("none", 1, 2))},
		{"shared-in-vain", "beside one that does", by2("tide boat", m, toward("none", 1, 2))},
		{"text-in-vain", "a text that finds nothing", by2("zebra", m)},
		{"repeated", "a term that the text repeats weighs twice", by2("tide tide berth", m)},
		{"respelled", "a term that is read otherwise weighs half", by2("habrour tide", m)},
		{"feedback", "added terms do not count", by2("mechanic tide", m,
			func(q *request) { q.feedback = 2 })},
		{"expanded", "what is lent follows the weights", by2("tide mechanic", m, rounds(2))},
		{"weighed", "not with weights", by2("tide table", m, weigh("dense:m", 30000))},
		{"weighed-time", "of whichever lane", by2("tide table", m, weigh("time", 30000))},
		{"rrf", "nor in ranks", by2("tide table", m, fusion("rrf"))},
		{"score-norm", "nor in places", by2("tide table", m, fusion("score-norm"))},
		{"rewrites", "rewrites beside a vector", by2("tide table", m, inWords("low water", "boats"))},
	} {
		s.retrieval("9.6", "dense", "second-"+c.name, c.title, c.q, false, pier)
	}
	limited := func(n int64) func(q *request) { return func(q *request) { q.limit = n } }
	for _, c := range []struct {
		name, title string
		n           int
		q           request
	}{
		{"few", "the last of a dense lane is distant where it has fewer than 200", 30, by2("word tide", m, limited(4))},
		{"200", "the 200th is", 230, by2("word tide", m, limited(4))},
		{"lent", "and so of what is lent", 230, by2("word tide", m, limited(4), rounds(2))},
		{"similar", "and of a recall's similarity", 230, by2("word tide", m, limited(4), asks("entity"))},
		{"places", "not in places", 30, by2("word tide", m, limited(4), fusion("score-norm"))},
		{"ranks", "nor in ranks", 30, by2("word tide", m, limited(4), fusion("weighted-rrf"))},
	} {
		s.retrieval("9.6", "dense", "ground-"+c.name, c.title, c.q, false, append(fan(c.n), said("t", "tide"), wire("n000", "t", "")))
	}
	crowd := batchText{said("alone", "a"), embedded("alone", "m", "90,0,60"), said("away", "b"), embedded("away", "m", "60,-90,3")}
	for i := range 30 {
		key := fmt.Sprintf("n%02d", i)
		crowd = append(crowd, said(key, "x"), embedded(key, "m", fmt.Sprintf("95,%d,%d", 50-i/4, i%8)))
	}
	for _, c := range []struct{ name, title, text string }{
		{"crowd", "what stands alone is put before a crowd that is a little nearer", ""},
		{"crowd-text", "beside a text", "a b"},
	} {
		s.retrieval("9.5", "dense", c.name, c.title, by2(c.text, toward("m", 120, 30, 30), limited(4)), false, crowd)
	}
	for _, n := range []int{9, 10} {
		lines := batchText{said("both", "alpha beta "+rep("and others ", 90)), embedded("both", "m", "1,2,3")}
		for i := range n {
			lines = append(lines, said("n"+itoa(i), "alpha alpha alpha"))
		}
		s.retrieval("9.6", "dense", fmt.Sprintf("second-behind-%d", n), "the first ten of the text lane are looked at",
			by2("alpha beta", m), false, lines)
	}
	for _, c := range []struct {
		name, title string
		q           request
	}{
		{"one", "a rewrite weighs twice the text", by2("crane", inWords("berth arrival"))},
		{"three", "three share that", by2("boats", inWords("berth arrival", "low tide", "books"))},
		{"expanded", "with expansion", by2("boats", inWords("berth arrival", "mechanic"), rounds(3))},
		{"weighed", "a weight of one of them", by2("boats", inWords("berth arrival", "low tide"),
			weigh("text:1", 3000))},
		{"rrf", "in ranks each weighs alike", by2("boats", inWords("berth arrival", "low tide"),
			fusion("rrf"))},
		{"weighted-rrf", "in weighted ones not", by2("boats", inWords("berth arrival", "low tide"),
			fusion("weighted-rrf"))},
	} {
		s.retrieval("9.6", "rewrite", "second-"+c.name, c.title, c.q, false, harbour)
	}
}

// timeEdges are edges that say that something was written at about the same time.
func timeEdges(s *suite) {
	lines := wired("abcdefg", typedEdge("follows", "a", "b"), typedEdge("near", "a", "c"),
		typedEdge("causes", "a", "d"), typedEdge("follows", "d", "e"), typedEdge("t", "e", "f"),
		typedEdge("near", "g", "d"))
	way := func(name string) func(q *request) { return func(q *request) { q.expansion = name } }
	weigh := func(q *request) {
		q.edgeWeights = map[string]int64{"follows": 2 * one, "causes": one / 2}
	}
	for _, c := range []struct {
		name, title string
		q           request
	}{
		{"lend", "lend nothing", by2("worda wordd", rounds(3))},
		{"decay", "carry nothing", by2("worda", rounds(3), way("decay"))},
		{"ppr", "no mass moves along them", by2("worda", rounds(20), way("ppr"))},
		{"weighed", "whatever weight they are given", by2("worda", rounds(2), weigh)},
		{"types", "nor where no other is followed", by2("worda", rounds(2),
			func(q *request) { q.expandTypes = []string{"follows"} })},
		{"when", "unless the question is when", by2("worda wordd", rounds(3), asks("when"))},
		{"when-auto", "as the text tells", by2("When was worda?", rounds(3), asks("auto"))},
		{"why", "not where it is why", by2("worda wordd", rounds(3), asks("why"))},
	} {
		s.retrieval("10", "expand", "second-"+c.name, "edges of time "+c.title, c.q, false, lines)
	}
	for _, intent := range []string{"why", "when"} {
		s.retrieval("26.3", "recall", "second-beam-"+intent, "edges of time in a beam search",
			by2("worda", asks(intent)), false, lines)
	}
}

// dated is a node of some words that was created on a day, or at a time.
func dated(key, created, words string) string {
	return `{"node":{"key":"` + key + `","type":"T","summary":"` + words + `","created":"` + created + `"}}`
}

// crowd are n nodes that have nothing but a common word, and the lines after them.
func crowd(n int, lines ...string) batchText {
	var out batchText
	for i := range n {
		out = append(out, said(fmt.Sprintf("c%03d", i), "word "+rep("x ", i%7)))
	}
	return append(out, lines...)
}

// fan are n nodes whose vectors lie farther and farther from the first axis.
func fan(n int) (out batchText) {
	for i := range n {
		key := fmt.Sprintf("n%03d", i)
		out = append(out, said(key, "word "+rep("x ", i%5)), embedded(key, "m", fmt.Sprintf("%d,%d,3", 127-i/2, -i/2)))
	}
	return out
}

// signBands are bands by what is known of candidates.
func signBands(s *suite) {
	add := func(name, title string, q request, lines batchText) {
		s.retrieval("11.9", "pack", "band-"+name, title, q, false, lines)
	}
	add("text", "a text alone", by2("low tide harbour mechanic"), harbour)
	add("all", "all of the text", by2("accountant books"), harbour)
	add("ahead", "but answered by one that is far ahead", by2("zebra quagga okapi gnu lemur ibex boat"),
		batchText{said("a", "boat"), said("b", "tide "+rep("and more ", 90)+"boat"), said("c", "x")})
	add("ahead-alone", "one candidate alone", by2("zebra quagga okapi gnu lemur ibex boat"),
		batchText{said("a", "boat"), said("b", "tide"), said("c", "x")})
	add("tier", "named", by2("kelp"), harbour)
	add("tier-1", "quoted, beside others", by2("zebra quagga okapi gnu ibex `kelp` boats"), harbour)
	add("respelled", "terms that are read otherwise", by2("habrour mechanik"), harbour)
	add("stop", "a text without terms, beside a vector", by2("the of", toward("m", 127, 63, 0)), pier)
	add("expanded", "what expansion adds is known by its own words", by2("mechanic", rounds(2)), harbour)
	add("rewrites", "rewrites: higher thresholds", by2("low tide", inWords("ebb water", "tide table")), harbour)
	add("rewrites-sure", "sure with rewrites", by2("tide table", inWords("tide of the year")), harbour)
	add("rewrites-spelling", "a rewrite is read as it stands",
		by2("habrour tide", inWords("habrour boats")), harbour)
	add("rewrites-maybe", "three quarters of each", by2("guests pay berth tide zebra boat",
		inWords("guests berth tide crane")), harbour)
	for i, title := range []string{"a quarter of what the best knows", "less", "less than a maybe"} {
		words := strings.Fields("worda wordb wordc wordd worde wordf")[:4+i]
		lines := batchText{said("all", strings.Join(words, " "))}
		for _, w := range words {
			lines = append(lines, said(w, w+" alone"))
		}
		add(fmt.Sprint("of-best-", len(words)), title, by2(strings.Join(words, " ")), lines)
		add(fmt.Sprint("of-best-none-", len(words)), title+", beside vectors that nothing has",
			by2(strings.Join(words, " "), toward("none", 1, 2)), lines)
		add(fmt.Sprint("of-best-like-", len(words)), title+", beside vectors that some have",
			by2(strings.Join(words, " "), toward("m", 0, 1, 2)), append(lines, embedded("all", "m", "0,1,2")))
	}
	add("vectors", "a vector alone", by2("", toward("m", 127, 63, 0)), pier)
	add("vectors-far", "a vector that nothing is near", by2("", toward("m", -20, 127, -100)), pier)
	add("vectors-text", "a vector and a text", by2("tide boats zebra", toward("m", 127, 63, 0)), pier)
	for _, n := range []int{1, 3, 20, 40} {
		q := by2("word zebra quagga okapi", toward("m", 127, 127, 0))
		add("apart-"+itoa(n), "a vector that stands out from the crowd", q, fan(n))
		add("apart-many-"+itoa(n), "not beside other wordings", q.with(inWords("gnu lemur")), fan(n))
	}
	add("vectors-two", "the nearest of two vectors is one sign", by2("boats",
		toward("m", 127, 63, 0), toward("other/large", 4, 3)), pier)
	add("vectors-none", "vectors of which the commit has none", by2("boats tide", toward("none", 1, 2)), pier)
	add("vectors-0", "of weight 0", by2("boats tide", toward("m", 127, 63, 0), func(q *request) {
		q.weights = map[string]int64{"dense:m": 0}
	}), pier)
	add("sparse", "a sparse vector alone says nothing of how well a node is known", by2("",
		func(q *request) { q.sparse = map[string]map[string]int64{"words": {"booking": 70000}} }), pier)
	add("blank", "of a blank request all are answers", by2(" "), harbour)
	add("time", "where the time lane is alone too", by2("What happened on 2026-01-04?"), harbour)
	add("rerank", "after reranking", by2("tide boats harbour", func(q *request) { q.rerank = "local" }), harbour)
	add("50", "the first 50 have bands", by2("word"), crowd(60))
	add("50-names", "that are not only a name", by2("word zebra"), crowd(60,
		`{"node":{"key":"entity/word","type":"Entity","summary":"word"}}`,
		`{"node":{"key":"tag/word","type":"Tag","summary":"Word"}}`))
	add("names", "names are no items, in a retrieval too", by2("Ana Ng ferry", rounds(2)), batchText{
		said("m", "Ana Ng runs the ferry"), `{"node":{"key":"entity/ana","type":"Entity","summary":"Ana Ng"}}`,
		`{"node":{"key":"entity/bo","type":"Entity","summary":"Bo Ng","cues":["boss"]}}`,
		typedEdge("mentions", "m", "entity/ana")})
	add("names-blank", "nor of a blank request", by2(""), batchText{said("m", "Ana Ng runs the ferry"),
		`{"node":{"key":"entity/ana","type":"Entity","summary":"Ana Ng"}}`})
	add("names-types", "unless they are asked for", by2("Ana", func(q *request) {
		q.types = []string{"Entity"}
	}), batchText{`{"node":{"key":"entity/ana","type":"Entity","summary":"Ana Ng"}}`})
}

// saidBands are bands beside what was said in conversations.
func saidBands(s *suite) {
	turn := func(key, summary string) string {
		return fmt.Sprintf(`{"node":{"key":%q,"type":"Turn","summary":%q}}`, key, summary)
	}
	asked, other := turn("t/1", "where does the ferry leave?"), turn("t/2", "the ferry leaves from quay seven")
	kept := said("m", "the ferry is run by Ana")
	long := by2("where does the ferry zebra quagga okapi lemur gnu ibex leave")
	for _, c := range []struct {
		name, title string
		q           request
		lines       batchText
	}{
		{"kept", "what was kept answers, and what was said is not asked", by2("ferry Ana"), batchText{kept, asked, other}},
		{"said", "what was said answers where nothing kept does", by2("does the quay seven leave zebra"),
			batchText{said("m", "a zebra crossing, and a lot more of the like in this place"), asked, other}},
		{"neither", "neither does: only what was kept may", long, batchText{said("m", "an okapi"), said("n", "a gnu"),
			turn("t/1", "an ibex"), turn("t/2", "a lemur")}},
		{"none", "nothing was kept", by2("where does the ferry leave"), batchText{asked, other}},
		{"none-maybe", "nothing was kept, and nothing is sure", by2("ferry zebra quagga okapi lemur gnu ibex yak ox elk"),
			batchText{turn("t/1", "the ferry"), turn("t/2", "a yak"), turn("t/3", "an ox")}},
		{"types", "unless types are asked for", by2("ferry Ana", func(q *request) { q.types = []string{"Turn", "Note"} }),
			batchText{kept, asked, other}},
		{"named", "one that the request names", by2("ferry Ana `t/2`"), batchText{kept, asked, other}},
		{"session", "a session is something said", by2("ferry Ana"), batchText{kept,
			`{"node":{"key":"s","type":"Session","summary":"Ana and the ferry"}}`, `{"node":{"key":"s2","type":"session","summary":"Ana"}}`}},
		{"before", "said before the last of 50 that were kept", by2("word"), crowd(60, turn("t/1", "word"), turn("t/2", "words "+rep("y ", 30)))},
		{"vectors", "known by a vector", by2("", toward("m", 127, 63, 0)), append(append(batchText{}, pier...), asked, other)},
		{"sparse", "sparse vectors", by2("", func(q *request) { q.sparse = map[string]map[string]int64{"words": {"booking": 70000}} }),
			append(append(batchText{}, pier...), asked)},
	} {
		for _, floor := range []string{"rest", ""} {
			s.retrieval("11.9", "pack", "said-"+c.name+"-"+cmp.Or(floor, "maybe"), c.title, c.q.with(atFloor(floor)), false, c.lines)
		}
	}
}

// placeBands are places of what was read.
func placeBands(s *suite) {
	places := batchText{`{"node":{"key":"files:","type":"Collection","summary":"Ferry files"}}`,
		`{"node":{"key":"doc/1","type":"Document","summary":"Ferry guide","props":{"path":"ferry.md"}}}`,
		`{"node":{"key":"doc/1/rules","type":"Section","summary":"Ferry rules","context":"Ferry guide"}}`,
		`{"node":{"key":"doc/1#rules/00000000","type":"Chunk","summary":"Ferry rules","content":"No dogs."}}`,
		`{"node":{"key":"doc/2","type":"Document","summary":"Ferry two","props":{"tags":["boat"]}}}`,
		`{"node":{"key":"doc/3","type":"Document","summary":"Ferry three","props":{"aliases":["boat"]}}}`,
		`{"node":{"key":"doc/4","type":"Document","summary":"Ferry four","props":{"meta":{"for":"crew"}}}}`,
		`{"node":{"key":"doc/5","type":"Document","summary":"Ferry five","cues":["boat"]}}`,
		`{"node":{"key":"doc/6","type":"Section","summary":"Ferry six","content":"It floats."}}`,
		`{"node":{"key":"paper","type":"Document","summary":"Ferry paper"}}`}
	for _, c := range []struct {
		name, title string
		q           request
	}{
		{"left", "places alone are no items", by2("ferry")},
		{"types", "but where they are asked for", by2("ferry", func(q *request) { q.types = []string{"Section", "Collection"} })},
		{"named", "or named", by2("ferry `doc/1`")},
	} {
		s.retrieval("26.7", "pack", "place-"+c.name, c.title, c.q.with(atFloor("rest")), false, places)
	}
	s.retrieval("26.7", "recall", "place-one", "in ranking 1 they are items", asking("entity", "ferry", 0), false, places)
}

// floorCases are what is packed down to a floor.
func floorCases(s *suite) {
	opposed := append(append(batchText{}, harbour...), `{"mark":{"node":"rule/1","state":"contradicted","by":"kelp"}}`)
	for _, floor := range []string{"answer", "", "rest"} {
		name := floor
		if floor == "" {
			name = "maybe"
		}
		for _, c := range []struct {
			name, title string
			q           request
			lines       batchText
		}{
			{"answered", "answers first", by2("low tide harbour mechanic"), harbour},
			{"rewrites", "with rewrites", by2("guests pay berth tide zebra boat",
				inWords("guests berth tide crane")), harbour},
			{"opposed", "what contradicts an item has its band", by2("low tide harbour rules"), opposed},
			{"why", "of a recall", by2("Why did the pump of Ana Ng fail?", asks("auto"), rounds(3)), pump},
			{"none", "of what nothing is found for", by2("zebra"), harbour},
		} {
			s.retrieval("11.9", "pack", "floor-"+name+"-"+c.name, c.title, c.q.with(atFloor(floor)), true, c.lines)
		}
	}
	s.retrieval("8.1", "pack", "floor-1", "in ranking 1 a floor is nothing", everything("low tide").with(
		atFloor("answer")), true, harbour)
}

// besideCases are clause 26.8.
func besideCases(s *suite) {
	day := func(n int) string { return fmt.Sprintf("2026-02-%02d", n) }
	base := batchText{dated("b", day(10), "the pump failed"), dated("far", day(1), "ice"),
		dated("before", day(8), "frost"), dated("after", day(11), "a plumber"), dated("late", day(15), "a bill")}
	why := by2("pump failed", asks("why"))
	add := func(name, title string, q request, lines ...string) {
		s.retrieval("26.8", "recall", "beside-"+name, title, q, true,
			append(append(batchText{}, base...), lines...))
	}
	add("two", "what was created before and after it", why)
	add("maybe", "as far as the floor allows", why.with(atFloor("")))
	add("auto", "where the text asks why", by2("Why did the pump fail?", asks("auto"), atFloor("")))
	add("when", "not where it asks else", why.with(asks("when")))
	add("retrieve", "nor in a retrieval", why.with(asks("")))
	add("blank", "nor of a blank request", by2(" ", asks("why")))
	add("time", "nor where the time lane is alone", by2("What happened on 2026-02-10?", asks("why")))
	add("unanswered", "a neighbour of what is no answer", by2(
		"zebra quagga okapi gnu lemur ibex yak ox elk pump", asks("why"), atFloor("")), dated("o", day(20), "pump"))
	add("candidate", "one that was found already is put there", by2("pump failed frost bill", asks("why")))
	add("same", "not what was created at the same time", why, dated("at", day(10), "steam"))
	add("week", "within seven days, to the microsecond", why.with(func(q *request) {
		q.exclude = []string{nodeIDOfKey("before"), nodeIDOfKey("after"), nodeIDOfKey("late")}
	}), dated("edge", "2026-02-03", "hail"), dated("over", "2026-02-17T00:00:00.000001Z", "mud"))
	add("ties", "of two as near the smaller id", why, dated("before2", day(8), "fog"), dated("after2", day(11), "x"))
	add("names", "what is only a name is passed over", why,
		`{"node":{"key":"entity/ana","type":"Entity","summary":"Ana","created":"2026-02-09"}}`)
	add("hidden", "and what does not pass", why, `{"mark":{"node":"before","state":"forgotten"}}`)
	add("none", "or there is none", why.with(func(q *request) { q.createdFrom = new(t0 + 40*86_400_000_000) }))
	many := []string{}
	for i := range 32 {
		many = append(many, fmt.Sprintf(`{"node":{"key":"entity/e%d","type":"Entity","summary":"E%d",`+
			`"created":"2026-02-09T00:00:%02dZ"}}`, i, i, i))
	}
	add("32", "of 32 that are only names none is left", why, many...)
	add("31", "of 31 one is", why, many[1:]...)
	add("best-name", "the best that is not only a name", by2("pump failed", asks("why")),
		`{"node":{"key":"tag/pump failed","type":"Tag","summary":"pump failed","created":"2026-02-14"}}`)
	add("causes", "after causes were put before effects", why, dated("cause", day(14), "pump failed at night"),
		typedEdge("causes", "cause", "b"))
	add("effect", "a neighbour that stands before it", why,
		dated("cause", "2026-02-10T12:00:00Z", "failed at night"), typedEdge("causes", "cause", "b"))
	add("mmr", "after diversification", why.with(func(q *request) { q.mmr = new(int64(20000)) }),
		dated("more", day(13), "the pump failed again"))
	add("named", "beside a node that is named", by2("late", asks("why")))
}

// randomBands is a request of ranking 2 of a random memory.
func (s *suite) randomBands(i int) {
	r := rng(uint64(i)*104729 + 11)
	q := randomRequest(&r)
	q.ranking = 2
	q.floor = []string{"", "rest", "answer", ""}[r.below(4)]
	q.intent = []string{"", "why", "when", "why", "general"}[r.below(5)]
	if r.below(3) == 0 {
		q.rewrites = []string{sentence(&r, 2), "also " + sentence(&r, 3)}
	}
	if r.below(2) == 0 {
		q.format = "brief"
	}
	if r.below(3) == 0 {
		q.fusion = []string{"rrf", "score-norm", "weighted-rrf"}[r.below(3)]
	}
	n := 12 + i*2
	memory := randomMemory(&r, n)
	for range n {
		memory[0] = append(memory[0], typedEdge([]string{"causes", "follows", "owns"}[r.below(3)],
			"n"+itoa(r.below(n)), "n"+itoa(r.below(n))))
	}
	if i%2 == 0 {
		q.vectors = map[string][]int8{"m": {int8(r.below(200) - 100), int8(r.below(99) + 1), 20}}
		for k := range n {
			memory[0] = append(memory[0], embedded("n"+itoa(k), "m",
				fmt.Sprintf("%d,%d,%d", r.below(9)-3, r.below(9), 1+r.below(9))))
		}
		memory[1] = nil
	}
	s.retrieval("11.9", "pack", fmt.Sprintf("second-random-%02d", i),
		"a random request of ranking 2", q, true, memory...)
}
