package compare

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// tally has the tokens of a text in the order of their keys, and those of one key in the order of the text, so
// that two texts are held against each other in one pass over both.
type tally []keyed

// keyed is a token's place and its key. The hash comes first in the order: most keys differ in it.
type keyed struct {
	hash uint32
	at   int32
	lemma
}

func (k *keyed) compare(o *keyed) int {
	if k.hash != o.hash {
		return cmp.Compare(k.hash, o.hash)
	}
	return cmp.Or(cmp.Compare(k.class, o.class), strings.Compare(k.word, o.word))
}

func (t tally) add(k lemma) tally {
	hash := uint32(2166136261) // FNV-1a
	for i := range len(k.word) {
		hash = (hash ^ uint32(k.word[i])) * 16777619
	}
	return append(t, keyed{(hash ^ uint32(k.class)) * 16777619, int32(len(t)), k})
}

func (t tally) sort() {
	slices.SortFunc(t, func(a, b keyed) int {
		if c := a.compare(&b); c != 0 {
			return c
		}
		return cmp.Compare(a.at, b.at)
	})
}

func newTally(tokens []token, key func(*token) lemma) tally {
	t := make(tally, 0, len(tokens))
	for i := range tokens {
		t = t.add(key(&tokens[i]))
	}
	t.sort()
	return t
}

// pair strikes out, of each key, as many tokens of both texts as the one with fewer of it has, the first ones. It
// returns how many these are of each, and calls paired, if there is one, with the places of those of each pair.
func (t tally) pair(o tally, paired func(a, b int32)) (both int) {
	for i, k := 0, 0; i < len(t) && k < len(o); {
		switch c := t[i].compare(&o[k]); {
		case c < 0:
			i++
		case c > 0:
			k++
		default:
			if paired != nil {
				paired(t[i].at, o[k].at)
			}
			both++
			i++
			k++
		}
	}
	return both
}

// striking is room for striking out, which is used again.
type striking struct {
	a, b       tally
	inA, inB   []bool // of each token whether it is struck out
	leftA      []*token
	leftB      []*token
	onlyA      []*token
	onlyB      []*token
	strikeBoth func(a, b int32)
}

var strikings = sync.Pool{New: func() any {
	s := new(striking)
	s.strikeBoth = func(a, b int32) { s.inA[a], s.inB[b] = true, true }
	return s
}}

// strike strikes out what two tallies, of so many tokens, have in common.
func (s *striking) strike(a, b tally) {
	s.inA, s.inB = flags(s.inA, len(a)), flags(s.inB, len(b))
	a.pair(b, s.strikeBoth)
}

// flags returns n false flags, in the room of old ones if there is enough.
func flags(old []bool, n int) []bool {
	old = slices.Grow(old[:0], n)[:n]
	clear(old)
	return old
}

// release keeps the room, and nothing of the texts, and no more room than most texts take.
func (s *striking) release() {
	const most = 256
	if cap(s.a)+cap(s.b)+cap(s.leftA)+cap(s.leftB)+cap(s.onlyA)+cap(s.onlyB) > 6*most {
		return
	}
	clear(s.a[:cap(s.a)])
	clear(s.b[:cap(s.b)])
	for _, list := range [][]*token{s.leftA, s.leftB, s.onlyA, s.onlyB} {
		clear(list[:cap(list)])
	}
	strikings.Put(s)
}

// unmatched finds the tokens of each list that the other has nothing for: first those of the same
// form pair, in order, then those of the same stem. They hold until the room is released.
func (s *striking) unmatched(a, b *analysis) (onlyA, onlyB []*token) {
	s.strike(a.byForm(), b.byForm())
	s.leftA, s.leftB = leftOf(s.leftA, a.tokens, s.inA), leftOf(s.leftB, b.tokens, s.inB)
	s.a, s.b = looseTally(s.a, s.leftA), looseTally(s.b, s.leftB)
	s.strike(s.a, s.b)
	s.onlyA, s.onlyB = notIn(s.onlyA, s.leftA, s.inA), notIn(s.onlyB, s.leftB, s.inB)
	if len(s.onlyA)+len(s.onlyB) == 0 {
		return s.leftA, s.leftB // endings that say something, if any
	}
	return s.onlyA, s.onlyB
}

func leftOf(room []*token, tokens []token, struck []bool) []*token {
	room = room[:0]
	for i := range tokens {
		if !struck[i] {
			room = append(room, &tokens[i])
		}
	}
	return room
}

func notIn(room, list []*token, struck []bool) []*token {
	room = room[:0]
	for i, t := range list {
		if !struck[i] {
			room = append(room, t)
		}
	}
	return room
}

// looseTally counts by stems what may have another ending.
func looseTally(room tally, list []*token) tally {
	room = room[:0]
	for _, t := range list {
		if t.class == classWord && !t.proper && !(t.capital && !t.det) {
			room = room.add(t.key())
		} else {
			room = room.add(t.spelt())
		}
	}
	room.sort()
	return room
}
