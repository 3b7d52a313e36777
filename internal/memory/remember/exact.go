package remember

import (
	"slices"

	"github.com/mnem-project/mnem/graph"
)

// chain is the memories of one type and text, as far as they were looked at: their ids are the first
// next ones of ID. A batch that says one text of many subjects looks at each once.
type chain struct {
	list []*known
	next uint64
}

// exact returns the memory of the very text of a draft that it says again, nil for none, and gives
// the draft the first id that is free. state is what hides one of the same text, "" for nothing.
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

// fits reports whether nothing differs between a draft and a memory beside their texts, as apart
// tells it.
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
