package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sort"
	"strings"
)

// broadly are the phrases of clause 29.6.
const broadly = "what do we know, what do you know, what is known, what s known, overview, summarize, summarise, " +
	"summary of, sum up, tell me about, tell us about, everything about, all about, what is going on, what s going on, " +
	"big picture, main points, in general, state of, status of, brief me, catch me up, background on, history of"

// asksBroadly reports whether a text asks for much.
func asksBroadly(s string) bool {
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
	for p := range strings.SplitSeq(broadly, ", ") {
		if strings.Contains(" "+strings.Trim(line, " ")+" ", " "+p+" ") {
			return true
		}
	}
	return false
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

// gathered is a digest with the candidates below it.
type gathered struct {
	leveled
	members []hit
}

// fromAbove is clause 29.6: it puts digests into the answer and returns the candidates that are packed.
func (q request) fromAbove(st *store, a *answer) []hit {
	at := q.altitude
	if at == "" || at == "entity" || at == "auto" && !asksBroadly(q.text) {
		return a.walk
	}
	d := digestsOf(st)
	root, _ := d.digest("")
	groups := q.gather(st, d, a)
	room := q.budget / 2
	if root != nil && (at == "root" || at == "auto" && len(groups) == 0 && len(a.order) == 0) {
		q.putDigest(a, gathered{leveled: leveled{"root", root}}, nil, &room)
	}
	best := map[string]bool{}
	for _, h := range a.order[:min(20, len(a.order))] {
		best[h.id] = true
	}
	covered := map[string]bool{}
	taken := 0
	for _, g := range groups {
		open := false
		for _, h := range g.members {
			open = open || !covered[h.id]
		}
		if taken == 3 || !open || !q.putDigest(a, g, best, &room) {
			continue
		}
		taken++
		for _, id := range a.digests[len(a.digests)-1].covers {
			covered[id] = true
		}
	}
	var rest []hit
	for _, h := range a.walk {
		if !covered[h.id] {
			rest = append(rest, h)
		}
	}
	return rest
}

// gather finds the digests above several of the best candidates.
func (q request) gather(st *store, d *digests, a *answer) []gathered {
	least, shown := 3, map[string]bool{}
	sum := int64(0)
	for _, h := range a.walk {
		shown[h.id] = true
		sum += tokensOf(q.render(st, h.id))
	}
	fits := (q.limit == 0 || int64(len(a.walk)) <= q.limit) && (q.budget == 0 || sum <= q.budget)
	if q.altitude == "auto" {
		least = 4
	} else if fits {
		return nil
	}
	looked := a.order[:min(64, len(a.order))]
	counts := map[string]int{}
	for _, h := range looked {
		for _, p := range d.aboveFact(h.id) {
			counts[p.name]++
		}
	}
	var out []gathered
	at := map[string]int{}
	for _, h := range looked {
		for _, p := range d.aboveFact(h.id) {
			if p.name == "root" || counts[p.name] < least {
				continue
			}
			if n, ok := at[p.name]; ok {
				out[n].members = append(out[n].members, h)
			} else if shown[h.id] {
				at[p.name] = len(out)
				out = append(out, gathered{p, []hit{h}})
			}
			break
		}
	}
	return out
}

// putDigest puts a digest into the answer where it fits, with the sentences from the best candidates; nil for all.
func (q request) putDigest(a *answer, g gathered, best map[string]bool, room *int64) bool {
	one := shownDigest{name: g.name}
	out, last := fmt.Sprintf("digest: %s (%d facts)", g.name, number(g.rec, "facts")), ""
	said := map[string]bool{}
	for _, s := range saidIn(g.rec) {
		if best != nil && !best[s.fact] {
			continue
		}
		if s.fact != last {
			out += fmt.Sprintf("\n  [%.8s]", uuid(s.fact))
		}
		out, last = out+" "+escapeLine(s.text), s.fact
		said[s.fact] = true
	}
	one.rendered = out + "\n"
	one.tokens = tokensOf(one.rendered)
	if len(said) == 0 || q.budget > 0 && one.tokens > *room {
		return false
	}
	*room -= one.tokens
	for i, h := range g.members {
		if i == 0 {
			one.score, one.band = h.score, a.bands[h.id]
		}
		if said[h.id] {
			one.covers = append(one.covers, h.id)
		}
	}
	sort.Strings(one.covers)
	a.tokens += one.tokens
	a.digests = append(a.digests, one)
	return true
}
