package main

import "sort"

// exploring is a request of clause 25.5.
type exploring struct {
	topic            string
	keyword          bool
	depth, beam      int
	edgeTypes, types []string
	marks            []string
}

// come is a node that a search came to.
type come struct {
	id    string
	score int64
	hops  int
	from  *come
	edge  string
	out   bool
}

type wanderer struct {
	x    exploring
	q    request
	st   *store
	kept []*come
}

func (w *wanderer) terms(id string) map[string]bool {
	set := map[string]bool{}
	for _, f := range []string{"summary", "context"} {
		rs := []rune(text(w.st.nodes[id], f))
		for _, t := range analyse(string(rs[:min(len(rs), 8192)]), "en") {
			set[t] = true
		}
	}
	return set
}

func (w *wanderer) begin() []*come {
	var out []*come
	if w.x.keyword {
		key := keyOfName(w.x.topic)
		for _, k := range []string{"tag/" + key, "entity/" + key, w.x.topic} {
			id := nodeIDOfKey(k)
			if w.st.nodes[id] != nil && !w.q.hides(w.st, "n"+id) {
				out = append(out, &come{id: id})
			}
		}
		return out
	}
	q := w.q
	q.text, q.types, q.limit, q.budget, q.expand = w.x.topic, w.x.types, int64(3*w.x.beam), 0, 0
	top := int64(1)
	items := q.retrieve(w.st).items
	for _, it := range items {
		top = max(top, it.score)
	}
	for _, it := range items {
		c := &come{id: it.id, score: logQ16(uint64(max(1, it.score))) - logQ16(uint64(top))}
		if it.tier > 0 {
			c.score = 0
		}
		out = append(out, c)
	}
	return out
}

// keep is step 2.
func (w *wanderer) keep(list []*come) []*come {
	sort.Slice(list, func(i, j int) bool {
		a, b := list[i], list[j]
		return a.score > b.score || a.score == b.score && a.id < b.id
	})
	list = list[:min(len(list), 100)]
	var beam []*come
	for len(beam) < min(w.x.beam, len(list)) {
		var best *come
		most := int64(0)
	next:
		for _, c := range list {
			near := int64(0)
			for _, k := range append(append([]*come{}, w.kept...), beam...) {
				if k == c {
					continue next
				}
				near = max(near, similarity(w.terms(c.id), w.terms(k.id)))
			}
			v := 45875*max(0, one-(list[0].score-c.score)/4) - (one-45875)*near
			if best == nil || v > most {
				best, most = c, v
			}
		}
		beam = append(beam, best)
	}
	w.kept = append(w.kept, beam...)
	return beam
}

// hop is step 3.
func (w *wanderer) hop(beam []*come) []*come {
	best := map[string]*come{}
	var order []string
	topic := map[string]bool{}
	for _, t := range analyse(w.x.topic, "en") {
		topic[t] = true
	}
	types := w.x.edgeTypes
	if len(types) == 0 {
		types = []string{""}
	}
	for _, from := range beam {
		for side := range 2 {
			for _, typ := range types {
				var keys []string
				for _, k := range w.st.bucket(side, from.id) {
					if typ == "" || text(w.st.edges[k[len(k)-16:]], "type") == typ {
						keys = append(keys, k)
					}
				}
				for _, k := range keys[:min(len(keys), 128)] {
					c := w.step(from, k, int64(len(keys)), topic)
					if c == nil {
						continue
					}
					c.out = side == 0
					if best[c.id] == nil {
						order = append(order, c.id)
					}
					if best[c.id] == nil || c.score > best[c.id].score {
						best[c.id] = c
					}
				}
			}
		}
	}
	var out []*come
	for _, id := range order {
		out = append(out, best[id])
	}
	return out
}

func (w *wanderer) step(from *come, key string, degree int64, topic map[string]bool) *come {
	edge, far := key[len(key)-16:], key[len(key)-32:len(key)-16]
	typ := text(w.st.nodes[far], "type")
	if w.q.hides(w.st, "e"+edge) || w.q.hides(w.st, "n"+far) ||
		len(w.x.types) > 0 && !has(w.x.types, typ) {
		return nil
	}
	for _, k := range w.kept {
		if k.id == far {
			return nil
		}
	}
	share := int64(0)
	if len(topic) > 0 {
		both := int64(0)
		for t := range w.terms(far) {
			if topic[t] {
				both++
			}
		}
		share = one * both / int64(len(topic))
	}
	score := from.score - 15366 + logQ16(uint64(number(w.st.edges[edge], "weight"))) - 16*one -
		logQ16(uint64(degree))/2 + logQ16(uint64(one+share)) - 17*one
	if has([]string{"near", "follows"}, text(w.st.edges[edge], "type")) {
		score -= 2 * one
	}
	return &come{id: far, score: score, hops: from.hops + 1, from: from, edge: edge}
}

// explore returns what is expected.
func (x exploring) explore(st *store) obj {
	w := &wanderer{x: x, q: newRequest(""), st: st}
	w.q.marks = x.marks
	list := w.begin()
	for hop := 0; len(list) > 0; hop++ {
		beam := w.keep(list)
		if hop == x.depth {
			break
		}
		list = w.hop(beam)
	}
	sort.Slice(w.kept, func(i, j int) bool {
		a, b := w.kept[i], w.kept[j]
		if a.score != b.score {
			return a.score > b.score
		}
		return a.hops < b.hops || a.hops == b.hops && a.id < b.id
	})
	nodes := []any{}
	for _, c := range w.kept {
		path := []any{}
		for at := c; at.from != nil; at = at.from {
			path = append([]any{obj{"edge": uuid(at.edge), "to": uuid(at.id), "forward": at.out}}, path...)
		}
		nodes = append(nodes, obj{"id": uuid(c.id), "score": c.score, "hops": c.hops, "path": path})
	}
	return obj{"nodes": nodes}
}

func (s *suite) exploring(name, title string, x exploring, lines ...string) {
	in := obj{"author": "erin", "batches": []any{obj{"time": t0, "lines": lines}},
		"explore": obj{"topic": x.topic, "keyword": x.keyword, "depth": x.depth, "beam": x.beam,
			"edgeTypes": x.edgeTypes, "types": x.types, "marks": x.marks}}
	s.add("25.5", "explore", name, title, in, x.explore(built(lines)))
}

func exploreCases(s *suite) {
	note := func(key, typ, summary string) string {
		return `{"node":{"key":"` + key + `","type":"` + typ + `","summary":"` + summary + `"}}`
	}
	edge := func(typ, src, dst, more string) string {
		return `{"edge":{"type":"` + typ + `","src":"` + src + `","dst":"` + dst + `"` + more + `}}`
	}
	mole := batchText{note("m1", "fact", "The mole at the harbour leaks."),
		note("m2", "fact", "The mole leaks because the storm broke the harbour wall."),
		note("m3", "event", "A storm came in spring."), note("m4", "decision", "Close the ferry line."),
		note("m5", "fact", "The ferry runs at noon."), note("m6", "fact", "Anglers like the mole at noon."),
		note("entity/mole", "Entity", "mole"), note("tag/harbour", "Tag", "harbour"),
		edge("causes", "m3", "m2", ""), edge("causes", "m2", "m1", `,"weight":0.5`),
		edge("near", "m2", "m1", `,"weight":0.25`), edge("causes", "m1", "m4", ""),
		edge("mentions", "m1", "entity/mole", ""), edge("mentions", "m2", "entity/mole", ""),
		edge("mentions", "m6", "entity/mole", ""), edge("tagged", "m1", "tag/harbour", ""),
		edge("tagged", "m5", "tag/harbour", ""), edge("about", "m4", "m5", `,"weight":0.125`),
		edge("near", "m6", "m6", ""), edge("causes", "m4", "m1", `,"weight":0.9`)}
	forgotten := append(mole[:len(mole):len(mole)], `{"mark":{"node":"m1","state":"forgotten"}}`)
	for _, c := range []struct {
		name, title string
		x           exploring
		lines       batchText
	}{
		{"topic", "from the items of an answer", exploring{topic: "mole", depth: 3, beam: 4}, mole},
		{"narrow", "one node a hop", exploring{topic: "storm harbour", depth: 4, beam: 1}, mole},
		{"wide", "every node", exploring{topic: "ferry noon", depth: 8, beam: 64}, mole},
		{"keyword", "from a tag and an entity", exploring{topic: " Harbour", keyword: true, depth: 3, beam: 3}, mole},
		{"key", "from a key", exploring{topic: "m3", keyword: true, depth: 2, beam: 2}, mole},
		{"edge-types", "some types of edges", exploring{topic: "mole", depth: 3, beam: 2,
			edgeTypes: []string{"causes", "tagged"}}, mole},
		{"time", "edges of time alone", exploring{topic: "m1", keyword: true, depth: 2, beam: 2,
			edgeTypes: []string{"near", "follows"}}, mole},
		{"types", "some types of nodes", exploring{topic: "mole", depth: 3, beam: 4,
			types: []string{"decision", "fact"}}, mole},
		{"hidden", "no way through what is hidden", exploring{topic: "storm", depth: 4, beam: 4}, forgotten},
		{"marks", "but where it is let through", exploring{topic: "storm", depth: 4, beam: 4,
			marks: []string{"forgotten"}}, forgotten},
		{"stop-words", "a topic without terms", exploring{topic: "entity/mole", keyword: true, depth: 1, beam: 9}, mole},
		{"nothing", "nothing fits", exploring{topic: "zebra", depth: 3, beam: 4}, mole},
	} {
		s.exploring(c.name, c.title, c.x, c.lines...)
	}
	hub := batchText{note("hub", "Entity", "hub")}
	for i := range 140 {
		k := "h" + itoa(i)
		hub = append(hub, note(k, "fact", "word"+itoa(i%7)+" hub"+itoa(i%3)), edge("mentions", k, "hub", ""))
	}
	s.exploring("hub", "128 edges of a node are followed",
		exploring{topic: "hub", keyword: true, depth: 1, beam: 64}, hub...)
}
