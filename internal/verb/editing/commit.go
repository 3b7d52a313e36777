// Package editing has the verbs that change nodes and edges one by one: lines that are committed, stages, marks, pins.
package editing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/merging"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/reading"
	"github.com/mnem-project/mnem/ipld"
)

const linesDoc = "change lines, in order: objects with one member node, edge, embedding or remove"

// StrictSecrets is embedded by requests of verbs that read change lines.
type StrictSecrets struct {
	Strict bool `op:",remote" doc:"refuse credentials in more than 1000 changes too, where they are only reported"`
}

func (p *StrictSecrets) Into(w *verb.Writing) { w.Strict = p.Strict }

// CommitRequest asks for a commit of change lines, or of the stage.
type CommitRequest struct {
	Files      []string `op:",arg"`
	Amend      bool     `op:",remote" doc:"replace the newest commit; without -m its message stays"`
	Base       string   `op:"from,remote" not:"amend" complete:"rev" doc:"the {REV} that the changes in FILEs were made against, or \"none\"; if the branch moved since, they are merged onto it" remote:"the REV that the changes were made against"`
	Expect     string   `op:",remote" doc:"the {CID} of the commit that the branch must be at, or \"none\" for a branch without one; else exit code 5"`
	ExpectNode []string `op:",remote" doc:"the version that a node must have, {NODE=CID}, as 'mnem show' prints it, or NODE=none; else exit code 5" note:" (repeatable)"`
	Message    string   `op:",short=m,remote" doc:"what the commit is about; required"`
	verb.Actor
	verb.OnBranch
	verb.OnStage
	verb.Signing
	verb.Params
	verb.Secrets
	StrictSecrets
	verb.Trial
	verb.ChangeReader
}

func (q *CommitRequest) Into(w *verb.Writing) { w.Message, w.Expect = q.Message, q.Expect }

// FileNames are the files that change lines come from.
func (q *CommitRequest) FileNames() []string { return q.Files }

// Committed describes a commit.
type Committed struct {
	core.CommitResult
	DryRun   bool                  `json:"dry_run"`
	Changes  []reading.ChangedItem `json:"changes,omitempty"`
	Warnings Warnings              `json:"warnings,omitempty"`

	Short []reading.ShortChange `json:"_short,omitempty"` // the first of what would change
}

// KeptCommit is a commit that does not merge with its branch and was kept.
type KeptCommit struct {
	Commit    any             `json:"commit" shape:"null"` // the branch does not contain the commit
	Branch    string          `json:"branch"`
	Base      ipld.CID        `json:"base" shape:"null"`
	Head      ipld.CID        `json:"head" shape:"null"`
	Kept      ipld.CID        `json:"kept" shape:"null"`
	Ref       verb.Text       `json:"ref"`
	Conflicts []core.Conflict `json:"conflicts"`
}

// CommitVerb makes a commit.
var CommitVerb = verb.Define(verb.Spec{
	Command: "commit", Right: verb.OwnRight, Confined: true,
	Usage: "-m MESSAGE [FILE…|-]", Args: "[FILE…]", Group: "change", Effect: verb.Writes,
	Title: "Commit change lines, or what is staged",
	Doc: "Apply change lines to the newest commit of a branch and make a commit of the result. Several files\n" +
		"are one batch, \"-\" is standard input, and all is applied or nothing: an error names the file and\n" +
		"line. Without files, commit what is staged. If the stage began at an older commit, or with --from,\n" +
		"the changes are merged onto the newest commit; different changes of one thing are a conflict, exit\n" +
		"code 5, and the changes are kept under a ref to be merged. If nothing changes, no commit is made,\n" +
		"and that is no error.\n\n" +
		"With --amend the newest commit is replaced by one with the changes added.\n\n" +
		"See 'mnem help changes' for the form of change lines.",
	Example: "  mnem commit -m 'first facts' facts.jsonl people.jsonl\n" +
		"  mnem add facts.jsonl && mnem commit -m 'what was staged'\n" +
		"  mnem commit -m 'try it' --dry-run facts.jsonl",
	Answers: []any{Committed{}, KeptCommit{}}, Lines: &verb.LinesSpec{Doc: linesDoc},
}, commitLines)

func (q *CommitRequest) Check() error {
	switch {
	case q.Message == "" && !q.DryRun && !q.Amend:
		return verb.Usagef("no message: say what the commit is about with -m MESSAGE")
	case q.Base != "" && !q.HasChanges():
		return verb.Between("%s is for change lines: a stage knows where it began", "from")
	}
	_, err := parseExpectNodes(q.ExpectNode)
	return err
}

func commitLines(ctx context.Context, s *verb.Service, q *CommitRequest) (any, error) {
	opt := s.Commit
	opt.Amend = q.Amend
	var err error
	if opt.ExpectNodes, err = parseExpectNodes(q.ExpectNode); err != nil {
		return nil, err
	}
	switch q.Base {
	case "":
	case "none":
		opt.Base = &ipld.CID{}
	default:
		at, err := s.From.Revisions().Resolve(ctx, q.Base)
		if err != nil {
			return nil, err
		}
		opt.Base = &at
	}
	var res *core.CommitResult
	if q.HasChanges() {
		var changes state.Changes
		if changes, err = q.Changes(ctx); err == nil {
			res, err = s.Repo.Commit(ctx, changes, opt)
		}
	} else {
		res, err = s.Repo.Stages().Commit(ctx, s.Stage, opt)
	}
	if kept, ok := errors.AsType[*core.MergeError](err); ok {
		return keptApart(s, kept)
	}
	if err != nil {
		return nil, err
	}
	return verb.OneOf(CommittedOf(ctx, s, res))
}

func keptApart(s *verb.Service, kept *core.MergeError) (any, error) {
	out := &KeptCommit{Branch: kept.Branch, Base: kept.Base, Head: kept.Head, Conflicts: kept.Conflicts}
	if s.DryRun {
		return out, verb.Answered(verb.Hint(kept, DryRunHint, ""))
	}
	out.Kept, out.Ref = kept.Kept, verb.Text(kept.Ref)
	return out, verb.Answered(verb.Hint(kept,
		fmt.Sprintf("resolve it with 'mnem merge %s', or forget it with 'mnem merge --drop %s'", kept.Ref, kept.Ref),
		fmt.Sprintf("resolve it with merge of %s, or forget it with merge and drop", kept.Ref)))
}

const DryRunHint = "this was a dry run: nothing is kept"

// CommittedOf returns the form of a commit.
func CommittedOf(ctx context.Context, s *verb.Service, res *core.CommitResult) (*Committed, error) {
	out := &Committed{CommitResult: *res, DryRun: s.DryRun, Warnings: WarningsOf(res.Secrets)}
	if !s.DryRun || res.NoChange {
		return out, nil
	}
	var parent ipld.CID
	if len(res.Parents) > 0 {
		parent = res.Parents[0]
	}
	before, err := s.Repo.At(ctx, parent)
	if err != nil {
		return nil, err
	}
	after, err := s.Repo.At(ctx, res.Commit)
	if err != nil {
		return nil, err
	}
	diff := before.Diff(after)
	if s.Human {
		out.Short, err = reading.ShortOf(ctx, diff, before)
		return out, err
	}
	out.Commit = ipld.CID{} // its time would be another
	out.Changes, _, _, err = reading.ChangesOf(ctx, diff)
	return out, err
}

// parseExpectNodes reads the required versions of nodes. A node is named by its whole key or id, because the meaning of
// a shorter name can change.
func parseExpectNodes(values []string) (map[graph.ID]ipld.CID, error) {
	out := make(map[graph.ID]ipld.CID, len(values))
	for _, v := range values {
		i := strings.LastIndexByte(v, '=')
		if i < 1 {
			return nil, verb.Bad("expect-node", "%q is not of the form NODE=CID", v)
		}
		ref, err := FutureRef(v[:i])
		if err != nil {
			return nil, verb.Bad("expect-node", "%w", err)
		}
		var want ipld.CID
		if v[i+1:] != "none" {
			if want, err = ipld.ParseCID(v[i+1:]); err != nil {
				return nil, verb.Bad("expect-node", "%w", err)
			}
		}
		out[ref.Target()] = want
	}
	return out, nil
}

type restoreRequest struct {
	Names []string `op:",arg,required"`
	Rev   string   `op:",arg,remoteonly" doc:"the revision to bring nodes back from; without it marks are taken off, unless the first of several nodes is a revision: key:NAME is always a node"`
	Nodes []string `op:",arg,required,remoteonly" doc:"nodes, each by key, id, at least 4 digits of an id, or exact title"`
	Marking
}

// Outside makes fields that a server takes of the arguments.
func (q *restoreRequest) Outside(int) (more bool) {
	q.Nodes = q.Names
	return false
}

// Restore takes marks off nodes, or brings nodes back as they were.
var Restore = verb.Define(verb.Spec{
	Command: "restore", Right: verb.OwnRight, Confined: true,
	Usage: "[REV] NODE…", Args: "NODE…", Group: "change", Effect: verb.Writes, Complete: "rev",
	Title: "Remove marks from nodes, or restore earlier versions of them",
	Doc: "Without REV, remove the marks of nodes in one commit: forgotten, retired, superseded, expired or\n" +
		"stale nodes are visible again. For two nodes that contradict each other both marks are removed.\n\n" +
		"With REV, commit nodes as they were at that revision, with the mark they had then, if any, and with\n" +
		"those of their edges that are missing now and whose other ends exist. Nodes are named as at that\n" +
		"revision, so a removed node is found by its key.\n\n" +
		"With several arguments the first is REV if it names a revision; it is refused if it also names a\n" +
		"node. key:NAME and id:ID always mean nodes, REV~0 always a revision.",
	Example: "  mnem restore bob --reason 'it is true after all'\n  mnem restore HEAD~1 alice\n" +
		"  mnem restore HEAD~1 alice svc/billing -m 'they were right' --dry-run",
	Answers: []any{Committed{}, Marked{}},
}, restore)

func restore(ctx context.Context, s *verb.Service, q *restoreRequest) (any, error) {
	names := q.Names
	if len(q.Nodes) > 0 {
		names = q.Nodes
		if q.Rev != "" {
			names = append([]string{q.Rev}, names...)
		}
	}
	marks, err := restoresMarks(ctx, s.From, names, s.Commit.Branch)
	switch {
	case err != nil:
		return nil, err
	case marks:
		res, err := memory.Unmark(ctx, s.Repo, s.Commit, memory.UnmarkRequest{Nodes: names, Reason: q.Reason})
		return verb.OneOf(marked(ctx, s, res, "", err))
	case q.Reason != "":
		return nil, verb.Between("%s is for taking marks off: with a revision say why with -m", "reason")
	}
	res, err := merging.Restore(ctx, s.Repo, names[0], names[1:], s.Commit)
	if err != nil {
		return nil, err
	}
	return verb.OneOf(CommittedOf(ctx, s, res))
}

// restoresMarks decides how to read the arguments of restore: as names of nodes, or as a revision and names. It refuses
// names that can be read both ways, since the two do different things.
func restoresMarks(ctx context.Context, r *core.Repo, args []string, branch string) (marks bool, err error) {
	_, revErr := r.Revisions().Resolve(ctx, args[0])
	s, err := branchHead(ctx, r, branch)
	if err != nil {
		return false, err
	}
	_, err = s.Name(ctx, args[0])
	var missing *state.NotFoundError
	switch {
	case err == nil && revErr == nil && len(args) > 1:
		how := fmt.Sprintf("give key:%s or id:%s for the node, or %s~0 for the revision", args[0], args[0], args[0])
		return false, verb.Hint(verb.Usagef("%q names a revision and a node", args[0]), how, how)
	case revErr == nil && len(args) > 1:
		return false, nil
	case err == nil:
		return true, nil
	case revErr == nil:
		const how = "name nodes to take their marks off, or a revision and nodes to bring them back as they were"
		return false, verb.Hint(verb.Usagef("no NODE to restore from %q", args[0]), how, how)
	case errors.As(err, &missing) && len(args) > 1:
		return false, verb.Hint(revErr, fmt.Sprintf("%q is no node either; 'mnem ls' lists them", args[0]),
			fmt.Sprintf("%q is no node either; retrieve finds them by words", args[0]))
	case errors.As(err, &missing):
		return true, nil // taking marks off reports the missing name
	}
	return false, err
}

// branchHead returns the newest state of a branch, "" for where HEAD is.
func branchHead(ctx context.Context, r *core.Repo, branch string) (*core.Snapshot, error) {
	if branch != "" {
		return r.Snapshot(ctx, string(graph.BranchRef(branch)))
	}
	_, at, err := r.Branch(ctx)
	if err != nil {
		return nil, err
	}
	return r.At(ctx, at)
}

// Staging is embedded by requests of verbs that edit a stage.
type Staging struct {
	Branch string `op:",short=b,remote" complete:"branch" doc:"the branch that an empty stage builds on" note:" (MNEM_BRANCH; default: the one HEAD is on)"`
	verb.Actor
	verb.OnHead
	verb.OnStage
}

func (p *Staging) Into(w *verb.Writing) { w.Branch = p.Branch }

// StageEdited is the content of a stage after a change, against the commit it builds on.
type StageEdited struct {
	Stage string `json:"stage"`
	core.StageResult
	Warnings Warnings `json:"warnings,omitempty"`

	Missing []string `json:"_missing,omitempty"` // ends of an edge that there are no nodes for yet
}

// AddRequest asks for change lines, one node or one edge to be staged.
type AddRequest struct {
	Files []string `op:",arg,required"`
	Set   bool     `op:"" doc:"change fields of a node: NODE FIELD=VALUE…"`
	Type  string   `op:"" doc:"the {TYPE} of the node that --set changes; lets it make a new node"`
	Unset []string `op:"" doc:"a {FIELD} that --set removes" note:" (repeatable)"`
	Link  bool     `op:"" not:"set" doc:"add or change an edge: SRC TYPE DST FIELD=VALUE…"`
	Key   string   `op:"" doc:"{KEY} that tells parallel edges apart"`
	Staging
	verb.Secrets
	StrictSecrets
	verb.ChangeReader
}

// FileNames are the files that change lines come from.
func (q *AddRequest) FileNames() []string {
	if q.Set || q.Link {
		return nil
	}
	return q.Files
}

type rmRequest struct {
	Nodes []string `op:",arg,remote" doc:"nodes, each by key, id or at least 4 digits of an id; with link SRC TYPE DST"`
	Edge  []string `op:",remote" not:"link" doc:"the {ID} of an edge to remove" note:" (repeatable)"`
	Link  bool     `op:",remote" doc:"remove the edge of TYPE from SRC to DST"`
	Key   string   `op:",remote" not:"all" doc:"the {KEY} of the edge that --link removes" remote:"the key of the edge that link removes"`
	All   bool     `op:",remote" doc:"with --link: remove all edges of the type between the two nodes" remote:"with link: remove all edges of the type between the two nodes"`
	Staging
}

// Add and Rm edit the stage.
var (
	Add = verb.Define(verb.Spec{
		Command: "add", Right: verb.OwnRight, Confined: true, Usage: "FILE…|- | add --set NODE [FIELD=VALUE…] | add --link SRC TYPE DST [FIELD=VALUE…]",
		Args: "FILE…", Group: "change", Effect: verb.Writes,
		Title: "Stage change lines, a node or an edge",
		Doc: "Apply change lines to a stage, to be committed later. Several files are one batch, \"-\"\n" +
			"is standard input, and all is staged or nothing. A stage may hold edges whose ends do\n" +
			"not exist yet. See 'mnem help changes' for the form of change lines.\n\n" +
			"--set changes fields and properties of NODE. With --type, a NODE that does not exist yet\n" +
			"is made under that key. FIELD is summary, context, content, type, created, validFrom,\n" +
			"validTo, sources or cues; anything else is a property, and props.NAME one that has the name\n" +
			"of a field. The value of a property is JSON where it reads as JSON, else text; that of\n" +
			"sources and cues is a JSON list; times are RFC 3339 or YYYY-MM-DD.\n\n" +
			"--link stages an edge of a TYPE from SRC to DST. An edge that is there already is changed:\n" +
			"properties that are not given stay. FIELD is weight, above 0 and at most 1 (for a new edge 1), or a\n" +
			"property. SRC and DST may be keys of nodes that are still to come, but then the stage cannot be\n" +
			"committed before they are there.\n\n" +
			"Nodes are named by key, id or unique prefix of an id.",
		Example: "  mnem add facts.jsonl\n  mnem add - <people.jsonl\n" +
			"  mnem add --set alice summary='Alice leads infra' team=infra since=2024\n" +
			"  mnem add --set carol --type Person summary='Carol joined in May'\n" +
			"  mnem add --set alice --unset team --unset summary\n" +
			"  mnem add --link alice owns svc/billing weight=0.5 since=2024\n" +
			"  mnem add --link alice met bob --key 2024-05-01",
		Lines: &verb.LinesSpec{Doc: linesDoc, Required: true},
	}, func(ctx context.Context, s *verb.Service, q *AddRequest) (*StageEdited, error) {
		switch {
		case q.Set:
			return set(ctx, s, q)
		case q.Link:
			return link(ctx, s, q)
		}
		changes, err := q.Changes(ctx)
		if err != nil {
			return nil, err
		}
		return edit(ctx, s, changes)
	})

	Rm = verb.Define(verb.Spec{
		Command: "rm", Right: verb.OwnRight, Confined: true,
		Usage: "NODE… | rm --edge ID | rm --link SRC TYPE DST", Args: "[NODE…]", Group: "change", Effect: verb.Writes,
		Title: "Stage the removal of nodes or edges",
		Doc: "Stage the removal of nodes, each with its edges, marks and embeddings, and of edges\n" +
			"given by their ids. --link removes the edge of a TYPE from SRC to DST: the one without a\n" +
			"key, the one that --key names, or with --all every one. A NODE is named by its key, its id\n" +
			"or a unique prefix of its id. Older commits keep what is removed.",
		Example: "  mnem rm --link alice owns svc/billing\n  mnem rm --link alice met bob --all\n" +
			"  mnem rm bob\n  mnem rm alice svc/billing\n" +
			"  mnem rm --edge 0b4ea2c5-1f0a-9c58-3d6e-7a1b2c3d4e5f",
	}, rm)
)

func edit(ctx context.Context, s *verb.Service, changes state.Changes) (*StageEdited, error) {
	opt := core.StageOptions{Stamp: s.Commit.Stamp, Stage: s.Stage, Branch: s.Commit.Branch}
	res, err := s.Repo.Stages().Add(ctx, changes, opt)
	if err != nil {
		return nil, err
	}
	return &StageEdited{Stage: s.Repo.Stages().Name(s.Stage), StageResult: *res, Warnings: WarningsOf(res.Secrets)}, nil
}

// editOne is edit for changes made before.
func editOne(ctx context.Context, s *verb.Service, err error, list ...graph.Change) (*StageEdited, error) {
	if err != nil {
		return nil, err
	}
	return edit(ctx, s, core.Each(list))
}

// changeOf makes a change as from a line, with all the checks of a line.
func changeOf(kind string, members ...ipld.Entry) (graph.Change, error) {
	v := ipld.MapValue(ipld.Entry{Key: kind, Value: ipld.MapValue(members...)})
	return graph.ParseChange(ipld.AppendJSON(nil, v))
}

func textMember(name, value string) ipld.Entry {
	return ipld.Entry{Key: name, Value: ipld.StringValue(value)}
}

// textFields are the fields of a node that are taken as text, never read as JSON.
var textFields = []string{"type", "summary", "context", "content", "created", "validFrom", "validTo"}

var listFields = []string{"sources", "cues"}

func (q *AddRequest) Check() (err error) {
	switch {
	case !q.Set && (q.Type != "" || len(q.Unset) > 0):
		err = verb.Between("%s and %s need %s", "type", "unset", "set")
	case !q.Link && q.Key != "":
		err = verb.Between("%s needs %s", "key", "link")
	case q.Set:
		_, err = q.members()
	case q.Link && len(q.Files) < 3:
		err = verb.Between("%s wants SRC TYPE DST", "link")
	case q.Link:
		_, err = q.fields()
	}
	return err
}

func set(ctx context.Context, s *verb.Service, q *AddRequest) (*StageEdited, error) {
	members, err := q.members()
	if err != nil {
		return nil, err
	}
	staged, err := s.Repo.Stages().Snapshot(ctx, s.Stage)
	if err != nil {
		return nil, err
	}
	node, err := setTarget(ctx, staged, q.Files[0], q.Type != "")
	if err != nil {
		return nil, err
	}
	change, err := changeOf("node", append(members, node)...)
	return editOne(ctx, s, err, change)
}

func setTarget(ctx context.Context, s *core.Snapshot, name string, create bool) (ipld.Entry, error) {
	id, err := s.Name(ctx, name)
	if err == nil {
		return textMember("id", id.String()), nil
	}
	if !errors.Is(err, store.ErrNotFound) {
		return ipld.Entry{}, err
	}
	if !create {
		return ipld.Entry{}, verb.Hint(err, "give --type TYPE to make it", "give type to make it")
	}
	ref, err := FutureRef(name)
	if err != nil {
		return ipld.Entry{}, fmt.Errorf("new node: %w", err)
	}
	if ref.Key != "" {
		return textMember("key", ref.Key), nil
	}
	return textMember("id", ref.ID.String()), nil
}

func (q *AddRequest) members() ([]ipld.Entry, error) {
	var members, props []ipld.Entry
	if q.Type != "" {
		members = append(members, textMember("type", q.Type))
	}
	for _, arg := range q.Files[1:] {
		name, value, err := assignment(arg)
		if err != nil {
			return nil, err
		}
		prop, isProp := strings.CutPrefix(name, reading.PropPrefix)
		switch {
		case isProp:
			props = append(props, propMember(prop, value))
		case slices.Contains(textFields, name):
			members = append(members, textMember(name, value))
		case slices.Contains(listFields, name):
			members = append(members, propMember(name, value))
		case name == "key" || name == "id":
			return nil, verb.Usagef("%s never changes; for a property give %s%s=…", name, reading.PropPrefix, name)
		default:
			props = append(props, propMember(name, value))
		}
	}
	members, err := withProps(members, props)
	if err != nil {
		return nil, err
	}
	if len(q.Unset) > 0 {
		members = append(members, unsetMember(q.Unset))
	}
	if len(members) == 0 {
		return nil, verb.Between("nothing to set: give FIELD=VALUE, %s or %s", "type", "unset")
	}
	for i, m := range members {
		for _, before := range members[:i] {
			if before.Key == m.Key {
				return nil, verb.Usagef("%s is given twice", m.Key)
			}
		}
	}
	return members, nil
}

func unsetMember(fields []string) ipld.Entry {
	var names []ipld.Value
	for _, name := range fields {
		isField := slices.Contains(textFields, name) || slices.Contains(listFields, name)
		if !isField && !strings.HasPrefix(name, reading.PropPrefix) {
			name = reading.PropPrefix + name
		}
		names = append(names, ipld.StringValue(name))
	}
	return ipld.Entry{Key: "unset", Value: ipld.ListValue(names...)}
}

// assignment reads NAME=VALUE.
func assignment(arg string) (name, value string, err error) {
	name, value, ok := strings.Cut(arg, "=")
	if !ok || name == "" {
		return "", "", verb.Usagef("%q is not of the form NAME=VALUE", arg)
	}
	return name, value, nil
}

// propMember makes a property of NAME=VALUE: the value is JSON if it parses as JSON, else text.
func propMember(name, value string) ipld.Entry {
	v, err := ipld.ParseJSON([]byte(value))
	if err != nil {
		v = ipld.StringValue(value)
	}
	return ipld.Entry{Key: name, Value: v}
}

// withProps adds the member props, refusing a name given twice.
func withProps(members, props []ipld.Entry) ([]ipld.Entry, error) {
	seen := make(map[string]bool)
	for _, p := range props {
		if seen[p.Key] {
			return nil, verb.Usagef("property %q is given twice", p.Key)
		}
		seen[p.Key] = true
	}
	if len(props) > 0 {
		members = append(members, ipld.Entry{Key: "props", Value: ipld.MapValue(props...)})
	}
	return members, nil
}

func (q *rmRequest) Check() error {
	switch {
	case q.Link && len(q.Nodes) != 3:
		return verb.Between("%s wants SRC TYPE DST", "link")
	case !q.Link && (q.Key != "" || q.All):
		return verb.Between("%s and %s need %s", "key", "all", "link")
	case len(q.Nodes)+len(q.Edge) == 0:
		return verb.Between("name a node, or an edge with %s ID", "edge")
	}
	return nil
}

func rm(ctx context.Context, s *verb.Service, q *rmRequest) (*StageEdited, error) {
	if q.Link {
		return unlink(ctx, s, q)
	}
	staged, err := s.Repo.Stages().Snapshot(ctx, s.Stage)
	if err != nil {
		return nil, err
	}
	var list []graph.Change
	add := func(member ipld.Entry) error {
		change, err := changeOf("remove", member)
		list = append(list, change)
		return err
	}
	for _, text := range q.Edge {
		id, err := graph.ParseID(text)
		if err == nil {
			_, _, err = staged.Edge(ctx, id)
		}
		if err == nil {
			err = add(ipld.Entry{Key: "edge", Value: ipld.MapValue(textMember("id", text))})
		}
		if err != nil {
			return nil, err
		}
	}
	for _, name := range q.Nodes {
		id, err := staged.Name(ctx, name)
		if err == nil {
			err = add(textMember("node", id.String()))
		}
		if err != nil {
			return nil, err
		}
	}
	return editOne(ctx, s, nil, list...)
}

// editEdge stages a change of the edge SRC TYPE DST. make is given the members of its line: for each end the staged node
// that a name means, or else the key of a future node, which the answer names.
func editEdge(
	ctx context.Context, s *verb.Service, names []string, make func(edge []ipld.Entry) (graph.Change, error),
) (*StageEdited, error) {
	staged, err := s.Repo.Stages().Snapshot(ctx, s.Stage)
	if err != nil {
		return nil, err
	}
	var missing []string
	edge := []ipld.Entry{textMember("type", names[1])}
	for _, end := range [][2]string{{"src", names[0]}, {"dst", names[2]}} {
		id, err := staged.Name(ctx, end[1])
		switch {
		case err == nil:
			n, _, err := staged.Node(ctx, id)
			if err != nil {
				return nil, err
			}
			edge = append(edge, textMember(end[0], cmp.Or(n.Key, id.String())))
		case errors.Is(err, store.ErrNotFound):
			ref, err := FutureRef(end[1])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", end[0], err)
			}
			missing = append(missing, end[1])
			edge = append(edge, textMember(end[0], ref.String()))
		default:
			return nil, err
		}
	}
	change, err := make(edge)
	out, err := editOne(ctx, s, err, change)
	if out != nil && s.Human {
		out.Missing = missing
	}
	return out, err
}

// fields returns the members of an edge's line besides its ends.
func (q *AddRequest) fields() ([]ipld.Entry, error) {
	var members, props []ipld.Entry
	if q.Key != "" {
		members = append(members, textMember("key", q.Key))
	}
	for _, arg := range q.Files[3:] {
		name, value, err := assignment(arg)
		if err != nil {
			return nil, err
		}
		prop, isProp := strings.CutPrefix(name, reading.PropPrefix)
		if !isProp && (name == "key" || name == "id") {
			return nil, verb.Usagef("%s tells edges apart: name one with --key; for a property give %s%s=…", name, reading.PropPrefix, name)
		}
		if !isProp && name == "weight" {
			v, err := ipld.ParseJSON([]byte(value))
			if err != nil || v.Kind() != ipld.Int && v.Kind() != ipld.Float {
				return nil, verb.Usagef("weight: %q is not a number", value)
			}
			if slices.ContainsFunc(members, func(m ipld.Entry) bool { return m.Key == name }) {
				return nil, verb.Usagef("weight is given twice")
			}
			members = append(members, ipld.Entry{Key: name, Value: v})
			continue
		}
		props = append(props, propMember(prop, value))
	}
	return withProps(members, props)
}

func link(ctx context.Context, s *verb.Service, q *AddRequest) (*StageEdited, error) {
	fields, err := q.fields()
	if err != nil {
		return nil, err
	}
	return editEdge(ctx, s, q.Files, func(edge []ipld.Entry) (graph.Change, error) {
		return changeOf("edge", append(fields, edge...)...)
	})
}

func unlink(ctx context.Context, s *verb.Service, q *rmRequest) (*StageEdited, error) {
	return editEdge(ctx, s, q.Nodes, func(edge []ipld.Entry) (graph.Change, error) {
		switch {
		case q.Key != "":
			edge = append(edge, textMember("key", q.Key))
		case q.All:
			edge = append(edge, ipld.Entry{Key: "all", Value: ipld.BoolValue(true)})
		}
		return changeOf("remove", ipld.Entry{Key: "edge", Value: ipld.MapValue(edge...)})
	})
}

// FutureRef reads the name of a node that does not exist yet: a key, or an id.
func FutureRef(name string) (graph.Ref, error) {
	if key, ok := strings.CutPrefix(name, "key:"); ok {
		return graph.ParseRef(key)
	}
	if text, ok := strings.CutPrefix(name, "id:"); ok {
		id, err := graph.ParseID(text)
		return graph.Ref{ID: id}, err
	}
	return graph.ParseRef(name)
}
