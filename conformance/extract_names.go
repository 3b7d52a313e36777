package main

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// nameUnit is a unit of clause 25.2.
type nameUnit struct {
	at, end                              int
	token                                string
	sentence                             int
	initial, capital, inner, lower, owns bool
	digital, done                        bool
}

func (u nameUnit) upper() bool       { return u.capital && u.inner && !u.lower }
func (u nameUnit) abbreviates() bool { return u.capital && utf8.RuneCountInString(u.token) <= 3 }

// sentence25 is what counts of a sentence.
type sentence25 struct{ shouting, uncased, technical, german bool }

// between is what stands between units i and j, a full stop of an abbreviation left out.
func (n *namer) between(i, j int) string {
	s := n.s[n.units[i].end:n.units[j].at]
	if n.units[i].abbreviates() {
		s = strings.TrimPrefix(s, ".")
	}
	return s
}

// follow reports whether unit j, the next one, follows unit i.
func (n *namer) follow(i, j int) bool {
	return i >= 0 && j < len(n.units) && n.units[i].sentence == n.units[j].sentence &&
		!n.units[i].owns && has([]string{" ", "\u00a0"}, n.between(i, j))
}

func (n *namer) readUnits() {
	n.runs = map[int]sentence25{}
	rs := []rune(n.s)
	for number, at := range sentenceSpans(rs, 1000) {
		base := len(string(rs[:at.from]))
		s := string(rs[at.from:at.to])
		sent := sentence25{}
		first := len(n.units)
		for _, w := range surfaces(s) {
			span := s[w.at:w.end]
			if r, _ := utf8.DecodeRuneInString(span); scalarKind(r) == "single" {
				sent.uncased = true
				continue
			}
			if c := span[0] | 0x20; c >= 'a' && c <= 'z' {
				for i, r := range span {
					if r >= 0xac00 && r <= 0xd7a3 {
						span = span[:i]
						break
					}
				}
			}
			u := nameUnit{token: w.token, sentence: number, capital: w.capital, inner: w.inner,
				digital: w.digital}
			for _, r := range span {
				u.lower = u.lower || text6.class[r] == "Lower"
			}
			for _, mark := range []string{"'s", "’s"} {
				if strings.HasSuffix(span, mark) {
					u.owns, span = true, strings.TrimSuffix(span, mark)
				}
			}
			u.at, u.end = base+w.at, base+w.at+len(span)
			sent.uncased = sent.uncased || !u.capital && !u.lower && !u.digital
			if len(n.units) > first {
				last := &n.units[len(n.units)-1]
				if mid := n.s[last.end:u.at]; mid == "-" || mid == "&" {
					last.end, last.owns, last.token = u.end, u.owns, last.token+mid+u.token
					last.inner, last.lower = last.inner || u.inner, last.lower || u.lower
					last.digital = last.digital || u.digital
					continue
				}
			}
			n.units = append(n.units, u)
			k := len(n.units) - 1
			n.units[k].initial = k == first ||
				strings.ContainsAny(n.between(k-1, k), ".:!?…\"“”„«»(•*—–-\n\r")
		}
		n.runs[number] = sent
	}
	n.judge()
}

func (n *namer) judge() {
	german, english := map[string]bool{}, map[string]bool{}
	for _, u := range n.units {
		if inList("german words", u.token) {
			german[u.token] = true
		} else if inList("english words", u.token) {
			english[u.token] = true
		}
	}
	for number, s := range n.runs {
		cased, upper := 0, 0
		for _, u := range n.units {
			if u.sentence != number {
				continue
			}
			if u.end-u.at > 1 && (u.lower || u.capital) {
				cased++
			}
			if u.upper() {
				upper++
			}
			s.technical = s.technical || speaks(u)
		}
		s.shouting = cased >= 4 && 2*upper > cased
		s.german = len(german) >= 2 && len(german) > len(english)
		n.runs[number] = s
	}
}

func speaks(u nameUnit) bool {
	return inList("technologies", u.token) || inList("technology context", u.token)
}

func (n *namer) in(i int) sentence25   { return n.runs[n.units[i].sentence] }
func (n *namer) keyAt(i, j int) string { return keyOfName(n.s[n.units[i].at:n.units[j-1].end]) }
func (n *namer) knows(key string) bool {
	for _, k := range n.known[:min(len(n.known), 256)] {
		if keyOfName(k) == key && key != "" {
			return true
		}
	}
	return false
}

func (n *namer) nameUnit(i int) bool {
	u := n.units[i]
	return !n.in(i).shouting && n.free(u.at, u.end) && (u.capital || u.inner && u.lower)
}

func (n *namer) names() {
	n.readUnits()
	for _, u := range n.units {
		for _, sign := range []string{"++", "#"} {
			if strings.HasPrefix(n.s[u.end:], sign) &&
				inList("technologies", keyOfName(n.s[u.at:u.end]+sign)) {
				n.take(u.at, u.end+len(sign), "technology")
			}
		}
	}
	for i := 0; i < len(n.units); {
		if !n.nameUnit(i) {
			i++
			continue
		}
		j := n.run(i)
		n.judgeRun(i, j)
		i = j
	}
	for i, u := range n.units {
		if !u.done && inList("technologies", n.keyAt(i, i+1)) {
			n.take(u.at, u.end, "technology")
		}
	}
}

// run is the end of the run that begins with name unit i.
func (n *namer) run(i int) int {
	j := i + 1
	for n.follow(j-1, j) {
		k := j
		if n.particle(i, k) && n.follow(k, k+1) {
			k++
			if inList("second particles", n.units[k].token) && !n.units[k].capital && n.follow(k, k+1) {
				k++
			}
		}
		if !n.nameUnit(k) {
			break
		}
		j = k + 1
	}
	return j
}

func (n *namer) particle(i, k int) bool {
	if u := n.units[k]; u.capital || !inList("particles", u.token) {
		return false
	}
	return !n.in(k).german || !n.follow(i-1, i) || n.units[i-1].capital ||
		inList("german before names", n.units[i-1].token)
}

func stopWord(token string) bool { return text6.stop[token] }

func startsOf(u nameUnit) bool { return !u.inner && (inList("starters", u.token) || stopWord(u.token)) }

// number reports whether unit j is a number of the name before it.
func (n *namer) number(j int) bool {
	if j >= len(n.units) || !n.follow(j-1, j) {
		return false
	}
	u := n.units[j]
	t := n.s[u.at:u.end]
	if !u.digital || u.lower || u.capital || len(t) > 6 || !n.free(u.at, u.end) ||
		len(t) == 4 && has([]string{"19", "20"}, t[:2]) {
		return false
	}
	return strings.Contains(t, ".") || n.units[j-1].inner || !n.follow(j, j+1) ||
		stopWord(n.units[j+1].token)
}

func (n *namer) judgeRun(i, j int) {
	bare := func(u nameUnit) bool { return inList("calendar", u.token) || inList("never", u.token) }
	initial, cutOff := n.units[i].initial, false
	behind := func() {
		for i++; i < j && !n.nameUnit(i); {
			i++
		}
		cutOff = true
	}
	for i < j && (bare(n.units[i]) || initial && !cutOff && startsOf(n.units[i])) {
		behind()
	}
	for i < j && (bare(n.units[j-1]) || !n.nameUnit(j-1)) {
		j--
	}
	if i+1 < j && initial && !cutOff {
		u := n.units[i]
		verb := strings.HasSuffix(u.token, "ing") || strings.HasSuffix(u.token, "ed") ||
			strings.HasSuffix(u.token, "ly") || inList("generic", u.token)
		if verb && !u.inner && !inList("technologies", u.token) {
			behind()
		}
	}
	if i >= j || !n.isName(i, j, initial && !cutOff) {
		return
	}
	kind, key := "name", n.keyAt(i, j)
	number := n.number(j)
	switch u := n.units[i]; {
	case inList("technologies", key), j-i == 1 && inList("ambiguous", key) && (number || n.programs(i)):
		kind = "technology"
	case n.knows(key):
		kind = "known"
	case j-i == 1 && u.inner && u.lower:
		kind = "identifier"
	}
	at, end := n.units[i].at, n.units[j-1].end
	if number {
		n.units[j].done = true
		if kind == "name" || kind == "identifier" {
			end = n.units[j].end
		}
	}
	for k := i; k < j; k++ {
		n.units[k].done = true
	}
	n.take(at, end, kind)
}

func (n *namer) isName(i, j int, initial bool) bool {
	u, last, count := n.units[i], n.units[j-1], 0
	for k := i; k < j; k++ {
		if n.nameUnit(k) {
			count++
		}
	}
	if count > 6 {
		return false
	}
	if n.in(i).german {
		if n.alone(i) {
			return true
		}
		for _, end := range memWords.entries["german suffixes"] {
			if strings.HasSuffix(last.token, end) {
				return false
			}
		}
		switch {
		case inList("generic", last.token) || startsOf(u):
			return false
		case j-i > 1:
			return true
		case initial:
			return n.evident(i, j)
		}
		return n.follow(i-1, i) && inList("german before names", n.units[i-1].token)
	}
	switch {
	case count > 1:
		return true
	case utf8.RuneCountInString(n.s[u.at:u.end]) == 1,
		(!u.inner || u.upper()) && (inList("generic", u.token) || startsOf(u)):
		return false
	}
	return !initial || n.evident(i, j)
}

func (n *namer) alone(i int) bool {
	key := n.keyAt(i, i+1)
	return n.units[i].inner || n.knows(key) || inList("technologies", key) ||
		inList("ambiguous", key) && n.programs(i)
}

func (n *namer) programs(i int) bool {
	if !n.in(i).technical {
		return n.number(i + 1)
	}
	for k, u := range n.units {
		if k != i && u.sentence == n.units[i].sentence && speaks(u) {
			return true
		}
	}
	return false
}

func (n *namer) evident(i, j int) bool {
	u := n.units[i]
	german := n.in(i).german
	if n.alone(i) || n.in(i).uncased || u.owns || n.number(j) {
		return true
	}
	if n.follow(j-1, j) && n.units[j].lower {
		if inList("person verbs", n.units[j].token) {
			return true
		}
		if inList("joining words", n.units[j].token) && n.follow(j, j+1) && n.nameUnit(j+1) && !german {
			return true
		}
	}
	for _, o := range n.units {
		if !german && o.token == u.token && o.capital && !o.initial {
			return true
		}
	}
	return false
}

// knownUnits is step 5.
func (n *namer) knownUnits() {
	longest := 0 // units of a known name, as units have no blanks
	for _, k := range n.known {
		longest = max(longest, 1+strings.Count(keyOfName(k), " "))
	}
	for i := range n.units {
		for j := min(len(n.units), i+longest); j > i; j-- {
			at, end := n.units[i].at, n.units[j-1].end
			if n.knows(n.keyAt(i, j)) && n.free(at, end) {
				n.take(at, end, "known")
				break
			}
		}
	}
	var single []string
	for _, k := range n.known[:min(len(n.known), 256)] {
		rs := []rune(k)
		if len(rs) > 1 && scalarKind(rs[0]) == "single" {
			single = append(single, k)
		}
	}
	sort.Slice(single, func(a, b int) bool {
		return len(single[a]) > len(single[b]) || len(single[a]) == len(single[b]) && single[a] < single[b]
	})
	for _, k := range single {
		for at := 0; strings.Contains(n.s[at:], k); {
			at += strings.Index(n.s[at:], k)
			n.take(at, at+len(k), "known")
			at += len(k)
		}
	}
}

func isKatakana25(r rune) bool {
	return r >= 0x30a1 && r <= 0x30fa || r == 0x30fc || r >= 0x31f0 && r <= 0x31ff ||
		r >= 0xff66 && r <= 0xff9f
}

// scripts is step 6.
func (n *namer) scripts() {
	rs := []rune(n.s)
	at := func(i int) int { return len(string(rs[:i])) }
	for i := 0; i < len(rs); i++ {
		if !isKatakana25(rs[i]) {
			continue
		}
		j := i
		for j < len(rs) && (isKatakana25(rs[j]) ||
			rs[j] == 0x30fb && j+1 < len(rs) && isKatakana25(rs[j+1])) {
			j++
		}
		if j-i > 2 && !inList("katakana", keyOfName(string(rs[i:j]))) {
			n.take(at(i), at(j), "name")
		}
		i = j - 1
	}
	for i := range rs {
		for _, list := range []string{"surnames", "names", "words"} {
			for _, h := range memWords.entries["honorifics after "+list] {
				if strings.HasPrefix(string(rs[i:min(len(rs), i+4)]), h) {
					if from, to := honoured(rs[:i], list, len([]rune(h))); from < to {
						n.take(at(from), at(to), "name")
					}
				}
			}
		}
	}
}

// honoured is the span of the name before an honorific, empty for none.
func honoured(before []rune, list string, honorific int) (from, to int) {
	end := len(before)
	if list != "surnames" && end > 0 && before[end-1] == ' ' {
		end--
	}
	fits := func(r rune) bool {
		if list == "words" {
			return r >= 0xac00 && r <= 0xd7a3
		}
		return r >= 0x4e00 && r <= 0x9fff || r >= 0x3400 && r <= 0x4dbf || r == 0x3005
	}
	size := 0
	for size < end && fits(before[end-1-size]) {
		size++
	}
	if list != "surnames" {
		if size < 2 || size > 4 {
			return 0, 0
		}
		return end - size, end
	}
	for k := min(size, 3); k > 0; k-- {
		if inList("surnames", keyOfName(string(before[end-k]))) {
			if k == 1 {
				return end - 1, end + honorific
			}
			return end - k, end
		}
	}
	return 0, 0
}
