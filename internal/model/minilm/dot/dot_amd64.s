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

// FOUR adds to four sums the products of 32 numbers of a row of b with those of four rows of a, in Y20 to Y23.
#define FOUR(row, sum0, sum1, sum2, sum3) \
	VMOVDQU32 row, Y24         \
	VPDPBUSD  Y24, Y20, sum0   \
	VPDPBUSD  Y24, Y21, sum1   \
	VPDPBUSD  Y24, Y22, sum2   \
	VPDPBUSD  Y24, Y23, sum3

// REDUCE adds up the eight parts of each of four sums, and leaves the four in the lower half of the first.
#define REDUCE(sum0, sum1, sum2, sum3, low0, low1) \
	VPHADDD      sum1, sum0, sum0 \
	VPHADDD      sum3, sum2, sum2 \
	VPHADDD      sum2, sum0, sum0 \
	VEXTRACTI128 $1, sum0, low1   \
	VPADDD       low1, low0, low0

// func vnniFours(dst *int32, dst1, dst2, dst3, dstStep int, a *int8, a1, a2, a3, aStep, fours int, b *int8, bStride, length int)
TEXT ·vnniFours(SB), NOSPLIT, $0-112
	MOVQ dst+0(FP), DI
	MOVQ a+40(FP), SI
	MOVQ a1+48(FP), R8
	MOVQ a2+56(FP), R13
	MOVQ a3+64(FP), R14
	ADDQ SI, R8
	ADDQ SI, R13
	ADDQ SI, R14
	MOVQ fours+80(FP), CX
	MOVQ b+88(FP), R9
	MOVQ bStride+96(FP), DX
	MOVQ length+104(FP), R11
	LEAQ (R9)(DX*1), R10
	LEAQ (R9)(DX*2), R12
	LEAQ (R10)(DX*2), BX

	// What 128 added to each number of a adds to the products with each row of b.
	MOVL         $0x80808080, AX
	VPBROADCASTD AX, Y28
	VPXOR        Y0, Y0, Y0
	VPXOR        Y1, Y1, Y1
	VPXOR        Y2, Y2, Y2
	VPXOR        Y3, Y3, Y3
	XORL         AX, AX

excess:
	VPDPBUSD (R9)(AX*1), Y28, Y0
	VPDPBUSD (R10)(AX*1), Y28, Y1
	VPDPBUSD (R12)(AX*1), Y28, Y2
	VPDPBUSD (BX)(AX*1), Y28, Y3
	ADDQ     $32, AX
	CMPQ     AX, R11
	JNE      excess

	REDUCE(Y0, Y1, Y2, Y3, X0, X1)
	VMOVDQA32 X0, X29

four:
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7
	VPXOR Y8, Y8, Y8
	VPXOR Y9, Y9, Y9
	VPXOR Y10, Y10, Y10
	VPXOR Y11, Y11, Y11
	VPXOR Y12, Y12, Y12
	VPXOR Y13, Y13, Y13
	VPXOR Y14, Y14, Y14
	VPXOR Y15, Y15, Y15
	XORL  AX, AX

step:
	VPXORD (SI)(AX*1), Y28, Y20
	VPXORD (R8)(AX*1), Y28, Y21
	VPXORD (R13)(AX*1), Y28, Y22
	VPXORD (R14)(AX*1), Y28, Y23
	FOUR((R9)(AX*1), Y0, Y4, Y8, Y12)
	FOUR((R10)(AX*1), Y1, Y5, Y9, Y13)
	FOUR((R12)(AX*1), Y2, Y6, Y10, Y14)
	FOUR((BX)(AX*1), Y3, Y7, Y11, Y15)
	ADDQ   $32, AX
	CMPQ   AX, R11
	JNE    step

	REDUCE(Y0, Y1, Y2, Y3, X0, X1)
	REDUCE(Y4, Y5, Y6, Y7, X4, X5)
	REDUCE(Y8, Y9, Y10, Y11, X8, X9)
	REDUCE(Y12, Y13, Y14, Y15, X12, X13)
	VPSUBD    X29, X0, X0
	VPSUBD    X29, X4, X4
	VPSUBD    X29, X8, X8
	VPSUBD    X29, X12, X12
	MOVQ      dst1+8(FP), DX
	VMOVDQU   X0, (DI)
	VMOVDQU   X4, (DI)(DX*1)
	MOVQ      dst2+16(FP), DX
	VMOVDQU   X8, (DI)(DX*1)
	MOVQ      dst3+24(FP), DX
	VMOVDQU   X12, (DI)(DX*1)
	ADDQ      dstStep+32(FP), DI
	MOVQ      aStep+72(FP), DX
	ADDQ      DX, SI
	ADDQ      DX, R8
	ADDQ      DX, R13
	ADDQ      DX, R14
	DECQ      CX
	JNZ       four

	VZEROUPPER
	RET
