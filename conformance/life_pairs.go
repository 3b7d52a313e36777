package main

import (
	"slices"
	"sort"
)

// rarestWords are the words of a summary that its likes are looked for with: clause 28.3.
func rarestWords(c collection, summary string) string {
	type counted struct {
		word string
		df   int64
	}
	var list []counted
	seen := map[string]bool{}
	for _, w := range wordsOf(summary) {
		terms := languageTerm(w.text, "en")
		if isBigram(pointsOf(w.text)[0].class) {
			terms = []string{w.text}
		}
		if len(terms) != 1 || seen[terms[0]] {
			continue
		}
		seen[terms[0]] = true
		if df := c.df[terms[0]]; df > 0 {
			list = append(list, counted{w.text, df})
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].df < list[j].df })
	out, have := "", int64(0)
	for i, w := range list {
		if have += w.df; i == 24 || i >= 4 && have > 2048 {
			break
		}
		out += w.word + " "
	}
	return out
}

// twosome is a pair of memories, by ids, the first the smaller.
type twosome [2]string

// alike finds the pairs of memories that say the same, and that oppose each other.
func (t *tidy) alike() (same, oppose []twosome) {
	c := t.st.collect()
	memories := t.memories()
	sort.Strings(memories)
	found := map[twosome]bool{}
	for _, id := range memories {
		node := t.st.nodes[id]
		query := rarestWords(c, text(node, "summary"))
		if t.hides[id] || query == "" {
			continue
		}
		q := newRequest(query)
		q.spelling = "off"
		var like []hit
		for _, other := range memories {
			score := c.score(other, q.terms(t.st, c))
			if score > 0 && other != id && !t.hides[other] && t.comparable(twosome{id, other}) {
				like = append(like, hit{id: other, score: score})
			}
		}
		sortHits(like)
		for _, it := range like[:min(len(like), 8)] {
			pair := twosome{min(id, it.id), max(id, it.id)}
			if found[pair] || !t.agree(pair) {
				continue
			}
			a, b := t.st.nodes[pair[0]], t.st.nodes[pair[1]]
			alike, differs := likeness(text(a, "summary"), text(b, "summary"))
			switch {
			case len(differs) == 0 && alike >= 58983:
				same, found[pair] = append(same, pair), true
			case alike >= 32768 && opposing(differs):
				oppose, found[pair] = append(oppose, pair), true
			}
		}
	}
	for _, list := range [][]twosome{same, oppose} {
		slices.SortFunc(list, func(p, o twosome) int { return slices.Compare(p[:], o[:]) })
	}
	return same, oppose
}

// comparable reports whether a pair is of one type and time.
func (t *tidy) comparable(p twosome) bool {
	a, b := t.st.nodes[p[0]], t.st.nodes[p[1]]
	for _, field := range []string{"type", "validFrom", "validTo"} {
		if a[field] != b[field] {
			return false
		}
	}
	return true
}

// agree reports whether a pair is of one subject.
func (t *tidy) agree(p twosome) bool {
	var about [2]map[string]bool
	for i, id := range p {
		about[i] = map[string]bool{}
		for _, e := range t.st.edges {
			if text(e, "type") == "about" && text(e, "src") == id {
				about[i][text(e, "dst")] = true
			}
		}
	}
	for far := range about[0] {
		if !about[1][far] {
			return false
		}
	}
	return len(about[0]) == len(about[1])
}

func opposing(differs [][3]string) bool {
	negations, numbers, units := 0, 0, 0
	for _, d := range differs {
		switch {
		case d[0] == "negation":
			negations++
		case d[0] == "number" && d[1] != "" && d[2] != "":
			numbers++
		case d[0] == "unit":
			units++
		}
	}
	n := len(differs)
	return n > 0 && negations == n || numbers == 1 && numbers+units == n
}

func (t *tidy) duplicates(same []twosome) {
	partners := map[string][]string{}
	var order []string
	for _, p := range same {
		for i, id := range p {
			if partners[id] == nil {
				order = append(order, id)
			}
			partners[id] = append(partners[id], p[1-i])
		}
	}
	first := func(list []string) {
		slices.SortFunc(list, func(a, b string) int {
			x, y := t.st.nodes[a], t.st.nodes[b]
			return slices.Compare([]int64{-stated(x), number(x, "created")},
				[]int64{-stated(y), number(y, "created")})*2 + slices.Compare([]byte(a), []byte(b))
		})
	}
	first(order)
	grouped := map[string]bool{}
	var groups [][]string
	for _, id := range order {
		if grouped[id] {
			continue
		}
		var rest []string
		for _, other := range partners[id] {
			if !grouped[other] {
				rest = append(rest, other)
			}
		}
		if len(rest) == 0 {
			continue
		}
		first(rest)
		group := append([]string{id}, rest...)
		for _, other := range group {
			grouped[other] = true
		}
		groups = append(groups, group)
	}
	slices.SortFunc(groups, func(a, b []string) int { return slices.Compare(a[:1], b[:1]) })
	for _, group := range groups {
		if t.add(proposal{kind: "duplicate", nodes: group}, true) {
			delete(t.hides, group[0])
		}
	}
}

func (t *tidy) contradictions(oppose []twosome) {
	against := map[string]bool{}
	by := func(id string) string {
		if m := t.st.counted(id); text(m, "state") == "contradicted" {
			return text(m, "by") + "."
		}
		return ""
	}
	for _, p := range oppose {
		for _, id := range p {
			against[id] = against[id] || by(id) != ""
		}
	}
	for _, p := range oppose {
		a, b := p[0], p[1]
		if by(a) == b+"." || by(b) == a+"." || t.hides[a] || t.hides[b] || against[a] && against[b] {
			continue
		}
		if t.add(proposal{kind: "contradiction", nodes: p[:]}, false) {
			against[a], against[b] = true, true
		}
	}
}

// likeCases are of duplicates and contradictions.
func likeCases(s *suite) {
	fact := func(text, rest string) string {
		return `{"node":{"type":"fact","summary":"` + text + `"` + rest + `}}`
	}
	base := batchText{
		fact("The ledger is backed up every night at two", ``),
		fact("The ledger is backed up every night at 2", `,"props":{"importance":5}`),
		fact("the ledger is backed up every night at two!", `,"props":{"importance":1}`),
		fact("Visitors are allowed in the lab on Friday", ``),
		fact("Visitors are not allowed in the lab on Friday", ``),
		fact("The queue holds 500 messages", ``), fact("The queue holds 800 messages", ``),
		fact("The queue holds 900 messages", `,"validTo":"2027-01-01"`),
		fact("Server alpha runs PostgreSQL", ``), fact("Server beta runs PostgreSQL", ``),
		fact("数据库每天备份", ``), fact("数据库不每天备份", ``),
		`{"node":{"type":"task","summary":"Visitors are allowed in the lab on Friday"}}`,
		fact("It is owned by the platform team", ``), fact("It is owned by the platform team!", ``),
		`{"node":{"key":"svc","type":"Service","summary":"svc"}}`,
	}
	id := func(i int) string { return uuid(lineID(base[i])) }
	about := batchText{`{"edge":{"type":"about","src":"` + id(13) + `","dst":"svc"}}`}
	known := batchText{
		`{"mark":{"node":"` + id(3) + `","state":"contradicted","by":"` + id(4) + `"}}`,
		`{"mark":{"node":"` + id(2) + `","state":"forgotten"}}`}
	for i, more := range [][]batchText{{}, {about}, {about, known}} {
		batches := append([]batchText{base}, more...)
		st := built(batches...)
		list := []any{}
		for _, p := range st.proposals(t0, 0, true) {
			if p.kind == "duplicate" || p.kind == "contradiction" {
				list = append(list, obj{"kind": p.kind, "id": p.id(st), "nodes": uuids(p.nodes)})
			}
		}
		s.add("28.3", "proposal", "like-"+itoa(i), "what says the same, and what opposes",
			obj{"author": "erin", "batches": batchList(batches...), "now": t0, "cap": 0,
				"kinds": []string{"duplicate", "contradiction"}}, obj{"proposals": list})
	}
}
