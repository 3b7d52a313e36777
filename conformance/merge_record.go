package main

import (
	"sort"
	"strings"
)

// flat is a record whose properties are fields too, as props.NAME; nil is the absent record.
type flat map[string]any

func flatten(rec dict) flat {
	if rec == nil {
		return nil
	}
	out := flat{}
	for k, v := range rec {
		if k != "props" {
			out[k] = v
			continue
		}
		for name, p := range v.(dict) {
			out["props."+name] = p
		}
	}
	return out
}

func (f flat) record() dict {
	out := dict{}
	if f["kind"] != "mark" {
		out["props"] = dict{}
	}
	for k, v := range f {
		if name, ok := strings.CutPrefix(k, "props."); ok {
			out["props"].(dict)[name] = v
		} else {
			out[k] = v
		}
	}
	return out
}

// of encodes the named values together, absent ones distinctly.
func (f flat) of(names []string) string {
	out := ""
	for _, n := range names {
		if v, ok := f[n]; ok {
			out += "1" + string(encode(v))
		} else {
			out += "0"
		}
	}
	return out
}

// take names a side of a merge.
type take string

func choose[T any](t take, base, ours, theirs T) T {
	return map[take]T{"base": base, "ours": ours, "theirs": theirs}[t]
}

// timesOf are the fields of a kind that are no facts.
func timesOf(kind string) []string {
	return map[string][]string{"node": {"created", "updated"}, "edge": {"created"},
		"mark": {"time"}}[kind]
}

// groupsOf are the sets of fields that merge as one value (clause 14.2).
func groupsOf(kind string, sides ...flat) [][]string {
	all := map[string]bool{}
	for _, s := range sides {
		for name := range s {
			if !has(timesOf(kind), name) {
				all[name] = true
			}
		}
	}
	joined := []string{}
	if kind == "edge" {
		joined = []string{"type", "src", "dst", "key"}
	}
	var names []string
	for name := range all {
		names = append(names, name)
	}
	sort.Strings(names)
	if kind == "mark" {
		return [][]string{names}
	}
	groups := [][]string{joined}
	for _, name := range names {
		if !has(joined, name) {
			groups = append(groups, []string{name})
		}
	}
	return groups
}

// mergeRecord is clause 14.2: the merged record, or nil, what kind of conflict there is, and the
// fields that conflict.
func mergeRecord(kind string, b, l, r dict, t take) (out dict, cause string, fields []string) {
	if sameRecord(l, r) || sameRecord(r, b) {
		return l, "", nil
	}
	if sameRecord(l, b) {
		return r, "", nil
	}
	if l == nil || r == nil {
		other := l
		if l == nil {
			other = r
		}
		if same(b, other, timesOf(kind)...) {
			return nil, "", nil
		}
		return choose(t, b, l, r), "delete_modify", nil
	}
	cause = "edit_edit"
	if b == nil {
		cause = "add_add"
	}
	if b == nil && t == "base" {
		t, cause = "ours", "add_add "
	}
	out, fields = settled(kind, b, l, r, t)
	if len(fields) == 0 {
		return out, "", nil
	}
	all := map[string]bool{}
	for _, f := range fields {
		all[f] = true
	}
	for _, side := range []take{"ours", "theirs"} {
		_, more := settled(kind, b, l, r, side)
		for _, f := range more {
			all[f] = true
		}
	}
	fields = nil
	for f := range all {
		fields = append(fields, f)
	}
	sort.Strings(fields)
	if cause == "add_add " {
		return nil, "add_add", fields
	}
	return out, cause, fields
}

// settled is the record taking a side, and what conflicts in it, step 4 of clause 14.2 included.
func settled(kind string, b, l, r dict, t take) (out dict, fields []string) {
	for _, forced := range [][]string{nil, {"validFrom", "validTo"}} {
		out, fields = mergeFlat(kind, flatten(b), flatten(l), flatten(r), t, forced)
		if checkWhole2(out) == nil {
			return out, fields
		}
	}
	fields = nil
	ours, theirs := flatten(l), flatten(r)
	for _, group := range groupsOf(kind, ours, theirs) {
		for _, name := range group {
			if one := []string{name}; ours.of(one) != theirs.of(one) {
				fields = append(fields, name)
			}
		}
	}
	return choose(t, b, l, r), fields
}

func checkWhole2(rec dict) error {
	if _, ok := rec["props"]; !ok {
		return nil
	}
	return checkWhole(rec)
}

func sameRecord(a, b dict) bool {
	return (a == nil) == (b == nil) && (a == nil || recordCID(a) == recordCID(b))
}

func mergeFlat(kind string, b, l, r flat, t take, forced []string) (dict, []string) {
	out := flat{}
	var fields []string
	from := l // whose mark it is
	for _, group := range groupsOf(kind, b, l, r) {
		pb, pl, pr := b.of(group), l.of(group), r.of(group)
		must := len(group) == 1 && has(forced, group[0]) && pl != pr
		side := l
		switch {
		case must || pl != pr && pr != pb && pl != pb || b == nil && kind == "mark" && pl != pr:
			for _, name := range group {
				if one := []string{name}; l.of(one) != r.of(one) {
					fields = append(fields, name)
				}
			}
			side = choose(t, b, l, r)
		case pl != pr && pl == pb:
			side = r
		}
		for _, name := range group {
			if v, ok := side[name]; ok {
				out[name] = v
			}
		}
		from = side
	}
	mergeTimes(kind, out, b, l, r, from)
	return out.record(), fields
}

func mergeTimes(kind string, out, b, l, r, from flat) {
	least := func(name string) {
		one := []string{name}
		switch {
		case l.of(one) == r.of(one), r.of(one) == b.of(one):
			out[name] = l[name]
		case l.of(one) == b.of(one):
			out[name] = r[name]
		default:
			out[name] = min(number(dict(l), name), number(dict(r), name))
		}
	}
	if kind == "mark" {
		if same(dict(l), dict(r), "time") {
			least("time")
		} else if from != nil {
			out["time"] = from["time"]
		}
		return
	}
	least("created")
	if kind != "node" {
		return
	}
	for _, side := range []flat{l, r} {
		if _, ok := side["updated"]; ok {
			at := number(dict(side), "updated")
			if old, ok := out["updated"]; !ok || at > old.(int64) {
				out["updated"] = at
			}
		}
	}
	if _, ok := out["updated"]; ok && number(dict(out), "updated") == number(dict(out), "created") {
		delete(out, "updated")
	}
}
