package repo_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

// on commits change lines to a branch.
func on(t testing.TB, r *repo.Repo, branch, text string) ipld.CID {
	t.Helper()
	opt := repo.CommitOptions{Stamp: by, Branch: branch, Message: branch}
	res, err := r.Commit(t.Context(), repo.ReadChanges(strings.NewReader(text), branch), opt)
	if err != nil {
		t.Fatal(err)
	}
	return res.Commit
}

func fork(t testing.TB, r *repo.Repo, branch string, at ipld.CID) {
	t.Helper()
	if err := r.Fork(t.Context(), branch, at); err != nil {
		t.Fatal(err)
	}
}

func options(branch string) repo.MergeOptions {
	return repo.MergeOptions{CommitOptions: repo.CommitOptions{Stamp: by, Branch: branch}}
}

// graphOf merges one revision into a branch made at another and returns the graph.
func graphOf(t *testing.T, r *repo.Repo, ours, theirs ipld.CID) ipld.CID {
	t.Helper()
	fork(t, r, "into", ours)
	res, err := r.Merge(t.Context(), theirs.String(), options("into"))
	if err != nil {
		t.Fatal(err)
	}
	return res.Graph
}

// TestMergeLaws checks what every merge must keep on random states of one base: merging the base
// or the same again changes nothing, sides may be exchanged, and three branches that changed
// different things may be merged in any order.
func TestMergeLaws(t *testing.T) {
	effort.Alone(t)
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 2))
		r, w := openMem(t), world{}
		var text strings.Builder
		for len(w) < 10 {
			text.WriteString(w.step(rng))
		}
		base := lines(t, r, text.String()).Commit
		var sides [3]ipld.CID
		for i := range sides {
			branch := fmt.Sprintf("s%d", i)
			fork(t, r, branch, base)
			change := fmt.Sprintf(`{"node":{"key":"own%d","type":"T"}}`+"\n", i)
			for j := range 6 { // each side has keys of its own, and ends that all sides have
				k := fmt.Sprintf("k%d", 2*j)
				if w[nodeName(k)] != nil {
					change += fmt.Sprintf(`{"node":{"key":%q,"props":{"side%d":%d}}}`+"\n", k, i, rng.IntN(9))
					change += fmt.Sprintf(`{"edge":{"type":"own","src":"own%d","dst":%q}}`+"\n", i, k)
				}
			}
			sides[i] = on(t, r, branch, change)
		}
		s, err := r.At(t.Context(), sides[0])
		if err != nil {
			t.Fatal(err)
		}
		if got := graphOf(t, r, sides[0], base); got != s.Graph() {
			t.Fatalf("seed %d: merge(x, base) is %s, want %s", seed, got, s.Graph())
		}
		if got := graphOf(t, r, sides[0], sides[0]); got != s.Graph() {
			t.Fatalf("seed %d: merge(x, x) is %s, want %s", seed, got, s.Graph())
		}
		for _, to := range []ipld.CID{base, sides[0]} { // the same of states, whatever history says
			fork(t, r, "into", sides[0])
			res, err := r.CherryPick(t.Context(), base.String()+".."+to.String(), options("into"))
			if err != nil || !res.NoChange {
				t.Fatalf("seed %d: %+v, %v, want no change", seed, res, err)
			}
		}
		graphs := map[ipld.CID]bool{}
		for _, order := range [][3]int{{0, 1, 2}, {1, 0, 2}, {2, 1, 0}, {0, 2, 1}} {
			graphOf(t, r, sides[order[0]], sides[order[1]])
			res, err := r.Merge(t.Context(), sides[order[2]].String(), options("into"))
			if err != nil {
				t.Fatal(err)
			}
			graphs[res.Graph] = true
		}
		if len(graphs) != 1 {
			t.Fatalf("seed %d: the order decides: %v", seed, graphs)
		}
	}
}

// conflicted is a repository whose main has a merge of draft in progress.
func conflicted(t *testing.T) (r *repo.Repo, ours, theirs ipld.CID) {
	t.Helper()
	r = openMem(t)
	base := lines(t, r, `
{"node":{"key":"a","type":"T","summary":"A"}}
{"node":{"key":"b","type":"T","summary":"B"}}
{"node":{"key":"c","type":"T","summary":"C"}}
{"edge":{"type":"e","src":"a","dst":"b"}}
{"edge":{"type":"e","src":"b","dst":"c"}}
{"mark":{"node":"b","state":"stale"}}`).Commit
	fork(t, r, "draft", base)
	ours = lines(t, r, `
{"node":{"key":"a","summary":"A1"}}
{"remove":{"node":"b"}}
{"node":{"key":"d","type":"T"}}`).Commit
	theirs = on(t, r, "draft", `
{"node":{"key":"a","summary":"A2","props":{"n":1}}}
{"node":{"key":"b","summary":"B2"}}`)
	res, err := r.Merge(t.Context(), "draft", options(""))
	var clash *repo.MergeError
	if !errors.As(err, &clash) || len(clash.Conflicts) != 2 || len(res.Conflicts) != 2 {
		t.Fatalf("%+v, %v", res, err)
	}
	if res.Commit.Defined() || head(t, r).CID() != ours {
		t.Fatal("the branch moved")
	}
	return r, ours, theirs
}

func resolve(t *testing.T, r *repo.Repo, item string, choice repo.Choice) *repo.PendingMerge {
	t.Helper()
	p, err := r.ResolveConflict(t.Context(), item, choice, repo.CommitOptions{Stamp: by})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func changes(text string) repo.Choice {
	return repo.Choice{Changes: repo.ReadChanges(strings.NewReader(text), "fix")}
}

func TestResolveOneByOne(t *testing.T) {
	r, ours, theirs := conflicted(t)
	if _, err := r.ContinueMerge(t.Context(), options("")); !errors.Is(err, repo.ErrConflict) {
		t.Errorf("continued with open conflicts: %v", err)
	}
	resolve(t, r, "a", repo.Choice{Take: graph.TakeOurs})
	p := resolve(t, r, "node/"+graph.NodeID("a").String(),
		changes(`{"node":{"key":"a","summary":"A3","props":{"m":2}}}`))
	if p.Conflicts[0].Resolution == p.Conflicts[1].Resolution || p.Theirs != theirs {
		t.Errorf("pending %+v", p)
	}
	resolve(t, r, graph.NodeID("b").String()[:8], repo.Choice{Take: graph.TakeTheirs})
	checkClean(t, r)
	res, err := r.ContinueMerge(t.Context(), options(""))
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Parents) != 2 || res.Parents[0] != ours || res.Parents[1] != theirs {
		t.Errorf("parents %v", res.Parents)
	}
	s := head(t, r)
	a := nodeByKey(t, s, "a")
	if a.Summary != "A3" || len(a.Props) != 2 {
		t.Errorf("a is %+v", a)
	}
	// b is back, with the mark and the edges that the draft had.
	if got := sizes(s); got != [4]uint64{4, 2, 1, 0} || nodeByKey(t, s, "b").Summary != "B2" {
		t.Errorf("sizes %v", got)
	}
	if _, err := r.PendingMerge(t.Context(), ""); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("still pending: %v", err)
	}
	if res, err = r.Merge(t.Context(), "draft", options("")); err != nil || !res.UpToDate {
		t.Errorf("again: %+v, %v", res, err)
	}
}

// TestResolveMovedBranch continues a merge after others committed to the branch.
func TestResolveMovedBranch(t *testing.T) {
	for text, clean := range map[string]bool{
		`{"node":{"key":"d","summary":"D"}}`: true, `{"node":{"key":"a","summary":"A9"}}`: false,
	} {
		r, _, theirs := conflicted(t)
		moved := lines(t, r, text).Commit
		resolve(t, r, "a", repo.Choice{Take: graph.TakeTheirs})
		resolve(t, r, "b", repo.Choice{Take: graph.TakeOurs})
		res, err := r.ContinueMerge(t.Context(), options(""))
		if !clean {
			if !errors.Is(err, repo.ErrConflict) || head(t, r).CID() != moved {
				t.Errorf("%s: %v, want a conflict", text, err)
			}
			continueMoved(t, r, moved, theirs)
			continue
		}
		if err != nil || res.Parents[0] != moved || res.Parents[1] != theirs {
			t.Fatalf("%s: %+v, %v", text, res, err)
		}
		if nodeByKey(t, head(t, r), "a").Summary != "A2" || nodeByKey(t, head(t, r), "d").Summary != "D" {
			t.Error("something of the three is lost")
		}
	}
}

// continueMoved goes on where the branch moved to something else than what was resolved: what was
// resolved is a commit then, which merges.
func continueMoved(t *testing.T, r *repo.Repo, moved, theirs ipld.CID) {
	t.Helper()
	p, err := r.PendingMerge(t.Context(), "")
	if err != nil || p.Ours != moved || p.Open() != 1 || len(p.Conflicts) != 1 ||
		p.Conflicts[0].Label != "a" {
		t.Fatalf("pending %+v, %v", p, err)
	}
	kept, err := r.At(t.Context(), p.Theirs)
	if err != nil || nodeByKey(t, kept, "a").Summary != "A2" || kept.Commit().Parents[1] != theirs {
		t.Fatalf("what was resolved: %+v, %v", kept.Commit(), err)
	}
	checkClean(t, r)
	if _, err := r.ContinueMerge(t.Context(), options("")); !errors.Is(err, repo.ErrConflict) {
		t.Errorf("continued with an open conflict: %v", err)
	}
	resolve(t, r, "a", repo.Choice{Take: graph.TakeTheirs})
	res, err := r.ContinueMerge(t.Context(), options(""))
	if err != nil || res.Parents[0] != moved || res.Parents[1] != p.Theirs {
		t.Fatalf("%+v, %v", res, err)
	}
	s := head(t, r)
	if a := nodeByKey(t, s, "a"); a.Summary != "A2" {
		t.Errorf("a: %+v", a)
	}
	if _, err := s.Name(t.Context(), "b"); err == nil {
		t.Error("the decision about b is lost")
	}
	if _, err := r.PendingMerge(t.Context(), ""); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("still pending: %v", err)
	}
	checkClean(t, r)
}

func TestResolveRefuses(t *testing.T) {
	r, ours, _ := conflicted(t)
	opt := repo.CommitOptions{Stamp: by}
	cases := map[string]struct {
		item   string
		choice repo.Choice
		want   error
	}{
		"nothing": {"a", repo.Choice{}, repo.ErrInvalid},
		"two ways": {"a", repo.Choice{Take: "ours", Changes: changes("").Changes},
			repo.ErrInvalid},
		"an unknown side": {"a", repo.Choice{Take: "mine"}, repo.ErrInvalid},
		"an unknown item": {"d", repo.Choice{Take: "ours"}, store.ErrNotFound},
		"another node":    {"a", changes(`{"node":{"key":"b","type":"T"}}`), repo.ErrInvalid},
		"an embedding": {"a", changes(`{"embedding":{"node":"a","model":"m","vector":[1]}}`),
			repo.ErrInvalid},
		"no line":           {"a", changes("\n"), repo.ErrInvalid},
		"a bad line":        {"a", changes(`{"node":`), graph.ErrInvalid},
		"removing what not": {"b", changes(`{"remove":{"node":"b"}}`), graph.ErrInvalid},
	}
	for name, c := range cases {
		if _, err := r.ResolveConflict(t.Context(), c.item, c.choice, opt); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	var busy *repo.InProgressError
	for name, fn := range map[string]func() error{
		"merge":  func() error { _, err := r.Merge(t.Context(), "draft", options("")); return err },
		"revert": func() error { _, err := r.Revert(t.Context(), "HEAD", options("")); return err },
		"pick":   func() error { _, err := r.CherryPick(t.Context(), "draft", options("")); return err },
	} {
		if err := fn(); !errors.As(err, &busy) || !errors.Is(err, repo.ErrConflict) {
			t.Errorf("%s during a merge: %v", name, err)
		}
	}
	if branch, err := r.AbortMerge(t.Context(), opt); err != nil || branch != "main" {
		t.Errorf("abort: %q, %v", branch, err)
	}
	if head(t, r).CID() != ours {
		t.Error("the branch moved")
	}
	if _, err := r.AbortMerge(t.Context(), opt); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("abort of nothing: %v", err)
	}
	bad := options("")
	bad.Prefer = "mine"
	if _, err := r.Merge(t.Context(), "draft", bad); !errors.Is(err, repo.ErrInvalid) {
		t.Errorf("an unknown side is preferred: %v", err)
	}
}

// TestResolveContradiction takes an edge whose end is resolved as removed.
func TestResolveContradiction(t *testing.T) {
	r := openMem(t)
	base := lines(t, r, `
{"node":{"key":"a","type":"T"}}
{"node":{"key":"b","type":"T"}}
{"node":{"key":"c","type":"T"}}`).Commit
	fork(t, r, "draft", base)
	lines(t, r, `
{"node":{"key":"b","summary":"B"}}
{"edge":{"type":"e","src":"b","dst":"c"}}`)
	on(t, r, "draft", `
{"remove":{"node":"b"}}
{"remove":{"node":"c"}}`)
	res, err := r.Merge(t.Context(), "draft", options(""))
	if len(res.Conflicts) != 2 || !errors.Is(err, repo.ErrConflict) {
		t.Fatalf("%+v, %v", res, err)
	}
	edge := res.Conflicts[0]
	if edge.Kind != graph.EndRemoved || edge.Label != "b -e-> c" {
		t.Errorf("%+v", edge)
	}
	resolve(t, r, "b", repo.Choice{Take: graph.TakeTheirs})
	resolve(t, r, edge.Item.String(), repo.Choice{Take: graph.TakeOurs})
	if _, err := r.ContinueMerge(t.Context(), options("")); !errors.Is(err, repo.ErrInvalid) {
		t.Errorf("%v, want a refusal", err)
	}
	resolve(t, r, "b", repo.Choice{Take: graph.TakeOurs})
	if _, err := r.ContinueMerge(t.Context(), options("")); err != nil {
		t.Error(err)
	}
	if got := sizes(head(t, r)); got != [4]uint64{3, 1, 0, 0} {
		t.Errorf("sizes %v", got)
	}
}

// TestMergeWork bounds what a merge reads and writes by what the sides changed.
func TestMergeWork(t *testing.T) {
	effort.Alone(t)
	const k = 20
	for _, n := range effort.Pick([]int{1_000, 8_000}, []int{2_000, 20_000}, []int{2_000, 20_000}) {
		st := memory(t, n)
		branches(t, st, n, k)
		w := measure(t, st, func(r *repo.Repo) {
			if _, err := r.Merge(t.Context(), "draft", options("")); err != nil {
				t.Fatal(err)
			}
		})
		t.Logf("n = %d, %d changes a side: %v", n, k, w)
		// Two diffs of five trees, each a path for a change on either side, and their records.
		if height := 4; w.facts.BlocksRead > int64(12*2*k*height) {
			t.Errorf("n = %d: %d blocks read", n, w.facts.BlocksRead)
		}
		if w.facts.BlocksWritten > int64(6*k*4) {
			t.Errorf("n = %d: %d blocks written", n, w.facts.BlocksWritten)
		}
	}
}

// branches makes the branch draft, and k changes on it and on main: half of them of properties of
// nodes that the other side changes too, the others new nodes and an edge for each.
func branches(t testing.TB, st store.Store, n, k int) {
	t.Helper()
	r, err := repo.New(t.Context(), st, by, repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fork(t, r, "draft", head(t, r).CID())
	for _, branch := range []string{"main", "draft"} {
		var b strings.Builder
		for i := range k / 2 {
			at := i * (n / k)
			fmt.Fprintf(&b, `{"node":{"key":"n%d","props":{%q:1}}}`+"\n", at, branch)
			if i%2 > 0 {
				continue
			}
			fmt.Fprintf(&b, `{"node":{"key":"%s%d","type":"T"}}`+"\n", branch, i)
			fmt.Fprintf(&b, `{"edge":{"type":"new","src":"%s%d","dst":"n%d"}}`+"\n", branch, i, at+1)
		}
		on(t, r, branch, b.String())
	}
}

// BenchmarkMerge merges two branches of 1,000 changes each over 100,000 nodes and 200,000 edges.
func BenchmarkMerge(b *testing.B) {
	const n, k = 100_000, 1000
	st := memory(b, n)
	branches(b, st, n, k)
	for b.Loop() {
		w := measure(b, st, func(r *repo.Repo) {
			trial, err := r.Trial(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			if _, err := trial.Merge(b.Context(), "draft", options("")); err != nil {
				b.Fatal(err)
			}
		})
		b.ReportMetric(float64(w.facts.BlocksRead), "blocks-read")
	}
}
