package main

import "fmt"

// judgements gives nodes of the harbour scores, by their keys.
func judgements(scores map[string]int64) map[string]int64 {
	out := map[string]int64{}
	for key, s := range scores {
		out[nodeIDOfKey(key)] = s
	}
	return out
}

func rerankCases(s *suite) {
	judged := func(text string, scores map[string]int64, edit func(q *request)) request {
		q := everything(text)
		q.rerank, q.reranked = "cohere:m", judgements(scores)
		if edit != nil {
			edit(&q)
		}
		return q
	}
	local := func(text string, edit func(q *request)) request {
		q := everything(text)
		q.rerank = "local"
		if edit != nil {
			edit(&q)
		}
		return q
	}
	top := func(n int64) func(q *request) { return func(q *request) { q.rerankTop = &n } }
	with := func(n int64) func(q *request) { return func(q *request) { q.expand = n } }
	turned := map[string]int64{"tide-table": 3, "alice": 900, "rule/1": 65536, "dock/north": 4}
	const tide = "tide harbour boats"
	for _, c := range []struct {
		clause, name, title string
		q                   request
	}{
		{"21", "one", "a window of one node", judged("accountant", turned, nil)},
		{"21", "one-local", "likewise", local(tide, top(1))},
		{"21", "nothing", "no node is found", local("zeppelin", nil)},
		{"21", "tiers", "nodes of tier 1 stay in front", judged("tide of `bob` and `kelp`", turned,
			with(2))},
		{"21", "tiers-local", "and take no part", local("tide of `bob` and `kelp`", nil)},
		{"21", "mmr", "diversity is by the new scores", judged(tide, turned, func(q *request) {
			q.mmr, q.expand = new(int64(40000)), 2
		})},
		{"21", "mmr-local", "here too", local(tide, func(q *request) { q.mmr = new(int64(40000)) })},
		{"21", "limit", "limit and budget come after", judged(tide, turned, func(q *request) {
			q.limit, q.budget = 2, 100
		})},
		{"21.2", "turned", "a model decides", judged(tide, turned, nil)},
		{"21.2", "expanded", "after expansion", judged(tide, turned, with(3))},
		{"21.2", "window", "within the window", judged(tide, turned, top(3))},
		{"21.2", "window-expanded", "which is that after expansion", judged(tide, turned,
			func(q *request) { q.rerankTop, q.expand = new(int64(4)), 3 })},
		{"21.2", "ties", "the order before decides among equal scores", judged(tide,
			map[string]int64{"alice": 7, "rule/1": 7, "tide-table": 7, "dock/north": 7, "bob": 7}, nil)},
		{"21.2", "negative", "negative scores", judged(tide, map[string]int64{"alice": -7,
			"rule/1": -70000, "tide-table": 0, "dock/north": 12}, nil)},
		{"21.2", "bounds", "the least and the greatest score", judged(tide, map[string]int64{
			"alice": -1 << 31, "rule/1": 1 << 31}, nil)},
		{"21.2", "low-elsewhere", "the least score is that of a node that was not found", judged(tide,
			map[string]int64{"alice": 5, "rule/2": -50}, nil)},
		{"21.2", "none", "no scores", judged(tide, nil, nil)},
		{"21.2", "others", "scores of other nodes only", judged(tide, map[string]int64{"rule/2": 9},
			nil)},
		{"21.2", "newest", "without a text", judged("", turned, nil)},
		{"21.2", "rrf", "sums of reciprocal ranks", judged(tide, turned, func(q *request) {
			q.fusion, q.expand = "rrf", 2
		})},
		{"21.1", "text", "words that stand together", local(tide, nil)},
		{"21.1", "expanded", "after expansion", local("who leads the harbour team", with(3))},
		{"21.1", "window", "within the window", local(tide, top(2))},
		{"21.1", "phrase", "a phrase", local("low tide of the harbour mouth", nil)},
		{"21.1", "reversed", "the other way round", local("tide low mouth harbour", nil)},
		{"21.1", "repeated", "a term twice", local("tide tide boats tide", nil)},
		{"21.1", "one-term", "one term has no pair", local("tide", nil)},
		{"21.1", "newest", "without a text nothing can be said", local("", nil)},
		{"21.1", "no-terms", "nor without terms", local("the of `alice` `bob`", func(q *request) {
			q.vectors = map[string][]int8{"m": {1, 1, 1}}
		})},
		{"21.1", "dense", "nodes that only a vector finds", local("tide boats", func(q *request) {
			q.vectors = map[string][]int8{"m": {1, 1, 1}}
		})},
		{"21.1", "weight-0", "also where the text lane does not run", local("tide boats",
			func(q *request) {
				q.vectors = map[string][]int8{"m": {1, 1, 1}}
				q.weights = map[string]int64{"text": 0}
			})},
	} {
		part := map[string]string{"21.1": "local-", "21.2": "model-"}[c.clause]
		s.retrieval(c.clause, "rerank", part+c.name, c.title, c.q, false, pier)
	}
	rerankTexts(s, local)
	rerankRefused(s)
	rerankReceipts(s)
	for i := range 16 {
		r := rng(uint64(i)*2654435 + 7)
		q := randomRequest(&r)
		q.types, q.where, q.rerankTop = nil, nil, new(int64(1+r.below(20)))
		q.rerank = "local"
		if i%2 == 0 {
			q.rerank, q.reranked = "voyage:m", map[string]int64{}
			for range r.below(30) {
				q.reranked[nodeIDOfKey("n"+itoa(r.below(20)))] = int64(r.below(1<<18)) - 1<<16
			}
		}
		s.retrieval("21", "rerank", fmt.Sprintf("random-%02d", i), "a random window", q, false,
			randomMemory(&r, 16+i*2)...)
	}
}

// rerankTexts are cases of distances and bounds of the local reranker.
func rerankTexts(s *suite, local func(string, func(*request)) request) {
	var lines batchText
	for i, text := range []string{"north dock", "dock north", "north x dock", "north " +
		rep("x ", 15) + "dock", "north " + rep("x ", 16) + "dock", "north", "dock dock north dock"} {
		lines = append(lines, fmt.Sprintf(
			`{"node":{"key":"d%d","type":"T","summary":"%s","context":"%s"}}`, i, text, rep("y ", 20-i)), fmt.Sprintf(
			`{"node":{"key":"e%d","type":"T","summary":"north","context":"dock","content":"%s"}}`, i, text))
	}
	s.retrieval("21.1", "rerank", "distances", "how far two words are from each other",
		local("the north dock", nil), false, lines)
	many := ""
	for i := range 300 {
		many += fmt.Sprintf("w%d ", i%40)
	}
	lines = nil
	for i := range 40 {
		lines = append(lines, fmt.Sprintf(
			`{"node":{"key":"w%d","type":"T","summary":"w%d w%d w%d"}}`, i, i, (i+1)%40, (i+31)%40))
	}
	s.retrieval("21.1", "rerank", "terms", "32 terms count", local(many, nil), false, lines)
	s.retrieval("21.1", "rerank", "sequence", "of the first 256", local(rep("w1 ", 255)+"w2 w3 w4",
		nil), false, lines)
	far := batchText{}
	for i, n := range []int{8191, 8192} {
		far = append(far, fmt.Sprintf(
			`{"node":{"key":"f%d","type":"T","summary":"north %d","content":"%s north dock"}}`, i, i,
			rep("é", n-11)))
	}
	s.retrieval("21.1", "rerank", "beyond", "8,192 scalars of a text count", local("north dock", nil),
		false, far)
	var all batchText
	for i := range 60 {
		all = append(all, fmt.Sprintf(`{"node":{"key":"n%d","type":"T","summary":"boat %s%s"}}`, i,
			rep("x ", i/3), []string{"tide", "boat tide", "tide boat"}[i%3]))
	}
	s.retrieval("21", "rerank", "default-50", "50 nodes by default", local("boat tide", nil), false,
		all)
}

func rerankRefused(s *suite) {
	bad := func(name, title string, in obj) {
		in["text"] = "tide"
		s.refuse("8.1", "rerank", "refuse-"+name, title, "request", obj{"author": "erin",
			"batches": []any{obj{"time": t0, "lines": harbour}}, "request": in})
	}
	id := uuid(nodeIDOfKey("alice"))
	many := obj{}
	for i := range 201 {
		many[uuid(nodeIDOfKey(itoa(i)))] = i
	}
	bad("top-0", "no node", obj{"rerank": "local", "rerankTop": 0})
	bad("top-201", "too many nodes", obj{"rerank": "local", "rerankTop": 201})
	bad("top-alone", "how many, but not by what", obj{"rerankTop": 9})
	bad("scores-alone", "scores of nobody", obj{"reranked": obj{id: 1}})
	bad("scores-local", "scores that are made here", obj{"rerank": "local", "reranked": obj{id: 1}})
	bad("scores-many", "201 scores", obj{"rerank": "m", "reranked": many})
	bad("score-high", "a score above 2^31", obj{"rerank": "m", "reranked": obj{id: 1<<31 + 1}})
	bad("score-low", "a score below -2^31", obj{"rerank": "m", "reranked": obj{id: -1<<31 - 1}})
	bad("long", "a name of 256 bytes", obj{"rerank": rep("m", 256)})
}

// rerankReceipts are receipts of requests with everything of clauses 21 and 22.
func rerankReceipts(s *suite) {
	full := everything("tide harbour boats")
	full.rerank, full.rerankTop = "jina:m", new(int64(9))
	full.reranked = judgements(map[string]int64{"tide-table": 3, "alice": -900, "rule/1": 65536})
	full.rewrites, full.rewrite = []string{"when is high water", "berth"}, "multi"
	failed := newRequest("tide boats")
	failed.rerank, failed.rerankTop, failed.rewrite = "jina:m", new(int64(50)), "hyde"
	for _, c := range []struct {
		clause, name, title string
		q                   request
	}{
		{"13.1", "receipt-full", "what models said", full},
		{"13.1", "receipt-failed", "models that said nothing", failed},
	} {
		st := built(harbour)
		commit := baseCommit(dict{"graph": recordCID(st.graphRecord()), "message": ""})
		rec := c.q.receipt(st, recordCID(commit), c.q.retrieve(st))
		s.add(c.clause, "receipt", "models-"+c.name, c.title, obj{"author": "erin",
			"batches": []any{obj{"time": t0, "lines": harbour}}, "request": c.q.input(),
			"commit": hx(encode(commit))}, obj{"receipt": recordCID(rec).String(),
			"json": jsonForm(rec), "replay": "identical"})
	}
}

func rewriteCases(s *suite) {
	also := func(text string, edit func(q *request), rewrites ...string) request {
		q := everything(text)
		q.rewrites = rewrites
		if edit != nil {
			edit(&q)
		}
		return q
	}
	with := func(n int64) func(q *request) { return func(q *request) { q.expand = n } }
	weigh := func(w map[string]int64) func(q *request) {
		return func(q *request) { q.weights = w }
	}
	fusion := func(way string) func(q *request) {
		return func(q *request) { q.fusion, q.expand = way, 2 }
	}
	for _, c := range []struct {
		clause, name, title string
		q                   request
	}{
		{"22", "one", "one rewrite", also("crane", nil, "berth arrival")},
		{"22", "two", "two share the weight", also("boats", nil, "berth arrival", "low tide")},
		{"22", "expanded", "they spread as a whole", also("boats", with(3), "berth arrival", "mechanic")},
		{"22", "alone", "only a rewrite finds anything", also("zeppelin", nil, "low tide")},
		{"22", "alone-expanded", "with expansion", also("zeppelin", with(2), "low tide")},
		{"22", "same", "a rewrite that is the text", also("low tide", with(2), "low tide")},
		{"22", "weighed", "a weight", also("boats", weigh(map[string]int64{"text:1": 131072}),
			"berth arrival")},
		{"22", "weight-0", "a weight of 0", also("boats", weigh(map[string]int64{"text:2": 0}),
			"berth arrival", "zeppelin")},
		{"22", "text-0", "the text has weight 0", also("boats", weigh(map[string]int64{"text": 0}),
			"berth arrival")},
		{"22", "rrf", "ranks", also("boats", fusion("rrf"), "berth arrival", "low tide")},
		{"22", "weighted-rrf", "weighted ranks", also("boats", fusion("weighted-rrf"), "berth arrival")},
		{"22", "score-norm", "places", also("boats", fusion("score-norm"), "berth arrival", "low tide")},
		{"22", "vectors", "beside vectors", also("boats", func(q *request) {
			q.vectors, q.expand = map[string][]int8{"m": {127, 63, 0}}, 2
		}, "berth arrival")},
		{"22", "filters", "filters", also("boats", func(q *request) { q.types = []string{"Rule"} },
			"berth arrival", "low tide")},
		{"22", "names", "rewrites name nothing", also("boats", with(2), "alice", "`kelp`")},
		{"22", "local", "nor does the local reranker look at them", also("boats", func(q *request) {
			q.rerank = "local"
		}, "low tide of the harbour")},
		{"11.1", "not-rewritten", "there are none", also("boats", func(q *request) {
			q.rewrite = "multi"
		})},
		{"11.1", "made", "there are some", also("boats", func(q *request) {
			q.rewrite = "hyde"
		}, "tide")},
		{"11.1", "in-vain", "some find nothing", also("boats", nil, "of the", "zeppelin", "tide", "?")},
		{"11.1", "no-terms", "the text has no terms", also("of the", nil, "tide")},
	} {
		s.retrieval(c.clause, "rewrite", c.name, c.title, c.q, false, pier)
	}
	bad := func(name, title, text string, in obj) {
		in["text"] = text
		s.refuse("8.1", "rewrite", "refuse-"+name, title, "request", obj{"author": "erin",
			"batches": []any{obj{"time": t0, "lines": harbour}}, "request": in})
	}
	list := func(texts ...string) obj { return obj{"rewrites": texts} }
	bad("nine", "nine", "tide", list("a", "b", "c", "d", "e", "f", "g", "h", "i"))
	bad("long", "8,193 bytes", "tide", list(rep("a", 8193)))
	bad("blank", "a blank one", "tide", list("a", " \t\r\n"))
	bad("twice", "two equal ones", "tide", list("a", "a"))
	bad("way", "another way", "tide", obj{"rewrite": "step-back"})
	bad("no-text", "a blank text", " ", list("a"))
	bad("no-text-way", "a blank text", "", obj{"rewrite": "multi"})
	bad("weight", "a weight of a rewrite that is not there", "tide", obj{"rewrites": []string{"a"},
		"weights": obj{"text:2": 1}})
	bad("weight-name", "a name with a zero in front", "tide", obj{"rewrites": []string{"a"},
		"weights": obj{"text:01": 1}})
}
