package repo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// ErrSigned marks the refusal to replace a commit that a key has signed, or to take it away.
var ErrSigned = errors.New("it needs that key, or a policy that allows it")

// SignedError is returned where a commit that a key has signed would be replaced by an amended one, or
// be on a branch or tag no more, and the caller neither signs with that key nor may do so otherwise.
// errors.Is(err, ErrSigned) holds.
type SignedError struct {
	Commit ipld.CID
	Key    commit.Key
	Ref    graph.RefName // the branch or tag that it would be taken off
}

func (e *SignedError) Error() string {
	return fmt.Sprintf("commit %s is signed by key %s: %v, to take it off %s; sign with that key, or commit "+
		"upon it", e.Commit, e.Key.Fingerprint(), ErrSigned, e.Ref)
}

// Is reports whether target is ErrSigned.
func (e *SignedError) Is(target error) bool { return target == ErrSigned }

// amended checks that a commit which replaces another one is signed by the key of that, if a key has
// signed that and the signature holds. Where Stamp.Signed is there to be asked, it is asked later.
func (t *tx) amended(ref graph.RefName, old *Snapshot, next *commit.Commit, by Stamp) error {
	key, err := old.commit.Signer()
	if err != nil {
		return nil // no key stands for it
	}
	if with, err := next.Signer(); err == nil && with == key {
		t.resigned = old.id
		return nil
	}
	if by.Signed != nil {
		return nil
	}
	return &SignedError{Commit: old.id, Key: key, Ref: ref}
}

// sealed asks Stamp.Signed about the commits that a key has signed and that the transaction takes off
// a branch or a tag, away with a commit that was kept, or with a merge in progress. It reads the commits
// that are taken off.
func (t *tx) sealed(ctx context.Context, by Stamp) error {
	if by.Signed == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(t.edits)) {
		before, ok, err := t.view.get(ctx, name)
		if err != nil || !ok || before.Symbolic != "" {
			if err != nil {
				return err
			}
			continue
		}
		after, err := decodeSide(name, t.edits[name])
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
func (t *tx) taken(ctx context.Context, name graph.RefName, before, after Ref, by Stamp) error {
	from := before.Target
	if strings.HasPrefix(string(name), graph.Tags) {
		return t.tagged(ctx, name, before, after, by)
	}
	if before.isMerge() {
		rec, err := commit.ReadMerge(ctx, t.stage, from)
		if err != nil || !rec.Theirs.Defined() {
			return err
		}
		if after.Exists() {
			now, err := commit.ReadMerge(ctx, t.stage, after.Target)
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
	for e, err := range commit.Between(ctx, t.stage, []ipld.CID{from}, until) {
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
func (t *tx) tagged(ctx context.Context, name graph.RefName, before, after Ref, by Stamp) error {
	was, err := t.peeled(ctx, before.Target)
	if err != nil {
		return err
	}
	if after.Exists() {
		if is, err := t.peeled(ctx, after.Target); err != nil || is == was {
			return err
		}
	}
	rec, err := commit.ReadCommit(ctx, t.stage, was)
	if err != nil {
		return err
	}
	return t.ask(name, was, rec, by)
}

// ask asks about one commit that is taken off a ref.
func (t *tx) ask(name graph.RefName, c ipld.CID, rec *commit.Commit, by Stamp) error {
	key, err := rec.Signer()
	if err != nil || c == t.resigned {
		return nil
	}
	return by.Signed(&SignedError{Commit: c, Key: key, Ref: name})
}

// peeled is Repo.peel for what the transaction may have written.
func (t *tx) peeled(ctx context.Context, c ipld.CID) (ipld.CID, error) {
	data, err := t.stage.Get(ctx, c)
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
func (t *tx) tips(ctx context.Context) ([]ipld.CID, error) {
	refs := make(map[graph.RefName]ipld.CID)
	for _, prefix := range []string{graph.Heads, graph.Tags, keptCommits} {
		for ref, err := range t.view.list(ctx, prefix) {
			if err != nil {
				return nil, err
			}
			refs[ref.Name] = ref.Target
		}
		for name, item := range t.edits {
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
