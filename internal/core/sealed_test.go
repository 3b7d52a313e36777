package core_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/merging"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

// TestSignedCommitsStay does all that takes a signed commit off a branch or tag, as one who may, and as
// one who may not: then nothing changes.
func TestSignedCommitsStay(t *testing.T) {
	errKept := errors.New("kept")
	for _, tt := range []struct {
		name string
		ref  graph.RefName // that the commit would be taken off
		do   func(*core.Repo, state.Stamp) error
	}{
		{"amend", "refs/heads/main", func(r *core.Repo, by state.Stamp) error {
			return must.Err(r.Commit(context.Background(), nothing, core.CommitOptions{
				Stamp: by, Message: "mine", Amend: true}))
		}},
		{"undo", "refs/heads/main", func(r *core.Repo, by state.Stamp) error {
			return must.Err(history.Undo(context.Background(), r, "4", by))
		}},
		{"restore an operation", "refs/heads/main", func(r *core.Repo, by state.Stamp) error {
			return must.Err(history.RestoreOperation(context.Background(), r, "3", by))
		}},
		{"move a branch", "refs/heads/main", func(r *core.Repo, by state.Stamp) error {
			return must.Err(r.Branches().Create(context.Background(), "main", "HEAD~1", core.RefOptions{
				Stamp: by, Force: true}))
		}},
		{"switch to a branch moved", "refs/heads/main", func(r *core.Repo, by state.Stamp) error {
			return r.Branches().Switch(context.Background(), "main", core.SwitchOptions{
				Stamp: by, Create: true, Start: "HEAD~1", Force: true})
		}},
		{"rename over", "refs/heads/main", func(r *core.Repo, by state.Stamp) error {
			return r.Branches().Rename(context.Background(), "old", "main", core.RefOptions{
				Stamp: by, Force: true})
		}},
		{"remove a branch", "refs/heads/only", func(r *core.Repo, by state.Stamp) error {
			_, err := r.Branches().Remove(context.Background(), "only", core.RefOptions{Stamp: by, Force: true})
			return err
		}},
		{"remove a tag", "refs/tags/v1", func(r *core.Repo, by state.Stamp) error {
			return must.Err(r.Tags().Remove(context.Background(), "v1", core.RefOptions{Stamp: by}))
		}},
		{"move a tag", "refs/tags/v1", func(r *core.Repo, by state.Stamp) error {
			return must.Err(r.Tags().Create(context.Background(), "v1", "old", core.TagOptions{
				RefOptions: core.RefOptions{Stamp: by, Force: true}}))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := repokit.OpenMem(t)
			ada := secret(t, 1)
			want := signedOn(t, r, ada.Sign, tt.ref == "refs/heads/only")
			before := must.Get(r.Refs(t.Context()))(t)
			stamp := repokit.By
			var asked []*state.SignedError
			stamp.Signed = func(lost *state.SignedError) error {
				asked = append(asked, lost)
				return errKept
			}
			must.Fail(t, tt.do(r, stamp), errKept)
			if len(asked) != 1 || asked[0].Commit != want || asked[0].Key != ada.Key() ||
				asked[0].Ref != tt.ref {
				t.Errorf("asked about %+v, want %s off %s", asked, want, tt.ref)
			}
			after := must.Get(r.Refs(t.Context()))(t)
			for i := range before {
				must.Equal(t, after[i], before[i], "is at")
			}
			stamp.Signed = func(*state.SignedError) error { return nil }
			must.OK(t, tt.do(r, stamp), "by one who may")
		})
	}
}

// signedOn makes a signed commit on main, with the tag v1, as operation 4, and if asked to another one
// on the branch only. It returns the last. The branch old is before them.
func signedOn(t *testing.T, r *core.Repo, sign commit.SignFunc, only bool) ipld.CID {
	t.Helper()
	note(t, r, "one", 10, nil)
	repokit.Branch(t, r, "old", "HEAD")
	signed := note(t, r, "two", 20, sign).Commit
	tag := core.TagOptions{RefOptions: core.RefOptions{Stamp: repokit.By}}
	must.Get(r.Tags().Create(t.Context(), "v1", "HEAD", tag))(t)
	if !only {
		return signed
	}
	repokit.Branch(t, r, "only", "old")
	stamp := repokit.By
	stamp.Sign = sign
	res := must.Get(r.Commit(t.Context(), onlyPerson, core.CommitOptions{
		Stamp: stamp, Branch: "only", Message: "three"}))(t)
	return res.Commit
}

func nothing(func(graph.Change, error) bool) {}

func onlyPerson(yield func(graph.Change, error) bool) {
	yield(graph.Change{Node: &graph.NodeChange{Key: "three", Type: "Note"}}, nil)
}

// TestSignedCommitsAreBuiltUpon checks that Stamp.Signed is not called by operations that keep signed commits.
func TestSignedCommitsAreBuiltUpon(t *testing.T) {
	ctx := t.Context()
	r := repokit.OpenMem(t)
	ada := secret(t, 1)
	note(t, r, "one", 10, ada.Sign)
	repokit.Branch(t, r, "side", "HEAD")
	stamp := repokit.By
	stamp.Signed = func(lost *state.SignedError) error { return lost }
	fail := func(what string, err error) {
		t.Helper()
		must.Check(t, err == nil, "%s: %v", what, err)
	}
	_, err := r.Commit(ctx, onlyPerson, core.CommitOptions{Stamp: stamp, Message: "two"})
	fail("commit", err)
	_, err = merging.Merge(ctx, r, "main", core.MergeOptions{
		CommitOptions: core.CommitOptions{Stamp: stamp, Branch: "side"}})
	fail("merge", err)
	_, err = history.Undo(ctx, r, "", stamp)
	fail("undo of a merge of what main has", err)
	fail("rename", r.Branches().Rename(ctx, "side", "other", core.RefOptions{Stamp: stamp}))
	_, err = r.Branches().Remove(ctx, "other", core.RefOptions{Stamp: stamp})
	fail("remove what main has", err)
	_, err = r.Commit(ctx, nothing, core.CommitOptions{Stamp: stamp, Message: "two again", Amend: true})
	fail("amend what nobody signed", err)
	stamp.Sign = ada.Sign
	note(t, r, "three", 30, ada.Sign)
	_, err = r.Commit(ctx, nothing, core.CommitOptions{Stamp: stamp, Message: "again", Amend: true})
	fail("amend with the same key", err)
}

// TestSignedMergeInProgress decides about a merge in progress of a signed commit that nothing else has,
// which takes nothing away, and aborts it, which does.
func TestSignedMergeInProgress(t *testing.T) {
	ctx := t.Context()
	r := repokit.OpenMem(t)
	ada := secret(t, 1)
	repokit.Lines(t, r, repokit.Person(1))
	repokit.Branch(t, r, "theirs", "HEAD")
	repokit.Lines(t, r, `{"node":{"key":"p1","summary":"ours"}}`)
	signing := repokit.By
	signing.Sign = ada.Sign
	must.Get(r.Commit(ctx, func(yield func(graph.Change, error) bool) {
		summary := "theirs"
		yield(graph.Change{Node: &graph.NodeChange{Key: "p1", Summary: &summary}}, nil)
	}, core.CommitOptions{Stamp: signing, Branch: "theirs"}))(t)
	opt := core.CommitOptions{Stamp: repokit.By}
	must.Require(t, must.Err(merging.Merge(ctx, r, "theirs", core.MergeOptions{CommitOptions: opt})) != nil,
		"no conflict")
	repokit.DropBranch(t, r, "theirs")
	opt.Signed = func(lost *state.SignedError) error { return lost }
	must.Get(merging.ResolveConflict(ctx, r, "p1", merging.Choice{Take: graph.TakeTheirs}, opt))(t, "resolve")
	_, err := merging.AbortMerge(ctx, r, opt)
	must.Fail(t, err, state.ErrSigned)
	must.Get(merging.ContinueMerge(ctx, r, core.MergeOptions{CommitOptions: opt}))(t, "continue")
}

// TestGuardKnowsTags asks about tags that move, go, or are hidden by a branch of their name.
func TestGuardKnowsTags(t *testing.T) {
	ctx := t.Context()
	r := repokit.OpenMem(t)
	note(t, r, "one", 10, nil)
	opt := core.TagOptions{RefOptions: core.RefOptions{Stamp: repokit.By, Force: true}}
	must.Get(r.Tags().Create(ctx, "v1", "HEAD", opt))(t)
	note(t, r, "two", 20, nil)
	var asked []state.Touch
	stamp := repokit.By
	errTag := errors.New("a tag")
	stamp.Guard = func(touch state.Touch) error {
		if asked = append(asked, touch); touch.Kind == core.TouchTag {
			return errTag
		}
		return nil
	}
	opt.Stamp = stamp
	for what, do := range map[string]func() error{
		"move":   func() error { return must.Err(r.Tags().Create(ctx, "v1", "HEAD", opt)) },
		"remove": func() error { return must.Err(r.Tags().Remove(ctx, "v1", opt.RefOptions)) },
		"hide":   func() error { return must.Err(r.Branches().Create(ctx, "v1", "", opt.RefOptions)) },
		"hide by renaming": func() error {
			return r.Branches().Rename(ctx, "main", "v1", opt.RefOptions)
		},
		"hide by switching": func() error {
			return r.Branches().Switch(ctx, "v1", core.SwitchOptions{Stamp: stamp, Create: true})
		},
	} {
		asked = nil
		want := state.Touch{Kind: core.TouchTag, Ref: "refs/tags/v1"}
		must.Fail(t, do(), errTag, what)
		must.Equal(t, asked[len(asked)-1], want, what)
	}
	asked = nil
	want := []state.Touch{{Kind: core.TouchTag, Ref: "refs/tags/v2"}}
	if _, err := r.Tags().Create(ctx, "v2", "HEAD", opt); !errors.Is(err, errTag) || !slices.Equal(asked, want) {
		t.Errorf("a new tag: %v, asked %+v", err, asked)
	}
}
