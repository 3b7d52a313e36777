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

// hintWords are those that may tell of a change.
var hintWords = strings.Fields(`
frozen renamed migrated raised lowered increased decreased extended cancelled canceled ruled onwards
onward effective henceforth merged dropped left quit joined succeeded revised updated moves
verschoben eingefroren geändert umbenannt erhöht gesenkt verlängert abgesagt gestrichen`)

// subject is what a summary is about: its first 8,192 scalars.
func (s *store) subject(id string) string {
	rs := []rune(text(s.nodes[id], "summary"))
	return string(rs[:min(len(rs), 8192)])
}

func tellsChange(s string) bool { return hasOne(foldedWords(s), changeWords) }

func hasOne(words, list []string) bool {
	for _, w := range foldedWords(strings.Join(list, " ")) {
		if has(words, w) {
			return true
		}
	}
	return false
}

// mayTellChange is the weaker rule.
func mayTellChange(s string) bool {
	words := foldedWords(s)
	for i, w := range words {
		if w == "as" && i+1 < len(words) && words[i+1] == "of" {
			return true
		}
		if w == "from" && has(words[i+1:min(len(words), i+5)], "on") {
			return true
		}
	}
	return tellsChange(s) || hasOne(words, hintWords)
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

// sameSubject compares a text with a newer one, of which kin count where they are asked for.
func (c collection) sameSubject(a, b string, kin bool) bool {
	x, y := termsOf(a), termsOf(b)
	weight := func(set map[string]bool) int64 {
		sum := int64(0)
		for t := range set {
			sum += c.idf(t)
		}
		return sum
	}
	shared := map[string]bool{}
	for t := range y {
		if x[t] {
			shared[t] = true
		}
		for _, k := range kindred[t] {
			if kin && x[k] {
				shared[t] = true
			}
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
	first := map[string]string{}
	for _, old := range compared {
		for _, h := range compared {
			if created(h.id) <= created(old.id) || a.bands[h.id] != "answer" {
				continue
			}
			was, is := st.subject(old.id), st.subject(h.id)
			put := func(in map[string]string) {
				if by := in[old.id]; by == "" || created(h.id) > created(by) {
					in[old.id] = h.id
				}
			}
			if tellsChange(is) && c.sameSubject(was, is, false) {
				put(outdated)
			}
			if mayTellChange(is) && c.sameSubject(was, is, true) {
				put(first)
			}
		}
	}
	walk := a.walk
	for _, old := range compared {
		by := outdated[old.id]
		if by == "" {
			by = first[old.id]
		}
		if by != "" {
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
