package core

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// past resolves NAME@{when} by the operation log. rev is the whole, for errors.
func (r Revisions) past(ctx context.Context, v *View, rev, name, when string) (ipld.CID, error) {
	ref, err := pastRef(ctx, v, name)
	if err != nil {
		return ipld.CID{}, err
	}
	if IsNumber(when) {
		n, err := strconv.ParseUint(when, 10, 64)
		if err != nil {
			return ipld.CID{}, &state.NotFoundError{What: "revision", Name: rev} // more than any log has
		}
		return r.movesAgo(ctx, v, ref, rev, n)
	}
	op, err := r.operation(ctx, v.head, rev, when)
	if err != nil {
		return ipld.CID{}, err
	}
	then, err := r.repo.OpLog().View(ctx, op)
	if err != nil {
		return ipld.CID{}, err
	}
	then.following = v.following
	got, ok, err := then.Resolve(ctx, ref)
	if err == nil && !ok {
		err = &state.NotFoundError{What: "revision", Name: rev}
	}
	if err != nil {
		return ipld.CID{}, err
	}
	return r.Peel(ctx, got.Target, rev)
}

// pastRef returns the ref whose past the name before @{ asks for. It need not exist now.
func pastRef(ctx context.Context, v *View, name string) (graph.RefName, error) {
	if name == "" {
		head, _, err := v.Get(ctx, graph.Head)
		if err == nil && head.Symbolic != "" {
			return head.Symbolic, nil
		}
		return graph.Head, err
	}
	candidates := RefCandidates(name)
	for _, ref := range candidates {
		if err := graph.ValidateRef(ref); err != nil {
			return "", state.Invalidf("revision %q: %w", name, err)
		}
		if _, ok, err := v.Get(ctx, ref); ok || err != nil {
			return ref, err
		}
	}
	return candidates[0], nil
}

// operation returns the operation that the text between @{ and } stands for.
func (r Revisions) operation(ctx context.Context, head store.Head, rev, when string) (commit.OpEntry, error) {
	if strings.HasPrefix(when, OpPrefix) {
		return r.repo.OpLog().Read(ctx, head, when)
	}
	t, err := parseMoment(when)
	if err != nil {
		return commit.OpEntry{}, state.Invalidf("revision %q: %w", rev, err)
	}
	op, err := commit.OperationBefore(ctx, r.repo.Facts(), head.Operation, t)
	if errors.Is(err, store.ErrNotFound) {
		err = &state.NotFoundError{What: "revision", Name: rev}
	}
	return op, err
}

// parseMoment parses a time. The seconds may be missing.
func parseMoment(s string) (graph.Time, error) {
	const toMinutes = len("2026-11-01T10:00")
	if len(s) > toMinutes && s[toMinutes-3] == ':' && s[toMinutes] != ':' {
		s = s[:toMinutes] + ":00" + s[toMinutes:]
	}
	return graph.ParseTime(s)
}

// movesAgo returns where a ref was before the n newest operations that moved it.
func (r Revisions) movesAgo(ctx context.Context, v *View, ref graph.RefName, rev string, n uint64) (ipld.CID, error) {
	now, _, err := v.Resolve(ctx, ref)
	if err != nil {
		return ipld.CID{}, err
	}
	at, root := now.Target, v.root()
	for e, err := range r.repo.OpLog().Entries(ctx, v.head) {
		if err != nil {
			return ipld.CID{}, err
		}
		if n == 0 {
			break
		}
		if e.Operation.View == root {
			continue
		}
		then, err := r.repo.OpLog().View(ctx, e)
		if err != nil {
			return ipld.CID{}, err
		}
		then.following = v.following
		got, _, err := then.Resolve(ctx, ref)
		if err != nil {
			return ipld.CID{}, err
		}
		if root = e.Operation.View; got.Target != at {
			at = got.Target
			n--
		}
	}
	if n > 0 || !at.Defined() {
		return ipld.CID{}, &state.NotFoundError{What: "revision", Name: rev}
	}
	return r.Peel(ctx, at, rev)
}
