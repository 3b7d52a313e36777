package core_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
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

var errGuarded = errors.New("guarded")

// warden denies any touch of Vault nodes, edges of the type seals, edges that leave a Vault, or profiles.
func warden(t state.Touch) error {
	if t.Type == "Vault" || t.Source == "Vault" || t.Type == "seals" || t.Kind == core.TouchProfile {
		return fmt.Errorf("%w: %+v", errGuarded, t)
	}
	return nil
}

// guarded is who acts under the warden.
func guarded() state.Stamp {
	by := repokit.By
	by.Agent, by.Guard = "bot", warden
	return by
}

// vaults returns a repository with protected items, a branch where they differ, another where they are
// deleted, and a stage with a change of them; all made without a guard.
func vaults(t *testing.T) *core.Repo {
	t.Helper()
	r := repokit.OpenMem(t)
	repokit.Lines(t, r, `{"node":{"key":"v","type":"Vault","summary":"first"}}
{"node":{"key":"n","type":"Note","summary":"first"}}
{"node":{"key":"m","type":"Note"}}
{"edge":{"type":"about","src":"n","dst":"v"}}
{"edge":{"type":"seals","src":"n","dst":"m"}}
{"edge":{"type":"holds","src":"v","dst":"m"}}`)
	repokit.Lines(t, r, `{"node":{"key":"v","summary":"second"}}`)
	must.Get(r.Branches().Create(t.Context(), "other", "HEAD", core.RefOptions{Stamp: repokit.By}))(t)
	onBranch(t, r, "other", `{"node":{"key":"v","summary":"third"}}`)
	repokit.Lines(t, r, `{"node":{"key":"n","summary":"second"}}`)
	must.Get(r.Stages().Add(t.Context(), repokit.Read(`{"remove":{"node":"v"}}`),
		core.StageOptions{Stamp: repokit.By}))(t)
	return r
}

func onBranch(t *testing.T, r *core.Repo, branch, text string) {
	t.Helper()
	must.Get(r.Commit(t.Context(), repokit.Read(text),
		core.CommitOptions{Stamp: repokit.By, Message: "test", Branch: branch}))(t)
}

// changingWays are ways to write new facts.
func changingWays(ctx context.Context) map[string]func(*core.Repo) error {
	commit := func(text string) func(*core.Repo) error {
		return func(r *core.Repo) error {
			_, err := r.Commit(ctx, repokit.Read(text), core.CommitOptions{Stamp: guarded(), Message: "x"})
			return err
		}
	}
	with := core.CommitOptions{Stamp: guarded(), Message: "x"}
	return map[string]func(r *core.Repo) error{
		"change":      commit(`{"node":{"key":"v","summary":"x"}}`),
		"add":         commit(`{"node":{"key":"w","type":"Vault"}}`),
		"remove":      commit(`{"remove":{"node":"v"}}`),
		"type from":   commit(`{"node":{"key":"v","type":"Note"}}`),
		"type to":     commit(`{"node":{"key":"n","type":"Vault"}}`),
		"mark":        commit(`{"mark":{"node":"v","state":"forgotten"}}`),
		"embed":       commit(`{"embedding":{"node":"v","model":"m","vector":[1,0]}}`),
		"in a batch":  commit("{\"node\":{\"key\":\"n\",\"summary\":\"x\"}}\n{\"node\":{\"key\":\"v\",\"summary\":\"x\"}}"),
		"edge type":   commit(`{"edge":{"type":"seals","src":"m","dst":"n"}}`),
		"edge from":   commit(`{"edge":{"type":"about","src":"v","dst":"n"}}`),
		"edge change": commit(`{"edge":{"type":"seals","src":"n","dst":"m","props":{"a":1}}}`),
		"edge remove": commit(`{"remove":{"edge":{"type":"holds","src":"v","dst":"m"}}}`),
		"edge by end": commit(`{"remove":{"node":"m"}}`), // takes two protected edges with it
		"stage": func(r *core.Repo) error {
			return must.Err(r.Stages().Add(ctx, repokit.Read(`{"node":{"key":"v","summary":"x"}}`),
				core.StageOptions{Stamp: guarded(), Stage: "mine"}))
		},
		"commit what is staged": func(r *core.Repo) error { return must.Err(r.Stages().Commit(ctx, "", with)) },
		"unstage":               func(r *core.Repo) error { return r.Stages().Remove(ctx, "", guarded()) },
	}
}

// movingWays are ways to bring what was written elsewhere, or before.
func movingWays(ctx context.Context) map[string]func(*core.Repo) error {
	with := core.CommitOptions{Stamp: guarded(), Message: "x"}
	return map[string]func(r *core.Repo) error{
		"merge": func(r *core.Repo) error {
			return must.Err(merging.Merge(ctx, r, "other", core.MergeOptions{CommitOptions: with}))
		},
		"revert": func(r *core.Repo) error {
			return must.Err(merging.Revert(ctx, r, "HEAD~1", core.MergeOptions{CommitOptions: with}))
		},
		"cherry-pick": func(r *core.Repo) error {
			return must.Err(merging.CherryPick(ctx, r, "other", core.MergeOptions{CommitOptions: with}))
		},
		"restore": func(r *core.Repo) error { return must.Err(merging.Restore(ctx, r, "HEAD~2", []string{"v"}, with)) },
		"amend": func(r *core.Repo) error {
			opt := with
			opt.Amend = true
			return must.Err(r.Commit(ctx, repokit.Read(`{"remove":{"node":"v"}}`), opt))
		},
		"keep": func(r *core.Repo) error {
			at, err := r.Revisions().Resolve(ctx, "HEAD~2")
			if err != nil {
				return err
			}
			opt := with
			opt.Base = &at
			_, err = r.Commit(ctx, repokit.Read(`{"node":{"key":"v","summary":"clash"}}`), opt)
			return err
		},
		"undo": func(r *core.Repo) error {
			_, err := history.Undo(ctx, r, "5", guarded()) // what changed the other branch
			return err
		},
		"undo of a stage": func(r *core.Repo) error { return must.Err(history.Undo(ctx, r, "", guarded())) },
		"op restore":      func(r *core.Repo) error { return must.Err(history.RestoreOperation(ctx, r, "2", guarded())) },
		"move a branch": func(r *core.Repo) error {
			_, err := r.Branches().Create(ctx, "main", "HEAD~2", core.RefOptions{Stamp: guarded(), Force: true})
			return err
		},
		"a new branch elsewhere": func(r *core.Repo) error {
			return must.Err(r.Branches().Create(ctx, "old", "HEAD~2", core.RefOptions{Stamp: guarded()}))
		},
		"remove a branch": func(r *core.Repo) error {
			return must.Err(r.Branches().Remove(ctx, "other", core.RefOptions{Stamp: guarded(), Force: true}))
		},
		"switch": func(r *core.Repo) error {
			return r.Branches().Switch(ctx, "other", core.SwitchOptions{Stamp: guarded()})
		},
		"detach": func(r *core.Repo) error { return must.Err(r.Branches().Detach(ctx, "HEAD~2", guarded())) },
		"purge": func(r *core.Repo) error {
			return must.Err(care.Purge(ctx, r, "v", care.PurgeOptions{Stamp: guarded()}))
		},
		"profiles": func(r *core.Repo) error {
			return must.Err(rank.SetProfiles(ctx, r, func(p *retrieve.Profiles) error {
				p.Named["x"] = retrieve.Profile{Params: []ipld.Entry{{Key: "limit", Value: ipld.IntValue(3)}}}
				return nil
			}, with))
		},
	}
}

// TestGuardSeesEveryWay tries each way there is to change what is protected.
func TestGuardSeesEveryWay(t *testing.T) {
	ctx := context.Background()
	ways := changingWays(ctx)
	maps.Copy(ways, movingWays(ctx))
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			r := vaults(t)
			before := must.Get(r.Refs(ctx))(t)
			must.Fail(t, way(r), errGuarded)
			must.Same(t, before, must.Get(r.Refs(ctx))(t, "refs moved from"), "refs moved from")
		})
	}
}

// TestGuardSeesImports: what a file brings is refused like anything else.
func TestGuardSeesImports(t *testing.T) {
	r := vaults(t)
	var file bytes.Buffer
	must.Get(exchange.Export(t.Context(), r, &file, exchange.ExportOptions{}))(t)
	in := bytes.NewReader(file.Bytes())
	to := repokit.OpenMem(t)
	_, err := exchange.Import(t.Context(), to, in, in.Size(), exchange.ImportOptions{Stamp: guarded()})
	must.Fail(t, err, errGuarded)
	repokit.Lines(t, to, `{"node":{"key":"n","type":"Note"}}`)
	must.Fail(t, must.Err(exchange.Import(t.Context(), to, in, in.Size(),
		exchange.ImportOptions{Stamp: guarded(), Name: "in", As: "mine"})), errGuarded)
	_, err = exchange.Import(t.Context(), to, in, in.Size(), exchange.ImportOptions{Stamp: guarded(), Name: "in"})
	must.OK(t, err, "next to the branches")
	must.Fail(t, must.Err(merging.Merge(t.Context(), to, "refs/imported/in/heads/main",
		core.MergeOptions{CommitOptions: core.CommitOptions{Stamp: guarded(), Message: "x"}})), errGuarded)
}

// TestGuardSeesResolutions: neither a resolution nor the end of a merge goes around it.
func TestGuardSeesResolutions(t *testing.T) {
	ctx := t.Context()
	r := vaults(t)
	repokit.Lines(t, r, `{"node":{"key":"v","summary":"ours"}}`)
	opt := core.CommitOptions{Stamp: repokit.By, Message: "m"}
	res, err := merging.Merge(ctx, r, "other", core.MergeOptions{CommitOptions: opt})
	must.Fail(t, err, state.ErrConflict, res)
	opt.Stamp = guarded()
	_, err = merging.ResolveConflict(ctx, r, "v", merging.Choice{Take: graph.TakeTheirs}, opt)
	must.Fail(t, err, errGuarded)
	opt.Stamp = repokit.By
	must.Get(merging.ResolveConflict(ctx, r, "v", merging.Choice{Take: graph.TakeTheirs}, opt))(t)
	opt.Stamp = guarded()
	must.Fail(t, must.Err(merging.ContinueMerge(ctx, r, core.MergeOptions{CommitOptions: opt})), errGuarded)
	opt.Stamp = repokit.By
	must.Get(merging.ContinueMerge(ctx, r, core.MergeOptions{CommitOptions: opt}))(t)
}

// TestGuardAllows: what touches nothing protected goes on, and is asked about in proportion to what it changes.
func TestGuardAllows(t *testing.T) {
	ctx := t.Context()
	var many strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&many, "{\"node\":{\"key\":\"k%d\",\"type\":\"Vault\"}}\n", i)
	}
	r := must.Get(care.New(ctx, mem.New(), repokit.By, core.Options{}))(t)
	defer r.Close()
	repokit.Lines(t, r, many.String()+`{"node":{"key":"n","type":"Note"}}`)
	var seen []state.Touch
	who := guarded()
	who.Guard = func(t state.Touch) error {
		seen = append(seen, t)
		return warden(t)
	}
	opt := core.CommitOptions{Stamp: who, Message: "x"}
	must.Get(r.Commit(ctx, repokit.Read(`{"node":{"key":"n","summary":"x"}}`), opt))(t)
	want := []state.Touch{{Kind: core.TouchNode, Ref: "refs/heads/main", ID: graph.NodeID("n"), Type: "Note"}}
	must.Same(t, seen, want, "asked about")
	seen = nil
	must.Get(r.Branches().Create(ctx, "b", "HEAD", core.RefOptions{Stamp: who}))(t)
	must.OK(t, r.Branches().Rename(ctx, "b", "c", core.RefOptions{Stamp: who}))
	must.OK(t, r.Branches().Switch(ctx, "c", core.SwitchOptions{Stamp: who}))
	must.Get(r.Branches().Remove(ctx, "main", core.RefOptions{Stamp: who}))(t)
	must.True(t, len(seen) <= 0, "branches of the same commit touched %v", seen)
	if _, err := history.Undo(ctx, r, "2", who); !errors.Is(err, state.ErrConflict) && !errors.Is(err, errGuarded) {
		t.Errorf("undo of what made the vaults: %v", err)
	}
}

// TestHeadExpected: a write that says where HEAD must be is refused where it is elsewhere.
func TestHeadExpected(t *testing.T) {
	r := repokit.OpenMem(t)
	at := repokit.Lines(t, r, `{"node":{"key":"n","type":"Note"}}`).Commit
	who := repokit.By
	who.Head = &ipld.CID{}
	var expected *state.ExpectError
	_, err := history.Undo(t.Context(), r, "", who)
	must.True(t, errors.As(err, &expected) && expected.Have == at, "undo: %v, want the commit that HEAD is at", err)
	who.Head = &at
	must.Get(history.Undo(t.Context(), r, "", who))(t)
}
