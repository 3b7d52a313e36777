package memory

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/retrieve"
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
	ID      graph.ID
	Summary string
	Because string
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
		out.Replaces = append(out.Replaces, Replacing{k.id, k.text, because})
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

// changed says why a draft that tells of a change is about the same as a memory, "" where it is not.
func (p *planner) changed(d *Draft, k *known) (string, error) {
	change := retrieve.Changed(d.Text)
	if change == "" {
		return "", nil
	}
	now, err := retrieve.NewStatement(p.ctx, p.terms, d.Text, p.s.FreshIDFs)
	if err != nil {
		return "", err
	}
	was, err := retrieve.NewStatement(p.ctx, p.terms, k.text, p.s.FreshIDFs)
	if err != nil || !now.Replaces(was) {
		return "", err
	}
	words, terms := p.words(d.Text)
	var about []string
	for _, term := range now.Shared(was) {
		if i := slices.Index(terms, term); i >= 0 && retrieve.Changed(words[i]) == "" {
			about = append(about, words[i])
		}
	}
	if len(about) < leastAbout {
		return "", nil
	}
	about = about[:min(len(about), maxReasons)]
	return fmt.Sprintf("both are about %s, and it tells of a change: %s", strings.Join(about, ", "), change), nil
}

// settle drops proposals that the call itself carried out.
func (r *Remembered) settle() {
	r.Replaces = slices.DeleteFunc(r.Replaces, func(x Replacing) bool { return slices.Contains(r.Superseded, x.ID) })
}
