package retrieve

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// TestPredicateGolden freezes how the text form of a predicate is read and written, and for which values it holds.
func TestPredicateGolden(t *testing.T) {
	cases.Golden(t, "testdata/predicate.jsonl", func(t testing.TB, c cases.Case) any {
		var in struct {
			Predicate string
			Value     json.RawMessage
			Absent    bool // whether the node has no such property
		}
		cases.Parse(t, c.Input, &in)
		p, err := ParsePredicate(in.Predicate)
		if err == nil {
			err = Request{Where: []Predicate{p}}.Validate()
		}
		if refused := refusedGolden(t, err); refused != nil {
			return refused
		}
		again, err := ParsePredicate(p.String())
		must.Equal(t, diff(p, again), "", in.Predicate, " written as ", p)
		must.OK(t, err, in.Predicate, " written as ", p)
		if in.Absent {
			return map[string]any{"holds": p.Holds(ipld.Value{}, false)}
		}
		if in.Value != nil {
			v := must.Get(ipld.ParseJSON(in.Value))(t)
			return map[string]any{"holds": p.Holds(v, true)}
		}
		got := map[string]any{"name": p.Name, "op": p.Op}
		if p.Edges != "" {
			got["edges"] = p.Edges
		}
		if p.Op.hasValue() {
			got["value"] = json.RawMessage(ipld.AppendJSON(nil, p.Value))
		}
		return got
	})
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
			must.Equal(t, compareMixed(n, f), want, "compare ", n, " with ", f)
		}
	}
}

func FuzzParsePredicate(f *testing.F) {
	for _, s := range []string{`team = "infra"`, `"due date" < 1.5e3`, `a in [1,"b",null]`,
		`a !exists`, `"\u0000" prefix "x"`, `a={"/":{"bytes":"AA"}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePredicate(s)
		if err != nil {
			must.Fail(t, err, ErrRequest, s)
			return
		}
		again := must.Get(ParsePredicate(p.String()))(t, s, " prints as ", p.String())
		must.Equal(t, diff(p, again), "", s, " prints as ", p.String())
	})
}

func TestWarningInfos(t *testing.T) {
	want := []Code{NoTerms, NothingPasses, BudgetTooSmall, ExpansionTruncated, LinksCut,
		NothingLinked, Redacted, UnseenCut, NoVectors, Dimension, StaleVectors, Respelled,
		EdgeWeightsUnused, NoCommunity, NotReranked, NotRewritten, RewritesInVain, NoNow,
		NoneThen, NoType, NoEffect, NoSparse}
	infos := WarningInfos()
	must.Require(t, len(infos) == len(want), "%d infos, want %d", len(infos), len(want))
	for i, info := range infos {
		w := Warning{Code: info.Code}
		if info.Param != "" {
			w.Params = []ipld.Entry{{Key: info.Param, Value: ipld.IntValue(7)}}
		}
		text := w.Message() + w.Remedy()
		if info.Code != want[i] || info.When == "" || strings.Contains(text, "%!") {
			t.Errorf("%+v: %s; %s", info, w.Message(), w.Remedy())
		}
		must.True(t, strings.Contains(info.Remedy, "--"), "%s: remedy %q names no flag", info.Code, info.Remedy)
		must.True(t, info.Param == "" || strings.Contains(text, "7"),
			"%s: %q does not say the parameter", info.Code, text)
	}
	later := Warning{Code: "of_a_later_version"}
	must.True(t, later.Message() == "of_a_later_version" && later.Remedy() != "",
		"%q, %q", later.Message(), later.Remedy())
	infos[0].Code = "changed"
	must.Equal(t, WarningInfos()[0].Code, NoTerms, "the table can be changed from outside")
}
