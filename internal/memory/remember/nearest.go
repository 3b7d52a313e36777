package remember

import (
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/memory"
)

// nearest looks for the earlier memories that a new one may replace.
func (p *planner) nearest(d *Draft, out *Remembered) error {
	later := &memory.Later{Text: d.Text, Cues: d.Cues, Created: d.Created, Vector: d.Vector}
	found, settle, err := p.rare.Nearest(later, func(id graph.ID) (*memory.Earlier, error) {
		k, err := p.look(id)
		if err != nil || k == nil || !k.statement || id == out.ID {
			return nil, err
		}
		by, err := p.hidden(id)
		if err != nil || by != "" {
			return nil, err
		}
		return &memory.Earlier{Text: k.Text, Cues: k.Cues, Created: k.Created}, nil
	})
	if out.Nearest = found; len(out.Superseded) == 0 {
		out.Settle = settle
	}
	return err
}
