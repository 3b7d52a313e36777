package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// broadly are the phrases of clause 29.6.
const broadly = "what do we know, what do you know, what is known, what s known, overview, summarize, summarise, " +
	"summary of, sum up, tell me about, tell us about, everything about, all about, what is going on, what s going on, " +
	"big picture, main points, in general, state of, status of, brief me, catch me up, background on, history of"

// inPhrases is the beginning of a text in the form of the phrases.
func inPhrases(s string) string {
	rs := []rune(s)
	var b strings.Builder
	for _, r := range rs[:min(len(rs), 4096)] {
		switch {
		case r >= 'A' && r <= 'Z':
			b.WriteRune(r + 'a' - 'A')
		case r < 0x80 && !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9'):
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	line := b.String()
	for strings.Contains(line, "  ") {
		line = strings.ReplaceAll(line, "  ", " ")
	}
	return " " + strings.Trim(line, " ") + " "
}

// asksBroadly reports whether a text asks for much, and what it asks about.
func asksBroadly(s string) (broad bool, about string) {
	about = inPhrases(s)
	for p := range strings.SplitSeq(broadly, ", ") {
		broad = broad || strings.Contains(inPhrases(s), " "+p+" ")
		about = strings.ReplaceAll(about, " "+p+" ", " ")
	}
	return broad, about
}

// shownDigest is a digest in an answer.
type shownDigest struct {
	name, rendered, band string
	score, tokens        int64
	covers               []string
}

// leveled is the record of a digest and its name.
type leveled struct {
	name string
	rec  dict
}

// digestName is that of clause 29.4.
func digestName(scope, label string) string {
	name := "root"
	if scope != "" {
		name = uuid(scope)
	}
	if label != "" {
		name += "/" + label
	}
	return name
}

// aboveFact are the digests that a fact is in at home, the nearest first.
func (d *digests) aboveFact(id string) []leveled {
	if !d.visible(id) {
		return nil
	}
	key := keyOf(semOf(d.factText(d.st.nodes[id])), id)
	scope := d.of[id]
	if !d.scope[id] {
		scope = d.homes([]string{id}, "")[0]
	}
	var out []leveled
	for {
		digits := digitsOf(key, 96)
		for n := 96; n >= 0; n-- {
			if rec := d.made[scope+"/"+digits[:n]]; rec != nil {
				out = append(out, leveled{digestName(scope, digits[:n]), rec})
			}
		}
		if scope == "" {
			return out
		}
		h := sha256.Sum256([]byte("mnem:scope:" + scope))
		sem := binary.BigEndian.Uint64(h[:])
		if d.visible(scope) {
			sem = semOf(d.factText(d.st.nodes[scope]))
		}
		key = keyOf(sem, scope)
		var nodes []string
		for other, of := range d.of {
			if of == scope {
				nodes = append(nodes, other)
			}
		}
		scope = d.homes(nodes, scope)[0]
	}
}

// aboveSome is a digest above some candidates.
type aboveSome struct {
	leveled
	known int64
}

// quotes is what clause 29.6 knows while it chooses.
type quotes struct {
	st                   *store
	d                    *digests
	shown, best, covered map[string]bool
	share                func(has func(term string) bool) int64
	room                 int64
}

// fromAbove is clause 29.6: it puts digests into the answer and returns the candidates that are packed.
func (q request) fromAbove(st *store, c collection, a *answer) []hit {
	at := q.altitude
	broad, about := asksBroadly(q.text)
	if at == "" || at == "entity" || at == "auto" && !broad {
		return a.walk
	}
	terms := analyse(about, "en")
	w := &quotes{
		st: st, d: digestsOf(st), shown: map[string]bool{}, best: map[string]bool{}, covered: map[string]bool{},
		share: q.shareBy(c, terms), room: q.budget / 2,
	}
	sum := int64(0)
	for _, h := range a.walk {
		w.shown[h.id] = true
		sum += tokensOf(q.render(st, h.id))
	}
	for _, h := range a.order[:min(20, len(a.order))] {
		w.best[h.id] = true
	}
	unsaid := true
	for _, n := range c.weightsOf(terms) {
		unsaid = unsaid && n == 0
	}
	root, _ := w.d.digest("")
	if root != nil && (at == "root" || at == "auto" && (unsaid || len(a.order) == 0)) {
		q.putDigest(a, w, w.ranked("root", root))
	}
	fits := (q.limit == 0 || int64(len(a.walk)) <= q.limit) && (q.budget == 0 || sum <= q.budget)
	if at == "auto" || !fits {
		taken := 0
		for _, one := range w.rank(a.order[:min(64, len(a.order))]) {
			if taken < 3 && q.putDigest(a, w, one) {
				taken++
			}
		}
	}
	var rest []hit
	for _, h := range a.walk {
		if !w.covered[h.id] {
			rest = append(rest, h)
		}
	}
	return rest
}

// ranked is a digest and its score.
func (w *quotes) ranked(name string, rec dict) aboveSome {
	var said []string
	for _, s := range saidIn(rec) {
		said = append(said, s.text)
	}
	terms := analyse(strings.Join(said, " "), "en")
	return aboveSome{leveled{name, rec}, w.share(func(term string) bool { return slices.Contains(terms, term) })}
}

// rank returns the digests above candidates in their order.
func (w *quotes) rank(looked []hit) []aboveSome {
	var out []aboveSome
	seen := map[string]bool{"root": true}
	for _, h := range looked {
		for _, p := range w.d.aboveFact(h.id) {
			if !seen[p.name] {
				seen[p.name] = true
				out = append(out, w.ranked(p.name, p.rec))
			}
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].known > out[j].known })
	return out
}

// heading is what a digest is called where it is printed.
func (w *quotes) heading(one aboveSome) string {
	scope := string(one.rec["scope"].([]byte))
	if n := w.st.nodes[scope]; n != nil && w.d.visible(scope) && text(n, "key") != "" {
		_, label, is := strings.Cut(one.name, "/")
		if is {
			label = "/" + label
		}
		return escapeLine(text(n, "key")) + label
	}
	return one.name
}

// putDigest puts a digest into the answer where something of it is printed and that fits.
func (q request) putDigest(a *answer, w *quotes, one aboveSome) bool {
	counts := map[string]int{}
	for _, s := range saidIn(one.rec) {
		counts[s.fact]++
	}
	out := shownDigest{name: one.name, score: one.known, band: "rest"}
	if one.known >= 24576 {
		out.band = "maybe"
	}
	if one.known >= 32768 {
		out.band = "answer"
	}
	takes := map[string]bool{}
	for fact, n := range counts {
		whole := len(digestSentences(w.d.factText(w.st.nodes[fact]))) == n
		takes[fact] = !w.covered[fact] && (w.shown[fact] && whole ||
			!w.shown[fact] && w.best[fact] && out.band == "answer" && one.name != "root")
		if takes[fact] {
			out.covers = append(out.covers, fact)
		}
	}
	sort.Strings(out.covers)
	line, last := fmt.Sprintf("digest: %s (%d facts)", w.heading(one), number(one.rec, "facts")), ""
	for _, s := range saidIn(one.rec) {
		if !takes[s.fact] && one.name != "root" {
			continue
		}
		if s.fact != last {
			line += fmt.Sprintf("\n  [%.8s]", uuid(s.fact))
		}
		line, last = line+" "+escapeLine(s.text), s.fact
	}
	out.rendered = line + "\n"
	out.tokens = tokensOf(out.rendered)
	if last == "" || q.budget > 0 && out.tokens > w.room {
		return false
	}
	w.room -= out.tokens
	for _, fact := range out.covers {
		w.covered[fact] = true
	}
	a.tokens += out.tokens
	a.digests = append(a.digests, out)
	return true
}
