package memory

import (
	"context"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/memory/extract"
)

// EntityKey returns the key of the node of an entity, "" where the name is blank or too long for
// one.
func EntityKey(name string) string { return nodeKey(keyEntity, name) }

// TagKey returns the key of the node of a tag, "" likewise.
func TagKey(name string) string { return nodeKey(keyTag, name) }

func nodeKey(prefix, name string) string {
	folded := extract.Fold(name)
	if folded == "" || len(prefix)+len(folded) > graph.MaxKey {
		return ""
	}
	return prefix + folded
}

// entities links a draft to what it mentions: what the caller names, and what its text names, first
// that which the memory knows. What it is about, it does not mention besides: that would be a second
// node of one name.
func (l *linker) entities(ctx context.Context, d *Draft, subjects []graph.ID, out *Linked) error {
	seen := map[string]bool{}
	if err := l.subjectKeys(ctx, d, subjects, seen); err != nil {
		return err
	}
	add := func(name, why string) {
		key := EntityKey(name)
		if key == "" || seen[key] {
			return
		}
		seen[key] = true
		out.Links = append(out.Links, named(EdgeMentions, d, key, TypeEntity, name, why))
	}
	for _, name := range d.Entities {
		add(name, "named by whoever remembered it")
	}
	known, err := l.knownNames(ctx, d.Text)
	if err != nil {
		return err
	}
	var fresh []extract.Entity
	found := 0
	for _, e := range extract.Entities(d.Text, known) {
		key := EntityKey(e.Name)
		if e.Kind == extract.Date || e.Kind == extract.Version || key == "" || seen[key] {
			continue
		}
		n, err := l.seen(ctx, graph.NodeID(key))
		switch {
		case err != nil:
			return err
		case n == nil:
			fresh = append(fresh, e)
		case found < maxMentions:
			found++
			add(e.Name, "the text has "+e.Name+", which the memory knows")
		}
	}
	for _, e := range fresh {
		if found == maxMentions {
			break
		}
		hidden, err := l.s.Mark(ctx, graph.OnNode, graph.NodeID(EntityKey(e.Name)))
		if err != nil {
			return err
		}
		if hidden == nil { // what was forgotten does not come back by itself
			found++
			add(e.Name, "the text has "+e.Name+": "+string(e.Kind))
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
		keys[key], keys[EntityKey(key)], keys[EntityKey(summary)] = true, true, true
	}
	if d.About.Key != "" {
		add(d.About.Key, "")
	}
	for _, id := range subjects {
		n, _, err := l.s.Node(ctx, id)
		switch {
		case isMissing(err): // it is made by this very commit
		case err != nil:
			return err
		default:
			add(n.Key, n.Summary)
		}
	}
	return nil
}

// named returns a link from a draft to a node that is made where it is missing.
func named(edge string, d *Draft, key, typ, name, why string) Link {
	summary := strings.Join(strings.Fields(name), " ")
	return Link{
		Type: edge, Src: graph.Ref{ID: d.ID}, Dst: graph.Ref{Key: key}, Why: why,
		Makes: &graph.NodeChange{Key: key, Type: typ, Summary: &summary},
	}
}

// knownNames returns the names of entities that the memory knows and whose words stand in a text.
func (l *linker) knownNames(ctx context.Context, text string) ([]string, error) {
	if !l.s.CID().Defined() {
		return nil, nil
	}
	ids, err := l.s.TitlesIn(ctx, text)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, id := range ids {
		n, err := l.seen(ctx, id)
		if err != nil {
			return nil, err
		}
		if n != nil && n.Type == TypeEntity {
			names = append(names, n.Summary)
		}
	}
	return names, nil
}

// keywords links a draft to its tags.
func (l *linker) keywords(d *Draft, out *Linked) {
	seen := map[string]bool{}
	for _, tag := range d.Tags {
		if key := TagKey(tag); key != "" && !seen[key] {
			seen[key] = true
			out.Links = append(out.Links, named(EdgeTagged, d, key, TypeTag, tag, "tag "+tag))
		}
	}
}
