package memory

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/dates"
	"github.com/mnem-project/mnem/internal/fixed"
	"github.com/mnem-project/mnem/internal/text"
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
	q.counts = slices.ContainsFunc(countRuns, func(r string) bool { return strings.Contains(s, r) })
	q.readWords(a, askingRuns.Replace(s), readings)
	q.markDates(s, day)
	return q
}

// readWords collects the words of a question.
func (q *checkQuery) readWords(a *text.Analyzer, s string, readings []retrieve.Reading) {
	var list []text.Surface
	var tokens []string
	a.EachSurface(s, func(w text.Surface) bool {
		w.Token = strings.Clone(w.Token)
		list, tokens = append(list, w), append(tokens, w.Token)
		return len(list) < 4*maxCheckWords
	})
	lang := languageOf(tokens)
	joined := " " + strings.Join(tokens, " ") + " "
	q.counts = q.counts || slices.ContainsFunc(countPhrases, func(p string) bool {
		return strings.Contains(joined, " "+p+" ")
	})
	if len(tokens) > 0 && questionStarts[tokens[0]] {
		q.question = true
	}
	as := make(map[string]string, len(readings))
	for _, r := range readings {
		as[r.Term] = r.As
	}
	of := make(map[string]*checkWord)
	for i, w := range list {
		if negates(w.Token) {
			q.negated = !q.negated
		}
		term, ok := a.WordTerm(w.Token)
		switch {
		case !ok, lang != nil && lang.words[w.Token], lang == nil && askingEnglish[w.Token]:
			continue
		}
		if read := as[term]; read != "" {
			term = read
		}
		word := of[term]
		if word == nil {
			if len(q.words) == maxCheckWords {
				break
			}
			word = &checkWord{shown: s[w.Start:w.End], term: term}
			if isRun(w.Token) {
				word.shown = w.Token // a bigram stands in a longer run
			}
			of[term], q.words = word, append(q.words, word)
		}
		word.number = word.number || w.Digit
		begins := i == 0 || endsSentence(s[list[i-1].End:max(list[i-1].End, w.Start)])
		capital := w.Inner || w.Capital && !begins
		word.name = word.name || capital && !w.Digit && (lang == nil || !lang.nouns)
	}
	if allCapital(list) {
		for _, w := range q.words {
			w.name = false
		}
	}
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

// markDates finds the words that dates of the question are made of: those without which it names
// others.
func (q *checkQuery) markDates(s string, day dates.Now) {
	if len(q.dates) == 0 {
		return
	}
	tried := 0
	for _, w := range q.words {
		if tried++; tried > maxDateWords {
			return
		}
		less := strings.ReplaceAll(s, w.shown, " ")
		if !slices.Equal(dates.Read(less, day).Ranges, q.dates) {
			w.date, w.name, w.number = true, false, false
		}
	}
}

// weigh gives each word what it tells: log2 of how many memories there are for each that has it.
func (q *checkQuery) weigh(nodes []int64, of int64) {
	all := uint64(max(of, 0)) + priorMemories
	for i, w := range q.words {
		w.nodes = nodes[i]
		df := uint64(min(max(nodes[i], 0), of))
		w.weight = max(1, fixed.Log2(2*all+2)-fixed.Log2(2*df+1))
		q.total += w.weight
	}
	q.floor = fixed.Log2(all)
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
