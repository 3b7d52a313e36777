package rank_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/history"
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
	res, err := rank.SetProfiles(t.Context(), r, func(p *retrieve.Profiles) error {
		p.Named[name] = retrieve.Profile{
			Params: []ipld.Entry{{Key: "limit", Value: ipld.IntValue(limit)}},
		}
		return nil
	}, core.CommitOptions{Stamp: repokit.By, Branch: branch, Message: name})
	must.OK(t, err)
	return res
}

// limitOf returns the limit that a profile has at a revision, 0 for none.
func limitOf(t testing.TB, r *core.Repo, rev, name string) int64 {
	t.Helper()
	s, err := r.Snapshot(t.Context(), rev)
	must.OK(t, err)
	p, err := rank.Profiles(t.Context(), s)
	must.OK(t, err)
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
	if first.NoChange || first.Graph != repokit.Head(t, r).Graph() || len(first.Parents) > 0 {
		t.Errorf("%+v", first)
	}
	if again := setLimit(t, r, "", "team", 3); !again.NoChange || again.Commit != first.Commit {
		t.Errorf("again: %+v", again)
	}
	facts := repokit.Lines(t, r, alice)
	opt := core.CommitOptions{Stamp: repokit.By, Message: "m"}
	steps := map[string]func() error{
		"amend": func() error {
			amend := opt
			amend.Amend = true
			_, err := r.Commit(t.Context(), state.ReadChanges(strings.NewReader(bob), "f"), amend)
			return err
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
			_, err := r.Commit(t.Context(), state.ReadChanges(strings.NewReader(
				`{"node":{"key":"d","type":"T"}}`), "f"), rebase)
			return err
		},
		"base before profiles": func() error {
			rebase := opt
			rebase.Base = new(ipld.CID)
			_, err := r.Commit(t.Context(), state.ReadChanges(strings.NewReader(
				`{"node":{"key":"e","type":"T"}}`), "f"), rebase)
			return err
		},
		"restore": func() error {
			if _, err := repokit.TryLines(r, `{"remove":{"node":"alice"}}`); err != nil {
				return err
			}
			_, err := merging.Restore(t.Context(), r, facts.Commit.String(), []string{"alice"}, opt)
			return err
		},
		"revert": func() error {
			_, err := merging.Revert(t.Context(), r, "HEAD", repokit.Options(""))
			return err
		},
		"purge": func() error {
			_, err := care.Purge(t.Context(), r, "bob", care.PurgeOptions{Stamp: repokit.By})
			return err
		},
		"gc": func() error {
			_, err := care.GC(t.Context(), r, care.GCOptions{Stamp: repokit.By, KeepOps: 1})
			return err
		},
	}
	order := []string{"amend", "stage", "rebase", "base before profiles", "restore", "revert", "purge",
		"gc"}
	if len(order) != len(steps) {
		t.Fatal("a step is left out")
	}
	for _, name := range order {
		must.OK(t, steps[name](), name)
		wantLimit(t, r, "HEAD", "team", 3)
	}
}

// TestProfilesStaged commits a stage that began before the profiles changed: they are not staged.
func TestProfilesStaged(t *testing.T) {
	r := repokit.OpenMem(t)
	setLimit(t, r, "", "team", 3)
	_, err := r.Stages().Add(t.Context(), state.ReadChanges(strings.NewReader(alice), "f"),
		core.StageOptions{Stamp: repokit.By})
	must.OK(t, err)
	setLimit(t, r, "", "team", 4)
	status, err := r.Stages().Status(t.Context(), "")
	must.OK(t, err)
	if d, err := rank.DiffProfiles(t.Context(), status.Diff); d != nil || err != nil {
		t.Errorf("staged: %+v, %v", d, err)
	}
	res, err := r.Stages().Commit(t.Context(), "", core.CommitOptions{Stamp: repokit.By, Message: "m"})
	if err != nil || !res.Rebased {
		t.Fatalf("%+v, %v", res, err)
	}
	wantLimit(t, r, "HEAD", "team", 4)
}

// TestProfilesMerge merges what both sides set, in conflict and not.
func TestProfilesMerge(t *testing.T) {
	r := repokit.OpenMem(t)
	base := setLimit(t, r, "", "team", 3).Commit
	repokit.Fork(t, r, "side", base)
	setLimit(t, r, "side", "other", 7)
	setLimit(t, r, "", "team", 4)
	res, err := merging.Merge(t.Context(), r, "side", repokit.Options(""))
	if err != nil || len(res.Conflicts) > 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	wantLimit(t, r, "HEAD", "team", 4)
	wantLimit(t, r, "HEAD", "other", 7)

	ours := setLimit(t, r, "", "team", 5).Commit
	repokit.On(t, r, "side", alice)
	theirs := setLimit(t, r, "side", "team", 6).Commit
	for take, want := range map[graph.Take]int64{
		graph.TakeOurs: 5, graph.TakeTheirs: 6, graph.TakeBase: 3,
	} {
		name := "prefer-" + string(take)
		repokit.Fork(t, r, name, ours)
		opt := repokit.Options(name)
		opt.Prefer = take
		if res, err := merging.Merge(t.Context(), r, theirs.String(), opt); err != nil || len(res.Conflicts) != 1 {
			t.Fatalf("%s: %+v, %v", take, res, err)
		}
		wantLimit(t, r, name, "team", want)
		wantLimit(t, r, name, "other", 7)
	}
	var failed *core.MergeError
	if _, err = merging.Merge(t.Context(), r, "side", repokit.Options("")); !errors.As(err, &failed) {
		t.Fatal(err)
	}
	con := failed.Conflicts[0]
	if con.Item.String() != "profile" || con.Kind != graph.EditEdit || con.Label != "profile" ||
		len(con.Fields) != 1 || con.Fields[0].Field != "profiles.team.limit" ||
		con.Fields[0].Base.Int() != 3 || con.Fields[0].Ours.Int() != 5 ||
		con.Fields[0].Theirs.Int() != 6 {
		t.Errorf("%+v", con)
	}
	repokit.CheckClean(t, r) // a merge in progress with profiles
	opt := core.CommitOptions{Stamp: repokit.By}
	_, err = merging.ResolveConflict(t.Context(), r, "profile", merging.Choice{
		Changes: state.ReadChanges(strings.NewReader(bob), "f")}, opt)
	must.Fail(t, err, state.ErrInvalid)
	_, err = care.GC(t.Context(), r, care.GCOptions{Stamp: repokit.By})
	must.OK(t, err)
	_, err = merging.ResolveConflict(t.Context(), r, "profile", merging.Choice{Take: graph.TakeTheirs}, opt)
	must.OK(t, err)
	repokit.On(t, r, "", bob) // the branch moves on in the meantime
	_, err = merging.ContinueMerge(t.Context(), r, repokit.Options(""))
	must.OK(t, err)
	wantLimit(t, r, "HEAD", "team", 6)
}

// TestProfilesKept keeps a commit that does not merge with its branch because of profiles.
func TestProfilesKept(t *testing.T) {
	r := repokit.OpenMem(t)
	base := setLimit(t, r, "", "team", 3).Commit
	repokit.Fork(t, r, "side", base)
	other := setLimit(t, r, "side", "team", 4).Commit
	setLimit(t, r, "", "team", 5)
	_, err := merging.CherryPick(t.Context(), r, other.String(), repokit.Options(""))
	var failed *core.MergeError
	if !errors.As(err, &failed) || !errors.Is(err, state.ErrConflict) {
		t.Fatal(err)
	}
	_, err = merging.AbortMerge(t.Context(), r, core.CommitOptions{Stamp: repokit.By})
	must.OK(t, err)
	wantLimit(t, r, "HEAD", "team", 5)
}

// TestProfilesTaken exports and imports profiles, whole and as a range, and undoes a change.
func TestProfilesTaken(t *testing.T) {
	r := repokit.OpenMem(t)
	one := setLimit(t, r, "", "team", 3).Commit
	repokit.Lines(t, r, alice)
	setLimit(t, r, "", "team", 4)
	all, _ := repokit.Export(t, r, exchange.ExportOptions{All: true})
	first, _ := repokit.Export(t, r, exchange.ExportOptions{Rev: one.String()})
	rest, _ := repokit.Export(t, r, exchange.ExportOptions{Rev: one.String() + "..HEAD"})
	for name, files := range map[string][][]byte{"whole": {all}, "range": {first, rest}} {
		into := repokit.OpenMem(t)
		for _, file := range files {
			if _, err := repokit.TryImport(into, file, exchange.ImportOptions{Name: "x", As: "main"}); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		wantLimit(t, into, "main", "team", 4)
		wantLimit(t, into, "main~2", "team", 3)
	}
	_, err := history.Undo(t.Context(), r, "", repokit.By)
	must.OK(t, err)
	wantLimit(t, r, "HEAD", "team", 3)
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
			p.Named["a"] = retrieve.Profile{Params: []ipld.Entry{
				{Key: "damping", Value: ipld.IntValue(9)},
			}}
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
		_, err := rank.SetProfiles(t.Context(), r, test.change, test.opt)
		must.Fail(t, err, test.want, name)
		must.Equal(t, repokit.Head(t, r).CID(), at, name, ": HEAD is")
	}
}

// TestRetrieveByProfile answers through the library as the command line does.
func TestRetrieveByProfile(t *testing.T) {
	r := repokit.OpenMem(t)
	repokit.Lines(t, r, alice+bob)
	setLimit(t, r, "", "team", 1)
	s := repokit.Head(t, r)
	before, err := rank.Retrieve(t.Context(), s, retrieve.Request{Text: "leads"})
	if err != nil || len(before.Items) != 2 || before.Request.Profile != "" {
		t.Fatalf("%+v, %v", before, err)
	}
	got, err := rank.Retrieve(t.Context(), s, retrieve.Request{Text: "leads",
		ProfileChoice: retrieve.ProfileChoice{Profile: "team"}})
	if err != nil || len(got.Items) != 1 || got.Request.Profile != "team" {
		t.Fatalf("%+v, %v", got, err)
	}
	if *got.Request.Limit != 1 || *got.Request.Budget != retrieve.DefaultBudget {
		t.Errorf("%+v", got.Request)
	}
	// The recorded request is complete, whatever the profile says later.
	rec, query := got.Receipt()
	setLimit(t, r, "", "team", 2)
	again, err := rec.Request(string(query))
	must.OK(t, err)
	for _, req := range []retrieve.Request{again, got.Request} {
		if ans, err := rank.Retrieve(t.Context(), repokit.Head(t, r), req); err != nil || len(ans.Items) != 1 {
			t.Errorf("%+v, %v", ans, err)
		}
	}
	if _, err := rank.Retrieve(t.Context(), s,
		retrieve.Request{ProfileChoice: retrieve.ProfileChoice{Profile: "gone"}}); !errors.Is(
		err, retrieve.ErrNoProfile) {
		t.Error(err)
	}
	p, err := rank.Profiles(t.Context(), s)
	must.OK(t, err)
	p.Named["team"].Params[0].Value = ipld.IntValue(9) // a copy
	wantLimit(t, r, s.CID().String(), "team", 1)
}
