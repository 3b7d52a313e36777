package repo_test

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
	"github.com/mnem-project/mnem/store/mem"
)

// refOptions are those of a test that does not care.
var refOptions = repo.RefOptions{Stamp: by}

// fact commits one node on a branch, "" for that of HEAD.
func fact(t testing.TB, r *repo.Repo, branch, key string) ipld.CID {
	t.Helper()
	line := fmt.Sprintf(`{"node":{"key":%q,"type":"T"}}`, key)
	res, err := r.Commit(t.Context(), repo.ReadChanges(strings.NewReader(line), "fact"),
		repo.CommitOptions{Stamp: by, Message: key, Branch: branch})
	if err != nil {
		t.Fatal(err)
	}
	return res.Commit
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func branchNames(t testing.TB, r *repo.Repo) []string {
	t.Helper()
	all, err := r.Branches(t.Context())
	must(t, err)
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
	r, ctx := openMem(t), t.Context()
	if got := branchNames(t, r); !slices.Equal(got, []string{"*main"}) {
		t.Errorf("before the first commit: %v", got)
	}
	one := fact(t, r, "", "one")
	at, err := r.CreateBranch(ctx, "a/b", "", refOptions)
	must(t, err)
	if at != one {
		t.Errorf("the new branch is at %s", at)
	}
	two := fact(t, r, "a/b", "two")
	for name, try := range map[string]func() error{
		"exists": func() error { _, err := r.CreateBranch(ctx, "a/b", "", refOptions); return err },
		"rename to one that exists": func() error {
			return r.RenameBranch(ctx, "main", "a/b", refOptions)
		},
	} {
		if err := try(); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	moved, err := r.CreateBranch(ctx, "a/b", "main", repo.RefOptions{Stamp: by, Force: true})
	if err != nil || moved != one {
		t.Errorf("moved to %s, %v", moved, err)
	}
	back, err := r.Resolve(ctx, "a/b@{1}")
	if err != nil || back != two {
		t.Errorf("a/b@{1} is %s, %v", back, err)
	}
	must(t, r.RenameBranch(ctx, "", "trunk", refOptions))
	if got := branchNames(t, r); !slices.Equal(got, []string{"a/b", "*trunk"}) {
		t.Errorf("branches %v", got)
	}
	if _, err := r.RemoveBranch(ctx, "main", refOptions); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("removing nothing: %v", err)
	}
	before := operations(t, r)
	must(t, r.RenameBranch(ctx, "trunk", "trunk", refOptions))
	must(t, r.Switch(ctx, "trunk", repo.SwitchOptions{Stamp: by}))
	if after := operations(t, r); after != before {
		t.Errorf("what changes nothing made %d operations", after-before)
	}
}

// operations is the number of operations of a repository.
func operations(t testing.TB, r *repo.Repo) uint64 {
	t.Helper()
	e, err := r.Operation(t.Context(), "@")
	must(t, err)
	return e.Operation.Seq
}

// TestExpectOfRefs holds every write of a branch or tag to what the caller expects.
func TestExpectOfRefs(t *testing.T) {
	r, ctx := openMem(t), t.Context()
	one := fact(t, r, "", "one")
	_, err := r.CreateTag(ctx, "v1", "", repo.TagOptions{RefOptions: refOptions, Annotate: true})
	must(t, err)
	_, err = r.CreateBranch(ctx, "b", "", refOptions)
	must(t, err)
	two := fact(t, r, "", "two")
	none := ipld.CID{}
	for _, c := range []struct {
		name string
		want *ipld.CID
		do   func(repo.RefOptions) error
	}{
		{"move a branch", &two, func(opt repo.RefOptions) error {
			_, err := r.CreateBranch(ctx, "b", "", opt)
			return err
		}},
		{"make a branch", &one, func(opt repo.RefOptions) error {
			_, err := r.CreateBranch(ctx, "new", "", opt)
			return err
		}},
		{"a branch that must not be", &none, func(opt repo.RefOptions) error {
			_, err := r.CreateBranch(ctx, "b", "", opt)
			return err
		}},
		{"rename", &two, func(opt repo.RefOptions) error { return r.RenameBranch(ctx, "b", "c", opt) }},
		{"remove", &two, func(opt repo.RefOptions) error {
			_, err := r.RemoveBranch(ctx, "b", opt)
			return err
		}},
		{"move a tag", &two, func(opt repo.RefOptions) error {
			_, err := r.CreateTag(ctx, "v1", "", repo.TagOptions{RefOptions: opt})
			return err
		}},
		{"remove a tag", &none, func(opt repo.RefOptions) error {
			_, err := r.RemoveTag(ctx, "v1", opt)
			return err
		}},
	} {
		err := c.do(repo.RefOptions{Stamp: by, Force: true, Expect: c.want})
		var wrong *repo.ExpectError
		if !errors.As(err, &wrong) || !errors.Is(err, repo.ErrConflict) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	_, err = r.RemoveTag(ctx, "v1", repo.RefOptions{Stamp: by, Expect: &one})
	must(t, err) // an annotated tag is at the commit it leads to
}

func TestDetached(t *testing.T) {
	r, ctx := openMem(t), t.Context()
	one := fact(t, r, "", "one")
	fact(t, r, "", "two")
	at, err := r.Detach(ctx, "HEAD~1", by)
	if err != nil || at != one {
		t.Fatalf("detached at %s, %v", at, err)
	}
	if name, c, err := r.Branch(ctx); name != "" || c != one || err != nil {
		t.Errorf("on branch %q at %s, %v", name, c, err)
	}
	if got := branchNames(t, r); !slices.Equal(got, []string{"*HEAD", "main"}) {
		t.Errorf("branches %v", got)
	}
	st, err := r.Status(ctx, "")
	if err != nil || st.Branch != "" || st.Head != one {
		t.Errorf("status %+v, %v", st, err)
	}
	changes := repo.ReadChanges(strings.NewReader(`{"node":{"key":"x","type":"T"}}`), "x")
	for name, write := range map[string]func() error{
		"commit": func() error {
			_, err := r.Commit(ctx, changes, repo.CommitOptions{Stamp: by, Message: "m"})
			return err
		},
		"stage": func() error {
			_, err := r.StageChanges(ctx, changes, repo.StageOptions{Stamp: by})
			return err
		},
		"rename": func() error { return r.RenameBranch(ctx, "", "x", refOptions) },
		"merge": func() error {
			opt := repo.MergeOptions{CommitOptions: repo.CommitOptions{Stamp: by}}
			_, err := r.Merge(ctx, "main", opt)
			return err
		},
	} {
		var detached *repo.DetachedError
		if err := write(); !errors.As(err, &detached) || detached.At != one ||
			!errors.Is(err, repo.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := r.Resolve(ctx, "@{1}"); err != nil {
		t.Errorf("@{1} where HEAD is detached: %v", err)
	}
	fact(t, r, "main", "three")
	must(t, r.Switch(ctx, "here", repo.SwitchOptions{Stamp: by, Create: true}))
	if c := fact(t, r, "", "four"); !c.Defined() {
		t.Error("no commit on the new branch")
	}
}

// TestRenameWithMerge renames a branch that a merge is in progress on.
func TestRenameWithMerge(t *testing.T) {
	r, ctx := openMem(t), t.Context()
	lines(t, r, `{"node":{"key":"a","type":"T","summary":"base"}}`)
	must(t, func() error { _, err := r.CreateBranch(ctx, "side", "", refOptions); return err }())
	for branch, text := range map[string]string{"main": "ours", "side": "theirs"} {
		_, err := r.Commit(ctx, repo.ReadChanges(strings.NewReader(
			`{"node":{"key":"a","summary":"`+text+`"}}`), "x"),
			repo.CommitOptions{Stamp: by, Message: text, Branch: branch})
		must(t, err)
	}
	opt := repo.MergeOptions{CommitOptions: repo.CommitOptions{Stamp: by}}
	if _, err := r.Merge(ctx, "side", opt); err != nil && !errors.Is(err, repo.ErrConflict) {
		t.Fatal(err)
	}
	must(t, r.RenameBranch(ctx, "main", "trunk", refOptions))
	v := viewOf(t, r)
	if v["refs/conflicts/merge/trunk"] == "" || v["refs/conflicts/merge/main"] != "" {
		t.Errorf("the merge did not follow its branch: %v", v)
	}
	must(t, r.Switch(ctx, "side", repo.SwitchOptions{Stamp: by}))
	var used *repo.InUseError
	if _, err := r.RemoveBranch(ctx, "trunk", refOptions); !errors.As(err, &used) || !used.Forced {
		t.Errorf("a branch with a merge is removed: %v", err)
	}
	_, err := r.RemoveBranch(ctx, "trunk", repo.RefOptions{Stamp: by, Force: true})
	must(t, err)
	if v := viewOf(t, r); v["refs/conflicts/merge/trunk"] != "" {
		t.Error("the merge outlives its branch")
	}
	_, err = r.Undo(ctx, "", by)
	must(t, err)
	if v := viewOf(t, r); v["refs/conflicts/merge/trunk"] == "" || v["refs/heads/trunk"] == "" {
		t.Errorf("undo brings back %v", v)
	}
}

func TestTags(t *testing.T) {
	r, ctx := openMem(t), t.Context()
	if _, err := r.CreateTag(ctx, "v1", "", repo.TagOptions{RefOptions: refOptions}); !errors.Is(
		err, store.ErrNotFound) {
		t.Errorf("a tag of nothing: %v", err)
	}
	one := fact(t, r, "", "one")
	_, err := r.CreateTag(ctx, "plain", "", repo.TagOptions{RefOptions: refOptions})
	must(t, err)
	made, err := r.CreateTag(ctx, "v1", "plain",
		repo.TagOptions{RefOptions: refOptions, Annotate: true, Message: "why"})
	must(t, err)
	nested, err := r.CreateTag(ctx, "v2", "v1",
		repo.TagOptions{RefOptions: refOptions, Annotate: true})
	must(t, err)
	if nested.Record.Target != one {
		t.Errorf("a tag of a tag is of %s", nested.Record.Target)
	}
	all, err := r.Tags(ctx)
	must(t, err)
	var got []string
	for _, tag := range all {
		got = append(got, fmt.Sprint(tag.Name, " ", tag.Commit == one, " ", tag.Record != nil))
	}
	if diff := cmp.Diff([]string{"plain true false", "v1 true true", "v2 true true"}, got); diff != "" {
		t.Error(diff)
	}
	for _, rev := range []string{"v1", "refs/tags/v1", made.CID.String(), "v1^{}", "v1^0"} {
		if c, err := r.Resolve(ctx, rev); c != one || err != nil {
			t.Errorf("%s is %s, %v", rev, c, err)
		}
	}
	if _, err := r.CreateTag(ctx, "v3", "", repo.TagOptions{
		RefOptions: refOptions, Annotate: true, Message: strings.Repeat("m", 1<<17),
	}); !errors.Is(err, repo.ErrInvalid) {
		t.Errorf("a message that is too long: %v", err)
	}
	if _, err := r.Tag(ctx, "v3"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a tag that is not there: %v", err)
	}
}

// TestFirstBranch makes repositories whose first branch has another name.
func TestFirstBranch(t *testing.T) {
	ctx := t.Context()
	r, err := repo.New(ctx, mem.New(), by, repo.Options{Branch: "trunk"})
	must(t, err)
	if name, _, err := r.Branch(ctx); name != "trunk" || err != nil {
		t.Errorf("on branch %q, %v", name, err)
	}
	fact(t, r, "", "one")
	checkClean(t, r)
	must(t, r.Close())
	for _, bad := range []string{"a b", strings.Repeat("n", graph.MaxRefName+1)} {
		if _, err := repo.New(ctx, mem.New(), by, repo.Options{Branch: bad}); !errors.Is(
			err, repo.ErrInvalid) {
			t.Errorf("first branch %.9q: %v", bad, err)
		}
		dir := t.TempDir()
		if _, err := repo.Init(ctx, dir, by, repo.Options{Branch: bad}); !errors.Is(
			err, repo.ErrInvalid) {
			t.Errorf("first branch %.9q: %v", bad, err)
		}
		if _, err := repo.Find(dir); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a refused repository is there: %v", err)
		}
	}
}
