package main

import (
	"crypto/sha256"
	"fmt"
	"sort"
)

// rotation is that of clause 9.5.
func rotation(v []int8) []int64 {
	size := min((len(v)+63)/64*64, 4096)
	sums := map[string][32]byte{}
	flip := func(r, i int, x int64) int64 {
		name := fmt.Sprintf("mnem:sketch:%d:%d", r, i/256)
		sum, known := sums[name]
		if !known {
			sum = sha256.Sum256([]byte(name))
			sums[name] = sum
		}
		if sum[i%256/8]>>(i%8)&1 == 1 {
			return -x
		}
		return x
	}
	y := make([]int64, size)
	for i, x := range v {
		y[i%size] += flip(0, i, 64*int64(x))
	}
	power := 64
	for 2*power <= size {
		power *= 2
	}
	copy(y, mixedBlock(y[:power]))
	for i := range y {
		y[i] = flip(1, i, y[i])
	}
	copy(y[size-power:], mixedBlock(y[size-power:]))
	for i := range y {
		y[i] = flip(2, i, y[i])
	}
	copy(y, mixedBlock(y[:power]))
	return y
}

// mixedBlock is the product with the matrix of Hadamard, divided by the root of how many there are.
func mixedBlock(z []int64) []int64 {
	out := hadamard(z)
	shift, factor := 0, int64(1)
	for n := len(z); n > 1; n /= 4 {
		if n == 2 {
			shift, factor = shift+16, 46_341
		} else {
			shift++
		}
	}
	for i := range out {
		out[i] = out[i] * factor >> shift
	}
	return out
}

// sketchOf is the sketch of clause 9.5, as bits.
func sketchOf(v []int8) []bool {
	y := rotation(v)
	out := make([]bool, len(y))
	for i, x := range y {
		out[i] = x < 0
	}
	return out
}

// weightsOf are those of a query's bits, with their margin.
func weightsOf(v []int8) (weights []int, margin int) {
	y := rotation(v)
	most := int64(1)
	for _, x := range y {
		most = max(most, x, -x)
	}
	squares := 0
	for _, x := range y {
		w := int((7*max(x, -x) + most/2) / most)
		weights = append(weights, w)
		squares += w * w
	}
	for (margin+1)*(margin+1) <= squares/2 {
		margin++
	}
	return weights, margin
}

// hadamard is the product with the matrix of Sylvester: H(2n) = [H(n) H(n); H(n) -H(n)].
func hadamard(x []int64) []int64 {
	if len(x) == 1 {
		return x
	}
	half := len(x) / 2
	a, b := hadamard(x[:half]), hadamard(x[half:])
	out := make([]int64, len(x))
	for i := range half {
		out[i], out[half+i] = a[i]+b[i], a[i]-b[i]
	}
	return out
}

func packed(bits []bool) string {
	out := make([]byte, len(bits)/8)
	for i, b := range bits {
		if b {
			out[i/8] |= 1 << (i % 8)
		}
	}
	return string(out)
}

// madeVector is vector number i of a bulk of vectors.
func madeVector(seed string, i, dims int) []int8 {
	out := make([]int8, dims)
	var sum [32]byte
	for j := range out {
		if j%32 == 0 {
			sum = sha256.Sum256([]byte(fmt.Sprintf("%s:%d:%d", seed, i, j/32)))
		}
		out[j] = max(int8(sum[j%32]), -127)
	}
	return out
}

func madeID(seed string, i int) string {
	sum := sha256.Sum256([]byte(fmt.Sprintf("%s:%d", seed, i)))
	return string(sum[:16])
}

// sketched is one vector of a bulk.
type sketched struct {
	id       string
	distance int
	vector   []int8
}

// sketchedBulk is a number of vectors with their distances from a query.
func sketchedBulk(seed string, count, dims int, query []int8) (list []sketched, margin int) {
	sketch := sketchOf(query)
	weights, margin := weightsOf(query)
	for i := range count {
		n := sketched{id: madeID(seed, i), vector: madeVector(seed, i, dims)}
		for j, b := range sketchOf(n.vector) {
			if b != sketch[j] {
				n.distance += weights[j]
			}
		}
		list = append(list, n)
	}
	return list, margin
}

// shortlisted is the list of clause 9.5 of a bulk of vectors, of which one in keep passes.
func shortlisted(all []sketched, margin int, query []int8, size, near, keep int) []hit {
	exact := len(query) < 64 || len(all)*len(query) <= 1<<23 || size == 0
	var list []sketched
	for _, n := range all {
		if int(n.id[15])%keep == 0 {
			list = append(list, n)
		}
	}
	sort.Slice(list, func(i, j int) bool {
		if list[i].distance != list[j].distance {
			return list[i].distance < list[j].distance
		}
		return list[i].id < list[j].id
	})
	if !exact {
		list = list[:min(len(list), size)]
		for near <= len(list) && list[len(list)-1].distance > list[near-1].distance+margin {
			list = list[:len(list)-1]
		}
	}
	var hs []hit
	for _, n := range list {
		if s := cosine(query, n.vector); s > 0 {
			hs = append(hs, hit{id: n.id, score: s})
		}
	}
	sortHits(hs)
	return hs[:min(len(hs), 1000)]
}

func shortlistCases(s *suite) {
	for _, dims := range []int{1, 63, 64, 65, 128, 200, 384, 768, 4097} {
		v := madeVector("sketch", 0, dims)
		s.add("9.5", "sketch", fmt.Sprintf("dims-%04d", dims), fmt.Sprintf("%d dimensions", dims),
			obj{"vector": pieces(string(vectorBytes(v)))}, obj{"sketch": hx(packed(sketchOf(v)))})
	}
	zero := make([]int8, 64)
	s.add("9.5", "sketch", "zeros", "0 is not negative", obj{"vector": pieces(string(vectorBytes(zero)))},
		obj{"sketch": hx(packed(sketchOf(zero)))})
	var all []sketched
	var margin int
	for _, c := range []struct {
		name, title                   string
		count, dims, size, near, keep int
	}{
		{"many", "more than are compared whole", 2100, 4000, 40, 40, 1},
		{"margin", "those that are much farther are left out", 2100, 4000, 400, 10, 1},
		{"filtered", "the shortlist is of those that pass", 2100, 4000, 40, 10, 50},
		{"margin-filtered", "the margin begins at one that passes", 2100, 4000, 400, 10, 20},
		{"bounded", "more than fit are within the margin", 2100, 4000, 40, 30, 1},
		{"few", "no more than are compared whole", 2097, 4000, 40, 10, 1},
		{"exact", "all are compared", 2100, 4000, 0, 10, 3},
		{"odd", "blocks that are no square and do not fit", 43_700, 192, 100, 10, 1},
	} {
		query, list := madeVector("bulk:query", 0, c.dims), []any{}
		if len(all) < c.count || len(all[0].vector) != c.dims {
			all, margin = sketchedBulk("bulk", c.count, c.dims, query)
		}
		for _, h := range shortlisted(all[:c.count], margin, query, c.size, c.near, c.keep) {
			list = append(list, []any{hx(h.id), h.score})
		}
		in := obj{"seed": "bulk", "count": c.count, "dims": c.dims, "size": c.size, "near": c.near,
			"keep": c.keep}
		s.add("9.5", "shortlist", c.name, c.title, in, obj{"hits": list})
	}
	base := newRequest("tide").receipt(built(harbour), recordCID(baseCommit(nil)), answer{})
	bad := func(v any) dict {
		return dict{"request": with(newRequest("tide").record(), dict{"oversample": v})}
	}
	s.records("receipt", base, []recordCase{
		{"8.1", "oversample-0", "all vectors compared", "", bad(0)},
		{"8.1", "oversample-most", "the most", "", bad(4096)},
		{"8.1", "oversample-more", "one more", "field", bad(4097)},
		{"8.1", "oversample-negative", "fewer than none", "field", bad(-1)},
		{"13.1", "oversample-default", "the default is left out", "field", bad(256)},
		{"13.1", "oversample-text", "another kind", "field", bad("160")},
	})
	q := near("tide boat", 127, 63, 0)
	q.oversample = new(int64(1))
	s.retrieval("9.5", "dense", "oversample", "few vectors are compared whole anyway", q, false, pier)
}

// setOversample is a part of record.
func (q request) setOversample(r dict) {
	if q.oversample != nil && *q.oversample != 256 {
		r["oversample"] = *q.oversample
	}
}
