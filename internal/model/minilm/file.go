package minilm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"
)

// The model has one shape, which its file repeats.
const (
	layers = 6
	hidden = 384  // numbers of a state
	inner  = 1536 // numbers between the two products of a layer's second half
	heads  = 12
	width  = hidden / heads
	words  = 30522 // pieces of the vocabulary

	magic = "mnem minilm 1\n\x00\x00"
	align = 64   // in bytes; the length of each section is a multiple
	page  = 4096 // alignment of the matrices
)

// linear is a matrix of int8 with a scale for each row, and the addends of its results.
type linear struct {
	weights  []int8 // rows by columns, a part of the file
	rows     int
	columns  int
	exponent int
	scale    []int32
	bias     []int32
}

// norm holds the factors and offsets of a normalisation.
type norm struct{ gain, bias []int32 }

type layer struct {
	joint, out, up, down linear
	first, second        norm
	smooth               [2][]int32 // factors of a state before it is quantised for joint and for up
}

// parameters are the contents of the file. Small tables are decoded; matrices and the vocabulary stay where they are.
type parameters struct {
	power        [2][]int32 // 2^-(i/256) and 2^-(i/65536), 30 fractional bits
	gelu         []int32
	place        []int32 // for each position of a piece, hidden numbers
	norm         norm
	wordExponent int
	wordScale    string // little-endian, as in the file
	words        []int8
	layers       [layers]layer
	vocabulary   vocabulary
}

// reader takes sections from a file. After the first that is not there it yields nothing.
type reader struct {
	file string
	at   int
	err  error
}

func (r *reader) take(n int) string {
	end := r.at + n
	next := end + (align-n%align)%align
	if r.err != nil || n < 0 || next > len(r.file) || next < r.at {
		if r.err == nil {
			r.err = fmt.Errorf("truncated: %d bytes wanted at %d of %d", n, r.at, len(r.file))
		}
		return ""
	}
	part := r.file[r.at:end]
	r.at = next
	return part
}

func (r *reader) ints(n int) []int32 {
	part := r.take(4 * n)
	out := make([]int32, len(part)/4)
	for i := range out {
		out[i] = int32At(part, i)
	}
	return out
}

// one reads a number in bounds.
func (r *reader) one(low, high int) int {
	list := r.ints(1)
	if r.err != nil {
		return low
	}
	n := int(list[0])
	if n < low || n > high {
		r.err = fmt.Errorf("%d before %d, want %d to %d", n, r.at, low, high)
		return low
	}
	return n
}

// bytes returns the bytes of a matrix without copying; they must not be modified.
func (r *reader) bytes(n int) []int8 {
	part := r.take(n)
	return unsafe.Slice((*int8)(unsafe.Pointer(unsafe.StringData(part))), len(part))
}

func (r *reader) norm() norm { return norm{r.ints(hidden), r.ints(hidden)} }

func (r *reader) linear(rows, columns int) linear {
	return linear{rows: rows, columns: columns, exponent: r.one(minExponent, maxExponent), scale: r.ints(rows), bias: r.ints(rows)}
}

// int32At decodes the number i of a table.
func int32At(table string, i int) int32 {
	b := table[4*i:][:4]
	return int32(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24)
}

// header returns the first bytes of the file.
func header() string {
	b := []byte(magic)
	for _, n := range []uint32{layers, hidden, inner, words, MaxPieces, heads} {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return string(b)
}

// read decodes a file.
func read(file string) (*parameters, error) {
	r := &reader{file: file}
	if head := header(); r.take(len(head)) != head && r.err == nil {
		return nil, errors.New("another kind of file, or another version of it")
	}
	p := &parameters{}
	p.power = [2][]int32{r.ints(256), r.ints(256)}
	p.gelu = r.ints(geluEnd/geluStep + 1)
	p.place = r.ints(MaxPieces * hidden)
	p.norm = r.norm()
	p.wordExponent = r.one(minExponent, maxExponent)
	p.wordScale = r.take(4 * words)
	for i := range p.layers {
		l := &p.layers[i]
		l.joint, l.out = r.linear(3*hidden, hidden), r.linear(hidden, hidden)
		l.up, l.down = r.linear(inner, hidden), r.linear(hidden, inner)
		l.first, l.second = r.norm(), r.norm()
		l.smooth = [2][]int32{r.ints(hidden), r.ints(hidden)}
	}
	p.vocabulary = r.vocabulary()
	r.take((page - r.at%page) % page)
	for i := range p.layers {
		l := &p.layers[i]
		for _, m := range []*linear{&l.joint, &l.out, &l.up, &l.down} {
			m.weights = r.bytes(m.rows * m.columns)
		}
	}
	p.words = r.bytes(words * hidden)
	if r.err == nil && r.at != len(file) {
		r.err = fmt.Errorf("%d bytes too many", len(file)-r.at)
	}
	return p, r.err
}
