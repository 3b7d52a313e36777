package main

import (
	"fmt"
	"strings"
)

// gradedWords are words of one weight each in the memories that graded makes.
var gradedWords = strings.Fields("alpha beta gamma delta kappa sigma omega theta lambda rho")

// strangers are words that no memory here has.
var strangers = strings.Fields("zebra quagga okapi gnu lemur ibex yak eland nyala kudu oryx tahr addax")

// graded are nodes g0, g1 … of equal length that have as many of gradedWords as given, and further ones
// of the same words, so that each is in as many nodes.
func graded(counts ...int) batchText {
	var out batchText
	have := map[string]int{}
	most := 0
	say := func(key string, words []string) {
		out = append(out, said(key, strings.Join(words, " ")+rep(" x", 10-len(words))))
		for _, w := range words {
			have[w]++
			most = max(most, have[w])
		}
	}
	for i, n := range counts {
		say("g"+itoa(i), gradedWords[:n])
	}
	for _, w := range gradedWords {
		for have[w] > 0 && have[w] < most {
			say(fmt.Sprintf("%s%d", w, have[w]), []string{w})
		}
	}
	return out
}

// outOf is a request for the first of gradedWords and strangers, so many terms in all.
func outOf(words, terms int, edits ...func(q *request)) request {
	list := append(gradedWords[:words:words], strangers[:terms-words]...)
	q := by2(strings.Join(list, " "), edits...)
	q.spelling = "off"
	return q
}

// turned asks in the same words the other way round.
func turned(q *request) {
	words := strings.Fields(q.text)
	for i := range len(words) / 2 {
		words[i], words[len(words)-1-i] = words[len(words)-1-i], words[i]
	}
	q.rewrites = append(q.rewrites, strings.Join(words, " "))
}

// preferring has a model put the nodes in this order, each by next to nothing.
func preferring(keys ...string) func(q *request) {
	return func(q *request) {
		q.rerank, q.reranked = "cohere:m", map[string]int64{}
		for i, key := range keys {
			q.reranked[nodeIDOfKey(key)] = int64(100_000 - i)
		}
	}
}

// gradedCases are bands at their thresholds.
func gradedCases(s *suite) {
	add := func(name, title string, q request, lines batchText) {
		s.retrieval("11.9", "pack", "graded-"+name, title, q, false, lines)
	}
	add("sure", "two tenths are sure, one tenth is a maybe", outOf(2, 10), graded(2, 1, 1))
	add("each", "more than a tenth is an answer", outOf(2, 9), graded(2, 1, 1))
	add("each-named", "that is, beside a node that is named", outOf(1, 9, func(q *request) { q.text += " `g0`" }),
		graded(1, 1, 1))
	add("maybe", "a thirteenth may be one", outOf(1, 12, func(q *request) { q.text += " `g0`" }), graded(1, 1, 1))
	add("rest", "a fourteenth is the rest", outOf(1, 13, func(q *request) { q.text += " `g0`" }), graded(1, 1, 1))
	add("unsure", "two elevenths are not sure", outOf(2, 11), graded(2, 2, 2, 1))
	add("ahead", "unless they are ahead", outOf(2, 11), graded(2, 1, 1))
	add("ahead-named", "the first is, where it is named", outOf(2, 13, func(q *request) { q.text += " `beta3`" }),
		graded(2, 2, 2, 1, 1))
	add("any", "one that is not the first is sure", outOf(2, 10, preferring("beta1", "g0", "g1")), graded(2, 1, 1))
	add("second", "being ahead helps the first alone", outOf(2, 11, preferring("beta1", "g0", "g1")),
		graded(2, 1, 1))
	add("weights", "terms weigh by how rare they are", outOf(3, 10), append(graded(3, 2, 1), said("h", "beta beta beta"),
		said("i", "beta x x")))
	for _, c := range []struct {
		name, title string
		counts      []int
	}{
		{"sure", "seven tenths of each wording are sure, four tenths an answer, three a maybe",
			[]int{7, 4, 3, 2}},
		{"both-sure", "they need not be ahead", []int{7, 7, 4, 3, 2}},
		{"unsure", "six tenths are not sure", []int{6, 6, 4, 3, 2}},
		{"ahead", "unless they are ahead", []int{6, 3, 2}},
	} {
		add("rewrites-"+c.name, c.title, outOf(10, 10, turned), graded(c.counts...))
	}
	add("rewrites-next", "the better wording counts three fifths, the next two, others nothing",
		outOf(10, 10, inWords("alpha beta gamma zebra quagga okapi", "rho", "gnu")), graded(9, 7, 4, 3, 2))
	near := func(v ...int8) request { return by2("", toward("m", v...)) }
	vectors := batchText{}
	for i, v := range []string{"100,0", "65,76", "64,77", "35,93", "34,94", "33,94", "32,95", "30,95", "26,97",
		"25,97", "0,100"} {
		vectors = append(vectors, said("v"+itoa(i), "x"), embedded("v"+itoa(i), "m", v))
	}
	add("vector", "cosines", near(100, 0), vectors)
	add("vector-unsure", "none of which is sure", near(100, 0), vectors[14:])
	pair := func(v string) batchText {
		return batchText{said("u", "x"), embedded("u", "m", v), said("v", "x"), embedded("v", "m", v)}
	}
	add("vector-sure", "a cosine of 21,627 is sure", near(100, 0, 0), pair("45,127,21"))
	add("vector-less", "a little less is not", near(100, 0, 0), pair("45,127,22"))
	add("vector-text", "beside a text", outOf(2, 9, toward("m", 100, 0)), append(append(batchText{}, vectors...),
		graded(2, 1, 1)...))
	floored := append(graded(2, 1, 1, 1, 1), said("far", "away"), wire("g0", "far", ""))
	few := graded(2, 2, 2, 2, 1)
	for _, floor := range []string{"answer", "", "rest"} {
		name := floor
		if floor == "" {
			name = "maybe"
		}
		cut := func(edits ...func(q *request)) request {
			return outOf(2, 10, append(edits, atFloor(floor), rounds(1))...)
		}
		put := func(what, title string, q request, lines batchText) {
			s.retrieval("11.9", "pack", "graded-floor-"+name+"-"+what, title, q, true, lines)
		}
		put("answered", "of a question with an answer", cut(), floored)
		put("turned", "answers stand first", cut(preferring("beta1", "g1", "g0", "g2")), floored)
		put("unsure", "of one without", outOf(2, 11, atFloor(floor)), few)
		put("limit", "as many as are asked for", cut(func(q *request) { q.limit = 2 }), floored)
		put("budget", "a maybe that does not fit", cut(func(q *request) { q.budget = 40 }), floored)
		put("opposed", "what contradicts an item has its band", cut(), append(append(batchText{}, floored...),
			`{"mark":{"node":"g0","state":"contradicted","by":"far"}}`,
			`{"mark":{"node":"far","state":"contradicted","by":"g2"}}`))
		put("outdated", "a maybe that is outdated", outOf(2, 10, atFloor(floor)), append(append(batchText{}, graded(2, 1, 1)...),
			`{"node":{"key":"g0","summary":"now alpha beta x x","created":"2026-02-01"}}`,
			`{"node":{"key":"g1","summary":"alpha x x x"}}`))
	}
}
