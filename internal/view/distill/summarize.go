package distill

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/text"
)

// Constants of the summariser.
const (
	// ClusterTokens and RootTokens bound the text of a digest.
	ClusterTokens = 120
	RootTokens    = 240

	longSentence  = 300  // scalars: longer ones are cut
	maxCandidates = 2000 // sentences that a digest is chosen from
)

// Weights for choosing sentences. Shares are in sixteenths.
const (
	weighTelling = 2  // of a term with a digit, or of a name, on top of the logarithm of how many sentences have it
	shareCovered = 8  // share of its weight that a term keeps if an earlier sentence has it
	shareFirst   = 8  // share that the first sentence of a fact gets in addition
	shareEarly   = 8  // share that the earliest sentence gets in addition, and later ones less
	moreTokens   = 12 // tokens that each sentence counts in addition to its own
	sixteenths   = 16
)

// phatic are words that people say to be kind, and that say nothing of the matter: their terms have no weight.
var phatic = strings.Fields(`wow hey hi hello thanks thank yeah yes oh ok okay bye lol haha sure great awesome cool
	nice amazing glad totally definitely really absolutely congrats congratulations`)

// Negations are words next to which a sentence is not cut.
var Negations = []string{
	"not", "no", "never", "none", "nor", "neither", "without", "cannot", "nicht", "kein", "keine", "nie",
	"pas", "jamais", "sans", "no", "nunca", "sin", "non", "mai", "senza", "niet", "geen", "não",
}

// Sentences returns the sentences of a fact, as digests have them.
func (f *Fact) Sentences() []Sentence { return sentencesOf(f.ID, f.Created, f.Text) }

// sentencesOf splits a text into sentences. One of more than longSentence scalars is cut at white space, preferably not
// next to a number, a capital or a negation.
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

type choice struct {
	Sentence
	terms  []int
	tokens int
	taken  bool
	early  int64 // in units of 2^-16: One for the first, and less for each after it
}

type chooser struct {
	*text.Analyzer
	early   int64          // shareEarly, or 0
	numbers map[string]int // of terms
	terms   []termWeight
	names   map[string]bool // terms of words with a capital that begin no sentence
	choices []*choice
}

// termWeight is a term of sentences: while they are read, how many have it, and then its weight.
type termWeight struct {
	weight int64
	taken  bool // whether a chosen sentence has it
}

// Summarize chooses sentences of a text of at most so many tokens: those with the terms that many have and none before
// has said, with names and numbers, and rather early ones if the text has an introduction. The result is in order, and
// does not depend on the order of list.
func Summarize(list []Sentence, tokens int, introduced bool) []Sentence {
	c := &chooser{Analyzer: text.English, numbers: map[string]int{}, names: map[string]bool{}}
	if introduced {
		c.early = shareEarly
	}
	list = slices.Clone(list)
	slices.SortFunc(list, bySentence)
	seen := map[string]bool{}
	for _, s := range list[:min(len(list), maxCandidates)] {
		if !seen[s.Text] {
			seen[s.Text] = true
			c.read(s, tokens)
		}
	}
	c.weigh()
	return c.pick(tokens)
}

// read adds a sentence, which may be chosen if it fits into tokens.
func (c *chooser) read(s Sentence, tokens int) {
	one := &choice{Sentence: s, tokens: text.EstimateTokens(s.Text)}
	c.Each(s.Text, func(term string) bool {
		n, ok := c.numbers[term]
		if !ok {
			n = len(c.terms)
			c.numbers[term], c.terms = n, append(c.terms, termWeight{})
		}
		if !slices.Contains(one.terms, n) {
			one.terms = append(one.terms, n)
			c.terms[n].weight++
		}
		return true
	})
	_, rest, _ := strings.Cut(s.Text, " ")
	for word := range strings.SplitSeq(rest, " ") {
		if word != "" && word[0] >= 'A' && word[0] <= 'Z' {
			c.Each(word, func(term string) bool {
				c.names[term] = true
				return true
			})
		}
	}
	if len(one.terms) > 0 && one.tokens <= tokens {
		c.choices = append(c.choices, one)
	}
}

// weigh computes the weights of terms, and the positions of sentences.
func (c *chooser) weigh() {
	for term, n := range c.numbers { // each is changed once, whatever the order
		t := &c.terms[n]
		t.weight = fixed.Log2(uint64(1 + t.weight))
		if c.names[term] || strings.ContainsAny(term, "0123456789") {
			t.weight += weighTelling * fixed.One
		}
	}
	for _, word := range phatic {
		c.Each(word, func(term string) bool {
			if n, ok := c.numbers[term]; ok {
				c.terms[n].weight = 0
			}
			return true
		})
	}
	all := int64(len(c.choices))
	for i, one := range c.choices {
		one.early = (all - int64(i)) * fixed.One / all
	}
}

// pick takes the sentence that adds the most for its length, while there is one that fits.
func (c *chooser) pick(tokens int) []Sentence {
	var out []Sentence
	for len(out) < maxSentences {
		var best *choice
		most := int64(0)
		for _, one := range c.choices {
			if one.taken || one.tokens > tokens {
				continue
			}
			if v := c.value(one); v > most {
				best, most = one, v
			}
		}
		if best == nil {
			break
		}
		best.taken = true
		tokens -= best.tokens
		out = append(out, best.Sentence)
		for _, n := range best.terms {
			c.terms[n].taken = true
		}
	}
	slices.SortFunc(out, bySentence)
	return out
}

// value is the gain from a sentence per token; 0 if it says nothing new.
func (c *chooser) value(one *choice) int64 {
	fresh, old := int64(0), int64(0)
	for _, n := range one.terms {
		if t := &c.terms[n]; t.taken {
			old += t.weight
		} else {
			fresh += t.weight
		}
	}
	if fresh == 0 {
		return 0
	}
	v := fresh + old*shareCovered/sixteenths
	if one.Place == 0 {
		v += v * shareFirst / sixteenths
	}
	v += v * c.early / sixteenths * one.early / fixed.One
	return v / int64(one.tokens+moreTokens)
}
