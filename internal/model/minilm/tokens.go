package minilm

import (
	"fmt"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/model/bert"
)

// MaxPieces is the number of pieces that a vector is made of, with the one before a text and the one after it.
const MaxPieces = 128

const (
	maxWord   = 100 // characters of a word that is looked up
	unknownID = 100 // [UNK]
	beginID   = 101 // [CLS]
	endID     = 102 // [SEP]
)

// splitter is the normaliser that the model was trained with.
var splitter = bert.Normalizer{Clean: true, Chinese: true, Strip: true, Lower: true}

// vocabulary has pieces that begin a word and pieces that continue one, each sorted by its bytes.
type vocabulary struct {
	begin, inside pieceRange
	ends          string // the end of each piece's text, which is the start of the next
	ids           string
	text          string
	longest       int // bytes
}

// pieceRange is a range of pieces.
type pieceRange struct{ first, end int }

func (r *reader) vocabulary() vocabulary {
	sizes := r.ints(4)
	if r.err != nil {
		return vocabulary{}
	}
	begin, inside, bytes, longest := int(sizes[0]), int(sizes[1]), int(sizes[2]), int(sizes[3])
	if begin < 0 || inside < 0 || begin+inside != words || bytes < 0 || longest < 1 {
		r.err = fmt.Errorf("a vocabulary of %d and %d pieces in %d bytes", begin, inside, bytes)
		return vocabulary{}
	}
	return vocabulary{pieceRange{0, begin}, pieceRange{begin, words}, r.take(4 * words), r.take(4 * words), r.take(bytes), longest}
}

// piece returns the text of a piece.
func (v *vocabulary) piece(i int) string {
	first := 0
	if i > 0 {
		first = int(int32At(v.ends, i-1))
	}
	return v.text[first:int32At(v.ends, i)]
}

// find looks for a piece among some.
func (v *vocabulary) find(in pieceRange, want []byte) (id int32, found bool) {
	low, high := in.first, in.end
	for low < high {
		middle := int(uint(low+high) / 2)
		switch p := v.piece(middle); {
		case p < string(want):
			low = middle + 1
		case p == string(want):
			return int32At(v.ids, middle), true
		default:
			high = middle
		}
	}
	return 0, false
}

// split appends the pieces of a word to ids: [UNK] alone if it has none or is too long.
func (v *vocabulary) split(ids []int32, word []byte) []int32 {
	if len(word) > maxWord && utf8.RuneCount(word) > maxWord {
		return append(ids, unknownID)
	}
	all, ok := bert.Pieces(ids, word, v.longest, func(part []byte, first bool) (int32, bool) {
		if first {
			return v.find(v.begin, part)
		}
		return v.find(v.inside, part)
	})
	if !ok {
		return append(ids, unknownID)
	}
	return all
}

// TokenCounts counts the pieces that the model read of a text. A text in another language than the model's has many
// pieces and few whole words.
type TokenCounts struct {
	Pieces  int  // of words and marks, without the two around a text
	Whole   int  // words that are one piece
	Words   int  // words read, of one piece or several, or unknown
	Marks   int  // pieces that are punctuation: no words
	Unknown int  // words without pieces
	Cut     bool // there was more text than MaxPieces
}

// Add adds the counts of another text.
func (c TokenCounts) Add(other TokenCounts) TokenCounts {
	return TokenCounts{c.Pieces + other.Pieces, c.Whole + other.Whole, c.Words + other.Words, c.Marks + other.Marks,
		c.Unknown + other.Unknown, c.Cut || other.Cut}
}

// Share returns how many of 1,000 pieces that are no punctuation are whole words, rounded down. There may be none.
func (c TokenCounts) Share() (permille int, ok bool) {
	if c.Pieces == c.Marks {
		return 0, false
	}
	return 1000 * c.Whole / (c.Pieces - c.Marks), true
}

// tokenize appends the pieces of a text to ids, between the two around it.
func (v *vocabulary) tokenize(ids []int32, text string) ([]int32, TokenCounts) {
	var c TokenCounts
	first := len(ids)
	ids = append(ids, beginID)
	splitter.Words(text, func(word []byte) bool {
		before := len(ids)
		if c.Cut = before-first == MaxPieces-1; c.Cut {
			return false
		}
		ids = v.split(ids, word)
		c.count(ids[before:], word)
		if over := len(ids) - first - (MaxPieces - 1); over > 0 {
			ids, c.Cut = ids[:len(ids)-over], true
		}
		return !c.Cut
	})
	c.Pieces = len(ids) - first - 1
	return append(ids, endID), c
}

// count counts a word and its pieces.
func (c *TokenCounts) count(pieces []int32, word []byte) {
	if r, size := utf8.DecodeRune(word); size == len(word) && bert.IsPunct(r) {
		c.Marks++
		return
	}
	c.Words++
	switch {
	case pieces[0] == unknownID:
		c.Unknown++
	case len(pieces) == 1:
		c.Whole++
	}
}
