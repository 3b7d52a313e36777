package core

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// amended checks that a commit that replaces another one is signed by the same key, if the old one is
// signed and its signature holds. If Stamp.Signed is set, sealed asks it later instead.
func (t *Tx) amended(ref graph.RefName, old *Snapshot, next *commit.Commit, by state.Stamp) error {
	key, err := old.Record.Signer()
	if err != nil {
		return nil // no key stands for it
	}
	if with, err := next.Signer(); err == nil && with == key {
		t.resigned = old.Id
		return nil
	}
	if by.Signed != nil {
		return nil
	}
	return &state.SignedError{Commit: old.Id, Key: key, Ref: ref}
}

// sealed asks Stamp.Signed about the commits that a key has signed and that the transaction takes off a branch or a
// tag, away with a commit that was kept, or with a merge in progress. It reads the commits that are taken off.
func (t *Tx) sealed(ctx context.Context, by state.Stamp) error {
	if by.Signed == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(t.Edits)) {
		before, ok, err := t.View.Get(ctx, name)
		if err != nil || !ok || before.Symbolic != "" {
			if err != nil {
				return err
			}
			continue
		}
		after, err := decodeSide(name, t.Edits[name])
		if err == nil && after.Target != before.Target {
			err = t.taken(ctx, name, before, after, by)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// taken asks about what one ref loses.
func (t *Tx) taken(ctx context.Context, name graph.RefName, before, after Ref, by state.Stamp) error {
	from := before.Target
	if strings.HasPrefix(string(name), graph.Tags) {
		return t.tagged(ctx, name, before, after, by)
	}
	if before.IsMerge() {
		rec, err := commit.ReadMerge(ctx, t.Stage, from)
		if err != nil || !rec.Theirs.Defined() {
			return err
		}
		if after.Exists() {
			now, err := commit.ReadMerge(ctx, t.Stage, after.Target)
			if err != nil || now.Theirs == rec.Theirs {
				return err
			}
		}
		from, after = rec.Theirs, Ref{}
	} else if _, branch := name.Branch(); !branch && !strings.HasPrefix(string(name), keptCommits) {
		return nil
	}
	until := []ipld.CID{after.Target}
	if !after.Exists() { // what other names still lead to is not lost
		var err error
		if until, err = t.tips(ctx); err != nil {
			return err
		}
	}
	for e, err := range commit.Between(ctx, t.Stage, []ipld.CID{from}, until) {
		if err == nil {
			err = t.ask(name, e.CID, e.Commit, by)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tagged asks about the commit of a tag, which is a name for that very commit.
func (t *Tx) tagged(ctx context.Context, name graph.RefName, before, after Ref, by state.Stamp) error {
	was, err := t.peeled(ctx, before.Target)
	if err != nil {
		return err
	}
	if after.Exists() {
		if is, err := t.peeled(ctx, after.Target); err != nil || is == was {
			return err
		}
	}
	rec, err := commit.ReadCommit(ctx, t.Stage, was)
	if err != nil {
		return err
	}
	return t.ask(name, was, rec, by)
}

// ask asks about one commit that is taken off a ref.
func (t *Tx) ask(name graph.RefName, c ipld.CID, rec *commit.Commit, by state.Stamp) error {
	key, err := rec.Signer()
	if err != nil || c == t.resigned {
		return nil
	}
	return by.Signed(&state.SignedError{Commit: c, Key: key, Ref: name})
}

// peeled is Revisions.Peel for what the transaction may have written.
func (t *Tx) peeled(ctx context.Context, c ipld.CID) (ipld.CID, error) {
	data, err := t.Stage.Get(ctx, c)
	if err != nil || ipld.RecordKind(data) != commit.KindTag {
		return c, err
	}
	tag, err := commit.DecodeTag(data)
	if err != nil {
		return c, fmt.Errorf("read tag %s: %w", c, err)
	}
	return tag.Target, nil
}

// tips returns the commits that branches, tags and kept commits are at after the transaction.
func (t *Tx) tips(ctx context.Context) ([]ipld.CID, error) {
	refs := make(map[graph.RefName]ipld.CID)
	for _, prefix := range []string{graph.Heads, graph.Tags, keptCommits} {
		for ref, err := range t.View.List(ctx, prefix) {
			if err != nil {
				return nil, err
			}
			refs[ref.Name] = ref.Target
		}
		for name, item := range t.Edits {
			if !strings.HasPrefix(string(name), prefix) {
				continue
			}
			ref, err := decodeSide(name, item)
			if err != nil {
				return nil, err
			}
			if refs[name] = ref.Target; !ref.Exists() {
				delete(refs, name)
			}
		}
	}
	var out []ipld.CID
	for _, c := range refs { // the order does not matter
		c, err := t.peeled(ctx, c)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// ErrUnsigned marks the refusal of commits that must be signed by trusted keys and are not.
var ErrUnsigned = errors.New("signatures are required")

// maxUnsigned bounds how many commits an UnsignedError names.
const maxUnsigned = 20

// Verification is one commit of a history and what its signature is worth.
type Verification struct {
	CID    ipld.CID
	Commit *commit.Commit
	commit.Verdict
}

// VerifyHistory yields the commits that are reached from some commits and not from others, in the
// order of history.Log, each with what its signature is worth to v. A signature that does not hold is a
// verdict, not an error. After an error, which comes with the zero Verification, it ends.
func (r *Repo) VerifyHistory(
	ctx context.Context, from, until []ipld.CID, v commit.Verifier,
) iter.Seq2[Verification, error] {
	return func(yield func(Verification, error) bool) {
		for e, err := range commit.Between(ctx, r.Facts(), from, until) {
			if err != nil {
				yield(Verification{}, err)
				return
			}
			if !yield(Verification{e.CID, e.Commit, commit.Verify(e.Commit, v)}, nil) {
				return
			}
		}
	}
}

// VerifyTheirs asks what the options of a merge say of the commits that it brings into a branch.
func (t *Tx) VerifyTheirs(ctx context.Context, opt MergeOptions, theirs, head ipld.CID) error {
	if opt.Verify == nil {
		return nil
	}
	var until []ipld.CID
	if head.Defined() {
		until = []ipld.CID{head}
	}
	return opt.Verify(commit.Between(ctx, t.Repo.Facts(), []ipld.CID{theirs}, until))
}

// RequireSigned returns an *UnsignedError unless every commit is signed by a key that v trusts. A merge
// asks it of what the other side brings, before it merges that same commit.
func RequireSigned(commits iter.Seq2[commit.LogEntry, error], v commit.Verifier) error {
	var refused UnsignedError
	for e, err := range commits {
		if err != nil {
			return fmt.Errorf("verify signatures: %w", err)
		}
		verdict := commit.Verify(e.Commit, v)
		if verdict.State == commit.Signed {
			continue
		}
		if refused.Total++; len(refused.First) < maxUnsigned {
			refused.First = append(refused.First, Verification{e.CID, e.Commit, verdict})
		}
	}
	if refused.Total > 0 {
		return &refused
	}
	return nil
}

// UnsignedError is returned if commits are not signed by trusted keys and must be. errors.Is(err, ErrUnsigned) holds.
type UnsignedError struct {
	Total int            // number of such commits
	First []Verification // the first of them, at most 20
}

// Error names the commits of First with the state of their signatures, and how many more there are.
func (e *UnsignedError) Error() string {
	parts := make([]string, len(e.First))
	for i, v := range e.First {
		parts[i] = fmt.Sprintf("%s is %s", v.CID, v.State)
	}
	if n := e.Total - len(e.First); n > 0 {
		parts = append(parts, fmt.Sprintf("%d more", n))
	}
	return fmt.Sprintf("%v: %s", ErrUnsigned, strings.Join(parts, ", "))
}

// Is reports whether target is ErrUnsigned.
func (e *UnsignedError) Is(target error) bool { return target == ErrUnsigned }
