package main

import (
	"os"
	"regexp"
	"sort"
	"strings"
	"unicode/utf8"
)

// memWords are the lists of spec/memory-words.txt: the entries of each in order, and their keys.
var memWords struct {
	entries map[string][]string
	keys    map[string]map[string]bool
}

func loadMemoryWords(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	memWords.entries, memWords.keys = map[string][]string{}, map[string]map[string]bool{}
	name := ""
	for _, l := range strings.Split(string(data), "\n") {
		l = strings.TrimSpace(l)
		if l == "" || strings.HasPrefix(l, "#") {
			continue
		}
		if strings.HasPrefix(l, "[") {
			name = strings.Trim(l, "[]")
			memWords.keys[name] = map[string]bool{}
			continue
		}
		for _, e := range strings.Split(l, ",") {
			e = strings.TrimSpace(e)
			if k := keyOfName(e); k != "" && !memWords.keys[name][k] {
				memWords.keys[name][k] = true
				memWords.entries[name] = append(memWords.entries[name], e)
			}
		}
	}
	return nil
}

func inList(list, key string) bool { return memWords.keys[list][key] }

// scalarKind is letter, digit, single, other or ignored.
func scalarKind(r rune) string {
	switch c := text6.class[r]; {
	case c == "Digit":
		return "digit"
	case isWord(c):
		return "letter"
	case isBigram(c):
		return "single"
	case c == "Ignored":
		return "ignored"
	}
	return "other"
}

func counts25(r rune) bool { return has([]string{"letter", "digit", "single"}, scalarKind(r)) }

// keyOfName is the key of a name: clause 25.1.
func keyOfName(s string) string {
	out := ""
	for _, r := range s {
		switch {
		case scalarKind(r) == "ignored":
		case counts25(r):
			out += foldOf(r)
		case strings.ContainsRune("\t\n\r \u00a0\u3000", r):
			if !strings.HasSuffix(out, " ") {
				out += " "
			}
		default:
			out += string(r)
		}
	}
	return strings.Trim(out, " ")
}

// mention is an entity.
type mention struct {
	kind, name, key string
	at, end         int
}

// namer looks for entities in a text.
type namer struct {
	s     string
	known []string
	found []mention
	units []nameUnit
	runs  map[int]sentence25
}

func entities25(s string, known []string) []mention {
	if rs := []rune(s); len(rs) > 8000 {
		s = string(rs[:8000])
	}
	n := &namer{s: s}
	for _, k := range known {
		n.known = append(n.known, strings.TrimSpace(k))
	}
	n.marks()
	n.chunks()
	for _, at := range datePlaces(s) {
		n.take(at[0], at[1], "date")
	}
	n.names()
	n.knownUnits()
	n.scripts()
	sort.SliceStable(n.found, func(i, j int) bool { return n.found[i].at < n.found[j].at })
	var out []mention
	seen := map[string]bool{}
	for _, m := range n.found {
		if !seen[m.key] {
			out = append(out, m)
		}
		seen[m.key] = true
	}
	return out[:min(len(out), 50)]
}

func (n *namer) free(at, end int) bool {
	for _, m := range n.found {
		if at < m.end && m.at < end {
			return false
		}
	}
	return true
}

func (n *namer) take(at, end int, kind string) bool {
	name := n.s[at:end]
	says := false
	for _, r := range name {
		says = says || counts25(r)
	}
	long := utf8.RuneCountInString(name) > 64
	if kind == "url" || kind == "email" || kind == "path" {
		long = len(name) > 480
	}
	if !says || long || !n.free(at, end) {
		return false
	}
	n.found = append(n.found, mention{kind: kind, at: at, end: end, name: name, key: keyOfName(name)})
	return true
}

var markPairs = []string{"` ` code", `" " quote`, "“ ” quote", "„ “ quote", "« » quote", "「 」 quote",
	"『 』 quote", "《 》 quote", "〈 〉 quote"}

func (n *namer) marks() {
	base := 0
	for _, l := range strings.SplitAfter(n.s, "\n") {
		for i := 0; i < len(l); {
			next := i + 1
			for _, p := range markPairs {
				w := strings.Split(p, " ")
				if !strings.HasPrefix(l[i:], w[0]) {
					continue
				}
				from := i + len(w[0])
				k := strings.Index(l[from:], w[1])
				if k < 0 {
					continue
				}
				at := from
				inner := strings.TrimLeft(l[from:from+k], " \u3000")
				at += k - len(inner)
				inner = strings.TrimRight(inner, " \u3000,.;:!?，。；：！？")
				taken := strings.Count(inner, " ") <= 5 && n.take(base+at, base+at+len(inner), w[2])
				if taken || w[0] == w[1] {
					next = from + k + len(w[1])
					break
				}
			}
			i = next
		}
		base += len(l)
	}
}

var chunkRun = regexp.MustCompile(`[A-Za-z0-9_\-/\\.:@#+~%&=?!$*()]+`)

func (n *namer) chunks() {
	for _, at := range chunkRun.FindAllStringIndex(n.s, -1) {
		before, _ := utf8.DecodeLastRuneInString(n.s[:at[0]])
		after, _ := utf8.DecodeRuneInString(n.s[at[1]:])
		if at[0] > 0 && scalarKind(before) == "letter" ||
			at[1] < len(n.s) && scalarKind(after) == "letter" {
			continue
		}
		whole := n.s[at[0]:at[1]]
		if cut := strings.Index(whole, "="); cut > 0 && !strings.Contains(whole, "://") {
			whole = whole[:cut]
		}
		t := strings.TrimLeft(whole, "-:+%&=?!$*()")
		from := at[0] + len(whole) - len(t)
		for t != "" && (strings.ContainsAny(t[len(t)-1:], ".:?!=&*(-~%@$") ||
			t[len(t)-1] == ')' && strings.Count(t, ")") > strings.Count(t, "(")) {
			t = t[:len(t)-1]
		}
		if len(t) < 2 {
			continue
		}
		kind := chunkKind(t)
		if kind == "url" {
			t = strings.TrimRight(t, "/")
		}
		if kind != "" {
			n.take(from, from+len(t), kind)
		}
	}
}

func fits(t, pattern string) bool { return regexp.MustCompile("^(?:" + pattern + ")$").MatchString(t) }

// chunkKind is the row of the table of clause 25.1 that fits, "" for none.
func chunkKind(t string) string {
	const an = `A-Za-z0-9`
	letters := regexp.MustCompile(`[A-Za-z]`).MatchString(t)
	switch {
	case strings.Contains(t, "://") && fits(t, `[A-Za-z][`+an+`+\-.]+://[`+an+`].*`) &&
		!strings.Contains(t[:strings.Index(t, "://")], ":"),
		!strings.Contains(t, "://") && strings.HasPrefix(t, "www.") && strings.Contains(t[4:], "."):
		return "url"
	case fits(t, `[`+an+`._+\-]+@[`+an+`.\-]+\.[A-Za-z\-]{2,}`):
		return "email"
	case inList("technologies", strings.ToLower(t)) && !fits(t, `[`+an+`]+`):
		return "technology"
	case fits(t, `@[A-Za-z_].*`):
		return "handle"
	case fits(t, `#[A-Za-z][`+an+`_\-]*`):
		return "hashtag"
	case isPath25(t, letters):
		return "path"
	case fits(t, versionForm) && !longParts(t):
		if t[0] != 'v' && strings.Count(t, ".") == 3 {
			return "identifier"
		}
		return "version"
	case fits(t, `[`+an+`][`+an+`._\-]*\.[`+an+`_\-]*`) &&
		memWords.keys["extensions"][t[strings.LastIndex(t, ".")+1:]]:
		return "path"
	case isIdentifier25(t, letters):
		return "identifier"
	}
	return ""
}

const versionForm = `(?:[vV]\d{1,9}(?:\.\d{1,9})+|\d{1,9}(?:\.\d{1,9}){2,})(?:[\-+][A-Za-z0-9.\-+]*)?`

// longParts reports whether three parts without a v are those of a date.
func longParts(t string) bool {
	m := regexp.MustCompile(`^(\d+)\.\d+\.(\d+)(?:[\-+].*)?$`).FindStringSubmatch(t)
	return m != nil && (len(m[1]) > 3 || len(m[2]) > 3)
}

func isPath25(t string, letters bool) bool {
	if fits(t, `[A-Za-z]:\\.*`) {
		return true
	}
	if !strings.Contains(t, "/") || !letters || !fits(t, `[A-Za-z0-9_\-./~+@#]*`) {
		return false
	}
	if fits(t, `(?:/|\./|\.\./|~/).*`) {
		return fits(t, `(?:/|\./|\.\./|~/)[A-Za-z0-9._].*`)
	}
	return strings.HasSuffix(t, "/") || strings.ContainsAny(t, "._") ||
		strings.Count(t, "/") >= 2 && strings.Contains(t, "-")
}

func isIdentifier25(t string, letters bool) bool {
	switch {
	case strings.HasSuffix(t, "()"):
		return fits(t, `[A-Za-z][A-Za-z0-9_.:]*\(\)`)
	case !letters:
		return fits(t, `#[0-9]+`)
	case !fits(t, `[A-Za-z0-9_\-.:]*`):
		return false
	}
	inner := strings.Trim(t, "_-.:")
	dot := strings.LastIndex(t, ".")
	if strings.Contains(inner, "_") || strings.Contains(inner, "::") ||
		dot > 0 && fits(t[:1], `[A-Za-z0-9]`) && memWords.keys["domains"][t[dot+1:]] {
		return true
	}
	bare := strings.ReplaceAll(t, "-", "")
	if fits(bare, `[0-9a-fA-F]{7,}`) && strings.ContainsAny(bare, "0123456789") {
		return true
	}
	if !fits(t, `[A-Za-z][A-Za-z0-9\-.]*`) || !strings.ContainsAny(t, "0123456789") || fits(t, `Q.`) {
		return false
	}
	for _, p := range strings.Split(t, "-") {
		if regexp.MustCompile(`[A-Za-z]`).MatchString(p) && strings.ContainsAny(p, "0123456789") {
			return true
		}
	}
	return fits(t, `[A-Z][A-Z\-].*`)
}

// datePlaces is step 3.
func datePlaces(s string) [][2]int {
	points := placedPoints(s)
	list := dateTokens(s)
	list = list[:min(len(list), 512)]
	r := dateReader{}
	for _, t := range list {
		r.forms = append(r.forms, t.form)
	}
	var out [][2]int
	for i, n := 0, 0; i < len(list) && n < 8; {
		e, size := r.expression(i)
		if size == 0 {
			i++
			continue
		}
		n++
		now := false
		for _, d := range e.dates {
			now = now || d.fromNow
		}
		for k := i; k < i+size && !now; k++ {
			if _, width := r.date(k, true); width > 0 {
				end := k + width
				if len(e.dates) > 1 {
					end = i + size
				}
				out = append(out, [2]int{points[list[k].from].at, points[list[end-1].to-1].end})
				break
			}
		}
		i += size
	}
	return out
}
