package memory

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/repo"
)

// openMemory returns a memory on disk, where a commit is begun before it is durable.
func openMemory(t *testing.T) *Memory {
	t.Helper()
	r, err := repo.Init(t.Context(), t.TempDir(), lifeBy, repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		report, err := r.Fsck(context.Background(), repo.FsckOptions{Full: true})
		if err != nil || len(report.Errors) > 0 {
			t.Errorf("fsck: %v %+v", err, report)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return New(r)
}

// each returns a list as a stream.
func each(list []graph.Change) repo.Changes {
	return func(yield func(graph.Change, error) bool) {
		for _, c := range list {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// seeds makes nodes that clients can decide about.
func seeds(t *testing.T, m *Memory, format string, n int) {
	t.Helper()
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprintf(`{"node":{"key":%q,"type":"fact","summary":"The seed %d of %s"}}`,
			fmt.Sprintf(format, i), i, format))
	}
	m.tell(t, lines...)
}

// TestNoneIsRefused has many clients decide at once, some that share a Memory and some with one of
// their own, as each command has. None gave an Expect, so none may be refused, and what each did is
// there once.
func TestNoneIsRefused(t *testing.T) {
	const clients = 64
	m := openMemory(t)
	for _, format := range []string{"forget%d", "stale%d", "old%d", "new%d", "due%d", "this%d", "that%d"} {
		seeds(t, m, format, clients)
	}
	shared := []*Memory{m, New(m.r)}
	do := func(i int) error {
		ctx, m := t.Context(), New(m.r)
		if i%4 == 0 {
			m = shared[i/4%2]
		}
		mark := func(state graph.State, node, by string) error {
			_, err := m.Mark(ctx, lifeOpt, MarkRequest{State: state, Nodes: []string{node}, By: by})
			return err
		}
		name := func(kind string) string { return fmt.Sprint(kind, i) }
		opt := rememberAt(i)
		opt.Stamp.Author = "erin"
		text := fmt.Sprintf("Client %d keeps the %dth lamp in drawer %d", i, i, 1000+i)
		_, err := m.Remember(ctx, opt, RememberRequest{Text: text})
		steps := []func() error{
			func() error { return err },
			func() error { return mark(graph.Forgotten, name("forget"), "") },
			func() error { return mark(graph.Stale, name("stale"), "") },
			func() error { return mark(graph.Superseded, name("old"), name("new")) },
			func() error { return mark(graph.Retired, name("due"), "") },
			func() error { return mark(graph.Contradicted, name("this"), name("that")) },
			func() error {
				_, err := m.Unmark(ctx, lifeOpt, UnmarkRequest{Nodes: []string{name("due")}})
				return err
			},
		}
		for n, step := range steps {
			if err := step(); err != nil {
				return fmt.Errorf("client %d, step %d: %w", i, n, err)
			}
		}
		return nil
	}
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range clients {
		wg.Go(func() {
			<-start
			if err := do(i); err != nil {
				t.Error(err)
			}
		})
	}
	close(start)
	wg.Wait()
	s := lifeTip(t, m)
	for i := range clients {
		want := map[string]graph.State{
			"forget": graph.Forgotten, "stale": graph.Stale, "old": graph.Superseded, "new": "", "due": "",
			"this": graph.Contradicted, "that": graph.Contradicted,
		}
		for kind, state := range want {
			mark, err := s.Mark(t.Context(), graph.OnNode, graph.NodeID(fmt.Sprint(kind, i)))
			if err != nil {
				t.Fatal(err)
			}
			if have := stateOf(mark); have != state {
				t.Errorf("%s%d is %q, want %q", kind, i, have, state)
			}
		}
	}
	var texts []string
	for e, err := range s.Nodes(t.Context(), graph.ID{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Node.Key == "" && e.Node.Type == Fact {
			texts = append(texts, e.Node.Summary)
		}
	}
	slices.Sort(texts)
	if n := len(texts); n != clients || len(slices.Compact(texts)) != clients {
		t.Errorf("%d memories, %d different ones, want %d", n, len(slices.Compact(texts)), clients)
	}
}

func stateOf(m *graph.Mark) graph.State {
	if m == nil {
		return ""
	}
	return m.State
}
