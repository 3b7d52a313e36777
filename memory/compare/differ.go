package compare

import "slices"

// difference of a token, where the other text has nothing for it.
func (x *lexicon) kindOf(t *token) Kind {
	switch {
	case t.not:
		return Negation
	case t.class == classNumber:
		return Number
	case t.unit:
		return Unit
	case t.class == classIdentifier:
		return Identifier
	case t.class >= classMonth:
		return Date
	case t.class == classWord && t.capital && !x.keep[t.form]:
		return Name
	}
	return Word
}

// differences lists what one of two analyses has and the other not: rule 8.
func differences(a, b *analysis) []Difference {
	x := a.lexicon
	onlyA, onlyB := unmatched(a, b)
	if len(onlyA)+len(onlyB) == 0 {
		return []Difference{placed(a.tokens, b.tokens)}
	}
	as, bs := pieces(x, onlyA), pieces(x, onlyB)
	var out []Difference
	for i := 0; i < len(as); i++ { // words and their contraries
		if !x.opposed[as[i].form] && !x.opposed[as[i].stem] {
			continue
		}
		at := slices.IndexFunc(bs, func(p piece) bool { return x.contrary(as[i], p) })
		if at >= 0 {
			out = append(out, Difference{Negation, as[i].shown, bs[at].shown})
			as, bs = slices.Delete(as, i, i+1), slices.Delete(bs, at, at+1)
			i--
		}
	}
	for _, kind := range kinds {
		ofA, ofB := shown(as, kind), shown(bs, kind)
		for i := range max(len(ofA), len(ofB)) {
			d := Difference{Kind: kind}
			if i < len(ofA) {
				d.A = ofA[i]
			}
			if i < len(ofB) {
				d.B = ofB[i]
			}
			out = append(out, d)
		}
	}
	return out[:min(len(out), MaxDiffers)]
}

// placed returns the difference of texts of the same words: an article of another gender, or order.
func placed(a, b []token) Difference {
	for i := range a {
		if a[i].form != b[i].form {
			break
		}
		if a[i].gender != b[i].gender && a[i].gender != "" && b[i].gender != "" {
			return Difference{Word, a[i].article, b[i].article}
		}
	}
	return Difference{Kind: Order}
}

// piece is a token that differs, or neighbours that do of a script without spaces.
type piece struct {
	kind              Kind
	form, stem, shown string
}

func pieces(x *lexicon, list []*token) []piece {
	out := make([]piece, 0, len(list))
	end := -1
	for _, t := range list {
		kind := x.kindOf(t)
		if t.class == classSingle && t.start == end {
			p := &out[len(out)-1]
			p.form, p.shown = p.form+t.form, p.shown+t.form
			if p.stem = p.form; kind == Negation || p.kind == Unit {
				p.kind = kind
			}
		} else {
			p := piece{kind, t.form, t.stem, t.form}
			if t.class == classWord || t.class == classHabit || t.class == classWeekday {
				p.shown = t.was.form
			}
			out = append(out, p)
		}
		if end = -1; t.class == classSingle {
			end = t.end
		}
	}
	return out
}

func shown(list []piece, kind Kind) []string {
	var out []string
	for _, p := range list {
		if p.kind == kind {
			out = append(out, p.shown)
		}
	}
	return out
}

// contrary reports whether two pieces say the contrary of each other.
func (x *lexicon) contrary(a, b piece) bool {
	return x.opposite[a.form+"/"+b.form] || x.opposite[a.stem+"/"+b.stem]
}

// unmatched returns the tokens of each list that the other has nothing for: first those of the same
// form pair, in order, then those of the same stem.
func unmatched(a, b *analysis) (onlyA, onlyB []*token) {
	if a.forms == nil {
		a.forms = newTally(a.tokens, (*token).spelt)
	}
	var restB []*token
	a.forms.pair(b.tokens, func(t *token) { restB = append(restB, t) })
	restA := a.forms.left(a.tokens)
	loose := func(t *token) lemma {
		if t.class == classWord && !t.proper && !(t.capital && !t.det) {
			return t.key()
		}
		return t.spelt()
	}
	onlyA, onlyB = unpaired(restA, restB, loose)
	if len(onlyA)+len(onlyB) == 0 && len(restA)+len(restB) > 0 {
		return restA, restB // endings that say something
	}
	return onlyA, onlyB
}

// unpaired strikes out, of each key, as many tokens of both lists as the list with fewer of it has, the
// first ones.
func unpaired(a, b []*token, key func(*token) lemma) (onlyA, onlyB []*token) {
	type count struct{ left, both int } // of b: not paired yet, and paired
	times := make(map[lemma]count, len(b))
	for _, t := range b {
		k := key(t)
		n := times[k]
		n.left++
		times[k] = n
	}
	for _, t := range a {
		k := key(t)
		if n := times[k]; n.left > 0 {
			times[k] = count{n.left - 1, n.both + 1}
			continue
		}
		onlyA = append(onlyA, t)
	}
	for _, t := range b {
		k := key(t)
		if n := times[k]; n.both > 0 {
			times[k] = count{n.left, n.both - 1}
			continue
		}
		onlyB = append(onlyB, t)
	}
	return onlyA, onlyB
}
