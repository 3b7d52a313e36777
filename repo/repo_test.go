package repo_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
)

func clock() graph.Time { return 1_700_000_000_000_007 }

var ada = repo.Options{By: repo.Author{Name: "ada", Agent: "bot"}, Now: clock}

// open makes an empty repository in memory, which is checked from end to end when the test ends.
func open(t *testing.T, opt repo.Options) *repo.Repo {
	t.Helper()
	r, err := repo.New(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		faults, err := r.Fsck(context.Background(), true)
		if err != nil || len(faults) > 0 {
			t.Errorf("fsck: %v, %v", faults, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// One fact takes one call.
func ExampleRepo_Put() {
	ctx := context.Background()
	r, err := repo.New(ctx, ada)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	res, err := r.Put(ctx, "who leads", repo.Node{Key: "alice", Type: "Person", Summary: "Alice leads infra"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Nodes.Added, "node on", res.Branch)
	// Output:
	// 1 node on main
}

// TestPut holds that Put writes as the author of the options, that the same fact again makes no commit, and that a
// removal takes the edges along.
func TestPut(t *testing.T) {
	ctx, r := t.Context(), open(t, ada)
	facts := []repo.Fact{
		repo.Node{Key: "alice", Type: "Person", Summary: "leads", Props: map[string]any{"since": 2024}},
		repo.Node{Key: "bob", Type: "Person"}, repo.Edge{Type: "knows", Src: "alice", Dst: "bob"},
	}
	if _, err := r.Put(ctx, "why", facts...); err != nil {
		t.Fatal(err)
	}
	s, err := r.Snapshot(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	id, err := s.Find(ctx, "alice")
	if err != nil {
		t.Fatal(err)
	}
	n, err := s.Node(ctx, id)
	if err != nil || n.Summary != "leads" || n.Type != "Person" || n.Created != clock() {
		t.Errorf("node %+v, %v", n, err)
	}
	for e, err := range r.Log(ctx, "") {
		if err != nil || e.Commit.Author != "ada" || e.Commit.Agent != "bot" || e.Message != "why" || e.Nodes.Added != 2 {
			t.Errorf("log %+v, %v", e, err)
		}
	}
	res, err := r.Put(ctx, "again", facts...)
	if err != nil || !res.NoChange {
		t.Errorf("again: %+v, %v", res, err)
	}
	res, err = r.Put(ctx, "gone", repo.Removal("bob"))
	if err != nil || res.Nodes.Removed != 1 || res.Edges.Removed != 1 {
		t.Errorf("removal: %+v, %v", res, err)
	}
}

// TestPutRefuses gives Put bad input: nothing is written.
func TestPutRefuses(t *testing.T) {
	fact := repo.Node{Key: "alice", Type: "Person", Summary: "leads"}
	by := repo.Author{Name: "ada", Time: clock}
	loop := map[string]any{}
	loop["self"] = loop
	for name, test := range map[string]struct {
		by    repo.Author
		facts []repo.Fact
		want  error
	}{
		"no fact":    {by, nil, repo.ErrInvalid},
		"nil fact":   {by, []repo.Fact{fact, nil}, repo.ErrInvalid},
		"no author":  {repo.Author{Time: clock}, []repo.Fact{fact}, repo.ErrInvalid},
		"no time":    {repo.Author{Name: "ada"}, []repo.Fact{fact}, repo.ErrInvalid},
		"bad author": {repo.Author{Name: "a\nb", Time: clock}, []repo.Fact{fact}, graph.ErrInvalid},
		"no type":    {by, []repo.Fact{fact, repo.Node{Key: "bob"}}, graph.ErrInvalid},
		"no JSON":    {by, []repo.Fact{repo.Node{Key: "k", Type: "T", Props: loop}}, repo.ErrInvalid},
		"function":   {by, []repo.Fact{repo.Node{Key: "k", Type: "T", Props: map[string]any{"f": clock}}}, repo.ErrInvalid},
		"dangling":   {by, []repo.Fact{repo.Edge{Type: "knows", Src: "a", Dst: "b"}}, graph.ErrInvalid},
		"credential": {by, []repo.Fact{repo.Node{Key: "k", Type: "T",
			Summary: "token ghp_a1B2c3D4a1B2c3D4a1B2c3D4a1B2c3D4abcd"}}, repo.ErrSecret},
	} {
		r, err := repo.New(t.Context(), repo.Options{By: repo.Author{Name: "ada", Time: clock}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.As(test.by).Put(t.Context(), "m", test.facts...); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
		if s, err := r.Snapshot(t.Context(), ""); err == nil && s.CID().Defined() {
			t.Errorf("%s: a commit was made", name)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestGuard holds that a guard sees each thing by kind and type, and that its refusal leaves nothing behind.
func TestGuard(t *testing.T) {
	ctx, r := t.Context(), open(t, ada)
	refused := errors.New("no secrets here")
	var seen []string
	bot := repo.Author{Name: "eve", Time: clock, Guard: func(x repo.Touch) error {
		seen = append(seen, x.Kind+" "+x.Type)
		if x.Type == "Secret" {
			return refused
		}
		return nil
	}}
	_, err := r.As(bot).Put(ctx, "m", repo.Node{Key: "k", Type: "Secret", Summary: "s"})
	if !errors.Is(err, refused) || len(seen) != 1 || seen[0] != "node Secret" {
		t.Errorf("%v, seen %q", err, seen)
	}
	if s, err := r.Snapshot(ctx, ""); err == nil && s.CID().Defined() {
		t.Error("a commit was made")
	}
}

// TestMergeConflict goes from two sides that differ to a merge that one resolution finishes.
func TestMergeConflict(t *testing.T) {
	ctx, r := t.Context(), open(t, ada)
	put := func(text string) {
		t.Helper()
		if _, err := r.Put(ctx, text, repo.Node{Key: "k", Type: "T", Summary: text}); err != nil {
			t.Fatal(err)
		}
	}
	put("base")
	if _, err := r.CreateBranch(ctx, "side", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := r.CreateBranch(ctx, "side", ""); !errors.Is(err, fs.ErrExist) {
		t.Errorf("twice: %v", err)
	}
	put("ours")
	if err := r.Switch(ctx, "side"); err != nil {
		t.Fatal(err)
	}
	put("theirs")
	if err := r.Switch(ctx, "main"); err != nil {
		t.Fatal(err)
	}
	res, err := r.Merge(ctx, "side", "")
	var conflict *repo.ConflictError
	if !errors.As(err, &conflict) || !errors.Is(err, repo.ErrConflict) || conflict.Branch != "main" ||
		len(conflict.Conflicts) != 1 || len(res.Conflicts) != 1 || res.Conflicts[0].Label != "k" {
		t.Fatalf("merge: %+v, %v", res, err)
	}
	if err := r.Resolve(ctx, res.Conflicts[0].Item.String(), graph.TakeTheirs); err != nil {
		t.Fatal(err)
	}
	if _, err := r.ContinueMerge(ctx); err != nil {
		t.Fatal(err)
	}
	s, err := r.Snapshot(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	id, err := s.Find(ctx, "k")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := s.Node(ctx, id); err != nil || n.Summary != "theirs" {
		t.Errorf("%+v, %v", n, err)
	}
}

// TestRemember keeps memories and recalls them: what says the same is one memory, what is superseded is marked.
func TestRemember(t *testing.T) {
	ctx, r := t.Context(), open(t, ada)
	first, err := r.Remember(ctx, repo.Memory{Text: "The staging database is called juniper", Type: "fact"})
	if err != nil || len(first) != 1 {
		t.Fatal(first, err)
	}
	again, err := r.Remember(ctx, repo.Memory{Text: "The staging database is called juniper"})
	if err != nil || again[0].ID != first[0].ID {
		t.Errorf("%+v, %v", again, err)
	}
	next, err := r.Remember(ctx, repo.Memory{
		Text: "The staging database is called cedar", Supersedes: []string{first[0].ID.String()},
	})
	if err != nil || len(next[0].Superseded) != 1 || next[0].Superseded[0] != first[0].ID {
		t.Errorf("%+v, %v", next, err)
	}
	s, err := r.Snapshot(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Recall(ctx, retrieve.Request{Text: "what is the staging database called?"})
	if err != nil || len(a.Items) == 0 || a.Items[0].ID != next[0].ID {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := r.Remember(ctx, repo.Memory{Text: ""}); err == nil {
		t.Error("an empty text was remembered")
	}
	if _, err := r.As(repo.Author{}).Remember(ctx, repo.Memory{Text: "x"}); !errors.Is(err, repo.ErrInvalid) {
		t.Errorf("%v", err)
	}
}

// TestAnswer answers other processes for a repository on disk until it is stopped.
func TestAnswer(t *testing.T) {
	dir := t.TempDir()
	r, err := repo.Init(t.Context(), dir, ada)
	if err != nil {
		t.Fatal(err)
	}
	stop, err := r.Answer(dir, repo.Process{Build: "test 1", PID: os.Getpid(), Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, ".mnem", "owner")); err != nil || !bytes.Contains(b, []byte("socket")) {
		t.Errorf("owner file %q, %v", b, err)
	}
	if err := stop(0); err != nil {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := repo.Open(t.TempDir(), ada); !errors.Is(err, repo.ErrNotFound) {
		t.Errorf("%v", err)
	}
}

// TestUndoRedo takes a change back and forth.
func TestUndoRedo(t *testing.T) {
	ctx, r := t.Context(), open(t, ada)
	first, err := r.Commit(ctx, strings.NewReader(`{"node":{"key":"k","type":"T"}}`), "a.jsonl", repo.CommitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Put(ctx, "more", repo.Node{Key: "l", Type: "T"}); err != nil {
		t.Fatal(err)
	}
	if err := r.Undo(ctx); err != nil {
		t.Fatal(err)
	}
	if s, err := r.Snapshot(ctx, ""); err != nil || s.CID() != first.Commit {
		t.Errorf("after undo: %v, %v", s, err)
	}
	if err := r.Redo(ctx); err != nil {
		t.Fatal(err)
	}
	if s, err := r.Snapshot(ctx, ""); err != nil || s.CID() == first.Commit {
		t.Errorf("after redo: %v, %v", s, err)
	}
}

// TestBadLine names file and line.
func TestBadLine(t *testing.T) {
	r := open(t, ada)
	_, err := r.Commit(t.Context(), strings.NewReader("{\"node\":{\"key\":\"k\",\"type\":\"T\"}}\n{\"nod\":1}\n"), "a.jsonl",
		repo.CommitOptions{})
	var line *graph.LineError
	if !errors.As(err, &line) || line.Line != 2 || line.File != "a.jsonl" {
		t.Errorf("%v", err)
	}
}

// TestExchange takes a file from one repository to another, whose graph is then the same; purged bytes are gone.
func TestExchange(t *testing.T) {
	ctx, a := t.Context(), open(t, ada)
	if _, err := a.Put(ctx, "m", repo.Node{Key: "k", Type: "T", Summary: "a summary to erase"}); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if n, err := a.Export(ctx, &file, ""); err != nil || n == 0 {
		t.Fatal(n, err)
	}
	b := open(t, ada)
	if n, err := b.Import(ctx, bytes.NewReader(file.Bytes()), int64(file.Len()), "other"); err != nil || n == 0 {
		t.Fatal(n, err)
	}
	x, err := a.Snapshot(ctx, "main")
	if err != nil {
		t.Fatal(err)
	}
	if y, err := b.Snapshot(ctx, "main"); err != nil || x.Graph() != y.Graph() {
		t.Errorf("%v, %v", y, err)
	}
	if _, err := b.Import(ctx, bytes.NewReader(file.Bytes()[:file.Len()-3]), int64(file.Len()-3), "cut"); err == nil {
		t.Error("a file that was cut off was taken in")
	}
	if n, err := b.Purge(ctx, "k", "asked to"); err != nil || n == 0 {
		t.Errorf("purge: %d, %v", n, err)
	}
}

// TestSession records answers of a pinned commit, replays them, and refuses what is unknown.
func TestSession(t *testing.T) {
	ctx, r := t.Context(), open(t, ada)
	if _, err := r.Session(ctx, "none"); !errors.Is(err, repo.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if _, err := r.Put(ctx, "m", repo.Node{Key: "k", Type: "T", Summary: "Alice leads infra"}); err != nil {
		t.Fatal(err)
	}
	s, err := r.StartSession(ctx, "monday", "", false)
	if err != nil {
		t.Fatal(err)
	}
	if _, c, err := s.Retrieve(ctx, retrieve.Request{Text: "who leads infra"}); err != nil || !c.Defined() {
		t.Fatal(c, err)
	}
	if _, err := r.Put(ctx, "n", repo.Node{Key: "k", Summary: "Alice left"}); err != nil {
		t.Fatal(err)
	}
	if res, err := s.Replay(ctx); err != nil || res.Receipts != 1 || !res.Identical {
		t.Errorf("%+v, %v", res, err)
	}
	if err := s.Advance(ctx, ""); err != nil {
		t.Fatal(err)
	}
	if err := s.End(ctx); err != nil {
		t.Fatal(err)
	}
	if names, err := r.Sessions(ctx); err != nil || len(names) != 1 || names[0] != "monday" {
		t.Errorf("%q, %v", names, err)
	}
}
