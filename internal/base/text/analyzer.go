package text

import (
	"errors"
	"fmt"
	"sync"
)

// Version identifies the rules of the package documentation, including tables, stop words and stemmer. It is
// append-only: text analysed under one version is found only by queries of that version.
const Version = 1

const (
	// MaxTermRunes is the length limit of a term in code points. Longer words are truncated.
	MaxTermRunes = 64
	// maxSplitRunes is the length above which a word is encoded data rather than an identifier, and is not split at
	// its case boundaries.
	maxSplitRunes = 256
)

// ErrUnknownLanguage is returned when New is asked for a language other than "en" and "none".
var ErrUnknownLanguage = errors.New("unknown language")

// Analyzer turns text into terms. It has no visible state and is safe for concurrent use.
type Analyzer struct {
	english bool
	// scanners pools buffers between calls. Their content never affects a result.
	scanners sync.Pool
}

// The analysers, shared by all callers: a new one would have to allocate its buffers again. English drops English stop
// words and stems; Plain does neither.
var (
	English = &Analyzer{english: true, scanners: sync.Pool{New: newScanner}}
	Plain   = &Analyzer{scanners: sync.Pool{New: newScanner}}
)

func newScanner() any { return &scanner{memo: make([]memoEntry, memoSize)} }

// New returns the analyser of a name: English for "en" and the empty string, Plain for "none". Any other name is
// ErrUnknownLanguage.
func New(lang string) (*Analyzer, error) {
	switch lang {
	case "", "en":
		return English, nil
	case "none":
		return Plain, nil
	}
	return nil, fmt.Errorf("making an analyser for %q: %w", lang, ErrUnknownLanguage)
}

// Each calls yield with the terms of s in text order until yield returns false. Terms repeat as often as they
// occur; each is valid UTF-8 of 1 to MaxTermRunes code points. A term may share the memory of s: clone it to keep
// it longer than s.
//
// Any string will do, valid UTF-8 or not. Time is linear in len(s) and extra memory constant.
func (a *Analyzer) Each(s string, yield func(term string) bool) { a.each(s, nil, yield) }

func (a *Analyzer) each(s string, firsts *firstBytes, yield func(term string) bool) {
	sc := a.scanner(s)
	defer a.leave(sc)
	sc.yield, sc.firsts = yield, firsts
	sc.scan()
}

// scanner returns a scanner of a text, to be returned with leave.
func (a *Analyzer) scanner(s string) *scanner {
	sc := a.scanners.Get().(*scanner)
	sc.s, sc.english = s, a.english
	return sc
}

func (a *Analyzer) leave(sc *scanner) {
	sc.s, sc.yield, sc.unit, sc.token, sc.firsts = "", nil, nil, "", nil
	a.scanners.Put(sc)
}

// Terms returns the terms that Each yields.
func (a *Analyzer) Terms(s string) []string {
	var terms []string
	a.Each(s, func(term string) bool {
		terms = append(terms, term)
		return true
	})
	return terms
}
