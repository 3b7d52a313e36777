package memory

import (
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/text"
)

// vocabulary numbers the terms of the texts that one call looks at, so that each text is analysed once and what
// follows compares numbers. Not safe for concurrent use.
type vocabulary struct {
	analyser *text.Analyzer
	numbers  map[string]int32
	marks    []uint32 // of each number the reading that met it last
	reading  uint32
}

func newVocabulary(a *text.Analyzer) *vocabulary {
	return &vocabulary{analyser: a, numbers: map[string]int32{}}
}

// termSet is the numbers of the distinct terms of a text, ascending.
type termSet []int32

// textTerms are the distinct terms of a text.
type textTerms struct {
	of    *vocabulary
	order []int32 // of their first places
	set   termSet
}

// read returns the terms of a text.
func (v *vocabulary) read(s string) *textTerms {
	v.reading++
	var order []int32
	v.analyser.Each(s, func(term string) bool {
		n, ok := v.numbers[term]
		if !ok {
			n = int32(len(v.numbers))
			v.numbers[strings.Clone(term)] = n
			v.marks = append(v.marks, 0)
		}
		if v.marks[n] != v.reading {
			v.marks[n] = v.reading
			order = append(order, n)
		}
		return true
	})
	set := slices.Clone(order)
	slices.Sort(set)
	return &textTerms{v, order, set}
}

func (v *vocabulary) termsOf(s string) termSet { return v.read(s).set }

// common returns how many terms two sets share.
func (t termSet) common(o termSet) (n int64) {
	for i, k := 0, 0; i < len(t) && k < len(o); {
		switch a, b := t[i], o[k]; {
		case a < b:
			i++
		case a > b:
			k++
		default:
			i, k, n = i+1, k+1, n+1
		}
	}
	return n
}

// overlap returns the share that two sets have in common of what either has, in units of 2^-16: as
// clause 11.2 compares texts.
func (t termSet) overlap(o termSet) int64 {
	both := t.common(o)
	if either := int64(len(t)+len(o)) - both; either > 0 {
		return both * fixed.One / either
	}
	return 0
}
