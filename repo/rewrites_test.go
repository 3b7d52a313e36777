package repo_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
)

// backwards judges what comes later as better.
type backwards struct{ asked int }

func (*backwards) Model() string { return "backwards:1" }

func (b *backwards) Rerank(_ context.Context, _ string, texts []string) ([]int64, error) {
	b.asked++
	out := make([]int64, len(texts))
	for i := range out {
		out[i] = int64(i)
	}
	return out, nil
}

// TestReplayModels replays what models said without asking them, until it is erased.
func TestReplayModels(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	ctx := t.Context()
	dir := filepath.Join(t.TempDir(), ".mnem")
	r, st := openPlain(t, dir)
	fillSecret(t, r)
	if _, err := r.StartSession(ctx, "m", repo.SessionOptions{Stamp: by}); err != nil {
		t.Fatal(err)
	}
	judge := &backwards{}
	rewrite := "tell me: " + secretSummary
	_, c, err := r.RetrieveIn(ctx, "m", retrieve.Request{
		Text: "cooks carol", Rewrites: []string{"kitchen", rewrite}, Reranker: judge,
	}, by)
	if err != nil {
		t.Fatal(err)
	}
	res, err := r.Replay(ctx, "m")
	if err != nil || !res.Identical || judge.asked != 1 {
		t.Errorf("%+v, asked %d times, %v", res, judge.asked, err)
	}
	checkClean(t, r)
	gc(t, r, 1)
	_, req, err := r.Receipt(ctx, c)
	if err != nil || len(req.Rewrites) != 2 || len(req.Reranked) < 2 {
		t.Fatalf("%+v, %v", req, err)
	}
	plan := purgeZed(t, r, repo.PurgeOptions{DryRun: true, KeepQueries: true})
	hits := kinds(plan.Hits)
	if hits["query"] == 0 {
		t.Errorf("hits %v", hits)
	}
	purgeZed(t, r, repo.PurgeOptions{Reason: "asked"})
	if where := found(t, dir, st, []string{rewrite}); len(where) > 0 {
		t.Errorf("text is left: %v", where)
	}
	res, err = r.Replay(ctx, c.String())
	want := ipld.Sum(ipld.Raw, []byte(rewrite))
	if err != nil || res.Identical || len(res.Redacted) != 1 || res.Redacted[0].CID != want {
		t.Errorf("%+v, %v", res, err)
	}
	checkClean(t, r)
}
