package stage

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// Constants of what is outdated in ranking version 2: clause 11.10.
const (
	maxCompares   = 20                    // candidates that are compared with each other
	sharedSubject = fixed.One / 4         // what two texts share of the weight of the lighter one's terms
	minShared     = 2                     // terms that they share
	sharedRun     = 6                     // code points without a digit that terms akin in form share
	twinApart     = 24 * 3600 * 1_000_000 // microseconds from one twin to the other
)

// changeWords tell that something is otherwise than before. They are compared folded.
var changeWords = strings.Fields(`
	now moved since anymore instead upgraded replaced switched changed new cut postponed rescheduled retired
	until formerly successor longer
	jetzt seit verlegt neu neue neuer neues ab statt stattdessen umgezogen gewechselt ersetzt künftig
	désormais maintenant depuis déplacé remplacé nouveau nouvelle
	ahora desde trasladado reemplazado nuevo nueva
	adesso ora spostato sostituito nuova
	agora mudou substituído novo nova
	nu sinds verplaatst vervangen nieuw nieuwe voortaan`)

// hintWords may tell of a change, too. They are compared folded.
var hintWords = strings.Fields(`
	frozen renamed migrated raised lowered increased decreased extended cancelled canceled ruled onwards
	onward effective henceforth merged dropped left quit joined succeeded revised updated moves
	confirmed finalized finalised corrected correction deprecated discontinued decommissioned relocated reverted
	obsolete outdated supersedes superseded replaces shortened delayed deferred reduced transferred promoted
	resigned revoked renewed abolished bumped
	verschoben eingefroren geändert umbenannt erhöht gesenkt verlängert abgesagt gestrichen
	bestätigt beschlossen festgelegt abgeschafft eingestellt korrigiert umgestellt übernimmt übernommen gekündigt
	vorgezogen neuerdings inzwischen mittlerweile fortan nunmehr bisher`)

// openWords tell that something is not settled, so that a later text on it may be. They are compared folded.
var openWords = strings.Fields(`
	idea tentative tentatively provisional provisionally draft proposal proposed planned considering undecided
	unconfirmed tbd tba pending perhaps
	idee vielleicht vorläufig geplant entwurf vorschlag voraussichtlich`)

// maxBetween is how many words may stand in "from ... on".
const maxBetween = 3

// Statement is what a text says, as far as the rules for what is outdated compare it with others.
type Statement struct {
	change  string   // the first word that tells of a change, folded; "" for none
	hints   bool     // whether it tells of a change, or may
	open    bool     // whether it tells that something is not settled
	terms   []string // ascending, each once
	weights []int64  // of the terms
	weight  int64    // of all
	kin     [][]string
	runs    map[string]bool // of sharedRun code points without a digit that the terms have
}

// NewStatement reads a text, of which idfs weighs the terms. Those of a are of Language.
func NewStatement(
	ctx context.Context, a *text.Analyzer, said string,
	idfs func(ctx context.Context, terms []string) ([]int64, error),
) (s *Statement, err error) {
	s = begunStatement(said)
	return s, s.analyse(ctx, a, said, idfs)
}

// begunStatement reads whether a text tells of a change.
func begunStatement(said string) *Statement {
	said = text.FirstScalars(said, maxCompared)
	s := &Statement{change: changeWord(said)}
	s.hints = s.change != "" || mayChange(said)
	s.open = firstOf(said, foldedOpen()) != ""
	return s
}

// analyse reads what a text is about.
func (s *Statement) analyse(
	ctx context.Context, a *text.Analyzer, said string,
	idfs func(ctx context.Context, terms []string) ([]int64, error),
) (err error) {
	s.terms = a.Terms(text.FirstScalars(said, maxCompared))
	slices.Sort(s.terms)
	s.terms = slices.Compact(s.terms)
	s.weights, err = idfs(ctx, s.terms)
	s.weight = sumOf(s.weights)
	return err
}

// Changed returns the first word of a text that tells of a change, folded, "" where it has none.
func Changed(said string) string { return changeWord(text.FirstScalars(said, maxCompared)) }

// Replaces reports whether a statement takes the place of an older one by rule: both are about the same, and
// it tells of a change.
func (s *Statement) Replaces(old *Statement) bool {
	return s.change != "" && s.about(old, false, sharedSubject) > 0
}

// widen reads what else than its terms a text shares with others: terms that are kindred to these, and runs of
// code points of a compound or a derivation.
func (s *Statement) widen(a *text.Analyzer) {
	s.kin, s.runs = make([][]string, len(s.terms)), map[string]bool{}
	for i, term := range s.terms {
		s.kin[i] = a.Kin(term)
		for run := range runsOf(term) {
			s.runs[run] = true
		}
	}
}

// mayReplace returns how much a statement shares with an older one of which it may take the place, 0 where it may
// not: by words that may tell of a change, of a newer text or an open older one, and by terms that are akin.
func (s *Statement) mayReplace(old *Statement, least int64) int64 {
	if !s.hints && !old.open {
		return 0
	}
	return s.about(old, true, least)
}

// Shared returns the terms that two statements share, the heaviest first.
func (s *Statement) Shared(with *Statement) []string {
	var at []int
	for i, term := range s.terms {
		if _, ok := slices.BinarySearch(with.terms, term); ok {
			at = append(at, i)
		}
	}
	slices.SortStableFunc(at, func(i, j int) int { return cmp.Compare(s.weights[j], s.weights[i]) })
	out := make([]string, len(at))
	for i, n := range at {
		out[i] = s.terms[n]
	}
	return out
}

// told is a candidate as it is compared with others.
type told struct {
	*candidate
	*Statement
	summary string
	created graph.Time
	covers  int64 // how much of the question
	newer   bool  // whether it can take the place of another: most answers have none that can
}

// outdate finds among the first candidates of an answer those that newer ones take the place of, by rule:
// both are about the same, and the newer one has a word that tells of a change. It puts the newer one right
// before the older one, unless it is there already, and likewise one that may take its place, of which the older
// one says nothing: it may tell of a change, or says nearly the same some time later, where the question does not tell
// which of both is meant. Nothing is left out for that.
func (r *run) outdate(ctx context.Context, list []*candidate) ([]*candidate, error) {
	if !r.row.bands || r.req.Floor == retrieve.FloorRest || r.blank() {
		return list, nil
	}
	all, err := r.tell(ctx, list)
	if err != nil {
		return nil, err
	}
	if all = replaceable(all); len(all) == 0 {
		return list, nil
	}
	a, err := text.New(retrieve.Language)
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		if err := t.analyse(ctx, a, t.summary, r.x.IDFs); err != nil {
			return nil, fmt.Errorf("weigh the terms of %s: %w", t.id, err)
		}
		t.widen(a)
	}
	out := slices.Clone(list)
	for _, old := range all {
		by := r.replaces(all, old)
		if by == nil {
			continue
		}
		from, to := slices.Index(out, by.candidate), slices.Index(out, old.candidate)
		if from > to {
			out = slices.Insert(slices.Delete(out, from, from+1), to, by.candidate)
		}
	}
	return out, nil
}

// replaceable reads which of some can take the place of others, and returns these and those that are older than one.
func replaceable(all []*told) []*told {
	open := graph.Time(math.MaxInt64) // when the oldest was said that is not settled
	last := graph.Time(math.MinInt64) // when the newest was said that can take the place of another
	for _, t := range all {
		if t.open {
			open = min(open, t.created)
		}
	}
	for _, t := range all {
		t.newer = t.band == retrieve.BandAnswer && (t.hints || t.created > open || slices.ContainsFunc(all, t.mayBeTwin))
		if t.newer {
			last = max(last, t.created)
		}
	}
	return slices.DeleteFunc(all, func(t *told) bool {
		return t.created > last || t.created == last && !t.newer
	})
}

// replaces returns what takes the place of an older one, and notes it there, or else what may; nil for neither. Of
// several the newest takes it, and what shares the most with it may.
func (r *run) replaces(all []*told, old *told) *told {
	var by, may *told
	most := int64(0)
	for _, t := range all {
		if t.created <= old.created || !t.newer {
			continue
		}
		if t.Replaces(old.Statement) && (by == nil || t.created > by.created) {
			by = t
		}
		n := t.mayReplace(old.Statement, r.row.subject)
		if n == 0 && t.mayBeTwin(old) {
			n = t.about(old.Statement, false, r.row.twin)
		}
		if n > most || n > 0 && n == most && t.created > may.created {
			may, most = t, n
		}
	}
	if by == nil {
		return may
	}
	old.outdated = by.id
	return by
}

// tell reads of the first candidates that would be packed whether they tell of a change.
func (r *run) tell(ctx context.Context, list []*candidate) ([]*told, error) {
	var out []*told
	for _, c := range list {
		if len(out) == maxCompares {
			break
		}
		n, _, err := r.g.Node(ctx, c.id)
		if err != nil {
			return nil, fmt.Errorf("read node %s: %w", c.id, err)
		}
		if r.onlyName(c, n) {
			continue
		}
		out = append(out, &told{candidate: c, Statement: begunStatement(n.Summary), summary: n.Summary, created: n.Created})
	}
	if isBlank(r.req.Text) {
		return out, nil
	}
	ids := make([]graph.ID, len(out))
	for i, t := range out {
		ids[i] = t.id
	}
	shares, err := r.covering(ctx, source.TextQuery{Text: r.req.Text, Readings: r.readings}, ids)
	for i, n := range shares {
		out[i].covers = n
	}
	return out, err
}

// mayBeTwin reports whether an answer was given some time after another one, and accounts for as much of the question.
func (t *told) mayBeTwin(old *told) bool {
	return t.band == retrieve.BandAnswer && old.band == retrieve.BandAnswer && t.created-old.created >= twinApart &&
		old.covers > 0 && t.covers >= old.covers
}

// foldedChanges, foldedOpen and foldedHints are the words of the lists, folded.
var (
	foldedChanges = sync.OnceValue(func() map[string]bool { return foldedSet(changeWords) })
	foldedOpen    = sync.OnceValue(func() map[string]bool { return foldedSet(openWords) })
	foldedHints   = sync.OnceValue(func() map[string]bool { return foldedSet(hintWords) })
)

func foldedSet(list []string) map[string]bool {
	words := make(map[string]bool, len(list))
	eachWord(strings.Join(list, " "), func(word []byte) bool {
		words[string(word)] = true
		return true
	})
	return words
}

func changeWord(s string) string { return firstOf(s, foldedChanges()) }

// firstOf returns the first word of a text that is one of some, folded, "" for none.
func firstOf(s string, words map[string]bool) (found string) {
	eachWord(s, func(word []byte) bool {
		if words[string(word)] {
			found = string(word)
		}
		return found == ""
	})
	return found
}

// mayChange reports whether a text has a word that may tell of a change, "as of", or "from ... on".
func mayChange(s string) (may bool) {
	words := foldedHints()
	as, from := false, 0 // whether the last word was "as", and before how many words "on" goes with a "from"
	eachWord(s, func(word []byte) bool {
		may = words[string(word)] || as && string(word) == "of" || from > 0 && string(word) == "on"
		as = string(word) == "as"
		from--
		if string(word) == "from" {
			from = maxBetween + 1
		}
		return !may
	})
	return may
}

// eachWord calls yield with the runs of letters of a text, folded, until it returns false. Which code points
// are letters, the tables of this program say, never those of the language it is written in.
func eachWord(s string, yield func(word []byte) bool) {
	var word []byte
	more := true
	end := func() bool {
		if len(word) > 0 {
			more, word = yield(word), word[:0]
		}
		return more
	}
	text.EachFolded(s, func(_, _ int, kind text.Kind, fold string) bool {
		if kind == text.KindLetter {
			word = append(word, fold...)
			return true
		}
		return end()
	})
	if more {
		end()
	}
}

// about returns how much two texts share of what they are about, as a share of the lighter one, 0 where that is not
// enough: terms of the first that the second has, itself or, with akin, by one that is kindred or alike in form.
func (s *Statement) about(other *Statement, akin bool, least int64) int64 {
	shared, n := int64(0), 0
	for i, term := range s.terms {
		if other.has(term) || akin && (slices.ContainsFunc(s.kin[i], other.has) || other.hasRun(term)) {
			shared += s.weights[i]
			n++
		}
	}
	if part := share(shared, min(s.weight, other.weight)); n >= minShared && part >= least {
		return part
	}
	return 0
}

func (s *Statement) hasRun(term string) bool {
	for run := range runsOf(term) {
		if s.runs[run] {
			return true
		}
	}
	return false
}

// runsOf returns the runs of sharedRun code points of a term that have no digit.
func runsOf(term string) iter.Seq[string] {
	return func(yield func(string) bool) {
		var starts [sharedRun]int // of the last code points, the oldest first at n
		n := 0
		for at := 0; at < len(term); {
			c, size := utf8.DecodeRuneInString(term[at:])
			starts[n%sharedRun] = at
			at += size
			if n++; c >= '0' && c <= '9' {
				n = 0
			}
			if n >= sharedRun && !yield(term[starts[n%sharedRun]:at]) {
				return
			}
		}
	}
}

func (s *Statement) has(term string) bool {
	_, ok := slices.BinarySearch(s.terms, term)
	return ok
}
