package repo_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/tokens"
)

// frozenSessions are the sessions of testdata/repos/receipts and how many receipts each recorded.
var frozenSessions = map[string]int{
	"almanac": 34, "vectors": 25, "chat": 54, "memories": 20, "_default": 73,
}

// TestFrozenReceipts replays what an earlier program answered, bit for bit, and reads its history.
func TestFrozenReceipts(t *testing.T) {
	effort.Alone(t)
	dir := filepath.Join(frozen, "receipts")
	work := t.TempDir()
	copyTree(t, filepath.Join(dir, "store"), filepath.Join(work, repo.DirName))
	counters := retrieve.Counters{}
	for name, count := range tokens.Counters() {
		counters[name] = count
	}
	r, err := repo.Open(work, repo.Options{Counters: counters})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}()
	total := 0
	for name, want := range frozenSessions {
		res, err := r.Replay(t.Context(), name)
		if err != nil {
			t.Fatalf("replay %s: %v", name, err)
		}
		if !res.Identical || res.Receipts != want {
			t.Errorf("replay %s: %+v; want %d identical receipts", name, res, want)
		}
		total += res.Receipts
	}
	if total < 200 {
		t.Errorf("%d receipts, want at least 200", total)
	}
	want, err := os.ReadFile(filepath.Join(dir, "expect.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), frozenLog(t, r)); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	checkClean(t, r)
}

func frozenLog(t *testing.T, r *repo.Repo) string {
	t.Helper()
	var b strings.Builder
	for e, err := range r.Log(t.Context(), "HEAD") {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "commit %s %s %q\n", e.CID, e.Commit.Time, e.Message)
	}
	return b.String()
}
