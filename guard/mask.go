package guard

import "strings"

// Mask returns a text with [secret:RULE] in place of what Find finds in it.
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

// Message is Mask for what a program says about what it was given, as in an error. What it quotes may be cut off
// by an ellipsis: the beginning of a credential is masked there too.
func Message(s string) string {
	s = Mask(s)
	for at := 0; ; {
		n := strings.Index(s[at:], ellipsis)
		if n < 0 {
			return s
		}
		n += at
		start, rule := cutOff(s[at:n])
		if rule == "" {
			at = n + len(ellipsis)
			continue
		}
		head := s[:at+start] + masked + rule + "]"
		at, s = len(head), head+s[n:]
		at += len(ellipsis)
	}
}

const ellipsis = "…"

// minCut is how many bytes of a credential must be shown to be taken for one.
const minCut = 16

// cutOff returns where the credential begins that a text, which is cut, ends with, and by which rule; "" for none.
func cutOff(s string) (start int, id string) {
	if at := strings.LastIndex(s[max(0, len(s)-2*before):], "-----BEGIN"); at >= 0 {
		return max(0, len(s)-2*before) + at, "private-key"
	}
	end := len(strings.TrimRight(s, "\"'`"))
	from := end
	for from > 0 && end-from < before && s[from-1] > ' ' && s[from-1] < 0x7f && s[from-1] != '"' {
		from--
	}
	word := s[from:end]
	if at := strings.Index(word, "://"); at >= 0 && strings.IndexByte(word[at+3:], ':') >= 0 {
		return from + at + 3, "password-in-url"
	}
	if len(word) < minCut {
		return 0, ""
	}
	set := all()
	start = len(word)
	set.words.each(word, 0, len(word), func(at, n int, r *rule) {
		if r.level == Refuses && at < start && len(word)-at >= minCut && mixed(word[at:]) && (at == 0 || !isWord(word[at-1])) {
			start, id = at, r.id
		}
	})
	return from + start, id
}
