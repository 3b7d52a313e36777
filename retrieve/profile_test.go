package retrieve

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// fill sets the parameters of profiles that a request leaves at their defaults, if their kind has another value.
func fill(r *Request) {
	given := encodeParams(r.Resolve(), ipld.Sum(ipld.Raw, nil))
	for i := range params {
		p := &params[i]
		if _, ok := given.Get(p.Name); ok || p.Own != "" {
			continue
		}
		switch at := p.at(r).(type) {
		case *bool:
			*at = true
		case **int:
			*at = new(1)
		}
	}
}

// TestProfileParams sees to it that each parameter is one of a request, under its name, and that
// Explicitly leaves exactly those that are named.
func TestProfileParams(t *testing.T) {
	full := fullRequest()
	full.EdgeWeights = []EdgeWeight{{"owns", 3}}
	full.Weights = []LaneWeight{{"text", 3}}
	full.Vectors = vectorOf("m", 1)
	full.Fusion, full.Spelling = WeightedRRF, SpellingOff
	full.MaxExpand, full.Tokenizer, full.Community = new(7), "words", true
	full.Expansion, full.Decay, full.Damping = Decay, new(3), new(4)
	full.Pack, full.PassageTokens = PackPassages, new(5)
	full.Floor = FloorAnswer
	full.Altitude = AltitudeAuto
	fill(&full)
	all := encodeParams(full.Resolve(), ipld.Sum(ipld.Raw, nil))
	for _, name := range ProfileParams() {
		v, ok := all.Get(name)
		if !ok {
			t.Errorf("%s is not set in the full request of this test", name)
			continue
		}
		p := &Profiles{Named: map[string]Profile{"p": {Params: []ipld.Entry{{Key: name, Value: v}}}}}
		must.OK(t, p.Validate(), name)
		must.Equal(t, WhyOwn(name), "", name, " is both")
		only := full.Explicitly(name)
		if _, ok := only.encodeParam(name); !ok {
			t.Errorf("%s is not left", name)
		}
		set, unset, err := only.ProfileChange()
		must.Check(t, err == nil && len(unset) <= 0 && len(set) == 1 && set[0].Value.Equal(v),
			"%s: change %v, %v, %v", name, set, unset, err)
	}
	for _, e := range all.Entries() {
		may := findProfileParam(e.Key) != nil
		must.Check(t, may != (WhyOwn(e.Key) != ""), "%s: in a profile %t", e.Key, may)
	}
	set, unset, err := Request{}.Explicitly("dedup", "limit").ProfileChange()
	if err != nil || len(set) != 1 || set[0].Key != "limit" || !slices.Equal(unset, []string{"dedup"}) {
		t.Errorf("%v, %v, %v", set, unset, err)
	}
	_, _, err = (Request{}).Explicitly("where").ProfileChange()
	must.Fail(t, err, ErrRequest)
	if _, _, err := (Request{Limit: new(-1)}).Explicitly("limit").ProfileChange(); err == nil {
		t.Error("a limit of -1 was taken")
	}
}

func TestBuiltinProfiles(t *testing.T) {
	for _, name := range BuiltinProfiles() {
		p, about, ok := BuiltinProfile(name)
		must.Check(t, ok && about != "" && ValidProfileName(name) && p.Types == nil,
			"%s: %v %q %t", name, p, about, ok)
		must.OK(t, p.check(name))
		if len(p.Params) > 0 {
			p.Params[0].Key = "changed"
			again, _, _ := BuiltinProfile(name)
			must.Check(t, again.Params[0].Key != "changed", "%s is shared", name)
		}
	}
	if !slices.IsSorted(BuiltinProfiles()) || !slices.Contains(BuiltinProfiles(), DefaultProfile) {
		t.Error(BuiltinProfiles())
	}
}

func TestProfileNames(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "A-1._": true, "0": true, strings.Repeat("n", 64): true,
		"": false, "-a": false, ".a": false, "a b": false, "é": false, "a/b": false,
		strings.Repeat("n", 65): false,
	} {
		must.Equal(t, ValidProfileName(name), want, name, ": ", !want)
	}
}

// TestShare gives every share back by the shortest number that means it.
func TestShare(t *testing.T) {
	for _, test := range []struct {
		units int64
		want  string
	}{{45_875, "0.7"}, {65_536, "1"}, {0, "0"}, {1 << 20, "16"}, {1, "0.00002"}, {32_768, "0.5"}} {
		v, ok := Share("decay", ipld.IntValue(test.units))
		got := string(ipld.AppendJSON(nil, v))
		must.Check(t, ok && got == test.want, "%d: %s, want %s", test.units, got, test.want)
	}
	for units := int64(0); units <= MaxWeight; units += 37 {
		v := shortShare(units)
		x := v.Float()
		if v.Kind() == ipld.Int {
			x = float64(v.Int())
		}
		must.Require(t, int64(math.RoundToEven(x*65_536)) == units, "%d became %v", units, x)
	}
	if _, ok := Share("limit", ipld.IntValue(3)); ok {
		t.Error("a limit is no share")
	}
}
