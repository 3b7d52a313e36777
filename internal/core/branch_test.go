package core_test

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/merging"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

func branchNames(t testing.TB, r *core.Repo) []string {
	t.Helper()
	all, err := r.Branches().List(t.Context())
	must.OK(t, err)
	var names []string
	for _, b := range all {
		if b.Current {
			b.Name = "*" + b.Name
		}
		names = append(names, b.Name)
	}
	return names
}

func TestBranches(t *testing.T) {
	r, ctx := repokit.OpenMem(t), t.Context()
	if got := branchNames(t, r); !slices.Equal(got, []string{"*main"}) {
		t.Errorf("before the first commit: %v", got)
	}
	one := repokit.Fact(t, r, "", "one")
	at, err := r.Branches().Create(ctx, "a/b", "", repokit.RefOptions)
	must.OK(t, err)
	must.Equal(t, at, one, "the new branch is")
	two := repokit.Fact(t, r, "a/b", "two")
	for name, try := range map[string]func() error{
		"exists": func() error { _, err := r.Branches().Create(ctx, "a/b", "", repokit.RefOptions); return err },
		"rename to one that exists": func() error {
			return r.Branches().Rename(ctx, "main", "a/b", repokit.RefOptions)
		},
	} {
		must.Fail(t, try(), fs.ErrExist, name)
	}
	moved, err := r.Branches().Create(ctx, "a/b", "main", core.RefOptions{Stamp: repokit.By, Force: true})
	if err != nil || moved != one {
		t.Errorf("moved to %s, %v", moved, err)
	}
	back, err := r.Revisions().Resolve(ctx, "a/b@{1}")
	if err != nil || back != two {
		t.Errorf("a/b@{1} is %s, %v", back, err)
	}
	must.OK(t, r.Branches().Rename(ctx, "", "trunk", repokit.RefOptions))
	if got := branchNames(t, r); !slices.Equal(got, []string{"a/b", "*trunk"}) {
		t.Errorf("branches %v", got)
	}
	_, err = r.Branches().Remove(ctx, "main", repokit.RefOptions)
	must.Fail(t, err, store.ErrNotFound)
	before := operations(t, r)
	must.OK(t, r.Branches().Rename(ctx, "trunk", "trunk", repokit.RefOptions))
	must.OK(t, r.Branches().Switch(ctx, "trunk", core.SwitchOptions{Stamp: repokit.By}))
	if after := operations(t, r); after != before {
		t.Errorf("what changes nothing made %d operations", after-before)
	}
}

// operations is the number of operations of a repository.
func operations(t testing.TB, r *core.Repo) uint64 {
	t.Helper()
	e, err := r.OpLog().Find(t.Context(), "@")
	must.OK(t, err)
	return e.Operation.Seq
}

// TestExpectOfRefs holds every write of a branch or tag to what the caller expects.
func TestExpectOfRefs(t *testing.T) {
	r, ctx := repokit.OpenMem(t), t.Context()
	one := repokit.Fact(t, r, "", "one")
	_, err := r.Tags().Create(ctx, "v1", "", core.TagOptions{RefOptions: repokit.RefOptions, Annotate: true})
	must.OK(t, err)
	_, err = r.Branches().Create(ctx, "b", "", repokit.RefOptions)
	must.OK(t, err)
	two := repokit.Fact(t, r, "", "two")
	none := ipld.CID{}
	for _, c := range []struct {
		name string
		want *ipld.CID
		do   func(core.RefOptions) error
	}{
		{"move a branch", &two, func(opt core.RefOptions) error {
			_, err := r.Branches().Create(ctx, "b", "", opt)
			return err
		}},
		{"make a branch", &one, func(opt core.RefOptions) error {
			_, err := r.Branches().Create(ctx, "new", "", opt)
			return err
		}},
		{"a branch that must not be", &none, func(opt core.RefOptions) error {
			_, err := r.Branches().Create(ctx, "b", "", opt)
			return err
		}},
		{"rename", &two, func(opt core.RefOptions) error { return r.Branches().Rename(ctx, "b", "c", opt) }},
		{"remove", &two, func(opt core.RefOptions) error {
			_, err := r.Branches().Remove(ctx, "b", opt)
			return err
		}},
		{"move a tag", &two, func(opt core.RefOptions) error {
			_, err := r.Tags().Create(ctx, "v1", "", core.TagOptions{RefOptions: opt})
			return err
		}},
		{"remove a tag", &none, func(opt core.RefOptions) error {
			_, err := r.Tags().Remove(ctx, "v1", opt)
			return err
		}},
	} {
		err := c.do(core.RefOptions{Stamp: repokit.By, Force: true, Expect: c.want})
		var wrong *state.ExpectError
		if !errors.As(err, &wrong) || !errors.Is(err, state.ErrConflict) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	_, err = r.Tags().Remove(ctx, "v1", core.RefOptions{Stamp: repokit.By, Expect: &one})
	must.OK(t, err) // an annotated tag is at the commit it leads to
}

func TestDetached(t *testing.T) {
	r, ctx := repokit.OpenMem(t), t.Context()
	one := repokit.Fact(t, r, "", "one")
	repokit.Fact(t, r, "", "two")
	at, err := r.Branches().Detach(ctx, "HEAD~1", repokit.By)
	if err != nil || at != one {
		t.Fatalf("detached at %s, %v", at, err)
	}
	if name, c, err := r.Branch(ctx); name != "" || c != one || err != nil {
		t.Errorf("on branch %q at %s, %v", name, c, err)
	}
	if got := branchNames(t, r); !slices.Equal(got, []string{"*HEAD", "main"}) {
		t.Errorf("branches %v", got)
	}
	st, err := r.Stages().Status(ctx, "")
	if err != nil || st.Branch != "" || st.Head != one {
		t.Errorf("status %+v, %v", st, err)
	}
	changes := state.ReadChanges(strings.NewReader(`{"node":{"key":"x","type":"T"}}`), "x")
	for name, write := range map[string]func() error{
		"commit": func() error {
			_, err := r.Commit(ctx, changes, core.CommitOptions{Stamp: repokit.By, Message: "m"})
			return err
		},
		"stage": func() error {
			_, err := r.Stages().Add(ctx, changes, core.StageOptions{Stamp: repokit.By})
			return err
		},
		"rename": func() error { return r.Branches().Rename(ctx, "", "x", repokit.RefOptions) },
		"merge": func() error {
			opt := core.MergeOptions{CommitOptions: core.CommitOptions{Stamp: repokit.By}}
			_, err := merging.Merge(ctx, r, "main", opt)
			return err
		},
	} {
		var detached *core.DetachedError
		if err := write(); !errors.As(err, &detached) || detached.At != one ||
			!errors.Is(err, state.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := r.Revisions().Resolve(ctx, "@{1}"); err != nil {
		t.Errorf("@{1} where HEAD is detached: %v", err)
	}
	repokit.Fact(t, r, "main", "three")
	must.OK(t, r.Branches().Switch(ctx, "here", core.SwitchOptions{Stamp: repokit.By, Create: true}))
	if c := repokit.Fact(t, r, "", "four"); !c.Defined() {
		t.Error("no commit on the new branch")
	}
}

// TestRenameWithMerge renames a branch that a merge is in progress on.
func TestRenameWithMerge(t *testing.T) {
	r, ctx := repokit.OpenMem(t), t.Context()
	repokit.Lines(t, r, `{"node":{"key":"a","type":"T","summary":"base"}}`)
	must.OK(t, func() error { _, err := r.Branches().Create(ctx, "side", "", repokit.RefOptions); return err }())
	for branch, text := range map[string]string{"main": "ours", "side": "theirs"} {
		_, err := r.Commit(ctx, state.ReadChanges(strings.NewReader(
			`{"node":{"key":"a","summary":"`+text+`"}}`), "x"),
			core.CommitOptions{Stamp: repokit.By, Message: text, Branch: branch})
		must.OK(t, err)
	}
	opt := core.MergeOptions{CommitOptions: core.CommitOptions{Stamp: repokit.By}}
	if _, err := merging.Merge(ctx, r, "side", opt); err != nil && !errors.Is(err, state.ErrConflict) {
		t.Fatal(err)
	}
	must.OK(t, r.Branches().Rename(ctx, "main", "trunk", repokit.RefOptions))
	v := repokit.ViewOf(t, r)
	if v["refs/conflicts/merge/trunk"] == "" || v["refs/conflicts/merge/main"] != "" {
		t.Errorf("the merge did not follow its branch: %v", v)
	}
	must.OK(t, r.Branches().Switch(ctx, "side", core.SwitchOptions{Stamp: repokit.By}))
	var used *core.InUseError
	if _, err := r.Branches().Remove(ctx, "trunk", repokit.RefOptions); !errors.As(err, &used) || !used.Forced {
		t.Errorf("a branch with a merge is removed: %v", err)
	}
	_, err := r.Branches().Remove(ctx, "trunk", core.RefOptions{Stamp: repokit.By, Force: true})
	must.OK(t, err)
	if v := repokit.ViewOf(t, r); v["refs/conflicts/merge/trunk"] != "" {
		t.Error("the merge outlives its branch")
	}
	_, err = history.Undo(ctx, r, "", repokit.By)
	must.OK(t, err)
	if v := repokit.ViewOf(t, r); v["refs/conflicts/merge/trunk"] == "" || v["refs/heads/trunk"] == "" {
		t.Errorf("undo brings back %v", v)
	}
}

func TestTags(t *testing.T) {
	r, ctx := repokit.OpenMem(t), t.Context()
	if _, err := r.Tags().Create(ctx, "v1", "", core.TagOptions{RefOptions: repokit.RefOptions}); !errors.Is(
		err, store.ErrNotFound) {
		t.Errorf("a tag of nothing: %v", err)
	}
	one := repokit.Fact(t, r, "", "one")
	_, err := r.Tags().Create(ctx, "plain", "", core.TagOptions{RefOptions: repokit.RefOptions})
	must.OK(t, err)
	made, err := r.Tags().Create(ctx, "v1", "plain",
		core.TagOptions{RefOptions: repokit.RefOptions, Annotate: true, Message: "why"})
	must.OK(t, err)
	nested, err := r.Tags().Create(ctx, "v2", "v1",
		core.TagOptions{RefOptions: repokit.RefOptions, Annotate: true})
	must.OK(t, err)
	must.Equal(t, nested.Record.Target, one, "a tag of a tag is")
	all, err := r.Tags().List(ctx)
	must.OK(t, err)
	var got []string
	for _, tag := range all {
		got = append(got, fmt.Sprint(tag.Name, " ", tag.Commit == one, " ", tag.Record != nil))
	}
	must.Same(t, got, []string{"plain true false", "v1 true true", "v2 true true"})
	for _, rev := range []string{"v1", "refs/tags/v1", made.CID.String(), "v1^{}", "v1^0"} {
		if c, err := r.Revisions().Resolve(ctx, rev); c != one || err != nil {
			t.Errorf("%s is %s, %v", rev, c, err)
		}
	}
	if _, err := r.Tags().Create(ctx, "v3", "", core.TagOptions{
		RefOptions: repokit.RefOptions, Annotate: true, Message: strings.Repeat("m", 1<<17),
	}); !errors.Is(err, state.ErrInvalid) {
		t.Errorf("a message that is too long: %v", err)
	}
	_, err = r.Revisions().Resolve(ctx, "refs/tags/v3")
	must.Fail(t, err, store.ErrNotFound)
}

// TestFirstBranch makes repositories whose first branch has another name.
func TestFirstBranch(t *testing.T) {
	ctx := t.Context()
	r, err := care.New(ctx, mem.New(), repokit.By, core.Options{Branch: "trunk"})
	must.OK(t, err)
	if name, _, err := r.Branch(ctx); name != "trunk" || err != nil {
		t.Errorf("on branch %q, %v", name, err)
	}
	repokit.Fact(t, r, "", "one")
	repokit.CheckClean(t, r)
	must.OK(t, r.Close())
	for _, bad := range []string{"a b", strings.Repeat("n", graph.MaxRefName+1)} {
		if _, err := care.New(ctx, mem.New(), repokit.By, core.Options{Branch: bad}); !errors.Is(
			err, state.ErrInvalid) {
			t.Errorf("first branch %.9q: %v", bad, err)
		}
		dir := t.TempDir()
		if _, err := care.Init(ctx, dir, repokit.By, core.Options{Branch: bad}); !errors.Is(
			err, state.ErrInvalid) {
			t.Errorf("first branch %.9q: %v", bad, err)
		}
		_, err := core.Find(dir)
		must.Fail(t, err, store.ErrNotFound)
	}
}
