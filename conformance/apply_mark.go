package main

import "math"

// target reads the node or edge that a mark is on, as the key of the tree of marks.
func (b *batch) target(o dict) (string, error) {
	_, onNode := o["node"]
	edge, onEdge := o["edge"]
	if onNode == onEdge {
		return "", fail("member", "either node or edge")
	}
	if onNode {
		id, err := reference(o, "node")
		return "n" + id, err
	}
	id, _, err := b.edgeNamed(edge, false)
	return "e" + id, err
}

func (b *batch) mark(o dict) error {
	_, err := members(o, []string{"node", "edge", "state", "by", "reason", "actor", "time"})
	if err != nil {
		return err
	}
	on, err := b.target(o)
	if err != nil {
		return err
	}
	state, _, err := stringIn(o, "state", 0, 255)
	if err != nil {
		return err
	}
	if !has([]string{"stale", "superseded", "retired", "forgotten", "expired",
		"contradicted"}, state) {
		return fail("state", "the state %q", state)
	}
	rec := dict{"kind": "mark", "v": 1, "on": map[byte]string{'n': "node", 'e': "edge"}[on[0]],
		"id": []byte(on[1:]), "state": state, "actor": b.author, "time": b.time}
	if _, hasBy := o["by"]; hasBy {
		by, err := reference(o, "by")
		if err != nil {
			return err
		}
		if state != "superseded" && state != "contradicted" {
			return fail("state", "by with the state %s", state)
		}
		rec["by"] = []byte(by)
	}
	if err := markText(rec, o); err != nil {
		return err
	}
	b.given["m"+on] = b.line
	if old, ok := b.marks[on]; ok && same(old, rec, "time") {
		b.tally.unchanged++
		return nil
	}
	b.marks[on] = rec
	return nil
}

func markText(rec, o dict) error {
	reason, hasReason, err := stringIn(o, "reason", 1, 4096)
	if err != nil {
		return err
	}
	if hasReason {
		rec["reason"] = reason
	}
	actor, hasActor, err := personIn(o, "actor")
	if err != nil {
		return err
	}
	if hasActor {
		rec["actor"] = actor
	}
	t, hasTime, err := timeIn(o, "time")
	if hasTime {
		rec["time"] = t
	}
	return err
}

func (b *batch) embedding(o dict) error {
	if _, err := members(o, []string{"node", "model", "vector", "sparse"}); err != nil {
		return err
	}
	node, err := reference(o, "node")
	if err != nil {
		return err
	}
	model, hasModel, err := nameIn(o, "model", 255)
	if err == nil && !hasModel {
		err = fail("member", "no model")
	}
	if err != nil {
		return err
	}
	rec := dict{"kind": "embedding", "v": 1, "model": model}
	list, dense := o["vector"]
	terms, sparse := o["sparse"]
	if dense == sparse {
		return fail("member", "either vector or sparse")
	}
	if dense {
		err = denseVector(rec, list)
	} else {
		err = sparseVector(rec, terms)
	}
	if err != nil {
		return err
	}
	k := node + model
	b.vectors[k] = rec
	b.fresh[k] = append(b.fresh[k], rec)
	b.given["v"+k] = b.line
	return nil
}

func denseVector(rec dict, v any) error {
	list, ok := v.([]any)
	if !ok {
		return fail("type", "a vector that is no list")
	}
	if len(list) < 1 || len(list) > 65536 {
		return fail("limit", "%d dimensions", len(list))
	}
	var xs []float64
	for _, e := range list {
		x, ok := asFloat(e)
		if !ok {
			return fail("type", "an item of a vector that is no number")
		}
		xs = append(xs, x)
	}
	q := q8(xs)
	if q == nil {
		return fail("vector", "zeros, or numbers too large")
	}
	rec["dtype"], rec["dims"], rec["vector"] = "i8", len(xs), q
	return nil
}

func sparseVector(rec dict, v any) error {
	terms, ok := v.(dict)
	if !ok {
		return fail("type", "a sparse vector that is no object")
	}
	if len(terms) < 1 || len(terms) > 32768 {
		return fail("limit", "%d terms", len(terms))
	}
	weights := dict{}
	for term, w := range terms {
		x, ok := asFloat(w)
		if !ok {
			return fail("type", "a weight that is no number")
		}
		q := fixedPoint(x)
		if len(term) < 1 || len(term) > 255 || q < 1 || q > math.MaxInt32 {
			return fail("vector", "a term of %d bytes, weight %v", len(term), x)
		}
		weights[term] = int64(q)
	}
	rec["dtype"], rec["dims"], rec["vector"] = "sparse", len(terms), encode(weights)
	return nil
}

func (b *batch) remove(o dict) error {
	if _, err := members(o, []string{"node", "edge", "mark", "embedding"}); err != nil {
		return err
	}
	if len(o) != 1 {
		return fail("member", "one thing is removed by a line")
	}
	if _, ok := o["node"]; ok {
		return b.removeNode(o)
	}
	if v, ok := o["edge"]; ok {
		return b.removeEdges(v)
	}
	if v, ok := o["mark"]; ok {
		m, err := members(v, []string{"node", "edge"})
		if err != nil {
			return err
		}
		on, err := b.target(m)
		if err != nil {
			return err
		}
		if _, ok := b.marks[on]; !ok {
			return fail("missing", "no such mark")
		}
		delete(b.marks, on)
		return nil
	}
	return b.removeEmbedding(o["embedding"])
}

func (b *batch) removeNode(o dict) error {
	id, err := reference(o, "node")
	if err != nil {
		return err
	}
	if _, ok := b.nodes[id]; !ok {
		return fail("missing", "no such node")
	}
	delete(b.nodes, id)
	delete(b.marks, "n"+id)
	for e, rec := range b.edges {
		if text(rec, "src") == id || text(rec, "dst") == id {
			delete(b.edges, e)
			delete(b.marks, "e"+e)
		}
	}
	for k := range b.vectors {
		if k[:16] == id {
			delete(b.vectors, k)
			delete(b.fresh, k)
			delete(b.before, k)
		}
	}
	return nil
}

func (b *batch) removeEdges(v any) error {
	id, all, err := b.edgeNamed(v, true)
	if err != nil {
		return err
	}
	if all == nil {
		all = []string{id}
	}
	for _, id := range all {
		if _, ok := b.edges[id]; !ok {
			return fail("missing", "no such edge")
		}
		delete(b.edges, id)
		delete(b.marks, "e"+id)
	}
	return nil
}

func (b *batch) removeEmbedding(v any) error {
	o, err := members(v, []string{"node", "model"})
	if err != nil {
		return err
	}
	node, err := reference(o, "node")
	if err != nil {
		return err
	}
	model, given, err := nameIn(o, "model", 255)
	if err == nil && !given {
		err = fail("member", "no model")
	}
	if err != nil {
		return err
	}
	k := node + model
	if _, ok := b.vectors[k]; !ok {
		return fail("missing", "no such embedding")
	}
	delete(b.vectors, k)
	delete(b.fresh, k)
	delete(b.before, k)
	return nil
}

// finish checks what had to wait for the end of the batch and completes embeddings.
func (b *batch) finish() error {
	first := 0
	missing := func(key string) {
		if line := b.given[key]; first == 0 || line < first {
			first = line
		}
	}
	for id, e := range b.edges {
		if b.nodes[text(e, "src")] == nil || b.nodes[text(e, "dst")] == nil {
			missing("e" + id)
		}
	}
	for on, m := range b.marks {
		gone := on[0] == 'n' && b.nodes[on[1:]] == nil || on[0] == 'e' && b.edges[on[1:]] == nil
		if by := text(m, "by"); by != "" && b.given["m"+on] > 0 && b.nodes[by] == nil {
			gone = true
		}
		if gone {
			missing("m" + on)
		}
	}
	for k := range b.vectors {
		if b.nodes[k[:16]] == nil {
			missing("v" + k)
		}
	}
	if first > 0 {
		return &lineError{line: first, err: fail("missing", "a reference to nothing")}
	}
	for k, recs := range b.fresh {
		old := b.before[k]
		node := b.nodes[k[:16]]
		for _, rec := range recs {
			rec["text"] = embeddedText(node, b.contentText(node))
			if old != nil && same(old, rec) {
				b.tally.unchanged++
			}
			old = rec
		}
	}
	return nil
}
