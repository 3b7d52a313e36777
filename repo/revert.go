package repo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/guard"
	"github.com/mnem-project/mnem/store"
)

// spanDots parts the ends of a range of commits: FROM..TO are the commits after FROM up to TO.
const spanDots = ".."

// Revert undoes what a commit changed against its first parent, or all of a range FROM..TO, by
// one commit: the inverse of the change is merged onto the branch. Nothing else is touched, and
// where nothing else changed since the graph is again what it was, times included. Conflicts are
// as those of Merge.
func (r *Repo) Revert(ctx context.Context, rev string, opt MergeOptions) (*MergeResult, error) {
	return r.integrate(ctx, opt, func(t *tx, _ Ref, _ *Snapshot, _ *MergeResult) (*job, error) {
		from, to, err := t.span(ctx, rev)
		if err != nil {
			return nil, err
		}
		what := spanName(rev, from, to)
		message := "reverts " + what // the text of one that was erased must not come back
		if text, err := commit.ReadMessage(ctx, t.stage, to.commit.Message); err == nil {
			message = fmt.Sprintf("revert %q\n\nreverts %s", guard.Mask(subject(text)), what)
		} else if !errors.Is(err, store.ErrRedacted) {
			return nil, err
		}
		return &job{
			verb: commit.VerbRevert, base: to.state, theirs: from, name: rev, message: message,
		}, nil
	})
}

// CherryPick makes a commit on the branch of what another commit changed against its first parent,
// or of all that a range FROM..TO did, with the message of the last one. Conflicts are as those of
// Merge.
func (r *Repo) CherryPick(ctx context.Context, rev string, opt MergeOptions) (*MergeResult, error) {
	return r.integrate(ctx, opt, func(t *tx, _ Ref, _ *Snapshot, _ *MergeResult) (*job, error) {
		from, to, err := t.span(ctx, rev)
		if err != nil {
			return nil, err
		}
		return &job{
			verb: commit.VerbCherryPick, base: from.state, theirs: to, name: rev,
			kept: to.commit.Message,
		}, nil
	})
}

// span returns the states before and after a commit or a range of commits.
func (t *tx) span(ctx context.Context, rev string) (from, to *Snapshot, err error) {
	first, last, isRange := strings.Cut(rev, spanDots)
	if !isRange {
		first, last = "", rev
	}
	c, err := t.repo.resolve(ctx, t.view, last)
	if err != nil {
		return nil, nil, err
	}
	if to, err = t.at(ctx, c); err != nil {
		return nil, nil, err
	}
	before := firstCID(to.commit.Parents)
	if isRange {
		if before, err = t.repo.resolve(ctx, t.view, first); err != nil {
			return nil, nil, err
		}
		ok, err := commit.IsAncestor(ctx, t.repo.facts(), before, c)
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			return nil, nil, invalidf("range %q: %s does not lead to %s", rev, first, last)
		}
	}
	from, err = t.at(ctx, before)
	return from, to, err
}

func subject(message string) string {
	line, _, _ := strings.Cut(message, "\n")
	return line
}

func spanName(rev string, from, to *Snapshot) string {
	if strings.Contains(rev, spanDots) {
		return from.id.String() + spanDots + to.id.String()
	}
	return to.id.String()
}

// Restore brings nodes back as they were at a revision, each with its mark, or without one where
// it had none, and with those of its edges that are missing and whose other ends exist. names are
// as those of Snapshot.Name, of that revision. A node that was erased does not come back: the error
// wraps store.ErrRedacted then, of Revert and CherryPick as well, and nothing is written.
func (r *Repo) Restore(
	ctx context.Context, rev string, names []string, opt CommitOptions,
) (*CommitResult, error) {
	if len(names) == 0 {
		return nil, invalidf("no node to restore")
	}
	if opt.Base != nil || opt.Amend {
		return nil, invalidf("restoring takes no base and does not amend")
	}
	if _, err := checkTexts(opt.Stamp, opt.Message); err != nil {
		return nil, err
	}
	res := &CommitResult{}
	_, err := r.transact(ctx, opt.Stamp, func(t *tx) error {
		ref, head, err := t.base(ctx, opt)
		if err != nil {
			return err
		}
		c, err := r.resolve(ctx, t.view, rev)
		if err != nil {
			return err
		}
		from, err := t.at(ctx, c)
		if err != nil {
			return err
		}
		next, err := t.restore(ctx, head, from, names, opt)
		if err != nil {
			return err
		}
		if opt.Message == "" {
			opt.Message = guard.Mask(fmt.Sprintf("restore %s from %s", strings.Join(names, ", "), rev))
			opt.Message = truncate(opt.Message, commit.MaxMessage)
		}
		return t.land(ctx, ref, head, next, nil, opt, res)
	})
	if err != nil {
		return nil, err
	}
	return res, nil
}

func (t *tx) restore(
	ctx context.Context, head, from *Snapshot, names []string, opt CommitOptions,
) (*state, error) {
	r := newRestorer(newBatch(ctx, t.stage, t.scratch, head.state, opt.Stamp))
	var ids []graph.ID
	for _, name := range names {
		id, err := from.Name(ctx, name)
		if err != nil {
			return nil, err
		}
		c, err := lookup(ctx, from.state.nodes, id[:])
		if err != nil {
			return nil, err
		}
		if err := r.setNode(id, c, from.state); err != nil {
			return nil, err
		}
		r.marks.remove(graph.MarkKey(graph.OnNode, id))
		ids = append(ids, id)
	}
	for _, id := range ids {
		if err := r.around(from.state, id); err != nil {
			return nil, err
		}
	}
	if _, err := r.settle(head.state, from.state); err != nil {
		return nil, err
	}
	return r.flush()
}

// truncate returns at most n bytes of text, whole characters only.
func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}
