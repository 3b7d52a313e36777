package repo_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
)

// TestSignedCommitsStay does all that takes a signed commit off a branch or tag, as one who may, and as
// one who may not: then nothing changes.
func TestSignedCommitsStay(t *testing.T) {
	errKept := errors.New("kept")
	for _, tt := range []struct {
		name string
		ref  graph.RefName // that the commit would be taken off
		do   func(*repo.Repo, repo.Stamp) error
	}{
		{"amend", "refs/heads/main", func(r *repo.Repo, by repo.Stamp) error {
			_, err := r.Commit(context.Background(), nothing, repo.CommitOptions{
				Stamp: by, Message: "mine", Amend: true})
			return err
		}},
		{"undo", "refs/heads/main", func(r *repo.Repo, by repo.Stamp) error {
			_, err := r.Undo(context.Background(), "4", by)
			return err
		}},
		{"restore an operation", "refs/heads/main", func(r *repo.Repo, by repo.Stamp) error {
			_, err := r.RestoreOperation(context.Background(), "3", by)
			return err
		}},
		{"move a branch", "refs/heads/main", func(r *repo.Repo, by repo.Stamp) error {
			_, err := r.CreateBranch(context.Background(), "main", "HEAD~1", repo.RefOptions{
				Stamp: by, Force: true})
			return err
		}},
		{"switch to a branch moved", "refs/heads/main", func(r *repo.Repo, by repo.Stamp) error {
			return r.Switch(context.Background(), "main", repo.SwitchOptions{
				Stamp: by, Create: true, Start: "HEAD~1", Force: true})
		}},
		{"rename over", "refs/heads/main", func(r *repo.Repo, by repo.Stamp) error {
			return r.RenameBranch(context.Background(), "old", "main", repo.RefOptions{
				Stamp: by, Force: true})
		}},
		{"remove a branch", "refs/heads/only", func(r *repo.Repo, by repo.Stamp) error {
			_, err := r.RemoveBranch(context.Background(), "only", repo.RefOptions{Stamp: by, Force: true})
			return err
		}},
		{"remove a tag", "refs/tags/v1", func(r *repo.Repo, by repo.Stamp) error {
			_, err := r.RemoveTag(context.Background(), "v1", repo.RefOptions{Stamp: by})
			return err
		}},
		{"move a tag", "refs/tags/v1", func(r *repo.Repo, by repo.Stamp) error {
			_, err := r.CreateTag(context.Background(), "v1", "old", repo.TagOptions{
				RefOptions: repo.RefOptions{Stamp: by, Force: true}})
			return err
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := openMem(t)
			ada := secret(t, 1)
			want := signedOn(t, r, ada.Sign, tt.ref == "refs/heads/only")
			before, err := r.Refs(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			stamp := by
			var asked []*repo.SignedError
			stamp.Signed = func(lost *repo.SignedError) error {
				asked = append(asked, lost)
				return errKept
			}
			if err := tt.do(r, stamp); !errors.Is(err, errKept) {
				t.Errorf("by one who may not: %v", err)
			}
			if len(asked) != 1 || asked[0].Commit != want || asked[0].Key != ada.Key() ||
				asked[0].Ref != tt.ref {
				t.Errorf("asked about %+v, want %s off %s", asked, want, tt.ref)
			}
			after, err := r.Refs(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for i := range before {
				if after[i] != before[i] {
					t.Errorf("%s is at %s, was at %s", after[i].Name, after[i].Value(), before[i].Value())
				}
			}
			stamp.Signed = func(*repo.SignedError) error { return nil }
			if err := tt.do(r, stamp); err != nil {
				t.Errorf("by one who may: %v", err)
			}
		})
	}
}

// signedOn makes a signed commit on main, with the tag v1, as operation 4, and where asked to another one
// on the branch only. It returns the last. The branch old is before them.
func signedOn(t *testing.T, r *repo.Repo, sign commit.SignFunc, only bool) ipld.CID {
	t.Helper()
	note(t, r, "one", 10, nil)
	branch(t, r, "old", "HEAD")
	signed := note(t, r, "two", 20, sign).Commit
	tag := repo.TagOptions{RefOptions: repo.RefOptions{Stamp: by}}
	if _, err := r.CreateTag(t.Context(), "v1", "HEAD", tag); err != nil {
		t.Fatal(err)
	}
	if !only {
		return signed
	}
	branch(t, r, "only", "old")
	stamp := by
	stamp.Sign = sign
	res, err := r.Commit(t.Context(), onlyPerson, repo.CommitOptions{
		Stamp: stamp, Branch: "only", Message: "three"})
	if err != nil {
		t.Fatal(err)
	}
	return res.Commit
}

func nothing(func(graph.Change, error) bool) {}

func onlyPerson(yield func(graph.Change, error) bool) {
	yield(graph.Change{Node: &graph.NodeChange{Key: "three", Type: "Note"}}, nil)
}

// TestSignedCommitsAreBuiltUpon does what keeps signed commits where they are: nobody is asked.
func TestSignedCommitsAreBuiltUpon(t *testing.T) {
	ctx := t.Context()
	r := openMem(t)
	ada := secret(t, 1)
	note(t, r, "one", 10, ada.Sign)
	branch(t, r, "side", "HEAD")
	stamp := by
	stamp.Signed = func(lost *repo.SignedError) error { return lost }
	fail := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := r.Commit(ctx, onlyPerson, repo.CommitOptions{Stamp: stamp, Message: "two"})
	fail("commit", err)
	_, err = r.Merge(ctx, "main", repo.MergeOptions{
		CommitOptions: repo.CommitOptions{Stamp: stamp, Branch: "side"}})
	fail("merge", err)
	_, err = r.Undo(ctx, "", stamp)
	fail("undo of a merge of what main has", err)
	fail("rename", r.RenameBranch(ctx, "side", "other", repo.RefOptions{Stamp: stamp}))
	_, err = r.RemoveBranch(ctx, "other", repo.RefOptions{Stamp: stamp})
	fail("remove what main has", err)
	_, err = r.Commit(ctx, nothing, repo.CommitOptions{Stamp: stamp, Message: "two again", Amend: true})
	fail("amend what nobody signed", err)
	stamp.Sign = ada.Sign
	note(t, r, "three", 30, ada.Sign)
	_, err = r.Commit(ctx, nothing, repo.CommitOptions{Stamp: stamp, Message: "again", Amend: true})
	fail("amend with the same key", err)
}

// TestSignedMergeInProgress decides about a merge in progress of a signed commit that nothing else has,
// which takes nothing away, and aborts it, which does.
func TestSignedMergeInProgress(t *testing.T) {
	ctx := t.Context()
	r := openMem(t)
	ada := secret(t, 1)
	lines(t, r, person(1))
	branch(t, r, "theirs", "HEAD")
	lines(t, r, `{"node":{"key":"p1","summary":"ours"}}`)
	signing := by
	signing.Sign = ada.Sign
	_, err := r.Commit(ctx, func(yield func(graph.Change, error) bool) {
		summary := "theirs"
		yield(graph.Change{Node: &graph.NodeChange{Key: "p1", Summary: &summary}}, nil)
	}, repo.CommitOptions{Stamp: signing, Branch: "theirs"})
	if err != nil {
		t.Fatal(err)
	}
	opt := repo.CommitOptions{Stamp: by}
	if _, err := r.Merge(ctx, "theirs", repo.MergeOptions{CommitOptions: opt}); err == nil {
		t.Fatal("no conflict")
	}
	dropBranch(t, r, "theirs")
	opt.Signed = func(lost *repo.SignedError) error { return lost }
	if _, err := r.ResolveConflict(ctx, "p1", repo.Choice{Take: graph.TakeTheirs}, opt); err != nil {
		t.Errorf("resolve: %v", err)
	}
	if _, err := r.AbortMerge(ctx, opt); !errors.Is(err, repo.ErrSigned) {
		t.Errorf("abort: %v", err)
	}
	if _, err := r.ContinueMerge(ctx, repo.MergeOptions{CommitOptions: opt}); err != nil {
		t.Errorf("continue: %v", err)
	}
}

// TestGuardKnowsTags asks about tags that move, go, or are hidden by a branch of their name.
func TestGuardKnowsTags(t *testing.T) {
	ctx := t.Context()
	r := openMem(t)
	note(t, r, "one", 10, nil)
	opt := repo.TagOptions{RefOptions: repo.RefOptions{Stamp: by, Force: true}}
	if _, err := r.CreateTag(ctx, "v1", "HEAD", opt); err != nil {
		t.Fatal(err)
	}
	note(t, r, "two", 20, nil)
	var asked []repo.Touch
	stamp := by
	errTag := errors.New("a tag")
	stamp.Guard = func(touch repo.Touch) error {
		if asked = append(asked, touch); touch.Kind == repo.TouchTag {
			return errTag
		}
		return nil
	}
	opt.Stamp = stamp
	for what, do := range map[string]func() error{
		"move":   func() error { _, err := r.CreateTag(ctx, "v1", "HEAD", opt); return err },
		"remove": func() error { _, err := r.RemoveTag(ctx, "v1", opt.RefOptions); return err },
		"hide":   func() error { _, err := r.CreateBranch(ctx, "v1", "", opt.RefOptions); return err },
		"hide by renaming": func() error {
			return r.RenameBranch(ctx, "main", "v1", opt.RefOptions)
		},
		"hide by switching": func() error {
			return r.Switch(ctx, "v1", repo.SwitchOptions{Stamp: stamp, Create: true})
		},
	} {
		asked = nil
		want := repo.Touch{Kind: repo.TouchTag, Ref: "refs/tags/v1"}
		if err := do(); !errors.Is(err, errTag) || asked[len(asked)-1] != want {
			t.Errorf("%s: %v, asked %+v", what, err, asked)
		}
	}
	asked = nil
	want := []repo.Touch{{Kind: repo.TouchTag, Ref: "refs/tags/v2"}}
	if _, err := r.CreateTag(ctx, "v2", "HEAD", opt); !errors.Is(err, errTag) || !slices.Equal(asked, want) {
		t.Errorf("a new tag: %v, asked %+v", err, asked)
	}
}
