package main

// edgeEnds reads type, src and dst, which may all be absent where whole is false.
func edgeEnds(o dict) (src, typ, dst string, given int, err error) {
	typ, hasType, err := nameIn(o, "type", 255)
	if err != nil {
		return "", "", "", 0, err
	}
	if hasType {
		given++
	}
	ends := map[string]string{}
	for _, name := range []string{"src", "dst"} {
		if _, ok := o[name]; !ok {
			continue
		}
		if ends[name], err = reference(o, name); err != nil {
			return "", "", "", 0, err
		}
		given++
	}
	return ends["src"], typ, ends["dst"], given, nil
}

func (b *batch) edge(o dict) error {
	if _, err := members(o, edgeMembers); err != nil {
		return err
	}
	src, typ, dst, given, err := edgeEnds(o)
	if err != nil {
		return err
	}
	key, hasKey, err := nameIn(o, "key", 512)
	if err != nil {
		return err
	}
	id, hasID, err := idIn(o, "id")
	if err != nil {
		return err
	}
	old := b.edges[id]
	switch {
	case hasID && old != nil:
		if src != "" && src != text(old, "src") || dst != "" && dst != text(old, "dst") ||
			typ != "" && typ != text(old, "type") {
			return fail("id", "the ends and the type of an edge never change")
		}
		src, typ, dst = text(old, "src"), text(old, "type"), text(old, "dst")
	case given != 3:
		return fail("member", "a new edge needs type, src and dst")
	}
	if hash := edgeIDOf(src, typ, dst, key); hasID && hasKey && id != hash {
		return fail("id", "key and id disagree")
	} else if !hasID {
		id = hash
		old = b.edges[id]
	}
	rec := dict{"kind": "edge", "v": 1, "id": []byte(id), "type": typ, "src": []byte(src),
		"dst": []byte(dst), "props": dict{}, "weight": int64(65536)}
	if hasKey {
		rec["key"] = key
	}
	return b.putEdge(id, old, rec, o)
}

// putEdge stores the edge of a line; rec is the record that the line would make for a free id.
func (b *batch) putEdge(id string, old, rec, o dict) error {
	replace, err := boolIn(o, "replace")
	if err != nil {
		return err
	}
	if old != nil && replace {
		rec = with(rec, keep(old, "key"))
	} else if old != nil {
		rec = with(old, nil)
	}
	weight, hasWeight, err := weightIn(o)
	if err != nil {
		return err
	}
	if hasWeight {
		rec["weight"] = weight
	}
	if err := b.common(rec, o, edgeUnset); err != nil {
		return err
	}
	if rec["weight"] == nil {
		rec["weight"] = int64(65536)
	}
	created, hasCreated, err := timeIn(o, "created")
	if err != nil {
		return err
	}
	b.given["e"+id] = b.line
	if old != nil && same(old, rec, "created") {
		b.tally.unchanged++
		return nil
	}
	if old != nil {
		rec["created"] = old["created"]
	} else {
		rec["created"] = b.time
	}
	if hasCreated {
		rec["created"] = created
	}
	b.edges[id] = rec
	return nil
}

// edgeNamed reads the object that names an edge in mark and remove; all is false but where the
// object has "all": true, and then id is empty.
func (b *batch) edgeNamed(v any, allowAll bool) (id string, all []string, err error) {
	allowed := []string{"id", "type", "src", "dst", "key"}
	if allowAll {
		allowed = append(allowed, "all")
	}
	o, err := members(v, allowed)
	if err != nil {
		return "", nil, err
	}
	id, hasID, err := idIn(o, "id")
	if err != nil || hasID && len(o) == 1 {
		return id, nil, err
	}
	src, typ, dst, given, err := edgeEnds(o)
	if err != nil {
		return "", nil, err
	}
	key, hasKey, err := nameIn(o, "key", 512)
	if err != nil {
		return "", nil, err
	}
	every, hasAll := o["all"]
	if hasID || given != 3 || hasAll && (every != true || hasKey) {
		return "", nil, fail("member", "an edge is named by id, or by type, src and dst")
	}
	if !hasAll {
		return edgeIDOf(src, typ, dst, key), nil, nil
	}
	for id, e := range b.edges {
		if text(e, "src") == src && text(e, "dst") == dst && text(e, "type") == typ {
			all = append(all, id)
		}
	}
	if all == nil {
		err = fail("missing", "no edge of that type between the two")
	}
	return "", all, err
}
