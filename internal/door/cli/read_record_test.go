package cli

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

// TestReplayTellsDifferences records answers that no retrieval gave.
func TestReplayTellsDifferences(t *testing.T) {
	w := withDemo(t)
	ctx := context.Background()
	r := must.Get(care.Open(w.dir, core.Options{}))(t)
	by := state.Stamp{Author: "Ada", Time: 1, Command: []string{"test"}}
	record := func(name string, change func(*retrieve.Answer)) {
		t.Helper()
		s := must.Get(r.Snapshot(ctx, "HEAD"))(t)
		answer := must.Get(rank.Retrieve(ctx, s, retrieve.Request{Text: "webhooks"}))(t)
		change(answer)
		must.OK(t, must.Err(session.StartSession(ctx, r, name, session.SessionOptions{Stamp: by})))
		must.OK(t, must.Err(session.Record(ctx, r, name, answer, by)))
	}
	record("same", func(*retrieve.Answer) {})
	record("score", func(a *retrieve.Answer) { a.Items[1].Score++ })
	record("total", func(a *retrieve.Answer) { a.Candidates++ })
	record("engine", func(a *retrieve.Answer) { a.Engine.Ranking = 99 })
	must.OK(t, r.Close())
	for _, tt := range []struct {
		name, says string
		exit       int
	}{
		{"same", "identical: 1 receipt", 0},
		{"score", "item 2, score", 4},
		{"total", "candidates", 4},
		{"engine", "ranking version", 4},
	} {
		code, out, side := w.run("session", "replay", tt.name)
		if code != tt.exit || !strings.Contains(out+side, tt.says) {
			t.Errorf("replay %s: exit code %d, want %d: %q", tt.name, code, tt.exit, out+side)
		}
	}
	code, out, _ := w.run("session", "replay", "score", "--json")
	if code != 4 || !strings.Contains(out, `"identical":false,"first_difference":{"number":0,`) ||
		!strings.Contains(out, `"item":1,"field":"score"`) {
		t.Errorf("exit code %d: %s", code, out)
	}
	if code, _, side := w.run("session", "replay", "engine", "--json"); code != 4 ||
		!strings.Contains(side, `"code":"ranking_version"`) {
		t.Errorf("exit code %d: %s", code, side)
	}
}

func TestBatchRefusesBadLines(t *testing.T) {
	w := withDemo(t)
	for _, tt := range []struct{ line, says string }{
		{`{"text":"x","colour":1}`, "colour: unknown member"},
		{`{"text":1}`, "text: int"},
		{`{"text":"x","limit":2000}`, "limit"},
		{`{"text":"x","adjacency":"many"}`, "adjacency"},
		{`{"text":"x","where":"due <"}`, "where"},
		{`{"text":"x","at":"HEAD"}`, "at: unknown member"},
		{`{"text":"x"`, "JSON"},
		{`["x"]`, "want an object"},
		{`{"text":"x","text":"y"}`, "duplicate"},
		{"{\"text\":\"\xff\"}", "UTF-8"},
		{`{"text":"` + strings.Repeat("x", retrieve.MaxText+1) + `"}`, "text"},
		{strings.Repeat(" ", graph.MaxLine+1) + "x", "line of more than"},
	} {
		file := filepath.Join(w.dir, "q.jsonl")
		text := "{\"qid\":\"1\",\"text\":\"billing\"}\n\n" + tt.line + "\n{\"text\":\"never\"}\n"
		must.OK(t, os.WriteFile(file, []byte(text), 0o666))
		code, out, side := w.run("retrieve", "--batch", "q.jsonl")
		if code != 1 || !strings.Contains(side, "q.jsonl:3: ") || !strings.Contains(side, tt.says) ||
			strings.Count(out, "\n") != 1 {
			t.Errorf("%.40q: exit code %d, %d answers, %s", tt.line, code, strings.Count(out, "\n"), side)
		}
	}
}

// TestBatchTalks writes a query only after the answer to the one before has come.
func TestBatchTalks(t *testing.T) {
	w := withDemo(t)
	w.ok("session", "start", "talk")
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	var side bytes.Buffer
	app := &line.App{
		Stdin: inR, Stdout: outW, Stderr: &side, Dir: w.dir, User: "Ada",
		Getenv: func(name string) string { return w.env[name] }, Now: time.Now,
	}
	done := make(chan int, 1)
	go func() {
		done <- Run(context.Background(), app, []string{"retrieve", "--batch", "-", "--session", "talk"})
		_ = outW.Close()
	}()
	answers := bufio.NewReader(outR)
	for i := range 3 {
		must.OK(t, must.Err(fmt.Fprintf(inW, `{"qid":"q%d","text":"billing"}`+"\n", i)))
		l, err := answers.ReadString('\n')
		if err != nil || !strings.HasPrefix(l, fmt.Sprintf(`{"qid":"q%d",`, i)) {
			t.Fatalf("answer %d: %.40q, %v", i, l, err)
		}
	}
	must.OK(t, inW.Close())
	must.Equal(t, <-done, 0, "exit code: ", side.String())
	if v := w.one("session", "replay", "talk"); v["identical"] != true || v["receipts"] != 3.0 {
		t.Errorf("replay: %v", v)
	}
}
