package retrieve

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestVectorsValidate(t *testing.T) {
	many := func(n int) (list []QueryVector) {
		for i := range n {
			list = append(list, QueryVector{fmt.Sprint("m", i), []int8{1}})
		}
		return list
	}
	for _, c := range []struct {
		name   string
		list   []QueryVector
		reason string // "" for none
	}{
		{"eight", many(8), ""},
		{"nine", many(9), "limit 8"},
		{"the most dimensions", vectorOf("m", slices.Repeat([]int8{1}, 1<<16)...), ""},
		{"one more", vectorOf("m", slices.Repeat([]int8{1}, 1<<16+1)...), "1 to 65536"},
		{"none", vectorOf("m"), "1 to 65536"},
		{"zeros", vectorOf("m", 0, 0), "all zeros"},
		{"-128", vectorOf("m", 1, -128), "-127 to 127"},
		{"no name", vectorOf("", 1), "must not be empty"},
		{"a long name", vectorOf(strings.Repeat("x", 255), 1), ""},
		{"a longer name", vectorOf(strings.Repeat("x", 256), 1), "limit 255"},
		{"NUL", vectorOf("a\x00b", 1), "NUL"},
		{"no UTF-8", vectorOf("\xff", 1), "UTF-8"},
		{"twice", append(vectorOf("m", 1), vectorOf("m", 2)...), "two vectors of the model"},
	} {
		err := Request{Vectors: c.list}.Validate()
		var re *RequestError
		if c.reason == "" && err != nil ||
			c.reason != "" && (!errors.As(err, &re) || re.Param != "vectors" ||
				!strings.Contains(re.Reason, c.reason)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.reason)
		}
	}
}

// TestNewQueryVector quantises as embeddings are, and refuses what they refuse.
func TestNewQueryVector(t *testing.T) {
	v, err := NewQueryVector("m", []float64{0.5, -1, 0.25, 0})
	if err != nil || !slices.Equal(v.Values, []int8{64, -127, 32, 0}) {
		t.Errorf("%v, %v", v, err)
	}
	for _, bad := range [][]float64{nil, {0}, {math.NaN()}, {math.Inf(1), 1}, {math.MaxFloat64},
		make([]float64, 1<<16+1)} {
		var re *RequestError
		if _, err := NewQueryVector("m", bad); !errors.As(err, &re) || re.Param != "vectors" ||
			!strings.HasPrefix(re.Reason, `"m": `) {
			t.Errorf("%d dimensions: %v", len(bad), err)
		}
	}
}
