package core_test

import (
	"context"
	"encoding/json"
	"errors"
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

// TestExpectOfRefs holds every write of a branch or tag to what the caller expects.
func TestExpectOfRefs(t *testing.T) {
	r, ctx := repokit.OpenMem(t), t.Context()
	one := repokit.Fact(t, r, "", "one")
	must.Get(r.Tags().Create(ctx, "v1", "", core.TagOptions{RefOptions: repokit.RefOptions, Annotate: true}))(t)
	must.Get(r.Branches().Create(ctx, "b", "", repokit.RefOptions))(t)
	two := repokit.Fact(t, r, "", "two")
	none := ipld.CID{}
	for _, c := range []struct {
		name string
		want *ipld.CID
		do   func(core.RefOptions) error
	}{
		{"move a branch", &two, func(opt core.RefOptions) error {
			return must.Err(r.Branches().Create(ctx, "b", "", opt))
		}},
		{"make a branch", &one, func(opt core.RefOptions) error {
			return must.Err(r.Branches().Create(ctx, "new", "", opt))
		}},
		{"a branch that must not be", &none, func(opt core.RefOptions) error {
			return must.Err(r.Branches().Create(ctx, "b", "", opt))
		}},
		{"rename", &two, func(opt core.RefOptions) error { return r.Branches().Rename(ctx, "b", "c", opt) }},
		{"remove", &two, func(opt core.RefOptions) error { return must.Err(r.Branches().Remove(ctx, "b", opt)) }},
		{"move a tag", &two, func(opt core.RefOptions) error {
			return must.Err(r.Tags().Create(ctx, "v1", "", core.TagOptions{RefOptions: opt}))
		}},
		{"remove a tag", &none, func(opt core.RefOptions) error { return must.Err(r.Tags().Remove(ctx, "v1", opt)) }},
	} {
		err := c.do(core.RefOptions{Stamp: repokit.By, Force: true, Expect: c.want})
		var wrong *state.ExpectError
		must.True(t, errors.As(err, &wrong) && errors.Is(err, state.ErrConflict), "%s: %v", c.name, err)
	}
	must.Get(r.Tags().Remove(ctx, "v1", core.RefOptions{Stamp: repokit.By, Expect: &one}))(t) // an annotated tag is at the commit it leads to
}

// TestRenameWithMerge renames a branch that a merge is in progress on.
func TestRenameWithMerge(t *testing.T) {
	r, ctx := repokit.OpenMem(t), t.Context()
	repokit.Lines(t, r, `{"node":{"key":"a","type":"T","summary":"base"}}`)
	must.OK(t, func() error { return must.Err(r.Branches().Create(ctx, "side", "", repokit.RefOptions)) }())
	for branch, text := range map[string]string{"main": "ours", "side": "theirs"} {
		must.Get(r.Commit(ctx, state.ReadChanges(strings.NewReader(
			`{"node":{"key":"a","summary":"`+text+`"}}`), "x"),
			core.CommitOptions{Stamp: repokit.By, Message: text, Branch: branch}))(t)
	}
	opt := core.MergeOptions{CommitOptions: core.CommitOptions{Stamp: repokit.By}}
	_, err := merging.Merge(ctx, r, "side", opt)
	must.Require(t, err == nil || errors.Is(err, state.ErrConflict), "%v", err)
	must.OK(t, r.Branches().Rename(ctx, "main", "trunk", repokit.RefOptions))
	v := repokit.ViewOf(t, r)
	must.True(t, v["refs/conflicts/merge/trunk"] != "" && v["refs/conflicts/merge/main"] == "",
		"the merge did not follow its branch: %v", v)
	must.OK(t, r.Branches().Switch(ctx, "side", core.SwitchOptions{Stamp: repokit.By}))
	var used *core.InUseError
	_, err = r.Branches().Remove(ctx, "trunk", repokit.RefOptions)
	must.True(t, errors.As(err, &used) && used.Forced, "a branch with a merge is removed: %v", err)
	must.Get(r.Branches().Remove(ctx, "trunk", core.RefOptions{Stamp: repokit.By, Force: true}))(t)
	must.Equal(t, repokit.ViewOf(t, r)["refs/conflicts/merge/trunk"], "", "the merge outlives its branch")
	must.Get(history.Undo(ctx, r, "", repokit.By))(t)
	v = repokit.ViewOf(t, r)
	must.True(t, v["refs/conflicts/merge/trunk"] != "" && v["refs/heads/trunk"] != "", "undo brings back %v", v)
}

// TestRefTravels reads back what a ref leads to.
func TestRefTravels(t *testing.T) {
	at := ipld.Sum(ipld.DagCBOR, []byte("x"))
	for want, ref := range map[string]core.RefTarget{
		`null`: {}, `"` + at.String() + `"`: {Ref: core.Ref{Target: at}},
		`"refs/heads/a<b"`: {Ref: core.Ref{Symbolic: "refs/heads/a<b"}},
	} {
		data := must.Get(ref.MarshalJSON())(t)
		must.Equal(t, string(data), want)
		back := core.RefTarget{Ref: core.Ref{Symbolic: "before"}}
		must.OK(t, json.Unmarshal(data, &back), data)
		must.Equal(t, back, ref, data)
	}
	must.True(t, new(core.RefTarget).UnmarshalJSON([]byte(`5`)) != nil, "a number was read")
}

// FuzzResolve reads any text as a revision, a range and the name of an operation: it is one, or the
// refusal says of what kind it is and is one line that a name cannot break.
func FuzzResolve(f *testing.F) {
	ctx := context.Background()
	r := must.Get(care.New(ctx, mem.New(), repokit.By, core.Options{}))(f)
	for _, text := range []string{"a", "b", "c"} {
		repokit.Fact(f, r, "", text)
	}
	for _, seed := range []string{
		"HEAD", "@", "main~1^2", "main@{1}", "@{2026-01-01T10:00Z}", "op:2", "main@{op:@~1}", "a..b",
		"..", "main^{}", "bafyreia", "@{", "}", "~", "^{", "HEAD@{99999999999999999999}", "op:op:1",
		"refs/heads/main", "refs/stage/x@{1}", "@{}~", "\x00", "~9999999999",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := r.Revisions().Resolve(ctx, text)
		checkRefusal(t, text, err)
		must.True(t, err != nil || c.Defined(), "%q is no commit and no error", text)
		_, _, err = r.Revisions().Range(ctx, text)
		checkRefusal(t, text, err)
		_, err = r.OpLog().Find(ctx, text)
		checkRefusal(t, text, err)
	})
}

func checkRefusal(t *testing.T, text string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if !errors.Is(err, store.ErrNotFound) && !errors.Is(err, state.ErrInvalid) &&
		!errors.Is(err, graph.ErrInvalid) || errors.Is(err, store.ErrCorrupt) {
		t.Errorf("%q: error of no kind: %v", text, err)
	}
	must.True(t, !strings.ContainsAny(err.Error(), "\n\x00"), "%q: the message has more than a line: %q", text, err)
}
