// Package editing has the verbs that change nodes and edges one by one: lines that are committed, stages, marks, pins.
package editing

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/graph"
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

// RestoreRequest asks for marks to be taken off, or for nodes as they were.
type RestoreRequest struct {
	Names []string `op:",arg,required"`
	Rev   string   `op:",arg,remoteonly" doc:"the revision to bring nodes back from; without it marks are taken off, unless the first of several nodes is a revision: key:NAME is always a node"`
	Nodes []string `op:",arg,required,remoteonly" doc:"nodes, each by key, id, at least 4 digits of an id, or exact title"`
	Marking
}

// Outside makes fields that a server takes of the arguments.
func (q *RestoreRequest) Outside(int) (more bool) {
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

func restore(ctx context.Context, s *verb.Service, q *RestoreRequest) (any, error) {
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
