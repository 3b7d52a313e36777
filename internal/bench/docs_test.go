package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/verbkit"
	"github.com/spf13/cobra"
)

// The shapes of answers with --json, put together from parts.
const (
	shapeFigures = `"r5": "number|null", "r10": "number|null", "all10": "number|null", ` +
		`"mrr": "number|null", "ndcg10": "number|null", "r1024": "number|null", ` +
		`"session_r5": "number|null", "session_r10": "number|null"`
	shapeAnswers = `"r1": "number|null", "r5": "number|null", "r10": "number|null", "mrr": "number|null", ` +
		`"precision": "number|null", "token_precision": "number|null", "noise": "number|null", ` +
		`"silent": "number|null", "muted": "number|null", "hint": "number|null", "stale": "number|null", ` +
		`"known": "number|null", "right": "number|null", "false": "number|null", "lost": "number|null", ` +
		`"items": "number", "tokens": "number"`
)

func shapes() map[string]string {
	return map[string]string{
		"answers": `{"ranking": "int", "analyser": "int", "settings": "object", ` +
			`"sets": [{"name": "text", "memories": "int", "questions": "int"}], ` +
			`"rows?": [{"set": "text|null", "kind": "text|null", "questions": "int", ` + shapeAnswers + `}], ` +
			`"misses?": [{"set": "text", "qid": "text", "kind": "text", "query": "text", ` +
			`"gold": ["text"], "items": ["text|null"]}], ` +
			`"constant?": "text", "varied?": [{"value": "int", "rows": [{"set": "text", "others": "bool", ` +
			`"questions": "int", ` + shapeAnswers + `}]}], ` +
			`"failures?": {"embed": "int", "rerank": "int", "rewrite": "int"}}`,
		"eval": `{"ranking": "int", "analyser": "int", "settings": "object", ` +
			`"files": [{"name": "text", "graph": "cid|null", "nodes": "int", "edges": "int", ` +
			`"queries": "int", "questions": "text"}], "rows": [{"cat?": "text|null", ` +
			`"profile?": "text|null", "intent?": "text|null", "lane?": "text|null", "stage?": "text|null", ` +
			`"queries": "int", ` + shapeFigures + `}], ` +
			`"failures?": {"embed": "int", "rerank": "int", "rewrite": "int"}}`,
		"load": `{"facts": "int", "commits": "int", "commit": "cid"}`,
	}
}

// page is checked by TestPage: go test ./internal/bench -run Page -rewrite writes it.
var page = filepath.Join("..", "..", "docs", "reference", "bench.md")

const pageHead = `# mnem-bench

This page is made from the commands themselves; a test holds the two together. mnem-bench is a program
of its own: go build ./cmd/mnem-bench. Flags, errors and exit codes are those of [mnem](commands.md), and
the words in shapes of JSON those of [its answers](json.md).

`

// TestPage compares the page with the commands.
func TestPage(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(pageHead)
	for _, cmd := range Program().Tree().Commands() {
		if cmd.Hidden || shapes()[cmd.Name()] == "" {
			continue
		}
		fmt.Fprintf(&b, "## mnem-bench %s\n\n%s.\n\n```\n%s\n```\n\n", cmd.Name(), cmd.Short, cmd.Long)
		fmt.Fprintf(&b, "```\n%s\n```\n\n```\n%s```\n\n", cmd.UseLine(), cmd.NonInheritedFlags().FlagUsages())
		example := strings.ReplaceAll(strings.TrimPrefix(cmd.Example, "  "), "\n  ", "\n")
		fmt.Fprintf(&b, "Examples:\n\n```\n%s\n```\n\nWith `--json`:\n\n```json\n", example)
		must.OK(t, json.Indent(&b, []byte(shapes()[cmd.Name()]), "", "  "))
		b.WriteString("\n```\n\n")
	}
	want := strings.TrimRight(b.String(), "\n") + "\n"
	if *rewrite {
		must.OK(t, os.WriteFile(page, []byte(want), 0o644))
	}
	got := must.Get(os.ReadFile(page))(t)
	if diff := cmp.Diff(want, strings.ReplaceAll(string(got), "\r\n", "\n")); diff != "" {
		t.Errorf("%s is out of date: run this test with -rewrite (-want +have):\n%s", page, diff)
	}
}

// TestExamples runs the examples of every command with --json and compares their answers with the
// shapes: no member is missing, and none is not named.
func TestExamples(t *testing.T) {
	effort.Alone(t)
	ran := 0
	for _, cmd := range Program().Tree().Commands() {
		if cmd.Hidden || shapes()[cmd.Name()] == "" {
			continue
		}
		t.Run(cmd.Name(), func(t *testing.T) { ran += runExamples(t, cmd) })
	}
	must.True(t, ran >= 10, "only %d examples", ran)
}

func runExamples(t *testing.T, cmd *cobra.Command) (ran int) {
	w := benchWorld(t)
	w.env["TEST_AS_MNEM"] = "1"
	before, _ := w.bench(0, "eval", ".", "--json")
	w.write("before.json", before)
	w.copyIn("memory", railway)
	for line := range strings.Lines(cmd.Example) {
		command, _, _ := strings.Cut(strings.TrimSpace(line), " >")
		args := append(strings.Fields(command)[1:], "--json")
		out, _ := w.bench(0, args...)
		var v any
		must.OK(t, json.Unmarshal([]byte(out), &v), out)
		must.OK(t, verbkit.CheckShapes(t, []string{shapes()[cmd.Name()]}, v), cmd.Name(), ": ", out)
		ran++
	}
	return ran
}
