package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
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

// remembered makes a host program that remembered and said something.
func remembered(t *testing.T) *hostProgram {
	t.Helper()
	h := newHostProgram(t)
	for i, text := range []string{"Alder needs water in March", "Birch grows beside the harbour", "Cedar keeps moths away"} {
		h.run(0, "remember", text, "--time", fmt.Sprintf("2026-01-0%dT00:00:00Z", i+1))
	}
	h.sayAt(time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), "Dogwood was spoken of.")
	h.hook("stop", "")
	return h
}

// TestReviewDecides lists what came in, and decides of it by flags.
func TestReviewDecides(t *testing.T) {
	h := remembered(t)
	got := h.review()
	wants(t, "listed", got.texts(), "Alder Birch Cedar Dogwood")
	if got.Since != nil || got.Head == nil || got.Left != 4 || got.Commit != nil {
		t.Errorf("%+v", got)
	}
	wants(t, "of few", h.review("-n", "2").texts(), "Alder Birch")
	alder, birch, cedar, dogwood := got.Items[0].ID, got.Items[1].ID, got.Items[2].ID, got.Items[3].ID
	trial := h.review("--drop", alder, "--keep", birch, "--dry-run")
	if len(trial.Dropped) != 1 || trial.Commit != nil || h.review().Left != 4 {
		t.Errorf("a trial: %+v", trial)
	}
	h.run(1, "review", "--drop", alder, "--pin", alder)
	h.run(3, "review", "--drop", alder+",nothing")
	h.run(3, "review", "--keep", "nothing")
	h.run(1, "review", "--set", alder+"= ")
	h.run(1, "review", "--set", alder+"="+strings.Repeat("x", 17<<10))
	for _, args := range [][]string{
		{"--set", "x"}, {"--set", "=x"}, {"-n", "0"}, {"-n", "10001"},
	} {
		h.run(2, append([]string{"review"}, args...)...)
	}
	wants(t, "left of what was refused", h.review().Left, 4)
	before, _ := h.run(0, "log")
	got = h.review("--drop", alder, "--keep", birch, "--set", cedar+"=Cedar keeps most moths away")
	if len(got.Dropped) != 1 || len(got.Kept) != 1 || len(got.Edited) != 1 || got.Left != 1 || got.Commit == nil {
		t.Errorf("decided: %+v", got)
	}
	if after, _ := h.run(0, "log"); strings.Count(after, "author ") != strings.Count(before, "author ")+1 ||
		!strings.Contains(after, "review: forget ") {
		t.Errorf("commits: %s", after)
	}
	if out, _ := h.run(0, "show", cedar); !strings.Contains(out, "most moths") {
		t.Errorf("edited: %s", out)
	}
	h.run(3, "show", alder)
	wants(t, "left", h.review().texts(), "Dogwood")
	h.run(0, "undo")
	h.run(0, "show", alder)
	wants(t, "left after undo", h.review().texts(), "Alder Dogwood")
	h.run(0, "undo", "--redo")
	h.run(0, "remember", "Elm is rare")
	wants(t, "what came after the listing", h.review("--all").Left, 1)
	wants(t, "listed then", h.review().texts(), "Elm")
	got = h.review("--all")
	if got.Left != 0 || got.Commit != nil || h.review().Since == nil {
		t.Errorf("%+v", got)
	}
	if out, _ := h.run(0, "show", dogwood); !strings.Contains(out, "Dogwood") {
		t.Errorf("what is kept: %s", out)
	}
	if out, _ := h.run(0, "review"); out != "nothing to review\n" {
		t.Errorf("said %q", out)
	}
	file := filepath.Join(h.Dir, ".mnem", "review.json")
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs := h.run(1, "review"); !strings.Contains(errs, "remove the file") {
		t.Errorf("of a damaged file: %s", errs)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	h.run(2, "review", "--all")
}

// keys has a terminal type keys, and then nothing more.
func (w *world) keys(typed string) {
	w.OutTTY, w.env["NO_COLOR"] = true, "1"
	rest := []rune(typed)
	w.Key = func() (rune, error) {
		if len(rest) == 0 {
			return 0, io.EOF
		}
		r := rest[0]
		rest = rest[1:]
		return r, nil
	}
}

// TestReviewAsks asks a terminal of each memory, and does what was decided in one commit at the end.
func TestReviewAsks(t *testing.T) {
	h := remembered(t)
	h.run(0, "capture")
	before, _ := h.run(0, "op", "log")
	h.keys("kd\x03")
	h.run(130, "review")
	h.keys("sss")
	h.run(0, "review")
	h.keys("")
	h.run(0, "review")
	if after, _ := h.run(0, "op", "log"); after != before {
		t.Errorf("nothing was decided, and %s", after)
	}
	h.keys("dxukpeq") // alder is dropped and then kept, birch pinned, cedar edited
	h.Stdin = strings.NewReader("Cedar keeps most moths away\n")
	out, _ := h.run(0, "review")
	for _, want := range []string{"1 of 4", "3 of 4", "Alder needs water", "new text", "pinned", "edited", "1 kept", "1 left to review"} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q: %s", want, out)
		}
	}
	h.Stdin = strings.NewReader("")
	h.Key = nil
	got := h.review()
	wants(t, "left", got.texts(), "Dogwood")
	if out, _ := h.run(0, "ls", "--where", "pinned = true"); !strings.Contains(out, "Birch") {
		t.Errorf("pinned: %s", out)
	}
	h.run(0, "undo")
	if out, _ := h.run(0, "ls"); !strings.Contains(out, "keeps moths") || !strings.Contains(out, "Alder") {
		t.Errorf("after undo: %s", out)
	}
	h.keys("d")
	h.run(0, "review")
	if out, _ := h.run(0, "review"); !strings.Contains(out, "nothing to review") {
		t.Errorf("said %s", out)
	}
	if out, _ := h.run(0, "ls", "--type", "Turn"); strings.Contains(out, "Dogwood") {
		t.Errorf("what was dropped is there: %s", out)
	}
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

// TestReviewFromElsewhere lists and decides over HTTP: reading notes nothing, and rest_of keeps
// exactly what its listing had.
func TestReviewFromElsewhere(t *testing.T) {
	h := remembered(t)
	first := h.review()
	h.run(0, "remember", "Elm is rare", "--time", "2026-02-01T00:00:00Z")
	h.env["MNEM_KEYS"] = "keys"
	h.run(0, "serve", "token", "new", "reader", "--scope", "read")
	reader := "Authorization: Bearer " + strings.TrimSpace(h.out.String())
	s := startServing(t, h.world)
	ask := func(body string, want int, headers ...string) (got toReview) {
		t.Helper()
		status, text := s.ask("POST", "/v1/review", body, headers...)
		if status != want {
			t.Fatalf("%s: status %d: %s", body, status, text)
		}
		if want == 200 && json.Unmarshal([]byte(text), &got) != nil {
			t.Fatalf("%s: %s", body, text)
		}
		return got
	}
	file := filepath.Join(h.Dir, ".mnem", "review.json")
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := ask(`{}`, 200, reader)
	wants(t, "listed", got.texts(), "Alder Birch Cedar Elm Dogwood")
	for _, body := range []string{
		`{"keep":["` + got.Items[0].ID + `"]}`, `{"drop":["` + got.Items[0].ID + `"]}`, `{"rest_of":"` + *got.Head + `"}`,
		`{"pin":["` + got.Items[0].ID + `"]}`, `{"set":["` + got.Items[0].ID + `=x"]}`,
	} {
		ask(body, 403, reader)
	}
	if after, err := os.ReadFile(file); err != nil || string(after) != string(before) {
		t.Errorf("a reader noted something: %v\n%s\n%s", err, before, after)
	}
	ask(`{"rest":true}`, 400)
	ask(`{"rest_of":"nothing"}`, 400)
	ask(`{"rest_of":"`+got.Items[0].ID+`"}`, 400)
	got = ask(`{"drop":["`+got.Items[0].ID+`"],"rest_of":"`+*first.Head+`"}`, 200)
	if len(got.Dropped) != 1 || got.Commit == nil || got.Left != 1 {
		t.Errorf("decided: %+v", got)
	}
	wants(t, "left", ask(`{}`, 200).texts(), "Elm")
	trial := ask(`{"keep":["`+ask(`{}`, 200).Items[0].ID+`"],"dry_run":true}`, 200)
	wants(t, "a trial", trial.Left, 0)
	wants(t, "left after a trial", ask(`{}`, 200).texts(), "Elm")
}
