package main

// answer is everything that a retrieval produces.
type answer struct {
	order      []hit // all candidates in order
	walk       []hit // those to be packed, in order
	bands      map[string]string
	candidates int
	silent     int             // sources that did not lend
	cut        map[string]bool // nodes that links_cut counts
	linked     bool            // whether expansion followed a link
	digests    []shownDigest
	items      []item
	dropped    int64
	twins      [][2]string // of the dropped: the node and the item that it repeats
	tokens     int64
	warnings   []any
	ungrouped  bool // communities did nothing
	shortened  bool // a text was trimmed to another one by clause 11.6 with "auto"
	paired     bool // a node was examined since it contradicts an item
	summary    []quote
	signals    map[string]*signals // of a recall, by node
	weights    signals
}

// item is one packed node.
type item struct {
	hit
	tokens   int64
	rendered string
	band     string // empty in ranking 1
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
	beside := q.besides(st, &a)
	a.candidates = len(a.order)
	a.walk = a.order
	if q.second() {
		a.bands = q.banded(st, c, lanes, &a, beside)
		a.walk = q.above(a.order, a.bands)
		a.walk, q.outdated = q.renewed(st, c, &a)
	}
	a.walk = q.fromAbove(st, c, &a)
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
	p := &packing{request: q, st: st, a: a, done: map[string]bool{}}
	for i, h := range a.walk {
		if i == 1000 || p.full() {
			break
		}
		band := a.bands[h.id]
		for packed := !p.done[h.id] && p.take(h, band); packed && !p.full(); {
			h = p.opposite(h.id)
			packed = h.id != "" && p.take(h, band)
		}
	}
	a.items = q.arranged(st, a.items)
	return p.smallest
}

// packing is a walk over the candidates.
type packing struct {
	request
	st       *store
	a        *answer
	done     map[string]bool // the nodes that were examined
	smallest int64
}

func (p *packing) full() bool { return p.limit > 0 && int64(len(p.a.items)) == p.limit }

// take packs or drops a node.
func (p *packing) take(h hit, band string) (packed bool) {
	p.done[h.id] = true
	if p.onlyName(p.st, h, p.a) {
		return false
	}
	p.later = len(p.a.items) > 0
	r := p.render(p.st, h.id)
	p.a.shortened = p.a.shortened || p.auto() && p.cuts(p.st, p.st.nodes[h.id])
	t := tokensOf(r)
	for _, it := range p.a.items {
		if p.dedup && p.st.repeats(h.id, it.id) {
			p.a.dropped++
			p.a.twins = append(p.a.twins, [2]string{h.id, it.id})
			return false
		}
	}
	if p.budget > 0 && p.a.tokens+t > p.budget {
		if p.a.dropped++; p.smallest == 0 || t < p.smallest {
			p.smallest = t
		}
		return false
	}
	p.a.tokens += t
	p.a.items = append(p.a.items, item{hit: h, tokens: t, rendered: r, band: band})
	return true
}

// opposite is clause 11.8: the node that follows the item id, as a hit, the zero hit for none.
func (p *packing) opposite(id string) hit {
	mark := p.st.marks["n"+id]
	if p.pairs == "off" || text(mark, "state") != "contradicted" {
		return hit{}
	}
	by, ok := mark["by"].([]byte)
	if !ok || p.done[string(by)] || p.st.nodes[string(by)] == nil || !p.passes(p.st, string(by)) {
		return hit{}
	}
	p.a.paired = true
	for _, h := range p.a.order {
		if h.id == string(by) {
			return h
		}
	}
	p.a.candidates++
	return hit{id: string(by)}
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
		passing = passing || c.score(id, query)+c.more(id, q.kin(st, c)) > 0 && q.passes(st, id)
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
	asked := q.record()
	if a.paired {
		asked["pairs"] = "on"
	}
	if a.shortened {
		asked["pack"], asked["passageTokens"] = "auto", q.mostTokens()
	}
	rec := dict{"kind": "receipt", "v": 1, "commits": []any{commit}, "request": asked,
		"items": items, "tokens": a.tokens, "dropped": a.dropped, "candidates": a.candidates,
		"warnings": warnings,
		"engine":   dict{"analyser": 1, "language": "en", "ranking": max(1, q.ranking)}}
	if q.summarize > 0 {
		rec["summary"] = []byte(cidOf(codecRaw, []byte(shownSummary(a.summary)))[4:])
	}
	return rec
}
