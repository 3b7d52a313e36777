package check

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/base/dates"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/retrieve"
)

// Bounds of what check reads of a question.
const (
	maxCheckWords   = 256 // distinct words that weigh anything
	maxCheckPhrases = 16  // quoted phrases
	maxDateWords    = 64  // words that are tried whether a date is made of them
)

// priorMemories is how many memories a memory is taken to have beside its own, with none of the words
// of the question: else a memory of three would find that no word tells anything.
const priorMemories = 256

// Kinds of what a question wants and a memory may lack.
const (
	MissingWord     = "word"     // a telling word
	MissingUnknown  = "unknown"  // a word that no memory has
	MissingName     = "name"     // a name
	MissingNumber   = "number"   // a number of the question
	MissingPhrase   = "phrase"   // a quoted phrase
	MissingDate     = "date"     // the date of the question: neither said nor the memory's own time
	MissingCount    = "count"    // any number, where the question asks how many
	MissingTopic    = "topic"    // any word but names, numbers and dates
	MissingNegation = "negation" // the statement denies what the memory says, or the other way round
	MissingLead     = "lead"     // being ahead of the next: several memories fit about as well
	MissingEvidence = "evidence" // words rare enough that they are no chance
	MissingCertain  = "certain"  // being undisputed: the memory is marked stale or contradicted
	MissingAsserted = "asserted" // a statement: the memory asks the same
)

// checkWord is a distinct word of a question that weighs something.
type checkWord struct {
	shown  string
	at     int // where it stands first, in bytes
	end    int
	term   string // as the index has it, and read by its spelling
	nodes  int64  // that have it
	weight int64  // units of 2^-16
	name   bool
	number bool
	date   bool // part of a date
}

// checkQuery is a question as check reads it.
type checkQuery struct {
	words    []*checkWord // in the order of the question
	phrases  [][]string   // tokens of quoted phrases
	shown    []string     // of phrases, as the question has them
	dates    []dates.Range
	counts   bool // whether it asks how many
	question bool // rather than a statement
	negated  bool
	total    int64 // weight of all words
	floor    int64 // log2 of how many memories there are: what chance explains
}

// readCheck reads a question but for its weights.
func readCheck(a *text.Analyzer, s string, readings []retrieve.Reading, day dates.Now) *checkQuery {
	q := &checkQuery{question: isQuestion(s), dates: dates.Read(s, day).Ranges}
	for _, span := range quotedParts(s) {
		var tokens []string
		a.EachSurface(span, func(w text.Surface) bool {
			tokens = append(tokens, strings.Clone(w.Token))
			return true
		})
		if len(tokens) > 1 && len(q.phrases) < maxCheckPhrases {
			q.phrases, q.shown = append(q.phrases, tokens), append(q.shown, span)
		}
	}
	q.counts = wordLists().within("countRuns", s)
	q.readWords(a, wordLists().gaps.Replace(s), readings)
	q.markDates(s, day)
	return q
}

// readWords collects the words of a question.
func (q *checkQuery) readWords(a *text.Analyzer, s string, readings []retrieve.Reading) {
	lists := wordLists()
	var list []text.Surface
	var tokens []string
	other := false // whether there is anything but hiragana
	a.EachSurface(s, func(w text.Surface) bool {
		w.Token = strings.Clone(w.Token)
		list, tokens = append(list, w), append(tokens, w.Token)
		other = other || !isHiragana(w.Token)
		return len(list) < 4*maxCheckWords
	})
	joined := " " + strings.Join(tokens, " ") + " "
	q.counts = q.counts || slices.ContainsFunc(lists.lists["counts"], func(p string) bool {
		return strings.Contains(joined, " "+p+" ")
	})
	q.question = q.question || len(tokens) > 0 && lists.has("starts", tokens[0])
	lang := lists.languageOf(tokens)
	c := &wordCollector{q: q, a: a, s: s, lang: lang, as: make(map[string]string, len(readings)),
		of: make(map[string]*checkWord)}
	for _, r := range readings {
		c.as[r.Term] = r.As
	}
	for i, w := range list {
		if lists.negates(w.Token) {
			q.negated = !q.negated
		}
		if other && isHiragana(w.Token) {
			continue
		}
		begins := i == 0 || endsSentence(s[list[i-1].End:max(list[i-1].End, w.Start)])
		c.add(w, begins)
	}
	if allCapital(list) {
		for _, w := range q.words {
			w.name = false
		}
	}
}

// wordCollector collects the words of one question.
type wordCollector struct {
	q    *checkQuery
	a    *text.Analyzer
	s    string
	lang *checkLanguage    // nil for English, and for what is of none that is known
	as   map[string]string // what terms are read as
	of   map[string]*checkWord
}

// add adds a word, unless it weighs nothing.
func (c *wordCollector) add(w text.Surface, begins bool) {
	term, ok := c.a.WordTerm(w.Token)
	switch {
	case !ok, c.lang != nil && c.lang.words[w.Token],
		c.lang == nil && wordLists().has("asking", w.Token):
		return
	}
	if read := c.as[term]; read != "" {
		term = read
	}
	word := c.of[term]
	if word == nil {
		if len(c.q.words) == maxCheckWords {
			return
		}
		word = &checkWord{shown: c.s[w.Start:w.End], at: w.Start, end: w.End, term: term}
		if isRun(w.Token) {
			word.shown = w.Token // a bigram stands in a longer run
		}
		c.of[term], c.q.words = word, append(c.q.words, word)
	}
	word.number = word.number || w.Digit
	capital := w.Inner || w.Capital && !begins
	word.name = word.name || capital && !w.Digit && (c.lang == nil || !c.lang.nouns)
}

// isRun reports whether a token is of a script written without spaces.
func isRun(token string) (single bool) {
	text.EachFolded(token, func(_, _ int, kind text.Kind, _ string) bool {
		single = kind == text.KindSingle
		return false
	})
	return single
}

// endsSentence reports whether a sentence ends in what stands between two words.
func endsSentence(between string) bool { return strings.ContainsAny(between, ".!?。！？\n") }

// allCapital reports whether case tells nothing, since every word begins with a capital.
func allCapital(list []text.Surface) bool {
	letters := 0
	for _, w := range list {
		if w.Digit {
			continue
		}
		if !w.Capital {
			return false
		}
		letters++
	}
	return letters > 2
}

// markDates finds the words that dates of the question are made of: the first maxDateWords without
// which it names other dates. A word in a longer run of a script without spaces is none.
func (q *checkQuery) markDates(s string, day dates.Now) {
	if len(q.dates) == 0 {
		return
	}
	for _, w := range q.words[:min(len(q.words), maxDateWords)] {
		if w.end-w.at > len(w.shown) {
			continue
		}
		less := s[:w.at] + " " + s[w.end:]
		if !slices.Equal(dates.Read(less, day).Ranges, q.dates) {
			w.date, w.name, w.number = true, false, false
		}
	}
}

// weigh gives each word what it tells.
func (q *checkQuery) weigh(nodes []int64, of int64) {
	for i, w := range q.words {
		w.nodes = nodes[i]
		w.weight, _ = CheckWeight(of, nodes[i])
		q.total += w.weight
	}
	_, q.floor = CheckWeight(of, 0)
}

// CheckWeight returns what a word tells that so many of all nodes have, and what chance explains: log2
// of how many memories there are for each that has it, and of how many there are. Units of 2^-16.
func CheckWeight(nodes, having int64) (weight, floor int64) {
	all := uint64(max(nodes, 0)) + priorMemories
	df := uint64(min(max(having, 0), max(nodes, 0)))
	return max(1, fixed.Log2(2*all+2)-fixed.Log2(2*df+1)), fixed.Log2(all)
}

// terms returns the terms of the words.
func (q *checkQuery) terms() []string {
	out := make([]string, len(q.words))
	for i, w := range q.words {
		out[i] = w.term
	}
	return out
}

// quotePairs are quotation marks.
var quotePairs = []struct{ open, shut string }{
	{`"`, `"`}, {"`", "`"}, {"“", "”"}, {"„", "“"}, {"«", "»"}, {"「", "」"}, {"『", "』"}, {"《", "》"},
}

// quotedParts returns what stands in quotation marks, from left to right.
func quotedParts(s string) []string {
	var out []string
	for len(s) > 0 && len(out) < maxCheckPhrases {
		at, best := math.MaxInt, -1
		for i, p := range quotePairs {
			if n := strings.Index(s, p.open); n >= 0 && n < at {
				at, best = n, i
			}
		}
		if best < 0 {
			return out
		}
		p := quotePairs[best]
		s = s[at+len(p.open):]
		part, rest, ok := strings.Cut(s, p.shut)
		if ok {
			out, s = append(out, part), rest
		}
	}
	return out
}

// heaviest orders words by what they tell, the most first, and then as the question has them.
func heaviest(words []*checkWord) []*checkWord {
	out := slices.Clone(words)
	slices.SortStableFunc(out, func(a, b *checkWord) int { return cmp.Compare(b.weight, a.weight) })
	return out
}
