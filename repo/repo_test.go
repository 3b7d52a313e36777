package repo_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
)

func TestSmoke(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	by := repo.Stamp{Author: "a", Time: 1000, Command: []string{"init"}}
	r, err := repo.Init(ctx, dir, by, repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := os.Open("../testdata/demo/memory.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	res, err := r.Commit(ctx, repo.ReadChanges(f, "memory.jsonl"), repo.CommitOptions{Stamp: by, Message: "m"})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", res)
	s, err := r.Snapshot(ctx, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Retrieve(ctx, retrieve.Request{Text: "who owns billing?", Adjacency: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range a.Items {
		t.Log(it.Score, it.Key, "\n"+strings.TrimSpace(it.Rendered))
	}
	t.Log(a.Candidates, a.Dropped, a.TokensUsed, a.Warnings)
}
