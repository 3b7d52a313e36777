package retrieve

import (
	"errors"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/ipld"
)

// combinations calls f with every choice of one value, or none, for each parameter.
func combinations(values map[string][]ipld.Value, f func(said)) {
	names := slices.Sorted(maps.Keys(values))
	var choose func(n int, s said)
	choose = func(n int, s said) {
		if n == len(names) {
			f(maps.Clone(s))
			return
		}
		choose(n+1, s)
		for _, v := range values[names[n]] {
			s[names[n]] = v
			choose(n+1, s)
		}
		delete(s, names[n])
	}
	choose(0, said{})
}

// TestFillFits holds for every choice of what requests give and profiles say: a request that is
// valid by itself is valid with the profile, has all that it gives, and of the rest what the
// profile says or the default. A plain run tries each choice with other profiles in turn.
func TestFillFits(t *testing.T) {
	tried, every := 0, effort.Pick(5, 1, 1)
	for _, g := range inGroups {
		bases := asked()
		if g.ofProfile["weights"] == nil { // which alone look at all lanes
			bases = bases[:2]
		}
		var profiles []said
		combinations(g.ofProfile, func(s said) { profiles = append(profiles, s) })
		combinations(g.ofRequest, func(given said) {
			for _, base := range bases {
				for at := tried % every; at < len(profiles); at += every {
					checkFill(t, base, given, profiles[at])
				}
				tried++
			}
		})
	}
}

// TestFillFitsRandom is the same with parameters of all groups.
func TestFillFitsRandom(t *testing.T) {
	rng := seeded(t)
	pick := func(values map[string][]ipld.Value, s said) {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			if rng.IntN(2) == 0 {
				s[name] = values[name][rng.IntN(len(values[name]))]
			}
		}
	}
	for range effort.Pick(1500, 5000, 100_000) {
		given, from := said{}, said{}
		for _, g := range inGroups {
			pick(g.ofRequest, given)
			pick(g.ofProfile, from)
		}
		pick(map[string][]ipld.Value{"limit": integers(3), "maxExpand": integers(2),
			"summaryCap": integers(0), "adjacency": integers(1)}, from)
		checkFill(t, asked()[rng.IntN(len(asked()))], given, from)
	}
}

func checkFill(t *testing.T, base Request, given, from said) {
	t.Helper()
	p := &Profiles{Named: map[string]Profile{"p": from.profile()}}
	if err := p.Validate(); err != nil {
		t.Fatalf("%v: %v", from, err)
	}
	req := given.request(t, base)
	req.Profile = "p"
	if err := req.ValidateGiven(); err != nil && len(given) == 0 {
		t.Fatal(err)
	}
	got, err := p.Apply(req)
	alone := errors.Join(req.Validate(), req.checkLanes())
	if err == nil {
		err = got.checkLanes()
	}
	switch {
	case err != nil && alone == nil:
		t.Fatalf("%v, profile %v: %v", given, from, err)
	case err != nil:
		return // it asked for what it cannot have
	}
	has := keptParams(got)
	if _, err := readParams(has, got.Text, got.Rewrites...); err != nil && len(got.Rewrites) == 0 {
		t.Fatalf("%v, profile %v: receipt: %v", given, from, err)
	}
	with := given.request(t, base) // what it gives, the rest at its default
	with.Expansion, with.Pack = got.Expansion, got.Pack
	byItself := keptParams(with)
	for _, name := range ProfileParams() {
		v, _ := has.Get(name)
		want, _ := byItself.Get(name)
		_, gives := given[name]
		if v.Equal(want) || !gives && (v.Equal(from[name]) || name == "weights") {
			continue
		}
		t.Fatalf("%v, profile %v: %s is %v, not %v", given, from, name, v, want)
	}
	if want := keptOfExpansion(given, from); !slices.Equal(want, keptIn(given, from, got)) {
		t.Fatalf("%v, profile %v: kept %v, want %v", given, from, keptIn(given, from, got), want)
	}
}

// keptOfExpansion says by the letter of clause 23.2 which of a profile's parameters that go with
// others count.
func keptOfExpansion(given, from said) (kept []string) {
	text := func(s said, name string) string { return s[name].Text() }
	its := "lend"
	if _, ok := from["expansion"]; ok {
		its = text(from, "expansion")
	}
	way := its
	if _, ok := given["expansion"]; ok {
		way = text(given, "expansion")
	}
	pack := text(from, "pack")
	if _, ok := given["pack"]; ok {
		pack = text(given, "pack")
	}
	fits := map[string]bool{
		"expand":        way == its && (way == "ppr" || from["expand"].Int() <= 4),
		"decay":         way == its && way == "decay",
		"damping":       way == its && way == "ppr",
		"passageTokens": pack == "passages",
	}
	for _, name := range slices.Sorted(maps.Keys(fits)) {
		_, says := from[name]
		_, gives := given[name]
		if says && !gives && fits[name] {
			kept = append(kept, name)
		}
	}
	return kept
}

func keptIn(given, from said, got Request) (kept []string) {
	for name, p := range map[string]*int{"expand": got.Expand, "decay": got.Decay,
		"damping": got.Damping, "passageTokens": got.PassageTokens} {
		_, says := from[name]
		if _, gives := given[name]; says && !gives && p != nil {
			kept = append(kept, name)
		}
	}
	slices.Sort(kept)
	return kept
}

// TestFillCompletes takes what a request gives together with what its profile says.
func TestFillCompletes(t *testing.T) {
	p := &Profiles{Named: map[string]Profile{
		"ranks": said{"expansion": ipld.StringValue("ppr"), "expand": ipld.IntValue(30)}.profile(),
		"long":  said{"pack": ipld.StringValue("passages")}.profile(),
	}}
	for name, given := range map[string]Request{
		"ranks": {Text: "x", Expand: new(40), ExpansionOptions: ExpansionOptions{Damping: new(9)}},
		"long":  {Text: "x", PassageTokens: new(9)},
	} {
		given.Profile = name
		if err := given.ValidateGiven(); err != nil {
			t.Error(err)
		}
		if _, err := p.Apply(given); err != nil {
			t.Error(err)
		}
		given.Profile = ""
		if err := given.ValidateGiven(); err != nil {
			t.Error(err)
		}
		if got, err := p.Apply(given); !errors.Is(err, ErrRequest) || got.Settled {
			t.Errorf("%s: without its profile: %v", name, err)
		}
		if _, err := Run(t.Context(), newMemory(), newMemory(), testCommit, given); err == nil {
			t.Errorf("%s: ran", name)
		}
	}
	own := Request{Text: "x", Explicit: []string{"expansion"}}
	own.Damping = new(9)
	if err := own.ValidateGiven(); !errors.Is(err, ErrRequest) {
		t.Errorf("lending was asked for, and damping: %v", err)
	}
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
		{said{"fusion": text("rrf"), "weights": ipld.MapValue(weighing("text", 3))}, "weights"},
	} {
		profile := test.says.profile()
		err := profile.Consistent()
		var re *RequestError
		if errors.As(err, &re) != (test.bad != "") || re != nil && re.Param != test.bad {
			t.Errorf("%v: %v", test.says, err)
		}
		p := &Profiles{Named: map[string]Profile{"p": profile, "q": {}}}
		if err := p.Validate(); err != nil {
			t.Errorf("%v: %v", test.says, err)
		}
		var pe *ProfileError
		err = p.CheckChanged(nil)
		if errors.As(err, &pe) != (test.bad != "") ||
			pe != nil && (pe.Name != "p" || !slices.Equal(pe.Params, []string{test.bad})) {
			t.Errorf("%v: %v", test.says, err)
		}
		if err := p.CheckChanged(p); err != nil {
			t.Errorf("%v: as before: %v", test.says, err)
		}
	}
	far := said{"expand": number(9), "decay": number(9), "damping": number(9),
		"passageTokens": number(9)}
	if got := far.profile().Misfits(); !slices.Equal(got, []string{"decay", "expand", "damping",
		"passageTokens"}) {
		t.Errorf("misfits %v", got)
	}
	for _, name := range BuiltinProfiles() {
		p, _, _ := BuiltinProfile(name)
		if err := p.Consistent(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
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
			t.Errorf("%s: no parameter of the table",
				name)
			continue
		}
		left = slices.Delete(left, at, at+1)
		p := findProfileParam(name)
		may := p != nil
		field := reflect.ValueOf(&full).Elem().FieldByIndex(f.Index)
		if may && p.at(&full) != field.Addr().Interface() {
			t.Errorf("%s is another field", name)
		}
		if may == (WhyOwn(name) != "") {
			t.Errorf("%s: a profile may set it %t, and why not: %q", name, may, WhyOwn(name))
		}
	}
	if len(left) > 0 {
		t.Errorf("no fields of a request: %v", left)
	}
	if WhyOwn("sorcery") != "" {
		t.Error("a reason for what is no parameter")
	}
}

// TestMergedFill fills requests from merges of any two profiles: they may contradict themselves.
func TestMergedFill(t *testing.T) {
	rng := seeded(t)
	anyProfiles := func() *Profiles {
		from := said{}
		for _, g := range inGroups {
			for _, name := range slices.Sorted(maps.Keys(g.ofProfile)) {
				if v := g.ofProfile[name]; rng.IntN(2) == 0 {
					from[name] = v[rng.IntN(len(v))]
				}
			}
		}
		return &Profiles{Named: map[string]Profile{"p": from.profile()}}
	}
	contradicts := mergedFills(t, rng, anyProfiles)
	if contradicts == 0 || contradicts == 2000 {
		t.Errorf("%d of 2000 contradict themselves", contradicts)
	}
}

func mergedFills(t *testing.T, rng *rand.Rand, one func() *Profiles) (contradicts int) {
	for range 2000 {
		merged, _ := MergeProfiles(ProfileVersions{one(), one(), one()}, "")
		if merged.CheckChanged(nil) != nil {
			contradicts++
		}
		for _, req := range asked() {
			req.Profile = "p"
			if rng.IntN(2) == 0 {
				req.Expansion = Expansions()[rng.IntN(3)]
			}
			if _, err := merged.Apply(req); err != nil {
				t.Fatal(err)
			}
		}
	}
	return contradicts
}
