package remember

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/memory"
)

const (
	// MaxNearest is how many earlier memories are told of.
	MaxNearest = 3
	// maxNearer is how many are looked at for these.
	maxNearer = 16
)

// Nearest is an earlier memory that is about the same as a new one, which may replace it.
type Nearest struct {
	ID   graph.ID `json:"id"`
	Date string   `json:"date"` // YYYY-MM-DD
	Text string   `json:"text"`

	near    int64
	created graph.Time
}

// nearest looks for the earlier memories that a new one may replace, by their words, cues and vectors. Nothing is done
// about them: only the caller knows whether one is replaced.
func (p *planner) nearest(d *Draft, out *Remembered) error {
	list, cosines, err := p.nearer(d)
	if err != nil || len(list) == 0 {
		return err
	}
	said, err := p.rare.Wording(d.Text, d.Cues)
	if err != nil {
		return err
	}
	var found []Nearest
	for _, k := range list {
		by, err := p.hidden(k.ID)
		if err != nil {
			return err
		}
		if by != "" || !k.statement || k.ID == out.ID || k.Created > d.Created {
			continue
		}
		old, err := p.rare.Wording(k.Text, k.Cues)
		if err != nil {
			return err
		}
		cosine, has := cosines[k.ID]
		if !has {
			cosine = -1
		}
		n := Nearest{k.ID, k.Created.String()[:len("2006-01-02")], k.Text, memory.Nearness(said.Like(old), cosine), k.Created}
		if memory.IsNear(n.near) {
			found = append(found, n)
		}
	}
	slices.SortFunc(found, func(a, b Nearest) int {
		return cmp.Or(cmp.Compare(b.near, a.near), cmp.Compare(b.created, a.created), a.ID.Compare(b.ID))
	})
	settled := len(out.Superseded) > 0
	if i := slices.IndexFunc(found, func(n Nearest) bool {
		return memory.MayReplace(n.near, n.created, d.Created)
	}); i >= 0 && !settled {
		out.Settle = found[i].ID
		first := found[i]
		found = slices.Insert(slices.Delete(found, i, i+1), 0, first)
	}
	out.Nearest = found[:min(len(found), MaxNearest)]
	return nil
}

// nearer returns the memories of the snapshot that have the rarest words of a draft and its cues, and those whose
// vectors are close, with their cosines.
func (p *planner) nearer(d *Draft) ([]*known, map[graph.ID]int64, error) {
	if !p.s.CID().Defined() {
		return nil, nil, nil
	}
	query, err := p.rare.Query(d.Text + "\n" + strings.Join(d.Cues, "\n"))
	if err != nil {
		return nil, nil, err
	}
	var ids []graph.ID
	var cosines map[graph.ID]int64
	if query != "" {
		if ids, err = p.nearbyText(query, maxNearer); err != nil {
			return nil, nil, err
		}
	}
	if d.Vector != nil && d.Vector.DType != graph.Sparse {
		var more []graph.ID
		if more, cosines, err = p.nearbyVector("", d); err != nil {
			return nil, nil, err
		}
		ids = append(ids, more...)
	}
	slices.SortFunc(ids, graph.ID.Compare)
	var out []*known
	for _, id := range slices.Compact(ids) {
		k, err := p.look(id)
		if err != nil {
			return nil, nil, err
		}
		if k != nil {
			out = append(out, k)
		}
	}
	return out, cosines, nil
}
