package dot

import (
	"math/rand/v2"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// naive is the definition.
func naive(dst []int32, stride int, a Matrix, aRows int, b Matrix, bRows, length int) {
	for i := range aRows {
		for j := range bRows {
			sum := int32(0)
			for x, v := range a.Row(i, length) {
				sum += int32(v) * int32(b.Row(j, length)[x])
			}
			dst[i*stride+j] = sum
		}
	}
}

// kernels are all that run here.
func kernels() []named { return append(fast(), named{"portable", portable}) }

// compare multiplies by the definition and by every kernel, into rows with a gap that must stay as it is.
func compare(t *testing.T, a Matrix, aRows int, b Matrix, bRows, length int) {
	t.Helper()
	stride := bRows + 3
	fresh := func() []int32 {
		dst := make([]int32, aRows*stride)
		for i := range dst {
			dst[i] = -77
		}
		return dst
	}
	want := fresh()
	naive(want, stride, a, aRows, b, bRows, length)
	for _, k := range kernels() {
		got := fresh()
		k.run(got, stride, a, aRows, b, bRows, length)
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%s, %d by %d rows of %d: row %d, column %d: %d, want %d",
					k.name, aRows, bRows, length, i/stride, i%stride, got[i], want[i])
			}
		}
	}
}

func random(rng *rand.Rand, rows, stride int, values func() int8) Matrix {
	m := Matrix{make([]int8, rows*stride), stride}
	for i := range m.Data {
		m.Data[i] = values()
	}
	return m
}

func TestKernelsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	values := map[string]func() int8{
		"any":      func() int8 { return int8(rng.IntN(255) - 127) },
		"extremes": func() int8 { return [...]int8{-127, 127}[rng.IntN(2)] },
		"largest":  func() int8 { return 127 },
		"smallest": func() int8 { return -127 },
		"zeros":    func() int8 { return [...]int8{0, 0, 0, -127, 127}[rng.IntN(5)] },
	}
	for name, value := range values {
		t.Run(name, func(t *testing.T) {
			for _, length := range []int{32, 64, 96, 128, 384, 1536} {
				for _, aRows := range []int{1, 2, 3, 4, 5, 7, 16} {
					for _, bRows := range []int{4, 8, 32} {
						stride := length + rng.IntN(2)*32
						compare(t, random(rng, aRows, stride, value), aRows, random(rng, bRows, stride+32, value), bRows, length)
					}
				}
			}
		})
	}
}

func TestProductsRefusesWhatIsTooShort(t *testing.T) {
	m := func(n int) Matrix { return Matrix{make([]int8, n), 32} }
	for name, call := range map[string]func(){
		"length":       func() { Products(make([]int32, 4), 4, m(33), 1, m(128), 4, 33) },
		"long":         func() { Products(make([]int32, 4), 4, m(1<<12), 1, m(1<<14), 4, MaxLength+Step) },
		"columns":      func() { Products(make([]int32, 4), 4, m(32), 1, m(96), 3, 32) },
		"first matrix": func() { Products(make([]int32, 8), 4, m(63), 2, m(128), 4, 32) },
		"second":       func() { Products(make([]int32, 4), 4, m(32), 1, m(127), 4, 32) },
		"result":       func() { Products(make([]int32, 7), 4, m(64), 2, m(128), 4, 32) },
		"nothing":      func() { Products(nil, 4, m(64), 0, m(128), 4, 32) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				must.True(t, recover() != nil, "accepted")
			}()
			call()
		})
	}
}

// TestChooseRefusesWrongKernels gives a kernel that is wrong in one number.
func TestChooseRefusesWrongKernels(t *testing.T) {
	wrong := func(dst []int32, stride int, a Matrix, aRows int, b Matrix, bRows, length int) {
		portable(dst, stride, a, aRows, b, bRows, length)
		dst[(aRows-1)*stride+bRows-1]++
	}
	must.Equal(t, choose([]named{{"wrong", wrong}}).name, "portable", "chose")
	must.Equal(t, choose([]named{{"wrong", wrong}, {"right", portable}}).name, "right", "chose")
}

func TestKernelsOfThisMachine(t *testing.T) {
	t.Logf("kernel %s of %d", Kernel(), len(kernels()))
	for _, k := range fast() {
		must.True(t, agrees(k.run), "%s is refused at its first use", k.name)
	}
}

func TestAllowed(t *testing.T) {
	list := func() []named { return []named{{"vnni", portable}, {"avx2", portable}} }
	for without, want := range map[string]string{"": "vnni", "0": "vnni", "vnni": "avx2", "avx2": "vnni", "1": "portable"} {
		must.Equal(t, choose(allowed(list(), without)).name, want, "MNEM_NOSIMD=", without, " chooses")
	}
}

// FuzzKernels takes the numbers of both matrices from bytes, which it repeats.
func FuzzKernels(f *testing.F) {
	f.Add([]byte{0x7f, 0x81}, uint8(3), uint8(2), uint8(12))
	f.Add([]byte{0x81}, uint8(2), uint8(1), uint8(48))
	f.Add([]byte{1, 2, 3, 250, 0, 0x81, 0x7f}, uint8(1), uint8(3), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, aRows, columns, steps uint8) {
		if len(data) == 0 {
			return
		}
		rows, bRows, length := 1+int(aRows%6), Columns*(1+int(columns%3)), Step*(1+int(steps%(MaxLength/Step)))
		at := 0
		next := func() int8 {
			v := max(int8(data[at%len(data)]), -127)
			at++
			return v
		}
		compare(t, random(nil, rows, length, next), rows, random(nil, bRows, length, next), bRows, length)
	})
}
