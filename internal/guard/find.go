// Package guard finds credentials in texts before they are written to a memory, if they would stay for as long
// as its history: keys and tokens of providers, private keys, passwords.
//
// The rules are data, in folder rules:
//
//	gitleaks.toml     the rules of gitleaks v8.30.1, unchanged; gitleaks.LICENSE is its licence (MIT)
//	mnem.toml         rules and exceptions of our own, in the same form
//	refused.txt       the rules whose findings are refused; those of the others are reported
//
// A newer gitleaks.toml replaces the old one unchanged. No rule is parsed before the first text that may hold a
// credential, and no pattern is compiled before a keyword of its rule is found, so that other processes pay nothing.
//
// # What is searched
//
// Nearly every credential has a run of minRun letters, digits and signs, some of them no lower-case letters. A text
// without one, and without an assignment like NAME=VALUE, is read once, at memory speed, and has no findings.
// Otherwise keywords are searched around these places, and the pattern of a rule is matched only near one of its
// keywords. Patterns are RE2's, and the bytes that they may read are bounded by a multiple of the text's length, so
// that time is linear for any text.
//
// # What is never found
//
// UUIDs, hexadecimal hashes like git's, CIDs, integrity hashes, public keys, examples from providers' documents,
// and placeholders in templates.
package guard

import (
	"cmp"
	"slices"
	"strings"
)

// Finding is an apparent credential in a text.
type Finding struct {
	Rule       string // its id
	Level      Level
	Start, End int // bytes of the text, the credential alone
}

// RuleLimit is the id of a finding that says that a text was not searched beyond Start: it contains more candidates
// than are checked. Its Level is Warns, and it is the last finding.
const RuleLimit = "guard-limit"

// Bounds of what is searched.
const (
	minRun   = 12  // bytes of a run that may be a credential, or the longest part of one
	before   = 128 // bytes before a run in which keywords are searched
	after    = 32  // bytes behind it
	beforeIs = 64  // bytes before a sign that something is set
	afterIs  = 192 // bytes behind it

	// Bytes that patterns read: usually from a keyword on; private keys are longer; and if the keyword is not at
	// the beginning, also bytes before it.
	reach      = 2 << 10
	reachKey   = 16 << 10
	reachNear  = 1 << 10
	reachSet   = 512 // of an assignment
	withinSet  = 72  // bytes from the keyword to the assignment's sign
	reachAhead = 512

	// Patterns read at most workEach bytes for each byte of the text, plus workFree.
	workEach = 16
	workFree = 256 << 10
)

// isRun marks the bytes of runs: those of encoded credentials.
var isRun = func() (table [256]bool) {
	for i := range table {
		c := byte(i)
		table[i] = c >= '0' && c <= '9' || lower[c] >= 'a' && lower[c] <= 'z' || strings.IndexByte("_-+/=.~", c) >= 0
	}
	return table
}()

// Find returns apparent credentials in a text, ordered by position and without overlaps: of two overlapping ones, a
// refused one wins, otherwise the longer, otherwise the first by position and id. It accepts any string and is
// deterministic. Safe for concurrent use.
func Find(s string) []Finding {
	spans := spansOf(s)
	if len(spans) == 0 {
		return nil
	}
	f := finder{set: all(), s: s, work: workEach*len(s) + workFree}
	for _, at := range spans {
		f.words.each(s, at.start, at.end, f.hit)
	}
	return f.findings()
}

// span is a part of a text.
type span struct{ start, end int }

// spansOf returns the spans in which to search keywords. Most texts have none.
func spansOf(s string) []span {
	var list []span
	add := func(start, end int) {
		start, end = max(0, start), min(len(s), end)
		if n := len(list); n > 0 && list[n-1].start <= start && start <= list[n-1].end {
			list[n-1].end = max(list[n-1].end, end)
			return
		}
		list = append(list, span{start, end})
	}
	for at := minRun - 1; at < len(s); {
		if !isRun[s[at]] {
			at += minRun
			continue
		}
		start := at
		for start > at-minRun+1 && isRun[s[start-1]] {
			start--
		}
		if at-start+1 < minRun {
			at = start - 1 + minRun
			continue
		}
		end := at + 1
		for end < len(s) && isRun[s[end]] {
			end++
		}
		if mixed(s[start:end]) {
			add(start-before, end+after)
		}
		at = end + minRun
	}
	for _, sign := range [...]string{":", "=", han} {
		for at := 0; ; {
			n := strings.Index(s[at:], sign)
			if n < 0 {
				break
			}
			at += n + len(sign)
			if sign == han || mayBeSet(s[at:]) {
				add(at-beforeIs, at+afterIs)
			}
		}
	}
	return merge(list)
}

// han is "password" in Chinese, which may stand without a sign.
const han = "密码"

// mayBeSet reports whether a text that follows a sign begins with a possible password: some characters without a
// blank that are not a lower-case word.
func mayBeSet(s string) bool {
	at := 0
	for at < len(s) && strings.IndexByte("=>:`'\" \t", s[at]) >= 0 {
		at++
	}
	plain := true
	n := 0
	for ; at+n < len(s) && n < minPassword; n++ {
		c := s[at+n]
		if c <= ' ' {
			return false
		}
		plain = plain && c >= 'a' && c <= 'z'
	}
	for plain && at+n < len(s) && s[at+n] > ' ' {
		plain = s[at+n] >= 'a' && s[at+n] <= 'z'
		n++
	}
	return n >= minPassword && !plain
}

// minPassword is the length of the shortest password searched for.
const minPassword = 3

// merge sorts spans and joins overlapping ones.
func merge(list []span) []span {
	if len(list) < 2 {
		return list
	}
	slices.SortFunc(list, func(a, b span) int { return cmp.Or(a.start-b.start, a.end-b.end) })
	out := list[:1]
	for _, at := range list[1:] {
		if last := &out[len(out)-1]; at.start <= last.end {
			last.end = max(last.end, at.end)
		} else {
			out = append(out, at)
		}
	}
	return out
}

// mixed reports whether a run may be a credential: it has a digit or two capitals, or a part without signs that is
// longer than words are, and is no hash. Lower-case words and paths are not.
func mixed(run string) bool {
	capitals, letters := 0, 0
	for i := range len(run) {
		switch c := run[i]; {
		case c >= 'a' && c <= 'z':
			letters++
		case c >= 'A' && c <= 'Z':
			capitals++
			letters++
		case c >= '0' && c <= '9':
			capitals = 2
		default:
			letters = 0
		}
		if capitals >= 2 || letters > longWord {
			return !isHash(run)
		}
	}
	return false
}

// longWord is the longest lower-case part of a name.
const longWord = 24

// finder collects the findings of one text.
type finder struct {
	*set
	s     string
	work  int         // bytes that patterns may still read
	limit int         // where it ran out, plus one; 0 if it did not
	until map[int]int // by rank, for rules that read around keywords: the end of what was read
	found []found
}

type found struct {
	Finding
	rank int
}

// hit checks a keyword of n bytes.
func (f *finder) hit(at, n int, r *rule) {
	if f.limit > 0 {
		return
	}
	r.ready()
	if !r.leads {
		f.near(at, r)
		return
	}
	if r.boundary && at > 0 && isWord(f.s[at-1]) {
		return
	}
	if r.heads != nil && !slices.ContainsFunc(r.heads, func(h string) bool {
		return strings.HasPrefix(f.s[at:], h)
	}) {
		return
	}
	end := min(len(f.s), at+reach)
	if r.sets {
		if end = min(len(f.s), at+reachSet); !isSet(f.s[min(at+n, end):end]) {
			return
		}
	}
	if strings.HasPrefix(r.keywords[0], "-----") {
		end = min(len(f.s), at+reachKey)
		// A text that begins another one is not part of this one, so that no byte is read twice.
		if next := strings.Index(f.s[at+1:end], "-----BEGIN"); next >= 0 {
			end = at + 1 + next
		}
	}
	m := r.pattern.FindStringSubmatchIndex(f.s[at:end])
	switch {
	case m != nil:
		f.spend(at, m[1])
	case r.wide || end-at > reach:
		f.spend(at, end-at)
	default:
		f.spend(at, failed+runFrom(f.s[at:end]))
	}
	f.judge(r, m, at)
}

// isSet reports whether a long enough value is assigned after a keyword.
func isSet(s string) bool {
	for at := 0; at < min(len(s), withinSet); at++ {
		if !isSign[s[at]] {
			continue
		}
		value := at + 1
		for value < len(s) && (isSign[s[value]] || strings.IndexByte("`'\" \t\r\n", s[value]) >= 0) {
			value++
		}
		end := value
		for end < len(s) && end-value < minSet && (isRun[s[end]] || s[end] == ':') {
			end++
		}
		if end-value == minSet {
			return true
		}
		at = value - 1
	}
	return false
}

// minSet is the shortest assigned value that a rule matches.
const minSet = 8

// isSign marks the bytes of assignment signs.
var isSign = func() (table [256]bool) {
	for _, c := range []byte("=>:|,?") {
		table[c] = true
	}
	return table
}()

// near matches a rule around a keyword.
func (f *finder) near(at int, r *rule) {
	start, end := max(0, at-reachAhead), min(len(f.s), at+reachNear)
	if until, seen := f.until[r.rank]; seen {
		if at+len(r.keywords[0]) <= until {
			return
		}
		start = max(start, until-reachAhead)
	}
	if f.until == nil {
		f.until = map[int]int{}
	}
	f.until[r.rank] = end
	f.spend(at, end-start)
	for _, m := range r.pattern.FindAllStringSubmatchIndex(f.s[start:end], -1) {
		f.judge(r, m, start)
	}
}

// failed is approximately how much a pattern reads, in addition to the run at a keyword, if it does not match.
const failed = 48

// runFrom returns the length of the run at the beginning of a text.
func runFrom(s string) int {
	n := 0
	for n < len(s) && isRun[s[n]] {
		n++
	}
	return n
}

// spend counts the bytes that a pattern read at most.
func (f *finder) spend(at, n int) {
	if f.work -= n; f.work < 0 {
		f.limit = at + 1
	}
}

// isWord reports whether a byte is a word character, as in \b.
func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || lower[c] >= 'a' && lower[c] <= 'z'
}

// judge records a match of a rule unless it is no credential. m holds positions relative to start.
func (f *finder) judge(r *rule, m []int, start int) {
	if m == nil {
		return
	}
	from, to := m[0], m[1]
	switch {
	case r.group > 0:
		from, to = m[2*r.group], m[2*r.group+1]
	default:
		for i := 2; i < len(m); i += 2 {
			if m[i] >= 0 && m[i+1] > m[i] {
				from, to = m[i], m[i+1]
				break
			}
		}
	}
	if from < 0 || from == to {
		return
	}
	match := span{start + m[0], start + m[1]}
	secret := span{start + from, start + to}
	if f.harmless(r, match, secret) {
		return
	}
	f.found = append(f.found, found{Finding{r.id, r.level, secret.start, secret.end}, r.rank})
}

// findings returns the findings, without overlaps.
func (f *finder) findings() []Finding {
	slices.SortFunc(f.found, func(a, b found) int {
		return cmp.Or(int(b.Level)-int(a.Level), (b.End-b.Start)-(a.End-a.Start), a.Start-b.Start, a.rank-b.rank)
	})
	var out []Finding
	for _, a := range f.found {
		i, _ := slices.BinarySearchFunc(out, a.Start, func(b Finding, at int) int { return b.Start - at })
		free := (i == 0 || out[i-1].End <= a.Start) && (i == len(out) || a.End <= out[i].Start)
		if free {
			out = slices.Insert(out, i, a.Finding)
		}
	}
	if f.limit > 0 {
		at := f.limit - 1
		out = append(out, Finding{RuleLimit, Warns, at, at})
	}
	return out
}
