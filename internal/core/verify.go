package core

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/ipld"
)

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
