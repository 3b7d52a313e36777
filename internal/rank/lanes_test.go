package rank_test

import (
	"context"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/retrieve"
)

// TestSparseReplay replays a receipt with sparse vectors and a weight of their lane after later commits. Then it purges
// a node, which must be in no list, nor in memory.
func TestSparseReplay(t *testing.T) {
	r := repokit.OpenMem(t)
	first := repokit.Lines(t, r, `{"node":{"key":"a","type":"T","summary":"Ann Lee"}}
{"node":{"key":"b","type":"T","summary":"beta"}}
{"embedding":{"node":"a","model":"m","sparse":{"x":1}}}
{"embedding":{"node":"b","model":"m","sparse":{"x":2}}}
`)
	req := retrieve.Request{Text: "about Ann Lee", Floor: retrieve.FloorRest,
		Sparse:  []retrieve.SparseVector{{Model: "m", Terms: []graph.Term{{Term: "x", Weight: 5}}}},
		Weights: []retrieve.LaneWeight{{Lane: retrieve.LaneSparse("m"), Weight: 1 << 14}}}
	answer, err := rank.Retrieve(t.Context(), repokit.Head(t, r), req)
	if err != nil || len(answer.Items) != 2 || answer.Items[0].Key != "a" ||
		len(answer.Items[0].Lanes) < 3 {
		t.Fatalf("%+v, %v", answer, err)
	}
	must.Get(session.Record(t.Context(), r, session.DefaultSession, answer, repokit.By))(t)
	repokit.Lines(t, r, `{"embedding":{"node":"b","model":"m","sparse":{"y":1}}}`+"\n")
	res, err := session.Replay(t.Context(), r, session.DefaultSession)
	must.Check(t, err == nil && res.Identical && res.Receipts == 1, "replay %+v, %v", res, err)
	must.Get(care.Purge(t.Context(), r, "a", care.PurgeOptions{Stamp: repokit.By}))(t)
	s := must.Get(r.At(context.Background(), first.Commit))(t)
	must.Equal(t, len(must.Get(rank.Retrieve(t.Context(), s, req))(t).Items), 1, "after the purge")
}
