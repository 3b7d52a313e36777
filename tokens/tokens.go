package tokens

import (
	"sync"

	"github.com/tiktoken-go/tokenizer/codec"
)

// Names of the counters, as requests and receipts have them.
const (
	Cl100k = "cl100k" // cl100k_base
	O200k  = "o200k"  // o200k_base
)

// Counters returns a counter for each name.
func Counters() map[string]func(text string) int {
	return map[string]func(string) int{Cl100k: cl100k.count, O200k: o200k.count}
}

var (
	cl100k = &encoding{size: 100_256, load: codec.NewCl100kBase, piece: cl100kPiece}
	o200k  = &encoding{size: 199_998, load: codec.NewO200kBase, piece: o200kPiece}
)

// encoding is a vocabulary and the pattern that divides texts.
type encoding struct {
	size  uint // ordinary tokens have the ranks below
	load  func() *codec.Codec
	piece func(s string) int // the length of the first piece of a text that is not empty

	once  sync.Once
	ranks map[string]int32
}

// vocabulary reads the tokens out of the library, once.
func (e *encoding) vocabulary() map[string]int32 {
	e.once.Do(func() {
		c := e.load()
		e.ranks = make(map[string]int32, e.size)
		for id := range e.size {
			if token, err := c.Decode([]uint{id}); err == nil {
				e.ranks[token] = int32(id)
			}
		}
	})
	return e.ranks
}

// count returns the number of tokens of a text.
func (e *encoding) count(s string) (n int) {
	ranks := e.vocabulary()
	var m merger
	for len(s) > 0 {
		at := e.piece(s)
		if _, whole := ranks[s[:at]]; whole {
			n++
		} else {
			n += m.parts(ranks, s[:at])
		}
		s = s[at:]
	}
	return n
}
