package embed

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/fixed"
	"github.com/mnem-project/mnem/internal/text"
)

// Constants of the hashed features, version 1. They are part of the model: another value needs
// another version in its name.
const (
	// HashDim is the number of dimensions. 1,024 found one answer in fifty more, for twice the
	// bytes in every commit.
	HashDim = 512

	hashVersion = "hash-1"
	gramShort   = 3 // code points of the shortest n-gram
	gramLong    = 5 // and of the longest
	wordTag     = 'w'
	gramTag     = 'g'
	// wordWeight is what a word counts beside an n-gram: a word of six letters has 18 of those.
	wordWeight = 4
	gramWeight = 1

	fnvOffset = 14695981039346656037 // FNV-1a of 64 bits
	fnvPrime  = 1099511628211
)

// hashEmbedder is the built-in model: no file, no network, no state but buffers.
type hashEmbedder struct {
	model    string
	analyzer *text.Analyzer
	progress Progress
}

// NewHash returns the built-in model of hashed features, which the package documentation
// defines. language is "en", also meant by the empty string, or "none", as text analysis knows
// them. progress may be nil.
func NewHash(language string, progress Progress) (Embedder, error) {
	if language == "" {
		language = "en"
	}
	a, err := text.New(language)
	if err != nil {
		return nil, fmt.Errorf("open hash:%s: %w: known are en and none", language, err)
	}
	return &hashEmbedder{hashVersion + ":" + language, a, progress}, nil
}

func (h *hashEmbedder) Model() string { return h.model }

func (h *hashEmbedder) Dim() int { return HashDim }

func (h *hashEmbedder) Embed(ctx context.Context, texts []string, kind Kind) ([][]int8, error) {
	return embedLocal(ctx, texts, kind, h.progress, h.vector)
}

// vector returns the vector of one text. Features are counted by their hashes and summed as
// integers, so that the order in which the map yields them cannot matter.
func (h *hashEmbedder) vector(s string) ([]int8, error) {
	f := features{}
	h.analyzer.Each(s, func(term string) bool {
		f.add(term)
		return true
	})
	counters := make([]int64, HashDim)
	for feature, n := range f {
		hash := mix(feature.hash)
		w := feature.weight * (fixed.One + fixed.Log2(n))
		if hash>>63 == 1 {
			w = -w
		}
		counters[hash%HashDim] += w
	}
	return quantise(counters)
}

// feature is one word or n-gram by the hash of its tag and bytes.
type feature struct {
	hash   uint64
	weight int64
}

// features counts how often each occurs.
type features map[feature]uint64

// add counts a term and its n-grams.
func (f features) add(term string) {
	hash := hashByte(fnvOffset, wordTag)
	for i := range len(term) {
		hash = hashByte(hash, term[i])
	}
	f[feature{hash, wordWeight}]++
	f.addGrams("<" + term + ">")
}

// addGrams counts the n-grams of a padded term, which itself is none of them.
func (f features) addGrams(padded string) {
	all := utf8.RuneCountInString(padded)
	for start := range padded {
		hash := hashByte(fnvOffset, gramTag)
		n := 0
		for i := start; i < len(padded) && n < gramLong; {
			_, width := utf8.DecodeRuneInString(padded[i:])
			for _, c := range []byte(padded[i : i+width]) {
				hash = hashByte(hash, c)
			}
			i += width
			if n++; n >= gramShort && n < all {
				f[feature{hash, gramWeight}]++
			}
		}
	}
}

// hashByte is one step of FNV-1a.
func hashByte(hash uint64, c byte) uint64 { return (hash ^ uint64(c)) * fnvPrime }

// mix spreads what FNV-1a leaves in the high bits: its lowest bits depend only on the lowest bits
// of the bytes. It is the finaliser of MurmurHash3.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
