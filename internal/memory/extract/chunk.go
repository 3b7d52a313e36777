package extract

import (
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/base/text"
)

// chunkMarks are the characters that, with ASCII letters and digits, make up what machines read.
const chunkMarks = `_-/\.:@#+~%&=?!$*()`

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isUpper(c byte) bool  { return c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isAlnum(c byte) bool  { return isLetter(c) || isDigit(c) }

func isChunk(c byte) bool { return isAlnum(c) || strings.IndexByte(chunkMarks, c) >= 0 }

// chunks adds URLs, addresses, paths, versions and identifiers: runs of the characters of machines,
// without the punctuation of the sentence around them.
func (f *finder) chunks() {
	for at := 0; at < len(f.s); {
		if !isChunk(f.s[at]) {
			at++
			continue
		}
		end := at + 1
		for end < len(f.s) && isChunk(f.s[end]) {
			end++
		}
		if !f.inWord(at, end) {
			f.chunk(trimChunk(f.s, at, withoutValue(f.s, at, end)))
		}
		at = end
	}
}

// inWord reports whether a letter, which is not ASCII then, stands directly before or after a span.
func (f *finder) inWord(start, end int) bool {
	_, before := utf8.DecodeLastRuneInString(f.s[:start])
	_, after := utf8.DecodeRuneInString(f.s[end:])
	return kindOf(f.s[start-before:start]) == text.KindLetter ||
		kindOf(f.s[end:end+after]) == text.KindLetter
}

// withoutValue returns where what is set ends, as in NAME=VALUE, which is no URL.
func withoutValue(s string, start, end int) int {
	if cut := strings.IndexByte(s[start:end], '='); cut > 0 && !strings.Contains(s[start:end], "://") {
		return start + cut
	}
	return end
}

// trimChunk takes away what belongs to the sentence. A closing bracket stays if there is an opening one for it.
func trimChunk(s string, start, end int) (int, int) {
	for start < end && strings.IndexByte(`-:+%&=?!$*()`, s[start]) >= 0 {
		start++
	}
	for end > start && strings.IndexByte(`.:?!=&*(-~%@$`, s[end-1]) >= 0 ||
		end > start && s[end-1] == ')' &&
			strings.Count(s[start:end], ")") > strings.Count(s[start:end], "(") {
		end--
	}
	return start, end
}

func (f *finder) chunk(start, end int) {
	t := f.s[start:end]
	switch {
	case len(t) < 2:
	case isURL(t):
		trimmed := strings.TrimRight(t, "/")
		f.add(start, start+len(trimmed), URL)
	case isEmail(t):
		f.add(start, end, Email)
	case !onlyWord(t, "") && f.has("technologies", strings.ToLower(t)):
		f.add(start, end, Technology)
	case t[0] == '@' && (isLetter(t[1]) || t[1] == '_'):
		f.add(start, end, Handle)
	case t[0] == '#' && isLetter(t[1]) && onlyWord(t[1:], "_-"):
		f.add(start, end, Hashtag)
	case isPath(t):
		f.add(start, end, Path)
	case isVersion(t) && t[0] != 'v' && strings.Count(t, ".") == 3: // an address
		f.add(start, end, Identifier)
	case isVersion(t):
		f.add(start, end, Version)
	case f.isFile(t):
		f.add(start, end, Path)
	case f.isIdentifier(t):
		f.add(start, end, Identifier)
	}
}

func onlyWord(s, marks string) bool {
	return strings.Trim(s, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"+marks) == ""
}

func anyByte(s string, is func(byte) bool) bool {
	return strings.ContainsFunc(s, func(c rune) bool { return c < utf8.RuneSelf && is(byte(c)) })
}

func isURL(t string) bool {
	if scheme, rest, ok := strings.Cut(t, "://"); ok {
		return len(scheme) > 1 && isLetter(scheme[0]) && onlyWord(scheme, "+-.") &&
			rest != "" && isAlnum(rest[0])
	}
	return strings.HasPrefix(t, "www.") && strings.Contains(t[4:], ".")
}

func isEmail(t string) bool {
	local, domain, ok := strings.Cut(t, "@")
	dot := strings.LastIndexByte(domain, '.')
	return ok && local != "" && onlyWord(local, "._+-") && onlyWord(domain, ".-") && dot > 0 &&
		len(domain)-dot > 2 && !anyByte(domain[dot+1:], isDigit)
}

// isPath reports whether a text is a path: one that begins like one, ends with a slash, or has a
// dot or underscore in it, or two slashes and a hyphen. "and/or" and "24/7" are none.
func isPath(t string) bool {
	if len(t) > 2 && isLetter(t[0]) && t[1] == ':' && t[2] == '\\' {
		return true
	}
	slashes := strings.Count(t, "/")
	if slashes == 0 || !anyByte(t, isLetter) || !onlyWord(t, "_-./~+@#") {
		return false
	}
	for _, begin := range []string{"/", "./", "../", "~/"} {
		if rest, ok := strings.CutPrefix(t, begin); ok {
			return rest != "" && (isAlnum(rest[0]) || rest[0] == '.' || rest[0] == '_')
		}
	}
	return strings.HasSuffix(t, "/") || strings.ContainsAny(t, "._") ||
		slashes > 1 && strings.Contains(t, "-")
}

// isVersion reports whether a text is numbers joined by dots, three, or two after a v, and what may
// follow after a hyphen or plus. Those of a date are none.
func isVersion(t string) bool {
	if first := strings.TrimLeft(t[:min(2, len(t))], "vV"); first == "" || !isDigit(first[0]) {
		return false
	}
	rest, v := strings.CutPrefix(strings.ToLower(t), "v")
	if cut := strings.IndexAny(rest, "-+"); cut > 0 && onlyWord(rest[cut+1:], ".-+") {
		rest = rest[:cut]
	}
	parts := strings.Split(rest, ".")
	for i, p := range parts {
		if p == "" || anyByte(p, isLetter) || !onlyWord(p, "") || len(p) > 9 ||
			len(p) > 3 && (i == 0 || i == 2) && len(parts) == 3 && !v {
			return false
		}
	}
	return len(parts) > 2 || v && len(parts) == 2
}

// isFile reports whether a text is the name of a file by its extension.
func (f *finder) isFile(t string) bool {
	dot := strings.LastIndexByte(t, '.')
	return dot > 0 && isAlnum(t[0]) && onlyWord(t, "._-") && f.has("extensions", t[dot+1:])
}

// isIdentifier reports whether a text looks like a name that a program or a register gave.
func (f *finder) isIdentifier(t string) bool {
	if call, ok := strings.CutSuffix(t, "()"); ok {
		return call != "" && isLetter(call[0]) && onlyWord(call, "_.:")
	}
	if !anyByte(t, isLetter) {
		return t[0] == '#' && onlyWord(t[1:], "")
	}
	if !onlyWord(t, "_-.:") {
		return false
	}
	if inner := strings.Trim(t, "_-.:"); strings.Contains(inner, "_") ||
		strings.Contains(inner, "::") {
		return true
	}
	if dot := strings.LastIndexByte(t, '.'); dot > 0 && f.has("domains", t[dot+1:]) {
		return isAlnum(t[0])
	}
	return isHex(t) || isNumbered(t)
}

// isHex reports whether a text is at least 7 hex digits, some of them letters and some not, as of a hash or an id.
func isHex(t string) bool {
	digits := strings.ReplaceAll(t, "-", "")
	return len(digits) >= 7 && anyByte(digits, isDigit) && anyByte(digits, isLetter) &&
		strings.Trim(strings.ToLower(digits), "0123456789abcdef") == ""
}

// isNumbered reports whether a text begins with a letter and has digits, as S3, ABC-123 and gpt-4o
// do. "mid-2020" and "top-10" are ordinary words, Q3 is a time.
func isNumbered(t string) bool {
	if !isLetter(t[0]) || !anyByte(t, isDigit) || !onlyWord(t, "-.") ||
		len(t) == 2 && t[0] == 'Q' {
		return false
	}
	for part := range strings.SplitSeq(t, "-") {
		if anyByte(part, isDigit) && anyByte(part, isLetter) {
			return true
		}
	}
	return isUpper(t[0]) && len(t) > 1 && (isUpper(t[1]) || t[1] == '-')
}
