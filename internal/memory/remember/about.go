package remember

import (
	"cmp"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/state"
)

// minPrefix is how many digits are no key by chance where an id begins with them.
const minPrefix = 8

// subject finds what a draft is about by its name, if there is no node of the key.
func (p *planner) subject(d *Draft) error {
	key := d.About.Key
	if key == "" || d.literal || p.made[d.About.Target()] {
		return nil
	}
	if n, err := p.linker.node(p.ctx, d.About.Target()); n != nil || err != nil {
		return err
	}
	at, err := p.linker.locate(p.ctx, titleOfKey(key), nil)
	if err != nil {
		return err
	}
	if at.there || p.made[at.ref.Target()] {
		d.About = at.ref
		return nil
	}
	if len(key) >= minPrefix && p.s.CID().Defined() {
		if id, err := p.s.Name(p.ctx, "id:"+key); err == nil {
			return badRequest("about", "%q is no key, but the beginning of the id %s: give all of it, or "+
				"key:%s for a new subject", key, id, key)
		}
	}
	return nil
}

// titleOfKey returns what an entity of a key is called where a mention made it.
func titleOfKey(key string) string {
	return cmp.Or(strings.TrimPrefix(key, memory.EntityPrefix), key)
}

// about links a memory to its subject, which is made if there is none.
func (p *planner) about(d *Draft, k *known, out *Remembered) error {
	if d.About.IsZero() {
		return nil
	}
	var subject *graph.NodeChange
	if d.About.Key != "" {
		name := titleOfKey(d.About.Key)
		subject = &graph.NodeChange{Key: d.About.Key, Type: memory.TypeEntity, Summary: &name}
	} else if n, err := p.look(d.About.ID); err != nil {
		return err
	} else if n == nil {
		return &state.NotFoundError{What: "node", Name: d.About.String()}
	}
	k.subjects = append(k.subjects, d.About.Target())
	return p.link(&Link{
		Type: memory.EdgeAbout, Src: graph.Ref{ID: k.ID}, Dst: d.About, Makes: subject,
		Why: "it is said to be about it",
	}, out)
}
