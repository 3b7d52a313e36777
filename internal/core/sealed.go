package core

import (
	"context"
	"fmt"
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
