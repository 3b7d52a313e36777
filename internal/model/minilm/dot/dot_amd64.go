package dot

import "golang.org/x/sys/cpu"

// fast returns the kernels that this processor can run, the best first.
func fast() []named {
	var list []named
	if cpu.X86.HasAVX2 && cpu.X86.HasAVX512VNNI && cpu.X86.HasAVX512VL {
		list = append(list, named{"vnni", vnni})
	}
	if cpu.X86.HasAVX2 {
		list = append(list, named{"avx2", avx2})
	}
	return list
}

// avx2Pairs multiplies 4 rows of b with pairs of rows of a. Strides are in bytes.
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

// vnniFours multiplies 4 rows of b with 4 rows of a at a time: a and what is at the distances a1, a2 and a3 from it. The
// results go to dst, dst1, dst2 and dst3 beyond it. The next four are aStep and dstStep further. All are in bytes.
//
//go:noescape
func vnniFours(dst *int32, dst1, dst2, dst3, dstStep int, a *int8, a1, a2, a3, aStep, fours int, b *int8, bStride, length int)

func vnni(dst []int32, stride int, a Matrix, aRows int, b Matrix, bRows, length int) {
	row := 4 * stride
	for j := 0; j < bRows; j += Columns {
		rows := &b.Data[j*b.Stride]
		if fours := aRows / 4; fours > 0 {
			vnniFours(&dst[j], row, 2*row, 3*row, 4*row,
				&a.Data[0], a.Stride, 2*a.Stride, 3*a.Stride, 4*a.Stride, fours, rows, b.Stride, length)
		}
		if rest := aRows % 4; rest > 0 { // the last row takes the place of those that are missing
			first, second, third := aRows-rest, min(1, rest-1), min(2, rest-1)
			vnniFours(&dst[first*stride+j], second*row, third*row, third*row, 0,
				&a.Data[first*a.Stride], second*a.Stride, third*a.Stride, third*a.Stride, 0, 1, rows, b.Stride, length)
		}
	}
}
