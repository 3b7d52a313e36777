package rank_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// answer returns the parts of an answer that must be equal for every layout of the graph.
func answer(a *retrieve.Answer) (string, error) {
	text, err := inner(struct {
		Items                    []retrieve.Item
		Dropped                  []retrieve.DroppedItem
		Used, Budget, Candidates int
		Warnings                 []retrieve.Warning
		Engine                   retrieve.Engine
	}{a.Items, a.DroppedItems, a.TokensUsed, a.TokensBudget, a.Candidates, a.Warnings, a.Engine})
	return string(text), err
}

// ask answers all requests, and returns the answers without and the receipts with the commit.
func ask(s *core.Snapshot, reqs []retrieve.Request) (answers []string, receipts []ipld.CID, err error) {
	for i, req := range reqs {
		a, err := rank.Retrieve(context.Background(), s, req)
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
func answers(t testing.TB, r *core.Repo, reqs []retrieve.Request) ([]string, []ipld.CID) {
	t.Helper()
	texts, receipts, err := ask(repokit.Head(t, r), reqs)
	must.OK(t, err)
	return texts, receipts
}

// TestAnswersAreReproducible commits the demo memory in many ways: the answers never differ.
func TestAnswersAreReproducible(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	reqs, all := repokit.Requests(t), repokit.DemoLines(t)
	r := repokit.OpenMem(t)
	repokit.Lines(t, r, strings.Join(all, ""))
	want, receipts := answers(t, r, reqs)
	full := 0
	for _, text := range want {
		if strings.Contains(text, "Rendered") {
			full++
		}
	}
	must.Require(t, full >= 90, "%d of %d answers have items", full, len(want))

	again, sameReceipts := answers(t, r, reqs)
	repokit.Same(t, "asked again", want, again)
	repokit.Same(t, "asked again", receipts, sameReceipts)

	before := runtime.GOMAXPROCS(0)
	for _, n := range threads {
		runtime.GOMAXPROCS(n)
		got, _ := answers(t, r, reqs)
		repokit.Same(t, fmt.Sprintf("GOMAXPROCS %d", n), want, got)
	}
	runtime.GOMAXPROCS(before)
	sameAsGolden(t, reqs, want)

	must.Get(r.Indexes().Rebuild(t.Context(), "HEAD"))(t)
	rebuilt, sameReceipts := answers(t, r, reqs)
	repokit.Same(t, "index rebuilt", want, rebuilt)
	repokit.Same(t, "index rebuilt", receipts, sameReceipts)

	twin := repokit.OpenMem(t)
	repokit.Lines(t, twin, strings.Join(all, ""))
	_, sameReceipts = answers(t, twin, reqs)
	repokit.Same(t, "another repository", receipts, sameReceipts)
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
		must.OK(t, json.Unmarshal([]byte(text), &a))
		fmt.Fprintf(&b, "%q %x\n", reqs[i].Text, sha256.Sum256([]byte(text)))
		for _, it := range a.Items {
			fmt.Fprintf(&b, "  %s %d\n", it.Key, it.Score)
		}
	}
	path := filepath.Join(goldens, "demo.txt")
	if os.Getenv("MNEM_REWRITE") != "" {
		must.OK(t, os.WriteFile(path, []byte(b.String()), 0o644))
	}
	want := must.Get(os.ReadFile(path))(t)
	must.Same(t, b.String(), string(want), "answers over the demo memory")
}

// TestDetoursLeaveNoTrace adds, changes and removes other nodes before and between, so that the index has segments that
// kill documents: the answers equal those from the demo memory alone.
func TestDetoursLeaveNoTrace(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	reqs, all := repokit.Requests(t), repokit.DemoLines(t)
	r := repokit.OpenMem(t)
	repokit.Lines(t, r, strings.Join(all, ""))
	want, _ := answers(t, r, reqs)

	detour := repokit.OpenMem(t)
	var add, remove strings.Builder
	for i := range 60 {
		fmt.Fprintf(&add, `{"node":{"key":"d%d","type":"Decision","summary":"berth decision %d"}}`+"\n", i, i)
		fmt.Fprintf(&remove, `{"remove":{"node":"d%d"}}`+"\n", i)
	}
	repokit.Lines(t, detour, add.String())
	for i := 0; i < len(all); i += 100 {
		repokit.Lines(t, detour, strings.Join(all[i:min(i+100, len(all))], "")+
			`{"node":{"key":"team/core","type":"Team"}}`+"\n"+ends(all))
	}
	repokit.Lines(t, detour, strings.Join(all, "")+remove.String())
	must.Equal(t, repokit.Head(t, detour).Graph(), repokit.Head(t, r).Graph(), "graphs differ")
	got, _ := answers(t, detour, reqs)
	repokit.Same(t, "after detours", want, got)
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

// TestConcurrentRetrievals asks from many goroutines while commits go on and other commits are asked: every answer
// depends on its commit alone.
func TestConcurrentRetrievals(t *testing.T) {
	t.Parallel()
	reqs := repokit.Some(repokit.Requests(t)[:40], 10)
	r := repokit.OpenMem(t)
	repokit.File(t, r, repokit.DemoMemory)
	want, receipts := answers(t, r, reqs)
	old := repokit.Head(t, r)
	repokit.File(t, r, repokit.DemoChange)
	wantNew, _ := answers(t, r, reqs)
	now := repokit.Head(t, r)

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
			_, err := repokit.TryLines(r, fmt.Sprintf(`{"node":{"key":"w%d","type":"T","summary":"booking"}}`, i))
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
			if i > 3 { // with a separate snapshot
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
			repokit.Same(t, "while others write", want, got)
			if s.CID() == old.CID() {
				repokit.Same(t, "while others write", receipts, sums)
			}
		})
	}
	readers.Wait()
	close(stop)
	must.OK(t, <-writer)
}
