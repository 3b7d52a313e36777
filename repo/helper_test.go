package repo_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
)

// by is who and when in tests that do not care.
var by = repo.Stamp{Author: "Tess Tester", Time: 1_700_000_000_000_000, Command: []string{"test"}}

// openMem returns a repository in memory that is checked at the end of the test.
func openMem(t testing.TB) *repo.Repo {
	t.Helper()
	r, err := repo.New(t.Context(), anyStore(t), by, repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		checkClean(t, r)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// checkClean fails the test unless fsck finds nothing wrong.
func checkClean(t testing.TB, r *repo.Repo) {
	t.Helper()
	report, err := r.Fsck(context.Background(), repo.FsckOptions{Full: true})
	if err != nil {
		t.Errorf("fsck: %v", err)
	}
	for _, e := range report.Errors {
		t.Errorf("fsck: %s %s: %s", e.Kind, e.CID, e.Message)
	}
}

// lines commits change lines.
func lines(t testing.TB, r *repo.Repo, text string) *repo.CommitResult {
	t.Helper()
	res, err := tryLines(r, text)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func tryLines(r *repo.Repo, text string) (*repo.CommitResult, error) {
	return r.Commit(context.Background(), repo.ReadChanges(strings.NewReader(text), "test.jsonl"),
		repo.CommitOptions{Stamp: by, Message: "test"})
}

// file commits a file of change lines.
func file(t testing.TB, r *repo.Repo, path string) *repo.CommitResult {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	res, err := r.Commit(t.Context(), repo.ReadChanges(f, path),
		repo.CommitOptions{Stamp: by, Message: path})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func head(t testing.TB, r *repo.Repo) *repo.Snapshot {
	t.Helper()
	s, err := r.Snapshot(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sizes(s *repo.Snapshot) [4]uint64 {
	n, e, m, v := s.Sizes()
	return [4]uint64{n, e, m, v}
}

func nodeByKey(t testing.TB, s *repo.Snapshot, key string) *graph.Node {
	t.Helper()
	n, _, err := s.Node(t.Context(), graph.NodeID(key))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func prop(t testing.TB, n *graph.Node, name string) ipld.Value {
	t.Helper()
	v, ok := ipld.FindEntry(n.Props, name)
	if !ok {
		t.Fatalf("node %s has no property %q", n.Key, name)
	}
	return v
}

// said returns the text of a message.
func said(t testing.TB, r *repo.Repo, m commit.Message) string {
	t.Helper()
	text, err := r.Message(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
