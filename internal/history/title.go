package history

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/state"
)

const (
	// TitleLength is the longest title in scalars, before escapes.
	TitleLength = 60
	// titleReads is how many changed nodes, and how many marks, are read for a title.
	titleReads = 16
	// titleChunks is how many chunks of trees are read to count embeddings or digests. The count of a larger commit
	// is a lower bound.
	titleChunks = 40
	// titleNames is how many nodes a title names.
	titleNames = 2
	// leastRoom is the minimum space for a name, in scalars.
	leastRoom = 16
	// titleSpace bounds how much of a text is read for its single line.
	titleSpace = 4 * TitleLength
)

// Titler makes titles: one-line summaries of a commit, a list or an answer. They are computed when displayed and never
// stored. Titles do not name hidden or erased items, or texts with an apparent credential. Safe for concurrent use.
type Titler struct {
	Tip *core.Snapshot // items that it no longer has are not named; nil for no such rule
	Now *core.Snapshot // items that it hides are not named; nil for no such rule
}

// Commit returns a title for a difference with the given numbers of nodes and edges, "" if there is none. It reads
// a bounded number of nodes, however many differ.
func (t Titler) Commit(ctx context.Context, d state.Diff, nodes, edges state.Counts) (string, error) {
	switch {
	case nodes.Zero() && edges.Zero():
		n, exact, err := prolly.CountDiffWithin(ctx, d.From.Vectors, d.To.Vectors, titleChunks)
		if all := n.Added + n.Changed + n.Removed; err == nil && all > 0 {
			return atLeast(all, exact, "embedding", "embeddings"), nil
		}
		if err == nil {
			n, exact, err = prolly.CountDiffWithin(ctx, d.From.Digests, d.To.Digests, titleChunks)
		}
		if all := n.Added + n.Changed; err == nil && all > 0 {
			return atLeast(all, exact, "digest", "digests"), nil
		}
		return "", err
	case nodes.Zero() && edges == state.Counts{Added: 1}:
		return t.link(ctx, d)
	}
	o, err := t.open(ctx, d, nodes)
	if err != nil {
		return "", err
	}
	return titled(o.head(nodes, edges), o.names, o.more), nil
}

// Nodes returns the names of nodes, "" if none may be named.
func (t Titler) Nodes(ctx context.Context, s *core.Snapshot, ids []graph.ID) (string, error) {
	var names []string
	for _, id := range ids[:min(titleReads, len(ids))] {
		n, _, err := s.State.Node(ctx, id)
		if errors.Is(err, store.ErrRedacted) || err == nil && n == nil {
			continue
		}
		name := ""
		if err == nil {
			name, err = t.name(ctx, s.State, n)
		}
		if err != nil {
			return "", err
		}
		if name != "" {
			names = append(names, name)
		}
	}
	return titled("", names, len(ids) > titleReads), nil
}

// opened holds what was read of a difference.
type opened struct {
	names    []string // of added nodes, otherwise of changed ones
	more     bool     // whether some were not read
	memories int      // added nodes that are more than a name, among those read
	marked   map[graph.State]int
}

// open reads the first nodes and marks that differ.
func (t Titler) open(ctx context.Context, d state.Diff, nodes state.Counts) (*opened, error) {
	o, read := &opened{marked: map[graph.State]int{}}, 0
	for c, err := range prolly.Diff(ctx, d.From.Nodes, d.To.Nodes) {
		if err != nil {
			return nil, fmt.Errorf("diff: %w", err)
		}
		if read++; read > titleReads {
			o.more = true
			break
		}
		if c.New == nil || c.Old != nil && nodes.Added > 0 {
			continue
		}
		n, _, err := d.To.Node(ctx, graph.ID(c.Key))
		switch {
		case errors.Is(err, store.ErrRedacted):
			o.memories++
			continue
		case err != nil:
			return nil, err
		case source.IsName(n):
			continue
		}
		o.memories++
		name, err := t.name(ctx, d.To, n)
		if err != nil {
			return nil, err
		}
		if name != "" {
			o.names = append(o.names, name)
		}
	}
	return o, o.count(ctx, d)
}

// count counts the first new marks of nodes, by state.
func (o *opened) count(ctx context.Context, d state.Diff) error {
	read := 0
	for c, err := range prolly.Diff(ctx, d.From.Marks, d.To.Marks) {
		if err != nil {
			return fmt.Errorf("diff marks: %w", err)
		}
		if read++; read > titleReads {
			o.more = true
			return nil
		}
		on, id, err := graph.ParseMarkKey(c.Key)
		if err != nil {
			return fmt.Errorf("diff marks: %w: %w", store.ErrCorrupt, err)
		}
		if on != graph.OnNode || c.New == nil {
			continue
		}
		m, err := d.To.Mark(ctx, on, id)
		if err != nil && !errors.Is(err, store.ErrRedacted) {
			return err
		}
		if m != nil {
			o.marked[m.State]++
		}
	}
	return nil
}

// head describes the numbers of changes.
func (o *opened) head(nodes, edges state.Counts) string {
	marked := 0
	for _, n := range o.marked {
		marked += n
	}
	var parts []string
	switch {
	case nodes.Removed == 0 && !o.more && nodes.Added > 0 && o.memories == 1 && nodes.Changed == marked:
		return "remembered"
	case nodes.Added > 0 && !o.more && o.memories > 0:
		parts = append(parts, some(o.memories, "memory", "memories"))
	case nodes.Added > 0:
		parts = append(parts, some(nodes.Added, "node", "nodes"))
	case nodes == state.Counts{Changed: 1} && marked == 0:
		return "changed"
	}
	if n := edges.Added; n > 0 {
		parts = append(parts, some(n, "edge", "edges"))
	}
	if !o.more && marked == nodes.Changed {
		for _, state := range slices.Sorted(maps.Keys(o.marked)) {
			parts = append(parts, fmt.Sprintf("%d %s", o.marked[state], state))
		}
	} else if nodes.Changed > 0 {
		parts = append(parts, fmt.Sprintf("%d changed", nodes.Changed))
	}
	if nodes.Removed > 0 {
		parts = append(parts, fmt.Sprintf("%d removed", nodes.Removed))
	}
	if n := edges.Changed + edges.Removed; n > 0 && len(parts) == 0 {
		parts = append(parts, some(n, "edge", "edges")+" changed")
	}
	return strings.Join(parts, ", ")
}

// link returns the title of a difference that is one new edge.
func (t Titler) link(ctx context.Context, d state.Diff) (string, error) {
	head := "linked"
	for c, err := range prolly.Diff(ctx, d.From.Edges, d.To.Edges) {
		if err != nil {
			return "", fmt.Errorf("diff: %w", err)
		}
		e, _, err := d.To.Edge(ctx, graph.ID(c.Key))
		if errors.Is(err, store.ErrRedacted) {
			break
		}
		if err != nil {
			return "", err
		}
		if shown, err := t.shows(ctx, d.To, graph.OnEdge, e.ID); err != nil || !shown {
			return head, err
		}
		head = text.FirstScalars(e.Type, TitleLength/3)
		var names []string
		for _, id := range slices.Compact([]graph.ID{e.Src, e.Dst}) {
			n, _, err := d.To.Node(ctx, id)
			name := ""
			if err == nil {
				name, err = t.name(ctx, d.To, n)
			}
			if err != nil && !errors.Is(err, store.ErrRedacted) {
				return "", err
			}
			if name != "" {
				names = append(names, name)
			}
		}
		return titled(head, names, false), nil
	}
	return head, nil
}

// name returns the display name of a node, "" if it must not be named.
func (t Titler) name(ctx context.Context, at *state.State, n *graph.Node) (string, error) {
	if shown, err := t.shows(ctx, at, graph.OnNode, n.ID); err != nil || !shown {
		return "", err
	}
	return strings.Join(strings.Fields(text.FirstScalars(rank.CalledBy(n), titleSpace)), " "), nil
}

// shows reports whether a node or edge of a state may be named.
func (t Titler) shows(ctx context.Context, at *state.State, on graph.Target, id graph.ID) (bool, error) {
	states := []*state.State{at}
	if t.Tip != nil {
		tip := t.Tip.State
		tree := tip.Nodes
		if on == graph.OnEdge {
			tree = tip.Edges
		}
		if _, has, err := tree.Get(ctx, id[:]); err != nil || !has {
			return false, err
		}
		states = append(states, tip)
	}
	if t.Now != nil {
		states = append(states, t.Now.State)
	}
	for _, s := range states {
		m, err := s.Mark(ctx, on, id)
		if errors.Is(err, store.ErrRedacted) || err == nil && m != nil && m.State.Hides() {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// titled writes a head and as many names as fit.
func titled(head string, names []string, more bool) string {
	out, room := "", TitleLength
	if head != "" {
		out = head + ": "
		room -= utf8.RuneCountInString(out)
	}
	n := min(titleNames, len(names), room/leastRoom)
	if n < 1 {
		return text.EscapeLine(text.FirstScalars(head, TitleLength))
	}
	if more = more || n < len(names); more {
		room -= len(", ") + 1
	}
	shown := names[:n]
	for i, name := range shown {
		if i > 0 {
			out += ", "
			room -= len(", ")
		}
		left := len(shown) - i
		most := (room - (left-1)*len(", ")) / left
		cut := quotedName(name, most)
		room -= utf8.RuneCountInString(cut)
		out += cut
	}
	if more {
		out += ", …"
	}
	return text.EscapeLine(out)
}

// quotedName quotes a name, truncated to at most most scalars with the quotes.
func quotedName(name string, most int) string {
	most -= len(`""`)
	if cut := text.FirstScalars(name, most); len(cut) < len(name) {
		name = strings.TrimRight(text.FirstScalars(name, most-1), " ") + "…"
	}
	return `"` + name + `"`
}

func some(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// atLeast writes a count, which may be a lower bound.
func atLeast(n uint64, exact bool, one, many string) string {
	if exact {
		return some(int(n), one, many)
	}
	return "at least " + some(int(n), one, many)
}
