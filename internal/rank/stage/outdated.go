package stage

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/text"
)

// Constants of what is outdated in ranking version 2: clause 11.10.
const (
	sharedSubject = fixed.One / 4 // what two texts share of the weight of the lighter one's terms
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

// Statement is what a text says, as far as it is compared with others.
type Statement struct {
	change  string   // the first word that tells of a change, folded; "" for none
	terms   []string // ascending, each once
	weights []int64  // of the terms
	weight  int64    // of all
}

// NewStatement reads a text, of which idfs weighs the terms. Those of a are of Language.
func NewStatement(
	ctx context.Context, a *text.Analyzer, said string,
	idfs func(ctx context.Context, terms []string) ([]int64, error),
) (s *Statement, err error) {
	s = &Statement{change: Changed(said)}
	return s, s.analyse(ctx, a, said, idfs)
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
	return s.change != "" && s.about(old) > 0
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

// foldedChanges are the words of the list, folded.
var foldedChanges = sync.OnceValue(func() map[string]bool { return foldedSet(changeWords) })

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
// enough.
func (s *Statement) about(other *Statement) int64 {
	shared, n := int64(0), 0
	for i, term := range s.terms {
		if _, ok := slices.BinarySearch(other.terms, term); ok {
			shared += s.weights[i]
			n++
		}
	}
	if part := share(shared, min(s.weight, other.weight)); n >= minShared && part >= sharedSubject {
		return part
	}
	return 0
}
