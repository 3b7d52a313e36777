package spec_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// readProfiles reads a record in hex, nil for none.
func readProfiles(t *testing.T, block string) *retrieve.Profiles {
	t.Helper()
	if block == "" {
		return nil
	}
	p, err := retrieve.DecodeProfiles(expand(t, block))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// runProfileChoice resolves a request by profiles. What a request has it gives itself, also at its
// default.
func runProfileChoice(t *testing.T, v vector) {
	var in struct {
		Profiles string
		Request  json.RawMessage
	}
	var want struct{ Request, Error string }
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	var members map[string]json.RawMessage
	parse(t, in.Request, &members)
	var name string
	if given := members["profile"]; given != nil {
		parse(t, given, &name)
		delete(members, "profile")
	}
	rest, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	req := request(t, rest)
	req.Profile = name
	var given []string
	for member := range members {
		given = append(given, member)
	}
	req = req.Explicitly(given...)
	got, err := readProfiles(t, in.Profiles).Apply(req)
	if refusal(t, v, err, retrieve.ErrRequest) {
		return
	}
	answer := retrieve.Answer{Request: got}
	rec, _ := answer.Receipt()
	same(t, "request", string(ipld.AppendJSON(nil, rec.Params)), want.Request)
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
			if err := got.Validate(); err != nil {
				t.Error(err)
			}
			at = ipld.Sum(ipld.DagCBOR, got.Encode()).String()
		}
		same(t, fmt.Sprintf("taking %s", take), at, block)
	}
}
