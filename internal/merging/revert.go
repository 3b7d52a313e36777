package merging

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/state"
)

// spanDots separates the ends of a range of commits: FROM..TO are the commits after FROM up to TO.
const spanDots = ".."

// Revert undoes the changes of a commit against its first parent, or of a range FROM..TO, in one commit: the
// inverse change is merged onto the branch. It touches nothing else, and if nothing else has changed since, the
// graph is restored exactly, times included. Conflicts are handled as in Merge.
func Revert(ctx context.Context, r *core.Repo, rev string, opt core.MergeOptions) (*MergeResult, error) {
	return integrate(ctx, r, opt, func(t *core.Tx, _ core.Ref, _ *core.Snapshot, _ *MergeResult) (*core.Job, error) {
		from, to, err := span(ctx, t, rev)
		if err != nil {
			return nil, err
		}
		what := spanName(rev, from, to)
		message := "reverts " + what // the text of an erased message must not come back
		told, err := messageOf(ctx, t, to)
		if err != nil {
			return nil, err
		}
		if text, err := commit.ReadMessage(ctx, t.Stage, told); err == nil {
			message = fmt.Sprintf("revert %q\n\nreverts %s", guard.Mask(subject(text)), what)
		} else if !errors.Is(err, store.ErrRedacted) {
			return nil, err
		}
		return &core.Job{
			Verb: commit.VerbRevert, Base: to.State, Theirs: from, Name: rev, Message: message,
		}, nil
	})
}

// CherryPick applies the changes of a commit against its first parent, or of a range FROM..TO, as a new commit on
// the branch, with the message of the last one. Conflicts are handled as in Merge.
func CherryPick(ctx context.Context, r *core.Repo, rev string, opt core.MergeOptions) (*MergeResult, error) {
	return integrate(ctx, r, opt, func(t *core.Tx, _ core.Ref, _ *core.Snapshot, _ *MergeResult) (*core.Job, error) {
		from, to, err := span(ctx, t, rev)
		if err != nil {
			return nil, err
		}
		told, err := messageOf(ctx, t, to)
		return &core.Job{
			Verb: commit.VerbCherryPick, Base: from.State, Theirs: to, Name: rev, Kept: told,
		}, err
	})
}

// span returns the states before and after a commit or a range of commits.
func span(ctx context.Context, t *core.Tx, rev string) (from, to *core.Snapshot, err error) {
	first, last, isRange := strings.Cut(rev, spanDots)
	if !isRange {
		first, last = "", rev
	}
	resolve := t.Repo.Revisions().ResolveAsked
	if isRange {
		resolve = t.Repo.Revisions().ResolveIn // vectors belong to the range too
	}
	c, err := resolve(ctx, t.View, last)
	if err != nil {
		return nil, nil, err
	}
	if to, err = t.At(ctx, c); err != nil {
		return nil, nil, err
	}
	before := core.FirstCID(to.Record.Parents)
	if isRange {
		if before, err = t.Repo.Revisions().ResolveIn(ctx, t.View, first); err != nil {
			return nil, nil, err
		}
		ok, err := commit.IsAncestor(ctx, t.Repo.Facts(), before, c)
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			return nil, nil, state.Invalidf("range %q: %s does not lead to %s", rev, first, last)
		}
	}
	from, err = t.At(ctx, before)
	return from, to, err
}

// messageOf returns the message of a commit, of one of vectors that of the commit which was asked for.
func messageOf(ctx context.Context, t *core.Tx, s *core.Snapshot) (commit.Message, error) {
	c, err := t.Repo.Embeddings().Asked(ctx, s.Id)
	if err != nil {
		return s.Record.Message, err
	}
	asked, err := t.Repo.ReadCommit(ctx, c)
	if err != nil {
		return s.Record.Message, err
	}
	return asked.Message, nil
}

func subject(message string) string {
	line, _, _ := strings.Cut(message, "\n")
	return line
}

func spanName(rev string, from, to *core.Snapshot) string {
	if strings.Contains(rev, spanDots) {
		return from.Id.String() + spanDots + to.Id.String()
	}
	return to.Id.String()
}

// Restore brings back nodes as of a revision, each with its mark, if it had one, and with those of its edges that are
// missing and whose other ends exist. names are as in core.Snapshot.Name, in that revision. An erased node cannot be
// restored: the error wraps store.ErrRedacted then, as it does for Revert and CherryPick, and nothing is written.
func Restore(
	ctx context.Context, r *core.Repo, rev string, names []string, opt core.CommitOptions,
) (*core.CommitResult, error) {
	if len(names) == 0 {
		return nil, state.Invalidf("no node to restore")
	}
	if opt.Base != nil || opt.Amend {
		return nil, state.Invalidf("restoring takes no base and does not amend")
	}
	if _, err := core.CheckTexts(opt.Stamp, opt.Message); err != nil {
		return nil, err
	}
	res := &core.CommitResult{}
	_, err := r.Transact(ctx, opt.Stamp, func(t *core.Tx) error {
		ref, head, err := t.Base(ctx, opt)
		if err != nil {
			return err
		}
		c, err := r.Revisions().ResolveIn(ctx, t.View, rev)
		if err != nil {
			return err
		}
		from, err := t.At(ctx, c)
		if err != nil {
			return err
		}
		next, err := restore(ctx, t, head, from, names, opt)
		if err != nil {
			return err
		}
		if opt.Message == "" {
			opt.Message = guard.Mask(fmt.Sprintf("restore %s from %s", strings.Join(names, ", "), rev))
			opt.Message = text.FirstBytes(opt.Message, commit.MaxMessage)
		}
		return t.Land(ctx, ref, head, next, nil, opt, res)
	})
	if err != nil {
		return nil, err
	}
	return res, nil
}

func restore(
	ctx context.Context, t *core.Tx, head, from *core.Snapshot, names []string, opt core.CommitOptions,
) (*state.State, error) {
	r := history.NewRestorer(state.NewBatch(ctx, t.Stage, t.Scratch, head.State, opt.Stamp))
	var ids []graph.ID
	for _, name := range names {
		id, err := from.Name(ctx, name)
		if err != nil {
			return nil, err
		}
		c, err := state.Lookup(ctx, from.State.Nodes, id[:])
		if err != nil {
			return nil, err
		}
		if err := r.SetNode(id, c, from.State); err != nil {
			return nil, err
		}
		r.Marks.Remove(graph.MarkKey(graph.OnNode, id))
		ids = append(ids, id)
	}
	for _, id := range ids {
		if err := r.Around(from.State, id); err != nil {
			return nil, err
		}
	}
	if _, err := r.Settle(head.State, from.State); err != nil {
		return nil, err
	}
	return r.Flush()
}
