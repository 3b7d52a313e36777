package repo

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

const (
	// cidPrefix begins every text CID of a dag-cbor block and may be left out.
	cidPrefix = "bafyrei"
	// minPrefix is the least number of digits that name a commit or node by prefix.
	minPrefix = 4
)

// Resolve returns the commit that a revision names:
//
//	HEAD            the newest commit of the current branch
//	NAME            a branch, else a tag, or a full ref name (refs/…)
//	CID             a commit's CID or a unique prefix of it; bafyrei may be left out
//	REV~n           the n-th first parent of REV; ~ alone is ~1
//	REV^n           the n-th parent of REV; ^ alone is ^1
//
// It returns a *NotFoundError or an *AmbiguousError.
func (r *Repo) Resolve(ctx context.Context, rev string) (ipld.CID, error) {
	v, err := r.current(ctx)
	if err != nil {
		return ipld.CID{}, err
	}
	return r.resolve(ctx, v, rev)
}

func (r *Repo) resolve(ctx context.Context, v *view, rev string) (ipld.CID, error) {
	base, steps := rev, ""
	if i := strings.IndexAny(rev, "~^"); i >= 0 {
		base, steps = rev[:i], rev[i:]
	}
	c, err := r.resolveBase(ctx, v, base)
	if err != nil {
		return ipld.CID{}, err
	}
	for steps != "" {
		kind := steps[0]
		end := 1
		for end < len(steps) && steps[end] >= '0' && steps[end] <= '9' {
			end++
		}
		n := 1
		if end > 1 {
			if n, err = strconv.Atoi(steps[1:end]); err != nil {
				return ipld.CID{}, invalidf("revision %q: %w", rev, err)
			}
		}
		if c, err = r.step(ctx, c, kind, n); err != nil {
			return ipld.CID{}, wrapRev(rev, err)
		}
		if steps = steps[end:]; steps != "" && steps[0] != '~' && steps[0] != '^' {
			return ipld.CID{}, invalidf("revision %q: unexpected %q", rev, steps)
		}
	}
	return c, nil
}

var errNoParent = errors.New("no such parent")

func wrapRev(rev string, err error) error {
	if errors.Is(err, errNoParent) {
		return &NotFoundError{What: "revision", Name: rev}
	}
	return fmt.Errorf("revision %q: %w", rev, err)
}

// step walks from a commit: ~n along first parents, ^n to one parent. ^0 and ~0 stay.
func (r *Repo) step(ctx context.Context, c ipld.CID, kind byte, n int) (ipld.CID, error) {
	if n == 0 {
		return c, nil
	}
	index, times := 0, n
	if kind == '^' {
		index, times = n-1, 1
	}
	for range times {
		rec, err := r.commit(ctx, c)
		if err != nil {
			return ipld.CID{}, err
		}
		if index >= len(rec.Parents) {
			return ipld.CID{}, errNoParent
		}
		c = rec.Parents[index]
	}
	return c, nil
}

func (r *Repo) commit(ctx context.Context, c ipld.CID) (*commit.Commit, error) {
	return commit.ReadCommit(ctx, r.facts(), c)
}

func (r *Repo) resolveBase(ctx context.Context, v *view, name string) (ipld.CID, error) {
	if name == "" {
		return ipld.CID{}, invalidf("empty revision")
	}
	for _, ref := range refCandidates(name) {
		got, ok, err := v.resolve(ctx, ref)
		if err != nil {
			return ipld.CID{}, err
		}
		if ok {
			return got.Target, r.requireCommit(ctx, got.Target, name)
		}
		if name == string(graph.Head) {
			return ipld.CID{}, &NotFoundError{What: "commit yet on branch", Name: branchName(got.Name)}
		}
	}
	if c, err := ipld.ParseCID(name); err == nil {
		return c, r.requireCommit(ctx, c, name)
	}
	return r.commitByPrefix(ctx, name)
}

func refCandidates(name string) []graph.RefName {
	if name == string(graph.Head) || strings.HasPrefix(name, "refs/") {
		return []graph.RefName{graph.RefName(name)}
	}
	return []graph.RefName{graph.BranchRef(name), graph.TagRef(name)}
}

func (r *Repo) requireCommit(ctx context.Context, c ipld.CID, name string) error {
	data, err := r.store.Facts().Get(ctx, c)
	if errors.Is(err, store.ErrNotFound) {
		return &NotFoundError{What: "revision", Name: name}
	}
	if err != nil {
		return fmt.Errorf("revision %q: %w", name, err)
	}
	if kind := ipld.RecordKind(data); kind != commit.KindCommit {
		return invalidf("revision %q names a %s, not a commit", name, orBlock(kind))
	}
	return nil
}

func orBlock(kind string) string {
	if kind == "" {
		return "block"
	}
	return kind
}

// commitByPrefix finds the one commit whose text CID begins with prefix.
func (r *Repo) commitByPrefix(ctx context.Context, name string) (ipld.CID, error) {
	missing := &NotFoundError{What: "revision", Name: name}
	prefix := name
	if !strings.HasPrefix(prefix, cidPrefix) {
		prefix = cidPrefix + prefix
	}
	if len(prefix) < len(cidPrefix)+minPrefix || len(prefix) > len(ipld.CID{}.String())+59 {
		return ipld.CID{}, missing
	}
	first, ok := smallestCID(prefix)
	if !ok {
		return ipld.CID{}, missing
	}
	var found []ipld.CID
	stop := errors.New("stop")
	err := r.facts().Iterate(ctx, first, func(b store.Block) error {
		if !strings.HasPrefix(b.CID.String(), prefix) {
			return stop
		}
		if ipld.RecordKind(b.Data) == commit.KindCommit {
			found = append(found, b.CID)
		}
		if len(found) > 1 {
			return stop
		}
		return nil
	})
	switch {
	case err != nil && !errors.Is(err, stop):
		return ipld.CID{}, err
	case len(found) == 0:
		return ipld.CID{}, missing
	case len(found) > 1:
		return ipld.CID{}, &AmbiguousError{What: "commit", Name: name}
	}
	return found[0], r.requireCommit(ctx, found[0], name)
}

// smallestCID returns the smallest CID whose text begins with prefix.
func smallestCID(prefix string) (ipld.CID, bool) {
	const textLen = 59
	if len(prefix) > textLen {
		return ipld.CID{}, false
	}
	text := prefix + strings.Repeat("a", textLen-len(prefix))
	c, err := ipld.ParseCID(text)
	return c, err == nil
}
