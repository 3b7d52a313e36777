package main

import (
	"crypto/sha256"
	"fmt"
	"sort"
)

// sketchOf is the sketch of clause 9.5, as bits.
func sketchOf(v []int8) []bool {
	size := 64
	for size < len(v) {
		size *= 2
	}
	x := make([]int64, size)
	var sum [32]byte
	for i := range v {
		if i%256 == 0 {
			sum = sha256.Sum256([]byte(fmt.Sprintf("mnem:sketch:%d", i/256)))
		}
		x[i] = int64(v[i])
		if sum[i%256/8]>>(i%8)&1 == 1 {
			x[i] = -x[i]
		}
	}
	x = hadamard(x)
	out := make([]bool, min((len(v)+63)/64*64, 4096))
	for i := range out {
		out[i] = x[i] < 0
	}
	return out
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

// shortlisted is the list of clause 9.5 of a bulk of vectors, of which one in keep passes.
func shortlisted(seed string, count, dims, size, keep int) []hit {
	query := madeVector(seed+":query", 0, dims)
	type near struct {
		id       string
		distance int
		vector   []int8
	}
	var list []near
	exact := dims < 64 || count*dims <= 1<<23 || size == 0
	sketch := sketchOf(query)
	for i := range count {
		n := near{id: madeID(seed, i), vector: madeVector(seed, i, dims)}
		if int(n.id[15])%keep != 0 {
			continue
		}
		if !exact {
			for j, b := range sketchOf(n.vector) {
				if b != sketch[j] {
					n.distance++
				}
			}
		}
		list = append(list, n)
	}
	sort.Slice(list, func(i, j int) bool {
		if list[i].distance != list[j].distance {
			return list[i].distance < list[j].distance
		}
		return list[i].id < list[j].id
	})
	if !exact {
		list = list[:min(len(list), size)]
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
	for _, dims := range []int{1, 63, 64, 65, 384, 4097} {
		v := madeVector("sketch", 0, dims)
		s.add("9.5", "sketch", fmt.Sprintf("dims-%04d", dims), fmt.Sprintf("%d dimensions", dims),
			obj{"vector": pieces(string(vectorBytes(v)))}, obj{"sketch": hx(packed(sketchOf(v)))})
	}
	zero := make([]int8, 64)
	s.add("9.5", "sketch", "zeros", "0 is not negative", obj{"vector": pieces(string(vectorBytes(zero)))},
		obj{"sketch": hx(packed(sketchOf(zero)))})
	for _, c := range []struct {
		name, title             string
		count, dims, size, keep int
	}{
		{"many", "more than are compared whole", 2100, 4000, 40, 1},
		{"filtered", "the shortlist is of those that pass", 2100, 4000, 40, 50},
		{"few", "no more than are compared whole", 2097, 4000, 40, 1},
		{"exact", "all are compared", 2100, 4000, 0, 3},
	} {
		list := []any{}
		for _, h := range shortlisted("bulk", c.count, c.dims, c.size, c.keep) {
			list = append(list, []any{hx(h.id), h.score})
		}
		in := obj{"seed": "bulk", "count": c.count, "dims": c.dims, "size": c.size, "keep": c.keep}
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
		{"13.1", "oversample-default", "the default is left out", "field", bad(160)},
		{"13.1", "oversample-text", "another kind", "field", bad("160")},
	})
	q := near("tide boat", 127, 63, 0)
	q.oversample = new(int64(1))
	s.retrieval("9.5", "dense", "oversample", "few vectors are compared whole anyway", q, false, pier)
}

// setOversample is a part of record.
func (q request) setOversample(r dict) {
	if q.oversample != nil && *q.oversample != 160 {
		r["oversample"] = *q.oversample
	}
}
