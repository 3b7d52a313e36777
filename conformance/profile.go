package main

import (
	"sort"
	"strings"
)

// profilesOf are the profiles of a record, nil for none.
func profilesOf(rec dict) dict {
	if rec == nil {
		return dict{}
	}
	return rec["profiles"].(dict)
}

func sortedNames(m dict) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// together reports whether parameters that go with each other alone do.
func together(out dict) bool {
	_, decay := out["decay"]
	_, damping := out["damping"]
	_, tokens := out["passageTokens"]
	rounds, _ := out["expand"].(int64)
	ppr := out["expansion"] == "ppr"
	return !(decay && out["expansion"] != "decay" || damping && !ppr || rounds > 4 && !ppr ||
		tokens && !trims(out))
}

// trims reports whether texts are trimmed.
func trims(out dict) bool { return out["pack"] == "passages" || out["pack"] == "auto" }

// contradicting are the profiles of a record that contradict themselves (clause 23.1).
func contradicting(rec dict) []string {
	names := []string{}
	for _, name := range sortedNames(profilesOf(rec)) {
		params := profilesOf(rec)[name].(dict)["params"].(dict)
		bad := !together(params)
		weights, _ := params["weights"].(dict)
		for lane := range weights {
			bad = bad || lane != "time" && params["fusion"] == "rrf"
		}
		if bad {
			names = append(names, name)
		}
	}
	return names
}

// profileFields returns the fields of clause 23.3 of a record; apart names the profiles whose
// fields merge by themselves.
func profileFields(rec dict, apart func(name string) bool) map[string]any {
	out := map[string]any{}
	for field, v := range rec {
		if field != "kind" && field != "v" && field != "profiles" {
			out[field] = v
		}
	}
	for name, p := range profilesOf(rec) {
		if !apart(name) {
			out["profiles."+name] = p
			continue
		}
		p := p.(dict)
		if types, given := p["types"]; given {
			out["profiles."+name+".types"] = types
		}
		for param, v := range p["params"].(dict) {
			out["profiles."+name+"."+param] = v
		}
	}
	return out
}

// mergedProfiles is clause 23.3: the record, nil for none, and the fields in conflict. Names of
// profiles in it have no dot.
func mergedProfiles(t take, base, ours, theirs dict) (dict, []string) {
	_, _ = base, t
	inBoth := func(name string) bool {
		_, a := profilesOf(ours)[name]
		_, b := profilesOf(theirs)[name]
		return a && b
	}
	b, o, h := profileFields(base, inBoth), profileFields(ours, inBoth), profileFields(theirs, inBoth)
	keys := map[string]bool{}
	for _, m := range []map[string]any{o, h} {
		for k := range m {
			keys[k] = true
		}
	}
	same := func(x, y map[string]any, k string) bool {
		v, a := x[k]
		w, b := y[k]
		return a == b && (!a || string(encode(v)) == string(encode(w)))
	}
	out := map[string]any{}
	conflicts := []string{}
	for k := range keys {
		from := o
		switch {
		case same(o, h, k), same(h, b, k):
		case same(o, b, k):
			from = h
		default:
			conflicts = append(conflicts, k)
			from = choose(t, b, o, h)
		}
		if v, given := from[k]; given {
			out[k] = v
		}
	}
	sort.Strings(conflicts)
	profiles := dict{}
	for name := range profilesOf(ours) {
		if inBoth(name) {
			profiles[name] = dict{"params": dict{}}
		}
	}
	rec := dict{"kind": "profile", "v": 1, "profiles": profiles}
	for k, v := range out {
		field, isProfile := strings.CutPrefix(k, "profiles.")
		name, param, one := strings.Cut(field, ".")
		switch {
		case !isProfile:
			rec[k] = v
		case !one:
			profiles[name] = v
		case param == "types":
			profiles[name].(dict)["types"] = v
		default:
			profiles[name].(dict)["params"].(dict)[param] = v
		}
	}
	if len(profiles) > 64 {
		return wholeSide(t, base, ours, theirs)
	}
	if len(rec) == 3 && len(profiles) == 0 {
		return nil, conflicts
	}
	return rec, conflicts
}

// wholeSide returns the result of a merge that would break a rule.
func wholeSide(t take, base, ours, theirs dict) (dict, []string) {
	empty := func(rec dict) func(string) bool {
		return func(name string) bool {
			p := profilesOf(rec)[name].(dict)
			return p["types"] != nil || len(p["params"].(dict)) > 0
		}
	}
	o, h := profileFields(ours, empty(ours)), profileFields(theirs, empty(theirs))
	var differ []string
	for k := range o {
		if v, given := h[k]; !given || string(encode(v)) != string(encode(o[k])) {
			differ = append(differ, k)
		}
	}
	for k := range h {
		if _, given := o[k]; !given {
			differ = append(differ, k)
		}
	}
	sort.Strings(differ)
	return choose(t, base, ours, theirs), differ
}
