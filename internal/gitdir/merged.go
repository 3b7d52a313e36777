package gitdir

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// How the commits of a branch were merged into HEAD.
const (
	ByMerge  = "merge"  // HEAD has its newest commit
	ByPatch  = "rebase" // HEAD has a commit with the changes of each of its commits
	BySquash = "squash" // HEAD has one commit with the changes of all
)

// maxSquash is how many commits of HEAD are compared with the combined changes of a branch.
const maxSquash = 1000

// Merged returns how a branch was merged into HEAD's commit, "" if it was not. A branch without its own commits was
// not. The position of a removed branch is taken from the log of HEAD.
func (t *Tree) Merged(ctx context.Context, branch string) (how string, err error) {
	tip, own, err := t.work(ctx, branch)
	if err != nil || tip == "" || !own {
		return "", err
	}
	if _, there, err := t.Git(ctx, "rev-parse", "--verify", "--quiet", tip+"^{commit}"); err != nil || !there {
		return "", err // git has collected it
	}
	if _, is, err := t.Git(ctx, "merge-base", "--is-ancestor", tip, "HEAD"); err != nil || is {
		return yes(ByMerge, is), err
	}
	marks, _, err := t.Git(ctx, "cherry", "HEAD", tip)
	if err != nil {
		return "", err
	}
	if all := strings.Fields(marks); len(all) > 0 && !slices.Contains(all, "+") {
		return ByPatch, nil
	}
	squashed, err := t.squashed(ctx, tip)
	return yes(BySquash, squashed), err
}

func yes(how string, is bool) string {
	if is {
		return how
	}
	return ""
}

// squashed reports whether a single commit of HEAD has the changes of all commits up to tip.
func (t *Tree) squashed(ctx context.Context, tip string) (bool, error) {
	base, ok, err := t.Git(ctx, "merge-base", "HEAD", tip)
	if base = strings.TrimSpace(base); err != nil || !ok || !isObject(base) {
		return false, err
	}
	plain := []string{"-p", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames"}
	all, err := t.patchIDs(ctx, append([]string{"diff-tree"}, append(plain, base, tip)...)...)
	want, _, _ := strings.Cut(all, " ")
	if err != nil || want == "" {
		return false, err
	}
	list, err := t.patchIDs(ctx, append([]string{"log"}, append(plain, "--no-merges", "--no-show-signature",
		"--no-decorate", "--no-notes", "--max-count="+strconv.Itoa(maxSquash), base+"..HEAD")...)...)
	for line := range strings.Lines(list) {
		if id, _, _ := strings.Cut(line, " "); id == want {
			return true, nil
		}
	}
	return false, err
}

// work returns the newest commit of a branch, and whether any commit was made on it.
func (t *Tree) work(ctx context.Context, branch string) (tip string, own bool, err error) {
	if tip, err = t.Tip(ctx, heads+branch); err != nil {
		return "", false, err
	}
	if tip == "" {
		return t.workOfGone(ctx, branch)
	}
	list, err := t.log(ctx, heads+branch)
	if err != nil || len(list) == 0 {
		return tip, false, err
	}
	if start, ok := strings.CutPrefix(list[0].message, msgCreated); ok {
		remote := "refs/remotes/" + strings.TrimPrefix(start, "refs/remotes/")
		if check(remote) == nil {
			at, err := t.Tip(ctx, remote)
			if err != nil {
				return "", false, err
			}
			own = at != "" || start == remote
		}
	}
	return tip, own || slices.ContainsFunc(list, entry.isWork), nil
}

// isWork reports whether a ref moved because a commit was made there.
func (e entry) isWork() bool {
	for _, none := range []string{msgCreated, msgRenamed, msgCopied, msgMoving, "reset:", "fetch", "clone:", "rebase (start)",
		"rebase (finish): returning"} {
		if strings.HasPrefix(e.message, none) {
			return false
		}
	}
	return e.old != e.now && !strings.Contains(e.message, ": Fast-forward") && !strings.Contains(e.message, ": fast-forward")
}

// workOfGone is work for a removed branch, from the logs of HEADs.
func (t *Tree) workOfGone(ctx context.Context, branch string) (tip string, own bool, err error) {
	for _, ref := range t.allHeads() {
		list, err := t.log(ctx, ref)
		if err != nil {
			return "", false, err
		}
		on, worked := false, false
		for _, e := range list {
			from, to, moved := e.moved()
			switch {
			case moved && from == branch:
				on, own, tip = false, worked, e.old
			case moved && to == branch:
				on, worked = true, worked && tip == e.now
			case on && e.isWork():
				worked = true
			}
		}
		if tip != "" {
			return tip, own, nil
		}
	}
	return "", false, nil
}

// Gone reports whether a branch existed and was removed: a HEAD was on it.
func (t *Tree) Gone(ctx context.Context, branch string) (bool, error) {
	if tip, err := t.Tip(ctx, heads+branch); tip != "" || err != nil {
		return false, err
	}
	for _, ref := range t.allHeads() {
		list, err := t.log(ctx, ref)
		if err != nil {
			return false, err
		}
		for _, e := range list {
			from, to, ok := e.moved()
			old, renamed := strings.CutPrefix(e.message, msgRenamed+heads+branch+" to ")
			if ok && (from == branch || to == branch) || renamed && old != "" {
				return true, nil
			}
		}
	}
	return false, nil
}

// Origin returns the branch from which a branch was made, "" if the logs do not tell:
//
//  1. the branch that was renamed or copied to it;
//  2. otherwise the branch given as its start;
//  3. otherwise the branch that HEAD left when it was made, by a checkout at exactly that time, or by
//     'git worktree add' in the main work tree;
//  4. for a branch without a log, which has no commit yet, the branch that HEAD left last.
func (t *Tree) Origin(ctx context.Context, branch string) (string, error) {
	own, err := t.log(ctx, heads+branch)
	if err != nil {
		return "", err
	}
	if len(own) == 0 {
		return t.leftFor(ctx, branch)
	}
	for _, e := range slices.Backward(own) {
		if from, ok := renamedFrom(e.message, branch); ok {
			return from, nil
		}
	}
	start, ok := strings.CutPrefix(own[0].message, msgCreated)
	if !ok {
		return "", nil // the first branch of its repository, or one that was fetched into
	}
	start = strings.TrimPrefix(start, heads)
	if start != "HEAD" && start != branch && isBranch(start) {
		if tip, err := t.Tip(ctx, heads+start); tip != "" || err != nil {
			return start, err
		}
	}
	return t.leftAt(ctx, branch, own[0].time)
}

// renamedFrom returns the branch that a log line says was renamed or copied to another one.
func renamedFrom(message, branch string) (string, bool) {
	rest, ok := strings.CutPrefix(message, msgRenamed)
	if !ok {
		rest, ok = strings.CutPrefix(message, msgCopied)
	}
	from, to, cut := strings.Cut(rest, " to ")
	from, head := strings.CutPrefix(from, heads)
	return from, ok && cut && head && to == heads+branch && from != branch && check(from) == nil
}

// leftBefore returns the branch that HEAD was on last before the end of a log. A checkout logs the branch that it
// leaves, or the commit if there is none.
func leftBefore(list []entry) string {
	for _, e := range slices.Backward(list) {
		if from, _, ok := e.moved(); ok && isBranch(from) {
			return from
		}
	}
	return ""
}

// leftAt returns the branch that HEAD left when another was made.
func (t *Tree) leftAt(ctx context.Context, branch string, made int64) (string, error) {
	var last []entry
	for _, ref := range t.headsHere() {
		list, err := t.log(ctx, ref)
		if err != nil {
			return "", err
		}
		for i, e := range list {
			from, to, ok := e.moved()
			switch {
			case !ok || to != branch || e.time != made:
			case isBranch(from):
				return from, nil
			default:
				return leftBefore(list[:i]), nil
			}
		}
		last = list
	}
	return onAt(last, made), nil
}

// onAt returns the branch that a HEAD was on at a time, from its log.
func onAt(list []entry, at int64) (branch string) {
	for i, e := range list {
		from, to, ok := e.moved()
		switch {
		case !ok:
		case e.time <= at && isBranch(to):
			branch = to
		case e.time <= at:
			branch = leftBefore(list[:i+1])
		case branch == "" && isBranch(from):
			return from
		}
	}
	return branch
}

// leftFor returns the branch that HEAD left for one that has no log yet.
func (t *Tree) leftFor(ctx context.Context, branch string) (string, error) {
	list, err := t.log(ctx, "HEAD")
	if err == nil && len(list) == 0 {
		list, err = t.unborn()
	}
	for i, e := range slices.Backward(list) {
		_, to, ok := e.moved()
		switch {
		case !ok || to == branch:
		case isBranch(to):
			return to, err
		default:
			return leftBefore(list[:i+1]), err
		}
	}
	return "", err
}
