package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/testdata/demo"
)

// Fixed circumstances of the demo, so that its output is the same in every run.
const (
	demoDir    = "harbour" // the directory of the repository, and how the output calls it
	demoAuthor = "Robin Vale"
	demoStart  = "2026-10-19T12:00:00Z"
	demoStep   = time.Minute // between two commands
)

type demoRequest struct {
	Keep string `op:"" doc:"make the repository in {DIR}, which must be new or empty, and keep it"`
}

func demoCommand() *line.Bound {
	return reach.LocalLines(verb.Spec{
		Command: "demo", Right: verb.NoRight,
		Usage: "[flags]", Group: line.GroupStart, Title: "Show what mnem does, on a bundled memory",
		Doc: "Make a throw-away repository of the bundled memory of an invented team and run the commands\n" +
			"that matter in it, each with its output. The output is the same in every run. The repository\n" +
			"is removed at the end, or kept with --keep to try things out.",
		Example: "  mnem demo\n  mnem demo --keep harbour", Answers: []any{demoJSON{}},
	}, showDemo)
}

func showDemo(ctx context.Context, c *line.Line, q *demoRequest) error {
	dir, done, err := demoRoom(c, q.Keep)
	if err != nil {
		return err
	}
	err = line.FirstError(runDemo(ctx, c, dir), done())
	if err == nil && q.Keep != "" {
		c.Remark("the repository stays in %s", line.OneLine(dir))
	}
	return err
}

// demoRoom returns an empty directory for the demo, and what to do with it at the end.
func demoRoom(c *line.Line, keep string) (dir string, done func() error, err error) {
	if keep == "" {
		temp, err := os.MkdirTemp("", "mnem-demo-")
		if err != nil {
			return "", nil, fmt.Errorf("make a directory for the demo: %w", err)
		}
		dir = filepath.Join(temp, demoDir)
		done = func() error { return os.RemoveAll(temp) }
	} else {
		dir, done = c.Absolute(keep), func() error { return nil }
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", nil, err
		}
		if len(entries) > 0 {
			return "", nil, fmt.Errorf("%w: %s is not empty", state.ErrInvalid, keep)
		}
	}
	return dir, done, writeDemoFiles(dir)
}

func writeDemoFiles(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("make the demo's directory: %w", err)
	}
	for name, text := range map[string]string{
		"memory.jsonl": demo.Memory, "change.jsonl": demo.Change,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return fmt.Errorf("write the demo's memory: %w", err)
		}
	}
	return nil
}

type demoJSON struct {
	Say     string   `json:"say"`
	Command []string `json:"command"`
	Stdout  string   `json:"stdout"`
	Stderr  string   `json:"stderr"`
}

func runDemo(ctx context.Context, c *line.Line, dir string) error {
	start, err := graph.ParseTime(demoStart)
	if err != nil {
		return err
	}
	for i, step := range demoSteps() {
		now := start.Std().Add(time.Duration(i) * demoStep)
		if err := runDemoStep(ctx, c, dir, now, step); err != nil {
			return err
		}
	}
	return nil
}

func runDemoStep(ctx context.Context, c *line.Line, dir string, now time.Time, step demoStepText) error {
	var stdout, stderr bytes.Buffer
	app := &line.App{
		Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Dir: dir, User: demoAuthor,
		Getenv: func(name string) string {
			if name == "NO_COLOR" {
				return c.App.Getenv(name)
			}
			return ""
		},
		Now: func() time.Time { return now }, PID: c.App.PID, OutTTY: c.App.OutTTY && !c.InJSON,
	}
	code := Run(ctx, app, step.args)
	if err := ctx.Err(); err != nil {
		return err
	}
	shown := strings.NewReplacer(dir, demoDir)
	out, side := shown.Replace(stdout.String()), shown.Replace(stderr.String())
	if code != 0 {
		return fmt.Errorf("demo: mnem %s: exit code %d: %s", strings.Join(step.args, " "), code,
			strings.TrimSpace(side))
	}
	if c.InJSON {
		return c.PrintJSON(demoJSON{step.say, append([]string{"mnem"}, step.args...), out, side})
	}
	words := make([]string, len(step.args))
	for i, arg := range step.args {
		words[i] = plain.Shell(arg)
	}
	if step.say != "" {
		c.Put("%s\n\n", c.Paint(show.Cyan, step.say))
	}
	c.Put("%s\n%s%s\n", c.Paint(show.Bold, "$ mnem "+strings.Join(words, " ")), out, side)
	return c.Out.Flush()
}

// demoStepText is one step of the demo: what a reader should know, and a command line.
type demoStepText struct {
	say  string
	args []string
}

// demoSteps tell how mnem is used, from an empty repository to a replayed session.
func demoSteps() []demoStepText {
	return []demoStepText{
		{"A memory lives in a directory, under .mnem, as a git repository does.",
			[]string{"init"}},
		{"Facts come in as change lines: nodes with keys, types, summaries and properties, and edges\n" +
			"between them. Here are seven weeks of an invented team that builds harbour booking software.",
			[]string{"commit", "-m", "Seven weeks of the harbour project", "memory.jsonl"}},
		{"Some days later more is known. A line for a node that exists changes what it names.",
			[]string{"commit", "-m", "Winter berths open to all harbours", "change.jsonl"}},
		{"Every commit is kept, with the numbers of what it added, changed and removed.",
			[]string{"log"}},
		{"A diff goes down to single properties. It costs what differs, not what there is.",
			[]string{"diff", "HEAD~1", "HEAD", "--type", "Task", "--type", "Decision", "--type", "owns"}},
		{"Single nodes can be listed, read and walked from.",
			[]string{"ls", "--type", "Decision", "--sort", "-created", "--limit", "4"}},
		{"", []string{"show", "svc/webhooks"}},
		{"", []string{"explore", "svc/webhooks", "--limit", "6"}},
		{"", []string{"explore", "priya", "--to", "db/marlin"}},
		{"Retrieval answers a question with text for a language model, under a budget of tokens.\n" +
			"--adjacency adds the edges of each item.",
			[]string{"retrieve", "why was the guest charged twice?", "--limit", "2", "--adjacency", "2"}},
		{"Filters act before the ranking, so that nothing that fits is lost.",
			[]string{"retrieve", "winter berths", "--type", "Decision", "--where",
				`status = "accepted"`, "--limit", "2", "--set", "show=times,key"}},
		{"Time travel: what was known about the document store one commit ago, and now.",
			[]string{"retrieve", "Marlin document store", "--type", "Datastore", "--limit", "1",
				"--at", "HEAD~1"}},
		{"", []string{"retrieve", "Marlin document store", "--type", "Datastore", "--limit", "1"}},
		{"A session pins a commit: an agent that works for hours sees one state of the memory, and every\n" +
			"answer it gets leaves a receipt.",
			[]string{"session", "start", "review", "--agent", "pilot", "--task", "winter launch"}},
		{"", []string{"retrieve", "what blocks the winter launch?", "--session", "review", "--limit",
			"2", "--set", "expand=2"}},
		{"", []string{"retrieve", "full load test", "--session", "review", "--limit", "1"}},
		{"Meanwhile the memory moves on. add stages a change, and commit without a file commits it.",
			[]string{"add", "--set", "task/KM-452", "status=done", "closed=2026-10-19"}},
		{"", []string{"commit", "-m", "The load test passed"}},
		{"The session still answers from its own commit, in which that task is open.",
			[]string{"retrieve", "full load test", "--session", "review", "--type", "Task", "--limit", "1"}},
		{"", []string{"session", "log", "review"}},
		{"Replay runs every recorded request again and compares the answers, bit for bit.",
			[]string{"session", "replay", "review"}},
		{"And fsck reads everything there is: hashes, trees, edges and indexes.",
			[]string{"fsck"}},
	}
}
