package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
)

// TestWayBack: what a memory has of the sample, of notes or of another program's records is the same graph after an
// export as Markdown or change lines was read into an empty memory, but for what the export says it leaves out.
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
		}, left: "time of the last change"}, // a line's time is that of the commit that reads it
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
				if code := Run(w.ctx, w.App, args); code != 0 && code != 9 { // the samples have records that nobody knows
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
