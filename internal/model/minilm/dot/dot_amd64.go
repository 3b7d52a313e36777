package dot

import "golang.org/x/sys/cpu"

// fast returns the kernels that this processor can run, the best first.
func fast() []named {
	if cpu.X86.HasAVX2 {
		return []named{{"avx2", avx2}}
	}
	return nil
}

// avx2Pairs multiplies 4 rows of b with pairs of rows of a. Strides of a and b are in bytes, that of dst too.
//
//go:noescape
func avx2Pairs(dst *int32, dstStride int, a *int8, aStride, pairs int, b *int8, bStride, length int)

func avx2(dst []int32, stride int, a Matrix, aRows int, b Matrix, bRows, length int) {
	for j := 0; j < bRows; j += Columns {
		rows := &b.Data[j*b.Stride]
		if pairs := aRows / 2; pairs > 0 {
			avx2Pairs(&dst[j], 4*stride, &a.Data[0], a.Stride, pairs, rows, b.Stride, length)
		}
		if aRows%2 == 1 { // twice the same row
			last := aRows - 1
			avx2Pairs(&dst[last*stride+j], 0, &a.Data[last*a.Stride], 0, 1, rows, b.Stride, length)
		}
	}
}
