// Package dot multiplies matrices of small integers, exactly: int8 by int8 into int32, by whatever the processor does
// best. Every kernel yields the same numbers, since no sum of products overflows and none is rounded.
//
//	portable   Go, for every processor: two products by one multiplication of 64 bits
//	avx2       amd64 with AVX2: VPMADDUBSW of |a| and b with the sign of a, whose sums of two products, at most
//	           2 * 127^2 = 32,258, fit into 16 bits
//	vnni       amd64 with AVX-512 VNNI and VL: VPDPBUSD of a + 128, without a sign, and b, less 128 times the sum of b
//
// All read the same matrices by rows, with numbers in [-127, 127]: with -128 a kernel may yield something else. The
// kernel is chosen at the first product, when one product by it is compared with portable Go, which takes its place if
// they differ. MNEM_NOSIMD=1 in the environment chooses portable Go, MNEM_NOSIMD=vnni the best kernel but that.
package dot

import (
	"os"
	"slices"
	"sync"
)

const (
	// Step divides the length of a product: the number of bytes in a register of AVX2.
	Step = 32
	// MaxLength is the longest product.
	MaxLength = 1536
	// Columns divides the number of rows of the second matrix.
	Columns = 4
)

// A Matrix has rows of numbers in [-127, 127], each Stride after the one before.
type Matrix struct {
	Data   []int8
	Stride int
}

// Row returns n numbers of row i.
func (m Matrix) Row(i, n int) []int8 { return m.Data[i*m.Stride:][:n] }

// kernel writes into dst, whose rows begin stride apart, the products of rows of a and rows of b.
type kernel func(dst []int32, stride int, a Matrix, aRows int, b Matrix, bRows, length int)

// Products sets dst[i*stride+j] to the sum of the products of the first length numbers of row i of a and row j of b, for
// all i below aRows and j below bRows. length is a multiple of Step up to MaxLength, bRows one of Columns.
// It panics if a slice is too short.
func Products(dst []int32, stride int, a Matrix, aRows int, b Matrix, bRows, length int) {
	if length%Step != 0 || length > MaxLength || bRows%Columns != 0 {
		panic("dot: a length or a number of rows that no kernel knows")
	}
	if aRows == 0 || bRows == 0 || length == 0 {
		panic("dot: an empty product")
	}
	// What the last row ends with is there, so all before it is.
	a.Row(aRows-1, length)
	b.Row(bRows-1, length)
	_ = dst[(aRows-1)*stride:][:bRows]
	chosen().run(dst, stride, a, aRows, b, bRows, length)
}

// named is a kernel and what it is called.
type named struct {
	name string
	run  kernel
}

// Kernel returns the name of the kernel that Products runs.
func Kernel() string { return chosen().name }

var chosen = sync.OnceValue(func() named { return choose(allowed(fast(), os.Getenv("MNEM_NOSIMD"))) })

// allowed returns the kernels that MNEM_NOSIMD leaves.
func allowed(kernels []named, without string) []named {
	if without == "1" {
		return nil
	}
	return slices.DeleteFunc(kernels, func(k named) bool { return k.name == without })
}

// choose returns the first of the kernels that multiplies as portable Go does.
func choose(kernels []named) named {
	for _, k := range kernels {
		if agrees(k.run) {
			return k
		}
	}
	return named{"portable", portable}
}

// agrees compares one product by a kernel with portable Go: 3 by 8 rows, with the largest numbers of both signs.
func agrees(k kernel) bool {
	const length, aRows, bRows = 4 * Step, 3, 8
	a := Matrix{make([]int8, aRows*length), length}
	b := Matrix{make([]int8, bRows*length), length}
	fill := func(m []int8, seed int) {
		for i := range m {
			m[i] = [...]int8{127, -127, 1, 0, -3, 100, -100}[(i*i+seed*i/3+i/length)%7]
		}
	}
	fill(a.Data, 1)
	fill(b.Data, 2)
	want, got := make([]int32, aRows*bRows), make([]int32, aRows*bRows)
	portable(want, bRows, a, aRows, b, bRows, length)
	k(got, bRows, a, aRows, b, bRows, length)
	return slices.Equal(want, got)
}
