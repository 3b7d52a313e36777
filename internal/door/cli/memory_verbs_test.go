package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// verbLines is a small memory with something for each verb to do, and ties: texts that differ in a
// name alone, in several languages.
func verbLines() string {
	var b strings.Builder
	for i, name := range []string{"alpha", "beta", "gamma", "delta", "数据库", "Größe", "épsilon"} {
		fmt.Fprintf(&b, `{"node":{"key":"srv/%d","type":"Entity","summary":"%s"}}`+"\n", i, name)
		fmt.Fprintf(&b, `{"node":{"type":"fact","summary":"Server %s runs PostgreSQL because Ada asked",`+
			`"created":"2025-01-01","props":{"tags":["db","ops"]}}}`+"\n", name)
		fmt.Fprintf(&b, `{"edge":{"type":"about","src":"srv/%d","dst":"srv/%d"}}`+"\n", i, (i+1)%7)
	}
	for _, line := range []string{
		`{"node":{"key":"due","type":"fact","summary":"The offer holds","props":{"expires":"2026-01-01T00:00:00Z"}}}`,
		`{"node":{"key":"gone","type":"fact","summary":"The gate is red"}}`,
		`{"mark":{"node":"gone","state":"forgotten"}}`,
		`{"node":{"type":"fact","summary":"Visitors are allowed on Friday","props":{"tags":["DB"]}}}`,
		`{"node":{"type":"fact","summary":"Visitors are not allowed on Friday"}}`,
		`{"node":{"type":"fact","summary":"The ledger is kept for two years"}}`,
		`{"node":{"type":"fact","summary":"The ledger is kept for 2 years"}}`,
		`{"node":{"key":"note","type":"fact","summary":"The note says so","sources":["file:note.md"]}}`,
	} {
		b.WriteString(line + "\n")
	}
	return b.String()
}

// TestMemoryVerbsInProcesses asks each verb that reads in processes of their own and on different
// numbers of processors: the answers have the same bytes.
func TestMemoryVerbsInProcesses(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	w := newReader(t)
	w.commit(verbLines())
	ask := func(procs string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
		cmd.Dir = w.dir
		cmd.Env = append(os.Environ(), "TEST_AS_MNEM=1", "GOMAXPROCS="+procs,
			"SOURCE_DATE_EPOCH=1792000000", "MNEM_AUTHOR=Ada")
		out := must.Get(cmd.Output())(t, "mnem ", args)
		return string(out)
	}
	for _, line := range [][]string{
		{"recall", "why does the server run PostgreSQL", "--json"},
		{"recall", "Server runs PostgreSQL"}, {"recall", "visitors on Friday", "--json"},
		{"consolidate", "--json", "--keep", "3"}, {"consolidate"},
		{"explore", "Server", "--json"}, {"explore", "srv/1", "--depth", "3"},
		{"explore", "--tags", "Server epsilon runs PostgreSQL", "--json"}, {"explore", "srv/1", "--json"},
		{"show", "srv/1", "--importance", "--json"}, {"stats", "--json"},
		{"remember", "Server zeta runs PostgreSQL because Ada asked", "--dry-run", "--explain", "--json"},
	} {
		want := ask("1", line...)
		must.True(t, want != "", "mnem %q says nothing", line)
		for _, procs := range []string{"1", "2", "7"} {
			must.Equal(t, ask(procs, line...), want, "mnem ", line, ", GOMAXPROCS ", procs)
		}
	}
}

// toReview is the answer of review.
type toReview struct {
	Items []struct {
		ID, Type, Text string
		Key            *string
		Pinned         bool
	}
	Left                                   int
	Since, Head, Commit                    *string
	Kept, Dropped, Pinned, Edited, Already []string
}

func (w *world) review(args ...string) (got toReview) {
	w.t.Helper()
	out, _ := w.run(0, append([]string{"review", "--json"}, args...)...)
	must.OK(w.t, json.Unmarshal([]byte(out), &got), out)
	return got
}

// texts returns the first words of each memory to review.
func (r toReview) texts() string {
	var words []string
	for _, it := range r.Items {
		word, _, _ := strings.Cut(it.Text, " ")
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// TestReviewsAtOnce has several people decide at once, through the process that has the repository open: what each
// kept is kept.
func TestReviewsAtOnce(t *testing.T) {
	w := newWorld(t)
	w.init()
	const many = 24
	for i := range many {
		w.write(fmt.Sprintf("n%d.jsonl", i), fmt.Sprintf(`{"node":{"key":"n%d","type":"Fact","summary":"Note %d."}}`+"\n", i, i))
	}
	var files []string
	for i := range many {
		files = append(files, fmt.Sprintf("n%d.jsonl", i))
	}
	w.run(0, append([]string{"commit", "-m", "notes"}, files...)...)
	if got := w.review(); got.Left != many {
		t.Fatalf("%d to review, want %d", got.Left, many)
	}
	startServing(t, w)
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			app := *w.App
			app.Stdin, app.Stdout, app.Stderr = strings.NewReader(""), io.Discard, io.Discard
			if code := Run(t.Context(), &app, []string{"review", "--keep", fmt.Sprintf("n%d", i), "--quiet"}); code != 0 {
				t.Errorf("keep n%d: exit code %d", i, code)
			}
		})
	}
	all.Wait()
	if got := w.review(); got.Left != 0 {
		t.Errorf("%d of %d that were kept need a review again: %s", got.Left, many, got.texts())
	}
}
