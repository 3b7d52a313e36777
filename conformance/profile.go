package main

import (
	"sort"
	"strings"
)

// profileRecord adds the parameters of clauses 8.1 that are about edge types and profiles.
func (q request) profileRecord(r dict) {
	weights := dict{}
	for typ, w := range q.edgeWeights {
		if w != one {
			weights[typ] = w
		}
	}
	if len(weights) > 0 {
		r["edgeWeights"] = weights
	}
	if q.profile != "" {
		r["profile"] = q.profile
	}
}

// edgeWeight is w of clause 10, 3.
func (q request) edgeWeight(edge dict) int64 {
	typ := text(edge, "type")
	w, given := q.edgeWeights[typ]
	if !given {
		w = one
	}
	if q.second() && q.intent != "when" && (typ == "follows" || typ == "near") {
		w = 0
	}
	return number(edge, "weight") * w / one
}

func (q request) edgeWarning(a *answer) {
	for _, w := range q.edgeWeights {
		if w != one && (q.expand == 0 || q.blank()) {
			a.warnings = append(a.warnings, dict{"code": "edge_weights_unused"})
			return
		}
	}
}

// mayProfile are the parameters of clause 23.1 that a profile may have.
var mayProfile = []string{"fusion", "weights", "limit", "budget", "expand", "expandTypes",
	"edgeWeights", "direction", "adjacency", "show", "summaryCap", "dedup", "mmr", "order", "spelling",
	"maxExpand", "tokenizer", "community", "summarize", "expansion", "decay", "damping", "pack",
	"passageTokens", "feedback", "oversample", "floor", "altitude"}

// builtIn are the parameters of the profiles of clause 23.4.
func builtIn() map[string]dict {
	return map[string]dict{
		"default": {},
		"chat":    {"limit": int64(40), "show": []any{"times"}},
		"docs":    {"expand": int64(1), "show": []any{"content"}, "dedup": true},
		"code":    {"adjacency": int64(3), "show": []any{"key"}},
	}
}

// profilesOf are the profiles of a record, nil for none.
func profilesOf(rec dict) dict {
	if rec == nil {
		return dict{}
	}
	return rec["profiles"].(dict)
}

// profileOf is clause 23.2, 1 to 4: the name, empty for a name that there is none of.
func profileOf(rec, gives dict) string {
	own := profilesOf(rec)
	exists := func(name string) bool {
		_, a := own[name]
		_, b := builtIn()[name]
		return a || b
	}
	if name, named := gives["profile"].(string); named {
		if exists(name) {
			return name
		}
		return ""
	}
	wanted, _ := gives["types"].([]any)
	best, least := "", 0
	for _, name := range sortedNames(own) {
		types, _ := own[name].(dict)["types"].([]any)
		all := len(wanted) > 0
		for _, w := range wanted {
			found := false
			for _, typ := range types {
				found = found || typ == w
			}
			all = all && found
		}
		if all && (best == "" || len(types) < least) {
			best, least = name, len(types)
		}
	}
	if best != "" {
		return best
	}
	if name, given := rec["default"].(string); given && exists(name) {
		return name
	}
	return "default"
}

func sortedNames(m dict) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// lanesOf are the lanes of a request that may be given weights.
func lanesOf(gives dict) []string {
	var lanes []string
	if s, _ := gives["text"].(string); trimmed(s) != "" {
		lanes = append(lanes, "text")
	}
	models, _ := gives["vectors"].(dict)
	for model := range models {
		lanes = append(lanes, "dense:"+model)
	}
	models, _ = gives["sparse"].(dict)
	for model := range models {
		lanes = append(lanes, "sparse:"+model)
	}
	return lanes
}

// profiled is the field request of a receipt: what a request gives, the rest from its profile and
// from 8.1. It has the class of what is refused.
func profiled(rec, gives dict) (dict, string) {
	name := profileOf(rec, gives)
	if name == "" {
		return nil, "profile"
	}
	params := builtIn()[name]
	own, isOwn := profilesOf(rec)[name].(dict)
	if isOwn {
		params = own["params"].(dict)
	}
	out := dict{"limit": int64(10), "budget": int64(2000), "direction": "both",
		"adjacency": int64(0), "summaryCap": int64(8192)}
	for param, v := range params {
		if !has(mayProfile, param) {
			return nil, "profile"
		}
		out[param] = v
	}
	for param, v := range gives {
		out[param] = v
	}
	apart(out, params, gives)
	if !together(out) {
		return nil, "request"
	}
	if _, given := out["expand"]; !given {
		out["expand"] = int64(3)
		if out["expansion"] == "ppr" {
			out["expand"] = int64(20)
		}
	}
	lanes := lanesOf(gives)
	given, _ := out["weights"].(dict)
	if w, ok := given["entity"].(int64); ok && w > 0 && has(lanes, "text") {
		lanes = append(lanes, "entity")
	}
	if _, given := gives["weights"]; given {
		if _, alsoFusion := gives["fusion"]; !alsoFusion && out["fusion"] == "rrf" {
			delete(out, "fusion")
		}
	} else if weights, any := out["weights"].(dict); any {
		count := false // whether a lane would be left
		for _, lane := range lanes {
			w, weighed := weights[lane]
			count = count || !weighed || w != int64(0)
		}
		fitting := dict{}
		for lane, w := range weights {
			dated := lane == "time" && has(lanes, "text")
			if dated || has(lanes, lane) && len(lanes) > 1 && out["fusion"] != "rrf" && count {
				fitting[lane] = w
			}
		}
		out["weights"] = fitting
	}
	if _, given := gives["edgeWeights"]; !given && (out["expand"] == int64(0) || len(lanes) == 0) {
		delete(out, "edgeWeights")
	}
	delete(out, "profile")
	if name != "default" || isOwn {
		out["profile"] = name
	}
	return withoutDefaults(out), ""
}

// apart takes out of a request what clause 23.2 says of parameters that go with each other alone.
func apart(out, params, gives dict) {
	drop := func(param string, when bool) {
		if _, given := gives[param]; when && !given {
			delete(out, param)
		}
	}
	lend := func(way any) any {
		if way == nil {
			return "lend"
		}
		return way
	}
	way := lend(out["expansion"])
	for _, param := range []string{"expand", "decay", "damping"} {
		drop(param, way != lend(params["expansion"]))
	}
	drop("decay", way != "decay")
	drop("damping", way != "ppr")
	rounds, _ := out["expand"].(int64)
	drop("expand", rounds > 4 && way != "ppr")
	drop("passageTokens", !trims(out))
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

// withoutDefaults makes a request what clause 13.1 keeps.
func withoutDefaults(out dict) dict {
	s, _ := out["text"].(string)
	out["text"] = cidOf(codecRaw, []byte(s))
	if weights, given := out["edgeWeights"].(dict); given {
		other := dict{}
		for typ, w := range weights {
			if w != one {
				other[typ] = w
			}
		}
		out["edgeWeights"] = other
	}
	for param, v := range out {
		switch v := v.(type) {
		case []any:
			var names []string
			for _, e := range v {
				names = append(names, e.(string))
			}
			if out[param] = sortedSet(names); len(v) == 0 {
				delete(out, param)
			}
		case dict:
			if len(v) == 0 {
				delete(out, param)
			}
		}
	}
	if out["pack"] == "passages" && out["passageTokens"] == nil {
		out["passageTokens"] = int64(256)
	}
	if out["pack"] == "auto" && out["passageTokens"] == nil {
		out["passageTokens"] = int64(64)
	}
	for param, v := range map[string]any{"fusion": "convex", "order": "rank", "dedup": false,
		"expansion": "lend", "decay": int64(45875), "damping": int64(55706), "pack": "whole",
		"spelling": "on", "maxExpand": int64(100), "tokenizer": "estimate", "community": false,
		"summarize": int64(0), "feedback": int64(0), "oversample": int64(256), "floor": "maybe",
		"format": "yaml", "altitude": "entity"} {
		if out[param] == v {
			delete(out, param)
		}
	}
	return out
}

// profileFields are the fields of clause 23.3 of a record, of which apart names the profiles whose
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

// wholeSide is what a merge gives that would break a rule.
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
