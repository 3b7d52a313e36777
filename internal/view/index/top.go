package index

import (
	"cmp"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/heap"
)

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
	return a.score < b.score || a.score == b.score && t.compare(a, b) > 0
}

// down moves the document at the root to its place in the heap, as heap.Down does without a call for each step.
func (t *top) down() {
	docs, i := t.docs, 0
	moved := docs[0]
	for child := 1; child < len(docs); child = 2*i + 1 {
		if child+1 < len(docs) && t.after(docs[child+1], docs[child]) {
			child++
		}
		if !t.after(docs[child], moved) {
			break
		}
		docs[i], i = docs[child], child
	}
	docs[i] = moved
}

// compare is the order of hits: score descending, id ascending.
func (t *top) compare(a, b ranked) int {
	if a.score != b.score {
		return cmp.Compare(b.score, a.score)
	}
	if a.view == b.view {
		return cmp.Compare(a.doc, b.doc)
	}
	x, err := a.view.id(a.doc)
	y, err2 := b.view.id(b.doc)
	if err == nil {
		err = err2
	}
	if err != nil {
		t.err = err
	}
	return x.Compare(y)
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
	if full && (score < t.docs[0].score || t.after(r, t.docs[0])) || v.dead.Has(doc) {
		return t.err
	}
	if ok, err := v.passes(accept, doc); !ok || err != nil {
		return err
	}
	if full {
		t.docs[0] = r
		t.down()
	} else {
		t.docs = append(t.docs, r)
		heap.Up(t.docs, t.after)
	}
	return t.err
}

// hits returns what was kept in its order.
func (t *top) hits() ([]Hit, error) {
	slices.SortFunc(t.docs, t.compare)
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

// Keeper keeps the best nodes that Accept accepts; nil accepts all. It calls Accept only for nodes that would be among
// the best of those offered so far.
type Keeper struct {
	Accept func(graph.ID) (bool, error)
	Gone   func(graph.ID) // called with a node that is no longer kept; nil for no call
	k      int
	heap   []Hit // the worst at its root
}

// NewKeeper returns a keeper of k nodes, LaneDepth if that is 0.
func NewKeeper(accept func(graph.ID) (bool, error), k int) Keeper {
	if k <= 0 {
		k = LaneDepth
	}
	return Keeper{Accept: accept, k: k}
}

// Take keeps a hit that is among the best so far, if it is accepted.
func (s *Keeper) Take(h Hit) error {
	full := len(s.heap) == s.k
	if full && worse(h, s.heap[0]) {
		return nil
	}
	if s.Accept != nil {
		if ok, err := s.Accept(h.ID); !ok || err != nil {
			return err
		}
	}
	if full {
		if s.Gone != nil {
			s.Gone(s.heap[0].ID)
		}
		s.heap[0] = h
		heap.Down(s.heap, 0, worse)
	} else {
		s.heap = append(s.heap, h)
		heap.Up(s.heap, worse)
	}
	return nil
}

// worse reports whether a ranks after b.
func worse(a, b Hit) bool {
	return a.Score < b.Score || a.Score == b.Score && a.ID.Compare(b.ID) > 0
}

// Hits returns the best nodes in the order (score descending, id ascending).
func (s *Keeper) Hits() []Hit {
	hits := slices.Clone(s.heap)
	slices.SortFunc(hits, Hit.Compare)
	return hits
}
