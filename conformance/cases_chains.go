package main

import (
	"strings"
	"unicode/utf8"
)

// refs are the values of refs by name.
type refs map[string]string

// chains are records of sessions by their CIDs.
type chains map[string]dict

// add adds the record after another one, "" for the first of a session.
func (c chains) add(name, prev, actor string) string {
	rec := dict{"kind": "session", "v": 1, "name": name, "seq": 0, "follow": true, "actor": actor, "time": t0}
	if prev != "" {
		rec["seq"], rec["prev"] = c[prev]["seq"].(int)+1, linkOf(prev)
	}
	cid := recordCID(rec).String()
	c[cid] = rec
	return cid
}

// list returns a chain from its newest record back.
func (c chains) list(at string) (out []string) {
	for at != "" {
		out = append(out, at)
		prev, has := c[at]["prev"].(link)
		if at = ""; has {
			at = prev.String()
		}
	}
	return out
}

// place is clause 13.5. It returns nil where the chain is refused.
func (c chains) place(had refs, z string) refs {
	out, here := refs{}, map[string]string{} // the newest records here, and their refs
	name := c[z]["name"].(string)
	stem := stemOf(name)
	held := map[string]bool{}
	for ref, at := range had {
		out[ref] = at
		if strings.HasPrefix(ref, "refs/sessions/"+stem) && c[at]["name"] == name {
			here[at] = ref
			for _, rec := range c.list(at) {
				held[rec] = true
			}
		}
	}
	first := z
	for _, rec := range c.list(z) {
		if ref, ok := here[rec]; ok {
			out[ref] = z
			return out
		}
		if !held[rec] {
			first = rec
		}
	}
	ref := "refs/sessions/" + name
	switch {
	case held[z]:
		return out
	case out[ref] != "":
		ref = "refs/sessions/" + stem + "." + first
	}
	if out[ref] != "" {
		return nil
	}
	out[ref] = z
	return out
}

func stemOf(name string) string {
	if len(name) <= 64 {
		return name
	}
	n := 64
	for !utf8.RuneStart(name[n]) {
		n--
	}
	return strings.TrimRight(name[:n], "./")
}

func chainCases(s *suite) {
	c := chains{}
	grow := func(name, from string, actors ...string) string {
		for _, actor := range actors {
			from = c.add(name, from, actor)
		}
		return from
	}
	base := grow("s", "", "erin", "erin")
	ofA, ofB := grow("s", base, "ana", "ana"), grow("s", base, "bob")
	more, deep, apart := grow("s", ofB, "bob"), grow("s", ofB, "cy"), grow("s", "", "dan", "dan")
	dots, wide := strings.Repeat("x", 63)+".y", strings.Repeat("x", 63)+"äöü"
	const own, at = "refs/sessions/s", "refs/sessions/s."
	for _, one := range []struct {
		name, title string
		had         refs
		place       string
	}{
		{"new", "a session that is not here", refs{}, ofA},
		{"equal", "it is here", refs{own: ofA}, ofA},
		{"ahead", "it grew", refs{own: base}, ofA},
		{"behind", "what is here grew", refs{own: ofA}, base},
		{"diverged", "both grew", refs{own: ofA}, ofB},
		{"diverged-grew", "and the other one again", refs{own: ofA, at + ofB: ofB}, more},
		{"diverged-behind", "what is beside is behind", refs{own: ofA, at + ofB: more}, ofB},
		{"third", "a third one, which begins as the second does", refs{own: ofA, at + ofB: more}, deep},
		{"apart", "one that begins otherwise", refs{own: ofA}, apart},
		{"free", "the chain of the name was removed", refs{at + ofB: ofB}, ofA},
		{"nearest", "of two that are in it the longer grows", refs{own: base, at + ofB: ofB}, more},
		{"stranger", "a session of another name is no chain of it", refs{own: ofA, "refs/sessions/s2": grow("s2", "", "eve")}, ofB},
		{"renamed", "a ref of the name whose records have another", refs{own: grow("t", "", "eve")}, ofA},
		{"taken", "the place beside is taken", refs{own: ofA, at + ofB: grow("t", "", "eve")}, ofB},
		{"dots", "a long name, cut after a dot", refs{"refs/sessions/" + dots: grow(dots, "", "ana")}, grow(dots, "", "bob")},
		{"wide", "and in a character", refs{"refs/sessions/" + wide: grow(wide, "", "ana")}, grow(wide, "", "bob")},
	} {
		records, seen := []any{}, map[string]bool{}
		for _, ref := range append(sortedKeys(one.had), "") {
			tip := one.place
			if ref != "" {
				tip = one.had[ref]
			}
			for _, rec := range c.list(tip) {
				if !seen[rec] {
					seen[rec] = true
					records = append(records, hx(encode(c[rec])))
				}
			}
		}
		in := obj{"records": records, "refs": one.had, "place": one.place}
		if got := c.place(one.had, one.place); got != nil {
			s.add("13.5", "chains", one.name, one.title, in, obj{"refs": got})
		} else {
			s.refuse("13.5", "chains", one.name, one.title, "exists", in)
		}
	}
}

// linkOf is the link of a CID's text.
func linkOf(text string) link {
	b, err := base32Lower.DecodeString(text[1:])
	if err != nil {
		panic(err)
	}
	return link(b)
}
