// Package outlining has the verbs of the map of a memory and of its digests.
package outlining

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/ipld"
)

// mapRequest asks for a table of contents or what changed in it, for digests to be kept, for the text of one to be
// written, or for what has a hash.
type mapRequest struct {
	Scope   string `op:",arg,remote,words,varies" doc:"root, a scope, a cluster or a memory, as the map names it: it is printed with its digest (default: the whole memory without)"`
	Text    string `op:",remoteonly" doc:"with write: the text"`
	Depth   int    `op:",remote" default:"2" doc:"show {N} levels below, 1 to 8"`
	Since   string `op:",remote" complete:"rev" doc:"show only what differs from {REV}"`
	Budget  int    `op:",remote" default:"600" doc:"print at most {N} tokens; 0 for the highest limit"`
	Rebuild bool   `op:",remote,writes,varies" doc:"make the digests, and keep them"`
	Model   string `op:",true=configured,alone" doc:"with --rebuild: let a chat model write texts of digests: {SPEC} is $REWRITERS" note:" (alone: MNEM_REWRITE_MODEL; config: rewrite.model)"`
	Write   string `op:",remote,writes,varies" doc:"replace the sentences of a digest, named by its source {HASH} or as in the map, with a text"`
	Resolve string `op:",remote" doc:"find what has this {HASH}: a source of 64 hex digits, or nearly this sem of 16"`
	Message string `op:",short=m,remote" doc:"what the commit is about; default: what was done"`
	Expect  string `op:",remote" doc:"the {CID} of the commit that the branch must be at; else exit code 5"`
	verb.Actor
	verb.OnBranch
	verb.Signing
	verb.Secrets
	verb.Trial
	verb.AtRevision
	verb.Params
	ScopeRules

	State   *TextsState `op:"-"` // where the run before has come to, nil for the first
	Said    Said        `op:"-"` // by the model, of the digest in its prompt
	Stopped bool        `op:"-"` // whether the run is broken off: what is ready is committed
	Named   string      `op:"-"` // the name of the model

	model complete.Rewriter
}

// Into implements verb.Writer.
func (q *mapRequest) Into(w *verb.Writing) {
	w.Message, w.Expect = q.Message, q.Expect
	if q.Write != "" {
		w.Message = cmp.Or(q.Message, clip(guard.Mask("write digest "+q.Write), len("write digest ")+digestTitle))
	}
}

// Authored reports whether more is written than what is derived.
func (q *mapRequest) Authored() bool { return q.Write != "" || q.Model != "" }

// MapAnswer is a table of contents.
type MapAnswer struct {
	Commit  ipld.CID   `json:"commit" shape:"null"`
	Entries []MapEntry `json:"entries"`
	More    int        `json:"more"` // entries that did not fit
	Since   *MapSince  `json:"since"`
	Tokens  int        `json:"tokens"` // of what is printed
	Printed verb.Text  `json:"printed"`

	Digest  *DigestAnswer  `json:"digest,omitempty"`  // of the scope that was asked for
	Found   []Resolved     `json:"found,omitzero"`    // what has a hash, the nearest first
	Rebuilt *Rebuilt       `json:"rebuilt,omitempty"` // what became of digests
	Written *DigestWritten `json:"written,omitempty"` // what became of a text
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

// MapChange is a memory that differs.
type MapChange struct {
	ID    graph.ID  `json:"id"`
	State string    `json:"state" enum:"added changed removed"`
	Title verb.Text `json:"title"`
}

// MapVerb shows what a memory is about, and keeps what it shows.
var MapVerb = verb.Define(verb.Spec{
	Command: "map", Right: verb.OwnRight, Confined: true, Group: "read", Effect: verb.Reads, Pure: true, Derived: true, Long: true,
	Usage: "[SCOPE] | --write HASH|SCOPE TEXT | --rebuild | --resolve HASH", Args: "[SCOPE…]",
	Title: "Show what a memory is about, or what changed in it, in few tokens",
	Doc: "Print a table of contents of a memory. A small memory is its facts, the newest first;\n" +
		"conversations are listed with what was decided in them, ingested projects with their folders\n" +
		"and what these are for, other scopes and clusters with the number of memories in them and what\n" +
		"they are about.\n\n" +
		"With SCOPE, print its digest first: its sentences, each with the memory that it is from, and what\n" +
		"of it has expired; then what is below it. SCOPE is root, a name that the map prints, or a memory by\n" +
		"key or id, which is shown with the digests that contain it. 'source' is the hash of the texts that\n" +
		"a digest is made from.\n\n" +
		"With --since, print only the parts that differ from another revision, with the memories that\n" +
		"were added, changed or removed. Parts that are the same in both are not read.\n\n" +
		"--rebuild makes the digests of a commit and keeps them: those that are not kept are made again\n" +
		"each time. They are derived from the commit, like its index: the same on every machine, without a\n" +
		"commit. After a change only the digests that contain it are made again. With --model a chat model\n" +
		"writes texts for up to " + fmt.Sprint(maxCalls) + " digests that have none, those with the most memories. Its server\n" +
		"receives the memories' texts, without those that may hold a credential. If it fails, the digest\n" +
		"keeps its sentences and the answer says so. --dry-run prints how often it would be asked. Servers'\n" +
		"addresses and keys are those of 'mnem retrieve --set rewrite'.\n\n" +
		"--write shows a text of your own in place of the sentences of a digest, and keeps it in a commit. It\n" +
		"has at most " + fmt.Sprint(2*distill.ClusterTokens) + " tokens, for root " + fmt.Sprint(2*distill.RootTokens) +
		". \"-\" reads it from standard input. Name the digest by the source\n" +
		"that you read: if its memories have changed since, nothing is written. The text is shown while they\n" +
		"are the same. Texts of digests that no longer exist are dropped and counted.\n\n" +
		"--resolve finds digests and memories by a hash of what they say: a source, which one of them has, or\n" +
		"the hash of a text ('sem'), in which similar texts differ by few bits.",
	Example: "  mnem map\n  mnem map svc/billing --depth 1\n  mnem map --since HEAD~1 --budget 400\n" +
		"  mnem map root/31 --at HEAD~1 --json\n  mnem map --rebuild --by edge:part-of --by prop:project\n" +
		"  mnem map --rebuild --model=ollama:llama3 --dry-run\n" +
		"  mnem map --write root 'Harbour operations: berths, tides, and who is on call.'\n" +
		"  mnem map --resolve 3f0c9a5d1e22b874",
	Exclude: [][]string{{"rebuild", "write", "resolve", "since"}},
}, mapMemory)

func (q *mapRequest) Check() error {
	form, unused := "", []string{"text"}
	switch {
	case q.Rebuild:
		form, unused = "rebuild", []string{"scope", "text", "depth", "budget"}
	case q.Resolve != "":
		form, unused = "resolve", []string{"scope", "text", "depth", "budget"}
	case q.Write != "":
		form, unused = "write", []string{"depth", "budget", "at"}
		if (q.Scope == "") == (q.Text == "") {
			return verb.Usagef("give the text of the digest, once")
		}
	}
	if q.Model != "" {
		unused = append(unused, "at")
		if !q.Rebuild {
			return verb.Between("%s is for %s", "model", "rebuild")
		}
	}
	for _, name := range unused {
		switch {
		case !q.Given(name):
		case name == "text":
			return verb.Between("%s is for %s", name, "write")
		case name == "scope" && q.Model != "":
			return verb.Usagef("the whole memory is rebuilt, no SCOPE; after --model=SPEC, not --model SPEC")
		case name == "at":
			return verb.Between("%s is for looking: what is written goes onto the branch", name)
		default:
			return verb.Between("%s has no meaning with %s", name, form)
		}
	}
	for _, name := range []string{"dry-run", "message", "expect", "branch", "allow-secret"} {
		if !q.Authored() && q.Given(name) {
			return verb.Between("%s is for %s and %s", name, "write", "model")
		}
	}
	_, err := q.recipe()
	return cmp.Or(verb.CheckRange("depth", q.Depth, 1, maxMapDepth), verb.CheckRange("budget", q.Budget, 0, maxMapTokens),
		err)
}

func mapMemory(ctx context.Context, s *verb.Service, q *mapRequest) (*MapAnswer, error) {
	switch {
	case q.Rebuild:
		return q.rebuild(ctx, s)
	case q.Write != "":
		return q.writeDigest(ctx, s)
	}
	v, err := digestsAt(ctx, s, q.At, q.ScopeRules)
	if err != nil {
		return nil, err
	}
	budget := cmp.Or(q.Budget, maxMapTokens)
	switch {
	case q.Resolve != "":
		out := &MapAnswer{Commit: v.snap.CID()}
		return out, v.resolve(ctx, out, q.Resolve)
	case q.Since != "":
		from, err := s.At(ctx, q.Since)
		if err != nil {
			return nil, err
		}
		return v.since(ctx, from, q.Scope, budget)
	}
	now, err := s.Now("")
	if err != nil {
		return nil, err
	}
	return v.contents(ctx, q.Scope, now, q.Depth, budget)
}

// contents lists what is below a digest, level by level until the budget is used up, after the digest if it was named.
func (v *digestView) contents(ctx context.Context, name string, now graph.Time, depth, budget int) (*MapAnswer, error) {
	out := &MapAnswer{Commit: v.snap.CID()}
	top, id, err := v.mapTop(ctx, cmp.Or(name, distill.Root))
	if err != nil {
		return nil, err
	}
	if name != "" && (top == nil || top.folder == nil) {
		if out.Digest, err = v.answer(ctx, top, id, now); err != nil {
			return nil, err
		}
	}
	head := out.Digest.lines(&budget)
	if top == nil {
		out.print(head)
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
	out.print(head)
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

func (v *digestView) since(ctx context.Context, from *core.Snapshot, name string, budget int) (*MapAnswer, error) {
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

func (m *MapSince) line() string {
	return fmt.Sprintf("%d came, %d changed, %d went", m.Added, m.Changed, m.Removed)
}

type both [2]store.Getter

func (b both) Get(ctx context.Context, c ipld.CID) ([]byte, error) {
	data, err := b[0].Get(ctx, c)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt) {
		return b[1].Get(ctx, c)
	}
	return data, err
}

// Kinds of entries of a map that are no digests.
const (
	kindMemory = "memory"
	kindFolder = "folder" // of an ingested project
)

const (
	typeSession    = "Session"
	typeCollection = "Collection"
	typeDocument   = "Document"

	maxListed    = 512  // memories and scopes of one scope that are listed; of more, its clusters
	maxFiles     = 8192 // documents of a project that are read for its folders
	purposeTitle = 120  // characters of what a folder is for
	shortID      = 8    // digits of an id that are shown

	// sessionTime is how long after its beginning a memory counts as decided in a session, if no other began.
	sessionTime = 12 * time.Hour
)

// mapRow may become an entry: a digest, a folder or a memory.
type mapRow struct {
	digest  *distill.Digest
	folder  *folder
	fact    *mapFact
	node    *graph.Node // that the digest is of, nil for none
	decided []*mapFact  // in this session
	place   []int       // of it and of those above among theirs
}

type mapFact struct {
	node  *graph.Node
	title string
}

// folder is a directory of a project with its own documents, without those of directories in it.
type folder struct {
	project graph.ID
	name    string // the path with the project's name in front
	about   string // what its documents say of it
	files   []*graph.Node
}

// mapTop returns what a map begins with: nil if the memory is empty, nil and the id for a memory that is no scope.
func (v *digestView) mapTop(ctx context.Context, name string) (*mapRow, graph.ID, error) {
	top, id, err := v.find(ctx, name)
	if err != nil {
		if f, folderErr := v.findFolder(ctx, name); f != nil || folderErr != nil {
			return &mapRow{folder: f}, id, folderErr
		}
		return nil, id, err
	}
	if top == nil {
		return nil, id, nil
	}
	row := &mapRow{digest: top}
	row.node, err = v.scopeNode(ctx, top)
	return row, id, err
}

// scopeNode returns the node that a digest is of, nil for a digest of no node or of a part of one.
func (v *digestView) scopeNode(ctx context.Context, d *distill.Digest) (*graph.Node, error) {
	if d.Scope.IsZero() || d.Label != "" || d.Name != "" {
		return nil, nil
	}
	return v.node(ctx, d.Scope)
}

// node reads a node, nil if the snapshot does not have it.
func (v *digestView) node(ctx context.Context, id graph.ID) (*graph.Node, error) {
	n, _, err := v.snap.Node(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return n, err
}

// rows returns what is right below a row.
func (v *digestView) rows(ctx context.Context, row mapRow) (list []mapRow, err error) {
	switch d := row.digest; {
	case row.fact != nil:
	case row.folder != nil:
		for _, n := range row.folder.files {
			list = append(list, mapRow{fact: &mapFact{n, fileTitle(n)}})
		}
	case row.node != nil && row.node.Type == typeCollection:
		folders, err := v.folders(ctx, row.node)
		if err != nil {
			return nil, err
		}
		for _, f := range folders {
			list = append(list, mapRow{folder: f})
		}
	case d.Members > maxListed:
		if list, err = v.clusters(ctx, d); err != nil {
			return nil, err
		}
	default:
		if list, err = v.listed(ctx, row); err != nil {
			return nil, err
		}
	}
	for i := range list {
		list[i].place = append(slices.Clone(row.place), i)
	}
	return list, nil
}

// clusters returns the digests right below one, the largest first.
func (v *digestView) clusters(ctx context.Context, d *distill.Digest) (list []mapRow, err error) {
	for _, c := range v.below(d) {
		row, err := v.linked(ctx, c)
		if err != nil {
			return nil, err
		}
		list = append(list, row)
	}
	sortRows(list)
	return list, nil
}

func (v *digestView) linked(ctx context.Context, c ipld.CID) (row mapRow, err error) {
	if row.digest, err = distill.Read(ctx, v.Blocks, c); err == nil {
		row.node, err = v.scopeNode(ctx, row.digest)
	}
	return row, err
}

// listed returns the memories and scopes of a digest: memories, the newest first; then sessions with what was decided
// in them, the newest first; then the other scopes, the largest first. Parts of files and conversations are listed only
// in their own scope.
func (v *digestView) listed(ctx context.Context, row mapRow) ([]mapRow, error) {
	facts, scopes, err := v.members(ctx, row.digest, len(row.place) == 0 && !row.digest.Scope.IsZero())
	if err != nil {
		return nil, err
	}
	sortRows(scopes)
	var sessions, rest []mapRow
	for _, s := range scopes {
		if s.node != nil && s.node.Type == typeSession {
			sessions = append(sessions, s)
		} else {
			rest = append(rest, s)
		}
	}
	slices.SortStableFunc(sessions, func(a, b mapRow) int { return cmp.Compare(b.node.Created, a.node.Created) })
	slices.SortFunc(facts, func(a, b *mapFact) int {
		return cmp.Or(cmp.Compare(b.node.Created, a.node.Created), a.node.ID.Compare(b.node.ID))
	})
	facts = append(row.decided, assign(facts, sessions)...)
	var list []mapRow
	for _, f := range facts {
		list = append(list, mapRow{fact: f})
	}
	return slices.Concat(list, sessions, rest), nil
}

// assign moves memories to the sessions that they were kept in, which descend by time, and returns the others.
func assign(facts []*mapFact, sessions []mapRow) (left []*mapFact) {
	for _, f := range facts {
		at := slices.IndexFunc(sessions, func(s mapRow) bool { return s.node.Created <= f.node.Created })
		if at >= 0 && f.node.Created.Std().Sub(sessions[at].node.Created.Std()) <= sessionTime {
			sessions[at].decided = append(sessions[at].decided, f)
		} else {
			left = append(left, f)
		}
	}
	return left
}

// members reads the entries of a digest and of its clusters: its memories, with parts also what is no memory, and its
// scopes.
func (v *digestView) members(ctx context.Context, d *distill.Digest, parts bool) (facts []*mapFact, scopes []mapRow, err error) {
	for _, k := range d.Kids {
		below, err := distill.Read(ctx, v.Blocks, k.Link)
		if err != nil {
			return nil, nil, err
		}
		f, s, err := v.members(ctx, below, parts)
		if err != nil {
			return nil, nil, err
		}
		facts, scopes = append(facts, f...), append(scopes, s...)
	}
	for _, e := range d.Entries {
		if e.Link.Defined() {
			row, err := v.linked(ctx, e.Link)
			if err != nil {
				return nil, nil, err
			}
			scopes = append(scopes, row)
			continue
		}
		id := e.Key.ID()
		if id == d.Scope {
			continue
		}
		f, err := v.mapFact(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		if f != nil && (parts || memory.IsMemory(f.node) || f.node.Type == typeDocument) {
			facts = append(facts, f)
		}
	}
	return facts, scopes, nil
}

// mapFact reads a memory that is seen, nil for another.
func (v *digestView) mapFact(ctx context.Context, id graph.ID) (*mapFact, error) {
	if shown, err := v.see().Node(ctx, id); !shown || err != nil {
		return nil, err
	}
	n, err := v.node(ctx, id)
	if n == nil || err != nil {
		return nil, err
	}
	title := n.Summary
	if title == "" {
		f, err := v.Reader.Fact(ctx, id)
		if f == nil || err != nil {
			return nil, err
		}
		title = f.Text
	}
	return &mapFact{n, oneLine(title)}, nil
}

// folders returns the directories of a project that have documents: those that say what they are for first, then the
// shallow before the deep, and the large before the small.
func (v *digestView) folders(ctx context.Context, project *graph.Node) ([]*folder, error) {
	byPath, read := map[string]*folder{}, 0
	for id, err := range v.Reader.Down(ctx, project.ID) {
		if err != nil {
			return nil, err
		}
		if read++; read > maxFiles {
			break
		}
		n, err := v.node(ctx, id)
		if err != nil {
			return nil, err
		}
		if n == nil || n.Type != typeDocument {
			continue
		}
		if shown, err := v.see().Node(ctx, id); err != nil {
			return nil, err
		} else if !shown {
			continue
		}
		dir := path.Dir(path.Join("/", prop(n, "project"), prop(n, "path")))[1:]
		f := byPath[dir]
		if f == nil {
			f = &folder{project: project.ID, name: dir}
			byPath[dir] = f
		}
		f.files = append(f.files, n)
	}
	var list []*folder
	for _, f := range byPath {
		f.finish()
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b *folder) int {
		return cmp.Or(cmp.Compare(min(len(b.about), 1), min(len(a.about), 1)), // those with a purpose
			cmp.Compare(strings.Count(a.name, "/"), strings.Count(b.name, "/")),
			cmp.Compare(len(b.files), len(a.files)), cmp.Compare(a.name, b.name))
	})
	return list, nil
}

// finish sorts the documents of a folder by name. The first that says what it is for, tests apart, speaks for the folder.
func (f *folder) finish() {
	slices.SortFunc(f.files, func(a, b *graph.Node) int {
		return cmp.Or(cmp.Compare(prop(a, "path"), prop(b, "path")), a.ID.Compare(b.ID))
	})
	for _, n := range f.files {
		if about := prop(n, "about"); about != "" && !strings.HasSuffix(prop(n, "path"), "_test.go") {
			f.about = about
			return
		}
	}
}

// prop returns a property that is a string, "" for any other.
func prop(n *graph.Node, name string) string {
	if v, ok := ipld.FindEntry(n.Props, name); ok && v.Kind() == ipld.String {
		return v.Text()
	}
	return ""
}

func fileTitle(n *graph.Node) string {
	title := path.Base(prop(n, "path"))
	if about := prop(n, "about"); about != "" {
		title += ": " + about
	}
	return oneLine(title)
}

// findFolder returns the folder that a map shows by a name, nil if there is none.
func (v *digestView) findFolder(ctx context.Context, name string) (*folder, error) {
	project, _, _ := strings.Cut(name, "/")
	n, err := v.node(ctx, graph.NodeID("files:"+project))
	if n == nil || err != nil {
		return nil, err
	}
	list, err := v.folders(ctx, n)
	if err != nil {
		return nil, err
	}
	if at := slices.IndexFunc(list, func(f *folder) bool { return f.name == name }); at >= 0 {
		return list[at], nil
	}
	return nil, nil
}

func (v *digestView) rowEntry(ctx context.Context, row *mapRow) (MapEntry, error) {
	switch {
	case row.fact != nil:
		n := row.fact.node
		return MapEntry{
			DigestRow: DigestRow{
				ID: verb.Text(n.ID.String()), Name: verb.Text(factName(n)), Kind: kindMemory,
				Title: verb.Text(row.fact.title), Facts: 1,
			},
			Type: n.Type, Created: graph.At(n.Created), Depth: len(row.place),
		}, nil
	case row.folder != nil:
		f := row.folder
		return MapEntry{
			DigestRow: DigestRow{
				ID: verb.Text(f.name), Name: verb.Text(f.name), Kind: kindFolder, Title: verb.Text(clipLine(f.purpose(), purposeTitle)),
				Facts: len(f.files),
			},
			Depth: len(row.place),
		}, nil
	}
	e, err := v.entry(ctx, row.digest, len(row.place))
	if row.node != nil {
		e.Type, e.Created = row.node.Type, graph.At(row.node.Created)
	}
	return e, err
}

// purpose says what a folder is for, without repeating its name.
func (f *folder) purpose() string {
	about := strings.TrimPrefix(f.about, "Package "+path.Base(f.name)+" ")
	return strings.TrimPrefix(about, "Command "+path.Base(f.name)+" ")
}

// factName is the shortest name of a memory that finds it again: its key, or the beginning of its id.
func factName(n *graph.Node) string {
	if n.Key == "" || opaque(n.Key) {
		return n.ID.String()[:shortID]
	}
	return n.Key
}

// opaque reports whether a key tells a person nothing: it has a hash or a UUID in it.
func opaque(key string) bool {
	run := 0
	for _, c := range key {
		if run++; (c < '0' || c > '9') && (c < 'a' || c > 'f') && c != '-' {
			run = 0
		}
		if run == opaqueRun {
			return true
		}
	}
	return false
}

// opaqueRun is the number of hex digits that make a key opaque: those of the hashes of documents.
const opaqueRun = 16
