package core_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/merging"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

// secret returns the secret whose seed is n in every byte.
func secret(t testing.TB, n byte) commit.Secret {
	t.Helper()
	return must.Get(commit.NewSecret(bytes.NewReader(bytes.Repeat([]byte{n}, commit.KeyLen))))(t)
}

// trusting trusts the keys it lists, by name, up to a time.
type trusting struct {
	names map[commit.Key]string
	until graph.Time
}

func (v trusting) Trust(key commit.Key, at graph.Time) commit.Trust {
	name, ok := v.names[key]
	switch {
	case !ok:
		return commit.Trust{State: commit.Untrusted}
	case at >= v.until:
		return commit.Trust{State: commit.Revoked, Name: name, Reason: "over"}
	}
	return commit.Trust{State: commit.Signed, Name: name}
}

// note commits one node of a key, signed if sign is given, and returns the result.
func note(t testing.TB, r *core.Repo, key string, at graph.Time, sign commit.SignFunc) *core.CommitResult {
	t.Helper()
	stamp := repokit.By
	stamp.Time, stamp.Sign = at, sign
	line := fmt.Sprintf(`{"node":{"key":%q,"type":"Note"}}`, key)
	return must.Get(r.Commit(t.Context(), state.ReadChanges(strings.NewReader(line), "test"),
		core.CommitOptions{Stamp: stamp, Message: key}))(t)
}

// verified lists "MESSAGE STATE NAME" of a history.
func verified(t testing.TB, r *core.Repo, from, until []ipld.CID, v commit.Verifier) []string {
	t.Helper()
	var out []string
	for e, err := range r.VerifyHistory(t.Context(), from, until, v) {
		must.OK(t, err)
		out = append(out, fmt.Sprintf("%s %s %s", repokit.Said(t, r, e.Commit.Message), e.State, e.Name))
	}
	return out
}

func TestRequireSignedNamesFew(t *testing.T) {
	r := repokit.OpenMem(t)
	var last ipld.CID
	for i := range 25 {
		last = note(t, r, fmt.Sprint(i), 1, nil).Commit
	}
	err := core.RequireSigned(commit.Between(t.Context(), r.Facts(), []ipld.CID{last}, nil), nil)
	must.True(t, err != nil && strings.HasSuffix(err.Error(), "is unsigned, 5 more"), "error %v", err)
}

// TestSignFails holds that nothing is written where signing fails, or where what a signer gives does not hold.
func TestSignFails(t *testing.T) {
	r := repokit.OpenMem(t)
	note(t, r, "one", 10, nil)
	before := must.Get(r.Refs(t.Context()))(t)
	broken := errors.New("no key")
	for want, sign := range map[error]commit.SignFunc{
		broken:              func([]byte) ([]byte, error) { return nil, broken },
		commit.ErrSignature: func([]byte) ([]byte, error) { return make([]byte, 97), nil },
	} {
		stamp := repokit.By
		stamp.Sign = sign
		_, err := r.Commit(t.Context(), state.ReadChanges(
			strings.NewReader(`{"node":{"key":"x","type":"Note"}}`), "test"),
			core.CommitOptions{Stamp: stamp, Message: "x"})
		must.Fail(t, err, want)
	}
	after, err := r.Refs(t.Context())
	same := cmp.Comparer(func(a, b ipld.CID) bool { return a == b })
	must.Equal(t, cmp.Diff(before, after, same), "", "refs changed (-before +after):\n")
	must.OK(t, err, "refs changed (-before +after):\n")
}

// TestContinueRequiresSignatures asks again when a merge that conflicted is finished.
func TestContinueRequiresSignatures(t *testing.T) {
	r := repokit.OpenMem(t)
	opt := core.MergeOptions{CommitOptions: core.CommitOptions{Stamp: repokit.By}}
	change := func(branch, summary string) ipld.CID {
		t.Helper()
		line := fmt.Sprintf(`{"node":{"key":"one","type":"Note","summary":%q}}`, summary)
		res := must.Get(r.Commit(t.Context(), state.ReadChanges(strings.NewReader(line), "test"),
			core.CommitOptions{Stamp: repokit.By, Message: summary, Branch: branch}))(t)
		return res.Commit
	}
	change("", "base")
	must.Get(r.Branches().Create(t.Context(), "theirs", "", core.RefOptions{Stamp: repokit.By}))(t)
	theirs := change("theirs", "theirs")
	ours := change("", "ours")
	var conflict *core.MergeError
	if _, err := merging.Merge(t.Context(), r, "theirs", opt); !errors.As(err, &conflict) {
		t.Fatalf("no conflict: %v", err)
	}
	for _, c := range conflict.Conflicts {
		must.Get(merging.ResolveConflict(t.Context(), r, c.Item.String(),
			merging.Choice{Take: graph.TakeTheirs}, opt.CommitOptions))(t)
	}
	opt.Verify = func(commits iter.Seq2[commit.LogEntry, error]) error { return core.RequireSigned(commits, nil) }
	_, err := merging.ContinueMerge(t.Context(), r, opt)
	must.True(t, errors.Is(err, core.ErrUnsigned) && strings.Contains(err.Error(), theirs.String()),
		"continue: %v", err)
	must.Equal(t, repokit.Head(t, r).CID(), ours, "the branch moved")
	opt.Verify = nil
	must.Get(merging.ContinueMerge(t.Context(), r, opt))(t, "without the rule")
}

// TestSignAmended holds that amending keeps the change, and makes the signature or keeps its key, never
// carrying over one that was made of something else.
func TestSignAmended(t *testing.T) {
	r := repokit.OpenMem(t)
	ada := secret(t, 1)
	note(t, r, "one", 10, nil)
	change := repokit.Head(t, r).Commit().Change
	v := trusting{map[commit.Key]string{ada.Key(): "ada"}, graph.MaxTime}
	none := func(func(graph.Change, error) bool) {}
	for _, step := range []struct {
		name, message string
		sign          commit.SignFunc
		noChange      bool
		want          string
	}{
		{"another message, not signed", "two", nil, false, "two unsigned "},
		{"nothing", "", nil, true, "two unsigned "},
		{"signed", "", ada.Sign, false, "two signed ada"},
		{"signed already", "", ada.Sign, true, "two signed ada"},
		{"nothing, not signed", "", nil, true, "two signed ada"},
		{"another message, signed", "three", ada.Sign, false, "three signed ada"},
		{"another message, with another key", "four", secret(t, 2).Sign, false, ""},
		{"another message, no more signed", "four", nil, false, ""},
	} {
		stamp := repokit.By
		stamp.Time, stamp.Sign = 20, step.sign
		res, err := r.Commit(t.Context(), none,
			core.CommitOptions{Stamp: stamp, Message: step.message, Amend: true})
		var sealed *state.SignedError
		if step.want == "" && errors.As(err, &sealed) && sealed.Key == ada.Key() {
			continue
		}
		must.OK(t, err, step.name)
		got := verified(t, r, []ipld.CID{res.Commit}, nil, v)
		must.True(t, len(got) == 1 && got[0] == step.want && res.NoChange == step.noChange,
			"%s: %q, no change %v, want %q", step.name, got, res.NoChange, step.want)
		must.Equal(t, repokit.Head(t, r).Commit().Change, change, step.name, ": the change id")
	}
}

// TestPurgeThatCannotSign has signing fail at each signature of a purge in turn: nothing is erased then, and the purge
// that can sign leaves redactions that are signed.
func TestPurgeThatCannotSign(t *testing.T) {
	r, ada := repokit.OpenMem(t), secret(t, 1)
	at := note(t, r, "one", 10, nil).Commit
	note(t, r, "two", 20, nil)
	made, allowed := 0, 0
	stamp := repokit.By
	stamp.Time, stamp.Sign = 30, func(b []byte) ([]byte, error) {
		if made++; made > allowed {
			return nil, io.ErrClosedPipe
		}
		return ada.Sign(b)
	}
	erased := func() (list []core.RedactionEntry) {
		for e, err := range r.Redactions().All(t.Context()) {
			must.OK(t, err)
			list = append(list, e)
		}
		return list
	}
	var err error
	for ; allowed < 10; allowed++ {
		made = 0
		head, _ := r.Snapshot(t.Context(), "HEAD")
		if _, err = care.Purge(t.Context(), r, "one", care.PurgeOptions{Stamp: stamp}); err == nil {
			break
		}
		must.Fail(t, err, io.ErrClosedPipe)
		snap := must.Get(r.At(t.Context(), at))(t)
		id := must.Get(snap.Name(t.Context(), "one"))(t)
		n, _, err := snap.Node(t.Context(), id)
		after, _ := r.Snapshot(t.Context(), "HEAD")
		must.Require(t, err == nil && n.Type == "Note" && len(erased()) <= 0 && head.CID() == after.CID(),
			"signing failed after %d, and something changed: %+v, %v", allowed, n, err)
	}
	must.Require(t, err == nil && allowed >= 2, "%v after %d signatures", err, allowed)
	list := erased()
	for _, e := range list {
		must.Equal(t, must.Get(e.Record.Signer(e.CID))(t), ada.Key(), e.CID, " is signed by")
	}
	must.True(t, len(list) != 0, "nothing was erased")
}

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
			return r.Branches().Rename(context.Background(), "old", "main", core.RefOptions{Stamp: by, Force: true})
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
			must.True(t, len(asked) == 1 && asked[0].Commit == want && asked[0].Key == ada.Key() &&
				asked[0].Ref == tt.ref, "asked about %+v, want %s off %s", asked, want, tt.ref)
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
		must.True(t, err == nil, "%s: %v", what, err)
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
	must.Fail(t, must.Err(merging.AbortMerge(ctx, r, opt)), state.ErrSigned)
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
		"move":             func() error { return must.Err(r.Tags().Create(ctx, "v1", "HEAD", opt)) },
		"remove":           func() error { return must.Err(r.Tags().Remove(ctx, "v1", opt.RefOptions)) },
		"hide":             func() error { return must.Err(r.Branches().Create(ctx, "v1", "", opt.RefOptions)) },
		"hide by renaming": func() error { return r.Branches().Rename(ctx, "main", "v1", opt.RefOptions) },
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
	_, err := r.Tags().Create(ctx, "v2", "HEAD", opt)
	must.True(t, errors.Is(err, errTag) && slices.Equal(asked, want), "a new tag: %v, asked %+v", err, asked)
}
