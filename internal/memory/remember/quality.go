package remember

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/base/pattern"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/guard"
)

// QualityCode says what may be wrong with a memory. It is written all the same.
type QualityCode string

// The codes.
const (
	QualitySecret     QualityCode = "secret"         // it looks like a credential: by the rule of package guard
	QualityTransient  QualityCode = "transient"      // it says what is so for a moment
	QualityIdentifier QualityCode = "identifier"     // it is a bare identifier, receipt or log line
	QualityShort      QualityCode = "short"          // it is too short to stand alone
	QualityPronoun    QualityCode = "pronoun"        // it begins with a word for something not named
	QualityHidden     QualityCode = "hidden"         // the same text was hidden before: by its state
	QualityFull       QualityCode = "full"           // tags or entities were left out: no room for them
	QualityObserved   QualityCode = "observed-often" // it was said again so often that it is not noted
)

// Quality is a warning about a memory.
type Quality struct {
	Code    QualityCode `json:"code"`
	Detail  string      `json:"detail"`  // what was seen; never a secret itself
	Message string      `json:"message"` // in words, with what to do about it
}

func (r *Remembered) warn(code QualityCode, detail string) {
	r.Warnings = append(r.Warnings, quality(code, detail))
}

// qualityTexts say what each code means, with {} for the detail.
var qualityTexts = map[QualityCode]string{
	QualitySecret:     "looks like a secret ({}): 'mnem purge' erases it from all history",
	QualityTransient:  "says what is so for a moment ({}): give it an expiry, or leave it out",
	QualityIdentifier: "is an identifier or a line of a log: say what it means",
	QualityShort:      "is too short to stand alone: name what it is about",
	QualityPronoun:    "begins with \"{}\": name what it is about",
	QualityHidden:     "the same text is {}: this is a new memory, and that one stays hidden",
	QualityFull:       "tags or entities were left out: it has as many as may be, or has them in another form",
	QualityObserved:   "was noted to have been said again {} times already",
}

func quality(code QualityCode, detail string) Quality {
	return Quality{code, detail, strings.Replace(qualityTexts[code], "{}", detail, 1)}
}

// transient are words of what is so for a moment.
var transient = []string{
	"currently running", "is running now", "right now", "at the moment", "in progress", "just now",
	"still waiting", "is being processed", "loading", "working on it", "let me", "i will now",
	"i'm going to", "gerade läuft", "im moment", "momentan", "wird gerade", "en ce moment",
	"en cours", "pour l'instant", "en este momento", "ahora mismo", "en curso", "正在", "目前", "此刻",
}

// plainTransient is transient in the form of plain, in the same order.
var plainTransient = sync.OnceValue(func() []string {
	var out []string
	for _, w := range transient {
		out = append(out, plain(w))
	}
	return out
})

// plain returns the words of a text, folded, each between spaces, so that a phrase of whole words can
// be found in it as a string. Signs of scripts without spaces stand as they are, and those that end
// a part of a sentence as a full stop, over which no phrase goes.
func plain(s string) string {
	out := make([]byte, 0, len(s)+2)
	inWord := false
	text.EachFolded(s, func(at, _ int, kind text.CharClass, fold string) bool {
		word := kind == text.KindLetter || kind == text.KindDigit
		if word != inWord && !bytes.HasSuffix(out, []byte(" ")) {
			out = append(out, ' ')
		}
		inWord = word
		switch {
		case kind != text.KindOther:
			out = append(out, fold...)
		case strings.IndexByte(".,;:!?", s[at]) >= 0:
			out = append(out, '.')
		}
		return true
	})
	if inWord {
		out = append(out, ' ')
	}
	return string(out)
}

// pronouns begin a text that is about something not named.
var pronouns = []string{
	"it", "he", "she", "they", "this", "that", "these", "those", "him", "her", "them", "its", "his",
	"er", "sie", "es", "dies", "dieser", "diese", "dieses", "das",
	"il", "elle", "ils", "elles", "cela", "ça", "ceci", "c'est",
	"él", "ella", "ellos", "ellas", "esto", "eso",
}

// hanPronouns likewise, in a script without spaces.
var hanPronouns = []string{"它们", "他们", "她们", "它", "他", "她", "这个", "那个", "这", "那"}

var (
	bareIdentifier = pattern.New(`^\S*\d\S*$|^[0-9a-fA-F-]{8,}$`)
	logLine        = pattern.New(`(?i)^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*\]?\s+|` +
		`^(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL)\b[:\]\s]|^\s+at \S+\(|` +
		`^.{0,80}\b(?:exit (?:code|status) \d+|HTTP/\d\.\d)`)
	logLevels = []string{"info", "warn", "error", "debug", "trace", "fatal"}
)

// maxBare is how many characters of a text may show that it is a bare one.
const maxBare = 200

// isBare reports whether a text is an identifier: nothing with a blank is.
func isBare(s string) bool {
	return !strings.ContainsAny(s, " \t\n\f\r") && bareIdentifier().MatchString(s)
}

// isLogLine reports whether a text is a line of a log. The expression is only asked of a text that begins like one,
// or has what tells one wherever it is.
func isLogLine(s string) bool {
	folded := strings.ToLower(s)
	begins := func(level string) bool { return strings.HasPrefix(folded, level) }
	return s != "" && (strings.IndexByte("[0123456789 \t\n\f\r", s[0]) >= 0 || slices.ContainsFunc(logLevels, begins) ||
		strings.Contains(folded, "exit ") || strings.Contains(folded, "http/")) && logLine().MatchString(s)
}

// qualities returns what may be wrong with a text, each code once.
func qualities(s string) []Quality {
	var out []Quality
	if found := guard.FindProse(s); len(found) > 0 {
		out = append(out, quality(QualitySecret, found[0].Rule))
	}
	words := plain(s)
	for i, w := range plainTransient() {
		if strings.Contains(words, w) {
			out = append(out, quality(QualityTransient, transient[i]))
			break
		}
	}
	start := text.CapScalars(s, maxBare)
	count, single, first := shape(s)
	switch {
	case single == 0 && len(s) < maxBare && isBare(s) || isLogLine(start):
		out = append(out, quality(QualityIdentifier, ""))
	case count+single/2 < 3 || utf8.RuneCountInString(s) < 4:
		out = append(out, quality(QualityShort, ""))
	}
	if slices.Contains(pronouns, first) {
		return append(out, quality(QualityPronoun, first))
	}
	for _, p := range hanPronouns {
		if strings.HasPrefix(s, p) {
			return append(out, quality(QualityPronoun, p))
		}
	}
	return out
}

// shape returns how many words a text has, and signs of scripts without spaces, and its first word in lower case.
func shape(s string) (words, single int, first string) {
	inWord := false
	start := -1
	text.EachFolded(s, func(at, end int, kind text.CharClass, _ string) bool {
		switch kind {
		case text.KindSingle:
			single++
			inWord = false
		case text.KindOther:
			if inWord && s[at] == '\'' {
				return true
			}
			if words == 1 && start >= 0 {
				first = strings.ToLower(s[start:at])
				start = -1
			}
			inWord = false
		default:
			if !inWord {
				if words++; words == 1 && single == 0 {
					start = at
				}
			}
			inWord = true
		}
		return true
	})
	return words, single, first
}
