package check

import (
	"strings"

	"github.com/mnem-project/mnem/internal/base/text"
)

// Bounds of what is read at the beginning of a sentence that speaks to somebody.
const (
	maxGreeting  = 4 // words that greet
	maxAddressee = 2 // words of a name
)

// unaddressed returns a sentence with blanks in place of the name that it speaks to, as in "Hey Ann
// Lee, I invited them": whoever is spoken to is not who did it. That is one or two capitalised words
// behind words that greet, with a mark or nothing behind them.
func unaddressed(a *text.Analyzer, s string) string {
	var list []text.Surface
	a.EachSurface(s, func(w text.Surface) bool {
		w.Token = strings.Clone(w.Token)
		list = append(list, w)
		return len(list) < maxGreeting+maxAddressee
	})
	at := 0
	for at < len(list) && at < maxGreeting && wordLists().has("greetings", list[at].Token) &&
		(at == 0 || parted(s[list[at-1].End:list[at].Start], ", !")) {
		at++
	}
	if at == 0 {
		return s
	}
	for n := min(maxAddressee, len(list)-at); n > 0; n-- {
		if name := list[at : at+n]; parted(s[list[at-1].End:name[0].Start], ", ") && addresses(s, name) {
			from, to := name[0].Start, name[n-1].End
			return s[:from] + strings.Repeat(" ", to-from) + s[to:]
		}
	}
	return s
}

// addresses reports whether words are a name that is spoken to: what follows is no part of a clause.
func addresses(s string, name []text.Surface) bool {
	for i, w := range name {
		if !w.Capital || w.Digit || i > 0 && !parted(s[name[i-1].End:w.Start], " ") {
			return false
		}
	}
	end := name[len(name)-1]
	for _, genitive := range []string{"'s", "’s"} {
		if strings.HasSuffix(s[end.Start:end.End], genitive) || strings.HasPrefix(s[end.End:], genitive) {
			return false
		}
	}
	rest := strings.TrimLeft(s[end.End:], " ")
	return rest == "" || strings.HasPrefix(rest, "…") || strings.ContainsRune(",!.?:;-", rune(rest[0]))
}

// parted reports whether what stands between two words is nothing but some of these characters, and
// something.
func parted(between, of string) bool { return between != "" && strings.Trim(between, of) == "" }
