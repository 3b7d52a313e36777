package cli

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

func TestDemo(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	const golden = "testdata/demo.golden"
	w := newWorld(t)
	got, _ := w.run(0, "demo")
	if os.Getenv("MNEM_REWRITE") != "" {
		must.OK(t, os.WriteFile(golden, []byte(got), 0o666))
	}
	want := must.Get(os.ReadFile(golden))(t)
	must.Same(t, got, string(want), "the demo changed; see it with MNEM_REWRITE=1")
	steps, _ := w.run(0, "demo", "--json")
	must.Equal(t, strings.Count(steps, "\n"), len(demoSteps()), "steps as JSON")
}

// TestListPagesFitTogether reads lists page by page and compares them with the whole list, in which whatever must come
// first comes first.
func TestListPagesFitTogether(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	w := demoWorld(t)
	read := func(args []string) (ids []string, next *string) {
		var page struct {
			Nodes, Edges []struct{ ID string }
			Next         *string
		}
		out, _ := w.run(0, append(args, "--json")...)
		must.OK(t, json.Unmarshal([]byte(out), &page))
		for _, row := range append(page.Nodes, page.Edges...) {
			ids = append(ids, row.ID)
		}
		return ids, page.Next
	}
	for _, list := range []string{
		"ls", "ls --sort -id", "ls --sort key", "ls --sort -key", "ls --sort created", "ls --sort -updated", "ls --sort props.status",
		"ls --sort -props.minutes --type Meeting --type Incident", "ls --edges", "ls --edges --sort -created --type owns",
		"ls --edges --sort props.role",
	} {
		args := strings.Fields(list)
		want, next := read(append(slices.Clone(args), "--limit", "0"))
		must.True(t, next == nil && len(want) >= 5, "%s: %d rows, cursor %v", list, len(want), next)
		got, next := read(append(slices.Clone(args), "--limit", "37"))
		for next != nil {
			var more []string
			more, next = read(append(slices.Clone(args), "--limit", "37", "--after", *next))
			got = append(got, more...)
		}
		must.Same(t, got, want, list, " in pages")
	}
}
