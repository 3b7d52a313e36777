package main

// answer is everything that a retrieval produces.
type answer struct {
	order      []hit // all candidates in order
	candidates int
	silent     int             // sources that did not lend
	cut        map[string]bool // nodes that links_cut counts
	linked     bool            // whether expansion followed a link
	items      []item
	dropped    int64
	twins      [][2]string // of the dropped: the node and the item that it repeats
	tokens     int64
	warnings   []any
	ungrouped  bool // communities did nothing
	summary    []quote
	signals    map[string]*signals // of a recall, by node
	weights    signals
}

// item is one packed node.
type item struct {
	hit
	tokens   int64
	rendered string
}

// retrieve answers the request from the graph.
func (q request) retrieve(st *store) answer {
	q = q.settled()
	c := st.collect()
	tiers := q.tiers(st)
	lanes := q.rankings(st, c)
	var a answer
	if q.expand > 0 && !q.blank() && !q.timeAlone() {
		a.order = q.expanded(st, c, lanes, tiers, &a)
	} else {
		list := q.fused(lanes)
		if len(lanes) == 1 {
			list = lanes[0].scores
		}
		for id, s := range list {
			a.order = append(a.order, hit{id: id, tier: tiers[id], score: s})
		}
		for id, t := range tiers {
			if _, listed := list[id]; !listed {
				a.order = append(a.order, hit{id: id, tier: t})
			}
		}
	}
	q.raised(st, a.order)
	sortHits(a.order)
	q.group(st, &a)
	a.order = q.recalls(st, c, lanes, a.order, &a)
	idle := q.reranks(st, c, a.order)
	a.order = q.diversified(st, a.order)
	q.causesFirst(st, lanes, a.order, &a)
	a.candidates = len(a.order)
	smallest := q.pack(st, &a)
	a.summary = q.summary(st, a.items)
	q.warn(st, c, &a, len(tiers) > 0, smallest)
	q.modelWarnings(st, c, &a, idle)
	q.timeWarnings(st, &a)
	q.idleWarnings(st, c, &a)
	q.laneWarnings(st, c, &a)
	q.feedbackWarning(st, c, &a)
	q.knownWarning(st, c, tiers, lanes, &a)
	return a
}

// pack is clause 11; it returns the least tokens of a dropped node.
func (q request) pack(st *store, a *answer) int64 {
	smallest := int64(0)
walk:
	for i, h := range a.order {
		if i == 1000 || q.limit > 0 && int64(len(a.items)) == q.limit {
			break
		}
		if q.onlyName(st, h, a) {
			continue
		}
		r := q.render(st, h.id)
		t := tokensOf(r)
		for _, it := range a.items {
			if q.dedup && st.repeats(h.id, it.id) {
				a.dropped++
				a.twins = append(a.twins, [2]string{h.id, it.id})
				continue walk
			}
		}
		if q.budget > 0 && a.tokens+t > q.budget {
			if a.dropped++; smallest == 0 || t < smallest {
				smallest = t
			}
			continue
		}
		a.tokens += t
		a.items = append(a.items, item{hit: h, tokens: t, rendered: r})
	}
	a.items = q.arranged(st, a.items)
	return smallest
}

func tokensOf(s string) int64 {
	ascii, other := int64(0), int64(0)
	for _, r := range s {
		if r < 0x80 {
			ascii++
		} else {
			other++
		}
	}
	return (ascii+3)/4 + (2*other+2)/3
}

func (q request) warn(st *store, c collection, a *answer, exact bool, smallest int64) {
	query := q.terms(st, c)
	if !q.runsText() {
		query = nil
	}
	if q.runsText() && len(query) == 0 && !exact {
		a.warnings = append(a.warnings, dict{"code": "no_terms"})
	}
	known, passing := false, false
	for _, term := range query {
		as, _ := reads(term)
		known = known || c.df[as] > 0
	}
	for id := range st.nodes {
		passing = passing || c.score(id, query) > 0 && q.passes(st, id)
	}
	if (known && !passing || q.blocked(st, c)) && !exact {
		a.warnings = append(a.warnings, dict{"code": "nothing_passes"})
	}
	if len(a.items) == 0 && a.dropped > 0 {
		a.warnings = append(a.warnings, dict{"code": "budget_too_small",
			"params": dict{"smallest": smallest}})
	}
	if a.silent > 0 {
		a.warnings = append(a.warnings, dict{"code": "expansion_truncated",
			"params": dict{"sources": a.silent}})
	}
	if len(a.cut) > 0 {
		a.warnings = append(a.warnings, dict{"code": "links_cut",
			"params": dict{"nodes": len(a.cut)}})
	}
	asked := q.expand > 0 && (q.expansion != "lend" || len(q.expandTypes) > 0)
	if asked && a.candidates > 0 && !a.linked && len(a.cut) == 0 {
		a.warnings = append(a.warnings, dict{"code": "nothing_linked"})
	}
	if q.unseenFrom > 0 {
		a.warnings = append(a.warnings, dict{"code": "unseen_cut",
			"params": dict{"from": q.unseenFrom}})
	}
	q.denseWarnings(st, a)
	q.spellingWarnings(st, c, a)
	q.edgeWarning(a)
	if q.community && a.ungrouped {
		a.warnings = append(a.warnings, dict{"code": "no_community"})
	}
	if q.summarize > 0 && len(a.items) > 0 && len(a.summary) == 0 {
		a.warnings = append(a.warnings, dict{"code": "no_summary"})
	}
}

// receipt is the record of clause 13.1.
func (q request) receipt(st *store, commit link, a answer) dict {
	items := []any{}
	for _, it := range a.items {
		rendered := cidOf(codecRaw, []byte(it.rendered))
		items = append(items, dict{"id": []byte(it.id), "node": recordCID(st.nodes[it.id]),
			"score": it.score, "tokens": it.tokens, "rendered": []byte(rendered[4:])})
	}
	warnings := a.warnings
	if warnings == nil {
		warnings = []any{}
	}
	rec := dict{"kind": "receipt", "v": 1, "commits": []any{commit}, "request": q.record(),
		"items": items, "tokens": a.tokens, "dropped": a.dropped, "candidates": a.candidates,
		"warnings": warnings,
		"engine":   dict{"analyser": 1, "language": "en", "ranking": 1}}
	if q.summarize > 0 {
		rec["summary"] = []byte(cidOf(codecRaw, []byte(shownSummary(a.summary)))[4:])
	}
	return rec
}
