package main

import "math/big"

// meanVector is clause 22.1 in numbers without bound; nil where it is refused.
func meanVector(list [][]int8) []int8 {
	if len(list) == 0 || len(list) > 9 {
		return nil
	}
	sums := make([]*big.Int, len(list[0]))
	for i := range sums {
		sums[i] = big.NewInt(0)
	}
	for _, v := range list {
		n := big.NewInt(0)
		for _, x := range v {
			n.Add(n, big.NewInt(int64(x)*int64(x)))
		}
		if len(v) != len(sums) || n.Sign() == 0 {
			return nil
		}
		root := new(big.Int).Sqrt(n.Lsh(n, 32))
		for i, x := range v {
			part := new(big.Int).Lsh(big.NewInt(int64(x)), 48)
			sums[i].Add(sums[i], part.Quo(part, root)) // Quo truncates
		}
	}
	if len(list) == 1 {
		return list[0]
	}
	most := big.NewInt(0)
	for _, s := range sums {
		if s.CmpAbs(most) > 0 {
			most = new(big.Int).Abs(s)
		}
	}
	if most.Sign() == 0 {
		return list[0]
	}
	out := make([]int8, len(sums))
	for i, s := range sums {
		out[i] = int8(roundHalfEven(new(big.Int).Mul(s, big.NewInt(127)), most))
	}
	return out
}

// roundHalfEven is a / b to the nearest integer, halves to the even one, b > 0.
func roundHalfEven(a, b *big.Int) int64 {
	q, r := new(big.Int).DivMod(a, b, new(big.Int)) // floor, as b > 0
	switch twice := r.Lsh(r, 1).Cmp(b); {
	case twice > 0, twice == 0 && q.Bit(0) == 1:
		q.Add(q, big.NewInt(1))
	}
	return q.Int64()
}

func meanCases(s *suite) {
	wide := func(step int) []int8 {
		v := make([]int8, 300)
		for i := range v {
			v[i] = int8((i*step)%255 - 127)
		}
		return v
	}
	for _, c := range []struct {
		name, title string
		list        [][]int8
	}{
		{"one", "one vector is its own mean, as it stands", [][]int8{{3, -1, 0}}},
		{"two", "two that are at a right angle", [][]int8{{127, 0}, {0, 127}}},
		{"lengths", "lengths do not matter", [][]int8{{1, 0}, {0, 127}}},
		{"parallel", "two of one direction", [][]int8{{127, 64, -3}, {127, 64, -3}}},
		{"rounding", "parts are cut towards zero", [][]int8{{1, 1, -1}, {-1, 2, -3}, {5, -7, 11}}},
		{"cancel", "two that cancel each other: the first", [][]int8{{5, -9}, {-5, 9}}},
		{"nearly", "two that nearly do", [][]int8{{127, 1}, {-127, 1}}},
		{"nine", "nine", [][]int8{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {0, 1, 1}, {1, 0, 1},
			{-127, 3, 90}, {5, 5, 5}, {127, 126, -125}}},
		{"wide", "300 dimensions", [][]int8{wide(7), wide(11), wide(101)}},
		{"dimensions", "other dimensions", [][]int8{{1, 2}, {1, 2, 3}}},
		{"zeros", "one of zeros", [][]int8{{1, 2}, {0, 0}}},
		{"none", "no vector", nil},
		{"ten", "ten", [][]int8{{1}, {1}, {1}, {1}, {1}, {1}, {1}, {1}, {1}, {1}}},
	} {
		list := []any{}
		for _, v := range c.list {
			list = append(list, hx(vectorBytes(v)))
		}
		in := obj{"vectors": list}
		if mean := meanVector(c.list); mean != nil {
			s.add("22.1", "mean", c.name, c.title, in, obj{"vector": hx(vectorBytes(mean))})
			continue
		}
		s.refuse("22.1", "mean", "refuse-"+c.name, c.title, "vector", in)
	}
}
