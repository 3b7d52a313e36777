package rank_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/merging"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// setLimit sets the limit of a profile on a branch, by its newest commit.
func setLimit(t testing.TB, r *core.Repo, branch, name string, limit int64) *core.CommitResult {
	t.Helper()
	return must.Get(rank.SetProfiles(t.Context(), r, func(p *retrieve.Profiles) error {
		p.Named[name] = retrieve.Profile{Params: []ipld.Entry{{Key: "limit", Value: ipld.IntValue(limit)}}}
		return nil
	}, core.CommitOptions{Stamp: repokit.By, Branch: branch, Message: name}))(t)
}

// limitOf returns the limit that a profile has at a revision, 0 for none.
func limitOf(t testing.TB, r *core.Repo, rev, name string) int64 {
	t.Helper()
	s := must.Get(r.Snapshot(t.Context(), rev))(t)
	p := must.Get(rank.Profiles(t.Context(), s))(t)
	v, _ := ipld.FindEntry(p.Named[name].Params, "limit")
	return v.Int()
}

func wantLimit(t testing.TB, r *core.Repo, rev, name string, want int64) {
	t.Helper()
	must.Equal(t, limitOf(t, r, rev, name), want, "limit of ", name, " at ", rev)
}

const alice = `{"node":{"key":"alice","type":"Person","summary":"Alice leads infra"}}` + "\n"
const bob = `{"node":{"key":"bob","type":"Person","summary":"Bob leads nothing"}}` + "\n"

// TestProfilesStay makes every kind of commit upon one with profiles: each has them still.
func TestProfilesStay(t *testing.T) {
	r := repokit.OpenMem(t)
	first := setLimit(t, r, "", "team", 3) // the first commit of all
	must.True(t, !first.NoChange && first.Graph == repokit.Head(t, r).Graph() && len(first.Parents) <= 0,
		"%+v", first)
	again := setLimit(t, r, "", "team", 3)
	must.True(t, again.NoChange && again.Commit == first.Commit, "again: %+v", again)
	facts := repokit.Lines(t, r, alice)
	opt := core.CommitOptions{Stamp: repokit.By, Message: "m"}
	steps := map[string]func() error{
		"amend": func() error {
			amend := opt
			amend.Amend = true
			return must.Err(r.Commit(t.Context(), state.ReadChanges(strings.NewReader(bob), "f"), amend))
		},
		"stage": func() error {
			_, err := r.Stages().Add(t.Context(), state.ReadChanges(strings.NewReader(
				`{"node":{"key":"c","type":"T"}}`), "f"), core.StageOptions{Stamp: repokit.By})
			if err == nil {
				_, err = r.Stages().Commit(t.Context(), "", opt)
			}
			return err
		},
		"rebase": func() error {
			rebase := opt
			rebase.Base = &facts.Commit
			return must.Err(r.Commit(t.Context(), state.ReadChanges(strings.NewReader(
				`{"node":{"key":"d","type":"T"}}`), "f"), rebase))
		},
		"base before profiles": func() error {
			rebase := opt
			rebase.Base = new(ipld.CID)
			return must.Err(r.Commit(t.Context(), state.ReadChanges(strings.NewReader(
				`{"node":{"key":"e","type":"T"}}`), "f"), rebase))
		},
		"restore": func() error {
			if _, err := repokit.TryLines(r, `{"remove":{"node":"alice"}}`); err != nil {
				return err
			}
			return must.Err(merging.Restore(t.Context(), r, facts.Commit.String(), []string{"alice"}, opt))
		},
		"revert": func() error { return must.Err(merging.Revert(t.Context(), r, "HEAD", repokit.Options(""))) },
		"purge": func() error {
			return must.Err(care.Purge(t.Context(), r, "bob", care.PurgeOptions{Stamp: repokit.By}))
		},
		"gc": func() error { return must.Err(care.GC(t.Context(), r, care.GCOptions{Stamp: repokit.By, KeepOps: 1})) },
	}
	order := []string{"amend", "stage", "rebase", "base before profiles", "restore", "revert", "purge", "gc"}
	must.Require(t, len(order) == len(steps), "a step is left out")
	for _, name := range order {
		must.OK(t, steps[name](), name)
		wantLimit(t, r, "HEAD", "team", 3)
	}
}

// TestProfilesStaged commits a stage that began before the profiles changed: they are not staged.
func TestProfilesStaged(t *testing.T) {
	r := repokit.OpenMem(t)
	setLimit(t, r, "", "team", 3)
	must.Get(r.Stages().Add(t.Context(), state.ReadChanges(strings.NewReader(alice), "f"),
		core.StageOptions{Stamp: repokit.By}))(t)
	setLimit(t, r, "", "team", 4)
	status := must.Get(r.Stages().Status(t.Context(), ""))(t)
	d, err := rank.DiffProfiles(t.Context(), status.Diff)
	must.True(t, d == nil && err == nil, "staged: %+v, %v", d, err)
	res, err := r.Stages().Commit(t.Context(), "", core.CommitOptions{Stamp: repokit.By, Message: "m"})
	must.Require(t, err == nil && res.Rebased, "%+v, %v", res, err)
	wantLimit(t, r, "HEAD", "team", 4)
}

// TestProfilesRefused writes nothing.
func TestProfilesRefused(t *testing.T) {
	r := repokit.OpenMem(t)
	at := repokit.Lines(t, r, alice).Commit
	refuse := errors.New("no")
	tests := map[string]struct {
		change func(*retrieve.Profiles) error
		opt    core.CommitOptions
		want   error
	}{
		"by the caller": {func(*retrieve.Profiles) error { return refuse }, core.CommitOptions{}, refuse},
		"a name": {func(p *retrieve.Profiles) error {
			p.Named["a b"] = retrieve.Profile{}
			return nil
		}, core.CommitOptions{}, state.ErrInvalid},
		"a contradiction": {func(p *retrieve.Profiles) error {
			p.Named["a"] = retrieve.Profile{Params: []ipld.Entry{{Key: "damping", Value: ipld.IntValue(9)}}}
			return nil
		}, core.CommitOptions{}, state.ErrInvalid},
		"a base": {func(*retrieve.Profiles) error { return nil }, core.CommitOptions{Base: &at},
			state.ErrInvalid},
		"elsewhere": {func(p *retrieve.Profiles) error {
			p.Default = "chat"
			return nil
		}, core.CommitOptions{Expect: new(ipld.CID)}, state.ErrConflict},
	}
	for name, test := range tests {
		test.opt.Stamp = repokit.By
		must.Fail(t, must.Err(rank.SetProfiles(t.Context(), r, test.change, test.opt)), test.want, name)
		must.Equal(t, repokit.Head(t, r).CID(), at, name, ": HEAD is")
	}
}
