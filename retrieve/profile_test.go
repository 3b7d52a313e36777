package retrieve

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/effort"
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
		_, ok = only.encodeParam(name)
		must.True(t, ok, "%s is not left", name)
		set, unset, err := only.ProfileChange()
		must.True(t, err == nil && len(unset) <= 0 && len(set) == 1 && set[0].Value.Equal(v),
			"%s: change %v, %v, %v", name, set, unset, err)
	}
	for _, e := range all.Entries() {
		may := findProfileParam(e.Key) != nil
		must.True(t, may != (WhyOwn(e.Key) != ""), "%s: in a profile %t", e.Key, may)
	}
	set, unset, err := Request{}.Explicitly("dedup", "limit").ProfileChange()
	must.True(t, err == nil && len(set) == 1 && set[0].Key == "limit" && slices.Equal(unset, []string{"dedup"}),
		"%v, %v, %v", set, unset, err)
	_, _, err = (Request{}).Explicitly("where").ProfileChange()
	must.Fail(t, err, ErrRequest)
	_, _, err = (Request{Limit: new(-1)}).Explicitly("limit").ProfileChange()
	must.True(t, err != nil, "a limit of -1 was taken")
}

func TestBuiltinProfiles(t *testing.T) {
	for _, name := range BuiltinProfiles() {
		p, about, ok := BuiltinProfile(name)
		must.True(t, ok && about != "" && ValidProfileName(name) && p.Types == nil,
			"%s: %v %q %t", name, p, about, ok)
		must.OK(t, p.check(name))
		if len(p.Params) > 0 {
			p.Params[0].Key = "changed"
			again, _, _ := BuiltinProfile(name)
			must.True(t, again.Params[0].Key != "changed", "%s is shared", name)
		}
	}
	must.True(t, slices.IsSorted(BuiltinProfiles()) && slices.Contains(BuiltinProfiles(), DefaultProfile),
		"%v", BuiltinProfiles())
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
		must.True(t, ok && got == test.want, "%d: %s, want %s", test.units, got, test.want)
	}
	for units := int64(0); units <= MaxWeight; units += 37 {
		v := shortShare(units)
		x := v.Float()
		if v.Kind() == ipld.Int {
			x = float64(v.Int())
		}
		must.Require(t, int64(math.RoundToEven(x*65_536)) == units, "%d became %v", units, x)
	}
	_, ok := Share("limit", ipld.IntValue(3))
	must.True(t, !ok, "a limit is no share")
}

func TestProfileConsistent(t *testing.T) {
	number, text := ipld.IntValue, ipld.StringValue
	for _, test := range []struct {
		says said
		bad  string
	}{
		{said{}, ""},
		{said{"expansion": text("ppr"), "damping": number(9), "expand": number(64)}, ""},
		{said{"later": number(1)}, ""},
		{said{"expansion": text("decay"), "decay": number(9)}, ""},
		{said{"pack": text("passages"), "passageTokens": number(256)}, ""},
		{said{"decay": number(9)}, "decay"},
		{said{"damping": number(9), "expansion": text("decay")}, "damping"},
		{said{"expand": number(5)}, "expand"},
		{said{"passageTokens": number(9)}, "passageTokens"},
		{said{"fusion": text("rrf"), "weights": ipld.MapValue(weightOf("text", 3))}, "weights"},
	} {
		profile := test.says.profile()
		err := profile.Consistent()
		var re *RequestError
		must.True(t, errors.As(err, &re) == (test.bad != "") && (re == nil || re.Param == test.bad),
			"%v: %v", test.says, err)
		p := &Profiles{Named: map[string]Profile{"p": profile, "q": {}}}
		must.OK(t, p.Validate(), test.says)
		var pe *ProfileError
		err = p.CheckChanged(nil)
		must.True(t, errors.As(err, &pe) == (test.bad != "") &&
			(pe == nil || (pe.Name == "p" && slices.Equal(pe.Params, []string{test.bad}))), "%v: %v", test.says, err)
		must.OK(t, p.CheckChanged(p), test.says, ": as before")
	}
	far := said{"expand": number(9), "decay": number(9), "damping": number(9), "passageTokens": number(9)}
	must.Same(t, far.profile().Misfits(), []string{"decay", "expand", "damping", "passageTokens"}, "misfits")
	for _, name := range BuiltinProfiles() {
		p, _, _ := BuiltinProfile(name)
		must.OK(t, p.Consistent(), name)
	}
}

// noParams are the fields of a request that are no parameter of clause 8.1.
var noParams = map[string]string{
	"excludeNames": "becomes exclude", "unseen": "becomes exclude and unseenFrom",
	"explicit": "says what is given", "settled": "says that profile defaults have been applied",
	"reranker": "gives reranked", "ranking": "is of the engine", "tuning": "is of measurements alone",
}

// TestEveryParam sees to it that each field of a request is a parameter that a profile may set, or
// one that a request alone has, or else named here with what it is.
func TestEveryParam(t *testing.T) {
	left := slices.Concat(ProfileParams(), OwnParams())
	if slices.Sort(left); len(slices.Compact(slices.Clone(left))) != len(left) {
		t.Errorf("a parameter is in both lists, or twice in one: %v", left)
	}
	var full Request
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Request]()) {
		if f.Anonymous {
			continue
		}
		name := strings.ToLower(f.Name[:1]) + f.Name[1:]
		if noParams[name] != "" {
			continue
		}
		at := slices.Index(left, name)
		if at < 0 {
			t.Errorf("%s: no parameter of the table", name)
			continue
		}
		left = slices.Delete(left, at, at+1)
		p := findProfileParam(name)
		may := p != nil
		field := reflect.ValueOf(&full).Elem().FieldByIndex(f.Index)
		must.True(t, !may || p.at(&full) == field.Addr().Interface(), "%s is another field", name)
		must.True(t, may != (WhyOwn(name) != ""),
			"%s: a profile may set it %t, and why not: %q", name, may, WhyOwn(name))
	}
	must.True(t, len(left) <= 0, "no fields of a request: %v", left)
	must.Equal(t, WhyOwn("sorcery"), "", "a reason for what is no parameter")
}

// randomProfiles are profiles of few names and values, so that two of them often meet.
func randomProfiles(rng *rand.Rand) *Profiles {
	p := &Profiles{Named: map[string]Profile{}}
	if rng.IntN(2) == 0 {
		p.Default = []string{"a", "b"}[rng.IntN(2)]
	}
	if rng.IntN(3) == 0 {
		p.Extra = []ipld.Entry{{Key: "zeta", Value: ipld.IntValue(rng.Int64N(2))}}
	}
	for _, name := range []string{"a", "b", "c.d"} {
		if rng.IntN(3) == 0 {
			continue
		}
		var profile Profile
		if rng.IntN(2) == 0 {
			profile.Types = []string{"A", "B"}[:1+rng.IntN(2)]
		}
		for _, param := range []string{"limit", "budget"} {
			if rng.IntN(3) > 0 {
				profile.Params = append(profile.Params, ipld.Entry{Key: param, Value: ipld.IntValue(rng.Int64N(2))})
			}
		}
		p.Named[name] = profile
	}
	if p.Empty() {
		return nil
	}
	return p
}

// whole is the record of profiles, "" for none.
func whole(p *Profiles) string {
	if p.Empty() {
		return ""
	}
	return string(p.Encode())
}

// TestMergeProfiles checks the laws of clause 14: a side without changes yields to the other, the sides may be
// exchanged, and a field taken from a side has that side's value.
func TestMergeProfiles(t *testing.T) {
	rng := seeded(t)
	clean := 0
	for range effort.Pick(800, 3000, 100_000) {
		v := ProfileVersions{randomProfiles(rng), randomProfiles(rng), randomProfiles(rng)}
		before := [3]string{whole(v.Base), whole(v.Ours), whole(v.Theirs)}
		swapped := ProfileVersions{v.Base, v.Theirs, v.Ours}
		ours, fields := MergeProfiles(v, graph.TakeOurs)
		exchanged, same := MergeProfiles(swapped, graph.TakeTheirs)
		must.Same(t, fields, same, "exchanged")
		must.Equal(t, whole(ours), whole(exchanged), "exchanged")
		must.Require(t, slices.IsSorted(fields) && len(slices.Compact(slices.Clone(fields))) == len(fields),
			"fields %v", fields)
		for _, take := range []graph.Take{graph.TakeOurs, graph.TakeTheirs, graph.TakeBase} {
			got, _ := MergeProfiles(v, take)
			if got != nil {
				must.OK(t, got.Validate())
			}
			must.Require(t, len(fields) != 0 || whole(got) == whole(ours),
				"a merge without conflicts depends on what is taken")
		}
		if len(fields) == 0 {
			clean++
		}
		one, none := MergeProfiles(ProfileVersions{v.Base, v.Ours, v.Base}, graph.TakeBase)
		must.Require(t, whole(one) == whole(v.Ours) && len(none) <= 0, "one side changed: %v", none)
		both, none := MergeProfiles(ProfileVersions{v.Base, v.Ours, v.Ours}, graph.TakeBase)
		must.Require(t, whole(both) == whole(v.Ours) && len(none) == 0, "both the same: %v", none)
		must.Equal(t, before, [3]string{whole(v.Base), whole(v.Ours), whole(v.Theirs)}, "a version was changed")
	}
	must.True(t, clean != 0 && clean != 3000, "%d clean merges of 3000", clean)
}
