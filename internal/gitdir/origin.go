package gitdir

import (
	"context"
	"slices"
	"strings"
)

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
