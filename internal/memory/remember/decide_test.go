package remember

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/memory/review"
	"github.com/mnem-project/mnem/internal/memory/sources"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/memkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// openMemory returns a memory on disk, if a commit is begun before it is durable.
func openMemory(t *testing.T) *Writer {
	t.Helper()
	r := must.Get(care.Init(t.Context(), t.TempDir(), memkit.By, core.Options{}))(t)
	t.Cleanup(func() {
		report, err := care.Fsck(context.Background(), r, care.FsckOptions{})
		must.Check(t, err == nil && len(report.Errors) <= 0, "fsck: %v %+v", err, report)
		must.OK(t, r.Close())
	})
	return New(r)
}

// seeds makes nodes that clients can decide about.
func seeds(t *testing.T, m *Writer, format string, n int) {
	t.Helper()
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprintf(`{"node":{"key":%q,"type":"fact","summary":"The seed %d of %s"}}`,
			fmt.Sprintf(format, i), i, format))
	}
	memkit.Tell(t, m.r, lines...)
}

// TestNoneIsRefused has many clients decide at once, some that share a Writer and some with one of
// their own, as each command has. None gave an Expect, so none may be refused, and what each did is
// there once.
func TestNoneIsRefused(t *testing.T) {
	effort.Alone(t)
	const clients = 64
	m := openMemory(t)
	for _, format := range []string{"forget%d", "stale%d", "old%d", "new%d", "due%d", "this%d", "that%d"} {
		seeds(t, m, format, clients)
	}
	shared := []*Writer{m, New(m.r)}
	do := func(i int) error {
		ctx, m := t.Context(), New(m.r)
		if i%4 == 0 {
			m = shared[i/4%2]
		}
		mark := func(state graph.State, node, by string) error {
			_, err := memory.Mark(ctx, m.r, memkit.Opt, memory.MarkRequest{State: state, Nodes: []string{node}, By: by})
			return err
		}
		name := func(kind string) string { return fmt.Sprint(kind, i) }
		opt := rememberAt(i)
		opt.Stamp.Author = "erin"
		text := fmt.Sprintf("Client %d keeps the %dth lamp in drawer %d", i, i, 1000+i)
		_, err := m.Remember(ctx, opt, Request{Text: text})
		steps := []func() error{
			func() error { return err },
			func() error { return mark(graph.Forgotten, name("forget"), "") },
			func() error { return mark(graph.Stale, name("stale"), "") },
			func() error { return mark(graph.Superseded, name("old"), name("new")) },
			func() error { return mark(graph.Retired, name("due"), "") },
			func() error { return mark(graph.Contradicted, name("this"), name("that")) },
			func() error {
				_, err := memory.Unmark(ctx, m.r, memkit.Opt, memory.UnmarkRequest{Nodes: []string{name("due")}})
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
	s := memkit.Tip(t, m.r)
	for i := range clients {
		want := map[string]graph.State{
			"forget": graph.Forgotten, "stale": graph.Stale, "old": graph.Superseded, "new": "", "due": "",
			"this": graph.Contradicted, "that": graph.Contradicted,
		}
		for kind, state := range want {
			mark := must.Get(s.Mark(t.Context(), graph.OnNode, graph.NodeID(fmt.Sprint(kind, i))))(t)
			must.Equal(t, stateOf(mark), state, kind, i)
		}
	}
	var texts []string
	for e, err := range s.Nodes(t.Context(), graph.ID{}) {
		must.OK(t, err)
		if e.Node.Key == "" && e.Node.Type == memory.Fact {
			texts = append(texts, e.Node.Summary)
		}
	}
	slices.Sort(texts)
	must.Equal(t, len(texts), clients, "memories")
	must.Equal(t, len(slices.Compact(texts)), clients, "memories")
}

func stateOf(m *graph.Mark) graph.State {
	if m == nil {
		return ""
	}
	return m.State
}

// TestRefreshReadsOutsideTheTurn: files are read while others may write, and again where the sources
// of the node are others by then.
func TestRefreshReadsOutsideTheTurn(t *testing.T) {
	m := openMemory(t)
	memkit.Tell(t, m.r, `{"node":{"key":"a","type":"fact","summary":"x","sources":["file:a.txt"]}}`)
	wrote := false
	asked := map[string]int{}
	files := &sources.Checker{Root: func(project string) fs.FS {
		if !wrote { // within the turn this would wait for ever
			wrote = true
			memkit.Tell(t, m.r, `{"node":{"key":"a","type":"fact","summary":"x","sources":["file:b.txt","manual:Ada"]}}`)
		}
		asked[project]++
		return fstest.MapFS{"a.txt": {Data: []byte("one")}, "b.txt": {Data: []byte("two")}}
	}}
	checks, res, err := sources.Refresh(t.Context(), m.r, memkit.Opt, "a", files)
	must.OK(t, err)
	must.Check(t, len(checks) == 2 && checks[0].Source.Path == "b.txt" && !res.NoChange && asked[""] == 2,
		"%+v, no change %t, asked %v", checks, res.NoChange, asked)
	n, _, err := memkit.Tip(t, m.r).Node(t.Context(), graph.NodeID("a"))
	must.OK(t, err)
	want := []string{checks[0].Now.String(), "manual:Ada"}
	must.Check(t, slices.Equal(n.Sources, want) && strings.Contains(want[0], "sha256="),
		"sources %q, want %q", n.Sources, want)
	other := memkit.Opt
	first := memkit.Tip(t, m.r).Commit().Parents[0]
	other.Expect = &first
	var moved *state.ExpectError
	if _, _, err := sources.Refresh(t.Context(), m.r, other, "a", files); !errors.As(err, &moved) {
		t.Errorf("%v, want an *ExpectError", err)
	}
}

// TestLongDecisionsAmongShort: verbs that look at the whole memory are not refused either, while
// others write.
func TestLongDecisionsAmongShort(t *testing.T) {
	m := openMemory(t)
	seeds(t, m, "old%d", 4)
	memkit.Tell(t, m.r, `{"node":{"key":"due","type":"fact","summary":"It is due","validTo":"2020-01-01T00:00:00Z"}}`)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := range 8 {
				_, err := New(m.r).Remember(t.Context(), rememberAt(n), Request{
					Text: fmt.Sprintf("Writer %d put the %dth key on hook %d", i, n, 100*i+n)})
				must.Check(t, err == nil, "%v", err)
			}
		})
	}
	expired := 0
	for range 2 {
		res, err := memory.Expire(t.Context(), m.r, memkit.Opt, memory.ExpireRequest{Now: memkit.By.Time})
		must.OK(t, err)
		expired += len(res.Marked)
		must.Get(review.Consolidate(t.Context(), m.r, memkit.Opt, review.ConsolidateRequest{}, nil))(t)
	}
	wg.Wait()
	must.Equal(t, expired, 1, "marked times")
}
