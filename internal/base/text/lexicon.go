package text

import (
	"hash/maphash"
)

// Lexicon numbers the terms of many texts, from 0 in order of first occurrence, and finds the number of a known
// word by one lookup instead of stemming and two lookups. It keeps every term, and the most recent words in at most
// about 3 MiB. Its numbers depend only on its input. Not safe for concurrent use.
type Lexicon struct {
	scanner scanner
	terms   table
	words   table
	becomes []int32 // of each word: the number of its term, or stopWord
	yield   func(number int, unit bool)
}

const (
	// lexiconWords is how many words a lexicon remembers before it drops them and starts over: the frequent ones
	// return at once.
	lexiconWords = 1 << 16
	stopWord     = -1
)

// Lexicon returns an empty lexicon for the texts of the analyser's language.
func (a *Analyzer) Lexicon() *Lexicon {
	l := &Lexicon{scanner: scanner{english: a.english}}
	l.scanner.lexicon = l
	l.scanner.yield = func(term string) bool { l.yield(l.Number(term), false); return true }
	l.scanner.unit = func(term string) bool { l.yield(l.Number(term), true); return true }
	return l
}

// EachOfField calls yield with the numbers of the terms that Analyzer.EachOfField yields.
func (l *Lexicon) EachOfField(s string, yield func(number int, unit bool)) {
	l.scanner.s, l.yield = s, yield
	l.scanner.scan()
	l.scanner.s, l.yield = "", nil
}

// Len returns the number of terms.
func (l *Lexicon) Len() int { return l.terms.len() }

// Bytes returns approximately how much memory the lexicon takes.
func (l *Lexicon) Bytes() int { return l.terms.bytes() + l.words.bytes() }

// Term returns the term with a number. It stays valid, and must not be changed.
func (l *Lexicon) Term(number int) []byte { return l.terms.at(number) }

// Seal releases the memory that only Number and EachOfField need; these must not be called afterwards.
func (l *Lexicon) Seal() { l.terms.slots, l.words, l.becomes = nil, table{}, nil }

// Number returns the number of a term, or of any string to add: a new number if it is unknown.
func (l *Lexicon) Number(term string) int {
	hash := l.terms.hash(term)
	n, ok := l.terms.find(hash, term)
	if !ok {
		n = l.terms.add(hash, term)
	}
	return n
}

// word yields the number of a folded word's term, unless it is a stop word.
func (l *Lexicon) word(word string) {
	hash := l.words.hash(word)
	n, ok := l.words.find(hash, word)
	if !ok {
		if l.words.len() == lexiconWords {
			l.words.clear()
			l.becomes = l.becomes[:0]
		}
		n = l.words.add(hash, word)
		l.becomes = append(l.becomes, l.learn(word))
	}
	if term := l.becomes[n]; term != stopWord {
		l.yield(int(term), false)
	}
}

func (l *Lexicon) learn(word string) int32 {
	if !l.scanner.english {
		return int32(l.Number(word))
	}
	if isStopWord(word) {
		return stopWord
	}
	if !stemmable(word) {
		return int32(l.Number(stemHangul(word)))
	}
	return int32(l.Number(l.scanner.computeStem(word)))
}

// table numbers distinct strings from 0 in order of insertion. Their bytes are concatenated, and a slot holds a
// part of the hash, so that a lookup seldom reads more than a slot, an end offset and the matching string.
type table struct {
	slots []tableSlot // open addressing, a power of two
	ends  []uint32    // of the strings in data
	data  []byte
	seed  maphash.Seed // decides the slots of strings, and nothing else
}

type tableSlot struct {
	hash  uint32
	after uint32 // one more than the number, 0 for a free slot
}

const firstSlots = 64

func (t *table) len() int { return len(t.ends) }

func (t *table) bytes() int { return 8*len(t.slots) + 4*cap(t.ends) + cap(t.data) }

func (t *table) at(n int) []byte {
	from := uint32(0)
	if n > 0 {
		from = t.ends[n-1]
	}
	return t.data[from:t.ends[n]:t.ends[n]]
}

func (t *table) hash(s string) uint32 {
	if t.slots == nil {
		t.slots, t.seed = make([]tableSlot, firstSlots), maphash.MakeSeed()
	}
	return uint32(maphash.String(t.seed, s))
}

func (t *table) find(hash uint32, s string) (number int, ok bool) {
	mask := uint32(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		slot := t.slots[i]
		if slot.after == 0 {
			return 0, false
		}
		if slot.hash == hash && string(t.at(int(slot.after-1))) == s {
			return int(slot.after - 1), true
		}
	}
}

// add adds a string that is absent.
func (t *table) add(hash uint32, s string) (number int) {
	if 4*len(t.ends) >= 3*len(t.slots) {
		old := t.slots
		t.slots = make([]tableSlot, 2*len(old))
		for _, slot := range old {
			if slot.after != 0 {
				t.put(slot)
			}
		}
	}
	t.data = append(t.data, s...)
	t.ends = append(t.ends, uint32(len(t.data)))
	t.put(tableSlot{hash, uint32(len(t.ends))})
	return len(t.ends) - 1
}

func (t *table) put(slot tableSlot) {
	mask := uint32(len(t.slots) - 1)
	i := slot.hash & mask
	for t.slots[i].after != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = slot
}

func (t *table) clear() {
	clear(t.slots)
	t.ends, t.data = t.ends[:0], t.data[:0]
}
