package check

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/dates"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

const (
	// maxCheckText is how many scalars of each text of a memory count.
	maxCheckText = 8192
	// maxSpanSentences is how many sentences in a row may hold what a question asks. A long text has
	// most words somewhere; it answers where they stand together.
	maxSpanSentences = 2
	// maxSpanText is how many scalars of a span are shown.
	maxSpanText = 240
)

// Memory says which memory holds something, and the words that do.
type Memory struct {
	ID    graph.ID    `json:"id"`
	Key   string      `json:"key" shape:"null"` // "" for none
	Type  string      `json:"type"`
	Title string      `json:"title"`              // first line of its summary, else of its content
	Span  string      `json:"span" shape:"null"`  // the sentences that hold the most, at most 240 scalars of them
	State graph.State `json:"state" shape:"null"` // of its mark, "" for none
}

// Signals are what a memory is judged by, in units of 2^-16.
type Signals struct {
	// Coverage is the share of the weight of the question's words that it holds: 0 to 65,536.
	Coverage int64 `json:"coverage"`
	// Evidence is log2 of how unlikely it is that one of all memories has these words by chance: the
	// weight of the words less log2 of how many memories there are. Negative where chance does it.
	Evidence int64 `json:"evidence"`
	// Lead is how far it is ahead of the next: the share of its score that this lacks. 0 for one that
	// is not ahead.
	Lead    int64            `json:"lead"`
	Score   int64            `json:"score"`             // that retrieval gave it
	Cosines map[string]int64 `json:"cosines,omitempty"` // by model, of the vectors that the caller brought
	Held    []string         `json:"held"`              // words of the question that it holds, the most telling first
}

// Evidence is what one memory holds of a question.
type Evidence struct {
	Memory
	Signals
	Missing []Missing // why it is not STRONG, empty for one that is and for those that are not best

	tier   int
	topics int       // words that are no name, number or date and are held
	flaws  []Missing // why it is not STRONG whatever the thresholds are
	unsaid []Missing // ordinary words that it does not hold, the most telling first
}

// Missing is what a memory lacks to be relied on.
type Missing struct {
	Kind string `json:"kind"`              // MissingWord and the others
	Text string `json:"text" shape:"null"` // the word, name, phrase or number; "" where the kind says it all
}

// sentenceOf is a sentence of a memory and the words of the question in it, as their places.
type sentenceOf struct {
	start, end int
	words      []int
	negated    bool
	asks       bool
}

// weigher finds what memories hold of one question.
type weigher struct {
	s     *core.Snapshot
	a     *text.Analyzer
	q     *checkQuery
	place map[string]int // of terms among the words
}

func newWeigher(s *core.Snapshot, a *text.Analyzer, q *checkQuery) *weigher {
	w := &weigher{s: s, a: a, q: q, place: make(map[string]int, len(q.words))}
	for i, word := range q.words {
		w.place[word.term] = i
	}
	return w
}

// checkFields are the texts of a memory.
type checkFields struct {
	long  [3]string // summary, context, content
	short []string  // type and strings of properties: they count with every sentence
}

func (w *weigher) checkFields(ctx context.Context, n *graph.Node) (checkFields, error) {
	f := checkFields{long: [3]string{n.Summary, n.Context, ""}, short: []string{n.Type}}
	if n.Content != nil {
		start, err := w.s.ContentStart(ctx, n.Content, maxCheckText*utf8.UTFMax)
		if err != nil {
			return f, err
		}
		f.long[2] = start
	}
	for i, s := range f.long {
		f.long[i] = text.FirstScalars(s, maxCheckText)
	}
	left := maxCheckText
	add := func(v ipld.Value) {
		if v.Kind() == ipld.String && left > 0 {
			s := text.FirstScalars(v.Text(), left)
			left -= utf8.RuneCountInString(s)
			f.short = append(f.short, s)
		}
	}
	for _, e := range n.Props {
		add(e.Value)
		for _, item := range e.Value.List() {
			add(item)
		}
	}
	return f, nil
}

// weigh returns what a memory holds.
func (w *weigher) weigh(ctx context.Context, it *retrieve.Item) (*Evidence, error) {
	n, _, err := w.s.Node(ctx, it.ID)
	if err != nil {
		return nil, err
	}
	f, err := w.checkFields(ctx, n)
	if err != nil {
		return nil, err
	}
	e := &Evidence{
		Memory:  Memory{ID: n.ID, Key: n.Key, Type: n.Type, Title: checkTitle(n, f)},
		Signals: Signals{Score: it.Score}, tier: it.Tier,
	}
	mark, err := w.s.Mark(ctx, graph.OnNode, n.ID)
	switch {
	case err != nil:
		return nil, err
	case mark != nil && mark.State == graph.Contradicted:
		disputed, err := memory.Disputed(ctx, w.s, mark)
		if err != nil {
			return nil, err
		}
		if disputed {
			e.State = mark.State
		}
	case mark != nil:
		e.State = mark.State
	}
	for _, l := range it.Lanes {
		if model, ok := strings.CutPrefix(string(l.Lane), "dense:"); ok {
			if e.Cosines == nil {
				e.Cosines = make(map[string]int64)
			}
			e.Cosines[model] = l.Score
		}
	}
	w.hold(e, n, f)
	return e, nil
}

// checkTitle returns the first line of a memory, shortened.
func checkTitle(n *graph.Node, f checkFields) string {
	for _, s := range f.long {
		if line, _, _ := strings.Cut(strings.TrimSpace(s), "\n"); line != "" {
			return text.CapScalars(line, maxSpanText)
		}
	}
	return n.Type
}

// hold fills in what a memory holds: the words of its short texts, and of the few sentences in a row
// that have the most weight. A question asserts nothing, so sentences that ask do not count.
func (w *weigher) hold(e *Evidence, n *graph.Node, f checkFields) {
	have := make([]bool, len(w.q.words))
	for _, s := range f.short {
		w.each(s, func(at int) { have[at] = true })
	}
	timed := w.timed(n)
	for i, word := range w.q.words {
		have[i] = have[i] || word.date && timed
	}
	best, asked := heldSpan{}, false
	for field, s := range f.long {
		sentences := w.sentences(s)
		for _, x := range sentences {
			asked = asked || x.asks && len(x.words) > 0
		}
		if got := w.best(sentences, have); got.weight > best.weight {
			best, best.text = got, shownSpan(f.long[field], got)
		}
	}
	for _, at := range best.words {
		have[at] = true
	}
	w.sum(e, have)
	e.Span = best.text
	w.lacks(e, f, have, timed, asked, best)
}

// sum adds up what is held.
func (w *weigher) sum(e *Evidence, have []bool) {
	held := int64(0)
	var words []*checkWord
	for i, word := range w.q.words {
		if !have[i] {
			continue
		}
		held += word.weight
		words = append(words, word)
		if !word.name && !word.number && !word.date {
			e.topics++
		}
	}
	for _, word := range heaviest(words) {
		e.Held = append(e.Held, word.shown)
	}
	if w.q.total > 0 {
		e.Coverage = int64(fixed.MulDivSat(uint64(held), fixed.One, uint64(w.q.total)))
	}
	e.Evidence = held - w.q.floor
}

// each calls fn with the place of each word of the question that a text has, as often as it does.
func (w *weigher) each(s string, fn func(at int)) {
	w.a.EachOfField(s, func(term string, _ bool) bool {
		if at, ok := w.place[term]; ok {
			fn(at)
		}
		return true
	})
}

func (w *weigher) sentences(s string) []sentenceOf {
	var out []sentenceOf
	text.EachSentence(s, maxCheckText, func(x text.Sentence) bool {
		part := s[x.Start:x.End]
		o := sentenceOf{start: x.Start, end: x.End, asks: isQuestion(part)}
		w.each(unaddressed(w.a, part), func(at int) {
			if !slices.Contains(o.words, at) {
				o.words = append(o.words, at)
			}
		})
		if len(o.words) > 0 {
			w.a.EachWord(part, func(word string, _ bool) bool {
				if wordLists().negates(word) {
					o.negated = !o.negated
				}
				return true
			})
		}
		out = append(out, o)
		return true
	})
	return out
}

// heldSpan is a few sentences in a row.
type heldSpan struct {
	start, end int
	weight     int64
	words      []int
	negated    bool
	text       string
}

// best returns the sentences in a row, at most maxSpanSentences, whose words weigh the most beside
// those that are held anyway: of several the fewest, and then the first.
func (w *weigher) best(list []sentenceOf, have []bool) heldSpan {
	var best heldSpan
	for from := range list {
		if list[from].asks || len(list[from].words) == 0 {
			continue
		}
		cur := heldSpan{start: list[from].start}
		var seen []int
		for to := from; to < len(list) && to < from+maxSpanSentences; to++ {
			if list[to].asks {
				continue
			}
			for _, at := range list[to].words {
				if slices.Contains(seen, at) {
					continue
				}
				seen = append(seen, at)
				cur.weight++ // so that what is held anyway is shown where it is said
				if !have[at] {
					cur.weight += w.q.words[at].weight
				}
			}
			cur.end = list[to].end
			if len(list[to].words) > 0 {
				cur.negated = cur.negated != list[to].negated
			}
			if cur.weight > best.weight {
				best = cur
				best.words = slices.Clone(seen)
			}
		}
	}
	return best
}

func shownSpan(s string, x heldSpan) string {
	return text.CapScalars(strings.Join(strings.Fields(s[x.start:x.end]), " "), maxSpanText)
}

// timed reports whether a memory's own time, which is its validity or else its creation, has any of a
// time that the question names: clause 9.9 says what a node's time is.
func (w *weigher) timed(n *graph.Node) bool {
	first := int64(n.Created)
	last := first
	if n.ValidFrom.Given {
		first, last = int64(n.ValidFrom.Time), dates.NoTo
	}
	if n.ValidTo.Given {
		last = max(first, int64(n.ValidTo.Time)-1)
	}
	return slices.ContainsFunc(w.q.dates, func(r dates.Range) bool {
		return first < r.To && last >= r.From
	})
}

// lacks finds what the question wants and a memory has not, whatever the thresholds are.
func (w *weigher) lacks(e *Evidence, f checkFields, have []bool, timed, asked bool, best heldSpan) {
	miss := func(kind, s string) { e.flaws = append(e.flaws, Missing{kind, s}) }
	dated := false
	var unsaid []*checkWord
	for i, word := range w.q.words {
		switch {
		case have[i]:
		case word.date:
			dated = true
		case word.nodes == 0:
			miss(MissingUnknown, word.shown)
		case word.name:
			miss(MissingName, word.shown)
		case word.number:
			miss(MissingNumber, word.shown)
		default:
			unsaid = append(unsaid, word)
		}
	}
	for _, word := range heaviest(unsaid) {
		e.unsaid = append(e.unsaid, Missing{MissingWord, word.shown})
	}
	if dated && !timed {
		miss(MissingDate, "")
	}
	for i, p := range w.q.phrases {
		if !w.hasPhrase(f, p) {
			miss(MissingPhrase, w.q.shown[i])
		}
	}
	if e.topics == 0 && e.tier == 0 {
		miss(MissingTopic, "")
	}
	if w.q.counts && !w.hasNumber(f) {
		miss(MissingCount, "")
	}
	if asked && len(best.words) == 0 {
		miss(MissingAsserted, "")
	}
	if !w.q.question && w.q.negated != best.negated && len(best.words) > 0 {
		miss(MissingNegation, "")
	}
	if e.State != "" {
		miss(MissingCertain, string(e.State))
	}
}

func (f checkFields) all() []string { return append(f.long[:], f.short...) }

// hasPhrase reports whether the words of a phrase stand one after the other in one text.
func (w *weigher) hasPhrase(f checkFields, phrase []string) bool {
	for _, s := range f.all() {
		var tokens []string
		w.a.EachSurface(s, func(x text.Surface) bool {
			tokens = append(tokens, strings.Clone(x.Token))
			return true
		})
		for at := 0; at+len(phrase) <= len(tokens); at++ {
			if slices.Equal(tokens[at:at+len(phrase)], phrase) {
				return true
			}
		}
	}
	return false
}

// hasNumber reports whether a memory says any number, in digits or words.
func (w *weigher) hasNumber(f checkFields) (has bool) {
	for _, s := range f.all() {
		w.a.EachSurface(s, func(x text.Surface) bool {
			has = has || x.Digit || wordLists().saysNumber(x.Token)
			return !has
		})
	}
	return has
}
