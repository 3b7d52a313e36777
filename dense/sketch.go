package dense

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"strconv"
	"sync"

	"github.com/mnem-project/mnem/graph"
)

// maxSketchBits bounds sketches: more say hardly anything more.
const maxSketchBits = 4096

// sketchBits returns how many bits the sketch of a vector has.
func sketchBits(dims int) int { return min((dims+63)/64*64, maxSketchBits) }

// rotated returns the length of a vector that is rotated: the power of two from 64 on that its
// dimensions fit.
func rotated(dims int) int { return max(64, 1<<bits.Len(uint(dims-1))) }

// signs are those of the rotation, bit by bit, least significant first: where a bit is 1, the
// number of its place changes its sign. See clause 9.5.
var signs = sync.OnceValue(func() []byte {
	var out []byte
	for i := range graph.MaxDims / 8 / sha256.Size {
		sum := sha256.Sum256([]byte("mnem:sketch:" + strconv.Itoa(i)))
		out = append(out, sum[:]...)
	}
	return out
})

// sketcher makes sketches. Not safe for concurrent use.
type sketcher struct {
	x     []int32
	signs []byte
	out   []byte
}

func newSketcher(dims int) *sketcher {
	return &sketcher{
		x: make([]int32, rotated(dims)), signs: signs(), out: make([]byte, sketchBits(dims)/8),
	}
}

// rotate multiplies a vector by the signs and by the Hadamard matrix of Sylvester. The result, which
// is good until the next call, fits: it is at most 2^16 · 127.
func (k *sketcher) rotate(vector []int8) []int32 {
	x := k.x
	clear(x[len(vector):])
	for i, v := range vector {
		x[i] = int32(v)
		if k.signs[i/8]>>(i%8)&1 == 1 {
			x[i] = -x[i]
		}
	}
	for h := 1; h < len(x); h *= 2 {
		for i := 0; i < len(x); i += 2 * h {
			low, high := x[i:i+h], x[i+h:i+2*h]
			for j, a := range low {
				b := high[j]
				low[j], high[j] = a+b, a-b
			}
		}
	}
	return x
}

// bytes returns the sketch of a vector, good until the next call: bit i, least significant first, is
// 1 where number i of the rotated vector is negative.
func (k *sketcher) bytes(vector []int8) []byte {
	x := k.rotate(vector)
	for i := range k.out {
		b := byte(0)
		for j, v := range x[8*i : 8*i+8] {
			b |= byte(uint32(v)>>31) << j
		}
		k.out[i] = b
	}
	return k.out
}

// words returns the sketch of a query.
func (k *sketcher) words(query []int8) []uint64 {
	data := k.bytes(query)
	out := make([]uint64, len(data)/8)
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(data[8*i:])
	}
	return out
}

// distances sets out to the numbers of bits in which a query's sketch differs from those of rows.
func distances(out []uint16, query []uint64, rows []byte) {
	width := 8 * len(query)
	for n := range out {
		row := rows[n*width : (n+1)*width]
		d, q := 0, query
		for ; len(q) >= 2; q = q[2:] {
			r := (*[16]byte)(row)
			d += bits.OnesCount64(q[0]^binary.LittleEndian.Uint64(r[:8])) +
				bits.OnesCount64(q[1]^binary.LittleEndian.Uint64(r[8:]))
			row = row[16:]
		}
		if len(q) == 1 {
			d += bits.OnesCount64(q[0] ^ binary.LittleEndian.Uint64(row))
		}
		out[n] = uint16(d)
	}
}

// Sketch returns the sketch of a vector: clause 9.5.
func Sketch(vector []int8) []byte { return newSketcher(len(vector)).bytes(vector) }
