package index

import "slices"

// top keeps the best documents offered: a binary heap with the worst at its root.
type top struct {
	k    int
	docs []ranked
	err  error // of reading an id
}

// ranked is a scored document. Within a segment documents are numbered in the order of their ids.
type ranked struct {
	score int64
	view  *view
	doc   uint32
}

func newTop(k int) *top {
	if k <= 0 {
		k = LaneDepth
	}
	return &top{k: k}
}

// after reports whether a ranks after b.
func (t *top) after(a, b ranked) bool {
	if a.score != b.score {
		return a.score < b.score
	}
	if a.view == b.view {
		return a.doc > b.doc
	}
	x, err := a.view.id(a.doc)
	y, err2 := b.view.id(b.doc)
	if err == nil {
		err = err2
	}
	if err != nil {
		t.err = err
	}
	return x.Compare(y) > 0
}

// sink moves the document at i down to its place in the heap.
func (t *top) sink(i int) {
	for {
		child := 2*i + 1
		if child >= len(t.docs) {
			return
		}
		if child+1 < len(t.docs) && t.after(t.docs[child+1], t.docs[child]) {
			child++
		}
		if !t.after(t.docs[child], t.docs[i]) {
			return
		}
		t.docs[i], t.docs[child] = t.docs[child], t.docs[i]
		i = child
	}
}

// rise moves the last document up to its place in the heap.
func (t *top) rise() {
	for i := len(t.docs) - 1; i > 0; {
		parent := (i - 1) / 2
		if !t.after(t.docs[i], t.docs[parent]) {
			return
		}
		t.docs[i], t.docs[parent] = t.docs[parent], t.docs[i]
		i = parent
	}
}

// floor returns a score such that documents of this score and below are out: one less than the
// worst kept, since a document of that score may come first by its id.
func (t *top) floor() uint64 {
	if len(t.docs) < t.k || t.docs[0].score == 0 {
		return 0
	}
	return uint64(t.docs[0].score - 1)
}

// offer takes a document if it is live, passes, and is among the best so far.
func (t *top) offer(v *view, accept Accept, doc uint32, score int64) error {
	r := ranked{score: score, view: v, doc: doc}
	full := len(t.docs) == t.k
	if full && (score < t.docs[0].score || t.after(r, t.docs[0])) || v.dead.has(doc) {
		return t.err
	}
	if ok, err := v.passes(accept, doc); !ok || err != nil {
		return err
	}
	if full {
		t.docs[0] = r
		t.sink(0)
	} else {
		t.docs = append(t.docs, r)
		t.rise()
	}
	return t.err
}

// hits returns what was kept in its order.
func (t *top) hits() ([]Hit, error) {
	slices.SortFunc(t.docs, func(a, b ranked) int {
		switch {
		case t.after(b, a):
			return -1
		case t.after(a, b):
			return 1
		}
		return 0
	})
	out := make([]Hit, len(t.docs))
	for i, r := range t.docs {
		id, err := r.view.id(r.doc)
		if err != nil {
			return nil, err
		}
		out[i] = Hit{ID: id, Score: r.score}
	}
	return out, t.err
}
