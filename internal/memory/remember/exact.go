package remember

import (
	"slices"

	"github.com/mnem-project/mnem/graph"
)

// chain lists the memories of one type and text that were looked up so far: their ids are the first next ones of ID. A
// batch that states one text about many subjects looks up each once.
type chain struct {
	list []*known
	next uint64
}

// exact returns the visible memory that has a draft's very text, nil for none; then the draft gets the first free id.
// state is the mark that hides a memory of the same text, "" for none.
func (p *planner) exact(d *Draft, always bool) (same *known, state graph.State, err error) {
	first := ID(d.Type, d.Text, 0)
	c := p.chains[first]
	if c == nil {
		c = new(chain)
		p.chains[first] = c
	}
	subject := d.About.Target()
	for i := 0; ; i++ {
		if i == len(c.list) || always {
			k, err := p.extend(c, d)
			if err != nil || k == nil {
				return nil, state, err
			}
			if always {
				continue
			}
		}
		k := c.list[i]
		if k.Type != d.Type || k.Text != d.Text {
			continue // it was edited since
		}
		if fits, err := p.fits(d, subject, k); err != nil {
			return nil, state, err
		} else if !fits {
			continue // it says it of something else
		}
		by, err := p.hidden(k.ID)
		if err != nil {
			return nil, state, err
		}
		if by == "" {
			return k, "", nil
		}
		state = by
	}
}

// extend looks at the next memory of a chain. If there is none, its id is free: the draft gets it.
func (p *planner) extend(c *chain, d *Draft) (*known, error) {
	d.ID = ID(d.Type, d.Text, c.next)
	k, err := p.look(d.ID)
	if err != nil || k == nil {
		return nil, err
	}
	c.list = append(c.list, k)
	c.next++
	return k, nil
}

// fits reports whether a draft and a memory differ at most in their texts, as apart lists differences.
func (p *planner) fits(d *Draft, subject graph.ID, k *known) (bool, error) {
	if d.Type != k.Type || d.ValidFrom != k.ValidFrom || d.ValidTo != k.ValidTo {
		return false, nil
	}
	if !d.About.IsZero() {
		subjects, err := p.subjects(k)
		if err != nil || !slices.Contains(subjects, subject) {
			return false, err
		}
	}
	return len(d.Entities) == 0 || len(k.Entities) == 0 ||
		slices.ContainsFunc(d.Entities, func(e string) bool { return slices.Contains(k.Entities, e) }), nil
}
