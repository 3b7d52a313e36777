package tokens

import (
	_ "embed" // the vocabularies
	"sync"

	"github.com/klauspost/compress/zstd"
)

//go:generate go run ./gen .

var (
	//go:embed cl100k.zst
	cl100kData []byte
	//go:embed o200k.zst
	o200kData []byte
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
	cl100k = &encoding{size: 100_256, data: cl100kData, piece: cl100kPiece}
	o200k  = &encoding{size: 199_998, data: o200kData, piece: o200kPiece}
)

// encoding is a vocabulary and the pattern that divides texts.
type encoding struct {
	size  int                // ordinary tokens have the ranks below
	data  []byte             // as package gen writes it
	piece func(s string) int // the length of the first piece of a text that is not empty

	once  sync.Once
	ranks map[string]int32
}

// vocabulary unpacks the tokens, once. They share the memory of one string.
func (e *encoding) vocabulary() map[string]int32 {
	e.once.Do(func() {
		r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
		if err != nil {
			panic(err) // of the options alone
		}
		defer r.Close()
		data, err := r.DecodeAll(e.data, nil)
		if err != nil {
			panic(err) // of a file that is compiled in, which tests read
		}
		e.ranks = make(map[string]int32, e.size)
		tokens := string(data[e.size:])
		for id, n := range data[:e.size] {
			if n > 0 {
				e.ranks[tokens[:n]] = int32(id)
				tokens = tokens[n:]
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
