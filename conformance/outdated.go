package main

import "strings"

// changeWords are those of clause 11.10.
var changeWords = strings.Fields(`
now moved since anymore instead upgraded replaced switched changed new cut postponed rescheduled retired
until formerly successor longer
jetzt seit verlegt neu neue neuer neues ab statt stattdessen umgezogen gewechselt ersetzt künftig
désormais maintenant depuis déplacé remplacé nouveau nouvelle
ahora desde trasladado reemplazado nuevo nueva
adesso ora spostato sostituito nuova
agora mudou substituído novo nova
nu sinds verplaatst vervangen nieuw nieuwe voortaan`)

// subject is what a summary is about: its first 8,192 scalars.
func (s *store) subject(id string) string {
	rs := []rune(text(s.nodes[id], "summary"))
	return string(rs[:min(len(rs), 8192)])
}

func tellsChange(s string) bool {
	words := foldedWords(s)
	for _, w := range foldedWords(strings.Join(changeWords, " ")) {
		if has(words, w) {
			return true
		}
	}
	return false
}

// foldedWords are the runs of letters of a text, folded.
func foldedWords(s string) []string {
	var b strings.Builder
	for _, p := range pointsOf(s) {
		switch p.class {
		case "Letter", "Lower", "Upper":
			b.WriteString(foldOf(p.r))
		default:
			b.WriteByte(' ')
		}
	}
	return strings.Fields(b.String())
}

// sameSubject compares two texts.
func (c collection) sameSubject(a, b string) bool {
	x, y := termsOf(a), termsOf(b)
	weight := func(set map[string]bool) int64 {
		sum := int64(0)
		for t := range set {
			sum += c.idf(t)
		}
		return sum
	}
	shared := map[string]bool{}
	for t := range x {
		if y[t] {
			shared[t] = true
		}
	}
	return len(shared) >= 2 && mulDiv(weight(shared), one, min(weight(x), weight(y))) >= 16384
}

// renewed is clause 11.10: what is to be packed in its new order, and what is outdated by what.
func (q request) renewed(st *store, c collection, a *answer) ([]hit, map[string]string) {
	outdated := map[string]string{}
	if q.floor == "rest" || q.blank() {
		return a.walk, outdated
	}
	var compared []hit
	for _, h := range a.walk {
		if len(compared) < 20 && !q.onlyName(st, h, a) {
			compared = append(compared, h)
		}
	}
	created := func(id string) int64 { return number(st.nodes[id], "created") }
	for _, old := range compared {
		by := ""
		for _, h := range compared {
			if created(h.id) > created(old.id) && (by == "" || created(h.id) > created(by)) &&
				a.bands[h.id] == "answer" && tellsChange(st.subject(h.id)) &&
				c.sameSubject(st.subject(old.id), st.subject(h.id)) {
				by = h.id
			}
		}
		if by != "" {
			outdated[old.id] = by
		}
	}
	walk := a.walk
	for _, old := range compared {
		if by := outdated[old.id]; by != "" {
			walk = before(walk, by, old.id)
		}
	}
	return walk, outdated
}

// before puts a hit right before another one, if it stands behind it.
func before(list []hit, id, other string) []hit {
	at := map[string]int{}
	for i, h := range list {
		at[h.id] = i
	}
	if at[id] < at[other] {
		return list
	}
	var out []hit
	for _, h := range list {
		if h.id == other {
			out = append(out, list[at[id]])
		}
		if h.id != id {
			out = append(out, h)
		}
	}
	return out
}
