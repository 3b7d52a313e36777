package stage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/dates"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/rarity"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// Constants of reasons: clause 11.9.
const (
	maxLacking = 3             // words that are named as missing
	maxNamed   = 6             // words that are named as there
	restated   = fixed.One / 2 // of a memory's terms that a statement must have to say the same, or its contrary
	nearTie    = 15 * fixed.One / 16
	alikeTexts = fixed.One / 2 // similarity from which only one of two memories can be meant
	closeBy    = fixed.One / 2 // the least likeness that a reason mentions
)

// askedWord is a distinct term of the question with a weight.
type askedWord struct {
	term  string
	shown string // as the text has it
	tells int64
	held  int64 // the best candidate's share of it
	known bool  // whether any node has it
}

// reason explains the verdict, and downgrades known if the best candidate lacks something that likeness cannot replace.
func (e *examiner) reason(ctx context.Context, v *judged) error {
	if len(v.list) == 0 {
		return e.reasonOfNone(ctx, v)
	}
	best := v.list[0]
	for _, h := range v.list[1:min(2, len(v.list))] {
		if best.tier == tierNone && h.strength() > best.strength() {
			best = h
		}
	}
	v.covered = best.strength()
	if best.tier != tierNone {
		v.because, v.covered = "the question names it", fixed.One
		return nil
	}
	n, _, err := e.g.Node(ctx, best.id)
	if err != nil {
		return fmt.Errorf("read node %s: %w", best.id, err)
	}
	asked, err := e.bestWording(ctx, best.id)
	if err != nil {
		return err
	}
	words, err := e.askedWords(ctx, asked, best.id)
	if err != nil {
		return err
	}
	if v.verdict == retrieve.Unknown {
		v.because = unknownBecause(words)
		return nil
	}
	flaw, err := e.flaws(ctx, v, asked.Text, best, n, words)
	if err != nil {
		return err
	}
	for _, w := range heaviest(words, func(w askedWord) bool { return w.held == 0 }, maxLacking) {
		if !slices.ContainsFunc(v.missing, func(l retrieve.Lack) bool { return strings.Contains(l.Text, w.shown) }) {
			v.missing = append(v.missing, retrieve.Lack{Kind: retrieve.LackWord, Text: w.shown})
		}
	}
	switch {
	case flaw != "":
		v.verdict, v.because = retrieve.Unsure, flaw
	case v.verdict == retrieve.Known:
		v.because = knownBecause(best, words)
	case len(v.missing) > 0:
		v.because = "the nearest does not say " + quotedLacks(v.missing)
	default:
		v.because = "the nearest may be about something else"
	}
	return nil
}

// reasonOfNone names the words of the text that nothing stored has.
func (e *examiner) reasonOfNone(ctx context.Context, v *judged) error {
	v.because = "nothing that may be shown mentions it"
	words, err := e.askedWords(ctx, source.TextQuery{Text: e.req.Text, Readings: e.readings}, graph.ID{})
	if err != nil {
		return err
	}
	if slices.ContainsFunc(words, func(w askedWord) bool { return !w.known }) {
		v.because = unknownBecause(words)
	}
	return nil
}

// bestWording returns the wording that a candidate covers best, of equal ones the text itself.
func (r *request) bestWording(ctx context.Context, id graph.ID) (source.TextQuery, error) {
	best := source.TextQuery{Text: r.req.Text, Readings: r.readings}
	most := int64(-1)
	for i, s := range append([]string{r.req.Text}, r.req.Rewrites...) {
		q := source.TextQuery{Text: s}
		if i == 0 {
			q = best
		}
		if isBlank(s) {
			continue
		}
		shares, err := r.covering(ctx, q, []graph.ID{id})
		if err != nil {
			return best, err
		}
		if shares[0] > most {
			best, most = q, shares[0]
		}
	}
	return best, nil
}

// askedWords returns the distinct terms of a wording with how much of each a candidate has: none for no candidate.
func (r *request) askedWords(ctx context.Context, q source.TextQuery, id graph.ID) ([]askedWord, error) {
	if isBlank(q.Text) {
		return nil, nil
	}
	w, err := r.wording(ctx, q)
	if err != nil {
		return nil, err
	}
	credits := make([]int64, len(w.own))
	if !id.IsZero() {
		rows, err := r.x.TermScores(ctx, w.query, []graph.ID{id}, nil)
		if err != nil {
			return nil, fmt.Errorf("split the score of the best item: %w", err)
		}
		w.credit(credits, rows[0], r.row.kinKnown)
	}
	shown := Surfaces(q.Text)
	for _, read := range q.Readings {
		shown[read.As] = read.Word
	}
	var out []askedWord
	for i, t := range w.own {
		if s := shown[t.Term]; s != "" {
			out = append(out, askedWord{t.Term, s, w.tells[i], credits[i], t.Weight > 0})
		}
	}
	return out, nil
}

// Surfaces returns for each term of a text the first word there that it is made of.
func Surfaces(s string) map[string]string {
	a := text.English
	out := map[string]string{}
	a.EachSurface(s, func(w text.Surface) bool {
		token := strings.Clone(w.Token)
		if term, ok := a.WordTerm(token); ok && out[term] == "" {
			out[term] = token
			if w.Capital || w.Inner || w.Digit {
				out[term] = s[w.Start:w.End]
			}
		}
		return len(out) < maxTold
	})
	return out
}

// heaviest returns the n heaviest of the words that keep accepts.
func heaviest(words []askedWord, keep func(askedWord) bool, n int) []askedWord {
	var out []askedWord
	for _, w := range words {
		if keep(w) {
			out = append(out, w)
		}
	}
	slices.SortStableFunc(out, func(a, b askedWord) int { return cmp.Compare(b.tells, a.tells) })
	return out[:min(n, len(out))]
}

func quotedWords(words []askedWord) string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = "'" + w.shown + "'"
	}
	return strings.Join(list, ", ")
}

func quotedLacks(list []retrieve.Lack) string {
	var out []string
	for _, l := range list[:min(len(list), maxLacking)] {
		out = append(out, "'"+l.Text+"'")
	}
	return strings.Join(out, ", ")
}

func unknownBecause(words []askedWord) string {
	none := heaviest(words, func(w askedWord) bool { return !w.known }, maxLacking)
	if len(none) > 0 {
		return "nothing stored mentions " + quotedWords(none)
	}
	return "nothing stored has more than a common word of it"
}

func knownBecause(best held, words []askedWord) string {
	has := heaviest(words, func(w askedWord) bool { return w.held == fixed.One }, maxNamed)
	lacks := slices.ContainsFunc(words, func(w askedWord) bool { return w.held < fixed.One })
	switch {
	case len(has) == 0:
		return "its meaning is close to what is asked"
	case !lacks:
		return "all of " + quotedWords(has) + " is in it"
	case best.like >= closeBy:
		return quotedWords(has) + " is in it, and its meaning is close to what is asked"
	}
	return quotedWords(has) + " is in it"
}

// flaws returns why the best candidate is not reliable, "" if it is, and records its lacks.
func (e *examiner) flaws(
	ctx context.Context, v *judged, asked string, best held, n *graph.Node, words []askedWord,
) (string, error) {
	mark, err := e.g.Mark(ctx, graph.OnNode, best.id)
	if err != nil {
		return "", fmt.Errorf("read mark on node %s: %w", best.id, err)
	}
	if err := e.lacks(ctx, v, asked, best, n, words); err != nil {
		return "", err
	}
	texts, err := comparedTexts(ctx, e.g, n)
	if err != nil {
		return "", err
	}
	marked := mark != nil && best.replaced == nil
	if marked && mark.State == graph.Contradicted && !mark.By.IsZero() {
		if marked, err = e.there(ctx, mark.By); err != nil {
			return "", err
		}
	}
	switch {
	case marked:
		return "the memory is marked " + string(mark.State), nil
	case len(v.missing) > 0:
		return "it does not say " + quotedLacks(v.missing), nil
	case onlyAsks(texts[:]):
		return "the memory only asks", nil
	case v.verdict != retrieve.Known: // it needs no rival to be unsure
		return "", nil
	}
	return e.contested(ctx, v, best)
}

func (r *request) there(ctx context.Context, id graph.ID) (bool, error) {
	_, _, err := r.g.Node(ctx, id)
	switch {
	case errors.Is(err, source.ErrNoNode): // it was removed or erased since
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read node %s: %w", id, err)
	}
	return r.filter.Passes(ctx, id)
}

// lacks records the names, numbers, quoted phrases and dates of the question that a candidate does not have, and
// whether one of the two negates the other.
func (e *examiner) lacks(
	ctx context.Context, v *judged, asked string, best held, n *graph.Node, words []askedWord,
) error {
	a, lang := text.English, languageOf(asked)
	heldTerm := func(term string) bool {
		return slices.ContainsFunc(words, func(w askedWord) bool { return w.term == term && w.held == fixed.One })
	}
	list := entitiesOf(a, asked)
	m := newMatcher(a)
	for _, one := range list {
		m.learn(one)
	}
	has, err := e.entitiesIn(ctx, m, n, list)
	if err != nil {
		return err
	}
	for i, one := range list {
		nouns := one.kind == retrieve.LackName && lang != nil && lang.Nouns
		if has>>i&1 == 0 && !nouns && (one.kind == retrieve.LackPhrase || !all(one.terms, heldTerm)) && !e.isDate(one) {
			v.missing = append(v.missing, retrieve.Lack{Kind: one.kind, Text: one.shown})
		}
	}
	if w := onlyNamed(words, list, lang); w != nil && len(v.missing) == 0 {
		v.missing = append(v.missing, retrieve.Lack{Kind: retrieve.LackWord, Text: w.shown})
	}
	if e.denies(a, n) {
		v.missing = append(v.missing, retrieve.Lack{Kind: retrieve.LackNegation, Text: "not"})
	}
	return e.lacksDate(ctx, v, best, words)
}

// onlyNamed returns the heaviest word of a question other than its names, if the best candidate has no telling word but
// names: it is about the right person, but about another matter. It returns nil if the candidate has such a word, and
// for a question without names or of names alone.
func onlyNamed(words []askedWord, list []*entity, lang *rarity.Language) (most *askedWord) {
	if lang != nil && lang.Nouns {
		return nil
	}
	named := func(term string) bool {
		return slices.ContainsFunc(list, func(e *entity) bool {
			return e.kind == retrieve.LackName && slices.Contains(e.terms, term)
		})
	}
	names := false
	for i, w := range words {
		switch {
		case named(w.term):
			names = true
		case w.held > 0:
			return nil
		case most == nil || w.tells > most.tells:
			most = &words[i]
		}
	}
	if !names {
		return nil
	}
	return most
}

// denies reports whether the text is a statement about a node's summary, and exactly one of the two is negated.
func (r *request) denies(a *text.Analyzer, n *graph.Node) bool {
	if IsQuestion(a, r.req.Text) {
		return false
	}
	asked, its := a.Terms(r.req.Text), a.Terms(n.Summary)
	both := 0
	for _, term := range its {
		if slices.Contains(asked, term) {
			both++
		}
	}
	return both > 0 && share(int64(both), int64(len(its))) >= restated && negated(a, r.req.Text) != negated(a, n.Summary)
}

// IsQuestion reports whether a text ends or starts as a question does.
func IsQuestion(a *text.Analyzer, s string) (is bool) {
	if is = endsAsking(s); !is {
		a.EachSurface(s, func(w text.Surface) bool {
			is = rarity.StartsQuestion(w.Token)
			return false
		})
	}
	return is
}

// negated reports whether a text says not an odd number of times.
func negated(a *text.Analyzer, s string) (odd bool) {
	a.EachWord(s, func(word string, _ bool) bool {
		odd = odd != text.IsNegation(word)
		return true
	})
	return odd
}

func all(list []string, is func(string) bool) bool {
	return !slices.ContainsFunc(list, func(s string) bool { return !is(s) })
}

// isDate reports whether an entity is a date, or part of the one that the question names.
func (r *request) isDate(e *entity) bool {
	return len(r.dated.Ranges) > 0 && (e.kind == retrieve.LackNumber || len(dates.Read(e.shown, dates.Now{}).Ranges) > 0)
}

// lacksDate notes a date that a candidate has neither in words nor as its time.
func (e *examiner) lacksDate(ctx context.Context, v *judged, best held, words []askedWord) error {
	if len(e.dated.Ranges) == 0 {
		return nil
	}
	times, ok, err := e.x.Times(ctx, []graph.ID{best.id})
	if err != nil {
		return fmt.Errorf("look up the time of %s: %w", best.id, err)
	}
	if ok[0] && e.dated.near(times[0]) == fixed.One {
		return nil
	}
	for _, w := range words {
		if w.held == fixed.One && len(dates.Read(w.shown, dates.Now{}).Ranges) > 0 {
			return nil
		}
	}
	v.missing = append(v.missing, retrieve.Lack{Kind: retrieve.LackDate, Text: "the date"})
	return nil
}

// askingLast moves candidates that only ask behind statements that match the question nearly as well: a question
// repeats the words and answers nothing.
func (e *examiner) askingLast(ctx context.Context, list []held) error {
	first := list[:min(maxLater, len(list))]
	asks := make([]bool, len(first))
	some := false
	for i, h := range first {
		if h.tier != tierNone || h.beside != nil {
			continue
		}
		n, _, err := e.g.Node(ctx, h.id)
		if err != nil {
			return fmt.Errorf("read node %s: %w", h.id, err)
		}
		if !endsAsking(n.Summary) {
			continue
		}
		texts, err := comparedTexts(ctx, e.g, n)
		if err != nil {
			return err
		}
		asks[i] = onlyAsks(texts[:])
		some = some || asks[i]
	}
	if !some {
		return nil
	}
	out, waiting := make([]held, 0, len(first)), []held(nil)
	for i, h := range first {
		if asks[i] {
			waiting = append(waiting, h)
			continue
		}
		for len(waiting) > 0 && h.strength() < waiting[0].strength()*e.row.ofBest>>fixed.FracBits {
			out, waiting = append(out, waiting[0]), waiting[1:]
		}
		out = append(out, h)
	}
	copy(first, slices.Concat(out, waiting))
	return nil
}

// onlyAsks reports whether all sentences of some texts ask: a question asserts nothing.
func onlyAsks(texts []string) bool {
	asked := false
	for _, s := range texts {
		told := false
		text.EachSentence(s, maxCompared, func(x text.Sentence) bool {
			asks := endsAsking(s[x.Start:x.End])
			asked = asked || asks
			told = !asks
			return !told
		})
		if told {
			return false
		}
	}
	return asked
}

func endsAsking(s string) bool {
	s = strings.TrimRight(s, " \t\r\n\"'”’»」』)）]")
	return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") || strings.HasSuffix(s, "؟")
}

// contested returns a reason if another candidate fits nearly as well, is about the same thing and states something
// else.
func (e *examiner) contested(ctx context.Context, v *judged, best held) (string, error) {
	var its *features
	for _, h := range v.list[:min(maxLeading, len(v.list))] {
		if h.id == best.id || h.strength() < best.strength()*nearTie>>fixed.FracBits || h.covers < best.covers ||
			h.chain() == best.chain() {
			continue
		}
		other, err := e.featuresOf(ctx, h.id)
		if err != nil {
			return "", err
		}
		if its == nil {
			if its, err = e.featuresOf(ctx, best.id); err != nil {
				return "", err
			}
		}
		if similarity(its.terms, other.terms) >= alikeTexts && !sameTelling(its, other) {
			return "two memories that fit as well tell something else", nil
		}
	}
	return "", nil
}

func (r *request) featuresOf(ctx context.Context, id graph.ID) (*features, error) {
	n, _, err := r.g.Node(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read node %s: %w", id, err)
	}
	return r.features(ctx, n, nil)
}
