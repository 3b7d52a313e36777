package repo_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
)

// factsEach is how many facts each writer commits.
func factsEach(normal int) int { return effort.Pick(normal, 2*normal, 250) }

// stale is for how many commits a writer keeps the snapshot that it made them against.
const stale = 5

// factLines are the lines of one fact and its key: a node, an edge to the node of all writers,
// and, where the writer has just looked at it, a property of that.
func factLines(writer string, i int) (key, text string) {
	key = fmt.Sprintf("%s-%d", writer, i)
	text = fmt.Sprintf(`{"node":{"key":%q,"type":"Fact","summary":"fact %d of %s"}}
{"edge":{"type":"of","src":%q,"dst":"hub"}}`, key, i, writer, key)
	if i%stale == 0 {
		text += fmt.Sprintf("\n"+`{"node":{"key":"hub","props":{%q:%d}}}`, writer, i)
	}
	return key, text
}

// writeFacts commits facts one by one against a snapshot taken every few commits, so that most
// were made for an older commit than the newest.
func writeFacts(ctx context.Context, r *repo.Repo, writer string, n int) error {
	var base ipld.CID
	for i := range n {
		if i%stale == 0 {
			_, head, err := r.Branch(ctx)
			if err != nil {
				return err
			}
			base = head
		}
		key, text := factLines(writer, i)
		stamp := by
		stamp.Time += graph.Time(i)
		_, err := r.Commit(ctx, repo.ReadChanges(strings.NewReader(text), key),
			repo.CommitOptions{Stamp: stamp, Base: &base})
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// checkFacts checks that all facts of all writers are in the head, and that history is one line.
func checkFacts(t *testing.T, r *repo.Repo, writers []string, n int) {
	t.Helper()
	s := head(t, r)
	if got, want := sizes(s), uint64(len(writers)*n); got[0] != want+1 || got[1] != want {
		t.Fatalf("sizes %v, want %d facts and their edges", got, want)
	}
	hub := nodeByKey(t, s, "hub")
	for _, w := range writers {
		if got, want := prop(t, hub, w).Int(), int64(n-1)/stale*stale; got != want {
			t.Errorf("the hub has %d of %s, want %d", got, w, want)
		}
		for i := range n {
			nodeByKey(t, s, fmt.Sprintf("%s-%d", w, i))
		}
	}
	commits := 0
	for e, err := range r.Log(t.Context(), "HEAD") {
		if err != nil {
			t.Fatal(err)
		}
		if commits++; len(e.Commit.Parents) > 1 {
			t.Errorf("commit %s has %d parents", e.CID, len(e.Commit.Parents))
		}
	}
	if want := len(writers)*n + 1; commits != want {
		t.Errorf("%d commits, want %d", commits, want)
	}
}

func TestConcurrentGoroutines(t *testing.T) {
	const writers = 8
	n := factsEach(12)
	r := openMem(t)
	lines(t, r, `{"node":{"key":"hub","type":"Hub"}}`)
	var names []string
	errs := make([]error, writers)
	var all sync.WaitGroup
	for w := range writers {
		name := fmt.Sprintf("g%d", w)
		names = append(names, name)
		all.Go(func() { errs[w] = writeFacts(t.Context(), r, name, n) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	checkFacts(t, r, names, n)
}

// The variables that make this test binary a writing process.
const (
	writerVar = "MNEM_TEST_FACTS_WRITER"
	dirVar    = "MNEM_TEST_FACTS_DIR"
	countVar  = "MNEM_TEST_FACTS_COUNT"
)

// TestFactsWriter is the writing process of TestConcurrentProcesses. It opens the repository anew
// for every few facts, as commands do.
func TestFactsWriter(t *testing.T) {
	writer := os.Getenv(writerVar)
	if writer == "" {
		t.Skip("run by TestConcurrentProcesses")
	}
	n, err := strconv.Atoi(os.Getenv(countVar))
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		r, err := repo.Open(os.Getenv(dirVar), repo.Options{Wait: time.Minute, PID: os.Getpid()})
		if err != nil {
			t.Fatal(err)
		}
		key, text := factLines(writer, i)
		lines(t, r, text)
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		fmt.Println("acknowledged", key)
	}
}

func TestConcurrentProcesses(t *testing.T) {
	t.Parallel()
	const writers = 4
	n := factsEach(4)
	dir := t.TempDir()
	r, err := repo.Init(t.Context(), dir, by, repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	lines(t, r, `{"node":{"key":"hub","type":"Hub"}}`)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	var names []string
	outs := make([]string, writers)
	var all sync.WaitGroup
	for w := range writers {
		name := fmt.Sprintf("p%d", w)
		names = append(names, name)
		all.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFactsWriter$")
			cmd.Env = append(os.Environ(), writerVar+"="+name, dirVar+"="+dir,
				countVar+"="+strconv.Itoa(n))
			out, err := cmd.CombinedOutput()
			if outs[w] = string(out); err != nil {
				outs[w] += err.Error()
			}
		})
	}
	all.Wait()
	for _, out := range outs {
		if got := strings.Count(out, "acknowledged"); got != n {
			t.Fatalf("%d of %d facts acknowledged:\n%s", got, n, out)
		}
	}
	again, err := repo.Open(dir, repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkFacts(t, again, names, n)
	checkClean(t, again)
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// TestBase makes changes against commits that are no longer the newest.
func TestBase(t *testing.T) {
	r := openMem(t)
	first := lines(t, r, twoPeople)
	lines(t, r, `{"node":{"key":"alice","props":{"a":1}}}`)
	commit := func(base ipld.CID, text string) (*repo.CommitResult, error) {
		return r.Commit(t.Context(), repo.ReadChanges(strings.NewReader(text), "x"),
			repo.CommitOptions{Stamp: by, Base: &base})
	}
	res, err := commit(first.Commit, `{"node":{"key":"alice","props":{"b":2}}}`)
	if err != nil || !res.Rebased || res.Nodes != (repo.Counts{Changed: 1}) {
		t.Fatalf("%+v, %v", res, err)
	}
	alice := nodeByKey(t, head(t, r), "alice")
	if prop(t, alice, "a").Int() != 1 || prop(t, alice, "b").Int() != 2 {
		t.Errorf("alice has %v", alice.Props)
	}
	if res, err = commit(first.Commit, `{"node":{"key":"alice","props":{"b":2}}}`); err != nil ||
		!res.NoChange {
		t.Errorf("the same again: %+v, %v", res, err)
	}
	before := head(t, r).CID()
	_, err = commit(first.Commit, `{"node":{"key":"alice","props":{"a":3}}}`)
	var kept *repo.MergeError
	if !errors.As(err, &kept) || !errors.Is(err, repo.ErrConflict) {
		t.Fatalf("error %v, want a conflict", err)
	}
	c := kept.Conflicts[0]
	if len(kept.Conflicts) != 1 || c.Label != "alice" || len(c.Fields) != 1 ||
		c.Fields[0].Ours.Int() != 1 || c.Fields[0].Theirs.Int() != 3 || c.Fields[0].Base != nil {
		t.Errorf("conflicts %+v", kept.Conflicts)
	}
	if kept.Base != first.Commit || kept.Head != before || head(t, r).CID() != before {
		t.Errorf("base %s, head %s", kept.Base, kept.Head)
	}
	s, err := r.At(t.Context(), kept.Kept)
	if err != nil || s.Commit().Parents[0] != first.Commit {
		t.Fatalf("what was kept: %+v, %v", s, err)
	}
	if got := prop(t, nodeByKey(t, s, "alice"), "a").Int(); got != 3 {
		t.Errorf("kept %d", got)
	}
	list, err := r.KeptCommits(t.Context())
	if err != nil || len(list) != 1 || list[0].Ref != kept.Ref || list[0].Branch != "main" {
		t.Fatalf("kept %+v, %v", list, err)
	}
	merged, err := r.Merge(t.Context(), string(kept.Ref), repo.MergeOptions{
		CommitOptions: repo.CommitOptions{Stamp: by}, Prefer: graph.TakeTheirs,
	})
	if err != nil || len(merged.Parents) != 2 {
		t.Fatalf("%+v, %v", merged, err)
	}
	if list, err = r.KeptCommits(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("kept %+v, %v", list, err)
	}
	none := ipld.CID{}
	if res, err = r.Commit(t.Context(), repo.ReadChanges(strings.NewReader(
		`{"node":{"key":"zoe","type":"Person"}}`), "x"),
		repo.CommitOptions{Stamp: by, Base: &none}); err != nil || !res.Rebased {
		t.Errorf("against nothing: %+v, %v", res, err)
	}
	if _, err = commit(ipld.Sum(ipld.DagCBOR, []byte("x")), `{"remove":{"node":"zoe"}}`); err == nil {
		t.Error("a base that does not exist was accepted")
	}
}
