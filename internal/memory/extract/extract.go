// Package extract finds the entities that a text names and its signals of cause: phrases that say that one thing leads
// to another. Both are pure functions of the text and the word lists of words.txt, by the rules of
// docs/internals/memories.md. It asks no model and looks nothing up.
//
// The rules prefer missing an entity to inventing one, because each becomes nodes and edges of a memory. A capital
// letter is evidence within a sentence of a script that has cases. At the beginning of a sentence, and in German, which
// capitalises all nouns, the rules need more evidence.
package extract

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/base/dates"
	"github.com/mnem-project/mnem/internal/base/text"
)

// Bounds of the results.
const (
	MaxText     = 8000 // scalars of a text that are looked at
	MaxEntities = 50
	MaxKnown    = 256 // known names that are looked for
	MaxName     = 64  // scalars of a name
	maxURL      = 480 // bytes of what may be long: a URL or a path
	maxWords    = 6   // of a name or a quoted phrase
	maxSentence = 1000
)

// Kind says what kind of thing a text names.
type Kind string

// The kinds, in the order in which the rules look for them.
const (
	Code       Kind = "code"  // in backticks
	Quote      Kind = "quote" // in quotation or book marks
	URL        Kind = "url"
	Email      Kind = "email"
	Handle     Kind = "handle"  // @name
	Hashtag    Kind = "hashtag" // #name
	Path       Kind = "path"    // of a file or folder
	Version    Kind = "version"
	Identifier Kind = "identifier"
	Date       Kind = "date" // of a calendar: what counts from today names nothing
	Name       Kind = "name"
	Technology Kind = "technology"
	Known      Kind = "known" // as the caller knows it
)

// Entity is a thing that a text names.
type Entity struct {
	Name       string // as the text has it
	Key        string // Fold of the name, the same for all letter cases
	Kind       Kind
	Start, End int // bytes of the text
}

// Entities returns the entities that a text names, at most MaxEntities, in the order of their first occurrence, each
// key once. known are names that the caller knows: one that occurs in the text as whole words is an entity; the first
// MaxKnown count. Only the first MaxText scalars of the text are read. Any string is allowed. The result shares the
// memory of s.
func Entities(s string, known []string) []Entity {
	f := newFinder(s, known)
	f.quotes()
	f.chunks()
	for _, p := range dates.Places(f.s) {
		f.add(p.Start, p.End, Date)
	}
	f.names()
	f.knownNames()
	f.scripts()
	slices.SortStableFunc(f.found, func(a, b Entity) int { return a.Start - b.Start })
	seen := map[string]bool{}
	out := f.found[:0]
	for _, e := range f.found {
		if !seen[e.Key] && len(out) < MaxEntities {
			seen[e.Key] = true
			out = append(out, e)
		}
	}
	return out
}

// Fold returns a name in the form for comparison: letters, digits and characters of scripts without spaces folded by
// clause 6.2, other characters unchanged, white space as one blank, none at the ends.
func Fold(name string) string {
	var b strings.Builder
	blank := false
	text.EachFolded(name, func(_, _ int, kind text.CharClass, fold string) bool {
		if kind == text.KindOther && strings.Contains(" \t\n\r\u00a0\u3000", fold) {
			blank = b.Len() > 0
			return true
		}
		if blank {
			b.WriteByte(' ')
			blank = false
		}
		b.WriteString(fold)
		return true
	})
	return b.String()
}

type finder struct {
	s         string
	lists     *lists
	taken     []bool // bytes that an entity has
	found     []Entity
	known     map[string]bool // folded
	longest   int             // words of the longest known name
	runs      []string        // known names in scripts without spaces, the longest first
	sentences []sentence
	units     []unit
}

func newFinder(s string, known []string) *finder {
	s = text.FirstScalars(s, MaxText)
	f := &finder{s: s, lists: allLists(), taken: make([]bool, len(s)), known: map[string]bool{}}
	for _, name := range known[:min(len(known), MaxKnown)] {
		name = strings.TrimSpace(name)
		key := Fold(name)
		if key == "" || f.known[key] {
			continue
		}
		f.known[key] = true
		f.longest = max(f.longest, 1+strings.Count(key, " "))
		if _, n := utf8.DecodeRuneInString(name); kindOf(name[:n]) == text.KindSingle && len(name) > n {
			f.runs = append(f.runs, name)
		}
	}
	slices.SortFunc(f.runs, func(a, b string) int {
		return cmp.Or(len(b)-len(a), strings.Compare(a, b))
	})
	return f
}

func (f *finder) has(list, word string) bool { return f.lists.by[list][word] }

func (f *finder) free(start, end int) bool { return !slices.Contains(f.taken[start:end], true) }

// add adds an entity, unless it overlaps another one, is too long or carries no information.
func (f *finder) add(start, end int, kind Kind) {
	name := f.s[start:end]
	tooLong := utf8.RuneCountInString(name) > MaxName
	if kind == URL || kind == Path || kind == Email {
		tooLong = len(name) > maxURL
	}
	if tooLong || !f.free(start, end) || !telling(name) {
		return
	}
	for i := start; i < end; i++ {
		f.taken[i] = true
	}
	f.found = append(f.found, Entity{Name: name, Key: Fold(name), Kind: kind, Start: start, End: end})
}

// telling reports whether a text has a letter, a digit or a character.
func telling(s string) (ok bool) {
	text.EachFolded(s, func(_, _ int, kind text.CharClass, _ string) bool {
		ok = ok || kind != text.KindOther
		return !ok
	})
	return ok
}

// marks are pairs of marks around phrases.
var marks = [...]struct {
	open, shut string
	kind       Kind
}{
	{"`", "`", Code}, {`"`, `"`, Quote}, {"“", "”", Quote}, {"„", "“", Quote}, {"«", "»", Quote},
	{"「", "」", Quote}, {"『", "』", Quote}, {"《", "》", Quote}, {"〈", "〉", Quote},
}

// quotes adds phrases in marks within a line. Marks around a long text, such as speech, do not count, and the text
// inside is searched like any other.
func (f *finder) quotes() {
	at := 0
	for line := range strings.Lines(f.s) {
		f.quotesOf(at, at+len(line))
		at += len(line)
	}
}

func (f *finder) quotesOf(at, end int) {
	// A pair that is not closed once has no later closing mark in the line either. To look again at
	// each opening one would take quadratic time.
	var unclosed [len(marks)]bool
	for at < end {
		next := at + 1
		c := f.s[at]
		for i, m := range marks {
			if c != m.open[0] || unclosed[i] || !strings.HasPrefix(f.s[at:end], m.open) {
				continue
			}
			from := at + len(m.open)
			n := strings.Index(f.s[from:end], m.shut)
			if unclosed[i] = n < 0; unclosed[i] {
				continue
			}
			if f.quoted(from, from+n, m.kind) || m.open == m.shut {
				next = from + n + len(m.shut)
				break
			}
		}
		at = next
	}
}

// quoted adds the phrase within marks and reports whether it is one.
func (f *finder) quoted(start, end int, kind Kind) bool {
	inner := f.s[start:end]
	start += len(inner) - len(strings.TrimLeft(inner, " \u3000"))
	end = start + len(strings.TrimRight(strings.TrimLeft(inner, " \u3000"), " \u3000,.;:!?，。；：！？"))
	before := len(f.found)
	if strings.Count(f.s[start:end], " ") < maxWords {
		f.add(start, end, kind)
	}
	return len(f.found) > before
}

// wordsFile has the word lists of the rules in docs/internals/memories.md.
//
//go:embed words.txt
var wordsFile string

type words map[string]bool

type lists struct {
	by      map[string]words    // folded
	order   map[string][]string // as the file has them, in its order
	signals []phrase
}

// allLists returns the word lists. They are read once: a short program may need none.
var allLists = sync.OnceValue(func() *lists {
	l := &lists{by: map[string]words{}, order: map[string][]string{}}
	name := ""
	for line := range strings.Lines(wordsFile) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			name = strings.Trim(line, "[]")
			l.by[name] = words{}
		default:
			for entry := range strings.SplitSeq(line, ",") {
				entry = strings.TrimSpace(entry)
				if key := Fold(entry); key != "" && !l.by[name][key] {
					l.by[name][key] = true
					l.order[name] = append(l.order[name], entry)
				}
			}
		}
	}
	l.signals = signalPhrases(l)
	return l
})
