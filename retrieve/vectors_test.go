package retrieve

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// TestNewQueryVector quantises as embeddings are, and refuses what they refuse.
func TestNewQueryVector(t *testing.T) {
	v := must.Get(NewQueryVector("m", []float64{0.5, -1, 0.25, 0}))(t)
	must.Same(t, v.Values, []int8{64, -127, 32, 0})
	for _, bad := range [][]float64{nil, {0}, {math.NaN()}, {math.Inf(1), 1}, {math.MaxFloat64},
		make([]float64, 1<<16+1)} {
		var re *RequestError
		_, err := NewQueryVector("m", bad)
		must.True(t, errors.As(err, &re) && re.Param == "vectors" && strings.HasPrefix(re.Reason, `"m": `),
			"%d dimensions: %v", len(bad), err)
	}
}

func TestWholeValidates(t *testing.T) {
	vectors := []QueryVector{{"m", []int8{1}}, {"n", []int8{2}}}
	for _, c := range []struct {
		name   string
		list   []WholeWords
		reason string // "" for none
	}{
		{"none tells", nil, ""},
		{"one of two", []WholeWords{{"n", 0}}, ""},
		{"both", []WholeWords{{"n", MaxWhole}, {"m", 7}}, ""},
		{"another model", []WholeWords{{"o", 7}}, "no vector of the model"},
		{"less than nothing", []WholeWords{{"m", -1}}, "outside 0 to 1000"},
		{"more than all", []WholeWords{{"m", 1001}}, "outside 0 to 1000"},
		{"twice", []WholeWords{{"m", 1}, {"m", 1}}, "two shares"},
	} {
		err := Request{Vectors: vectors, Whole: c.list}.Validate()
		var re *RequestError
		if c.reason == "" && err != nil ||
			c.reason != "" && (!errors.As(err, &re) || re.Param != "whole" || !strings.Contains(re.Reason, c.reason)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.reason)
		}
	}
	for text, want := range map[string]string{
		`{"m":0,"n":1000}`: "", `{"m":1001}`: "from 0 to 1000", `{"m":-1}`: "from 0 to 1000", `{"m":0.5}`: "an integer",
		`{"m":"7"}`: "an integer", `[7]`: "want an object",
	} {
		v, err := ipld.ParseJSON([]byte(text))
		must.OK(t, err)
		r := Request{Vectors: vectors}
		if err = r.SetMember("whole", v); err == nil {
			err = r.Validate()
		}
		must.True(t, (want != "" || err == nil) && (want == "" || (err != nil && strings.Contains(err.Error(), want))),
			"%s: %v, want %q", text, err, want)
	}
}

// TestWholeOf: the order of models makes no difference to what is resolved, and a receipt has each share.
func TestWholeOf(t *testing.T) {
	r := Request{Vectors: []QueryVector{{"n", []int8{2}}, {"m", []int8{1}}}, Whole: []WholeWords{{"n", 3}, {"m", 0}}}.Resolve()
	must.Same(t, wholeWords.decode(wholeWords.encode(r.Whole)), []WholeWords{{"m", 0}, {"n", 3}})
	for model, want := range map[string]int{"m": 0, "n": 3, "o": -1} {
		share, told := r.WholeOf(model)
		must.True(t, told == (want >= 0) && (!told || share == want), "%s: %d, %v", model, share, told)
	}
}
