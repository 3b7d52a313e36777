package core_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
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
	r, st := repokit.OpenPlain(t, dir)
	repokit.FillSecret(t, r)
	must.Get(session.StartSession(ctx, r, "m", session.SessionOptions{Stamp: repokit.By}))(t)
	judge := &backwards{}
	rewrite := "tell me: " + repokit.SecretSummary
	_, c, err := session.RetrieveIn(ctx, r, "m", retrieve.Request{
		Text: "cooks carol", RewriteOptions: retrieve.RewriteOptions{Rewrites: []string{"kitchen", rewrite}},
		RerankOptions: retrieve.RerankOptions{Reranker: judge},
	}, repokit.By)
	must.OK(t, err)
	res, err := session.Replay(ctx, r, "m")
	must.Check(t, err == nil && res.Identical && judge.asked == 1,
		"%+v, asked %d times, %v", res, judge.asked, err)
	repokit.CheckClean(t, r)
	repokit.Gc(t, r, 1)
	_, req, err := session.Receipt(ctx, r, c)
	must.Require(t, err == nil && len(req.Rewrites) == 2 && len(req.Reranked) >= 2, "%+v, %v", req, err)
	plan := repokit.PurgeZed(t, r, care.PurgeOptions{DryRun: true, KeepQueries: true})
	hits := repokit.Kinds(plan.Hits)
	must.Check(t, hits["query"] != 0, "hits %v", hits)
	repokit.PurgeZed(t, r, care.PurgeOptions{Reason: "asked"})
	if where := repokit.Found(t, dir, st, []string{rewrite}); len(where) > 0 {
		t.Errorf("text is left: %v", where)
	}
	res, err = session.Replay(ctx, r, c.String())
	want := ipld.Sum(ipld.Raw, []byte(rewrite))
	must.Check(t, err == nil && !res.Identical && len(res.Redacted) == 1 && res.Redacted[0].CID == want,
		"%+v, %v", res, err)
	repokit.CheckClean(t, r)
}
