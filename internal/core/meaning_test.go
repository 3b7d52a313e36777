package core_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/internal/view"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// lengths is a model that sees how long a text is, and remembers what it was asked.
type lengths struct {
	mu    sync.Mutex
	asked []string
}

func (*lengths) Model() string { return "lengths" }

func (m *lengths) Vectors(_ context.Context, texts []string) ([][]int8, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, texts...)
	out := make([][]int8, len(texts))
	for i, text := range texts {
		if text != "nothing" {
			out[i] = []int8{127, int8(len(text) % 100)}
		}
	}
	return out, nil
}

// meant commits lines with a model, and returns what that was asked.
func meant(t *testing.T, r *core.Repo, lines string) []string {
	t.Helper()
	m := new(lengths)
	by := repokit.By
	by.Meaning = m
	must.Get(r.Commit(t.Context(), state.ReadChanges(strings.NewReader(lines), ""), core.CommitOptions{Stamp: by}))(t)
	slices.Sort(m.asked)
	return slices.Compact(m.asked)
}

func embeddings(t *testing.T, r *core.Repo) map[core.EmbeddingState]int {
	t.Helper()
	counts := make(map[core.EmbeddingState]int)
	for e, err := range repokit.Head(t, r).Embeddings(t.Context(), "lengths") {
		must.OK(t, err)
		counts[e.State]++
	}
	return counts
}

func TestCommitsEmbedWhatTheyWrite(t *testing.T) {
	r := repokit.OpenMem(t)
	lines := `{"node":{"key":"a","type":"T","summary":"one"}}
{"node":{"key":"b","type":"T","content":"two and more"}}
{"node":{"key":"c","type":"T"}}
{"node":{"key":"d","type":"T","summary":"nothing"}}
`
	must.Same(t, meant(t, r, lines), []string{"nothing", "one", "two and more"}, "asked")
	want := map[core.EmbeddingState]int{core.EmbeddingCurrent: 2, core.EmbeddingMissing: 2}
	must.Equal(t, fmt.Sprint(embeddings(t, r)), fmt.Sprint(want), "embeddings")
	head := repokit.Head(t, r).CID()
	meant(t, r, lines)
	must.True(t, repokit.Head(t, r).CID() == head, "the same lines again made a commit")
	// A text that changes is embedded again, one that stays is not.
	got := meant(t, r, `{"node":{"key":"a","summary":"changed"}}`+"\n"+`{"node":{"key":"b","props":{"n":1}}}`)
	must.True(t, !slices.Contains(got, "two and more") && slices.Contains(got, "changed"), "asked %q", got)
	must.Equal(t, fmt.Sprint(embeddings(t, r)), fmt.Sprint(want), "embeddings")
}

func TestGivenEmbeddingsStay(t *testing.T) {
	r := repokit.OpenMem(t)
	meant(t, r, `{"node":{"key":"a","type":"T","summary":"one"}}
{"embedding":{"node":"a","model":"lengths","vector":[1,1,1]}}
`)
	for e, err := range repokit.Head(t, r).Embeddings(t.Context(), "lengths") {
		must.OK(t, err, "dimensions")
		must.Equal(t, e.Dims, 3, "dimensions")
	}
}

func TestLargeBatchesEmbedNothing(t *testing.T) {
	var lines strings.Builder
	for i := range state.MeaningNodes + 1 {
		fmt.Fprintf(&lines, `{"node":{"key":"n%d","type":"T","summary":"text %d"}}`+"\n", i, i)
	}
	r := repokit.OpenMem(t)
	got := meant(t, r, lines.String())
	must.True(t, len(got) == 0, "%d texts were embedded", len(got))
	_, rest, _ := strings.Cut(lines.String(), "\n")
	must.Equal(t, len(meant(t, repokit.OpenMem(t), rest)), state.MeaningNodes, "texts of")
}

// TestMeaningBeforeTheTurn checks that other writers wait for a model neither when lines are committed nor when
// something is decided.
func TestMeaningBeforeTheTurn(t *testing.T) {
	r := repokit.OpenMem(t)
	m := &slowly{asked: make(chan struct{}), wait: make(chan struct{})}
	by := repokit.By
	by.Meaning = m
	line := func(n int) state.Changes {
		return state.ReadChanges(strings.NewReader(fmt.Sprintf(`{"node":{"key":"k%d","type":"T","summary":"s %d"}}`, n, n)), "")
	}
	for name, write := range map[string]func() error{
		"commit": func() error { return must.Err(r.Commit(t.Context(), line(1), core.CommitOptions{Stamp: by})) },
		"decide": func() error {
			_, err := r.Decide(t.Context(), core.DecideOptions{CommitOptions: core.CommitOptions{Stamp: by}},
				func(*core.Snapshot) (*core.Decision, error) {
					summary := "decided"
					node := &graph.NodeChange{Key: "decided", Type: "T", Summary: &summary}
					return &core.Decision{Message: "m", Changes: []graph.Change{{Node: node}}}, nil
				})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			done := make(chan error)
			go func() { done <- write() }()
			<-m.asked
			repokit.Lines(t, r, fmt.Sprintf(`{"node":{"key":%q,"type":"T"}}`, "beside "+name))
			close(m.wait)
			must.OK(t, <-done)
			m.asked, m.wait = make(chan struct{}), make(chan struct{})
		})
	}
}

// slowly is a model that waits at its first question.
type slowly struct {
	lengths
	asked, wait chan struct{}
}

func (m *slowly) Vectors(ctx context.Context, texts []string) ([][]int8, error) {
	select {
	case <-m.wait:
	default:
		close(m.asked)
		<-m.wait
	}
	return m.lengths.Vectors(ctx, texts)
}

// unembedded returns a repository with lines that were committed without a model.
func unembedded(t *testing.T, nodes int) *core.Repo {
	t.Helper()
	r := repokit.OpenMem(t)
	var lines strings.Builder
	for i := range nodes {
		fmt.Fprintf(&lines, `{"node":{"key":"n%d","type":"T","summary":"text %d"}}`+"\n", i, i)
	}
	repokit.Lines(t, r, lines.String())
	return r
}

func TestEmbedRest(t *testing.T) {
	one, two := unembedded(t, 600), unembedded(t, 600)
	asked := repokit.Head(t, one).CID()
	m := new(lengths)
	var seen []int
	n, err := one.Embeddings().Rest(t.Context(), m, func(done, total int) { seen = append(seen, done, total) })
	must.Require(t, err == nil && n == 600 && len(m.asked) == 600,
		"%d nodes embedded, %d texts asked about, %v", n, len(m.asked), err)
	must.Same(t, seen, []int{256, 600, 512, 600, 600, 600}, "progress")
	n, err = one.Embeddings().Rest(t.Context(), m, nil)
	must.True(t, n == 0 && err == nil, "again: %d, %v", n, err)
	// Another machine, which is interrupted after the first commit, makes the same commits.
	ctx, stop := context.WithCancel(t.Context())
	must.True(t, must.Err(two.Embeddings().Rest(ctx, new(lengths), func(int, int) { stop() })) != nil,
		"the interrupt was not told")
	must.Get(two.Embeddings().Rest(t.Context(), new(lengths), nil))(t)
	must.Equal(t, repokit.Head(t, one).CID(), repokit.Head(t, two).CID(), "commits")
	for s := repokit.Head(t, one); s.CID() != asked; {
		if unasked, err := one.Embeddings().Unasked(t.Context(), s.Commit()); !unasked || err != nil {
			t.Errorf("commit %s counts as asked for, %v", s.CID(), err)
		}
		s = must.Get(one.At(t.Context(), s.Commit().Parents[0]))(t)
	}
	unasked, err := one.Embeddings().Unasked(t.Context(), repokit.Head(t, unembedded(t, 1)).Commit())
	must.True(t, !unasked && err == nil, "a commit of nodes counts as not asked for, %v", err)
	// Who expects the commit before it finds the branch as it was, and undo takes back what was asked for.
	_, err = one.Commit(t.Context(), state.ReadChanges(strings.NewReader(`{"node":{"key":"new","type":"T"}}`), ""),
		core.CommitOptions{Stamp: repokit.By, Expect: &asked})
	must.OK(t, err, "a write that expects the commit before the vectors")
	_, err = one.Commit(t.Context(), state.ReadChanges(strings.NewReader(`{"node":{"key":"newer","type":"T"}}`), ""),
		core.CommitOptions{Stamp: repokit.By, Expect: &asked})
	must.True(t, err != nil, "a write that expects a commit with another upon it than vectors was made")
}

// TestEmbedRestDuringWrites embeds while others write: nothing of theirs is lost.
func TestEmbedRestDuringWrites(t *testing.T) {
	r := unembedded(t, 600)
	n := 0
	must.Get(r.Embeddings().Rest(t.Context(), new(lengths), func(int, int) {
		repokit.Lines(t, r, fmt.Sprintf(`{"node":{"key":"beside %d","type":"T","summary":"s"}}`+"\n"+
			`{"node":{"key":"n%d","type":"T","summary":"changed"}}`, n, 599-n))
		n++
	}))(t)
	must.Equal(t, repokit.Sizes(repokit.Head(t, r))[0], 603, "nodes")
	must.Get(r.Embeddings().Rest(t.Context(), new(lengths), nil))(t)
	must.Equal(t, embeddings(t, r)[core.EmbeddingCurrent], 603, "embeddings")
}

// TestAmendPassesVectors amends what was asked for, though vectors were committed upon it, and keeps these.
func TestAmendPassesVectors(t *testing.T) {
	r := unembedded(t, 300)
	must.Get(r.Embeddings().Rest(t.Context(), new(lengths), nil))(t)
	res, err := r.Commit(t.Context(), state.ReadChanges(strings.NewReader(""), ""),
		core.CommitOptions{Stamp: repokit.By, Amend: true, Message: "in other words"})
	must.Require(t, err == nil && len(res.Parents) == 0 && !res.NoChange, "amended to %+v, %v", res, err)
	must.Equal(t, embeddings(t, r)[core.EmbeddingCurrent], 300, "embeddings")
}

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
	must.True(t, err == nil && res.Identical && judge.asked == 1, "%+v, asked %d times, %v", res, judge.asked, err)
	repokit.CheckClean(t, r)
	repokit.Gc(t, r, 1)
	_, req, err := session.Receipt(ctx, r, c)
	must.Require(t, err == nil && len(req.Rewrites) == 2 && len(req.Reranked) >= 2, "%+v, %v", req, err)
	plan := repokit.PurgeZed(t, r, care.PurgeOptions{DryRun: true, KeepQueries: true})
	hits := repokit.Kinds(plan.Hits)
	must.True(t, hits["query"] != 0, "hits %v", hits)
	repokit.PurgeZed(t, r, care.PurgeOptions{Reason: "asked"})
	where := repokit.Found(t, dir, st, []string{rewrite})
	must.True(t, len(where) == 0, "text is left: %v", where)
	res, err = session.Replay(ctx, r, c.String())
	want := ipld.Sum(ipld.Raw, []byte(rewrite))
	must.True(t, err == nil && !res.Identical && len(res.Redacted) == 1 && res.Redacted[0].CID == want,
		"%+v, %v", res, err)
	repokit.CheckClean(t, r)
}

// TestDenseVectors reads the vectors of many nodes at once, of several also if they have the same one.
func TestDenseVectors(t *testing.T) {
	const n = 400
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, `{"node":{"key":"n%d","type":"T"}}`+"\n", i)
		fmt.Fprintf(&lines, `{"embedding":{"node":"n%d","model":"m","vector":[127,%d]}}`+"\n", i, i%100)
	}
	lines.WriteString(`{"embedding":{"node":"n0","model":"s","sparse":{"a":1}}}`)
	r := repokit.OpenMem(t)
	repokit.Lines(t, r, lines.String())
	s := repokit.Head(t, r).State
	var ids []graph.ID
	for _, count := range []int{0, 1, 64, 65, n} {
		ids = ids[:0]
		for i := range count {
			ids = append(ids, graph.NodeID(fmt.Sprintf("n%d", n-1-i)))
		}
		got, err := view.DenseVectors(t.Context(), s, "m", ids)
		must.Require(t, err == nil && len(got) == count, "%d vectors of %d: %v", len(got), count, err)
		for i, v := range got {
			must.Same(t, v, []int8{127, int8((n - 1 - i) % 100)}, "vector ", i, " of ", count)
		}
	}
	for name, c := range map[string]struct {
		model string
		id    graph.ID
	}{"sparse": {"s", graph.NodeID("n0")}, "none": {"m", graph.NodeID("ghost")}, "of no model": {"x", ids[0]}} {
		got, err := view.DenseVectors(t.Context(), s, c.model, append(ids[:3:3], c.id))
		must.Fail(t, err, store.ErrCorrupt, name, ": ", got)
	}
}
