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
confirmed finalized finalised corrected correction deprecated discontinued decommissioned relocated reverted
obsolete outdated supersedes superseded replaces shortened delayed deferred reduced transferred promoted
resigned revoked renewed abolished bumped
verschoben eingefroren geändert umbenannt erhöht gesenkt verlängert abgesagt gestrichen
bestätigt beschlossen festgelegt abgeschafft eingestellt korrigiert umgestellt übernimmt übernommen gekündigt
vorgezogen neuerdings inzwischen mittlerweile fortan nunmehr bisher`)

// openWords are those of a text that is not settled.
var openWords = strings.Fields(`
idea tentative tentatively provisional provisionally draft proposal proposed planned considering undecided
unconfirmed tbd tba pending perhaps
idee vielleicht vorläufig geplant entwurf vorschlag voraussichtlich`)

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

// likeOne reports whether a term has six code points without a digit in a row that one of a set has.
func likeOne(t string, set map[string]bool) bool {
	rs := []rune(t)
	for i := 0; i+6 <= len(rs); i++ {
		run := string(rs[i : i+6])
		if strings.ContainsAny(run, "0123456789") {
			continue
		}
		for x := range set {
			if strings.Contains(x, run) {
				return true
			}
		}
	}
	return false
}

// inCommon is the share of the lighter of a text and a newer one that both have, 0 for less than two terms; what is
// akin counts where that is asked for.
func (c collection) inCommon(a, b string, akin bool) int64 {
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
		if x[t] || akin && likeOne(t, x) {
			shared[t] = true
		}
		for _, k := range kindred[t] {
			if akin && x[k] {
				shared[t] = true
			}
		}
	}
	if len(shared) < 2 {
		return 0
	}
	return mulDiv(weight(shared), one, min(weight(x), weight(y)))
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
	first, most := map[string]string{}, map[string]int64{}
	has := func(string) int64 { return 0 }
	if trimmed(q.text) != "" {
		has = q.shareOf(c, q.terms(st, c))
	}
	const day = 86_400_000_000
	for _, old := range compared {
		for _, h := range compared {
			if created(h.id) <= created(old.id) || a.bands[h.id] != "answer" {
				continue
			}
			was, is := st.subject(old.id), st.subject(h.id)
			if by := outdated[old.id]; tellsChange(is) && c.inCommon(was, is, false) >= 16384 &&
				(by == "" || created(h.id) > created(by)) {
				outdated[old.id] = h.id
			}
			n, by := int64(0), first[old.id]
			if mayTellChange(is) || hasOne(foldedWords(was), openWords) {
				n = c.inCommon(was, is, true)
			}
			if n < 13107 {
				n = 0
				if a.bands[old.id] == "answer" && created(h.id)-created(old.id) >= day &&
					has(old.id) > 0 && has(h.id) >= has(old.id) {
					n = c.inCommon(was, is, false)
				}
				if n < 32768 {
					continue
				}
			}
			if by == "" || n > most[old.id] || n == most[old.id] && created(h.id) > created(by) {
				first[old.id], most[old.id] = h.id, n
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
