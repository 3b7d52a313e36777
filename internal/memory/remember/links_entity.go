package remember

import (
	"context"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/memory/extract"
)

// entities links a draft to what it mentions: what the caller names, and what its text names, first
// that which the memory knows. What it is about, it does not mention besides: that would be a second
// node of one name.
func (l *linker) entities(ctx context.Context, d *Draft, subjects []graph.ID, out *Linked) error {
	seen := map[string]bool{}
	if err := l.subjectKeys(ctx, d, subjects, seen); err != nil {
		return err
	}
	to := map[graph.ID]bool{}
	first := len(out.Links)
	var names []string // of what the links from first on lead to
	add := func(name string, at place, why string) {
		key := memory.EntityKey(name)
		if seen[key] = true; to[at.ref.Target()] {
			return
		}
		to[at.ref.Target()] = true
		link := named(memory.EdgeMentions, d, key, memory.TypeEntity, name, why)
		if at.ref.Key != key { // it has another key, and is there
			link.Dst, link.Makes = at.ref, nil
		}
		out.Links = append(out.Links, link)
		names = append(names, name)
	}
	for _, name := range d.Entities {
		if key := memory.EntityKey(name); key == "" || seen[key] {
			continue
		}
		at, err := l.locate(ctx, name, nil)
		if err != nil {
			return err
		}
		add(name, at, "named by the caller")
	}
	if err := l.found(ctx, d, seen, add); err != nil {
		return err
	}
	for i, name := range names {
		if err := l.alias(ctx, name, out.Links[first+i].Dst, out); err != nil {
			return err
		}
	}
	return nil
}

// found links a draft to what its text names.
func (l *linker) found(
	ctx context.Context, d *Draft, seen map[string]bool, add func(name string, at place, why string),
) error {
	known, err := l.titlesIn(ctx, d.Text)
	if err != nil {
		return err
	}
	if known == nil {
		known = titles{}
	}
	type located struct {
		extract.Entity
		place
	}
	var fresh []located
	found := 0
	secrets := memory.Credentials(guard.FindProse(d.Text))
	for _, e := range extract.Entities(d.Text, known.names()) {
		key := memory.EntityKey(e.Name)
		if e.Kind == extract.Date || e.Kind == extract.Version || key == "" || seen[key] ||
			secrets.Has(e) {
			continue
		}
		at, err := l.locate(ctx, e.Name, known)
		switch {
		case err != nil:
			return err
		case !at.there:
			fresh = append(fresh, located{e, at})
		case found < maxMentions:
			found++
			add(e.Name, at, "the text has "+e.Name+", which the memory knows")
		}
	}
	for _, e := range fresh {
		if found == maxMentions {
			break
		}
		if e.hidden {
			continue // what was forgotten does not come back by itself
		}
		mark, err := l.s.Mark(ctx, graph.OnNode, graph.NodeID(memory.EntityKey(e.Name)))
		if err != nil {
			return err
		}
		if mark == nil {
			found++
			add(e.Name, e.place, "the text has "+e.Name+": "+string(e.Kind))
		}
	}
	return nil
}

// subjectKeys adds the keys under which entities are the subjects of a draft: those of the names that
// are their keys and summaries, and their keys themselves.
func (l *linker) subjectKeys(
	ctx context.Context, d *Draft, subjects []graph.ID, keys map[string]bool,
) error {
	add := func(key, summary string) {
		keys[key], keys[memory.EntityKey(key)], keys[memory.EntityKey(summary)] = true, true, true
	}
	if d.About.Key != "" {
		add(d.About.Key, "")
	}
	for _, id := range subjects {
		n, _, err := l.s.Node(ctx, id)
		switch {
		case memory.IsMissing(err): // it is made by this very commit
		case err != nil:
			return err
		default:
			add(n.Key, n.Summary)
		}
	}
	return nil
}

// named returns a link from a draft to a node that is made if it is missing.
func named(edge string, d *Draft, key, typ, name, why string) Link {
	summary := strings.Join(strings.Fields(name), " ")
	return Link{
		Type: edge, Src: graph.Ref{ID: d.ID}, Dst: graph.Ref{Key: key}, Why: why,
		Makes: &graph.NodeChange{Key: key, Type: typ, Summary: &summary},
	}
}

// keywords links a draft to its tags.
func (l *linker) keywords(d *Draft, out *Linked) {
	seen := map[string]bool{}
	for _, tag := range d.Tags {
		if key := memory.TagKey(tag); key != "" && !seen[key] {
			seen[key] = true
			out.Links = append(out.Links, named(memory.EdgeTagged, d, key, memory.TypeTag, tag, "tag "+tag))
		}
	}
}
