package compare

// tally counts the keys of one text's tokens, so that those of many others are struck out against them.
type tally struct {
	key   func(*token) lemma
	of    map[lemma]*keyCount
	at    []*keyCount // of each token
	pairs int         // how many texts it was paired with
}

// keyCount is how many tokens have a key. Of the text that it was paired with last, where at is its
// number, met is how many of both were struck out, and gone how many of these were passed by.
type keyCount struct{ n, met, gone, at int }

func newTally(tokens []token, key func(*token) lemma) *tally {
	t := &tally{key: key, of: make(map[lemma]*keyCount, len(tokens)), at: make([]*keyCount, len(tokens))}
	counts := make([]keyCount, len(tokens))
	for i := range tokens {
		k := key(&tokens[i])
		n := t.of[k]
		if n == nil {
			n = &counts[i]
			t.of[k] = n
		}
		n.n++
		t.at[i] = n
	}
	return t
}

// pair strikes out, of each key, as many tokens of both texts as the one with fewer of it has, the first
// ones. It returns how many these are of each, and calls left, if there is one, with the others of
// the second text in order.
func (t *tally) pair(other []token, left func(*token)) (both int) {
	t.pairs++
	for i := range other {
		n := t.of[t.key(&other[i])]
		if n != nil && n.at != t.pairs {
			n.at, n.met, n.gone = t.pairs, 0, 0
		}
		if n != nil && n.met < n.n {
			n.met++
			both++
		} else if left != nil {
			left(&other[i])
		}
	}
	return both
}

// left returns the tokens of its own text that the last pairing left, in order.
func (t *tally) left(tokens []token) (out []*token) {
	for i, n := range t.at {
		if n.at == t.pairs && n.gone < n.met {
			n.gone++
			continue
		}
		out = append(out, &tokens[i])
	}
	return out
}
