package branching

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/ipld"
)

// existsError names what exists already; the system would speak of files.
type existsError struct {
	what string
	err  error
}

func (e existsError) Error() string { return e.what + " already exists" }
func (e existsError) Unwrap() error { return e.err }

// Already returns an error that says what exists.
func Already(err error, format string, args ...any) error {
	return existsError{fmt.Sprintf(format, args...), err}
}

// Branch is one branch, or HEAD where it is on none.
type Branch struct {
	core.BranchInfo
	// Remotes are where the branch was found at the last fetch or push, in a list.
	Remotes []BranchThere `json:"remotes,omitempty"`

	Title string `json:"_title,omitempty"` // of its newest commit
	Made  bool   `json:"_made,omitempty"`  // whether it was made or moved now
}

// BranchThere is a branch of another repository, against the one here of the same name.
type BranchThere struct {
	Remote string   `json:"remote"`
	Commit ipld.CID `json:"commit"`
	Ahead  int      `json:"ahead"`  // commits that are here alone
	Behind int      `json:"behind"` // commits that are there alone
}

// Gone is a removed branch or tag.
type Gone struct {
	Removed string   `json:"removed"`
	Commit  ipld.CID `json:"commit"`
}

// RefExpect is of verbs that change one branch or tag.
type RefExpect struct {
	Expect string `op:",remote" doc:"the {CID} of the commit that the name must be at, or \"none\" where it must not exist; else exit code 5"`
}

func (p *RefExpect) Into(w *verb.Writing) { w.Expect = p.Expect }

// BranchRequest asks for the branches, or for a change of one.
type BranchRequest struct {
	Name   string `op:",arg,remote,writes" doc:"the branch; none to list them"`
	Rev    string `op:",arg,remote,writes" complete:"rev" doc:"where a new branch begins; with move the new name"`
	Delete bool   `op:",short=d,remote" doc:"remove a branch"`
	Force  bool   `op:",short=f,remote" doc:"move a branch that exists, remove one that is not merged"`
	Move   bool   `op:",short=m,remote" doc:"rename a branch"`
	RefExpect
	verb.Actor
	verb.Params
}

// BranchVerb lists, makes, renames or removes branches.
var BranchVerb = verb.Stream(verb.Spec{
	Command: "branch", Right: verb.OwnRight,
	Usage: "| branch NAME [REV] | branch -m [OLD] NEW | branch -d NAME", Args: "[NAME] [REV]",
	Group: "history", Effect: verb.Reads, Complete: "branch",
	Title: "List, create, rename or remove branches",
	Doc: "Without a name, list the branches; * marks the one HEAD is on. With a name, create a branch at a\n" +
		"revision, by default at HEAD; HEAD does not move (see 'mnem switch'). -m renames a branch, by default\n" +
		"the current one, together with what is staged for it. -d removes a branch whose commits another\n" +
		"branch or a tag also reaches. --force moves an existing branch, and removes one whose commits nothing\n" +
		"else reaches; 'mnem undo' brings it back.\n\n" +
		"The list compares each branch with the one of the same name in each remote, as of the last fetch or\n" +
		"push: how many commits are only here (ahead) and only there (behind).\n\n" +
		"With --json, one object a line.",
	Example: "  mnem branch\n  mnem branch draft\n  mnem branch before HEAD~1\n" +
		"  mnem branch -m draft winter\n  mnem branch -d winter",
	Answers: []any{Branch{}, Gone{}},
}, branch)

func (q *BranchRequest) Check() error {
	if err := verb.AtMostOne(q, "move", "delete"); err != nil {
		return err
	}
	switch {
	case q.Name == "" && !q.Move && !q.Delete:
		return listOnly(q, "branch")
	case q.Name == "":
		return verb.Usagef("name a branch")
	case q.Delete && q.Rev != "":
		return verb.Usagef("-d takes one branch, not 2")
	}
	return nil
}

// listOnly refuses what has no meaning if there is no name it could be about.
func listOnly(q interface{ Given(string) bool }, command string) error {
	for _, name := range []string{"force", "expect"} {
		if q.Given(name) {
			return verb.Between("%s needs a name: without one 'mnem "+command+"' lists", name)
		}
	}
	return nil
}

func branch(ctx context.Context, s *verb.Service, q *BranchRequest, emit func(any) error) error {
	opt := core.RefOptions{Stamp: s.Commit.Stamp, Force: q.Force, Expect: s.Commit.Expect}
	var err error
	switch {
	case q.Name == "":
		return branches(ctx, s, func(b *Branch) error {
			if err := against(ctx, s, b); err != nil {
				return err
			}
			return emit(b)
		})
	case q.Delete:
		var was ipld.CID
		if was, err = s.Repo.Branches().Remove(ctx, q.Name, opt); err != nil {
			return inUseHint(err)
		}
		return emit(&Gone{q.Name, was})
	case q.Move:
		from, to := "", q.Name
		if q.Rev != "" {
			from, to = q.Name, q.Rev
		}
		if err = s.Repo.Branches().Rename(ctx, from, to, opt); errors.Is(err, fs.ErrExist) {
			return verb.Hint(Already(err, "branch %q", to), "replace it with --force", "replace it with force")
		}
		if err != nil {
			return err
		}
		return made(ctx, s, to, emit)
	}
	_, err = s.Repo.Branches().Create(ctx, q.Name, q.Rev, opt)
	if errors.Is(err, fs.ErrExist) {
		return verb.Hint(Already(err, "branch %q", q.Name),
			fmt.Sprintf("go there with 'mnem switch %s', or move it with --force", q.Name),
			"go there with switch, or move it with force")
	}
	if err != nil {
		return verb.CommitHint(err)
	}
	return made(ctx, s, q.Name, emit)
}

func made(ctx context.Context, s *verb.Service, name string, emit func(any) error) error {
	return branches(ctx, s, func(b *Branch) error {
		if b.Name != name {
			return nil
		}
		b.Made = s.Human
		return emit(b)
	})
}

func branches(ctx context.Context, s *verb.Service, emit func(*Branch) error) error {
	all, err := s.Repo.Branches().List(ctx)
	if err != nil {
		return err
	}
	for _, b := range all {
		out := &Branch{BranchInfo: b}
		if s.Human {
			if out.Title, err = titleOf(ctx, s.Repo, b.Commit); err != nil {
				return err
			}
		}
		if err := emit(out); err != nil {
			return err
		}
	}
	return nil
}

// against fills in how a branch and those of the same name in remotes differ.
func against(ctx context.Context, s *verb.Service, b *Branch) error {
	refs, err := s.Repo.Refs(ctx)
	if err != nil {
		return err
	}
	for _, ref := range refs {
		rest, tracked := strings.CutPrefix(string(ref.Name), graph.Remotes)
		name, branch, found := strings.Cut(rest, "/heads/")
		if !tracked || !found || branch != b.Name || strings.Contains(name, "/") || !b.Commit.Defined() {
			continue
		}
		there := BranchThere{Remote: name, Commit: ref.Target}
		if there.Ahead, err = history.CountBetween(ctx, s.Repo, b.Commit, ref.Target); err == nil {
			there.Behind, err = history.CountBetween(ctx, s.Repo, ref.Target, b.Commit)
		}
		if err != nil {
			return err
		}
		b.Remotes = append(b.Remotes, there)
	}
	return nil
}

// titleOf returns the first line of a commit's message.
func titleOf(ctx context.Context, r *core.Repo, commit ipld.CID) (string, error) {
	if !commit.Defined() {
		return "no commit yet", nil
	}
	s, err := r.At(ctx, commit)
	if err != nil {
		return "", err
	}
	message, err := s.Message(ctx)
	first, _, _ := strings.Cut(message, "\n")
	return first, err
}

func inUseHint(err error) error {
	var used *core.InUseError
	switch {
	case errors.As(err, &used) && used.Forced:
		return verb.Hint(err, "remove it all the same with --force", "remove it all the same with force")
	case used != nil && used.Own:
		return verb.Hint(err, "it is the HEAD of clients that have not switched; 'mnem branch -m' gives it another name",
			"it is the HEAD of clients that have not switched; branch with move gives it another name")
	case used != nil:
		return verb.Hint(err, "go elsewhere first with 'mnem switch'", "go elsewhere first with switch")
	}
	return err
}

// Tag is one tag; what follows current is null for a plain one.
type Tag struct {
	Name    string        `json:"name"`
	Commit  ipld.CID      `json:"commit"`
	Current bool          `json:"current"` // whether HEAD is at that commit
	Tag     ipld.CID      `json:"tag" shape:"null"`
	Tagger  *string       `json:"tagger"`
	Time    graph.OptTime `json:"time"`
	Message *string       `json:"message"`

	Title string `json:"_title,omitempty"`
	Made  bool   `json:"_made,omitempty"` // whether it was made or moved now
}

// TagRequest asks for the tags, or for a change of one.
type TagRequest struct {
	Name    string `op:",arg,remote,writes" doc:"the tag; none to list them"`
	Rev     string `op:",arg,remote,writes" complete:"rev" doc:"a branch, tag, CID or any other revision"`
	Delete  bool   `op:",short=d,remote" doc:"remove a tag"`
	Force   bool   `op:",short=f,remote" doc:"move a tag that exists"`
	Message string `op:",short=m,remote" doc:"what the tag is about; it then also records who made it and when"`
	RefExpect
	verb.Actor
	verb.Secrets
	verb.Params
}

// TagVerb lists, makes or removes tags.
var TagVerb = verb.Stream(verb.Spec{
	Command: "tag", Right: verb.OwnRight,
	Usage: "| tag NAME [REV] | tag -d NAME", Args: "[NAME] [REV]", Group: "history", Effect: verb.Reads,
	Complete: "tag",
	Title:    "List, create or remove tags",
	Doc: "Without a name, list the tags. With a name, tag a commit, by default that of HEAD; with -m the\n" +
		"tag also records who made it, when and why. A tag does not move unless --force is given. -d removes\n" +
		"a tag.\n\n" +
		"With --json, one object a line.",
	Example: "  mnem tag v1\n  mnem tag v2 -m 'what the audit saw' HEAD~1\n  mnem tag\n  mnem tag -d v1",
	Answers: []any{Tag{}, Gone{}},
}, tag)

func (q *TagRequest) Check() error {
	annotate := q.Given("message")
	switch {
	case q.Delete && annotate:
		return verb.Usagef("-d excludes -m")
	case q.Name == "" && !q.Delete && !annotate:
		return listOnly(q, "tag")
	case q.Name == "":
		return verb.Usagef("name a tag")
	case q.Delete && q.Rev != "":
		return verb.Usagef("-d takes one tag, not 2")
	}
	return nil
}

func tag(ctx context.Context, s *verb.Service, q *TagRequest, emit func(any) error) error {
	opt := core.RefOptions{Stamp: s.Commit.Stamp, Force: q.Force, Expect: s.Commit.Expect}
	switch {
	case q.Name == "":
		all, err := s.Repo.Tags().List(ctx)
		for _, t := range all {
			if err == nil {
				err = emitTag(ctx, s, t, false, emit)
			}
		}
		return err
	case q.Delete:
		was, err := s.Repo.Tags().Remove(ctx, q.Name, opt)
		if err != nil {
			return err
		}
		return emit(&Gone{q.Name, was.Commit})
	}
	t, err := s.Repo.Tags().Create(ctx, q.Name, q.Rev, core.TagOptions{
		RefOptions: opt, Annotate: q.Given("message"), Message: q.Message,
	})
	switch {
	case errors.Is(err, fs.ErrExist):
		return verb.Hint(Already(err, "tag %q", q.Name), "move it with --force", "move it with force")
	case errors.Is(err, store.ErrNotFound):
		return verb.CommitHint(err)
	case err != nil:
		return err
	}
	return emitTag(ctx, s, t, true, emit)
}

func emitTag(ctx context.Context, s *verb.Service, t core.TagInfo, made bool, emit func(any) error) error {
	_, head, err := s.Repo.Branch(ctx)
	if err != nil {
		return err
	}
	out := &Tag{Name: t.Name, Commit: t.Commit, Current: t.Commit == head, Tag: t.CID, Made: made && s.Human}
	if rec := t.Record; rec != nil {
		message, err := s.Repo.Message(ctx, rec.Message)
		if err != nil {
			return err
		}
		out.Tagger, out.Time, out.Message = &rec.Tagger, graph.At(rec.Time), &message
		if s.Human {
			out.Title, _, _ = strings.Cut(message, "\n")
		}
	} else if s.Human && !made {
		if out.Title, err = titleOf(ctx, s.Repo, t.Commit); err != nil {
			return err
		}
	}
	return emit(out)
}

// SwitchRequest asks for HEAD to be elsewhere.
type SwitchRequest struct {
	Name   string `op:",arg,remote" doc:"the branch, or with detach a revision"`
	Rev    string `op:",arg,remote" complete:"rev" doc:"with create: where the branch begins"`
	Create bool   `op:",short=c,remote" doc:"make the branch"`
	Detach bool   `op:",remote" doc:"be at a commit and on no branch"`
	Force  bool   `op:",short=f,remote" doc:"with -c: move the branch if there is one already"`
	verb.Actor
	verb.OnHead
	verb.Params
}

// Head is where HEAD is.
type Head struct {
	Branch verb.Text `json:"branch"`              // null where it is on none
	Commit ipld.CID  `json:"commit" shape:"null"` // null before the first

	Staged string `json:"_staged,omitempty"` // the branch that something is staged for, if it is another one
}

// Switch puts HEAD on another branch.
var Switch = verb.Define(verb.Spec{
	Command: "switch", Right: verb.OwnRight,
	Usage: "NAME | switch -c NAME [REV] | switch --detach [REV]", Args: "[NAME] [REV]",
	Group: "history", Effect: verb.Writes, Complete: "branch",
	Title: "Switch HEAD to another branch",
	Doc: "Switch HEAD to another branch: commands read from it and commits go to it, unless they name another\n" +
		"one. -c creates the branch first, at a revision or at HEAD. --detach puts HEAD at a commit and on no\n" +
		"branch: everything can be read there, and a write that names no branch is refused. What is staged\n" +
		"stays staged for its branch.\n\n" +
		"HEAD is shared by all users of a repository on disk: a program should name the branch it works on with\n" +
		"--branch or MNEM_BRANCH instead. In a database each client has its own, and 'mnem undo' leaves it.",
	Example: "  mnem switch -c draft\n  mnem switch main\n  mnem switch --detach HEAD~1\n" +
		"  mnem switch -c before main~1",
}, func(ctx context.Context, s *verb.Service, q *SwitchRequest) (*Head, error) {
	by := s.Commit.Stamp
	if q.Detach {
		if _, err := s.Repo.Branches().Detach(ctx, cmp.Or(q.Name, string(graph.Head)), by); err != nil {
			return nil, verb.CommitHint(err)
		}
	} else {
		opt := core.SwitchOptions{Stamp: by, Create: q.Create, Force: q.Force, Start: q.Rev}
		if err := s.Repo.Branches().Switch(ctx, q.Name, opt); err != nil {
			return nil, switchHint(ctx, s.Repo, err, q.Name)
		}
	}
	branch, at, err := s.Repo.Branch(ctx)
	out := &Head{Branch: verb.Text(branch), Commit: at}
	if s.Human && err == nil && branch != "" {
		var st *core.Status
		if st, err = s.Repo.Stages().Status(ctx, s.Stage); err == nil && st.Staged && st.Branch != branch {
			out.Staged = st.Branch
		}
	}
	if err != nil {
		return nil, err
	}
	return out, nil
})

func (q *SwitchRequest) Check() error {
	if err := verb.AtMostOne(q, "create", "detach"); err != nil {
		return err
	}
	switch {
	case q.Name == "" && !q.Detach:
		return verb.Between("name a branch, or a commit with %s", "detach")
	case q.Rev != "" && !q.Create:
		return verb.Usagef("one name is enough: -c alone takes a revision too")
	case q.Force && !q.Create:
		return verb.Between("%s goes with -c", "force")
	}
	return nil
}

func switchHint(ctx context.Context, r *core.Repo, err error, name string) error {
	var missing *state.NotFoundError
	switch {
	case errors.As(err, &missing) && missing.What == "branch":
		if _, revErr := r.Revisions().Resolve(ctx, name); revErr == nil {
			return verb.Hint(err, fmt.Sprintf(
				"to be at that commit and on no branch: 'mnem switch --detach %s'", name),
				"to be at that commit and on no branch: switch with detach")
		}
		if nameErr := graph.ValidateName(name); nameErr != nil {
			return verb.Hint(err, fmt.Sprintf("there can be no such branch: %v", nameErr), "")
		}
		return verb.Hint(err, fmt.Sprintf("make it with 'mnem switch -c %s'", name), "make it with switch and create")
	case errors.Is(err, fs.ErrExist):
		return verb.Hint(Already(err, "branch %q", name), fmt.Sprintf(
			"go there with 'mnem switch %s', or move it with --force", name),
			"go there with switch, or move it with force")
	case errors.Is(err, store.ErrNotFound):
		return verb.CommitHint(err)
	}
	return err
}

type resetRequest struct {
	verb.Actor
	verb.OnHead
	verb.OnStage
}

// Staged has the contents of a stage.
type Staged struct {
	Stage  string       `json:"stage"`
	Staged bool         `json:"staged"` // whether anything was
	Nodes  state.Counts `json:"nodes"`
	Edges  state.Counts `json:"edges"`
}

// Reset forgets what is staged.
var Reset = verb.Define(verb.Spec{
	Command: "reset", Right: verb.OwnRight, Confined: true, Group: "change", Effect: verb.Writes, Idempotent: true,
	Title:   "Discard what is staged",
	Doc:     "Discard what a stage holds and print how much that was. Commits are not affected.",
	Example: "  mnem reset\n  mnem reset --stage draft",
}, func(ctx context.Context, s *verb.Service, _ *resetRequest) (*Staged, error) {
	st, err := s.Repo.Stages().Status(ctx, s.Stage)
	if err != nil {
		return nil, err
	}
	out := &Staged{Stage: s.Repo.Stages().Name(s.Stage), Staged: st.Staged}
	if out.Nodes, out.Edges, err = st.Diff.Count(ctx); err != nil {
		return nil, err
	}
	if err := s.Repo.Stages().Remove(ctx, s.Stage, s.Commit.Stamp); err != nil {
		return nil, err
	}
	return out, nil
})
