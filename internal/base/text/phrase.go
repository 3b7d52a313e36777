package text

// MaxPhrase is the largest number of terms of a phrase for HasPhrase.
const MaxPhrase = 64

// HasPhrase reports whether the terms of a phrase occur consecutively among the first most terms of s. It is false
// for an empty phrase, or one of more than MaxPhrase terms.
//
// It stems few words of s, as stemming does not change the first byte of a word: a word that begins like no term of
// the phrase cannot match.
func (a *Analyzer) HasPhrase(s string, phrase []string, most int) bool {
	if len(phrase) == 0 || len(phrase) > MaxPhrase || most <= 0 {
		return false
	}
	var firsts firstBytes
	for _, term := range phrase {
		if term == "" {
			return false
		}
		firsts.add(term[0])
	}
	whole, open := uint64(1)<<(len(phrase)-1), uint64(0)
	n := 0
	a.each(s, &firsts, func(term string) bool {
		n++
		open = (open<<1 | 1) & placesOf(term, phrase) // of the phrase's beginnings that end here
		return open&whole == 0 && n < most
	})
	return open&whole != 0
}

// placesOf returns a bit for each position of a term in a phrase.
func placesOf(term string, phrase []string) (places uint64) {
	for i, t := range phrase {
		if t == term {
			places |= 1 << i
		}
	}
	return places
}

// firstBytes is a set of bytes.
type firstBytes [4]uint64

func (s *firstBytes) add(b byte)      { s[b/64] |= 1 << (b % 64) }
func (s *firstBytes) has(b byte) bool { return s[b/64]>>(b%64)&1 == 1 }
