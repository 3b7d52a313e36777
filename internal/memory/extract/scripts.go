package extract

import (
	"strings"
	"unicode/utf8"
)

// knownNames adds known names that occur as whole words, of several that begin at one position the longest.
func (f *finder) knownNames() {
	if len(f.known) == 0 {
		return
	}
	for i := range f.units {
		for n := min(f.longest, len(f.units)-i); n > 0; n-- {
			start, end := f.units[i].start, f.units[i+n-1].end
			if f.known[Fold(f.s[start:end])] && f.free(start, end) {
				f.add(start, end, Known)
				break
			}
		}
	}
	f.knownRuns()
}

// knownRuns adds known names that begin with a character of a script without spaces. They may occur anywhere in a run,
// unchanged. The longest go first.
func (f *finder) knownRuns() {
	for _, name := range f.runs {
		for at := 0; ; {
			i := strings.Index(f.s[at:], name)
			if i < 0 {
				break
			}
			at += i
			if f.free(at, at+len(name)) {
				f.add(at, at+len(name), Known)
			}
			at += len(name)
		}
	}
}

// scripts adds names of scripts without cases: runs of katakana, and names before titles.
func (f *finder) scripts() {
	for at := 0; at < len(f.s); {
		r, n := utf8.DecodeRuneInString(f.s[at:])
		if !isKatakana(r) {
			at += n
			continue
		}
		end, count := at, 0
		for end < len(f.s) {
			r, n := utf8.DecodeRuneInString(f.s[end:])
			if !isKatakana(r) && (r != '・' || !startsKatakana(f.s[end+n:])) {
				break
			}
			end += n
			count++
		}
		if count > 2 && !f.has("katakana", Fold(f.s[at:end])) {
			f.add(at, end, Name)
		}
		at = end
	}
	f.beforeTitles()
}

func isKatakana(r rune) bool {
	return r >= 'ァ' && r <= 'ヺ' || r == 'ー' || r >= 'ㇰ' && r <= 'ㇿ' || r >= 'ｦ' && r <= 'ﾟ'
}

func startsKatakana(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return isKatakana(r)
}

func isHan(r rune) bool {
	return r >= 0x4e00 && r <= 0x9fff || r >= 0x3400 && r <= 0x4dbf || r == '々'
}

func isHangul(r rune) bool { return r >= 0xac00 && r <= 0xd7a3 }

// beforeTitles adds names before titles: a Chinese surname and at most two characters, a run of at most four characters
// before a Japanese title, or a word of two to four Korean syllables.
func (f *finder) beforeTitles() {
	for at := range f.s {
		if f.s[at] < utf8.RuneSelf { // no title begins so
			continue
		}
		for _, rule := range []struct {
			list string
			is   func(rune) bool
			most int
		}{
			{surnameTitles, isHan, 3},
			{"honorifics after names", isHan, 4},
			{"honorifics after words", isHangul, 4},
		} {
			for _, title := range f.lists.order[rule.list] {
				if strings.HasPrefix(f.s[at:], title) {
					f.beforeTitle(at, title, rule.is, rule.most)
				}
			}
		}
	}
}

// surnameTitles is the list of titles that follow a Chinese surname.
const surnameTitles = "honorifics after surnames"

// beforeTitle adds the name that ends at a title. A surname alone is a name together with its title.
func (f *finder) beforeTitle(end int, title string, is func(rune) bool, most int) {
	surname := f.has(surnameTitles, title)
	stop := end
	if strings.HasSuffix(f.s[:end], " ") && !surname {
		stop--
	}
	best, run, length := -1, 0, 0
	for at := stop; at > 0 && run <= most; {
		r, n := utf8.DecodeLastRuneInString(f.s[:at])
		if !is(r) {
			break
		}
		at -= n
		if run++; run <= most && (!surname || f.has("surnames", f.s[at:at+n])) {
			best, length = at, run
		}
	}
	switch {
	case best < 0 || !surname && (run > most || run < 2): // the start of a name in a longer run is unknown
	case length == 1:
		f.add(best, end+len(title), Name)
	default:
		f.add(best, stop, Name)
	}
}
