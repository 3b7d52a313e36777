package repo_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store/mem"
)

// One fact takes one call.
func ExampleRepo_Put() {
	ctx := context.Background()
	by := repo.Stamp{Author: "Ada", Time: 1_700_000_000_000_000, Command: []string{"example"}}
	r, err := repo.New(ctx, mem.New(), by, repo.Options{Stamp: by})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	res, err := r.Put(ctx, "who leads", repo.Node("alice", "Person", "Alice leads infra"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Nodes.Added, "node on", res.Branch)
	// Output:
	// 1 node on main
}

// TestPut holds what Put takes from the options, and that the same fact again makes no commit.
func TestPut(t *testing.T) {
	ctx := t.Context()
	opt := repo.Options{
		Stamp: repo.Stamp{Author: "ada", Agent: "bot"}, Now: func() graph.Time { return 1_700_000_000_000_007 },
	}
	r, err := repo.New(ctx, mem.New(), by, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { checkClean(t, r) })
	if _, err := r.Put(ctx, "why", repo.Node("alice", "Person", "leads"), repo.Node("bob", "Person", "")); err != nil {
		t.Fatal(err)
	}
	s := head(t, r)
	id, err := s.Name(ctx, "alice")
	if err != nil {
		t.Fatal(err)
	}
	n, _, err := s.Node(ctx, id)
	if c := s.Commit(); err != nil || n.Summary != "leads" || n.Type != "Person" || c.Author != "ada" ||
		c.Agent != "bot" || c.Time != opt.Now() {
		t.Errorf("node %+v, commit %+v, %v", n, c, err)
	}
	if op, err := r.Operation(ctx, "@"); err != nil || op.Operation.Command[0] != "put" || op.Operation.Actor != "ada" {
		t.Errorf("operation %+v, %v", op.Operation, err)
	}
	res, err := r.Put(ctx, "again", repo.Node("alice", "Person", ""))
	if err != nil || !res.NoChange {
		t.Errorf("again: %+v, %v", res, err)
	}
}

// TestPutRefuses gives Put bad input: nothing is written.
func TestPutRefuses(t *testing.T) {
	ctx, fact := t.Context(), repo.Node("alice", "Person", "leads")
	for name, test := range map[string]struct {
		by    repo.Stamp
		facts []graph.Change
		want  error
	}{
		"no fact":      {by, nil, repo.ErrInvalid},
		"no author":    {repo.Stamp{Time: 1}, []graph.Change{fact}, repo.ErrInvalid},
		"no time":      {repo.Stamp{Author: "ada"}, []graph.Change{fact}, repo.ErrInvalid},
		"bad author":   {repo.Stamp{Author: "a\nb", Time: 1}, []graph.Change{fact}, graph.ErrInvalid},
		"no type":      {by, []graph.Change{fact, repo.Node("bob", "", "")}, graph.ErrInvalid},
		"empty change": {by, []graph.Change{{}}, graph.ErrInvalid},
		"credential": {by, []graph.Change{repo.Node("k", "T", "token ghp_a1B2c3D4a1B2c3D4a1B2c3D4a1B2c3D4abcd")},
			repo.ErrSecret},
	} {
		r, err := repo.New(ctx, mem.New(), by, repo.Options{Stamp: test.by})
		if err != nil {
			t.Fatal(err)
		}
		before := viewOf(t, r)
		if _, err := r.Put(ctx, "m", test.facts...); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
		if after := viewOf(t, r); len(before.changed(after)) > 0 {
			t.Errorf("%s: refs moved: %v", name, before.changed(after))
		}
	}
}
