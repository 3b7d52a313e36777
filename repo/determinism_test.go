package repo_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store/mem"
)

const (
	demoMemory  = "../testdata/demo/memory.jsonl"
	demoChange  = "../testdata/demo/change.jsonl"
	demoQueries = "../testdata/demo/queries.jsonl"
)

// demoLines returns the lines of the demo memory.
func demoLines(t testing.TB) []string {
	t.Helper()
	data, err := os.ReadFile(demoMemory)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSpace(string(data)), "\n")
	lines[len(lines)-1] += "\n"
	if len(lines) < 450 {
		t.Fatalf("%d lines", len(lines))
	}
	return lines
}

// requests returns 100 requests over the demo memory: each query plainly and without expansion,
// with adjacency and everything shown, and with filters.
func requests(t testing.TB) []retrieve.Request {
	t.Helper()
	data, err := os.ReadFile(demoQueries)
	if err != nil {
		t.Fatal(err)
	}
	status, err := retrieve.ParsePredicate(`status!="superseded"`)
	if err != nil {
		t.Fatal(err)
	}
	var all []retrieve.Request
	for line := range bytes.Lines(data) {
		var q struct{ Text string }
		if err := json.Unmarshal(line, &q); err != nil {
			t.Fatal(err)
		}
		n := len(all)
		all = append(all,
			retrieve.Request{Text: q.Text, Expand: new(1)},
			retrieve.Request{Text: q.Text, Expand: new(0), Limit: new(40), Budget: new(0)},
			retrieve.Request{Text: q.Text, Expand: new(1 + n%4), Adjacency: 5, Budget: new(900),
				Show: []string{retrieve.ShowTimes, retrieve.ShowKey, retrieve.ShowContent}},
			retrieve.Request{Text: q.Text, Where: []retrieve.Predicate{status},
				Types: []string{"Decision", "Document", "Fact"}, Direction: retrieve.In},
		)
	}
	for i := 3; i < len(all); i += 28 { // filters without a text: the newest
		all[i].Text = ""
	}
	if len(all) != 100 {
		t.Fatalf("%d requests", len(all))
	}
	return all
}

// answer is what must be equal wherever the graph is.
func answer(a *retrieve.Answer) (string, error) {
	text, err := json.Marshal(struct {
		Items                    []retrieve.Item
		Dropped                  []retrieve.DroppedItem
		Used, Budget, Candidates int
		Warnings                 []retrieve.Warning
		Engine                   retrieve.Engine
	}{a.Items, a.DroppedItems, a.TokensUsed, a.TokensBudget, a.Candidates, a.Warnings, a.Engine})
	return string(text), err
}

// ask answers all requests, and returns the answers without and the receipts with the commit.
func ask(
	s *repo.Snapshot, reqs []retrieve.Request,
) (answers []string, receipts []ipld.CID, err error) {
	for i, req := range reqs {
		a, err := s.Retrieve(context.Background(), req)
		if err != nil {
			return nil, nil, fmt.Errorf("request %d: %w", i, err)
		}
		text, err := answer(a)
		if err != nil {
			return nil, nil, err
		}
		receipt, _ := a.Receipt()
		answers = append(answers, text)
		receipts = append(receipts, ipld.Sum(ipld.DagCBOR, receipt.Encode()))
	}
	return answers, receipts, nil
}

// answers asks at HEAD.
func answers(t testing.TB, r *repo.Repo, reqs []retrieve.Request) ([]string, []ipld.CID) {
	t.Helper()
	texts, receipts, err := ask(head(t, r), reqs)
	if err != nil {
		t.Fatal(err)
	}
	return texts, receipts
}

// same fails the test at the first answer that differs.
func same[T comparable](t testing.TB, what string, want, got []T) {
	t.Helper()
	if len(want) != len(got) || len(want) == 0 {
		t.Errorf("%s: %d answers, want %d", what, len(got), len(want))
		return
	}
	for i := range want {
		if want[i] != got[i] {
			t.Errorf("%s: answer %d: %s", what, i, cmp.Diff(fmt.Sprint(want[i]), fmt.Sprint(got[i])))
			return
		}
	}
}

// TestAnswersAreReproducible commits the demo memory in many ways: the answers never differ.
func TestAnswersAreReproducible(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	reqs, all := requests(t), demoLines(t)
	r := openMem(t)
	lines(t, r, strings.Join(all, ""))
	want, receipts := answers(t, r, reqs)
	full := 0
	for _, text := range want {
		if strings.Contains(text, "Rendered") {
			full++
		}
	}
	if full < 90 {
		t.Fatalf("%d of %d answers have items", full, len(want))
	}

	again, sameReceipts := answers(t, r, reqs)
	same(t, "asked again", want, again)
	same(t, "asked again", receipts, sameReceipts)

	before := runtime.GOMAXPROCS(0)
	for _, n := range threads {
		runtime.GOMAXPROCS(n)
		got, _ := answers(t, r, reqs)
		same(t, fmt.Sprintf("GOMAXPROCS %d", n), want, got)
	}
	runtime.GOMAXPROCS(before)
	sameAsGolden(t, reqs, want)

	if _, err := r.RebuildIndex(t.Context(), "HEAD"); err != nil {
		t.Fatal(err)
	}
	rebuilt, sameReceipts := answers(t, r, reqs)
	same(t, "index rebuilt", want, rebuilt)
	same(t, "index rebuilt", receipts, sameReceipts)

	twin := openMem(t)
	lines(t, twin, strings.Join(all, ""))
	_, sameReceipts = answers(t, twin, reqs)
	same(t, "another repository", receipts, sameReceipts)
}

// sameAsGolden compares answers with those in testdata: of each the text, the sum, and the items by key.
func sameAsGolden(t *testing.T, reqs []retrieve.Request, answers []string) {
	t.Helper()
	var b strings.Builder
	for i, text := range answers {
		var a struct {
			Items []struct {
				Key   string
				Score int64
			}
		}
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%q %x\n", reqs[i].Text, sha256.Sum256([]byte(text)))
		for _, it := range a.Items {
			fmt.Fprintf(&b, "  %s %d\n", it.Key, it.Score)
		}
	}
	path := filepath.Join(goldens, "demo.txt")
	if os.Getenv("MNEM_REWRITE") != "" {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("answers over the demo memory (-want +got):\n%s", diff)
	}
}

// TestManyCommitsAnswerAsOne commits the lines shuffled, nodes before edges, in small commits, and
// all fully shuffled in one.
func TestManyCommitsAnswerAsOne(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	reqs, all := some(requests(t), 20), demoLines(t)
	r := openMem(t)
	lines(t, r, strings.Join(all, ""))
	want, _ := answers(t, r, reqs)
	for seed := range effort.Pick[uint64](1, 3, 3) {
		rng := rand.New(rand.NewPCG(seed, 5))
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		mixed := openMem(t)
		lines(t, mixed, strings.Join(all, ""))
		got, _ := answers(t, mixed, reqs)
		same(t, fmt.Sprintf("seed %d: one shuffled commit", seed), want, got)

		var ordered []string
		for _, nodes := range []bool{true, false} {
			for _, line := range all {
				if strings.HasPrefix(line, `{"node"`) == nodes {
					ordered = append(ordered, line)
				}
			}
		}
		small := openMem(t)
		for len(ordered) > 0 {
			n := min(1+rng.IntN(30), len(ordered))
			lines(t, small, strings.Join(ordered[:n], ""))
			ordered = ordered[n:]
		}
		if head(t, small).Graph() != head(t, r).Graph() {
			t.Errorf("seed %d: graphs differ", seed)
		}
		got, _ = answers(t, small, reqs)
		same(t, fmt.Sprintf("seed %d: small commits", seed), want, got)
	}
}

// TestDetoursLeaveNoTrace adds, changes and removes other nodes before and between, so that the
// index has segments that kill documents: the answers are those of the demo memory alone.
func TestDetoursLeaveNoTrace(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	reqs, all := requests(t), demoLines(t)
	r := openMem(t)
	lines(t, r, strings.Join(all, ""))
	want, _ := answers(t, r, reqs)

	detour := openMem(t)
	var add, remove strings.Builder
	for i := range 60 {
		fmt.Fprintf(&add,
			`{"node":{"key":"d%d","type":"Decision","summary":"berth decision %d"}}`+"\n", i, i)
		fmt.Fprintf(&remove, `{"remove":{"node":"d%d"}}`+"\n", i)
	}
	lines(t, detour, add.String())
	for i := 0; i < len(all); i += 100 {
		lines(t, detour, strings.Join(all[i:min(i+100, len(all))], "")+
			`{"node":{"key":"team/core","type":"Team"}}`+"\n"+ends(all))
	}
	lines(t, detour, strings.Join(all, "")+remove.String())
	if head(t, detour).Graph() != head(t, r).Graph() {
		t.Error("graphs differ")
	}
	got, _ := answers(t, detour, reqs)
	same(t, "after detours", want, got)
}

// ends returns the lines that make nodes, so that edges in any part of all find their ends.
func ends(all []string) string {
	var b strings.Builder
	for _, line := range all {
		if strings.HasPrefix(line, `{"node"`) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// some returns the first n requests under the race detector, twice as many in a plain run, and all in
// a long one.
func some(reqs []retrieve.Request, n int) []retrieve.Request {
	if effort.Race {
		return reqs[:n]
	}
	return reqs[:effort.Pick(min(len(reqs), 2*n), len(reqs), len(reqs))]
}

// TestAnswersFromDisk opens a repository anew, for writing and for reading, with small caches and
// without its indexes.
func TestAnswersFromDisk(t *testing.T) {
	t.Parallel()
	reqs := some(requests(t), 20)
	dir := initEmpty(t)
	open := func(opt repo.Options) *repo.Repo {
		r, err := repo.Open(dir, opt)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	shut := func(r *repo.Repo) {
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	r := open(repo.Options{})
	file(t, r, demoMemory)
	want, receipts := answers(t, r, reqs)
	shut(r)
	for _, opt := range []repo.Options{
		{}, {ReadOnly: true}, {ReadOnly: true, TreeCache: 1, IndexCache: 1},
	} {
		r := open(opt)
		got, sameReceipts := answers(t, r, reqs)
		same(t, fmt.Sprintf("%+v", opt), want, got)
		same(t, fmt.Sprintf("%+v", opt), receipts, sameReceipts)
		checkClean(t, r)
		shut(r)
	}
	inMemory, err := repo.New(t.Context(), mem.New(), by, repo.Options{TreeCache: 1, IndexCache: 1})
	if err != nil {
		t.Fatal(err)
	}
	file(t, inMemory, demoMemory)
	got, _ := answers(t, inMemory, reqs)
	same(t, "another store", want, got)
	shut(inMemory)
}

// TestConcurrentRetrievals asks from many goroutines while commits go on and other commits are
// asked: every answer is that of its commit.
func TestConcurrentRetrievals(t *testing.T) {
	t.Parallel()
	reqs := some(requests(t)[:40], 10)
	r := openMem(t)
	file(t, r, demoMemory)
	want, receipts := answers(t, r, reqs)
	old := head(t, r)
	file(t, r, demoChange)
	wantNew, _ := answers(t, r, reqs)
	now := head(t, r)

	stop := make(chan struct{})
	writer := make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				writer <- nil
				return
			default:
			}
			_, err := tryLines(r, fmt.Sprintf(`{"node":{"key":"w%d","type":"T","summary":"booking"}}`, i))
			if err != nil {
				writer <- err
				return
			}
		}
	}()
	var readers sync.WaitGroup
	for i := range 6 {
		readers.Go(func() {
			s, want := old, want
			if i%2 == 1 {
				s, want = now, wantNew
			}
			if i > 3 { // a snapshot of its own
				var err error
				if s, err = r.At(context.Background(), s.CID()); err != nil {
					t.Error(err)
					return
				}
			}
			got, sums, err := ask(s, reqs)
			if err != nil {
				t.Error(err)
				return
			}
			same(t, "while others write", want, got)
			if s.CID() == old.CID() {
				same(t, "while others write", receipts, sums)
			}
		})
	}
	readers.Wait()
	close(stop)
	if err := <-writer; err != nil {
		t.Error(err)
	}
}

// TestTimeMovesOnlyTimes commits the same lines at another time: the graph differs, and answers
// differ in the CIDs of nodes that were not given a time at most.
func TestTimeMovesOnlyTimes(t *testing.T) {
	text := `{"node":{"key":"a","type":"T","summary":"zebra"}}` + "\n"
	r, later := openMem(t), openMem(t)
	first := lines(t, r, text)
	stamp := by
	stamp.Time = graph.MaxTime
	second, err := later.Commit(t.Context(), repo.ReadChanges(strings.NewReader(text), ""),
		repo.CommitOptions{Stamp: stamp})
	if err != nil {
		t.Fatal(err)
	}
	if first.Graph == second.Graph {
		t.Error("the graph does not hold the time")
	}
	req := retrieve.Request{Text: "zebra"}
	a, err := head(t, r).Retrieve(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	b, err := head(t, later).Retrieve(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Items) != 1 || len(b.Items) != 1 || a.Items[0].Rendered != b.Items[0].Rendered {
		t.Errorf("%+v, then %+v", a.Items, b.Items)
	}
}
