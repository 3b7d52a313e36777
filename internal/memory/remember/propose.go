package remember

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/rank/stage"
)

const (
	// MaxReplaces is how many memories are proposed to be superseded.
	MaxReplaces = 3
	// leastAbout is how many words both must have beside those that tell of a change: what is new is not
	// about the same as all that is.
	leastAbout = 2
	// maxReasons is how many words and differences a reason names.
	maxReasons = 4
)

// Replacing is a memory that a new one may take the place of. Nothing is done about it.
type Replacing struct {
	ID      graph.ID `json:"supersedes"`
	Summary string   `json:"summary"`
	Because string   `json:"because"`
}

// propose notes that a draft may take the place of a memory: where only values differ, or where both are about
// the same by the rule that answers go by and the draft tells of a change.
func (p *planner) propose(d *Draft, k *known, s *Similar, told bool, out *Remembered) error {
	if len(out.Replaces) == MaxReplaces {
		return nil
	}
	because := ""
	switch apart := func(x Difference) bool { return x.Kind == DiffersSubject || x.Kind == DiffersEntities }; {
	case told && s.Suggest == SuggestSupersede:
		because = "it says the same with " + differing(s.Differs)
	case slices.ContainsFunc(s.Differs, apart):
	default:
		var err error
		if because, err = p.changed(d, k); err != nil {
			return err
		}
	}
	if because != "" {
		out.Replaces = append(out.Replaces, Replacing{k.ID, k.Text, because})
	}
	return nil
}

// differing says what differs between values.
func differing(list []Difference) string {
	var parts []string
	for _, d := range list[:min(len(list), maxReasons)] {
		parts = append(parts, fmt.Sprintf("another %s: %s, was %s", d.Kind, d.A, d.B))
	}
	return strings.Join(parts, "; ")
}

// statement is a draft's text as it is compared with many memories.
type statement struct {
	of           *Draft
	change       string // the first word that tells of a change, "" for none
	said         *stage.Statement
	words, terms []string
}

// stated reads a draft's text once for all memories that it is compared with. The statement itself is only read where
// the text tells of a change.
func (p *planner) stated(d *Draft) (*statement, error) {
	s := &p.said
	if s.of == d {
		return s, nil
	}
	*s = statement{of: d, change: stage.Changed(d.Text)}
	if s.change == "" {
		return s, nil
	}
	s.words, s.terms = p.rare.Words(d.Text)
	var err error
	s.said, err = stage.NewStatement(p.ctx, p.terms, d.Text, p.idfs)
	if err != nil {
		s.of = nil
	}
	return s, err
}

// idfs weighs terms, each of which is looked up once for all memories of a call.
func (p *planner) idfs(ctx context.Context, terms []string) ([]int64, error) {
	var missing []string
	for _, term := range terms {
		if _, ok := p.weights[term]; !ok {
			missing = append(missing, term)
		}
	}
	if len(missing) > 0 {
		found, err := rank.FreshIDFs(ctx, p.s, missing)
		if err != nil {
			return nil, err
		}
		for i, term := range missing {
			p.weights[term] = found[i]
		}
	}
	out := make([]int64, len(terms))
	for i, term := range terms {
		out[i] = p.weights[term]
	}
	return out, nil
}

// changed says why a draft that tells of a change is about the same as a memory, "" where it is not.
func (p *planner) changed(d *Draft, k *known) (string, error) {
	now, err := p.stated(d)
	if err != nil || now.change == "" {
		return "", err
	}
	if k.stated == nil {
		if k.stated, err = stage.NewStatement(p.ctx, p.terms, k.Text, p.idfs); err != nil {
			return "", err
		}
	}
	if !now.said.Replaces(k.stated) {
		return "", nil
	}
	var about []string
	for _, term := range now.said.Shared(k.stated) {
		if i := slices.Index(now.terms, term); i >= 0 && stage.Changed(now.words[i]) == "" {
			about = append(about, now.words[i])
		}
	}
	if len(about) < leastAbout {
		return "", nil
	}
	about = about[:min(len(about), maxReasons)]
	return fmt.Sprintf("both are about %s, and it tells of a change: %s", strings.Join(about, ", "), now.change), nil
}

// settle drops proposals that the call itself carried out.
func (r *Remembered) settle() {
	r.Replaces = slices.DeleteFunc(r.Replaces, func(x Replacing) bool { return slices.Contains(r.Superseded, x.ID) })
}
