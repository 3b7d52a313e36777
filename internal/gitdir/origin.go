package gitdir

import (
	"context"
	"slices"
	"strings"
)

// lastBranch returns the branch that HEAD, which is at a commit, was on last, "" where the log does not tell.
func (t *Tree) lastBranch(ctx context.Context) (string, error) {
	list, err := t.log(ctx, t.Dir, "HEAD")
	return leftBefore(list), err
}

// leftBefore returns the branch that a HEAD at a commit was on last before the end of a log. A checkout names what
// it leaves by the branch where there is one, and else by the commit.
func leftBefore(list []entry) string {
	for _, e := range slices.Backward(list) {
		if from, _, ok := e.moved(); ok && isBranch(from) {
			return from
		}
	}
	return ""
}

// isBranch reports whether what a log names may be a branch: what it left, or what it was told to go to.
func isBranch(name string) bool { return !isObject(name) && check(name) == nil }

// origins returns the branches that a branch came from, the nearest first.
func (t *Tree) origins(ctx context.Context, branch string) (from []string, err error) {
	for branch != "" && len(from) < maxFrom {
		next, err := t.origin(ctx, branch)
		if err != nil {
			return nil, err
		}
		if branch = next; branch == "" || slices.Contains(from, branch) {
			break
		}
		from = append(from, branch)
	}
	return from, nil
}

// origin returns the branch that a branch came from, "" where the logs do not tell:
//
//  1. the branch that was renamed to it, or copied;
//  2. else the branch that it was told to begin at;
//  3. else the branch that was left when it was made, by a checkout at that very time, or by 'git worktree add' in
//     the main work tree;
//  4. of a branch without a log, which has no commit yet, the branch that was left last.
func (t *Tree) origin(ctx context.Context, branch string) (string, error) {
	own, err := t.log(ctx, t.Common, heads+branch)
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
		switch known, err := t.known(ctx, start); {
		case err != nil:
			return "", err
		case known:
			return start, nil
		}
	}
	return t.leftAt(ctx, branch, own[0].time)
}

// renamedFrom returns the branch that a line of a log says was renamed or copied to another one.
func renamedFrom(message, branch string) (string, bool) {
	rest, ok := strings.CutPrefix(message, msgRenamed)
	if !ok {
		rest, ok = strings.CutPrefix(message, msgCopied)
	}
	from, to, cut := strings.Cut(rest, " to ")
	from, head := strings.CutPrefix(from, heads)
	return from, ok && cut && head && to == heads+branch && from != branch && check(from) == nil
}

// known reports whether there is a branch of a name.
func (t *Tree) known(ctx context.Context, branch string) (bool, error) {
	tip, err := t.Tip(ctx, heads+branch)
	return tip != "", err
}

// leftAt returns the branch that was left when another was made.
func (t *Tree) leftAt(ctx context.Context, branch string, made int64) (string, error) {
	dirs := []string{t.Dir}
	if t.Linked() {
		dirs = append(dirs, t.Common)
	}
	var last []entry
	for _, dir := range dirs {
		list, err := t.log(ctx, dir, "HEAD")
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

// onAt returns the branch that a HEAD was on at a time, by its log.
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

// leftFor returns the branch that was left for one that has no log yet.
func (t *Tree) leftFor(ctx context.Context, branch string) (string, error) {
	list, err := t.log(ctx, t.Dir, "HEAD")
	if err != nil {
		return "", err
	}
	for i, e := range slices.Backward(list) {
		_, to, ok := e.moved()
		switch {
		case !ok || to == branch:
		case isBranch(to):
			return to, nil
		default:
			return leftBefore(list[:i+1]), nil
		}
	}
	return "", nil
}
