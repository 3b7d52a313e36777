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
	"github.com/mnem-project/mnem/retrieve"
)

func TestSessionPinsFollowsAndReplays(t *testing.T) {
	t.Parallel()
	w := withDemo(t)
	head := w.one("log", "-n", "1")["commit"]
	before := w.one("log", "HEAD~1", "-n", "1")["commit"]
	w.ok("session", "start", "pinned", "--at", "HEAD~1", "--agent", "pilot", "--task", "review")
	w.ok("session", "start", "follows", "--follow")
	answered := func(want any, args ...string) {
		t.Helper()
		v := w.one(append([]string{"retrieve", "webhooks", "--limit", "2"}, args...)...)
		if v["commit"] != want {
			t.Errorf("retrieve %q is from %v, want %v", args, v["commit"], want)
		}
		if recorded := len(args) > 0 || w.env["MNEM_SESSION"] != ""; recorded != (v["receipt"] != nil) {
			t.Errorf("retrieve %q: receipt %v", args, v["receipt"])
		}
	}
	answered(head)
	answered(before, "--session", "pinned")
	answered(head, "--session", "pinned", "--follow")
	answered(head, "--session", "pinned", "--at", "HEAD")
	answered(head, "--session", "follows")
	answered(head, "--receipt")
	w.env["MNEM_SESSION"] = "pinned"
	answered(before)
	delete(w.env, "MNEM_SESSION")
	w.commit(`{"node":{"key":"later","type":"T","summary":"webhooks later"}}`)
	now := w.one("log", "-n", "1")["commit"]
	answered(now, "--session", "follows")
	answered(before, "--session", "pinned")
	if v := w.one("session", "advance", "pinned"); v["commit"] != now {
		t.Errorf("advance: %v", v)
	}
	answered(now, "--session", "pinned")
	w.ok("session", "end", "pinned")
	var events []string
	for _, v := range w.json("session", "log", "pinned") {
		events = append(events, v["event"].(string))
	}
	if got, want := strings.Join(events, " "),
		"end retrieve advance retrieve retrieve retrieve retrieve retrieve start"; got != want {
		t.Errorf("session log: %s, want %s", got, want)
	}
	for name, n := range map[string]float64{"pinned": 6, "follows": 2, "_default": 1} {
		v := w.one("session", "replay", name)
		if v["identical"] != true || v["receipts"] != n || v["session"] != name {
			t.Errorf("replay %s: %v, want %v receipts", name, v, n)
		}
	}
	receipt := w.json("session", "log", "follows", "-n", "1")[0]["receipt"].(string)
	if v := w.one("session", "replay", receipt); v["session"] != nil || v["receipts"] != 1.0 {
		t.Errorf("replay of a receipt: %v", v)
	}
	w.ok("session", "rm", "follows")
	if v := w.json("session", "list"); len(v) != 2 {
		t.Errorf("sessions: %v", v)
	}
}

// TestReplayTellsDifferences records answers that no retrieval gave.
func TestReplayTellsDifferences(t *testing.T) {
	w := withDemo(t)
	ctx := context.Background()
	r, err := care.Open(w.dir, core.Options{})
	if err != nil {
		t.Fatal(err)
	}
	by := state.Stamp{Author: "Ada", Time: 1, Command: []string{"test"}}
	record := func(name string, change func(*retrieve.Answer)) {
		t.Helper()
		s, err := r.Snapshot(ctx, "HEAD")
		if err != nil {
			t.Fatal(err)
		}
		answer, err := rank.Retrieve(ctx, s, retrieve.Request{Text: "webhooks"})
		if err != nil {
			t.Fatal(err)
		}
		change(answer)
		if _, err := session.StartSession(ctx, r, name, session.SessionOptions{Stamp: by}); err != nil {
			t.Fatal(err)
		}
		if _, err := session.Record(ctx, r, name, answer, by); err != nil {
			t.Fatal(err)
		}
	}
	record("same", func(*retrieve.Answer) {})
	record("score", func(a *retrieve.Answer) { a.Items[1].Score++ })
	record("total", func(a *retrieve.Answer) { a.Candidates++ })
	record("engine", func(a *retrieve.Answer) { a.Engine.Ranking = 99 })
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
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

func TestBatchAnswersInOrder(t *testing.T) {
	w := withDemo(t)
	w.in = `{"qid":"one","text":"webhooks","cat":"x","gold":["a","b"],"gold_more":1,"meta":{"z":null}}

{"qid":"two","text":"winter berths","limit":1,"type":["Decision"],"show":"key","budget":500}
{"text":"who owns billing"}
`
	list := w.json("retrieve", "--batch", "-", "--limit", "2", "--budget", "0")
	if len(list) != 3 {
		t.Fatalf("%d answers", len(list))
	}
	first := list[0]
	if first["qid"] != "one" || first["cat"] != "x" || fmt.Sprint(first["gold"]) != "[a b]" ||
		first["gold_more"] != 1.0 || fmt.Sprint(first["meta"]) != "map[z:<nil>]" {
		t.Errorf("what a line says is not repeated: %v", first)
	}
	for i, want := range []struct{ items, budget int }{{2, 0}, {1, 500}, {2, 0}} {
		v := list[i]
		if len(v["items"].([]any)) != want.items || v["tokens_budget"] != float64(want.budget) {
			t.Errorf("answer %d: %v items, budget %v", i, v["items"], v["tokens_budget"])
		}
	}
	if _, ok := list[2]["qid"]; ok {
		t.Error("a qid that no line has")
	}
	w.in = ""
	alone := w.one("retrieve", "winter berths", "--limit", "1", "--type", "Decision", "--set", "show=key",
		"--budget", "500")
	if fmt.Sprint(alone["items"]) != fmt.Sprint(list[1]["items"]) {
		t.Error("a line and a command line give different items")
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
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
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
		if _, err := fmt.Fprintf(inW, `{"qid":"q%d","text":"billing"}`+"\n", i); err != nil {
			t.Fatal(err)
		}
		l, err := answers.ReadString('\n')
		if err != nil || !strings.HasPrefix(l, fmt.Sprintf(`{"qid":"q%d",`, i)) {
			t.Fatalf("answer %d: %.40q, %v", i, l, err)
		}
	}
	if err := inW.Close(); err != nil {
		t.Fatal(err)
	}
	if code := <-done; code != 0 {
		t.Fatalf("exit code %d: %s", code, side.String())
	}
	if v := w.one("session", "replay", "talk"); v["identical"] != true || v["receipts"] != 3.0 {
		t.Errorf("replay: %v", v)
	}
}

func TestRetrieveFlagsAndEnvironment(t *testing.T) {
	w := newReader(t)
	w.commit(`{"node":{"key":"a","type":"T","summary":"` + strings.Repeat("lamp ", 100) + `","props":{"n":1}}}
{"node":{"key":"b","type":"U","summary":"lamp","content":"a long text","created":"2025-01-01","validTo":"2025-06-01"}}
{"node":{"key":"c","type":"U","summary":"lamp of old"}}
{"edge":{"type":"near","src":"a","dst":"b"}}
{"mark":{"node":"c","state":"superseded","by":"b"}}
`)
	rendered := func(args ...string) string {
		t.Helper()
		return w.ok(append([]string{"retrieve", "lamp", "--format", "yaml"}, args...)...)
	}
	w.env["MNEM_RENDER_SUMMARY_CAP_CHARS"] = "9"
	if got := rendered("--type", "T"); !strings.Contains(got, "summary: lamp lamp <...+491 chars>\n") {
		t.Errorf("the cap of the environment: %s", got)
	}
	if got := rendered("--type", "T", "--set", "summary-cap=4"); !strings.Contains(got, "lamp <...+496") {
		t.Errorf("the flag goes before the environment: %s", got)
	}
	w.env["MNEM_RENDER_SUMMARY_CAP_CHARS"] = "few"
	if code, _, side := w.run("retrieve", "lamp"); code != 2 || !strings.Contains(side, "MNEM_RENDER") {
		t.Errorf("exit code %d, %s", code, side)
	}
	delete(w.env, "MNEM_RENDER_SUMMARY_CAP_CHARS")
	for _, tt := range []struct {
		args string
		want []string // keys
	}{
		{"", []string{"b", "c", "a"}}, // the query is the title of b, and c is replaced by it
		{"--include superseded", []string{"b", "a", "c"}},
		{"--type U", []string{"b", "c"}},
		{"--type U --set current", []string{"b"}},
		{"--where n=1", []string{"a"}},
		{"--until 2026-01-01", []string{"b"}},
		{"--since 2026-01-01", []string{"a"}},
		{"--set updated-to=2026-01-01", []string{"b"}},
		{"--set updated-from=2026-01-01", []string{"a"}},
		{"--set valid-at=2025-07-01", []string{"a"}},
		{"--limit 1 --set expand=0", []string{"a"}},
		{"--budget 60 --set expand=0", []string{"b", "c"}},
	} {
		args := append([]string{"retrieve", "lamp", "--format", "yaml"}, strings.Fields(tt.args)...)
		got := keysOf(w.one(args...)["items"])
		if fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("retrieve lamp %s: %q, want %q", tt.args, got, tt.want)
		}
	}
	got := rendered("--type", "U", "--set", "show=times,key,content", "--adjacency", "1")
	for _, want := range []string{
		"key: b\n", "content: a long text\n", "created: 2025-01-01T00:00:00.000000Z\n",
		"valid: ../2025-06-01T00:00:00.000000Z\n", "Incoming:\n  near <- ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	w.in = "lamp"
	if v := w.one("retrieve", "-"); v["query"] != "lamp" {
		t.Errorf("the query of standard input: %v", v["query"])
	}
	v := w.one("retrieve", "lamp", "--budget", "60", "--set", "expand=0", "--explain")
	dropped := v["dropped_items"].([]any)
	if v["dropped"] != 1.0 || len(dropped) != 1 || dropped[0].(map[string]any)["reason"] != "budget" {
		t.Errorf("dropped: %v, %v", v["dropped"], dropped)
	}
	if out := rendered("--budget", "60", "--set", "expand=0", "--explain"); !strings.Contains(out,
		"dropped: budget") || !strings.Contains(out, "has 'lamp'; replaced ") {
		t.Errorf("--explain: %s", out)
	}
}
