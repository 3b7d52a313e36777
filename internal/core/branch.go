package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// DetachedError is returned by a write to the current branch while HEAD is detached: it is at a
// commit and on no branch. errors.Is(err, ErrInvalid) holds.
type DetachedError struct{ At ipld.CID }

// Error names the commit that HEAD is at.
func (e *DetachedError) Error() string { return fmt.Sprintf("HEAD is on no branch, but at %s", e.At) }

// Is reports whether target is ErrInvalid.
func (e *DetachedError) Is(target error) bool { return target == state.ErrInvalid }

// InUseError is returned if a branch cannot be removed, because HEAD is on it or, unless that
// is forced, because something would be lost with it. errors.Is(err, ErrInvalid) holds.
type InUseError struct {
	Branch string
	Why    string
	Forced bool // whether forcing it would remove it
	Own    bool // whether it is the repository's own HEAD that is on it, and the caller's is elsewhere
}

// Error names the branch and why it stays.
func (e *InUseError) Error() string {
	return fmt.Sprintf("branch %q cannot be removed: %s", e.Branch, e.Why)
}

// Is reports whether target is ErrInvalid.
func (e *InUseError) Is(target error) bool { return target == state.ErrInvalid }

// BranchInfo is one branch. HEAD is listed under its own name if it is detached.
type BranchInfo struct {
	Name    string   `json:"name"`
	Commit  ipld.CID `json:"commit" shape:"null"` // the newest; undefined before the first
	Current bool     `json:"current"`             // whether HEAD is on it
}

// RefOptions says how a branch or tag is made, moved or removed.
type RefOptions struct {
	state.Stamp
	Force bool // replace what has the name, or remove what is not merged
	// Expect, if set, is the commit the ref must be at; an undefined CID means the ref must not
	// exist. A mismatch fails with an *ExpectError.
	Expect *ipld.CID
}

// Branches lists, makes, renames and removes branches, and moves HEAD between them.
type Branches struct{ repo *Repo }

// Branches returns the branches.
func (r *Repo) Branches() Branches { return Branches{r} }

// List returns all branches in name order, the one HEAD is on among them even before its first
// commit; if HEAD is detached it comes first.
func (bs Branches) List(ctx context.Context) ([]BranchInfo, error) {
	v, err := bs.repo.Current(ctx)
	if err != nil {
		return nil, err
	}
	head, _, err := v.Resolve(ctx, graph.Head)
	if err != nil {
		return nil, err
	}
	var all []BranchInfo
	if head.Name == graph.Head {
		all = append(all, BranchInfo{string(graph.Head), head.Target, true})
	}
	for ref, err := range v.List(ctx, graph.Heads) {
		if err != nil {
			return nil, err
		}
		all = append(all, BranchInfo{BranchName(ref.Name), ref.Target, ref.Name == head.Name})
	}
	if !slices.ContainsFunc(all, func(b BranchInfo) bool { return b.Current }) {
		all = append(all, BranchInfo{BranchName(head.Name), head.Target, true})
		slices.SortFunc(all, func(a, b BranchInfo) int { return strings.Compare(a.Name, b.Name) })
	}
	return all, nil
}

// CheckNewName refuses names that could be taken for something else.
func CheckNewName(what, name string) error {
	if err := graph.ValidateName(name); err != nil {
		return fmt.Errorf("%w: %s %q: %w", state.ErrInvalid, what, name, err)
	}
	if _, err := ipld.ParseCID(name); err == nil {
		return state.Invalidf("%s %q: the text of a CID cannot be a name", what, name)
	}
	return nil
}

// old returns what a ref is before it is written, checked against what the caller expects of it,
// and refuses an existing one unless it may be replaced.
func (t *Tx) old(ctx context.Context, name graph.RefName, opt RefOptions) (Ref, bool, error) {
	ref, ok, err := t.View.Stored(ctx, name)
	if err != nil || opt.Expect == nil {
		return ref, ok, err
	}
	var at ipld.CID
	if ok {
		at, err = t.Repo.Revisions().Peel(ctx, ref.Target, string(name))
	}
	if err == nil && at != *opt.Expect {
		err = &state.ExpectError{Want: *opt.Expect, Have: at}
	}
	return ref, ok, err
}

// Create makes a branch at a revision, HEAD if that is empty, and returns its commit. It returns an error wrapping
// fs.ErrExist if there is one of that name, unless forced, which moves it.
func (bs Branches) Create(ctx context.Context, name, rev string, opt RefOptions) (ipld.CID, error) {
	if err := CheckNewName("branch", name); err != nil {
		return ipld.CID{}, err
	}
	var c ipld.CID
	_, err := bs.repo.Transact(ctx, opt.Stamp, func(t *Tx) (err error) {
		c, err = t.createBranch(ctx, name, rev, opt)
		return err
	})
	return c, err
}

func (t *Tx) createBranch(ctx context.Context, name, rev string, opt RefOptions) (ipld.CID, error) {
	c, err := t.Repo.Revisions().ResolveIn(ctx, t.View, cmp.Or(rev, string(graph.Head)))
	if err != nil {
		return c, err
	}
	ref := graph.BranchRef(name)
	_, ok, err := t.old(ctx, ref, opt)
	if err == nil && ok && !opt.Force {
		err = fmt.Errorf("branch %q: %w", name, fs.ErrExist)
	}
	if err == nil {
		t.SetRef(ref, c)
	}
	return c, err
}

// Rename gives a branch, the current one if from is empty, another name. HEAD, stages and merges in progress follow it.
// It returns an error wrapping fs.ErrExist if there is a branch of that name, unless forced, which replaces it.
func (bs Branches) Rename(ctx context.Context, from, to string, opt RefOptions) error {
	if err := CheckNewName("branch", to); err != nil {
		return err
	}
	_, err := bs.repo.Transact(ctx, opt.Stamp, func(t *Tx) error {
		head, _, err := t.View.Get(ctx, graph.Head)
		if err != nil {
			return err
		}
		source := graph.BranchRef(from)
		if from == "" {
			if source = head.Symbolic; source == "" {
				return &DetachedError{At: head.Target}
			}
		}
		own, _, err := t.View.Stored(ctx, graph.Head)
		if err != nil {
			return err
		}
		err = t.renameBranch(ctx, source, graph.BranchRef(to), own.Symbolic == source, opt)
		if err == nil && own.Symbolic != source && head.Symbolic == source && unmoved(ctx) == nil {
			t.moveHead(Ref{Symbolic: graph.BranchRef(to)}) // the client's own
		}
		return err
	})
	return err
}

func (t *Tx) renameBranch(ctx context.Context, from, to graph.RefName, current bool, opt RefOptions) error {
	old, ok, err := t.old(ctx, from, opt)
	if err != nil {
		return err
	}
	if !ok && !current {
		return &state.NotFoundError{What: "branch", Name: BranchName(from)}
	}
	if from == to {
		return nil
	}
	if _, taken, err := t.View.Stored(ctx, to); err != nil {
		return err
	} else if taken && !opt.Force {
		return fmt.Errorf("branch %q: %w", BranchName(to), fs.ErrExist)
	}
	if ok {
		t.RemoveRef(from)
		t.SetRef(to, old.Target)
	}
	if current {
		t.SetHead(to)
	}
	if err := t.renameInStages(ctx, from, to); err != nil {
		return err
	}
	return t.renameConflicts(ctx, BranchName(from), BranchName(to))
}

func (t *Tx) stagesOf(ctx context.Context, branch graph.RefName, fn func(Ref, *commit.Stage) error) error {
	for ref, err := range t.View.List(ctx, graph.Stages) {
		if err != nil {
			return err
		}
		rec, err := commit.ReadStage(ctx, t.Stage, ref.Target)
		if err == nil && rec.Branch == branch {
			err = fn(ref, rec)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *Tx) renameInStages(ctx context.Context, from, to graph.RefName) error {
	return t.stagesOf(ctx, from, func(ref Ref, rec *commit.Stage) error {
		rec.Branch = to
		if err := rec.Validate(); err != nil {
			return fmt.Errorf("%w: stage: %w", state.ErrInvalid, err)
		}
		c, err := t.Put(ctx, rec.Encode())
		t.SetRef(ref.Name, c)
		return err
	})
}

// renameConflicts moves the merges in progress on a branch and the commits kept for it.
func (t *Tx) renameConflicts(ctx context.Context, from, to string) error {
	rename := func(ref Ref, rest string) error {
		name := graph.RefName(strings.TrimSuffix(string(ref.Name), from+rest) + to + rest)
		if err := graph.ValidateRef(name); err != nil { // it is longer than the branch's
			return fmt.Errorf("%w: branch name too long to keep %s: %w", state.ErrInvalid, ref.Name, err)
		}
		t.RemoveRef(ref.Name)
		t.SetRef(name, ref.Target)
		return nil
	}
	for ref, err := range t.View.MergesOn(ctx, from) {
		if err == nil {
			err = rename(ref, "")
		}
		if err != nil {
			return err
		}
	}
	for ref, err := range t.View.List(ctx, keptCommits+from+"/") {
		if err != nil {
			return err
		}
		if rest := string(ref.Name)[len(keptCommits+from):]; IsNumber(rest[1:]) {
			if err := rename(ref, rest); err != nil {
				return err
			}
		}
	}
	return nil
}

// Remove removes a branch and returns the commit it was at. It refuses with an *InUseError
// to remove the branch HEAD is on and, unless forced, one that no other branch and no tag reaches
// the commit of, that a stage is for, or that a merge is in progress on.
func (bs Branches) Remove(ctx context.Context, name string, opt RefOptions) (ipld.CID, error) {
	var was ipld.CID
	_, err := bs.repo.Transact(ctx, opt.Stamp, func(t *Tx) error {
		ref := graph.BranchRef(name)
		old, ok, err := t.old(ctx, ref, opt)
		if err == nil && !ok {
			err = &state.NotFoundError{What: "branch", Name: name}
		}
		if err != nil {
			return err
		}
		head, _, err := t.View.Get(ctx, graph.Head)
		own, _, ownErr := t.View.Stored(ctx, graph.Head)
		switch err = errors.Join(err, ownErr); {
		case err != nil:
		case head.Symbolic == ref:
			err = &InUseError{Branch: name, Why: "HEAD is on it"}
		case own.Symbolic == ref:
			err = &InUseError{Branch: name, Why: "the repository's own HEAD is on it", Own: true}
		}
		if err == nil && !opt.Force {
			err = t.checkUnused(ctx, old)
		}
		if err != nil {
			return err
		}
		was = old.Target
		t.RemoveRef(ref)
		for merge, err := range t.View.MergesOn(ctx, name) {
			if err != nil {
				return err
			}
			t.RemoveRef(merge.Name)
		}
		return nil
	})
	return was, err
}

// checkUnused returns an *InUseError if removing a branch would lose something.
func (t *Tx) checkUnused(ctx context.Context, branch Ref) error {
	name := BranchName(branch.Name)
	err := t.stagesOf(ctx, branch.Name, func(ref Ref, _ *commit.Stage) error {
		_, stage := ref.Name.Split()
		return &InUseError{Branch: name, Why: fmt.Sprintf("the stage %q is for it", stage), Forced: true}
	})
	if err != nil {
		return err
	}
	for merge, err := range t.View.MergesOn(ctx, name) {
		why := "a merge is in progress on it"
		if whose := t.Repo.InProgress(merge).Client; whose != "" {
			why = fmt.Sprintf("a merge of client %s is in progress on it", whose)
		}
		return cmp.Or[error](err, &InUseError{Branch: name, Why: why, Forced: true})
	}
	merged, err := t.merged(ctx, branch)
	if err == nil && !merged {
		err = &InUseError{Branch: name, Why: "its commits are on no other branch and no tag", Forced: true}
	}
	return err
}

// merged reports whether another branch or a tag reaches the commit of a branch.
func (t *Tx) merged(ctx context.Context, branch Ref) (bool, error) {
	for _, ns := range []string{graph.Heads, graph.Tags} {
		for ref, err := range t.View.List(ctx, ns) {
			if err != nil {
				return false, err
			}
			if ref.Name == branch.Name {
				continue
			}
			tip, err := t.Repo.Revisions().Peel(ctx, ref.Target, string(ref.Name))
			if err != nil {
				return false, err
			}
			ok, err := commit.IsAncestor(ctx, t.Stage, branch.Target, tip)
			if ok || err != nil {
				return ok, err
			}
		}
	}
	return false, nil
}

// SwitchOptions says where HEAD goes.
type SwitchOptions struct {
	state.Stamp
	Create bool   // make the branch, at Start
	Start  string // revision; "" for HEAD
	Force  bool   // with Create: move the branch if there is one already
}

// Switch puts HEAD on a branch. The branch that HEAD is on now need not exist: it may be left
// before its first commit, and then leaves nothing behind.
func (bs Branches) Switch(ctx context.Context, name string, opt SwitchOptions) error {
	if err := CheckNewName("branch", name); err != nil && opt.Create {
		return err
	}
	_, err := bs.repo.Transact(ctx, opt.Stamp, func(t *Tx) error {
		if err := unmoved(ctx); err != nil {
			return err
		}
		ref := graph.BranchRef(name)
		_, ok, err := t.View.Get(ctx, ref)
		if err != nil {
			return err
		}
		head, born, err := t.View.Resolve(ctx, graph.Head)
		if err != nil {
			return err
		}
		switch unborn := !born && (opt.Start == "" || opt.Start == string(graph.Head)); {
		case !opt.Create && !ok && ref != head.Name:
			return &state.NotFoundError{What: "branch", Name: name}
		case opt.Create && unborn && !ok: // the first branch gets another name
		case opt.Create:
			create := RefOptions{Stamp: opt.Stamp, Force: opt.Force}
			if _, err := t.createBranch(ctx, name, opt.Start, create); err != nil {
				return err
			}
		}
		t.moveHead(Ref{Symbolic: ref})
		return nil
	})
	return err
}

// Detach puts HEAD at a commit, on no branch: for reading, since writes to HEAD's branch are
// refused then. It returns the commit.
func (bs Branches) Detach(ctx context.Context, rev string, by state.Stamp) (ipld.CID, error) {
	var c ipld.CID
	_, err := bs.repo.Transact(ctx, by, func(t *Tx) (err error) {
		if err := unmoved(ctx); err != nil {
			return err
		}
		if c, err = bs.repo.Revisions().ResolveIn(ctx, t.View, rev); err == nil {
			t.moveHead(Ref{Target: c})
		}
		return err
	})
	return c, err
}

// TagInfo is one tag.
type TagInfo struct {
	Name   string
	Commit ipld.CID
	CID    ipld.CID    // of the record; undefined for a plain tag
	Record *commit.Tag // nil for a plain tag
}

// TagOptions says how a tag is made.
type TagOptions struct {
	RefOptions
	Annotate bool // record who made it, when and why; else the tag is a ref alone
	Message  string
}

// Tags lists, makes and removes tags.
type Tags struct{ repo *Repo }

// Tags returns the tags.
func (r *Repo) Tags() Tags { return Tags{r} }

// List returns all tags in name order.
func (ts Tags) List(ctx context.Context) ([]TagInfo, error) {
	v, err := ts.repo.Current(ctx)
	if err != nil {
		return nil, err
	}
	var all []TagInfo
	for ref, err := range v.List(ctx, graph.Tags) {
		if err != nil {
			return nil, err
		}
		tag, err := ts.read(ctx, ref)
		if err != nil {
			return nil, err
		}
		all = append(all, tag)
	}
	return all, nil
}

func (ts Tags) read(ctx context.Context, ref Ref) (TagInfo, error) {
	_, name := ref.Name.Split()
	tag := TagInfo{Name: name}
	var err error
	if tag.Commit, err = ts.repo.Revisions().Peel(ctx, ref.Target, string(ref.Name)); err != nil {
		return tag, err
	}
	if tag.Commit != ref.Target {
		tag.CID = ref.Target
		tag.Record, err = commit.ReadTag(ctx, ts.repo.Facts(), ref.Target)
	}
	return tag, err
}

// Create gives the commit of a revision, HEAD if that is empty, a name. It returns an error
// wrapping fs.ErrExist if there is a tag of that name, unless forced, which replaces it.
func (ts Tags) Create(ctx context.Context, name, rev string, opt TagOptions) (TagInfo, error) {
	tag := TagInfo{Name: name}
	if err := CheckNewName("tag", name); err != nil {
		return tag, err
	}
	_, err := ts.repo.Transact(ctx, opt.Stamp, func(t *Tx) error {
		c, err := ts.repo.Revisions().ResolveIn(ctx, t.View, cmp.Or(rev, string(graph.Head)))
		if err != nil {
			return err
		}
		ref := graph.TagRef(name)
		_, ok, err := t.old(ctx, ref, opt.RefOptions)
		if err == nil && ok && !opt.Force {
			err = fmt.Errorf("tag %q: %w", name, fs.ErrExist)
		}
		if err != nil {
			return err
		}
		tag.Commit = c
		if opt.Annotate {
			if tag.CID, tag.Record, err = t.annotate(ctx, tag, opt); err != nil {
				return err
			}
			c = tag.CID
		}
		t.SetRef(ref, c)
		return nil
	})
	return tag, err
}

func (t *Tx) annotate(ctx context.Context, tag TagInfo, opt TagOptions) (ipld.CID, *commit.Tag, error) {
	if _, err := CheckTexts(opt.Stamp, opt.Message); err != nil {
		return ipld.CID{}, nil, err
	}
	rec := &commit.Tag{Target: tag.Commit, Name: tag.Name, Tagger: opt.Author, Time: opt.Time}
	if err := commit.CheckMessage(opt.Message); err != nil {
		return ipld.CID{}, nil, fmt.Errorf("%w: tag: %w", state.ErrInvalid, err)
	}
	var err error
	if rec.Message, err = t.putMessage(ctx, opt.Message); err != nil {
		return ipld.CID{}, nil, err
	}
	if err := rec.Validate(); err != nil {
		return ipld.CID{}, nil, fmt.Errorf("%w: tag: %w", state.ErrInvalid, err)
	}
	c, err := t.Put(ctx, rec.Encode())
	return c, rec, err
}

// Remove removes a tag and returns it. Its commit stays reachable through older operations, and
// through other refs if they lead to it.
func (ts Tags) Remove(ctx context.Context, name string, opt RefOptions) (TagInfo, error) {
	var was TagInfo
	_, err := ts.repo.Transact(ctx, opt.Stamp, func(t *Tx) error {
		ref := graph.TagRef(name)
		old, ok, err := t.old(ctx, ref, opt)
		if err == nil && !ok {
			err = &state.NotFoundError{What: "tag", Name: name}
		}
		if err != nil {
			return err
		}
		t.RemoveRef(ref)
		was, err = ts.read(ctx, old)
		return err
	})
	return was, err
}
