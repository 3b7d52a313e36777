#include "textflag.h"

// PRODUCT adds to two sums the products of 32 numbers of a row of b with those of two rows of a.
// Y8, Y9 are the rows of a and Y10, Y11 their absolute values; Y15 is ones of 16 bits.
#define PRODUCT(row, sum0, sum1) \
	VMOVDQU    row, Y12           \
	VPSIGNB    Y8, Y12, Y13       \
	VPSIGNB    Y9, Y12, Y14       \
	VPMADDUBSW Y13, Y10, Y13      \
	VPMADDUBSW Y14, Y11, Y14      \
	VPMADDWD   Y15, Y13, Y13      \
	VPMADDWD   Y15, Y14, Y14      \
	VPADDD     Y13, sum0, sum0    \
	VPADDD     Y14, sum1, sum1

// func avx2Pairs(dst *int32, dstStride int, a *int8, aStride, pairs int, b *int8, bStride, length int)
TEXT ·avx2Pairs(SB), NOSPLIT, $0-64
	MOVQ dst+0(FP), DI
	MOVQ dstStride+8(FP), DX
	MOVQ a+16(FP), SI
	MOVQ aStride+24(FP), R8
	MOVQ pairs+32(FP), CX
	MOVQ b+40(FP), R9
	MOVQ bStride+48(FP), R10
	MOVQ length+56(FP), R11

	VPCMPEQW Y15, Y15, Y15
	VPSRLW   $15, Y15, Y15
	LEAQ     (R10)(R10*2), R12 // 3 rows of b

pair:
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7
	MOVQ  SI, AX              // row of a
	LEAQ  (SI)(R8*1), R13     // the next
	MOVQ  R9, BX
	MOVQ  R11, R14

step:
	VMOVDQU (AX), Y8
	VMOVDQU (R13), Y9
	VPABSB  Y8, Y10
	VPABSB  Y9, Y11
	PRODUCT((BX), Y0, Y4)
	PRODUCT((BX)(R10*1), Y1, Y5)
	PRODUCT((BX)(R10*2), Y2, Y6)
	PRODUCT((BX)(R12*1), Y3, Y7)
	ADDQ    $32, AX
	ADDQ    $32, R13
	ADDQ    $32, BX
	SUBQ    $32, R14
	JNZ     step

	VPHADDD      Y1, Y0, Y0
	VPHADDD      Y3, Y2, Y2
	VPHADDD      Y5, Y4, Y4
	VPHADDD      Y7, Y6, Y6
	VPHADDD      Y2, Y0, Y0
	VPHADDD      Y6, Y4, Y4
	VEXTRACTI128 $1, Y0, X1
	VEXTRACTI128 $1, Y4, X5
	VPADDD       X1, X0, X0
	VPADDD       X5, X4, X4
	VMOVDQU      X0, (DI)
	VMOVDQU      X4, (DI)(DX*1)
	LEAQ         (DI)(DX*2), DI
	LEAQ         (SI)(R8*2), SI
	DECQ         CX
	JNZ          pair

	VZEROUPPER
	RET
