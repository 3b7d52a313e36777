package spec_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// readProfiles reads a record in hex, nil for none.
func readProfiles(t *testing.T, block string) *retrieve.Profiles {
	t.Helper()
	if block == "" {
		return nil
	}
	return must.Get(retrieve.DecodeProfiles(expand(t, block)))(t)
}

// runProfileContradicts looks for profiles that contradict themselves.
func runProfileContradicts(t *testing.T, v vector) {
	var in struct{ Profiles string }
	var want struct{ Names []string }
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	p := readProfiles(t, in.Profiles)
	var names []string
	for _, name := range p.Names() {
		if profile, own, _ := p.Get(name); own && profile.Consistent() != nil {
			names = append(names, name)
		}
	}
	same(t, "names", strings.Join(names, " "), strings.Join(want.Names, " "))
}

// TestEveryParameterIsHeldOrNot sees to it that clause 23.1 says of each parameter of clause 8.1
// whether a profile may hold it, as the implementation does.
func TestEveryParameterIsHeldOrNot(t *testing.T) {
	text := must.Get(os.ReadFile("SPEC.md"))(t)
	between := func(from, to string) string {
		_, rest, _ := strings.Cut(string(text), from)
		part, _, ok := strings.Cut(rest, to)
		must.Require(t, ok, "no text between %q and %q", from, to)
		return part
	}
	quoted := func(s string) []string {
		var names []string
		for i, name := range strings.Split(s, "`") {
			if i%2 == 1 {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return names
	}
	var held, own []string
	for line := range strings.Lines(between("### 8.1 ", "### 8.2 ")) {
		switch cells := strings.Split(line, "|"); {
		case len(cells) < 6 || !strings.Contains(cells[1], "`"):
		case strings.TrimSpace(cells[5]) == "p":
			held = append(held, quoted(cells[1])...)
		default:
			own = append(own, quoted(cells[1])...)
		}
	}
	slices.Sort(held)
	slices.Sort(own)
	same(t, "held", strings.Join(held, " "),
		strings.Join(slices.Sorted(slices.Values(retrieve.ProfileParams())), " "))
	same(t, "own", strings.Join(own, " "), strings.Join(slices.Sorted(slices.Values(retrieve.OwnParams())), " "))
}

// runProfileMerge merges profiles, taking each side in turn.
func runProfileMerge(t *testing.T, v vector) {
	var in struct{ Base, Ours, Theirs string }
	var want map[string]json.RawMessage
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	versions := retrieve.ProfileVersions{
		Base: readProfiles(t, in.Base), Ours: readProfiles(t, in.Ours),
		Theirs: readProfiles(t, in.Theirs),
	}
	for _, take := range []graph.Take{graph.TakeOurs, graph.TakeTheirs, graph.TakeBase} {
		got, fields := retrieve.MergeProfiles(versions, take)
		var conflicts []string
		var block string
		parse(t, want["conflicts"], &conflicts)
		parse(t, want["taking-"+string(take)], &block)
		same(t, "conflicts", strings.Join(fields, " "), strings.Join(conflicts, " "))
		at := ""
		if got != nil {
			must.OK(t, got.Validate())
			at = ipld.Sum(ipld.DagCBOR, got.Encode()).String()
		}
		same(t, fmt.Sprintf("taking %s", take), at, block)
	}
}
