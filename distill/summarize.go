package distill

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/fixed"
	"github.com/mnem-project/mnem/internal/text"
)

// Constants of the summariser, version 1.
const (
	// ClusterTokens and RootTokens bound the text of a digest.
	ClusterTokens = 120
	RootTokens    = 240

	longSentence  = 300  // scalars: longer ones are cut
	maxCandidates = 2000 // sentences that a digest is chosen from

	centralShare = 8  // a term that is covered counts as much less
	firstShare   = 8  // what the first sentence of a fact gets in addition
	lengthOffset = 12 // tokens that each sentence counts beside its own
)

// Negations are words that a sentence is not cut beside.
var Negations = []string{
	"not", "no", "never", "none", "nor", "neither", "without", "cannot", "nicht", "kein", "keine", "nie",
	"pas", "jamais", "sans", "no", "nunca", "sin", "non", "mai", "senza", "niet", "geen", "não",
}

// sentencesOf splits a text into sentences. One of more than longSentence scalars is cut where white
// space is, and rather not beside a number, a capital or a negation.
func sentencesOf(fact graph.ID, created graph.Time, s string) []Sentence {
	var out []Sentence
	text.EachSentence(s, MaxText, func(at text.Sentence) bool {
		for one := s[at.Start:at.End]; one != ""; {
			n := cut(one)
			part := strings.TrimSpace(one[:n])
			if part != "" {
				out = append(out, Sentence{Fact: fact, Created: created, Place: len(out), Text: text.EscapeLine(part)})
			}
			one = one[n:]
		}
		return len(out) < maxCandidates
	})
	return out
}

// cut returns the length of the first part of a sentence.
func cut(s string) int {
	if utf8.RuneCountInString(s) <= longSentence {
		return len(s)
	}
	head := text.FirstScalars(s, longSentence)
	blank, plain := 0, 0
	for i := 1; i < len(head); i++ {
		if head[i] != ' ' && head[i] != '\n' && head[i] != '\t' {
			continue
		}
		blank = i
		before := head[strings.LastIndexAny(head[:i], " \n\t")+1 : i]
		after, _, _ := strings.Cut(s[i+1:], " ")
		if i > len(head)/3 && isPlain(before) && isPlain(after) {
			plain = i
		}
	}
	switch {
	case plain > 0:
		return plain
	case blank > 0:
		return blank
	}
	return len(head)
}

// isPlain reports whether a word is neither a number, nor a name, nor a negation.
func isPlain(word string) bool {
	for i := range len(word) {
		if c := word[i]; c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' {
			return false
		}
	}
	return !slices.Contains(Negations, strings.Trim(word, ".,;:!?\"'()")) && !strings.HasSuffix(word, "n't")
}

// choice is a sentence that may be chosen.
type choice struct {
	Sentence
	terms  []int
	tokens int
	taken  bool
}

// Summarize chooses sentences of a text of at most so many tokens: those whose terms are those of many,
// and not yet said. The result is in order, and does not depend on the order of list.
func Summarize(list []Sentence, tokens int) ([]Sentence, error) {
	a, err := analyser()
	if err != nil {
		return nil, err
	}
	list = slices.Clone(list)
	slices.SortFunc(list, bySentence)
	numbers, weights := map[string]int{}, []int64{}
	var all []*choice
	seen := map[string]bool{}
	for _, s := range list[:min(len(list), maxCandidates)] {
		if seen[s.Text] {
			continue
		}
		seen[s.Text] = true
		c := &choice{Sentence: s, tokens: text.EstimateTokens(s.Text)}
		a.Each(s.Text, func(term string) bool {
			n, ok := numbers[term]
			if !ok {
				n = len(weights)
				numbers[term], weights = n, append(weights, 0)
			}
			if !slices.Contains(c.terms, n) {
				c.terms = append(c.terms, n)
				weights[n]++
			}
			return true
		})
		if len(c.terms) > 0 && c.tokens <= tokens {
			all = append(all, c)
		}
	}
	for term, n := range numbers { // each is changed once, whatever the order
		weights[n] = fixed.Log2(uint64(1 + weights[n]))
		if strings.ContainsAny(term, "0123456789") {
			weights[n] += fixed.One
		}
	}
	return pick(all, weights, tokens), nil
}

// pick takes the sentence that adds the most for its length, while there is one that fits.
func pick(all []*choice, weights []int64, tokens int) []Sentence {
	covered := make([]bool, len(weights))
	var out []Sentence
	for len(out) < maxSentences {
		var best *choice
		most := int64(0)
		for _, c := range all {
			if c.taken || c.tokens > tokens {
				continue
			}
			if v := c.value(weights, covered); v > most {
				best, most = c, v
			}
		}
		if best == nil {
			break
		}
		best.taken = true
		tokens -= best.tokens
		out = append(out, best.Sentence)
		for _, t := range best.terms {
			covered[t] = true
		}
	}
	slices.SortFunc(out, bySentence)
	return out
}

// value is what a sentence adds, for each token; 0 where it says nothing new.
func (c *choice) value(weights []int64, covered []bool) int64 {
	fresh, sum := int64(0), int64(0)
	for _, t := range c.terms {
		sum += weights[t]
		if !covered[t] {
			fresh += weights[t]
		}
	}
	if fresh == 0 {
		return 0
	}
	v := fresh + (sum-fresh)/centralShare
	if c.Place == 0 {
		v += v / firstShare
	}
	return v / int64(c.tokens+lengthOffset)
}
