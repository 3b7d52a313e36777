package compare

import (
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/text"
)

// Vocabulary numbers the terms of the texts that one call looks at, so that each text is analysed once and what
// follows compares numbers. Not safe for concurrent use.
type Vocabulary struct {
	numbers map[string]uint32
	marks   []uint32 // of each number the reading that met it last
	reading uint32
}

// NewVocabulary returns a Vocabulary without terms.
func NewVocabulary() *Vocabulary { return &Vocabulary{numbers: map[string]uint32{}} }

// TermSet is the numbers of the distinct terms of a text, ascending.
type TermSet []uint32

// TextTerms are the distinct terms of a text.
type TextTerms struct {
	Of    *Vocabulary
	Order []uint32 // of their first places
	Set   TermSet
}

// Read returns the terms of a text.
func (v *Vocabulary) Read(s string) *TextTerms {
	v.reading++
	var order []uint32
	text.English.Each(s, func(term string) bool {
		n, ok := v.numbers[term]
		if !ok {
			n = uint32(len(v.numbers))
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
	return &TextTerms{v, order, set}
}

func (v *Vocabulary) TermsOf(s string) TermSet { return v.Read(s).Set }

// Common returns how many terms two sets share.
func (t TermSet) Common(o TermSet) (n int64) {
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

// Overlap returns the share that two sets have in common of what either has, in units of 2^-16: as
// clause 11.2 compares texts.
func (t TermSet) Overlap(o TermSet) int64 {
	both := t.Common(o)
	if either := int64(len(t)+len(o)) - both; either > 0 {
		return both * fixed.One / either
	}
	return 0
}
