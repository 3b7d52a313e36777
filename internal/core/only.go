package core

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// onlyMark parts the branch that a caller is confined to from the names of its sessions and stages. Such a branch
// has no "@" in its name, so that the first one ends it.
const onlyMark = "@/"

// ErrOnly is wrapped by the error of a write to a ref that a confined caller does not have.
var ErrOnly = errors.New("outside of the branch that the caller is confined to")

// CheckOnly returns an error that wraps state.ErrInvalid if no caller can be confined to a branch of that name.
func CheckOnly(branch string) error {
	err := CheckNewName("branch", branch)
	if err == nil && strings.Contains(branch, "@") {
		err = state.Invalidf("branch %q: a caller is confined to a branch without @ in its name", branch)
	}
	return err
}

// Only returns the repository for a caller that is confined to a branch. The branch need not exist: it is empty until
// its first commit. HEAD is on it. The caller sees only the refs of the branch: itself, and its sessions, stages, merges in
// progress and kept commits. A hash names a commit that the branch reaches, or one of its operations, sessions and
// receipts. The operation log has the operations that moved these refs. Writes to other refs fail. With "" the caller
// is not confined. The result shares storage, indexes and caches with r: these are keyed by the hash of a state.
func (r *Repo) Only(branch string) *Repo {
	if branch == "" {
		return r
	}
	return &Repo{r.Opened, branch}
}

// Confined reports whether Only made the repository.
func (r *Repo) Confined() bool { return r.only != "" }

// Own returns the name that a session or stage of a caller has in the repository.
func (r *Repo) Own(name string) string { return ownName(r.only, name) }

// Own does as Repo.Own.
func (v *View) Own(name string) string { return ownName(v.only, name) }

func ownName(only, name string) string {
	if only == "" || strings.HasPrefix(name, only+onlyMark) {
		return name
	}
	return only + onlyMark + name
}

// sees reports whether a caller that is confined to a branch, "" for none, has a ref. HEAD is not stored: a view makes it.
func sees(only string, name graph.RefName) bool {
	if only == "" {
		return true
	}
	switch ns, rest := name.Split(); ns {
	case graph.Heads:
		return rest == only
	case graph.Sessions, graph.Stages:
		return strings.HasPrefix(rest, only+onlyMark)
	case graph.Conflicts:
		if branch, _, ok := (Ref{Name: name}).merging(); ok {
			return branch == only
		}
		number, ok := strings.CutPrefix(string(name), keptCommits+only+"/")
		return ok && IsNumber(number)
	}
	return false
}

// within refuses edits of refs that the caller does not have, whether or not they exist.
func (t *Tx) within() error {
	only := t.Repo.only
	if only == "" {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(t.Edits)) {
		if !sees(only, name) {
			return fmt.Errorf("write %s: %w, %s", name, ErrOnly, only)
		}
	}
	if t.Horizon != 0 {
		return fmt.Errorf("forget operations: %w, %s", ErrOnly, only)
	}
	return nil
}

// ViewAt returns the refs as an operation left them; a Seq of 0 has none. HEAD is the repository's own.
func (r *Repo) ViewAt(ctx context.Context, head store.Head) (*View, error) {
	v, err := LoadView(ctx, r.Nodes(), r.Facts(), head)
	if err == nil {
		v.only = r.only
	}
	return v, err
}

// reaches reports whether a commit of that CID is stored and a ref of the caller leads to it.
func (r Revisions) reaches(ctx context.Context, v *View, c ipld.CID) (bool, error) {
	facts := r.repo.Facts()
	data, err := r.repo.Store.Facts().Get(ctx, c) // which need not be there
	if err != nil || ipld.RecordKind(data) != commit.KindCommit {
		return false, unlessMissing(err)
	}
	tips, err := ownCommits(ctx, v)
	for _, tip := range tips {
		if err != nil {
			break
		}
		var has bool
		if has, err = commit.IsAncestor(ctx, facts, c, tip); has {
			return true, nil
		}
	}
	return false, err
}

// unlessMissing returns an error unless it says that a block is not there, or was erased.
func unlessMissing(err error) error {
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrRedacted) {
		return nil
	}
	return err
}

// ownCommits returns the newest commits of a confined caller.
func ownCommits(ctx context.Context, v *View) (tips []ipld.CID, err error) {
	for _, prefix := range []string{graph.Heads, keptCommits} {
		for ref, err := range v.List(ctx, prefix) {
			if err != nil {
				return nil, err
			}
			tips = append(tips, ref.Target)
		}
	}
	return tips, nil
}

// ownRecords calls fn with the CIDs of the records of a kind that a confined caller has, until it returns false.
func (r Revisions) ownRecords(ctx context.Context, kind string, fn func(ipld.CID) bool) error {
	v, err := r.repo.Current(ctx)
	if err != nil {
		return err
	}
	switch kind {
	case commit.KindCommit:
		tips, err := ownCommits(ctx, v)
		if err != nil {
			return err
		}
		for e, err := range commit.Between(ctx, r.repo.Facts(), tips, nil) {
			if err != nil || !fn(e.CID) {
				return err
			}
		}
	case commit.KindOperation:
		for e, err := range r.repo.OpLog().Entries(ctx, v.head) {
			if err != nil || !fn(e.CID) {
				return err
			}
		}
	default:
		for ref, err := range v.List(ctx, graph.Sessions) {
			for c := ref.Target; err == nil && c.Defined(); {
				var data []byte
				if data, err = r.repo.Facts().Get(ctx, c); err != nil {
					break
				}
				var s *retrieve.Session
				if s, err = retrieve.DecodeSession(data); err != nil {
					break
				}
				one := c
				if kind == retrieve.KindReceipt {
					one = s.Receipt
				}
				if one.Defined() && !fn(one) {
					return nil
				}
				c = s.Prev
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// ownByPrefix is byPrefix for a confined caller: it looks through what the caller has, so that nothing else makes a
// prefix ambiguous.
func (r Revisions) ownByPrefix(ctx context.Context, name, kind, what string) (ipld.CID, error) {
	missing := &state.NotFoundError{What: what, Name: name}
	prefix, long := cidBeginning(name)
	if !long {
		return ipld.CID{}, missing
	}
	var found ipld.CID
	several := false
	err := r.ownRecords(ctx, kind, func(c ipld.CID) bool {
		if strings.HasPrefix(c.String(), prefix) && c != found {
			several = found.Defined()
			found = c
		}
		return !several && found.String() != prefix
	})
	switch {
	case err != nil:
		return ipld.CID{}, err
	case several:
		return ipld.CID{}, &state.AmbiguousError{What: kind, Name: name}
	case !found.Defined():
		return ipld.CID{}, missing
	}
	return found, nil
}

// ownBlock returns the record of an operation, a session or a receipt of a confined caller.
func (st Storage) ownBlock(ctx context.Context, name string) (ipld.CID, []byte, error) {
	missing := &state.NotFoundError{What: "block", Name: name}
	for _, kind := range []string{commit.KindOperation, retrieve.KindSession, retrieve.KindReceipt} {
		c, err := st.repo.Revisions().ownByPrefix(ctx, name, kind, "block")
		if err == nil {
			data, err := st.repo.Store.Facts().Get(ctx, c)
			return c, data, err
		}
		if !errors.Is(err, store.ErrNotFound) {
			return c, nil, err
		}
	}
	return ipld.CID{}, nil, missing
}

// readOwn is Read for a confined caller, who counts steps by its own operations.
func (l OpLog) readOwn(
	ctx context.Context, head store.Head, name, base string, steps uint64,
) (e commit.OpEntry, err error) {
	missing := &state.NotFoundError{What: "operation", Name: name}
	var seq uint64
	var want ipld.CID
	switch {
	case base == headShort:
	case IsNumber(base):
		seq, err = ParseSeq(name, base)
	default:
		want, err = l.repo.Revisions().ownByPrefix(ctx, base, commit.KindOperation, "operation")
		if errors.Is(err, store.ErrNotFound) {
			err = missing
		}
	}
	if err != nil {
		return e, err
	}
	met := false
	for e, err := range l.Entries(ctx, head) {
		if err != nil {
			return commit.OpEntry{}, err
		}
		met = met || base == headShort || want == e.CID || !want.Defined() && e.Operation.Seq == seq
		switch {
		case met && steps == 0:
			return e, nil
		case met:
			steps--
		}
	}
	return commit.OpEntry{}, missing
}

func (l OpLog) owns(ctx context.Context, e commit.OpEntry) (bool, error) {
	if !l.repo.Confined() {
		return true, nil
	}
	rec, err := l.Record(ctx, e)
	return l.has(&rec), err
}

// has reports whether the caller has an operation: if it is confined, one that moved a ref of its own. What the oldest
// that is kept moved is not known.
func (l OpLog) has(rec *OpRecord) bool { return !l.repo.Confined() || len(rec.Refs) > 0 }

// mine leaves the moves of refs that the caller has.
func (l OpLog) mine(moves []RefMove) []RefMove {
	return slices.DeleteFunc(moves, func(m RefMove) bool { return !sees(l.repo.only, m.Name) })
}

// own leaves of an operation what a confined caller may know: its own refs, and the words of an operation that moved
// no others; of one that did, the verb alone.
func (l OpLog) own(rec *OpRecord) {
	all := len(rec.Refs)
	rec.Refs = l.mine(rec.Refs)
	if len(rec.Refs) < all {
		o := *rec.Operation
		o.Command = o.Command[:1]
		rec.Operation = &o
	}
}
