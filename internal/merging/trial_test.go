package merging_test

import (
	"context"
	"errors"
	"fmt"
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
	sizes := must.Get(r.Storage().Sizes(ctx))(t)
	trial := must.Get(r.Trial(ctx))(t)
	must.True(t, trial.Merges == nil, "what a trial merges behind its commits is never used")
	tried := repokit.Lines(t, trial, trialAfter)
	must.True(t, tried.Commit != before.Commit && tried.Nodes.Added == 1 && tried.Edges.Removed == 1,
		"trial: %+v", tried)
	answer := func(r *core.Repo) string {
		s := must.Get(r.Snapshot(ctx, "HEAD"))(t)
		ans := must.Get(rank.Retrieve(ctx, s, retrieve.Request{Text: "apples"}))(t)
		var text strings.Builder
		for _, item := range ans.Items {
			text.WriteString(item.Rendered)
		}
		return text.String()
	}
	expected := answer(trial)
	repokit.CheckClean(t, trial)
	_, head, err := r.Branch(ctx)
	must.True(t, err == nil && head == before.Commit, "the trial moved the branch to %s (%v)", head, err)
	must.Equal(t, must.Get(r.Storage().Sizes(ctx))(t), sizes, "the trial wrote")
	must.OK(t, trial.Close())
	if done := repokit.Lines(t, r, trialAfter); done.Commit != tried.Commit || done.Graph != tried.Graph {
		t.Errorf("the write gives %s, the trial gave %s", done.Commit, tried.Commit)
	}
	got := answer(r)
	must.True(t, got == expected && got != "", "answer %q, in the trial %q", got, expected)
}

func TestTrialOfReadOnly(t *testing.T) {
	dir := t.TempDir()
	r := must.Get(care.Init(t.Context(), dir, repokit.By, core.Options{}))(t)
	repokit.Lines(t, r, trialBefore)
	must.OK(t, r.Close())
	ro := must.Get(care.Open(dir, core.Options{ReadOnly: true}))(t)
	trial := must.Get(ro.Trial(t.Context()))(t)
	must.True(t, !repokit.Lines(t, trial, trialAfter).NoChange, "nothing to commit")
	must.Get(trial.Indexes().Rebuild(t.Context(), "HEAD"))(t)
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
	s := must.Get(r.At(ctx, res.Commit))(t)
	index := must.Get(s.IndexStats(ctx))(t)
	var chunk ipld.CID
	for e, err := range s.Nodes(ctx, graph.ID{}) {
		must.OK(t, err)
		chunk = e.Node.Content.Chunks[0]
	}
	for _, want := range []ipld.CID{res.Commit, res.Graph, index.Manifest, chunk} {
		full := want.String()
		for _, name := range []string{full, full[:20], full[7:20], full[7:59]} {
			got, data, err := r.Storage().Block(ctx, name)
			must.True(t, err == nil && got == want && ipld.Sum(want.Codec(), data) == want,
				"%s: %s, %v; want %s", name, got, err, want)
		}
	}
	for _, name := range []string{
		"", "abc", "bafy", "bafyrei", "zzzzzz", "Z", "bafyreiZZZZ", res.Commit.String() + "a",
		ipld.Sum(ipld.Raw, []byte("nowhere")).String(),
	} {
		var missing *state.NotFoundError
		_, _, err := r.Storage().Block(ctx, name)
		must.True(t, errors.As(err, &missing), "%q: %v, want a missing block", name, err)
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
	must.Require(t, err == nil && sizes.Blocks >= 4000 && sizes.DerivedBlocks != 0 && sizes.Operations == 2,
		"%+v, %v", sizes, err)
	s := must.Get(r.At(ctx, res.Commit))(t)
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
	_, _, err = r.Storage().Block(ctx, shared)
	must.True(t, errors.As(err, &several), "%q: %v, want several blocks", shared, err)
}

func TestStagedSnapshotSeesTheStage(t *testing.T) {
	ctx := context.Background()
	r := repokit.OpenMem(t)
	repokit.Lines(t, r, trialBefore)
	must.Get(r.Stages().Add(ctx, state.ReadChanges(strings.NewReader(trialAfter), "t"),
		core.StageOptions{Stamp: repokit.By}))(t)
	s := must.Get(r.Stages().Snapshot(ctx, ""))(t)
	var found []string
	for _, name := range []string{"a", "b", "c"} {
		if _, err := s.Name(ctx, name); err == nil {
			found = append(found, name)
		}
	}
	must.Same(t, found, []string{"a", "c"}, "staged")
	other := must.Get(r.Stages().Snapshot(ctx, "other"))(t)
	must.Get(other.Name(ctx, "b"))(t, "an empty stage is the head")
}
