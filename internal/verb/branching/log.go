// Package branching has the verbs of branches and commits: what there is, what happened, what differs; merges, and
// operations that are undone.
package branching

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/editing"
	"github.com/mnem-project/mnem/internal/verb/reading"
	"github.com/mnem-project/mnem/ipld"
)

// LogRequest asks for the commits of a history.
type LogRequest struct {
	// Names are a revision or range and then a node; either may be left out.
	Names []string `op:",arg"`
	// Node is given by remote callers in place of Names.
	Node string `op:",arg,remoteonly" doc:"a node by key, id, at least 4 digits of an id, or exact title"`
	// Dash is how many of Names are before --, negative if that was not given.
	Dash int `op:"-"`

	Limit   int      `op:",short=n,remote" doc:"at most {N} commits; 0 for all"`
	Oneline bool     `op:",remote" doc:"one line a commit"`
	Graph   bool     `op:"" doc:"draw the lines between commits; not with flags that leave some out, but -n"`
	Stat    bool     `op:",remote" doc:"count what each commit changed by type"`
	Type    []string `op:",remote" doc:"commits that changed a node or edge of this {TYPE} (repeatable: any of them)"`
	Author  []string `op:",remote" doc:"commits by this author" note:" (repeatable)"`
	Agent   []string `op:",remote" doc:"commits by this agent" note:" (repeatable)"`
	Since   string   `op:",remote" doc:"commits at or after this {TIME}: RFC 3339 or YYYY-MM-DD"`
	Until   string   `op:",remote" doc:"commits before this {TIME}, likewise"`
	Grep    string   `op:",remote" doc:"commits whose message matches this regular {EXPRESSION}"`
	// Git is for who runs the command: git's files are where that is.
	Git bool `op:"" doc:"name the commit that HEAD of the git work tree was at then, as git's log tells"`
	verb.AtRevision
	Signed
	verb.Params
}

// NamesGit reports whether to name commits of git.
func (q *LogRequest) NamesGit() bool { return q.Git }

// Signed is of verbs that tell of commits.
type Signed struct {
	Signatures bool `op:",remote,varies" doc:"print what signatures are worth, as 'mnem key verify' does"`
}

// verdict returns what the signature of a commit is worth, nil if the request does not ask.
func (q *Signed) verdict(s *verb.Service, rec *commit.Commit) (*commit.Verdict, error) {
	if !q.Signatures {
		return nil, nil
	}
	trusted, err := s.Trusted()
	if err != nil {
		return nil, err
	}
	return new(commit.Verify(rec, trusted)), nil
}

// Commit is a commit as log and show tell of it.
type Commit struct {
	Commit    ipld.CID     `json:"commit"`
	Parents   []ipld.CID   `json:"parents"`
	Graph     ipld.CID     `json:"graph"`
	Author    string       `json:"author"`
	Agent     verb.Text    `json:"agent"`
	Task      verb.Text    `json:"task"`
	Time      graph.Time   `json:"time"`
	Git       *verb.Text   `json:"git,omitempty"`   // where --git asks for it: what HEAD of git was at
	Title     *string      `json:"title,omitempty"` // of what it changed; in log alone
	Message   string       `json:"message"`
	Nodes     state.Counts `json:"nodes"`
	Edges     state.Counts `json:"edges"`
	Signature *Signature   `json:"signature,omitempty"` // if it was asked for
	Stat      *Stat        `json:"stat,omitempty"`
	Profiles  []string     `json:"profiles,omitempty"` // that differ
}

// Signature is the verdict on a commit's signature. Key and trust are null unless the signature holds.
type Signature struct {
	Signature commit.SignatureState `json:"signature" shape:"signed|untrusted|unsigned|revoked|bad"`
	Key       verb.Text             `json:"key"`
	Trust     verb.Text             `json:"trust" shape:"trusted|untrusted|revoked|null"`
	Name      verb.Text             `json:"name"`
	Reason    verb.Text             `json:"reason"`
}

// trusted is the trust of a key whose signatures count.
const trusted = "trusted"

// SignatureOf returns the form of a verdict.
func SignatureOf(v commit.Verdict) Signature {
	out := Signature{Signature: v.State, Name: verb.Text(v.Name), Reason: verb.Text(v.Reason)}
	if !v.Key.IsZero() {
		out.Key, out.Trust = verb.Text(v.Key.String()), verb.Text(v.State)
		if v.State == commit.Signed {
			out.Trust = trusted
		}
	}
	return out
}

// Stat counts by type what differs.
type Stat struct {
	NodeTypes []TypeCounts `json:"node_types"`
	EdgeTypes []TypeCounts `json:"edge_types"`
}

// TypeCounts are the counts of one type.
type TypeCounts struct {
	Type string `json:"type"`
	state.Counts
}

// Log lists commits.
var Log = verb.Stream(verb.Spec{
	Command: "log", Right: verb.NoRight, Confined: true, Usage: "[REV|RANGE] [NODE] [flags]", Group: "read", Complete: "rev",
	Title: "List commits, newest first",
	Doc: "List the commits that a revision reaches, newest first, with the numbers of nodes and edges\n" +
		"that each added (+), changed (~) and removed (-). A range A..B leaves out what A reaches. With\n" +
		"a NODE, list those that touched it: the node, its mark, an edge of it or the mark of one. A\n" +
		"merge touches what differs from all its parents. A name that is both a revision and a node is\n" +
		"the revision; 'mnem log -- NODE' and key:NAME always mean the node.\n\n" +
		"A title says in 60 characters what a commit changed. It is worked out when it is shown: no\n" +
		"memory is named that was hidden, removed or purged since, or that looks like a credential.\n\n" +
		"Several flags leave the commits for which all hold. With --json, one object a line. On a terminal a\n" +
		"pager shows long results; MNEM_PAGER=cat ends that.",
	Example: "  mnem log\n  mnem log --oneline -n 5\n  mnem log HEAD~1 --json\n  mnem log alice\n" +
		"  mnem log HEAD~1.. --stat\n  mnem log --type Person --since 2026-01-01 --grep '(?i)two'",
	Effect: verb.Reads,
}, log)

// SetDash is told how many of the arguments are before --.
func (q *LogRequest) SetDash(n int) { q.Dash = n }

// options returns which commits are wanted, but for revision and node.
func (q *LogRequest) options() (opt history.LogOptions, err error) {
	opt = history.LogOptions{Types: q.Type, Authors: q.Author, Agents: q.Agent}
	if q.Limit < 0 {
		return opt, verb.Bad("limit", "%d is below 0", q.Limit)
	}
	if opt.Since, err = verb.OptTime("since", q.Since); err != nil {
		return opt, err
	}
	if opt.Until, err = verb.OptTime("until", q.Until); err != nil {
		return opt, err
	}
	if q.Grep != "" {
		if opt.Grep, err = regexp.Compile(q.Grep); err != nil {
			return opt, verb.Bad("grep", "%w", err)
		}
	}
	return opt, nil
}

func (q *LogRequest) Check() error {
	opt, err := q.options()
	if filters := len(opt.Types)+len(opt.Authors)+len(opt.Agents) > 0 || q.Since+q.Until+q.Grep != ""; err == nil &&
		q.Graph && filters {
		return verb.Bad("graph", "lines between commits need all of them: leave out flags that choose some")
	}
	return err
}

func log(ctx context.Context, s *verb.Service, q *LogRequest, emit func(*Commit) error) error {
	opt, err := q.options()
	if err != nil {
		return err
	}
	rev, node, err := q.scope(ctx, s)
	if err != nil {
		return err
	}
	opt.Rev = rev
	if q.Graph && node != "" {
		return verb.Bad("graph", "lines between commits need all of them: leave out the node")
	}
	gone := false
	if node != "" {
		if opt.Node, gone, err = nodeInLog(ctx, s.Repo, rev, node); err != nil {
			return verb.CommitHint(err)
		}
	}
	n := 0
	titles, err := titles(ctx, s, rev)
	if err != nil {
		return verb.CommitHint(err)
	}
	for e, err := range history.History(ctx, s.Repo, opt) {
		if err != nil {
			return verb.CommitHint(err)
		}
		if q.leftOut(ctx, s, e.Commit) {
			continue
		}
		out, err := q.entry(ctx, s, e, titles)
		if err == nil {
			err = emit(out)
		}
		if err != nil {
			return err
		}
		if n++; n == q.Limit {
			break
		}
	}
	if gone && n == 0 {
		return &state.NotFoundError{What: "revision or node", Name: node}
	}
	return nil
}

// leftOut reports whether a commit is not shown: one of vectors that was not asked for, unless lines are drawn.
func (q *LogRequest) leftOut(ctx context.Context, s *verb.Service, c *commit.Commit) bool {
	unasked, err := s.Repo.Embeddings().Unasked(ctx, c)
	return unasked && err == nil && !q.Graph // of a parent that is gone nothing is known
}

// titles returns what makes titles of the commits that a revision or range reaches, as its end and HEAD are now.
func titles(ctx context.Context, s *verb.Service, rev string) (t history.Titler, err error) {
	if t.Now, err = s.At(ctx, string(graph.Head)); err != nil {
		return t, err
	}
	from, _, err := s.Repo.Revisions().Range(ctx, rev)
	if err == nil && len(from) == 1 {
		t.Tip, err = s.Repo.At(ctx, from[0])
	}
	return t, err
}

func (q *LogRequest) entry(
	ctx context.Context, s *verb.Service, e history.LogEntry, titles history.Titler,
) (*Commit, error) {
	verdict, err := q.verdict(s, e.Commit)
	if err != nil {
		return nil, err
	}
	out := CommitOf(e, verdict)
	title, err := titles.Commit(ctx, e.Diff, e.Nodes, e.Edges)
	if err != nil {
		return nil, err
	}
	out.Title = &title
	if q.Stat {
		if out.Stat, err = stat(ctx, e.Diff, nil); err != nil {
			return nil, err
		}
	}
	p, err := rank.DiffProfiles(ctx, e.Diff)
	out.Profiles = ChangedProfiles(p)
	return out, err
}

// CommitOf returns the form of a commit.
func CommitOf(e history.LogEntry, verdict *commit.Verdict) *Commit {
	rec := e.Commit
	out := &Commit{
		Commit: e.CID, Parents: rec.Parents, Graph: rec.Graph, Author: rec.Author,
		Agent: verb.Text(rec.Agent), Task: verb.Text(rec.Task), Time: rec.Time, Message: e.Message,
		Nodes: e.Nodes, Edges: e.Edges,
	}
	if verdict != nil {
		out.Signature = new(SignatureOf(*verdict))
	}
	return out
}

// ChangedProfiles names the profiles that differ, with "(default)" where another is the default
// and "(FIELD)" for what is no profile.
func ChangedProfiles(d *rank.ProfilesDiff) []string {
	if d == nil {
		return nil
	}
	var names []string
	if d.Default != nil {
		names = append(names, "(default)")
	}
	for _, f := range d.Fields {
		names = append(names, "("+f.Field+")")
	}
	for _, p := range d.Profiles {
		names = append(names, p.Name)
	}
	return names
}

// stat counts what differs of some types, or all.
func stat(ctx context.Context, d state.Diff, types []string) (*Stat, error) {
	wants := func(typ string) bool { return len(types) == 0 || slices.Contains(types, typ) }
	nodes, edges := map[string]*state.Counts{}, map[string]*state.Counts{}
	for n, err := range d.Nodes(ctx) {
		if err != nil {
			return nil, err
		}
		if wants(n.Type) {
			count(nodes, n.Type, n.Kind)
		}
	}
	for e, err := range d.Edges(ctx) {
		if err != nil {
			return nil, err
		}
		if wants(e.Type) {
			count(edges, e.Type, e.Kind)
		}
	}
	return &Stat{typeCounts(nodes), typeCounts(edges)}, nil
}

func count(of map[string]*state.Counts, typ string, kind state.ChangeKind) {
	n := of[typ]
	if n == nil {
		n = &state.Counts{}
		of[typ] = n
	}
	n.Count(kind)
}

func typeCounts(of map[string]*state.Counts) []TypeCounts {
	var out []TypeCounts
	for _, typ := range slices.Sorted(maps.Keys(of)) {
		out = append(out, TypeCounts{typ, *of[typ]})
	}
	return out
}

// split returns the revisions and the nodes among the names, and whether that is sure: one name may be either.
func (q *LogRequest) split() (revs, nodes []string, sure bool) {
	switch n := len(q.Names); {
	case q.Node != "":
		return q.Names, []string{q.Node}, true
	case q.Given("--"):
		return q.Names[:q.Dash], q.Names[q.Dash:], true
	case n == 2:
		return q.Names[:1], q.Names[1:], true
	default:
		return q.Names, nil, n != 1
	}
}

// Outside makes fields that a server takes of the arguments: of one that may be a revision or a node the revision
// first, and the node if there is more to try.
func (q *LogRequest) Outside(try int) (more bool) {
	revs, nodes, sure := q.split()
	if more = !sure && try == 0; !sure && !more {
		revs, nodes = nil, q.Names
	}
	if q.Node = ""; len(revs) > 0 {
		q.At = revs[0]
	} else if try > 0 {
		q.At = string(graph.Head)
	}
	if len(nodes) > 0 {
		q.Node = nodes[0]
	}
	return more
}

// scope finds out what the names mean. What is both a revision and a node is the revision, unless -- comes before it.
func (q *LogRequest) scope(ctx context.Context, s *verb.Service) (rev, node string, err error) {
	revs, nodes, sure := q.split()
	if !sure {
		isRev, err := isRevision(ctx, s.Repo, q.Names[0])
		if err != nil {
			return "", "", err
		}
		if !isRev {
			revs, nodes = nil, q.Names
		}
	}
	if len(revs) > 1 || len(nodes) > 1 {
		return "", "", verb.Usagef("give at most one revision or range and one node")
	}
	if len(nodes) == 1 {
		node = nodes[0]
	}
	if len(revs) == 0 {
		return q.At, node, nil
	}
	if q.Given("at") {
		return "", "", verb.Between("give the revision as an argument or with %s, not both", "at")
	}
	return revs[0], node, nil
}

// isRevision reports whether a name means a revision or range; else it may be a node's.
func isRevision(ctx context.Context, r *core.Repo, name string) (bool, error) {
	if strings.HasPrefix(name, "key:") || strings.HasPrefix(name, "id:") {
		return false, nil
	}
	_, err := r.Revisions().Resolve(ctx, name)
	if core.IsRange(name) || verb.IsUnborn(err) {
		return true, nil
	}
	if errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrCorrupt) {
		return false, nil
	}
	return true, err
}

// nodeInLog returns the node that a name means where a revision or range ends. A key or full id
// that is no node there may be that of one which history knows: gone is true.
func nodeInLog(ctx context.Context, r *core.Repo, rev, name string) (id graph.ID, gone bool, err error) {
	from, _, err := r.Revisions().Range(ctx, rev)
	if err != nil {
		return id, false, err
	}
	at, err := r.At(ctx, from[0])
	if err != nil {
		return id, false, err
	}
	id, err = reading.Visible{Snapshot: at}.Find(ctx, name)
	var missing *state.NotFoundError
	if !errors.As(err, &missing) {
		return id, false, err
	}
	ref, refErr := editing.FutureRef(name)
	if refErr != nil {
		return id, false, err
	}
	return ref.Target(), true, nil
}

// BlameRequest asks who last set the fields of a node.
type BlameRequest struct {
	Node  string   `op:",arg,required,remote" doc:"a node by key, id, at least 4 digits of an id, or exact title"`
	Field []string `op:",remote" doc:"print this {FIELD} alone, as summary or props.NAME" note:" (repeatable)"`
	Git   bool     `op:"" doc:"name the commit that HEAD of the git work tree was at then, as git's log tells"`
	verb.AtRevision
}

// NamesGit reports whether to name commits of git.
func (q *BlameRequest) NamesGit() bool { return q.Git }

// Blamed tells for each field of a node which commit last set it.
type Blamed struct {
	ID     graph.ID      `json:"id"`
	Key    verb.Text     `json:"key"`
	Fields []BlamedField `json:"fields"`
}

// BlamedField is one field and the commit that last set it.
type BlamedField struct {
	Field  string     `json:"field"`
	Commit ipld.CID   `json:"commit"`
	Author string     `json:"author"`
	Agent  verb.Text  `json:"agent"`
	Time   graph.Time `json:"time"`
	Git    *verb.Text `json:"git,omitempty"` // where --git asks for it: what HEAD of git was at

	Message string `json:"_message,omitempty"` // of the commit
}

// Blame tells who last set each field of a node.
var Blame = verb.Define(verb.Spec{
	Command: "blame", Right: verb.NoRight, Confined: true, Usage: "NODE [flags]", Group: "read", Effect: verb.Reads, Pure: true,
	Title: "Show who last set each field of a node, and when",
	Doc: "For each field and property of a node at --at, and for its mark, print the commit that last set\n" +
		"it, with author, agent and time. A merge counts as setting a value only if none of its parents has\n" +
		"it. 'mnem log NODE' lists every commit that touched the node.",
	Example: "  mnem blame alice\n  mnem blame alice --field summary --field props.team\n" +
		"  mnem blame alice --at HEAD~1 --json",
}, func(ctx context.Context, s *verb.Service, q *BlameRequest) (*Blamed, error) {
	snap, err := s.At(ctx, q.At)
	if err != nil {
		return nil, err
	}
	id, err := reading.Visible{Snapshot: snap}.Find(ctx, q.Node)
	if err != nil {
		return nil, err
	}
	n, at, err := snap.Node(ctx, id)
	if err == nil {
		err = reading.Redacted(ctx, snap, at)
	}
	if err != nil {
		return nil, err
	}
	found, err := history.Blame(ctx, snap, id)
	if err == nil {
		found, err = pickFields(found, q.Field)
	}
	out := &Blamed{ID: id, Key: verb.Text(n.Key)}
	for _, b := range found {
		rec := b.Commit
		f := BlamedField{Field: b.Field, Commit: b.CID, Author: rec.Author, Agent: verb.Text(rec.Agent), Time: rec.Time}
		if s.Human && err == nil {
			f.Message, err = s.Repo.Message(ctx, rec.Message)
		}
		out.Fields = append(out.Fields, f)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
})

// pickFields leaves the fields that were asked for, in their order; all for none.
func pickFields(all []history.FieldBlame, only []string) ([]history.FieldBlame, error) {
	if len(only) == 0 {
		return all, nil
	}
	var out []history.FieldBlame
	for _, name := range only {
		at := slices.IndexFunc(all, func(b history.FieldBlame) bool { return b.Field == name })
		if at < 0 {
			return nil, fmt.Errorf("blame: %w", &state.NotFoundError{What: "field", Name: name})
		}
		out = append(out, all[at])
	}
	return out, nil
}
