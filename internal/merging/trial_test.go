package merging_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

const (
	trialBefore = `{"node":{"key":"a","type":"T","summary":"apples"}}
{"node":{"key":"b","type":"T","summary":"berries"}}
{"edge":{"type":"next","src":"a","dst":"b"}}`
	trialAfter = `{"node":{"key":"c","type":"T","summary":"more apples"}}
{"remove":{"node":"b"}}`
)

// TestTrialAnswersWhatAWriteWould compares a trial with the write itself.
func TestTrialAnswersWhatAWriteWould(t *testing.T) {
	ctx := t.Context()
	r := repokit.OpenMem(t)
	before := repokit.Lines(t, r, trialBefore)
	sizes, err := r.Storage().Sizes(ctx)
	must.OK(t, err)
	trial, err := r.Trial(ctx)
	must.OK(t, err)
	tried := repokit.Lines(t, trial, trialAfter)
	if tried.Commit == before.Commit || tried.Nodes.Added != 1 || tried.Edges.Removed != 1 {
		t.Errorf("trial: %+v", tried)
	}
	answer := func(r *core.Repo) string {
		s, err := r.Snapshot(ctx, "HEAD")
		must.OK(t, err)
		ans, err := rank.Retrieve(ctx, s, retrieve.Request{Text: "apples"})
		must.OK(t, err)
		var text strings.Builder
		for _, item := range ans.Items {
			text.WriteString(item.Rendered)
		}
		return text.String()
	}
	expected := answer(trial)
	repokit.CheckClean(t, trial)
	if _, head, err := r.Branch(ctx); err != nil || head != before.Commit {
		t.Errorf("the trial moved the branch to %s (%v)", head, err)
	}
	if after, err := r.Storage().Sizes(ctx); err != nil || after != sizes {
		t.Errorf("the trial wrote: %+v, then %+v (%v)", sizes, after, err)
	}
	must.OK(t, trial.Close())
	if done := repokit.Lines(t, r, trialAfter); done.Commit != tried.Commit || done.Graph != tried.Graph {
		t.Errorf("the write gives %s, the trial gave %s", done.Commit, tried.Commit)
	}
	if got := answer(r); got != expected || got == "" {
		t.Errorf("answer %q, in the trial %q", got, expected)
	}
}

func TestTrialOfReadOnly(t *testing.T) {
	dir := t.TempDir()
	r, err := care.Init(t.Context(), dir, repokit.By, core.Options{})
	must.OK(t, err)
	repokit.Lines(t, r, trialBefore)
	must.OK(t, r.Close())
	ro, err := care.Open(dir, core.Options{ReadOnly: true})
	must.OK(t, err)
	trial, err := ro.Trial(t.Context())
	must.OK(t, err)
	if res := repokit.Lines(t, trial, trialAfter); res.NoChange {
		t.Error("nothing to commit")
	}
	if _, err := trial.Indexes().Rebuild(t.Context(), "HEAD"); err != nil {
		t.Error(err)
	}
	repokit.CheckClean(t, trial)
	must.OK(t, ro.Close())
}

func TestBlockByPrefix(t *testing.T) {
	ctx := t.Context()
	r := repokit.OpenMem(t)
	long := strings.Repeat("a long text ", 6000) // in chunks
	line := string(ipld.AppendJSON(nil, ipld.MapValue(ipld.Entry{Key: "node", Value: ipld.MapValue(
		ipld.Entry{Key: "type", Value: ipld.StringValue("T")},
		ipld.Entry{Key: "content", Value: ipld.StringValue(long)},
	)})))
	res := repokit.Lines(t, r, line)
	s, err := r.At(ctx, res.Commit)
	must.OK(t, err)
	index, err := s.IndexStats(ctx)
	must.OK(t, err)
	var chunk ipld.CID
	for e, err := range s.Nodes(ctx, graph.ID{}) {
		must.OK(t, err)
		chunk = e.Node.Content.Chunks[0]
	}
	for _, want := range []ipld.CID{res.Commit, res.Graph, index.Manifest, chunk} {
		full := want.String()
		for _, name := range []string{full, full[:20], full[7:20], full[7:59]} {
			got, data, err := r.Storage().Block(ctx, name)
			if err != nil || got != want || ipld.Sum(want.Codec(), data) != want {
				t.Errorf("%s: %s, %v; want %s", name, got, err, want)
			}
		}
	}
	for _, name := range []string{
		"", "abc", "bafy", "bafyrei", "zzzzzz", "Z", "bafyreiZZZZ", res.Commit.String() + "a",
		ipld.Sum(ipld.Raw, []byte("nowhere")).String(),
	} {
		var missing *state.NotFoundError
		if _, _, err := r.Storage().Block(ctx, name); !errors.As(err, &missing) {
			t.Errorf("%q: %v, want a missing block", name, err)
		}
	}
}

func TestBlockPrefixOfTwo(t *testing.T) {
	ctx := t.Context()
	r := repokit.OpenMem(t)
	var text strings.Builder
	for i := range 4000 { // enough that two of them share the 20 bits of 4 digits
		fmt.Fprintf(&text, `{"node":{"key":"n%d","type":"T"}}`+"\n", i)
	}
	res := repokit.Lines(t, r, text.String())
	sizes, err := r.Storage().Sizes(ctx)
	if err != nil || sizes.Blocks < 4000 || sizes.DerivedBlocks == 0 || sizes.Operations != 2 {
		t.Fatalf("%+v, %v", sizes, err)
	}
	s, err := r.At(ctx, res.Commit)
	must.OK(t, err)
	shared, seen := "", make(map[string]bool)
	for e, err := range s.Nodes(ctx, graph.ID{}) {
		must.OK(t, err)
		digits := e.CID.String()[7:11]
		if seen[digits] {
			shared = digits
		}
		seen[digits] = true
	}
	var several *state.AmbiguousError
	if _, _, err := r.Storage().Block(ctx, shared); !errors.As(err, &several) {
		t.Errorf("%q: %v, want several blocks", shared, err)
	}
}

func TestStagedSnapshotSeesTheStage(t *testing.T) {
	ctx := context.Background()
	r := repokit.OpenMem(t)
	repokit.Lines(t, r, trialBefore)
	if _, err := r.Stages().Add(ctx, state.ReadChanges(strings.NewReader(trialAfter), "t"),
		core.StageOptions{Stamp: repokit.By}); err != nil {
		t.Fatal(err)
	}
	s, err := r.Stages().Snapshot(ctx, "")
	must.OK(t, err)
	var found []string
	for _, name := range []string{"a", "b", "c"} {
		if _, err := s.Name(ctx, name); err == nil {
			found = append(found, name)
		}
	}
	if !slices.Equal(found, []string{"a", "c"}) {
		t.Errorf("staged: %v, want a and c", found)
	}
	other, err := r.Stages().Snapshot(ctx, "other")
	must.OK(t, err)
	if _, err := other.Name(ctx, "b"); err != nil {
		t.Errorf("an empty stage is the head: %v", err)
	}
}
