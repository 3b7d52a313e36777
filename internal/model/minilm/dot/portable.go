package dot

// portable multiplies two rows of a at once: with x = a0 + 2^32 * a1, the sum of x * b has that of a1 * b in its upper half
// and that of a0 * b in its lower, from which the upper has borrowed one if it is negative. Both are below 2^31.
func portable(dst []int32, stride int, a Matrix, aRows int, b Matrix, bRows, length int) {
	var packed [2][MaxLength]int64
	for i := 0; i < aRows; i += 4 {
		// The rows of a tail are written more than once, with the same numbers.
		rows := [4]int{i, min(i+1, aRows-1), min(i+2, aRows-1), min(i+3, aRows-1)}
		for half := range packed {
			low, high := a.Row(rows[2*half], length), a.Row(rows[2*half+1], length)
			for x := range low {
				packed[half][x] = int64(low[x]) + int64(high[x])<<32
			}
		}
		p, q := packed[0][:length], packed[1][:length]
		for j := range bRows {
			s, t := both(p, q, b.Row(j, length))
			dst[rows[0]*stride+j], dst[rows[1]*stride+j] = int32(s), int32((s-int64(int32(s)))>>32)
			dst[rows[2]*stride+j], dst[rows[3]*stride+j] = int32(t), int32((t-int64(int32(t)))>>32)
		}
	}
}

// both returns the sums of the products of p and b and of q and b.
func both(p, q []int64, b []int8) (s, t int64) {
	p, q = p[:len(b)], q[:len(b)]
	for x, w := range b {
		s += p[x] * int64(w)
		t += q[x] * int64(w)
	}
	return s, t
}
