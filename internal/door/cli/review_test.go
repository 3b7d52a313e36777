package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
)

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
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		w.t.Fatalf("%s: %v", out, err)
	}
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
