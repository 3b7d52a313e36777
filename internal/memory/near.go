package memory

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

const (
	// MaxNearest is how many earlier memories are reported.
	MaxNearest = 3
	// mostWords and mostVectors bound the candidates for these, by words and by vectors.
	mostWords, mostVectors = 16, 8
)

// Later is a memory that may replace an earlier one.
type Later struct {
	ID      graph.ID // zero unless the snapshot has it
	Text    string
	Cues    []string
	Created graph.Time
	Vector  *graph.Embedding // dense; nil for none
}

// Earlier is a memory that may be replaced.
type Earlier struct {
	Text    string
	Cues    []string
	Created graph.Time
}

// Nearest is an earlier memory about the same thing as a later one, which may replace it.
type Nearest struct {
	ID   graph.ID `json:"id"`
	Date string   `json:"date"` // YYYY-MM-DD
	Text string   `json:"text"`

	near    int64
	created graph.Time
}

// Nearest returns at most MaxNearest earlier memories of the snapshot that a later one may replace, by their words, cues
// and vectors. It also returns the id of the first if that is near enough to ask the caller, else zero. earlier returns
// a memory by its id, nil for one that cannot be replaced. Nearest changes nothing: only the author can decide.
func (w *RareWords) Nearest(
	l *Later, earlier func(graph.ID) (*Earlier, error),
) (found []Nearest, settle graph.ID, err error) {
	if !w.s.CID().Defined() {
		return nil, settle, nil
	}
	defer w.except(nil)
	if !l.ID.IsZero() { // as if the snapshot did not have it yet
		_, own := w.Words(l.Text + "\n" + strings.Join(l.Cues, "\n"))
		w.except(own)
	}
	ids, cosines, err := w.nearer(l)
	if err != nil {
		return nil, settle, err
	}
	var said *Wording
	vectors := len(cosines) > 0 // one scale for all, so that their nearness compares
	for _, id := range ids {
		old, err := earlier(id)
		if err != nil {
			return nil, settle, err
		}
		if old == nil || id == l.ID || old.Created > l.Created {
			continue
		}
		if said == nil {
			if said, err = w.Wording(l.Text, l.Cues); err != nil {
				return nil, settle, err
			}
		}
		its, err := w.Wording(old.Text, old.Cues)
		if err != nil {
			return nil, settle, err
		}
		near := Nearness(said.Like(its), cosines[id], vectors)
		found = append(found, Nearest{id, old.Created.String()[:len("2006-01-02")], old.Text, near, old.Created})
	}
	slices.SortFunc(found, func(a, b Nearest) int {
		return cmp.Or(cmp.Compare(b.near, a.near), cmp.Compare(b.created, a.created), a.ID.Compare(b.ID))
	})
	if i := replaced(found, vectors, l.Created); i >= 0 {
		first := found[i]
		settle = first.ID
		found = slices.Insert(slices.Delete(found, i, i+1), 0, first)
	}
	found = slices.DeleteFunc(found, func(n Nearest) bool { return n.ID != settle && !IsNear(n.near, vectors) })
	return found[:min(len(found), MaxNearest)], settle, nil
}

// replaced returns the place of the memory that one of a time may replace, -1 for none. The list is sorted, the nearest first.
func replaced(list []Nearest, vectors bool, now graph.Time) int {
	return slices.IndexFunc(list, func(n Nearest) bool {
		next := int64(0)
		for _, other := range list[:min(2, len(list))] {
			if other.ID != n.ID {
				next = other.near
				break
			}
		}
		return MayReplace(n.near, next, vectors, now-n.created)
	})
}

// nearer returns, by id, the memories of the snapshot with the rarest words of a memory and its cues, and those with
// close vectors, with their cosines.
func (w *RareWords) nearer(l *Later) (ids []graph.ID, cosines map[graph.ID]int64, err error) {
	query, err := w.Query(l.Text + "\n" + strings.Join(l.Cues, "\n"))
	if err != nil {
		return nil, nil, err
	}
	before := func(d source.Document) bool { return d.ID() != l.ID && d.Times().Created <= l.Created }
	if query != "" {
		if ids, err = NearText(w.ctx, w.s, query, mostWords, before); err != nil {
			return nil, nil, err
		}
	}
	if l.Vector != nil && l.Vector.DType != graph.Sparse {
		req := retrieve.Request{}
		if !l.ID.IsZero() {
			req.Exclude, req.CreatedTo = []graph.ID{l.ID}, graph.At(l.Created+1)
		}
		var more []graph.ID
		if more, cosines, err = NearVector(w.ctx, w.s, req, l.Vector, mostVectors); err != nil {
			return nil, nil, err
		}
		ids = append(ids, more...)
	}
	slices.SortFunc(ids, graph.ID.Compare)
	return slices.Compact(ids), cosines, nil
}

// NearText returns the visible nodes that have most of some words, of those that fits accepts; nil accepts all. It ranks
// by words alone, so that no more is read than what the best of them need: names and times make no text like another.
func NearText(
	ctx context.Context, s *core.Snapshot, words string, most int, fits func(source.Document) bool,
) ([]graph.ID, error) {
	hits, err := rank.Texts(ctx, s, words, func(d source.Document) (bool, error) {
		if fits != nil && !fits(d) {
			return false, nil
		}
		m, err := s.Mark(ctx, graph.OnNode, d.ID())
		return IsShown(m), err
	}, most)
	ids := make([]graph.ID, len(hits))
	for i, h := range hits {
		ids[i] = h.ID
	}
	return ids, err
}

// NearVector adds a vector to a request, and returns the nodes that it finds and the cosines of those that the vector found.
func NearVector(
	ctx context.Context, s *core.Snapshot, req retrieve.Request, v *graph.Embedding, most int,
) ([]graph.ID, map[graph.ID]int64, error) {
	req.Limit, req.Budget, req.Expand, req.SummaryCap = &most, new(0), new(0), new(1)
	req.Spelling, req.Settled, req.Floor = retrieve.SpellingOff, true, retrieve.FloorRest
	req.Ranking = retrieve.PlainRanking // memories that say the same share words, so kindred words are not needed
	if req.Text != "" {
		req.Weights = []retrieve.LaneWeight{{Lane: retrieve.LaneText, Weight: fixed.One}, {Lane: retrieve.LaneTime}}
	}
	req.Vectors = []retrieve.QueryVector{{Model: v.Model, Values: v.Int8()}}
	answer, err := rank.Retrieve(ctx, s, req)
	if err != nil {
		return nil, nil, err
	}
	ids, cosines := make([]graph.ID, len(answer.Items)), map[graph.ID]int64{}
	for i, item := range answer.Items {
		ids[i] = item.ID
		for _, hit := range item.Lanes {
			if hit.Lane == retrieve.LaneDense(v.Model) {
				cosines[item.ID] = min(max(hit.Score, 0), fixed.One)
			}
		}
	}
	return ids, cosines, nil
}

// LaterOf returns a memory of the snapshot as one that may replace others, with its first dense embedding.
func LaterOf(ctx context.Context, s *core.Snapshot, n *graph.Node) (*Later, error) {
	out := &Later{ID: n.ID, Text: n.Summary, Cues: n.Cues, Created: n.Created}
	var err error
	out.Vector, err = s.DenseEmbedding(ctx, n.ID)
	return out, err
}
