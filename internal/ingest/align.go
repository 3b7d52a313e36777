package ingest

import (
	"slices"
	"strings"
)

const (
	// maxRepeats bounds how often one text counts as a match: what is on every page says little about order.
	maxRepeats = 64
	// maxCompared bounds the pairs of texts of one document that are compared word by word.
	maxCompared = 20_000
	// alike is how much two versions of a passage have in common at least, of 100.
	alike = 50
)

// passage is a text of one version of a document, and the heading that it is under.
type passage struct{ heading, text string }

// align returns for each passage of the new version the index of the old one that it continues, -1 for none;
// no old one is continued twice.
func align(old, now []passage) []int {
	out := make([]int, len(now))
	for i := range out {
		out[i] = -1
	}
	places := make(map[string][]int, len(old))
	for i, p := range old {
		places[p.text] = append(places[p.text], i)
	}
	taken := make([]bool, len(old))
	take := func(n, o int) { out[n], taken[o] = o, true }
	for _, pair := range commonOrder(places, now) {
		take(pair[0], pair[1])
	}
	for n, p := range now { // equal texts that moved
		for out[n] < 0 && len(places[p.text]) > 0 {
			if o := places[p.text][0]; !taken[o] {
				take(n, o)
			}
			places[p.text] = places[p.text][1:]
		}
	}
	byHeading := make(map[string][]int)
	for o, p := range old {
		if !taken[o] {
			byHeading[p.heading] = append(byHeading[p.heading], o)
		}
	}
	compared := 0
	for n, p := range now {
		best, most := -1, 0
		if out[n] >= 0 || len(byHeading[p.heading]) == 0 {
			continue
		}
		words := countWords(p.text)
		for _, o := range byHeading[p.heading] {
			if taken[o] || compared == maxCompared {
				continue
			}
			compared++
			like := words.like(old[o].text)
			if continues(p.text, old[o].text) || continues(old[o].text, p.text) {
				like = max(like, alike) // however short the one is
			}
			if like > most {
				best, most = o, like
			}
		}
		if most >= alike {
			take(n, best)
		}
	}
	return out
}

// continues reports whether a text is another one and more lines.
func continues(text, other string) bool {
	rest, ok := strings.CutPrefix(text, other)
	return ok && other != "" && strings.HasPrefix(rest, "\n")
}

// commonOrder returns a longest common subsequence as pairs of a new and an old index, by the method of Hunt
// and Szymanski: the longest ascending run of old places, taken in descending order for each new one.
func commonOrder(places map[string][]int, now []passage) (pairs [][2]int) {
	type link struct {
		n, o int
		prev *link
	}
	var ends []*link // of a run of each length, the one with the smallest end
	for n, p := range now {
		list := places[p.text]
		for _, o := range slices.Backward(list[:min(len(list), maxRepeats)]) {
			at, same := slices.BinarySearchFunc(ends, o, func(l *link, o int) int { return l.o - o })
			if same {
				continue // the first of equal texts is taken
			}
			next := &link{n: n, o: o}
			if at > 0 {
				next.prev = ends[at-1]
			}
			if at == len(ends) {
				ends = append(ends, next)
			} else {
				ends[at] = next
			}
		}
	}
	if len(ends) == 0 {
		return nil
	}
	for l := ends[len(ends)-1]; l != nil; l = l.prev {
		pairs = append(pairs, [2]int{l.n, l.o})
	}
	slices.Reverse(pairs)
	return pairs
}

type wordCount struct {
	of    map[string]int
	total int
}

func countWords(text string) wordCount {
	w := wordCount{of: make(map[string]int)}
	for word := range strings.FieldsSeq(text) {
		w.of[word]++
		w.total++
	}
	return w
}

// like returns how much of two texts is common, of 100.
func (w wordCount) like(text string) int {
	other := countWords(text)
	common := 0
	for word, n := range other.of {
		common += min(n, w.of[word])
	}
	if w.total+other.total == 0 {
		return 0
	}
	return 200 * common / (w.total + other.total)
}
