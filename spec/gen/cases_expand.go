package main

import "fmt"

func wire(from, to, weight string) string {
	if weight != "" {
		weight = `,"weight":` + weight
	}
	return `{"edge":{"type":"t","src":"` + from + `","dst":"` + to + `"` + weight + `}}`
}

func plainNode(key string) string {
	return `{"node":{"key":"` + key + `","type":"T","summary":"word` + key + `"}}`
}

// wired is the nodes named, one letter each, and the lines after them.
func wired(letters string, lines ...string) batchText {
	var out batchText
	for _, r := range letters {
		out = append(out, plainNode(string(r)))
	}
	return append(out, lines...)
}

func expandCases(s *suite) {
	hops := func(text string, n int64) request {
		q := everything(text)
		q.expand = n
		return q
	}
	typed := func(typ string) request {
		q := hops("worda", 2)
		q.expandTypes = []string{typ}
		return q
	}
	directed := func(d string) request {
		q := hops("wordb", 2)
		q.direction = d
		return q
	}
	chain := wired("abcdef", wire("a", "b", "0.9"), wire("b", "c", "0.8"), wire("c", "d", ""),
		wire("d", "e", "0.5"), wire("e", "f", ""))
	for _, c := range []struct {
		name, title string
		q           request
		lines       batchText
	}{
		{"none", "no hop", hops("worda", 0), chain},
		{"one", "one hop", hops("worda", 1), chain},
		{"two", "two hops", hops("worda", 2), chain},
		{"four", "four hops", hops("worda", 4), chain},
		{"both", "both directions", directed("both"), chain},
		{"out", "from source to destination", directed("out"), chain},
		{"in", "from destination to source", directed("in"), chain},
		{"key", "from an exact node", hops("a", 1), chain},
		{"blank", "a blank text does not expand", hops(" ", 1), chain},
		{"two-seeds", "nodes of the list gain from one another", hops("worda wordb", 1), chain},
		{"ties", "equal nodes: the smaller id first", hops("worda", 1),
			wired("abcdef", wire("a", "b", ""), wire("a", "c", ""), wire("d", "a", ""),
				wire("e", "a", ""))},
		{"best-path", "the best of several edges counts, not their sum", hops("worda", 1),
			wired("ab", wire("a", "b", "0.2"), wire("b", "a", "0.7"),
				`{"edge":{"type":"u","src":"a","dst":"b","weight":0.5}}`)},
		{"nearest-layer", "a layer is the shortest way, be it the worse", hops("worda", 2),
			wired("abc", wire("a", "c", "0.01"), wire("a", "b", ""), wire("b", "c", ""))},
		{"loop", "a self-loop gains nothing", hops("worda", 2), wired("ab", wire("a", "a",
			""), wire("a", "b", ""))},
		{"cycle", "a cycle does not return to its seed", hops("worda", 4),
			wired("abc", wire("a", "b", ""), wire("b", "c", ""), wire("c", "a", ""))},
		{"types", "edge types to follow", typed("u"), wired("abc", wire("a", "b", ""),
			`{"edge":{"type":"u","src":"a","dst":"c"}}`)},
		{"tiny", "a gain of 0 joins nothing", hops("worda", 2),
			wired("abc", wire("a", "b", "0.00002"), wire("b", "c", "0.00002"))},
		{"hidden-edge", "a hidden edge is not followed", hops("worda", 1), wired("ab",
			wire("a", "b", ""),
			`{"mark":{"edge":{"type":"t","src":"a","dst":"b"},"state":"retired"}}`)},
		{"stale-edge", "a stale edge is", hops("worda", 1), wired("ab", wire("a", "b", ""),
			`{"mark":{"edge":{"type":"t","src":"a","dst":"b"},"state":"stale"}}`)},
		{"hidden-node", "a hidden node is not followed through", hops("worda", 2), wired("abc",
			wire("a", "b", ""), wire("b", "c", ""), `{"mark":{"node":"b","state":"forgotten"}}`)},
		{"marks", "but is where its state is let through", func() request {
			q := hops("worda", 2)
			q.marks = []string{"forgotten", "retired"}
			return q
		}(), wired("abc", wire("a", "b", ""), wire("b", "c", ""),
			`{"mark":{"node":"b","state":"forgotten"}}`)},
		{"filter", "a node that does not pass is not followed through", func() request {
			q := hops("worda", 2)
			q.types = []string{"T"}
			return q
		}(), append(wired("ac", `{"node":{"key":"b","type":"U"}}`), wire("a", "b", ""),
			wire("b", "c", ""))},
	} {
		s.retrieval("10", "expand", c.name, c.title, c.q, false, c.lines)
	}
	expandMany(s)
}

func expandMany(s *suite) {
	hub := wired("a")
	for i := range 30 {
		k := fmt.Sprintf("n%02d", i)
		hub = append(hub, plainNode(k), wire("a", k, fmt.Sprintf("0.%02d", 40+i)))
	}
	q := everything("worda")
	q.expand = 1
	s.retrieval("10", "expand", "new-20", "of the new nodes the best 20 join", q, false, hub)
	seeds := batchText{}
	for i := range 22 {
		k := fmt.Sprintf("s%02d", i)
		seeds = append(seeds, `{"node":{"key":"`+k+`","type":"T","summary":"boat`+rep(" pad",
			i)+`"}}`,
			`{"node":{"key":"x`+k+`","type":"T"}}`, wire(k, "x"+k, fmt.Sprintf("0.%02d", 60+i)))
	}
	q = everything("boat")
	q.expand = 1
	s.retrieval("10", "expand", "seeds-20", "only the first 20 are seeds", q, false, seeds)
	for _, n := range []int{256, 257} {
		fan := forest{Count: n + 1, Fanout: n}
		last := fan.lastChild()
		extra := []string{plainNode("z"), wire(last, "z", "")}
		q := everything(`"n0" wordz`)
		q.expand = 2
		a := q.retrieve(built(append(fan.lines(), extra...)))
		s.add("10", "expand", "fan-out-"+itoa(n),
			"256 entries of a bucket are looked at: z hangs on "+
				"entry "+itoa(n), obj{"author": "erin", "batches": []any{obj{"time": t0, "forest": fan,
				"lines": extra}}, "request": q.input()}, a.expect(false))
	}
	truncated := forest{Count: 5100, Fanout: 100}
	for _, expand := range []int64{1, 2} {
		q := everything(`"n0"`)
		q.expand = expand
		a := q.retrieve(built(truncated.lines()))
		s.add("11.1", "expand", "frontier-"+itoa(int(expand)),
			"a layer that would bring a seed to more than 5,000 nodes is dropped whole",
			obj{"author": "erin", "batches": []any{obj{"time": t0, "forest": truncated,
				"lines": []string{}}}, "request": q.input()}, a.expect(false))
	}
}

// forest stands for lines: nodes n0 to n(Count-1) of type T; then an edge of type t from the node
// of number ⌊(i − 1) / Fanout⌋ to node i, for each i from 1; then, where State is given, a mark
// of that state on each node from n1.
type forest struct {
	Count  int    `json:"count"`
	Fanout int    `json:"fanout"`
	State  string `json:"state,omitempty"`
}

func (f forest) lines() batchText {
	var out batchText
	for i := range f.Count {
		out = append(out, `{"node":{"key":"n`+itoa(i)+`","type":"T"}}`)
	}
	for i := 1; i < f.Count; i++ {
		out = append(out, wire("n"+itoa((i-1)/f.Fanout), "n"+itoa(i), ""))
	}
	for i := 1; i < f.Count && f.State != ""; i++ {
		out = append(out, `{"mark":{"node":"n`+itoa(i)+`","state":"`+f.State+`"}}`)
	}
	return out
}

// lastChild is the key of the child of n0 that is last in the order of ids.
func (f forest) lastChild() string {
	last := "n1"
	for i := 1; i <= f.Fanout; i++ {
		if k := "n" + itoa(i); nodeIDOfKey(k) > nodeIDOfKey(last) {
			last = k
		}
	}
	return last
}
