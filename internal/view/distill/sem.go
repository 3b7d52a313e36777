package distill

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"strings"
	"sync"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/hashed"
	"github.com/mnem-project/mnem/internal/base/text"
)

// Sem is a hash of 64 bits: those of texts alike differ in few.
type Sem uint64

func (s Sem) String() string { return fmt.Sprintf("%016x", uint64(s)) }

// Distance returns in how many bits two differ.
func (s Sem) Distance(o Sem) int { return bits.OnesCount64(uint64(s ^ o)) }

// planes are the signs by which dimensions count for the bits: bit d of plane b, from the top of byte
// d/8 of SHA-256("mnem:sem:1:" + b + ":" + d/256), is 1 for minus.
var planes = sync.OnceValue(func() *[64][hashed.Dim]int32 {
	out := new([64][hashed.Dim]int32)
	for b := range out {
		for d := range hashed.Dim {
			if d%256 != 0 {
				continue
			}
			sum := sha256.Sum256(fmt.Appendf(nil, "mnem:sem:1:%d:%d", b, d/256))
			for i := range 256 {
				out[b][d+i] = 1 - 2*int32(sum[i/8]>>(7-i%8)&1)
			}
		}
	}
	return out
})

// SimHash returns the hash of a vector of Dim numbers: bit b, from the top, is 1 if the sum of the
// numbers, with the signs of plane b, is above 0. That of none is 0.
func SimHash(vector []int8) Sem {
	if len(vector) != hashed.Dim {
		return 0
	}
	var out Sem
	for b := range planes() {
		sum, signs := int32(0), &planes()[b]
		for d, x := range vector {
			sum += int32(x) * signs[d]
		}
		out <<= 1
		if sum > 0 {
			out |= 1
		}
	}
	return out
}

// SemOf returns the hash of a text.
func SemOf(s string) (Sem, error) {
	v, err := hashed.Vector(text.English, s)
	return SimHash(v), err
}

// MaxText is how much of a node's text counts, in scalars.
const MaxText = 8192

// Fact is a node as digests see it.
type Fact struct {
	ID      graph.ID
	Key     string // "" for none
	Text    string
	Created graph.Time
	Until   graph.OptTime // end of its validity
	Hidden  bool          // by a mark, or erased
}

// TextOf returns the text of a node that counts: context, summary and the beginning of its content, a
// line each; of a node without these its key, or else its type.
func TextOf(n *graph.Node, content string) string {
	var parts []string
	for _, s := range []string{n.Context, n.Summary, content} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if len(parts) == 0 {
		parts = append(parts, n.Key)
		if n.Key == "" {
			parts[0] = n.Type
		}
	}
	return text.FirstScalars(strings.Join(parts, "\n"), MaxText)
}

// Source identifies what a digest says: for a fact the hash of its text, for a digest that of the sources
// below, in ascending order. Both begin with the hash of the recipe.
type Source [sha256.Size]byte

func (s Source) String() string { return fmt.Sprintf("%x", s[:]) }

// ParseSource reads what String returns.
func ParseSource(s string) (out Source, ok bool) {
	b, err := hex.DecodeString(s)
	return out, err == nil && copy(out[:], b) == len(out) && len(b) == len(out)
}

// FactSource is the source of a fact with a text.
func FactSource(r Recipe, text string) Source { return factSource(r.Hash(), text) }

func factSource(recipe [sha256.Size]byte, text string) Source {
	return Source(sha256.Sum256(append(append([]byte("fact\x00"), recipe[:]...), text...)))
}

// Key is the place of an entry in a trie: the hash of its text and its id.
type Key [8 + graph.IDLen]byte

func makeKey(sem Sem, id graph.ID) Key {
	var k Key
	binary.BigEndian.PutUint64(k[:], uint64(sem))
	copy(k[8:], id[:])
	return k
}

// Sem returns the hash in the key.
func (k Key) Sem() Sem { return Sem(binary.BigEndian.Uint64(k[:])) }

// ID returns the id in the key.
func (k Key) ID() graph.ID { return graph.ID(k[8:]) }

// keyDigits is the number of digits of a key, which are of two bits: with one, ways are twice as long, and
// with four most leaves have few members.
const keyDigits = 4 * len(Key{})

const allDigits = "0123"

func (k Key) digit(i int) byte { return allDigits[k[i/4]>>(6-2*(i%4))&3] }

func (k Key) has(digits string) bool {
	for i := range len(digits) {
		if k.digit(i) != digits[i] {
			return false
		}
	}
	return true
}

func (k Key) digits(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = k.digit(i)
	}
	return string(b)
}

// scopeSem is the hash of a scope whose first node is hidden.
func scopeSem(id graph.ID) Sem {
	sum := sha256.Sum256(append([]byte("mnem:scope:"), id[:]...))
	return Sem(binary.BigEndian.Uint64(sum[:]))
}
