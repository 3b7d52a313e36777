package retrieve

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// TestPredicates holds each predicate against property p of the given value; "-" is no property.
func TestPredicates(t *testing.T) {
	cases := []struct {
		predicate, value string
		want             bool
	}{
		{`p = "infra"`, `"infra"`, true},
		{`p = "infra"`, `"Infra"`, false},
		{`p = "infra"`, `-`, false},
		{`p != "infra"`, `"web"`, true},
		{`p != "infra"`, `"infra"`, false},
		{`p != "infra"`, `-`, false},
		{`p != "1"`, `1`, true},
		{`p = "1"`, `1`, false},
		{`p = 1`, `1.0`, true},
		{`p = 1.0`, `1`, true},
		{`p = 0`, `-0.0`, true},
		{`p = 0.0`, `-0.0`, true},
		{`p = 9007199254740993`, `9007199254740992`, false},
		{`p = 9007199254740992.0`, `9007199254740993`, false},
		{`p < 9007199254740993`, `9007199254740992.0`, true},
		{`p >= 9007199254740993`, `9007199254740992.0`, false},
		{`p > 9007199254740992.0`, `9007199254740993`, true},
		{`p = 9223372036854775807`, `9223372036854775808.0`, false},
		{`p < 9223372036854775808.0`, `9223372036854775807`, true},
		{`p >= -9223372036854775808.0`, `-9223372036854775808`, true},
		{`p = -9223372036854775808.0`, `-9223372036854775808`, true},
		{`p < -9223372036854775808`, `-1e300`, true},
		{`p < 0`, `-0.5`, true},
		{`p > -1`, `-0.5`, true},
		{`p < 1`, `0.5`, true},
		{`p <= 2`, `2`, true},
		{`p < 2`, `2`, false},
		{`p > 2`, `2`, false},
		{`p >= 2`, `2`, true},
		{`p < "b"`, `"a"`, true},
		{`p < "b"`, `"b"`, false},
		{`p > "Z"`, `"a"`, true},
		{`p < "b"`, `1`, false},
		{`p >= "b"`, `1`, false},
		{`p < 5`, `true`, false},
		{`p >= 5`, `null`, false},
		{`p < 5`, `-`, false},
		{`p = true`, `true`, true},
		{`p = true`, `1`, false},
		{`p = null`, `null`, true},
		{`p = null`, `-`, false},
		{`p = [1]`, `[1]`, true},
		{`p = [1]`, `[1.0]`, false},
		{`p = {"a":1,"b":2}`, `{"b":2,"a":1}`, true},
		{`p in ["a",2]`, `2.0`, true},
		{`p in ["a",2]`, `"a"`, true},
		{`p in ["a",2]`, `"b"`, false},
		{`p in ["a",2]`, `["a",2]`, false},
		{`p in []`, `1`, false},
		{`p in ["a"]`, `-`, false},
		{`p prefix "svc/"`, `"svc/web"`, true},
		{`p prefix "svc/"`, `"svc"`, false},
		{`p prefix ""`, `"x"`, true},
		{`p prefix ""`, `1`, false},
		{`p prefix "a"`, `-`, false},
		{`p exists`, `null`, true},
		{`p exists`, `-`, false},
		{`p !exists`, `null`, false},
		{`p !exists`, `-`, true},
	}
	for _, c := range cases {
		p, err := ParsePredicate(c.predicate)
		if err != nil {
			t.Errorf("%s: %v", c.predicate, err)
			continue
		}
		var v ipld.Value
		if c.value != "-" {
			v = parsed(t, c.value)
		}
		if got := p.Holds(v, c.value != "-"); got != c.want {
			t.Errorf("%s holds for %s: %v, want %v", c.predicate, c.value, got, c.want)
		}
	}
}

// TestCompareMixed compares with arbitrary precision.
func TestCompareMixed(t *testing.T) {
	ints := []int64{math.MinInt64, math.MinInt64 + 1, -1 << 53, -1, 0, 1, 1<<53 - 1, 1 << 53,
		1<<53 + 1, 1<<62 + 1, math.MaxInt64 - 1, math.MaxInt64}
	floats := []float64{-math.MaxFloat64, -1 << 63, -1.5, -0.5, math.Copysign(0, -1), 0, 5e-324,
		0.5, 1, 1.5, 1 << 53, 1<<53 + 2, 1 << 62, 1 << 63, 1 << 64, math.MaxFloat64}
	rng := seeded(t)
	for range 2000 {
		n := rng.Int64() >> rng.IntN(64)
		ints = append(ints, n)
		floats = append(floats, float64(n), math.Nextafter(float64(n), 1), float64(n)/3)
	}
	for _, n := range ints {
		for _, f := range floats[:min(len(floats), 600)] {
			want := new(big.Rat).SetInt64(n).Cmp(new(big.Rat).SetFloat64(f))
			if got := compareMixed(n, f); got != want {
				t.Fatalf("compare %d with %g: %d, want %d", n, f, got, want)
			}
		}
	}
}

func TestParsePredicate(t *testing.T) {
	str := ipld.StringValue
	cases := []struct {
		text string
		want Predicate
	}{
		{`team = "infra"`, Predicate{"team", Equal, str("infra"), ""}},
		{`team="infra"`, Predicate{"team", Equal, str("infra"), ""}},
		{" \tteam  =\n \"infra\" ", Predicate{"team", Equal, str("infra"), ""}},
		{`a<1`, Predicate{"a", Less, ipld.IntValue(1), ""}},
		{`a<=1`, Predicate{"a", LessEqual, ipld.IntValue(1), ""}},
		{`a>=-1.5`, Predicate{"a", GreaterEqual, ipld.FloatValue(-1.5), ""}},
		{`a!="b"`, Predicate{"a", NotEqual, str("b"), ""}},
		{`"due date" > "2026"`, Predicate{"due date", Greater, str("2026"), ""}},
		{`"a \"b\" \\"="x"`, Predicate{`a "b" \`, Equal, str("x"), ""}},
		{`"é\n" exists`, Predicate{"é\n", Exists, ipld.Value{}, ""}},
		{`é exists`, Predicate{"é", Exists, ipld.Value{}, ""}},
		{`a !exists`, Predicate{"a", Missing, ipld.Value{}, ""}},
		{`a!exists`, Predicate{"a", Missing, ipld.Value{}, ""}},
		{`in in["x"]`, Predicate{"in", OneOf, ipld.ListValue(str("x")), ""}},
		{`exists exists`, Predicate{"exists", Exists, ipld.Value{}, ""}},
		{`path prefix"svc/"`, Predicate{"path", Prefix, str("svc/"), ""}},
		{`a.b-c/d = null`, Predicate{"a.b-c/d", Equal, ipld.Value{}, ""}},
		{`out.owns exists`, Predicate{"owns", Exists, ipld.Value{}, Out}},
		{`in.a.b >= 3`, Predicate{"a.b", GreaterEqual, ipld.IntValue(3), In}},
		{` out."part of" in[0,1.5]`, Predicate{"part of", OneOf,
			ipld.ListValue(ipld.IntValue(0), ipld.FloatValue(1.5)), Out}},
		{`out.out.x = 1`, Predicate{"out.x", Equal, ipld.IntValue(1), Out}},
		{`"out.owns" = "x"`, Predicate{"out.owns", Equal, str("x"), ""}},
		{`outer.owns = "x"`, Predicate{"outer.owns", Equal, str("x"), ""}},
		{`both.owns exists`, Predicate{"both.owns", Exists, ipld.Value{}, ""}},
	}
	for _, c := range cases {
		got, err := ParsePredicate(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
		} else if d := diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.text, d)
		} else if again, err := ParsePredicate(got.String()); err != nil || diff(got, again) != "" {
			t.Errorf("%s: written as %s, read as %v: %v", c.text, got, again, err)
		}
	}
}

func TestParsePredicateRefuses(t *testing.T) {
	long := strings.Repeat("n", graph.MaxPropName+1)
	cases := map[string]string{ // text to a part of the reason
		``:                        "as in team",
		`team`:                    "no operator",
		`team "infra"`:            "no operator",
		`team is "infra"`:         "no operator",
		`team existsx`:            "no operator",
		`team prefixed "a"`:       "no operator",
		`= 1`:                     "not a property name",
		`"" = 1`:                  "not a property name",
		long + ` = 1`:             "not a property name",
		`team = infra`:            `as in team = "infra"`,
		`team =`:                  `as in team = "infra"`,
		`team == 1`:               `as in team = "infra"`,
		`team = 1 2`:              `as in team = "infra"`,
		`team = "a`:               `as in team = "infra"`,
		`"team = 1`:               "quote not closed",
		`"team\`:                  "quote not closed",
		`"te\qam" = 1`:            "name",
		`team exists 1`:           "takes no value",
		`team !exists 1`:          "takes no value",
		`team in "a"`:             "takes a list",
		`team prefix 1`:           "takes a string",
		`team < true`:             "takes a number or a string",
		`team >= [1]`:             "takes a number or a string",
		"team = \"\xff\"":         `as in team = "infra"`,
		"\xff = 1":                "not a property name",
		`a = ` + deep(33):         "nested deeper",
		`a = 9223372036854775808`: "int64",
		`out. = 1`:                "not a type of edges",
		`in."" exists`:            "not a type of edges",
		`in.` + long + ` exists`:  "not a type of edges",
		`out.owns = "1"`:          "out.owns = takes a number",
		`out.owns < true`:         "takes a number",
		`out.owns in [1,null]`:    "takes a list of numbers",
		`out.owns prefix "1"`:     "no prefix",
		`out.owns`:                "no operator",
	}
	for text, part := range cases {
		_, err := ParsePredicate(text)
		var re *RequestError
		if !errors.As(err, &re) || re.Param != "where" || !strings.Contains(re.Reason, part) {
			t.Errorf("%q: error %v, want %q", text, err, part)
		}
	}
	if _, err := ParsePredicate(`a = ` + deep(32)); err != nil {
		t.Error(err)
	}
}

// deep returns a list nested n deep as JSON.
func deep(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

func FuzzParsePredicate(f *testing.F) {
	for _, s := range []string{`team = "infra"`, `"due date" < 1.5e3`, `a in [1,"b",null]`,
		`a !exists`, `"\u0000" prefix "x"`, `a={"/":{"bytes":"AA"}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePredicate(s)
		if err != nil {
			if !errors.Is(err, ErrRequest) {
				t.Fatalf("%q: error %v is no ErrRequest", s, err)
			}
			return
		}
		again, err := ParsePredicate(p.String())
		if err != nil {
			t.Fatalf("%q prints as %q: %v", s, p.String(), err)
		}
		if d := diff(p, again); d != "" {
			t.Fatalf("%q prints as %q: %s", s, p.String(), d)
		}
	})
}
