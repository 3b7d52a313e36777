package retrieve

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

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
				profile.Params = append(profile.Params,
					ipld.Entry{Key: param, Value: ipld.IntValue(rng.Int64N(2))})
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
		if both, none := MergeProfiles(ProfileVersions{v.Base, v.Ours, v.Ours}, graph.TakeBase); whole(
			both) != whole(v.Ours) || len(none) > 0 {
			t.Fatalf("both the same: %v", none)
		}
		must.Equal(t, before, [3]string{whole(v.Base), whole(v.Ours), whole(v.Theirs)}, "a version was changed")
	}
	must.Check(t, clean != 0 && clean != 3000, "%d clean merges of 3000", clean)
}
