package main

import (
	"fmt"
	"strings"
)

// mergeCommit is one commit of a merge case: lines upon its parent, or the merge of two.
type mergeCommit struct {
	parents []int
	lines   batchText
}

// history makes the stores of commits, and their form in a vector.
func (s *suite) history(name string, history []mergeCommit) (*commits, []any) {
	c := &commits{}
	list := []any{}
	for i, m := range history {
		when := t0 + int64(i)*1_000_000
		st := newStore()
		switch len(m.parents) {
		case 1:
			st = c.stores[m.parents[0]]
		case 2:
			a, b := m.parents[0], m.parents[1]
			both := &commits{stores: c.stores, parents: c.parents}
			u := merge(both.base(a, b), c.stores[a], c.stores[b], false)
			if len(u.conflicts) > 0 && s.err == nil {
				s.err = fmt.Errorf("merge/%s: commit %d conflicts: %v", name, i, u.conflicts)
			}
			st = u.partial()
		}
		next, _, err := st.apply(m.lines, "erin", when)
		if err != nil {
			s.err = fmt.Errorf("merge/%s: commit %d: %w", name, i, err)
			next = st
		}
		c.stores = append(c.stores, next)
		c.parents = append(c.parents, m.parents)
		entry := obj{"time": when}
		if len(m.lines) > 0 {
			entry["lines"] = m.lines
		}
		if len(m.parents) > 0 {
			entry["parents"] = m.parents
		}
		list = append(list, entry)
	}
	return c, list
}

// mergeCase adds the merge of the last commit into the one before it.
func (s *suite) mergeCase(clause, name, title string, history ...mergeCommit) {
	c, list := s.history(name, history)
	ours, theirs := len(history)-2, len(history)-1
	u := merge(c.base(ours, theirs), c.stores[ours], c.stores[theirs], false)
	s.add(clause, "merge", name, title, obj{"author": "erin", "commits": list}, u.expect())
}

// verbCase adds a revert or cherry-pick of commit to, or of all after commit from up to it where
// from is not below 0, onto the last commit.
func (s *suite) verbCase(verb, name, title string, from, to int, history ...mergeCommit) {
	c, list := s.history(name, history)
	in := obj{"author": "erin", "commits": list, "verb": verb, "to": to}
	before := newStore()
	if len(c.parents[to]) > 0 {
		before = c.stores[c.parents[to][0]]
	}
	if from >= 0 {
		in["from"] = from
		before = c.stores[from]
	}
	base, theirs := c.stores[to], before
	if verb == "cherry-pick" {
		base, theirs = before, c.stores[to]
	}
	u := merge(base, c.stores[len(c.stores)-1], theirs, false)
	s.add("14.7", "merge", name, title, in, u.expect())
}

// expect returns the result of a merge.
func (u *union) expect() obj {
	e := obj{"dropped": u.dropped}
	if len(u.conflicts) == 0 {
		for k, v := range u.partial().result() {
			e[k] = v
		}
		return e
	}
	e["conflicts"] = u.conflictList()
	e["partial"] = recordCID(u.partial().graphRecord()).String()
	for _, t := range []take{"ours", "theirs", "base"} {
		done := u.resolved(t).result()
		delete(done, "records")
		e["taking-"+string(t)] = done
	}
	return e
}

// three is a merge of two commits upon one.
func (s *suite) three(clause, name, title string, base, ours, theirs batchText) {
	s.mergeCase(clause, name, title, mergeCommit{lines: base},
		mergeCommit{[]int{0}, ours}, mergeCommit{[]int{0}, theirs})
}

// truth are the rows of clause 14.6: 0 is absent, 1 to 3 are A to C.
var truth = [][3]int{
	{0, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 1, 1}, {0, 1, 2},
	{1, 1, 1}, {1, 0, 1}, {1, 1, 0}, {1, 0, 0}, {1, 2, 1}, {1, 1, 2}, {1, 2, 2}, {1, 2, 3},
	{1, 0, 2}, {1, 2, 0},
}

// truthSort says how one sort of thing is set to a value and removed; before is there always.
type truthSort struct {
	name, title string
	before      batchText
	set         func(v int) string
	remove      string
}

func truthSorts() []truthSort {
	x := `{"node":{"key":"x","type":"T"}}`
	edge := `"type":"e","src":"x","dst":"y"`
	ends := batchText{x, `{"node":{"key":"y","type":"T"}}`}
	letter := func(v int) string { return string(rune('@' + v)) }
	return []truthSort{
		{"node", "a node", batchText{x}, func(v int) string {
			return `{"node":{"key":"n","type":"T","summary":"` + letter(v) + `"}}`
		}, `{"remove":{"node":"n"}}`},
		{"field", "a field", batchText{x}, func(v int) string {
			return `{"node":{"key":"x","summary":"` + letter(v) + `"}}`
		}, `{"node":{"key":"x","unset":["summary"]}}`},
		{"property", "a property", batchText{x}, func(v int) string {
			return `{"node":{"key":"x","props":{"p":"` + letter(v) + `"}}}`
		}, `{"node":{"key":"x","unset":["props.p"]}}`},
		{"edge", "an edge", ends, func(v int) string {
			return `{"edge":{` + edge + `,"weight":0.` + itoa(v) + `}}`
		}, `{"remove":{"edge":{` + edge + `}}}`},
		{"mark", "a mark", batchText{x}, func(v int) string {
			return `{"mark":{"node":"x","state":"` + []string{"", "stale", "retired", "expired"}[v] + `"}}`
		}, `{"remove":{"mark":{"node":"x"}}}`},
	}
}

// truthName is a row in letters, – as 0.
func truthName(row [3]int) string {
	var b strings.Builder
	for _, v := range row {
		b.WriteByte("0abc"[v])
	}
	return b.String()
}

func truthTable(s *suite) {
	for _, sort := range truthSorts() {
		for _, row := range truth {
			base := append(batchText{}, sort.before...)
			if row[0] != 0 {
				base = append(base, sort.set(row[0]))
			}
			// Both sides have a fact of their own, so that there is always something to merge.
			sides := [2]batchText{{`{"node":{"key":"ours","type":"T"}}`},
				{`{"node":{"key":"theirs","type":"T"}}`}}
			for i, v := range row[1:] {
				switch {
				case v == row[0]:
				case v == 0:
					sides[i] = append(sides[i], sort.remove)
				default:
					sides[i] = append(sides[i], sort.set(v))
				}
			}
			s.three("14.6", "truth-"+sort.name+"-"+truthName(row),
				"truth table: "+sort.title+", "+truthName(row), base, sides[0], sides[1])
		}
	}
}

func mergeCases(s *suite) {
	truthTable(s)
	fieldMerges(s)
	endMerges(s)
	circleMerges(s)
	vectorMerges(s)
	baseMerges(s)
	verbMerges(s)
	conflictRecords(s)
}

func fieldMerges(s *suite) {
	n := func(rest string) string { return `{"node":{"key":"n","type":"T"` + rest + `}}` }
	e := func(rest string) string { return `{"edge":{"type":"e","src":"n","dst":"n"` + rest + `}}` }
	cases := []struct {
		clause, name, title string
		base, ours, theirs  batchText
	}{
		{"14.1", "fields-apart", "different fields and properties of one node merge",
			batchText{n(`,"summary":"S","props":{"a":1,"b":1}`)},
			batchText{n(`,"summary":"T","props":{"a":2}`)},
			batchText{n(`,"context":"C","props":{"b":2,"c":3}`)}},
		{"14.2", "fields-some", "one field conflicts, others merge",
			batchText{n(`,"summary":"S","props":{"a":1}`)},
			batchText{n(`,"summary":"T","props":{"a":2}`)},
			batchText{n(`,"summary":"U","props":{"b":2}`)}},
		{"14.2", "null", "null is a value",
			batchText{n(`,"props":{"a":1}`)}, batchText{n(`,"props":{"a":null,"x":1}`)},
			batchText{n(`,"unset":["props.a"]`)}},
		{"14.2", "float", "1 and 1.0 differ",
			batchText{n(``)}, batchText{n(`,"props":{"a":1}`)}, batchText{n(`,"props":{"a":1.0}`)}},
		{"14.2", "content", "content is one value",
			batchText{n(`,"content":"A"`)}, batchText{n(`,"content":"B"`)},
			batchText{n(`,"content":{"text":"A","media":"text/markdown"}`)}},
		{"14.2", "type", "a type is a field",
			batchText{n(``)}, batchText{`{"node":{"key":"n","type":"U"}}`}, batchText{n(`,"summary":"S"`)}},
		{"14.2", "add-apart", "both add one node, with different fields",
			nil, batchText{n(`,"summary":"S"`)}, batchText{n(`,"context":"C","props":{"a":1}`)}},
		{"14.2", "add-same", "both add one node at different times: the earlier one counts",
			nil, batchText{n(`,"summary":"S"`)}, batchText{n(`,"summary":"S"`)}},
		{"14.2", "times-both", "the same change at different times",
			batchText{n(``)}, batchText{n(`,"summary":"S"`)}, batchText{n(`,"summary":"S"`)}},
		{"14.2", "times-created", "created is given on one side",
			batchText{n(``)}, batchText{n(`,"summary":"S","created":"2001-01-01"`)},
			batchText{n(`,"context":"C"`)}},
		{"14.2", "times-created-both", "created is given on both sides",
			batchText{n(``)}, batchText{n(`,"summary":"S","created":"2001-01-01"`)},
			batchText{n(`,"context":"C","created":"2002-01-01"`)}},
		{"14.2", "valid-apart", "a validity that fits together",
			batchText{n(``)}, batchText{n(`,"validFrom":"2001-01-01"`)},
			batchText{n(`,"validTo":"2002-01-01"`)}},
		{"14.2", "valid-against", "a validity that does not fit together",
			batchText{n(``)}, batchText{n(`,"validFrom":"2003-01-01"`)},
			batchText{n(`,"validTo":"2002-01-01"`)}},
		{"14.2", "edge-apart", "different properties of one edge, and its weight",
			batchText{n(``), e(`,"props":{"a":1}`)}, batchText{e(`,"weight":0.5,"props":{"a":2}`)},
			batchText{e(`,"props":{"b":1},"sources":["s"]`)}},
		{"14.2", "edge-times", "the same edge at different times",
			batchText{n(``)}, batchText{e(``)}, batchText{e(``)}},
		{"14.2", "parallel", "parallel edges stay apart",
			batchText{n(``)}, batchText{e(`,"key":"1"`)}, batchText{e(`,"key":"2"`)}},
		{"14.2", "edge-id", "an edge with an id of its own gets other ends on both sides",
			batchText{n(``), `{"node":{"key":"o","type":"T"}}`}, batchText{`{"edge":{"id":` +
				`"00112233-4455-6677-8899-aabbccddeeff","type":"e","src":"n","dst":"o"}}`},
			batchText{`{"edge":{"id":"00112233-4455-6677-8899-aabbccddeeff","type":"e","src":"o",` +
				`"dst":"n","props":{"a":1}}}`}},
		{"14.2", "mark-times", "the same mark at different times: the earlier one counts",
			batchText{n(``)}, batchText{`{"mark":{"node":"n","state":"stale"}}`},
			batchText{`{"mark":{"node":"n","state":"stale"}}`}},
		{"14.2", "mark-reason", "a mark is one value",
			batchText{n(``), `{"mark":{"node":"n","state":"stale"}}`},
			batchText{`{"mark":{"node":"n","state":"stale","reason":"old"}}`},
			batchText{`{"mark":{"node":"n","state":"stale","actor":"bob"}}`}},
		{"14.2", "mark-removed", "a mark removed and changed",
			batchText{n(``), `{"mark":{"node":"n","state":"stale"}}`},
			batchText{`{"remove":{"mark":{"node":"n"}}}`},
			batchText{`{"mark":{"node":"n","state":"retired"}}`}},
	}
	many := func(prefix string) string {
		var props []string
		for i := range 501 {
			props = append(props, `"`+prefix+itoa(i)+`":1`)
		}
		return strings.Join(props, ",")
	}
	for _, c := range []sequence{
		{"14.2", "valid-side", "a validity that fits together on one side alone, beside another conflict",
			[]batchText{{n(`,"summary":"A","validFrom":"2001-01-01","validTo":"2010-01-01"`)},
				{n(`,"summary":"B","validFrom":"2005-01-01"`)},
				{n(`,"summary":"C","validFrom":"1990-01-01","validTo":"1995-01-01"`)}}},
		{"14.2", "valid-base", "one that fits on both sides, and not with what was before",
			[]batchText{{n(`,"validFrom":"2001-01-01","validTo":"2010-01-01"`)},
				{n(`,"validFrom":"1991-01-01"`)}, {n(`,"validFrom":"1990-01-01","validTo":"1995-01-01"`)}}},
		{"14.2", "valid-others", "one that fits together on no side, beside another conflict",
			[]batchText{{n(``)}, {n(`,"summary":"B","validFrom":"2003-01-01"`)},
				{n(`,"summary":"C","validTo":"2002-01-01"`)}}},
		{"14.2", "props-many", "more properties together than a node has, beside another conflict",
			[]batchText{{n(`,"context":"C"`)}, {n(`,"summary":"A","props":{` + many("a") + `}`)},
				{n(`,"summary":"B","context":"D","props":{` + many("b") + `}`)}}},
	} {
		base := append(batchText{`{"node":{"key":"z","type":"T"}}`}, c.batches[0]...)
		s.three(c.clause, c.name, c.title, base, c.batches[1], c.batches[2])
		s.three(c.clause, c.name+"-mirrored", c.title+", from the other side", base, c.batches[2],
			c.batches[1])
	}
	for _, c := range cases {
		// A first commit is never empty.
		base := append(batchText{`{"node":{"key":"z","type":"T"}}`}, c.base...)
		s.three(c.clause, c.name, c.title, base, c.ours, c.theirs)
	}
}

func endMerges(s *suite) {
	n := func(key string) string { return `{"node":{"key":"` + key + `","type":"T"}}` }
	edge := func(src, dst, rest string) string {
		return `{"edge":{"type":"e","src":"` + src + `","dst":"` + dst + `"` + rest + `}}`
	}
	rm := func(key string) string { return `{"remove":{"node":"` + key + `"}}` }
	change := func(key string) string { return `{"node":{"key":"` + key + `","summary":"S"}}` }
	mark := func(key string) string { return `{"mark":{"node":"` + key + `","state":"stale"}}` }
	three := batchText{n("a"), n("b"), n("c"), edge("a", "b", "")}
	marked := append(append(batchText{}, three...), mark("b"),
		`{"mark":{"edge":{"type":"e","src":"a","dst":"b"},"state":"stale"}}`)
	cases := []struct {
		name, title        string
		base, ours, theirs batchText
	}{
		{"end-added", "an edge to a node that the other side removed", three,
			batchText{edge("c", "b", "")}, batchText{rm("b")}},
		{"end-changed", "an edge changed whose end the other side removed", three,
			batchText{edge("a", "b", `,"weight":0.5`)}, batchText{rm("b")}},
		{"end-restored", "the node comes back with its mark and edges", marked,
			batchText{edge("c", "b", "")}, batchText{rm("b")}},
		{"end-both", "both ends removed", three,
			batchText{edge("b", "c", `,"props":{"x":1}`)}, batchText{rm("b"), rm("c")}},
		{"end-loop", "a self-loop on a removed node", three,
			batchText{edge("c", "c", "")}, batchText{rm("c")}},
		{"end-crossed", "each side removes an end of the other's new edge", three,
			batchText{rm("c"), edge("a", "b", `,"key":"2"`)}, batchText{rm("b"), edge("a", "c", "")}},
		{"end-marked", "a mark on a node that the other side removed", three,
			batchText{mark("b")}, batchText{rm("b")}},
		{"end-mark-changed", "a mark changed on a node that the other side removed", marked,
			batchText{`{"mark":{"node":"b","state":"retired"}}`}, batchText{rm("b")}},
		{"end-edge-marked", "a mark on an edge that the other side removed", three,
			batchText{`{"mark":{"edge":{"type":"e","src":"a","dst":"b"},"state":"stale"}}`},
			batchText{`{"remove":{"edge":{"type":"e","src":"a","dst":"b"}}}`}},
		{"end-edge-gone", "a mark on an edge whose end the other side removed", three,
			batchText{`{"mark":{"edge":{"type":"e","src":"a","dst":"b"},"state":"stale"}}`},
			batchText{rm("b")}},
		{"follow-added", "a new edge goes with its node in conflict", three,
			batchText{change("b"), edge("c", "b", "")}, batchText{rm("b")}},
		{"follow-changed", "a changed edge goes with its node in conflict", marked,
			batchText{change("b"), edge("a", "b", `,"weight":0.5`)}, batchText{rm("b")}},
		{"follow-marked", "a mark goes with its node in conflict", marked,
			batchText{change("b"), `{"mark":{"node":"b","state":"retired"}}`}, batchText{rm("b")}},
		{"follow-edge-mark", "a mark goes with a new edge whose end was removed", three,
			batchText{edge("c", "b", ""),
				`{"mark":{"edge":{"type":"e","src":"c","dst":"b"},"state":"stale"}}`},
			batchText{rm("b")}},
		{"follow-two", "an edge between two nodes in conflict", three,
			batchText{change("b"), change("c"), edge("b", "c", "")}, batchText{rm("b"), rm("c")}},
		{"remove-both", "both sides remove a node, one an edge before", three,
			batchText{`{"remove":{"edge":{"type":"e","src":"a","dst":"b"}}}`, rm("b")}, batchText{rm("b")}},
		{"remove-ends", "each side removes an end of one edge", three,
			batchText{rm("a")}, batchText{rm("b")}},
		{"remove-times", "removed against a new time alone",
			append(batchText{`{"node":{"key":"b","type":"T","created":"2001-01-01"}}`}, n("a")),
			batchText{rm("b")}, batchText{rm("b"), n("b")}},
	}
	for _, c := range cases {
		clause := "14.3"
		if strings.HasPrefix(c.name, "follow") || c.name == "end-restored" {
			clause = "14.4"
		}
		s.three(clause, c.name, c.title, c.base, c.ours, c.theirs)
		s.three(clause, c.name+"-mirrored", c.title+", from the other side", c.base, c.theirs, c.ours)
	}
}

func circleMerges(s *suite) {
	n := func(key string) string { return `{"node":{"key":"` + key + `","type":"T"}}` }
	by := func(key, by string) string {
		return `{"mark":{"node":"` + key + `","state":"superseded","by":"` + by + `"}}`
	}
	off := func(key string) string { return `{"remove":{"mark":{"node":"` + key + `"}}}` }
	four := batchText{n("a"), n("b"), n("c"), n("d")}
	upon := func(lines ...string) batchText { return append(append(batchText{}, four...), lines...) }
	cases := []struct {
		name, title        string
		base, ours, theirs batchText
	}{
		{"circle-two", "each side supersedes the other's node", four,
			batchText{by("a", "b")}, batchText{by("b", "a")}},
		{"circle-three", "a circle of which each side has a part", upon(by("c", "d")),
			batchText{by("a", "b")}, batchText{by("c", "a"), by("b", "c")}},
		{"circle-base", "a mark of both sides on the circle", upon(by("a", "b")),
			batchText{by("b", "c")}, batchText{by("c", "a")}},
		{"circle-conflict", "a circle through a mark that is in conflict", four,
			batchText{by("a", "b")}, batchText{by("a", "c"), by("b", "a")}},
		{"circle-again", "a conflict that closes another circle", upon(by("b", "d")),
			batchText{by("a", "b")}, batchText{by("b", "a"), by("d", "b")}},
		{"circle-none", "a chain of both sides", four,
			batchText{by("a", "b")}, batchText{by("b", "c")}},
		{"circle-turned", "a mark turned round by one side", upon(by("a", "b")),
			batchText{off("a"), by("b", "a")}, batchText{by("c", "a")}},
		{"circle-contradicted", "marks of other states go round", four,
			batchText{`{"mark":{"node":"a","state":"contradicted","by":"b"}}`}, batchText{by("b", "a")}},
	}
	for _, c := range cases {
		s.three("14.3", c.name, c.title, c.base, c.ours, c.theirs)
		s.three("14.3", c.name+"-mirrored", c.title+", from the other side", c.base, c.theirs, c.ours)
	}
}

func vectorMerges(s *suite) {
	n := func(summary string) string {
		return `{"node":{"key":"n","type":"T","summary":"` + summary + `"}}`
	}
	v := func(x string) string { return `{"embedding":{"node":"n","model":"m","vector":[` + x + `]}}` }
	cases := []struct {
		name, title        string
		base, ours, theirs batchText
	}{
		{"stays", "an embedding of a node that neither side changed", batchText{n("S"), v("1,0")},
			batchText{`{"node":{"key":"x","type":"T"}}`}, batchText{`{"node":{"key":"y","type":"T"}}`}},
		{"one", "one side embeds", batchText{n("S")}, batchText{v("1,0")},
			batchText{`{"node":{"key":"y","type":"T"}}`}},
		{"fits", "one side embeds, the other changes a property", batchText{n("S")}, batchText{v("1,0")},
			batchText{`{"node":{"key":"n","props":{"a":1}}}`}},
		{"unfit", "one side embeds, the other changes the text", batchText{n("S")}, batchText{v("1,0")},
			batchText{n("T")}},
		{"both", "both sides embed anew: the smaller CID", batchText{n("S")}, batchText{v("1,0")},
			batchText{v("0,1")}},
		{"both-one", "both sides embed, one of the text that was merged", batchText{n("S"), v("1,1")},
			batchText{v("1,0")}, batchText{n("T"), v("0,1")}},
		{"both-none", "both sides embed, neither the text that was merged",
			batchText{`{"node":{"key":"n","type":"T","summary":"S","context":"C"}}`, v("1,1")},
			batchText{n("T"), v("1,0")},
			batchText{`{"node":{"key":"n","context":"D"}}`, v("0,1")}},
		{"stale", "an embedding that was stale before stays where its node stays",
			batchText{n("S"), v("1,0"), n("S")}, batchText{n("T")},
			batchText{`{"node":{"key":"y","type":"T"}}`}},
		{"removed", "one side removes an embedding, the other makes it anew", batchText{n("S"), v("1,0")},
			batchText{`{"remove":{"embedding":{"node":"n","model":"m"}}}`}, batchText{v("0,1")}},
		{"node-removed", "one side removes the node, the other embeds it", batchText{n("S")},
			batchText{`{"remove":{"node":"n"}}`, `{"node":{"key":"y","type":"T"}}`}, batchText{v("0,1")}},
		{"conflict", "a node in conflict: the embedding that fits the one taken",
			batchText{n("S"), v("1,1")}, batchText{n("T"), v("1,0")}, batchText{n("U"), v("0,1")}},
		{"conflict-removed", "a removed node that comes back has its embedding",
			batchText{n("S"), v("1,1")}, batchText{`{"remove":{"node":"n"}}`,
				`{"node":{"key":"y","type":"T"}}`}, batchText{n("U"), v("0,1")}},
		{"two-models", "each side embeds by a model of its own", batchText{n("S")}, batchText{v("1,0")},
			batchText{`{"embedding":{"node":"n","model":"o","vector":[1]}}`}},
	}
	for _, c := range cases {
		s.three("14.3", "vectors-"+c.name, c.title, c.base, c.ours, c.theirs)
		s.three("14.3", "vectors-"+c.name+"-mirrored", c.title+", from the other side", c.base, c.theirs,
			c.ours)
	}
}

func baseMerges(s *suite) {
	n := func(key, summary string) string {
		return `{"node":{"key":"` + key + `","type":"T","summary":"` + summary + `"}}`
	}
	on := func(parents []int, lines ...string) mergeCommit { return mergeCommit{parents, lines} }
	root := on(nil, n("a", "A"), n("b", "B"), n("c", "C"))
	s.mergeCase("14.5", "nearest", "the nearest common ancestor counts", root,
		on([]int{0}, n("a", "A1")), on([]int{1}, n("b", "B1")), on([]int{1}, n("a", "A2")))
	s.mergeCase("14.5", "none", "unrelated histories: the empty state", on(nil, n("a", "A")),
		on(nil, n("a", "A"), n("b", "B")))
	s.mergeCase("14.5", "none-conflict", "unrelated histories that conflict", on(nil, n("a", "A")),
		on(nil, n("a", "B"), n("b", "B")))
	s.mergeCase("14.5", "merged-before", "after a merge its parent counts", root,
		on([]int{0}, n("a", "A1")), on([]int{0}, n("b", "B1")), on([]int{1, 2}),
		on([]int{3}, n("b", "B2")), on([]int{2}, n("c", "C1")))
	cross := []mergeCommit{root, on([]int{0}, n("a", "A1")), on([]int{0}, n("b", "B1")),
		on([]int{1, 2}), on([]int{2, 1})}
	s.mergeCase("14.5", "criss-cross", "two bases that merge", append(cross,
		on([]int{3}, n("a", "A2")), on([]int{4}, n("b", "B2")))...)
	s.mergeCase("14.5", "criss-cross-conflict", "two bases that merge, then a conflict", append(cross,
		on([]int{3}, n("a", "A2"), n("b", "B2")), on([]int{4}, n("b", "B3")))...)
	s.mergeCase("14.5", "criss-cross-removed", "what both bases did is not undone", append(cross,
		on([]int{3}, `{"remove":{"node":"a"}}`), on([]int{4}, n("c", "C2")))...)
	s.mergeCase("14.5", "criss-cross-twice", "virtual bases of virtual bases", append(cross,
		on([]int{3}, n("a", "A2")), on([]int{4}, n("c", "C2")),
		on([]int{5, 6}), on([]int{6, 5}), on([]int{7}, n("a", "A3")), on([]int{8}, n("b", "B3")))...)
}

func verbMerges(s *suite) {
	n := func(key, summary string) string {
		return `{"node":{"key":"` + key + `","type":"T","summary":"` + summary + `"}}`
	}
	on := func(parents []int, lines ...string) mergeCommit { return mergeCommit{parents, lines} }
	edge := `{"edge":{"type":"e","src":"a","dst":"b"}}`
	line := []mergeCommit{on(nil, n("a", "A"), n("b", "B")), on([]int{0}, n("a", "A1"), edge),
		on([]int{1}, n("b", "B1")), on([]int{2}, n("c", "C"))}
	s.verbCase("revert", "revert-newest", "the newest commit: the graph before it, times too", -1, 3,
		line...)
	s.verbCase("revert", "revert-older", "an older commit: later ones stay", -1, 1, line...)
	s.verbCase("revert", "revert-range", "a range", 0, 2, line...)
	s.verbCase("revert", "revert-first", "the first commit", -1, 0, line[0],
		on([]int{0}, n("c", "C")))
	s.verbCase("revert", "revert-conflict", "what was changed again since", -1, 1, line[0], line[1],
		on([]int{1}, n("a", "A2")))
	s.verbCase("revert", "revert-removal", "a removed node comes back with its edges", -1, 2,
		line[0], line[1], on([]int{1}, `{"remove":{"node":"b"}}`), on([]int{2}, n("c", "C")))
	side := []mergeCommit{line[0], line[1], on([]int{1}, n("b", "B1")), on([]int{0}, n("c", "C"))}
	s.verbCase("cherry-pick", "pick-one", "one commit of another branch", -1, 2, side...)
	s.verbCase("cherry-pick", "pick-range", "a range of another branch", 0, 2, side...)
	s.verbCase("cherry-pick", "pick-conflict", "a commit that conflicts", -1, 1, line[0], line[1],
		on([]int{0}, n("a", "A2")))
}

func conflictRecords(s *suite) {
	link := recordCID(dict{"x": 1})
	other := recordCID(dict{"x": 2})
	item := "node/" + uuid(nodeIDOfKey("n"))
	base := dict{"kind": "conflict", "v": 1, "item": item, "cause": "edit_edit",
		"fields": []any{"props.a", "summary"}, "base": link, "ours": other, "theirs": recordCID(dict{})}
	s.records("conflict", base, []recordCase{
		{"14.8", "plain", "two edits", "", nil},
		{"14.8", "edge", "an edge whose end was removed", "", dict{"cause": "end_removed",
			"item": "edge/" + uuid(nodeIDOfKey("n")), "theirs": absent{}, "fields": absent{}}},
		{"14.8", "circle", "a mark that closes a circle", "", dict{"cause": "circle", "base": absent{},
			"item": "mark/node/" + uuid(nodeIDOfKey("n")), "theirs": absent{}, "fields": absent{}}},
		{"14.8", "mark", "a mark of an edge", "", dict{"item": "mark/edge/" + uuid(nodeIDOfKey("n"))}},
		{"14.8", "profile", "the profiles", "", dict{"item": "profile"}},
		{"14.8", "added", "both added", "", dict{"cause": "add_add", "base": absent{}}},
		{"1.3", "unknown-field", "an unknown field survives", "", dict{"zeta": "kept"}},
		{"14.8", "cause-unknown", "an unknown cause", "state", dict{"cause": "moved"}},
		{"14.8", "cause-missing", "no cause", "field", dict{"cause": absent{}}},
		{"14.8", "item-missing", "no item", "field", dict{"item": absent{}}},
		{"14.8", "item-kind", "an item of an unknown kind", "name", dict{"item": "commit" + item[4:]}},
		{"14.8", "item-mark", "a mark of nothing", "name", dict{"item": "mark" + item[4:]}},
		{"14.8", "item-upper", "an id in upper case", "id", dict{"item": strings.ToUpper(item)}},
		{"14.8", "item-zero", "the id of zeros", "id", dict{"item": "node/" + uuid(rep("\x00", 16))}},
		{"14.8", "same", "sides that are the same", "field", dict{"theirs": other}},
		{"14.8", "neither", "no side", "field", dict{"ours": absent{}, "theirs": absent{}}},
		{"14.8", "fields-empty", "an empty list", "limit", dict{"fields": []any{}}},
		{"14.8", "fields-order", "fields out of order", "order", dict{"fields": []any{"b", "a"}}},
		{"14.8", "fields-twice", "a field twice", "order", dict{"fields": []any{"a", "a"}}},
		{"14.8", "fields-long", "a name of 1,025 bytes", "limit", dict{"fields": []any{rep("f", 1025)}}},
		{"14.8", "fields-many", "513 names", "limit", dict{"fields": manyNames(513)}},
		{"14.8", "fields-most", "512 names", "", dict{"fields": manyNames(512)}},
		{"14.8", "ours-raw", "a link to a raw block", "type", dict{"ours": cidOf(codecRaw, []byte("x"))}},
	})
	merging := dict{"kind": "merge", "v": 1, "verb": "merge", "ours": link, "theirs": other,
		"message": "m", "graph": link, "vectors": link, "dropped": 0, "conflicts": link,
		"resolutions": other}
	s.records("merge-record", merging, []recordCase{
		{"14.8", "plain", "a merge", "", nil},
		{"14.8", "least", "without embeddings and message", "", dict{"vectors": absent{}, "message": ""}},
		{"14.8", "profile", "with profiles", "", dict{"profile": other}},
		{"14.8", "cherry-pick", "a cherry-pick", "", dict{"verb": "cherry-pick"}},
		{"14.8", "revert", "a revert of a first commit", "", dict{"verb": "revert", "theirs": absent{}}},
		{"1.3", "unknown-field", "an unknown field survives", "", dict{"zeta": "kept"}},
		{"14.8", "theirs-missing", "a merge of nothing", "field", dict{"theirs": absent{}}},
		{"14.8", "verb-unknown", "an unknown verb", "state", dict{"verb": "rebase"}},
		{"14.8", "ours-missing", "without ours", "field", dict{"ours": absent{}}},
		{"14.8", "graph-missing", "without a graph", "field", dict{"graph": absent{}}},
		{"14.8", "message-missing", "without a message", "field", dict{"message": absent{}}},
		{"14.8", "message-block", "a message in a block of its own", "",
			dict{"message": cidOf(codecRaw, []byte("m"))}},
		{"14.8", "message-record", "a message that is a record", "type", dict{"message": link}},
		{"14.8", "dropped-missing", "without a count", "field", dict{"dropped": absent{}}},
		{"14.8", "dropped-negative", "a negative count", "limit", dict{"dropped": -1}},
		{"14.8", "conflicts-missing", "without conflicts", "field", dict{"conflicts": absent{}}},
		{"14.8", "resolutions-missing", "without resolutions", "field", dict{"resolutions": absent{}}},
		{"14.8", "message-long", "a message of 65,537 bytes", "limit", dict{"message": rep("m", 65537)}},
	})
}

func manyNames(n int) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = fmt.Sprintf("f%04d", i)
	}
	return out
}
