package spec_test

import (
	"encoding/hex"
	"testing"

	"github.com/mnem-project/mnem/retrieve"
)

// runMean takes the mean of the vectors of a text and of hypothetical answers to it.
func runMean(t *testing.T, v vector) {
	var in struct{ Vectors []string }
	parse(t, v.Input, &in)
	var list [][]int8
	for _, text := range in.Vectors {
		data, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		values := make([]int8, len(data))
		for i, b := range data {
			values[i] = int8(b)
		}
		list = append(list, values)
	}
	mean, err := retrieve.MeanVector("m", list...)
	if refusal(t, v, err) {
		return
	}
	var want struct{ Vector string }
	parse(t, v.Expect, &want)
	var got []byte
	for _, x := range mean.Values {
		got = append(got, byte(x))
	}
	same(t, "vector", hex.EncodeToString(got), want.Vector)
}
