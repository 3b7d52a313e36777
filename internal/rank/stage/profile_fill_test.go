package stage

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

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
	must.OK(t, p.Validate(), from)
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
