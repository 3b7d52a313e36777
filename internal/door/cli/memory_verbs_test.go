package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
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

// tools returns a line of memory and labelled questions about it: one with an answer, one without.
func tools() (lines, questions string) {
	for i := range 20 {
		tool, place := "tool"+string(rune('a'+i)), "room"+string(rune('a'+i))
		lines += fmt.Sprintf(`{"node":{"type":"fact","summary":"The %s hangs in the %s beside the door."}}`+
			"\n", tool, place)
		questions += fmt.Sprintf(`{"question":"where does the %s hang?","answerable":true}`+"\n"+
			`{"question":"who sold the %s of the captain in winter?","answerable":false}`+"\n", tool, tool)
	}
	return lines, questions
}

// TestMemoryVerbsUndo takes back each verb that writes, and each of its ways to write: then commit,
// graph, profiles and all are as before.
func TestMemoryVerbsUndo(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	w := newReader(t)
	lines, questions := tools()
	w.commit(verbLines() + lines)
	w.ok("remember", "Ada works at Initech", "--about", "ada", "--property", "employer")
	for name, text := range map[string]string{
		"note.md": "as it was\n", "q.jsonl": questions,
		"batch.jsonl": `{"text":"Eve met Bo in Lyon"}` + "\n" + `{"text":"Bo left Lyon on Monday"}`,
	} {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.ok("review", "sources", "note", "--accept")
	if err := os.WriteFile(filepath.Join(w.dir, "note.md"), []byte("as it is\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	proposal := func(kind string) string {
		list := w.one("consolidate", "--kind", kind, "--keep", "3")["proposals"].([]any)
		if len(list) == 0 {
			t.Fatalf("no proposal of %s", kind)
		}
		return list[0].(map[string]any)["id"].(string)
	}
	for _, line := range [][]string{
		{"remember", "The moon is full tonight", "--tag", "sky", "--entity", "Moon"},
		{"remember", "server ALPHA runs PostgreSQL because Ada asked", "--source", "manual:bo"}, // again
		{"remember", "Server alpha runs PostgreSQL because Ada asked", "--tag", "new"},          // updated
		{"remember", "The gate is green", "--supersedes", "note"},
		{"remember", "Ada works at Globex", "--about", "ada", "--property", "employer"},
		{"remember", "Visitors are allowed on Monday because the gate is open"},
		{"remember", "The offer does not hold"}, // conflict
		{"remember", "The gate is red"},         // forgotten: a new one
		{"remember", "--batch", "batch.jsonl"},
		{"remember", "--set", "duplicateAbove=0.8", "--set", "keep=true"},
		{"config", "half-life", "fact=7", "note=9"},
		{"forget", "note", "--reason", "why not"}, {"restore", "gone"}, {"mark", "stale", "note"},
		{"mark", "retired", "note", "due"}, {"mark", "superseded", "note", "--by", "due"},
		{"mark", "contradicted", "note", "--by", "due"}, {"mark", "--remove", "gone"},
		{"mark", "expired"}, {"mark", "expired", "due", "--now", "2026-06-01"}, {"pin", "note", "due"},
		{"consolidate", "--accept", "--keep", "3"}, {"consolidate", "--accept", proposal("expired")},
		{"consolidate", "--accept", proposal("duplicate")},
		{"consolidate", "--accept", proposal("contradiction")},
		{"consolidate", "--accept", proposal("tag")},
		{"consolidate", "--accept", proposal("low"), "--keep", "3"},
		{"consolidate", "--reject", proposal("duplicate"), proposal("tag")},
		{"review", "sources", "note", "--accept"}, {"review", "sources", "--stale"},
	} {
		state := func() string {
			return w.ok("show", "HEAD", "--json") + w.ok("ls", "--json", "--limit", "1000", "--include",
				"forgotten,superseded,expired,retired") + w.ok("config", "half-life", "--json")
		}
		before := state()
		trial := append(append([]string{}, line...), "--dry-run")
		if code, _, side := w.run(trial...); code != 0 {
			t.Errorf("mnem %q: exit code %d: %s", trial, code, side)
		}
		if state() != before {
			t.Errorf("mnem %q writes", trial)
		}
		w.ok(line...)
		if state() == before {
			t.Errorf("mnem %q writes nothing", line)
		}
		w.ok("undo")
		if after := state(); after != before {
			t.Fatalf("mnem %q is not taken back:\n%s\nis now\n%s", line, before, after)
		}
	}
	w.ok("fsck", "--full")
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
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("mnem %q: %v", args, err)
		}
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
		if want == "" {
			t.Errorf("mnem %q says nothing", line)
		}
		for _, procs := range []string{"1", "2", "7"} {
			if got := ask(procs, line...); got != want {
				t.Errorf("mnem %q, GOMAXPROCS %s:\n%s\nwant\n%s", line, procs, got, want)
			}
		}
	}
}
