package stage

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
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

func checkFill(t *testing.T, base retrieve.Request, given, from said) {
	t.Helper()
	p := &retrieve.Profiles{Named: map[string]retrieve.Profile{"p": from.profile()}}
	if err := p.Validate(); err != nil {
		t.Fatalf("%v: %v", from, err)
	}
	req := given.request(t, base)
	req.Profile = "p"
	if err := req.ValidateGiven(); err != nil && len(given) == 0 {
		t.Fatal(err)
	}
	got, err := p.Apply(req)
	alone := errors.Join(req.Validate(), checkLanes(&req))
	if err == nil {
		err = checkLanes(&got)
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
	for _, name := range retrieve.ProfileParams() {
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

func keptIn(given, from said, got retrieve.Request) (kept []string) {
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
	p := &retrieve.Profiles{Named: map[string]retrieve.Profile{
		"ranks": said{"expansion": ipld.StringValue("ppr"), "expand": ipld.IntValue(30)}.profile(),
		"long":  said{"pack": ipld.StringValue("passages")}.profile(),
	}}
	for name, given := range map[string]retrieve.Request{
		"ranks": {Text: "x", ExpansionOptions: retrieve.ExpansionOptions{Expand: new(40), Damping: new(9)}},
		"long":  {Text: "x", OutputOptions: retrieve.OutputOptions{PassageTokens: new(9)}},
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
		if got, err := p.Apply(given); !errors.Is(err, retrieve.ErrRequest) || got.Settled {
			t.Errorf("%s: without its profile: %v", name, err)
		}
		if _, err := Run(t.Context(), newMemory(), newMemory(), testCommit, given); err == nil {
			t.Errorf("%s: ran", name)
		}
	}
	own := retrieve.Request{Text: "x", ProfileChoice: retrieve.ProfileChoice{Explicit: []string{"expansion"}}}
	own.Damping = new(9)
	if err := own.ValidateGiven(); !errors.Is(err, retrieve.ErrRequest) {
		t.Errorf("lending was asked for, and damping: %v", err)
	}
}
