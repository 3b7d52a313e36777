package remember

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
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
		must.True(t, err == nil && len(report.Errors) <= 0, "fsck: %v %+v", err, report)
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

// TestNoneIsRefused has many clients decide at once, some that share a Writer and some with one of their own, as each
// command has. None gave an Expect, so none may be refused, and what each did is there once.
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
			err := do(i)
			must.True(t, err == nil, "%v", err)
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
	must.True(t, len(checks) == 2 && checks[0].Source.Path == "b.txt" && !res.NoChange && asked[""] == 2,
		"%+v, no change %t, asked %v", checks, res.NoChange, asked)
	n, _, err := memkit.Tip(t, m.r).Node(t.Context(), graph.NodeID("a"))
	must.OK(t, err)
	want := []string{checks[0].Now.String(), "manual:Ada"}
	must.True(t, slices.Equal(n.Sources, want) && strings.Contains(want[0], "sha256="),
		"sources %q, want %q", n.Sources, want)
	other := memkit.Opt
	first := memkit.Tip(t, m.r).Commit().Parents[0]
	other.Expect = &first
	var moved *state.ExpectError
	_, _, err = sources.Refresh(t.Context(), m.r, other, "a", files)
	must.True(t, errors.As(err, &moved), "%v, want an *ExpectError", err)
}

// TestLongDecisionsAmongShort: verbs that look at the whole memory are not refused either, while others write.
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
				must.True(t, err == nil, "%v", err)
			}
		})
	}
	expired := 0
	for range 2 {
		res := must.Get(memory.Expire(t.Context(), m.r, memkit.Opt, memory.ExpireRequest{Now: memkit.By.Time}))(t)
		expired += len(res.Marked)
		must.Get(review.Consolidate(t.Context(), m.r, memkit.Opt, review.ConsolidateRequest{}, nil))(t)
	}
	wg.Wait()
	must.Equal(t, expired, 1, "marked times")
}

// The second of two batches of 1,000 texts that resemble each other, and all that was decided about both.
const (
	goldenBatch     = "bafyreiccldur43sfe2zpylxea2n5cqcjqgh2s6lcc3qha5d6elkltjjdqa"
	goldenDecisions = "bdd919c15b6970e6"
)

// topics are the subjects of the texts in batches.
var topics = strings.Fields("billing search login backup gateway cache queue mail report invoice " +
	"cluster deploy metrics storage network audit export import session profile")

// sentence returns the nth text: unique names and numbers among common words.
func sentence(i int) string {
	return fmt.Sprintf("The %s service of tenant t%d moved to host h%d in rack %d because the %s team "+
		"of customer c%d needed %d GB for its %s", topics[i%20], i/7, i*31%9973, i%97, topics[i*7%20],
		i*13%4999, i%512, topics[i*11%20])
}

// sentences returns n requests for the texts of sentence.
func sentences(from, n int) []Request {
	reqs := make([]Request, n)
	for i := range reqs {
		reqs[i].Text = sentence(from + i)
	}
	return reqs
}

// TestBatch pins the decisions and writes of two batches, and bounds the allocations for each memory. In the second
// batch each memory is compared with up to sixteen others.
func TestBatch(t *testing.T) {
	const items = 1000
	r := must.Get(care.Init(t.Context(), t.TempDir(), linkBy, core.Options{}))(t)
	defer func() { must.OK(t, r.Close()) }()
	m, decisions, last := New(r), sha256.New(), ""
	for n, most := range []uint64{850, 1350} { // objects for each memory
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		res, err := m.RememberAll(t.Context(), rememberAt(n), sentences(n*items, items))
		runtime.ReadMemStats(&after)
		must.OK(t, err)
		objects := (after.Mallocs - before.Mallocs) / items
		t.Logf("batch %d: %d objects, %d bytes each", n, objects, (after.TotalAlloc-before.TotalAlloc)/items)
		must.True(t, objects <= most || effort.Race,
			"batch %d: %d objects for each memory, want at most %d", n, objects, most)
		told := must.Get(json.Marshal(res))(t)
		decisions.Write(told)
		last = res.Commit.String()
	}
	must.Equal(t, last, goldenBatch, "commit")
	must.Equal(t, hex.EncodeToString(decisions.Sum(nil)[:8]), goldenDecisions, "commit")
}

// TestBareShapes holds the short ways of a log line and an identifier against their expressions.
func TestBareShapes(t *testing.T) {
	identifier, log := bareIdentifier(), logLine()
	lines := 0
	for _, s := range []string{
		"", "x", "2024-01-02 10:11:12 started", "[2024-01-02T10:11:12Z] up", "INFO: all well", "warn here", "Warned by me",
		"DEBUG]x", "error at line", "errors are many", "fatal\tflaw", "Trace it", "  at main.go(12)", "\tat x(", " at x",
		"the job ended with exit code 12", "the job ended with EXIT STATUS 1", "got HTTP/1.1 back", "exits code 1",
		"a1", "deadbeef", "dead-beef-1234", "no blanks?", "né1", "1 2", strings.Repeat("é", 90) + "exit code 1",
		"The quick brown fox", "In time", "treaty", "desk", "father", "waffle", "\u00a0at x(1",
	} {
		if got, want := isLogLine(s), log.MatchString(s); got != want {
			t.Errorf("%q: log line %t, want %t", s, got, want)
		} else if got {
			lines++
		}
		got, want := isBare(s), identifier.MatchString(s)
		must.True(t, got == want, "%q: identifier %t, want %t", s, got, want)
	}
	must.True(t, lines >= 8, "%d log lines", lines)
}
