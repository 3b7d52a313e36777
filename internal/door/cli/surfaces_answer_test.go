package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// surfaceAnswer has the parts of an answer that all surfaces must share.
type surfaceAnswer struct {
	Verdict, Because string
	Items            []struct {
		ID, Band, Rendered string
		Rank               int
		Score              int64
	}
}

// answersMemory is one memory of all the sets of testdata/answers in English and the questions of them.
func answersMemory(t *testing.T, w *world) (questions []string) {
	t.Helper()
	root := filepath.Join("..", "..", "..", "testdata", "answers")
	dirs := must.Get(filepath.Glob(filepath.Join(root, "small", "*")))(t)
	dirs = append(dirs, filepath.Join(root, "railway"), filepath.Join(root, "week"))
	each := func(path string, row func(m map[string]any)) {
		data := must.Get(os.ReadFile(path))(t)
		for l := range strings.Lines(string(data)) {
			var m map[string]any
			must.OK(t, json.Unmarshal([]byte(l), &m), path)
			row(m)
		}
	}
	var lines strings.Builder
	for _, dir := range dirs {
		each(filepath.Join(dir, "memories.jsonl"), func(m map[string]any) {
			node, err := json.Marshal(map[string]any{"node": map[string]any{
				"key": filepath.Base(dir) + "/" + fmt.Sprint(m["key"]), "type": m["type"], "summary": m["text"], "created": m["time"],
			}})
			must.OK(t, err)
			lines.Write(append(node, '\n'))
		})
		each(filepath.Join(dir, "questions.jsonl"), func(m map[string]any) { questions = append(questions, fmt.Sprint(m["text"])) })
	}
	w.write("memory.jsonl", lines.String())
	w.run(0, "commit", "-m", "all", "memory.jsonl")
	return questions
}

// TestSurfacesAnswerAlike asks 200 questions by the command line, HTTP, the page, MCP and the hook of a prompt: all give
// the same verdict and the same items.
func TestSurfacesAnswerAlike(t *testing.T) {
	effort.Alone(t)
	w := newWorld(t)
	w.init()
	must.OK(t, os.MkdirAll(w.Home, 0o700))
	questions := answersMemory(t, w)
	must.Require(t, len(questions) >= 200, "%d questions", len(questions))
	s := startServing(t, w)
	told := overMCP(t, w, questions)
	injected, verdicts := 0, map[string]int{}
	for i, q := range questions {
		read := func(text string) (a surfaceAnswer) {
			t.Helper()
			must.OK(t, json.Unmarshal([]byte(text), &a), q, ": ", text)
			return a
		}
		out, _ := w.run(0, "recall", q, "--json")
		want := read(out)
		verdicts[want.Verdict]++
		ask := must.Get(json.Marshal(map[string]any{"query": q}))(t)
		if status, text := s.ask("POST", "/v1/recall", string(ask)); status != 200 || text != out {
			t.Errorf("%s: HTTP answers %d %s, the command line %s", q, status, text, out)
		}
		// The page leaves out what is empty: api.ts.
		page := must.Get(json.Marshal(map[string]any{"query": q, "explain": true, "limit": 10}))(t)
		status, text := s.ask("POST", "/v1/recall", string(page))
		if diff := cmp.Diff(want, read(text)); status != 200 || diff != "" {
			t.Errorf("%s: the page's call answers otherwise: %d %s", q, status, diff)
		}
		must.Same(t, read(told[i].structured), want, q, ": MCP answers otherwise")
		if !strings.HasPrefix(told[i].text, want.Verdict+": ") {
			t.Errorf("%s: MCP tells %s, want verdict %s", q, told[i].text, want.Verdict)
		}
		if hooked := w.hooked(fmt.Sprintf("s%d", i), q); hooked != "" {
			injected++
			must.Equal(t, want.Verdict, "known", q, ": the hook tells ", hooked, ", though it")
			checkInjected(t, q, hooked, &want)
		}
	}
	t.Logf("%v, %d injected", verdicts, injected)
	if injected < 40 || verdicts["known"] < 40 || verdicts["unsure"]+verdicts["unknown"] < 20 {
		t.Errorf("too few of a kind: %v, %d injected", verdicts, injected)
	}
}

// hooked returns what a hook adds to the prompt of a session.
func (w *world) hooked(session, prompt string) string {
	w.t.Helper()
	in := must.Get(json.Marshal(map[string]any{"session_id": session, "cwd": w.Dir, "prompt": prompt}))(w.t)
	w.Stdin = strings.NewReader(string(in))
	defer func() { w.Stdin = strings.NewReader("") }()
	out, errs := w.run(0, "hook", "claude-code", "prompt")
	must.Equal(w.t, errs, "", "hook")
	var got struct {
		Output struct {
			Text string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	must.True(w.t, out == "" || json.Unmarshal([]byte(out), &got) == nil, "%s", out)
	return got.Output.Text
}

// checkInjected holds what a hook tells to the first items of the answer.
func checkInjected(t *testing.T, q, hooked string, want *surfaceAnswer) {
	t.Helper()
	n := 0
	for _, it := range want.Items {
		head, _, _ := strings.Cut(it.Rendered, "\n")
		if at := strings.Index(hooked, head); at >= 0 {
			n++
			hooked = hooked[:at] + hooked[at+len(head):]
		}
	}
	first, _, _ := strings.Cut(want.Items[0].Rendered, "\n")
	if n == 0 || n > 2 || strings.Contains(hooked, "\n[") {
		t.Errorf("%s: the hook tells %d items of the answer, first %q, and also %q", q, n, first, hooked)
	}
}

type mcpTold struct{ text, structured string }

// overMCP asks questions by the tool recall, one after another.
func overMCP(t *testing.T, w *world, questions []string) (out []mcpTold) {
	t.Helper()
	var in strings.Builder
	in.WriteString(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
		`"clientInfo":{"name":"test","version":"1"}}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
	for i, q := range questions {
		line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": i + 1, "method": "tools/call", "params": map[string]any{
			"name": "recall", "arguments": map[string]any{"query": q}, "_meta": map[string]any{"mnem/structured": true}}})
		must.OK(t, err)
		in.Write(append(line, '\n'))
	}
	w.Stdin = strings.NewReader(in.String())
	defer func() { w.Stdin = strings.NewReader("") }()
	text, _ := w.run(0, "mcp", "--without", "session")
	out = make([]mcpTold, len(questions))
	for l := range strings.Lines(text) {
		var m struct {
			ID     int
			Result struct {
				Content           []struct{ Text string }
				StructuredContent json.RawMessage
			}
		}
		must.OK(t, json.Unmarshal([]byte(l), &m))
		if m.ID > 0 && len(m.Result.Content) == 1 {
			out[m.ID-1] = mcpTold{m.Result.Content[0].Text, string(m.Result.StructuredContent)}
		}
	}
	return out
}
