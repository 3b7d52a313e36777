package retrieve

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/fixed"
	"github.com/mnem-project/mnem/internal/text"
)

// Constants of what is outdated in ranking version 2: clause 11.10.
const (
	maxCompares   = 20            // candidates that are compared with each other
	sharedSubject = fixed.One / 4 // what two texts share of the weight of the lighter one's terms
	minShared     = 2             // terms that they share
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
	verschoben eingefroren geändert umbenannt erhöht gesenkt verlängert abgesagt gestrichen`)

// maxBetween is how many words may stand in "from ... on".
const maxBetween = 3

// Statement is what a text says, as far as the rules for what is outdated compare it with others.
type Statement struct {
	change  string   // the first word that tells of a change, folded; "" for none
	hints   bool     // whether it tells of a change, or may
	terms   []string // ascending, each once
	weights []int64  // of the terms
	weight  int64    // of all
	kin     [][]string
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
	s.kin = make([][]string, len(s.terms))
	for i, term := range s.terms {
		if s.hints { // of others it is not asked
			s.kin[i] = a.Kin(term)
		}
	}
	s.weights, err = idfs(ctx, s.terms)
	s.weight = sumOf(s.weights)
	return err
}

// Changed returns the first word of a text that tells of a change, folded, "" where it has none.
func Changed(said string) string { return changeWord(text.FirstScalars(said, maxCompared)) }

// Replaces reports whether a statement takes the place of an older one by rule: both are about the same, and
// it tells of a change.
func (s *Statement) Replaces(old *Statement) bool { return s.change != "" && s.about(old, false) }

// mayReplace reports whether it may: by words that may tell of a change, and by kindred terms.
func (s *Statement) mayReplace(old *Statement) bool { return s.hints && s.about(old, true) }

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
}

// outdate finds among the first candidates of an answer those that newer ones take the place of, by rule:
// both are about the same, and the newer one has a word that tells of a change. It puts the newer one right
// before the older one, unless it is there already, and likewise one that may take its place, of which the older
// one says nothing. Nothing is left out for that.
func (r *run) outdate(ctx context.Context, list []*candidate) ([]*candidate, error) {
	if !r.req.row().bands || r.req.Floor == FloorRest || r.blank() {
		return list, nil
	}
	all, err := r.tell(ctx, list)
	if err != nil {
		return nil, err
	}
	last := graph.Time(math.MinInt64) // when the newest was said that can take the place of another
	for _, t := range all {
		if t.newer() {
			last = max(last, t.created)
		}
	}
	all = slices.DeleteFunc(all, func(t *told) bool {
		return t.created > last || t.created == last && !t.newer()
	})
	a, err := text.New(Language)
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		if err := t.analyse(ctx, a, t.summary, r.x.IDFs); err != nil {
			return nil, fmt.Errorf("weigh the terms of %s: %w", t.id, err)
		}
	}
	out := slices.Clone(list)
	for _, old := range all {
		var by, may *told
		for _, newer := range all {
			if newer.created <= old.created || !newer.newer() {
				continue
			}
			if newer.Replaces(old.Statement) && (by == nil || newer.created > by.created) {
				by = newer
			}
			if newer.mayReplace(old.Statement) && (may == nil || newer.created > may.created) {
				may = newer
			}
		}
		if by != nil {
			old.outdated = by.id
		} else if by = may; by == nil {
			continue
		}
		from, to := slices.Index(out, by.candidate), slices.Index(out, old.candidate)
		if from > to {
			out = slices.Insert(slices.Delete(out, from, from+1), to, by.candidate)
		}
	}
	return out, nil
}

// newer reports whether it can take the place of another: most answers have none that can.
func (t *told) newer() bool { return t.hints && t.band == BandAnswer }

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
		out = append(out, &told{c, begunStatement(n.Summary), n.Summary, n.Created})
	}
	return out, nil
}

// foldedChanges and foldedHints are the words of the lists, folded.
var (
	foldedChanges = sync.OnceValue(func() map[string]bool { return foldedSet(changeWords) })
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

func changeWord(s string) (found string) {
	words := foldedChanges()
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

// about reports whether two texts share enough of what they are about: terms of the first that the second has,
// itself or with kin, by one kindred to it.
func (s *Statement) about(other *Statement, kin bool) bool {
	shared, n := int64(0), 0
	for i, term := range s.terms {
		if other.has(term) || kin && slices.ContainsFunc(s.kin[i], other.has) {
			shared += s.weights[i]
			n++
		}
	}
	return n >= minShared && share(shared, min(s.weight, other.weight)) >= sharedSubject
}

func (s *Statement) has(term string) bool {
	_, ok := slices.BinarySearch(s.terms, term)
	return ok
}
