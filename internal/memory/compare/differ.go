package compare

import "slices"

// kindOf returns the kind of difference if the other text has nothing in place of a token.
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

// differences lists the tokens that only one of two analyses has: rule 8.
func differences(a, b *analysis) []Difference {
	x := a.lexicon
	room := strikings.Get().(*striking)
	defer room.release()
	onlyA, onlyB := room.unmatched(a, b)
	if len(onlyA)+len(onlyB) == 0 {
		return []Difference{placed(a.tokens, b.tokens)}
	}
	as, bs := pieces(x, onlyA), pieces(x, onlyB)
	out := make([]Difference, 0, min(len(as)+len(bs), MaxDiffers))
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
		for i, k := next(as, -1, kind), next(bs, -1, kind); i < len(as) || k < len(bs); {
			d := Difference{Kind: kind}
			if i < len(as) {
				d.A = as[i].shown
				i = next(as, i, kind)
			}
			if k < len(bs) {
				d.B = bs[k].shown
				k = next(bs, k, kind)
			}
			if out = append(out, d); len(out) == MaxDiffers {
				return out
			}
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

// next returns the index of the first piece of a kind after i, the length of the list for none.
func next(list []piece, i int, kind Kind) int {
	for i++; i < len(list) && list[i].kind != kind; i++ {
	}
	return i
}

// contrary reports whether two pieces say the contrary of each other.
func (x *lexicon) contrary(a, b piece) bool {
	return x.opposite[a.form+"/"+b.form] || x.opposite[a.stem+"/"+b.stem]
}
