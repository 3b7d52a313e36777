package guard

import (
	"slices"
	"strings"
)

// Mask returns a text with [secret:RULE] in place of each finding.
func Mask(s string) string {
	list := Find(s)
	if len(list) == 0 {
		return s
	}
	var b strings.Builder
	at := 0
	for _, f := range list {
		if f.End > f.Start {
			b.WriteString(s[at:f.Start] + masked + f.Rule + "]")
			at = f.End
		}
	}
	b.WriteString(s[at:])
	return b.String()
}

// Message is Mask for a program's messages about its input, such as errors. Quoted input may be truncated, or
// cleaned as a path: so it also masks beginnings of credentials. False positives cost little here.
func Message(s string) string {
	if len(s) < minCut {
		return s
	}
	s = Mask(s)
	var b strings.Builder
	at := 0
	for _, f := range begun(s) {
		if f.Start >= at {
			b.WriteString(s[at:f.Start] + masked + f.Rule + "]")
			at = f.End
		}
	}
	b.WriteString(s[at:])
	return b.String()
}

// shortKeyword is the longest keyword that is meaningless without the exact case that its rule requires: "sk"
// begins many words.
const shortKeyword = 3

// begins reports whether a text that begins with a keyword of n bytes, ignoring case, begins like a match of the
// rule. Names of variables such as MNEM_HTTP_TOKEN do not.
func (r *rule) begins(s string, n int) bool {
	r.ready()
	if r.heads == nil {
		return n > shortKeyword
	}
	return slices.ContainsFunc(r.heads, func(h string) bool { return strings.HasPrefix(s, h) })
}

// minCut is how many bytes of a truncated credential make it recognizable.
const minCut = 16

// begun returns beginnings of refused credentials, passwords in former URLs, and private keys without their end,
// ordered by position.
func begun(s string) []Finding {
	var out []Finding
	set := all()
	set.words.each(s, 0, len(s), func(at, n int, r *rule) {
		if r.level != Refuses || at > 0 && isWord(s[at-1]) || !r.begins(s[at:], n) {
			return
		}
		end := at + runFrom(s[at:])
		switch word := s[at:end]; {
		case r.id == "private-key" && strings.HasPrefix(s[at:], "-----BEGIN"):
			if strings.Contains(s[at:min(len(s), at+before)], "PRIVATE KEY-----") {
				out = append(out, Finding{r.id, Refuses, at, len(s)})
			}
		case len(word) >= minCut && mixed(word):
			out = append(out, Finding{r.id, Refuses, at, end})
		}
	})
	for at := range len(s) {
		if s[at] != '@' {
			continue
		}
		from := strings.LastIndexAny(s[:at], " \t\n\"'`") + 1
		if slash := strings.LastIndex(s[from:at], ":/"); slash >= 0 {
			user := strings.TrimLeft(s[from+slash+2:at], "/")
			if _, secret, ok := strings.Cut(user, ":"); ok && secret != "" && !strings.HasPrefix(secret, masked) {
				out = append(out, Finding{"password-in-url", Warns, at - len(secret), at})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return a.Start - b.Start })
	return out
}
