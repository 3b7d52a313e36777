package dense

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"strconv"
	"sync"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
)

const (
	// maxSketchBits bounds sketches: more say hardly anything more.
	maxSketchBits = 4096
	// rotations is how often a vector is rotated: where few dimensions hold most of the vectors,
	// fewer leave numbers that depend on each other. Clause 9.5.
	rotations = 3
	// rotationScale is the power of two by which numbers are multiplied before they are rotated.
	rotationScale = 6
	// planes is the number of bits of a weight, maxWeight the largest one. Clause 9.5.
	planes    = 3
	maxWeight = 1<<planes - 1
)

func sketchBits(dims int) int { return min((dims+63)/64*64, maxSketchBits) }

// signs returns the signs of each rotation, bit by bit, least significant first: a 1 inverts the number at that
// position. See clause 9.5.
var signs = sync.OnceValue(func() (out [rotations][]byte) {
	for r := range out {
		size := maxSketchBits
		if r == 0 {
			size = graph.MaxDims
		}
		for i := range size / 8 / sha256.Size {
			sum := sha256.Sum256([]byte("mnem:sketch:" + strconv.Itoa(r) + ":" + strconv.Itoa(i)))
			out[r] = append(out[r], sum[:]...)
		}
	}
	return out
})

// sketcher makes sketches. Not safe for concurrent use.
type sketcher struct {
	x     []int32
	signs [rotations][]byte
	out   []byte
}

func newSketcher(dims int) *sketcher {
	n := sketchBits(dims)
	return &sketcher{x: make([]int32, n), signs: signs(), out: make([]byte, n/8)}
}

// rotate multiplies a vector by a matrix that is nearly orthogonal. The result, which is good until
// the next call, and all before it fit: a vector is at most 2^(6+7) · 16 · 64 long, which
// butterflies multiply by the root of at most 2^12 before that is taken out again.
func (k *sketcher) rotate(vector []int8) []int32 {
	x := k.x
	clear(x)
	for i, at := 0, 0; i < len(vector); i++ {
		v := int32(vector[i]) << rotationScale
		if k.signs[0][i/8]>>(i%8)&1 == 1 {
			v = -v
		}
		x[at] += v
		if at++; at == len(x) {
			at = 0
		}
	}
	power := bits.Len(uint(len(x))) - 1
	block := x[:1<<power]
	hadamard(block, power)
	for r := 1; r < rotations; r++ {
		for i := range x {
			s := int32(k.signs[r][i/8]>>(i%8)) & 1
			x[i] = (x[i] ^ -s) + s
		}
		if block = x[:1<<power]; r%2 == 1 {
			block = x[len(x)-1<<power:]
		}
		hadamard(block, power)
	}
	return x
}

// hadamard multiplies by the matrix of Sylvester, and by the root of 1/2^power, rounded down.
func hadamard(x []int32, power int) {
	for h := 1; h < len(x); h *= 2 {
		for i := 0; i < len(x); i += 2 * h {
			low, high := x[i:i+h], x[i+h:i+2*h]
			for j, a := range low {
				b := high[j]
				low[j], high[j] = a+b, a-b
			}
		}
	}
	if power%2 == 0 {
		for i, v := range x {
			x[i] = v >> (power / 2)
		}
		return
	}
	const half = 46_341 // the root of 1/2, times 2^16
	for i, v := range x {
		x[i] = int32(int64(v) * half >> (16 + power/2))
	}
}

// bytes returns the sketch of a vector, good until the next call: bit i, least significant first, is
// 1 if number i of the rotated vector is negative.
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

// word is 64 bits of a query: signs, and what each weighs.
type word struct {
	sign   uint64
	weight [planes]uint64 // the lowest bits first
}

// query returns what sketches are compared with: the signs of the rotated vector, as a sketch has
// them, and how much each weighs.
func (k *sketcher) query(vector []int8) []word {
	x := k.rotate(vector)
	most := int64(1)
	for _, v := range x {
		most = max(most, int64(v), -int64(v))
	}
	out := make([]word, len(x)/64)
	for i, v := range x {
		w := &out[i/64]
		w.sign |= uint64(uint32(v)>>31) << (i % 64)
		weight := (max(int64(v), -int64(v))*maxWeight + most/2) / most
		for p := range w.weight {
			w.weight[p] |= uint64(weight>>p&1) << (i % 64)
		}
	}
	return out
}

// margin returns how much farther than another one a row may be by chance: the standard deviation of the difference of
// the distances of two vectors unrelated to the query and to each other. Each of their bits differs with probability
// one half.
func margin(query []word) int {
	squares := 0
	for i := range query {
		for j := range 64 {
			weight := 0
			for p, plane := range query[i].weight {
				weight |= int(plane>>j&1) << p
			}
			squares += weight * weight
		}
	}
	return int(fixed.Isqrt(uint64(squares / 2)))
}

// distances sets out to the weights of the bits in which rows differ from a query. The weights are planes, each a mask,
// so this takes a few population counts a word, each one instruction.
func distances(out []uint16, query []word, rows []byte) {
	width := 8 * len(query)
	for n := range out {
		row := rows[n*width : (n+1)*width]
		d1, d2, d4 := 0, 0, 0
		for i := range query {
			q := &query[i]
			x := binary.LittleEndian.Uint64(row) ^ q.sign
			row = row[8:]
			d1 += bits.OnesCount64(x & q.weight[0])
			d2 += bits.OnesCount64(x & q.weight[1])
			d4 += bits.OnesCount64(x & q.weight[2])
		}
		out[n] = uint16(d1 + 2*d2 + 4*d4)
	}
}
