package main

import (
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
)

// checkWords are the lists of clause 27.2, as they are given.
var checkWords = map[string][]string{}

// checkLanguages are the names of its languages in order.
var checkLanguages []string

func loadCheckWords(dir string) error {
	data, err := os.ReadFile(filepath.Join(dir, "check-words.txt"))
	if err != nil {
		return err
	}
	checkWords, checkLanguages = map[string][]string{}, nil
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		words := strings.Fields(line)
		if words[0] == "#" {
			continue
		}
		key := words[0]
		words = words[1:]
		if key == "language" {
			if key, words = "language "+words[0], words[1:]; checkWords[key] == nil {
				checkLanguages = append(checkLanguages, strings.TrimPrefix(key, "language "))
			}
		}
		for _, w := range words {
			checkWords[key] = append(checkWords[key], strings.ReplaceAll(w, "_", " "))
		}
	}
	return nil
}

func foldText(s string) string {
	var b strings.Builder
	for _, p := range pointsOf(s) {
		b.WriteString(foldOf(p.r))
	}
	return b.String()
}

func inCheckList(list, word string) bool {
	for _, w := range checkWords[list] {
		if foldText(w) == word {
			return true
		}
	}
	return false
}

func holdsAny(list, s string) bool {
	for _, w := range checkWords[list] {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

func checkNegates(w string) bool {
	return inCheckList("negations", w) || strings.HasSuffix(w, "n't") || holdsAny("negationRunes", w)
}

func endsAsking(s string) bool {
	s = strings.TrimRight(s, " \t\r\n\"'”’»」』)）]")
	return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") || strings.HasSuffix(s, "؟")
}

func hiragana(s string) bool {
	for _, r := range s {
		if r < 0x3041 || r > 0x309f {
			return false
		}
	}
	return true
}

// asked is a word of a question.
type asked struct {
	shown, term        string
	at, end            int
	weight             int64
	unknown            bool
	name, number, date bool
}

// checked is a question.
type checked struct {
	words    []*asked
	phrases  []string
	dates    datesOf
	counts   bool
	question bool
	negated  bool
	total    int64
	floor    int64
}

// gapped puts blanks in the place of what questions ask with in scripts without spaces.
func gapped(s string) string {
	var b strings.Builder
walk:
	for i := 0; i < len(s); {
		for _, gap := range checkWords["gaps"] {
			if strings.HasPrefix(s[i:], gap) {
				b.WriteString(strings.Repeat(" ", len(gap)))
				i += len(gap)
				continue walk
			}
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}

var checkQuotes = [][2]string{{`"`, `"`}, {"`", "`"}, {"“", "”"}, {"„", "“"}, {"«", "»"}, {"「", "」"},
	{"『", "』"}, {"《", "》"}}

func quotedOf(s string) []string {
	var out []string
	for s != "" && len(out) < 16 {
		at, best := len(s), -1
		for i, q := range checkQuotes {
			if n := strings.Index(s, q[0]); n >= 0 && n < at {
				at, best = n, i
			}
		}
		if best < 0 {
			break
		}
		s = s[at+len(checkQuotes[best][0]):]
		if part, rest, ok := strings.Cut(s, checkQuotes[best][1]); ok {
			out = append(out, part)
			s = rest
		}
	}
	return out
}

func tokensIn(s string) []string {
	var out []string
	for _, w := range surfaces(s) {
		out = append(out, w.token)
	}
	return out
}

// spoken is the language of some tokens, empty for English.
func spoken(tokens []string) string {
	most, best := 0, ""
	for _, t := range tokens {
		if text6.stop[t] {
			most++
		}
	}
	for _, lang := range checkLanguages {
		n := 0
		for _, t := range tokens {
			if inCheckList("language "+lang, t) {
				n++
			}
		}
		if n > most && (n > 1 || inCheckList("language "+lang, tokens[0])) {
			most, best = n, lang
		}
	}
	return best
}

// checkedQuestion is clause 27.2.
func (q request) checkedQuestion(st *store, c collection) checked {
	out := checked{dates: q.dates(), question: endsAsking(q.text), counts: holdsAny("countRuns", q.text)}
	for _, p := range quotedOf(q.text) {
		if len(tokensIn(p)) > 1 {
			out.phrases = append(out.phrases, p)
		}
	}
	s := gapped(q.text)
	list := surfaces(s)
	list = list[:min(len(list), 1024)]
	var tokens []string
	other, capitals, lower := false, 0, false
	for _, w := range list {
		tokens = append(tokens, w.token)
		other = other || !hiragana(w.token)
		if !w.digital {
			capitals++
			lower = lower || !w.capital
		}
		if checkNegates(w.token) {
			out.negated = !out.negated
		}
	}
	for _, p := range checkWords["counts"] {
		if strings.Contains(" "+strings.Join(tokens, " ")+" ", " "+p+" ") {
			out.counts = true
		}
	}
	out.question = out.question || len(tokens) > 0 && inCheckList("starts", tokens[0])
	lang := ""
	if len(tokens) > 0 {
		lang = spoken(tokens)
	}
	as := map[string]string{}
	for _, t := range q.terms(st, c) {
		if other, read := reads(t); read {
			as[strings.Split(t, " ")[0]] = other
		}
	}
	for i, w := range list {
		made := languageTerm(w.token, "en")
		switch {
		case other && hiragana(w.token), len(made) == 0, lang != "" && inCheckList("language "+lang, w.token),
			lang == "" && inCheckList("asking", w.token):
			continue
		}
		term := made[0]
		if as[term] != "" {
			term = as[term]
		}
		var word *asked
		for _, x := range out.words {
			if x.term == term {
				word = x
			}
		}
		if word == nil {
			if len(out.words) == 256 {
				continue
			}
			word = &asked{shown: s[w.at:w.end], term: term, at: w.at, end: w.end}
			if isBigram(pointsOf(w.token)[0].class) {
				word.shown = w.token
			}
			out.words = append(out.words, word)
		}
		begins := i == 0 || strings.ContainsAny(s[list[i-1].end:max(list[i-1].end, w.at)], ".!?。！？\n")
		word.number = word.number || w.digital
		capital := w.inner || w.capital && !begins
		word.name = word.name || capital && !w.digital && !has(checkWords["nouns"], lang)
	}
	out.finish(q, c, capitals > 2 && !lower)
	return out
}

// finish finds dates and weights.
func (o *checked) finish(q request, c collection, capitals bool) {
	all := uint64(len(c.docs)) + 256
	o.floor = logQ16(all)
	for i, w := range o.words {
		w.name = w.name && !capitals
		w.unknown = c.df[w.term] == 0
		w.weight = max(1, logQ16(2*all+2)-logQ16(2*uint64(c.df[w.term])+1))
		o.total += w.weight
		if i < 64 && len(o.dates.asked) > 0 && w.end-w.at <= len(w.shown) {
			less := q
			less.text = q.text[:w.at] + " " + q.text[w.end:]
			if !reflect.DeepEqual(less.dates().asked, o.dates.asked) {
				w.date, w.name, w.number = true, false, false
			}
		}
	}
}

// lack is a kind of what is missing, and its text.
type lack struct{ kind, text string }

// found is clause 27.3 of one memory.
type found struct {
	hit
	coverage, evidence, lead int64
	span                     string
	lacks, unsaid            []lack
	marked                   bool
}

// spokenTo is a sentence without the name that it speaks to (clause 27.3).
func spokenTo(s string) string {
	list := surfaces(s)
	only := func(from, to int, of string) bool { return from < to && strings.Trim(s[from:to], of) == "" }
	n := 0
	for n < min(4, len(list)) && inCheckList("greetings", list[n].token) &&
		(n == 0 || only(list[n-1].end, list[n].at, ", !")) {
		n++
	}
	if n == 0 || n == len(list) || !only(list[n-1].end, list[n].at, ", ") {
		return s
	}
	for _, size := range []int{2, 1} {
		if n+size > len(list) {
			continue
		}
		name := list[n : n+size]
		ok := size == 1 || only(name[0].end, name[1].at, " ")
		for _, w := range name {
			ok = ok && w.capital && !w.digital
		}
		from, to := name[0].at, name[size-1].end
		behind := strings.TrimLeft(s[to:], " ")
		mark := behind == ""
		for _, m := range []string{",", "!", ".", "?", ":", ";", "-", "…"} {
			mark = mark || strings.HasPrefix(behind, m)
		}
		for _, g := range []string{"'s", "’s"} {
			ok = ok && !strings.HasPrefix(s[to:], g) && !strings.HasSuffix(s[from:to], g)
		}
		if ok && mark {
			return s[:from] + strings.Repeat(" ", to-from) + s[to:]
		}
	}
	return s
}

// placesIn are the places of the words of a question that a text has, distinct and in its order.
func (o checked) placesIn(s string) []int {
	var out []int
	terms := append(analyse(s, "en"), hanUnits(s)...)
	for i, w := range o.words {
		if has(terms, w.term) {
			out = append(out, i)
		}
	}
	return out
}

func first8192(s string) string {
	rs := []rune(s)
	return string(rs[:min(len(rs), 8192)])
}

// hold is what a memory holds of a question.
func (o checked) hold(st *store, h hit) found {
	node := st.nodes[h.id]
	long := []string{text(node, "summary"), text(node, "context"), st.contentText(node)}
	short := []string{text(node, "type")}
	left := 8192
	for _, p := range propTexts(node["props"].(dict)) {
		rs := []rune(p)
		rs = rs[:min(len(rs), left)]
		left -= len(rs)
		short = append(short, string(rs))
	}
	have := make([]bool, len(o.words))
	for _, s := range short {
		for _, at := range o.placesIn(s) {
			have[at] = true
		}
	}
	timed := o.timed(node)
	for i, w := range o.words {
		have[i] = have[i] || w.date && timed
	}
	best, most, asking, negated := []int(nil), int64(0), false, false
	span := ""
	for f, s := range long {
		long[f] = first8192(s)
		list := sentencesOf(long[f], 8192)
		spans := sentenceSpans([]rune(long[f]), 8192)
		for i, one := range list {
			places := o.placesIn(spokenTo(one))
			asking = asking || endsAsking(one) && len(places) > 0
			if endsAsking(one) || len(places) == 0 {
				continue
			}
			for n := 1; n <= 2 && i+n <= len(list); n++ {
				if endsAsking(list[i+n-1]) {
					continue
				}
				held, not := o.held(list[i:i+n], have)
				if held.weight > most {
					most, best, negated = held.weight, held.places, not
					rs := []rune(long[f])
					span = string(rs[spans[i].from:spans[i+n-1].to])
				}
			}
		}
	}
	for _, at := range best {
		have[at] = true
	}
	out := found{hit: h, span: span}
	sum := int64(0)
	for i, w := range o.words {
		if have[i] {
			sum += w.weight
		}
	}
	if o.total > 0 {
		out.coverage = sum * one / o.total
	}
	out.evidence = sum - o.floor
	o.missing(&out, st, append(long, short...), have, timed, asking, negated, len(best) > 0)
	return out
}

type heldWords struct {
	weight int64
	places []int
}

// held is what some sentences in a row add to what is held anyway, and whether they negate.
func (o checked) held(list []string, have []bool) (out heldWords, negated bool) {
	in := map[int]bool{}
	for _, s := range list {
		if endsAsking(s) {
			continue
		}
		places := o.placesIn(spokenTo(s))
		for _, at := range places {
			if in[at] {
				continue
			}
			in[at] = true
			out.places = append(out.places, at)
			if out.weight++; !have[at] {
				out.weight += o.words[at].weight
			}
		}
		if len(places) == 0 {
			continue
		}
		for _, w := range wordsOf(s) {
			if checkNegates(w.text) {
				negated = !negated
			}
		}
	}
	return out, negated
}

func (o checked) timed(node dict) bool {
	first, last := moments(node)
	for _, t := range o.dates.asked {
		if (t.to == nil || first < *t.to) && (t.from == nil || last >= *t.from) {
			return true
		}
	}
	return false
}

// missing is what a memory lacks whatever the thresholds are.
func (o checked) missing(
	out *found, st *store, texts []string, have []bool, timed, asking, negated, any bool,
) {
	add := func(kind, s string) { out.lacks = append(out.lacks, lack{kind, s}) }
	topics, dated := 0, false
	var unsaid []*asked
	for i, w := range o.words {
		switch {
		case have[i]:
			if !w.name && !w.number && !w.date {
				topics++
			}
		case w.date:
			dated = true
		case w.unknown:
			add("unknown", w.shown)
		case w.name:
			add("name", w.shown)
		case w.number:
			add("number", w.shown)
		default:
			unsaid = append(unsaid, w)
		}
	}
	sort.SliceStable(unsaid, func(i, j int) bool { return unsaid[i].weight > unsaid[j].weight })
	for _, w := range unsaid {
		out.unsaid = append(out.unsaid, lack{"word", w.shown})
	}
	if dated && !timed {
		add("date", "")
	}
	number := false
	said := map[string]bool{}
	for _, s := range texts {
		for _, w := range surfaces(s) {
			number = number || w.digital || inCheckList("numbers", w.token) || holdsAny("numberRunes", w.token)
		}
		for _, p := range o.phrases {
			in := "\x00" + strings.Join(tokensIn(s), "\x00") + "\x00"
			said[p] = said[p] || strings.Contains(in, "\x00"+strings.Join(tokensIn(p), "\x00")+"\x00")
		}
	}
	for _, p := range o.phrases {
		if !said[p] {
			add("phrase", p)
		}
	}
	if topics == 0 && out.tier == 0 {
		add("topic", "")
	}
	if o.counts && !number {
		add("count", "")
	}
	if asking && !any {
		add("asserted", "")
	}
	if !o.question && any && o.negated != negated {
		add("negation", "")
	}
	if mark := st.counted(out.id); mark != nil {
		out.marked = true
		add("certain", text(mark, "state"))
	}
}

// limits are thresholds: coverage, evidence, lead, and coverage and evidence of WEAK.
type limits [5]int64

var checkDefaults = limits{32768, 4 * one, 11796, 26214, 0}

// check is clause 27.5: the verdict, and the memories with the best in front.
func (q request) check(st *store, t limits) (string, []found) {
	c := st.collect()
	q.limit, q.budget, q.dedup = 20, 0, true
	o := q.checkedQuestion(st, c)
	var list []found
	best := 0
	for _, it := range q.retrieve(st).items {
		if len(list) == 10 || it.tier != 2 && namesOnly(st.nodes[it.id]) {
			continue
		}
		list = append(list, o.hold(st, it.hit))
		if i := len(list) - 1; list[i].rank() > list[best].rank() {
			best = i
		}
	}
	if len(list) == 0 {
		return "MISS", nil
	}
	e := list[best]
	rest := append(append([]found{}, list[:best]...), list[best+1:]...)
	second := int64(0)
	for _, x := range rest {
		second = max(second, x.score)
	}
	if e.score > second {
		e.lead = (e.score - second) * one / e.score
	}
	verdict := e.decide(t)
	return verdict, append([]found{e}, rest...)
}

// namesOnly reports whether a node is of an entity or tag.
func namesOnly(node dict) bool {
	key := text(node, "key")
	return text(node, "type") == "Entity" && strings.HasPrefix(key, "entity/") ||
		text(node, "type") == "Tag" && strings.HasPrefix(key, "tag/")
}

func (e found) rank() int64 {
	r := e.score * e.coverage / one
	if e.tier == 2 {
		r += 1 << 62
	}
	return r
}

// decide gives the verdict and completes what is missing.
func (e *found) decide(t limits) string {
	if e.tier == 2 {
		var certain []lack
		for _, l := range e.lacks {
			if l.kind == "certain" {
				certain = append(certain, l)
			}
		}
		if e.lacks = certain; len(certain) > 0 {
			return "WEAK"
		}
		return "STRONG"
	}
	if e.coverage < t[0] {
		e.lacks = append(e.lacks, e.unsaid...)
	}
	if e.evidence < t[1] {
		e.lacks = append(e.lacks, lack{"evidence", ""})
	}
	if e.lead < t[2] {
		e.lacks = append(e.lacks, lack{"lead", ""})
	}
	switch {
	case e.coverage < t[3] || e.evidence < t[4]:
		return "MISS"
	case len(e.lacks) > 0:
		return "WEAK"
	}
	return "STRONG"
}
