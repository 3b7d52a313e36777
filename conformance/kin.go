package main

import (
	"fmt"
	"os"
	"sort"
	"strings"
)

// kindred are for each term those of clause 9.12, which loadKin reads.
var kindred = map[string][]string{}

// loadKin reads spec/kin-words.txt, whose head says what its lines mean.
func loadKin(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	kindred = map[string][]string{}
	relate := func(x, y string) {
		if x != y && !has(kindred[x], y) {
			kindred[x] = append(kindred[x], y)
		}
	}
	for _, line := range strings.Split(string(b), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		class, members, isClass := strings.Cut(line, ":")
		if !isClass {
			class, members = "", line
		}
		var terms []string
		for _, w := range strings.Fields(members) {
			t := analyse(w, "en")
			if len(t) != 1 {
				return fmt.Errorf("%s: %q has %d terms", path, w, len(t))
			}
			terms = append(terms, t[0])
		}
		for _, x := range terms {
			if isClass {
				head := analyse(class, "en")[0]
				relate(head, x)
				relate(x, head)
				continue
			}
			for _, y := range terms {
				relate(x, y)
			}
		}
	}
	for _, list := range kindred {
		sort.Strings(list)
	}
	return nil
}

// kinTerm is a kindred term of a text, and the terms of the text that it is kindred to.
type kinTerm struct {
	addedTerm
	of []string
}

// weightsOf are what the terms of a text weigh that some node has.
func (c collection) weightsOf(query []string) map[string]int64 {
	out := map[string]int64{}
	for _, t := range unique(query) {
		if as, read := reads(t); c.df[as] > 0 {
			out[t] = halved(c.idf(as)*times(query, t), read)
		}
	}
	return out
}

// kin are the kindred terms of a text: clause 9.12.
func (c collection) kin(query []string) []kinTerm {
	var asked []string
	for _, t := range unique(query) {
		as, _ := reads(t)
		asked = append(asked, as)
	}
	weights := c.weightsOf(query)
	var all []kinTerm
	at := map[string]int{}
	for _, t := range unique(query) {
		as, _ := reads(t)
		for _, k := range kindred[as] {
			if has(asked, k) {
				continue
			}
			n, ok := at[k]
			if !ok && len(all) == 1024 {
				continue
			}
			if !ok {
				n = len(all)
				at[k] = n
				all = append(all, kinTerm{addedTerm: addedTerm{term: k}})
			}
			all[n].of = append(all[n].of, t)
		}
	}
	var out []kinTerm
	for _, k := range all {
		if c.df[k.term] == 0 {
			continue
		}
		m := int64(0)
		for _, t := range k.of {
			w, known := weights[t]
			if !known {
				m = one
			}
			m = max(m, min(one, w*one/c.idf(k.term)))
		}
		if k.weight = 13107 * m / one; k.weight > 0 {
			out = append(out, k)
		}
	}
	return out
}

// kin are the kindred terms of the request's text that its lane is searched by.
func (q request) kin(st *store, c collection) []addedTerm {
	if !q.second() || !q.runsText() {
		return nil
	}
	var out []addedTerm
	for _, k := range c.kin(q.terms(st, c)) {
		out = append(out, k.addedTerm)
	}
	return out
}
