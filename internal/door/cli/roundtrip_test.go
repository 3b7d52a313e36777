package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
)

// TestWayBack: the sample, notes and other programs' records make the same graph again when an
// export as Markdown or change lines is read into an empty memory, but for what the export says it leaves out.
func TestWayBack(t *testing.T) {
	effort.Alone(t)
	const demo, chat = "../../../testdata/demo/", "../../ingest/chats/testdata/"
	ingest := func(args ...string) [][]string { return [][]string{append([]string{"ingest", "--from"}, args...)} }
	for name, c := range map[string]struct {
		make [][]string
		left string // of change lines
	}{
		"sample": {make: [][]string{{"commit", "-m", "x", demo + "memory.jsonl"}}},
		"changed sample": {make: [][]string{
			{"commit", "-m", "x", demo + "memory.jsonl"}, {"commit", "-m", "y", demo + "change.jsonl"},
		}, left: "time of the last change"}, // a line sets no such time
		"notes":         {make: [][]string{{"ingest", "notes"}}},
		"chatgpt":       {make: ingest("chatgpt", chat+"chatgpt.json")},
		"claude":        {make: ingest("claude", chat+"claude.json")},
		"claude-code":   {make: ingest("claude-code", chat+"claude-code.jsonl")},
		"copilot-cli":   {make: ingest("copilot-cli", chat+"copilot-cli.jsonl")},
		"cline":         {make: ingest("cline", chat+"cline-more.json")},
		"mem0":          {make: ingest("mem0", chat+"mem0.json")},
		"server-memory": {make: ingest("server-memory", chat+"server-memory-more.jsonl")},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.init()
			writeNotes(t, filepath.Join(w.Dir, "notes"))
			for _, args := range c.make {
				if last := len(args) - 1; args[0] != "ingest" || last > 1 {
					args[last] = absolute(t, args[last])
				}
				if code := Run(w.ctx, w.App, args); code != 0 && code != 9 { // the samples have unknown records
					t.Fatalf("mnem %q: exit code %d: %s", args, code, &w.err)
				}
				if head := w.head(); args[0] == "ingest" {
					if Run(w.ctx, w.App, args); w.head() != head {
						t.Errorf("mnem %q makes a commit each time", args)
					}
				}
			}
			want := w.graphCID()
			dir, file := filepath.Join(w.Dir, "out"), filepath.Join(w.Dir, "out.jsonl")
			if out, aside := w.run(0, "export", "--format", "markdown", dir); strings.Contains(out+aside, "left out") {
				t.Errorf("Markdown: %s%s", out, aside)
			}
			out, aside := w.run(0, "export", "--format", "jsonl", "-o", file)
			if said := strings.Contains(out+aside, "left out"); said != (c.left != "") || !strings.Contains(out+aside, c.left) {
				t.Errorf("change lines leave out %q: %s%s", c.left, out, aside)
			}
			for form, args := range map[string][]string{
				"Markdown": {"ingest", dir}, "change lines": {"commit", "-m", "back", file},
			} {
				back := newWorld(t)
				back.init()
				back.run(0, args...)
				if got := back.graphCID(); (got == want) != (form == "Markdown" || c.left == "") {
					t.Errorf("by %s %s became %s", form, want, got)
				}
				head := back.head()
				if back.run(0, args...); back.head() != head {
					t.Errorf("by %s the second reading made a commit", form)
				}
			}
		})
	}
}

// writeNotes writes a vault: front matter alone, links, tags, tables, code and a note that says nothing.
func writeNotes(t *testing.T, dir string) {
	t.Helper()
	for name, text := range map[string]string{
		"Night Heron.md": "---\nyear: 1999\ndirector:\n  - \"[[Mo Plum]]\"\nseen: true\n---\n",
		"Films.md":       "# Films\n\n- [[Night Heron]] #film\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```go\nx := 1\n```\n\n## Later\n\nMore.\n",
		"Mo Plum.md":     "---\naliases: [Plum]\n---\nDirects [films](Films.md), see [[Films#Later]].\r\n\r\nIn Kendal.",
		"Empty.md":       "",
		"sub/Films.md":   "[[Empty]] and ![[Night Heron]]\n\n\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, name), text)
	}
}

func absolute(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// graphCID is the graph of the newest commit.
func (w *world) graphCID() string {
	w.t.Helper()
	out, _ := w.run(0, "show", "HEAD", "--json")
	var got struct{ Graph string }
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Graph == "" {
		w.t.Fatalf("no graph, %v: %.300s", err, out)
	}
	return got.Graph
}

// TestChatInTwoStores: a chat of Cursor that its database and a transcript have is taken once, from the one that is read
// first, and goes on with that one.
func TestChatInTwoStores(t *testing.T) {
	const chat = `{"role":"user","message":{"content":"<user_query>where do the tulips go?</user_query>"}}` + "\n" +
		`{"role":"assistant","message":{"content":[{"type":"text","text":"By the south wall."}]}}` + "\n"
	database, err := os.ReadFile("../../ingest/chats/testdata/cursor.db")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		read  [][]string
		turns int // of the chat
	}{
		"database":             {[][]string{{"state.vscdb"}}, 4},
		"transcript":           {[][]string{{"c1.jsonl"}}, 2},
		"database, transcript": {[][]string{{"state.vscdb"}, {"c1.jsonl"}}, 4},
		"transcript, database": {[][]string{{"c1.jsonl"}, {"state.vscdb"}}, 2},
		"both in one run":      {[][]string{{"c1.jsonl", "state.vscdb"}}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.init()
			w.write("state.vscdb", string(database))
			w.write("c1.jsonl", chat)
			var out string
			read := func(files []string) {
				if code := Run(w.ctx, w.App, append([]string{"ingest", "--from", "cursor"}, files...)); code != 0 && code != 9 {
					t.Fatalf("exit code %d: %s", code, &w.err)
				}
				out = w.out.String()
				w.out.Reset()
			}
			turns := func() int {
				t.Helper()
				said, _ := w.run(0, "ls", "--type", "Turn", "--json", "--limit", "100")
				w.out.Reset()
				return strings.Count(said, `"conversation:c1#`)
			}
			for _, files := range c.read {
				read(files)
			}
			if len(c.read)+len(c.read[0]) > 2 && !strings.Contains(out, "duplicate") {
				t.Errorf("it is not said what was left out: %s", out)
			}
			if got := turns(); got != c.turns {
				t.Errorf("%d turns, want %d", got, c.turns)
			}
			for _, files := range c.read {
				head := w.head()
				w.out.Reset()
				if read(files); w.head() != head {
					t.Errorf("read again, %q makes a commit", files)
				}
			}
			w.write("c1.jsonl", chat+`{"role":"user","message":{"content":"and the crocuses?"}}`+"\n")
			if read([]string{"c1.jsonl"}); (turns() == c.turns+1) != (c.turns == 2) {
				t.Errorf("%d turns when the transcript has grown", turns())
			}
		})
	}
}
