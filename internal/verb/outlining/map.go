package outlining

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/ipld"
)

// MapRequest asks for a table of contents, or for what changed in it.
type MapRequest struct {
	Scope  string `op:"scope,arg,remote" doc:"a scope or cluster, named as in the output of the map (default: the whole memory)"`
	Depth  int    `op:",remote" default:"2" doc:"show {N} levels below, 1 to 8"`
	Since  string `op:",remote" complete:"rev" doc:"show only what differs from {REV}"`
	Budget int    `op:",remote" default:"600" doc:"print at most {N} tokens; 0 for the highest limit"`
	verb.AtRevision
	ScopeRules
}

// MapAnswer is a table of contents.
type MapAnswer struct {
	Commit  ipld.CID   `json:"commit" shape:"null"`
	Entries []MapEntry `json:"entries"`
	More    int        `json:"more"` // entries that did not fit
	Since   *MapSince  `json:"since"`
	Tokens  int        `json:"tokens"` // of what is printed
	Printed verb.Text  `json:"printed"`
}

// MapEntry is a digest in a map.
type MapEntry struct {
	DigestRow
	Type    string        `json:"type"`    // of the node: a memory's, Session, ...
	Created graph.OptTime `json:"created"` // null if it is no node
	Depth   int           `json:"depth"`
	Scopes  int           `json:"scopes"`  // right below
	Changed []MapChange   `json:"changed"` // with since: memories at home there
}

// MapSince counts the changes since a commit.
type MapSince struct {
	Commit  ipld.CID `json:"commit" shape:"null"`
	Added   int      `json:"added"` // memories that are seen now
	Changed int      `json:"changed"`
	Removed int      `json:"removed"` // or hidden
	Read    int      `json:"read"`    // digests
	More    bool     `json:"more"`    // whether these are not all
}

// MapChange is what became of a memory.
type MapChange struct {
	ID    graph.ID  `json:"id"`
	State string    `json:"state" enum:"added changed removed"`
	Title verb.Text `json:"title"`
}

// MapVerb shows what a memory is about.
var MapVerb = verb.Define(verb.Spec{
	Command: "map", Right: verb.NoRight, Usage: "[SCOPE] [flags]", Group: "read", Effect: verb.Reads, Pure: true,
	Title: "Show what a memory is about, or what changed in it, in few tokens",
	Doc: "Print a table of contents of a memory. A small memory is its facts, the newest first;\n" +
		"conversations are listed with what was decided in them, ingested projects with their folders\n" +
		"and what these are for, other scopes and clusters with the number of memories in them and what\n" +
		"they are about. 'mnem digest' shows one scope, 'mnem map NAME' what is below one.\n\n" +
		"With --since, print only the parts that differ from another revision, with the memories that\n" +
		"were added, changed or removed. Parts that are the same in both are not read.",
	Example: "  mnem map\n  mnem map svc/billing --depth 1\n  mnem map --since HEAD~1 --budget 400\n" +
		"  mnem map --json",
}, mapMemory)

// Check refuses what is out of bounds.
func (q *MapRequest) Check() error {
	_, err := q.recipe()
	return cmp.Or(verb.CheckRange("depth", q.Depth, 1, maxMapDepth), verb.CheckRange("budget", q.Budget, 0, maxMapTokens),
		err)
}

func mapMemory(ctx context.Context, s *verb.Service, q *MapRequest) (*MapAnswer, error) {
	v, err := digestsAt(ctx, s, q.At, q.ScopeRules)
	if err != nil {
		return nil, err
	}
	budget := q.Budget
	if budget == 0 {
		budget = maxMapTokens
	}
	if q.Since == "" {
		return v.contents(ctx, q.Scope, q.Depth, budget)
	}
	from, err := s.At(ctx, q.Since)
	if err != nil {
		return nil, err
	}
	return v.since(ctx, from, q.Scope, budget)
}

// contents lists what is below a digest, level by level until the budget is used up.
func (v *digestView) contents(
	ctx context.Context, name string, depth, budget int,
) (*MapAnswer, error) {
	out := &MapAnswer{Commit: v.snap.CID()}
	top, err := v.mapTop(ctx, cmp.Or(name, distill.Root))
	if err != nil {
		return nil, err
	}
	if top == nil {
		out.print(nil)
		return out, nil
	}
	type placed struct {
		entry MapEntry
		place []int
	}
	var shown []placed
	for level := []mapRow{*top}; len(level) > 0; {
		var next []mapRow
		for _, row := range level {
			e, err := v.rowEntry(ctx, &row)
			if err != nil {
				return nil, err
			}
			if n := distill.Tokens(e.line() + "\n"); n <= budget {
				budget -= n
				shown = append(shown, placed{e, row.place})
			} else {
				budget = 0
				out.More++
				continue
			}
			if len(row.place) == depth {
				continue
			}
			below, err := v.rows(ctx, row)
			if err != nil {
				return nil, err
			}
			next = append(next, below...)
		}
		slices.SortStableFunc(next, func(a, b mapRow) int { // the first of each parent before the second of any
			return cmp.Compare(a.place[len(a.place)-1], b.place[len(b.place)-1])
		})
		level = next
	}
	slices.SortFunc(shown, func(a, b placed) int { return slices.Compare(a.place, b.place) })
	for _, p := range shown {
		out.Entries = append(out.Entries, p.entry)
	}
	out.print(nil)
	return out, nil
}

func (v *digestView) entry(ctx context.Context, d *distill.Digest, depth int) (MapEntry, error) {
	row, err := v.row(ctx, d)
	e := MapEntry{DigestRow: row, Depth: depth}
	for _, one := range d.Entries {
		if one.Link.Defined() {
			e.Scopes++
		}
	}
	return e, err
}

// line is an entry as it is printed.
func (e MapEntry) line() string {
	indent, name := strings.Repeat("  ", e.Depth), text.EscapeLine(string(e.Name))
	switch {
	case e.Kind == kindMemory:
		return fmt.Sprintf("%s[%s] %s · %s", indent, name, text.EscapeLine(e.Type), e.Title)
	case e.Type == typeSession:
		return fmt.Sprintf("%s[%s] %s · %s", indent, name, e.Created.Time.Std().Format(time.DateOnly), e.Title)
	case e.Kind == kindFolder:
		name = fmt.Sprintf("%s (%s)", name, plain.Plural(e.Facts, "file"))
	default:
		name = fmt.Sprintf("%s (%d)", name, e.Facts)
	}
	if e.Title != "" && e.Title != e.Name {
		name += ": " + string(e.Title)
	}
	return indent + name
}

var changeSigns = map[string]string{"added": "+", "changed": "~", "removed": "-"}

func (c MapChange) line() string {
	return strings.TrimRight(fmt.Sprintf("  %s [%.8s] %s", changeSigns[c.State], c.ID, c.Title), " ")
}

// print fills in what is printed.
func (m *MapAnswer) print(head []string) {
	lines := head
	for _, e := range m.Entries {
		lines = append(lines, e.line())
		for _, c := range e.Changed {
			lines = append(lines, c.line())
		}
	}
	if m.More > 0 {
		lines = append(lines, fmt.Sprintf("... (+%d more)", m.More))
	}
	printed := ""
	if len(lines) > 0 {
		printed = strings.Join(lines, "\n") + "\n"
	}
	m.Printed, m.Tokens = verb.Text(printed), distill.Tokens(printed)
}

// since lists the scopes with memories that differ from those of another snapshot.
func (v *digestView) since(
	ctx context.Context, from *core.Snapshot, name string, budget int,
) (*MapAnswer, error) {
	var only graph.ID
	if name != "" {
		top, id, err := v.find(ctx, name)
		switch {
		case err != nil:
			return nil, err
		case top == nil && !id.IsZero():
			return nil, verb.Usagef("%s is a memory and no scope: nothing is in it", clip(name, digestTitle))
		case top != nil:
			only = top.Scope
		}
	}
	old, err := digestsOf(ctx, from, v.Recipe)
	if err != nil {
		return nil, err
	}
	c, err := distill.Compare(ctx, both{v.Blocks, old.Blocks}, old.Tree, v.Tree, maxCompared)
	if err != nil {
		return nil, err
	}
	v.labels.Also(from)
	out := &MapAnswer{Commit: v.snap.CID(), Since: &MapSince{Commit: from.CID(), Read: c.Read, More: c.More}}
	byScope := map[graph.ID][]distill.FactChange{}
	var scopes []graph.ID
	for _, f := range c.Facts {
		if !only.IsZero() && f.Scope != only {
			continue
		}
		switch stateOf(f) {
		case "added":
			out.Since.Added++
		case "changed":
			out.Since.Changed++
		default:
			out.Since.Removed++
		}
		if byScope[f.Scope] == nil {
			scopes = append(scopes, f.Scope)
		}
		byScope[f.Scope] = append(byScope[f.Scope], f)
	}
	slices.SortFunc(scopes, func(a, b graph.ID) int {
		return cmp.Or(cmp.Compare(len(byScope[b]), len(byScope[a])), a.Compare(b))
	})
	head := out.Since.line()
	budget -= distill.Tokens(head + "\n... (+10000 more)\n")
	for _, scope := range scopes {
		if budget, err = v.changed(ctx, old, out, scope, byScope[scope], budget); err != nil {
			return nil, err
		}
	}
	out.print([]string{head})
	return out, nil
}

// NewsOf says in at most so many tokens what is news since a snapshot by scopes, nil if no digests are kept that it
// could begin from.
func NewsOf(ctx context.Context, from, at *core.Snapshot, tokens int) (*MapAnswer, error) {
	for _, snap := range []*core.Snapshot{from, at} {
		d, err := outline.Open(ctx, snap, distill.Default(), outline.DigestOptions{Only: true, Keep: true})
		if err != nil || d.Scopes == nil {
			return nil, err
		}
	}
	v, err := digestsOf(ctx, at, distill.Default())
	if err != nil {
		return nil, err
	}
	m, err := v.since(ctx, from, "", tokens)
	if err != nil || len(m.Entries) == 0 {
		return nil, err
	}
	return m, nil
}

// changed adds a scope and the memories in it that differ, while there is room.
func (v *digestView) changed(
	ctx context.Context, old *digestView, out *MapAnswer, scope graph.ID, list []distill.FactChange, budget int,
) (int, error) {
	d, _, err := v.Top(ctx, v.Blocks, scope)
	if err == nil && d == nil { // it is gone
		if d, _, err = old.Top(ctx, old.Blocks, scope); d != nil {
			gone := *d
			gone.Facts, gone.Tokens, gone.Text = 0, 0, nil
			d = &gone
		}
	}
	if err == nil && d == nil {
		err = fmt.Errorf("%w: no digest of %s", store.ErrCorrupt, scope)
	}
	if err != nil {
		return 0, err
	}
	e, err := v.entry(ctx, d, 0)
	if err != nil {
		return 0, err
	}
	n := distill.Tokens(e.line() + "\n")
	if n > budget {
		out.More += len(list)
		return budget, nil
	}
	budget -= n
	for _, f := range list {
		title, err := v.factTitle(ctx, f.ID)
		if err != nil {
			return 0, err
		}
		one := MapChange{f.ID, stateOf(f), verb.Text(title)}
		if n := distill.Tokens(one.line() + "\n"); n <= budget {
			budget -= n
			e.Changed = append(e.Changed, one)
		} else {
			out.More++
		}
	}
	out.Entries = append(out.Entries, e)
	return budget, nil
}

func stateOf(f distill.FactChange) string {
	switch {
	case !f.Old:
		return "added"
	case f.New:
		return "changed"
	}
	return "removed"
}

// line says how much changed.
func (m *MapSince) line() string {
	return fmt.Sprintf("%d came, %d changed, %d went", m.Added, m.Changed, m.Removed)
}

// both reads blocks of two sets of digests.
type both [2]store.Getter

func (b both) Get(ctx context.Context, c ipld.CID) ([]byte, error) {
	data, err := b[0].Get(ctx, c)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt) {
		return b[1].Get(ctx, c)
	}
	return data, err
}
