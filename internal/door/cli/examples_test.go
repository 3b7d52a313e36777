package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/testdata/demo"
)

// exampleFacts are the facts that the examples name and the bundled memory lacks.
const exampleFacts = `
{"node":{"key":"alice","type":"Person","summary":"Alice leads infra","props":{"role":"lead"}}}
{"node":{"key":"alice","props":{"team":"infra"}}}
{"node":{"key":"bob","type":"Person","summary":"Bob keeps the ledger"}}
{"node":{"key":"bruno","type":"Person","summary":"Bruno"}}
{"edge":{"type":"owns","src":"alice","dst":"svc/billing"}}
{"edge":{"type":"met","src":"alice","dst":"bob","key":"2024-01-01"}}
{"edge":{"type":"knows","src":"alice","dst":"bruno"}}
{"edge":{"id":"0b4ea2c5-1f0a-9c58-3d6e-7a1b2c3d4e5f","type":"knows","src":"bruno","dst":"bruno"}}
`

// exampleKey is the key file that the examples import.
const exampleKey = `mnem key 1
public mnem-ed25519-5jfgyy7ctrjavpxvkb5rglwf7gkuo5vox27hxescd3vgsfcg2iwlpzyx
secret mnem-ed25519-secret-a4dqobyha4dqobyha4dqobyha4dqobyha4dqobyha4dqobyha4d2ulpn
`

// exampleSteps are run before the examples of some commands, each in a repository of its own.
var exampleSteps = map[string][][]string{
	"mnem":                    nil,
	"mnem init":               nil,
	"mnem config get":         {{"init"}, {"config", "set", "author", "Ada"}},
	"mnem session":            {{"session", "rm", "review"}},
	"mnem session start":      {{"session", "rm", "review"}},
	"mnem reset":              {{"add", "--stage", "draft", "people.jsonl"}},
	"mnem key show":           {{"key", "new", "work"}},
	"mnem key list":           {{"key", "new", "work"}},
	"mnem key export":         {{"key", "new", "work"}},
	"mnem key rm":             {{"key", "new", "work"}},
	"mnem key revoke":         {{"key", "new", "work"}},
	"mnem import":             {{"export", "--all", "-o", "memory.car"}},
	"mnem merge":              {{"branch", "draft", "HEAD~1"}, {"commit", "-b", "draft", "-m", "d", "people.jsonl"}},
	"mnem cherry-pick":        {{"branch", "draft", "HEAD~1"}, {"commit", "-b", "draft", "-m", "d", "people.jsonl"}},
	"mnem serve token list":   {{"serve", "token", "new", "notebook"}},
	"mnem serve token revoke": {{"serve", "token", "new", "notebook"}},
	"mnem remote list":        {{"remote", "add", "origin", "hub"}},
	"mnem remote rm":          {{"remote", "add", "laptop", "hub"}},
	"mnem remote":             {{"remote", "add", "laptop", "hub"}},
	"mnem remote readers":     {{"remote", "add", "disk", "disk", "--encrypt", "team.keys"}, {"push", "disk"}},
	"mnem fetch --prune":      {{"clone", ".", "hub"}, {"remote", "add", "origin", "hub"}, {"remote", "add", "laptop", "hub"}},
	"mnem remote redactions":  {{"remote", "add", "origin", "hub"}, {"remote", "add", "team", "hub"}},
	"mnem git sync":           {{"git", "follow"}, {"commit", "-m", "more", "people.jsonl"}},
	"mnem git prune":          {{"git", "follow"}, {"branch", "spike"}},
	"mnem clone":              {{"clone", ".", "memory"}, {"export", "--all", "-o", "memory.mnem"}},
	"mnem fetch":              {{"clone", ".", "hub"}, {"remote", "add", "origin", "hub"}},
	"mnem push":               {{"clone", ".", "hub"}, {"remote", "add", "origin", "hub"}, {"branch", "draft"}, {"tag", "v1"}},
	"mnem sync":               {{"clone", ".", "hub"}, {"remote", "add", "origin", "hub"}},
	"mnem pack":               {{"branch", "old"}},
	"mnem pack take":          {{"branch", "old"}},
	"mnem session advance":    {{"commit", "-m", "more", "people.jsonl"}},
}

// bare are the commands whose examples begin without a repository.
var bare = []string{"mnem", "mnem init"}

// notShells are examples for the prompt of a shell that this test does not speak, and servers,
// which go on until they are told to end.
var notShells = []string{"mnem completion", "mnem hold", "mnem mcp", "mnem serve", "mnem view"}

// eachCommand calls fn for every command that runs.
func eachCommand(fn func(path string, cmd *cobra.Command)) {
	c := &line.Line{App: &line.App{Getenv: func(string) string { return "" }}}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Runnable() && cmd.Name() != "help" {
			fn(cmd.CommandPath(), cmd)
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(root(c))
}

// TestExamples runs the examples of every command, with --json where it has an answer, and, in a long
// run and if it has none, as they are.
func TestExamples(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	world := newWorld(t)
	world.write("memory.jsonl", demo.Memory)
	world.write("change.jsonl", demo.Change)
	world.write("alice.jsonl", exampleFacts)
	world.write("facts.jsonl", `{"node":{"key":"erin","type":"Person","summary":"Erin"}}`+"\n")
	world.write("people.jsonl", `{"node":{"key":"frank","type":"Person","summary":"Frank"}}`+"\n")
	world.write("notes.jsonl", `{"text":"Erin keeps the backups","tags":["ops"]}`+"\n")
	world.write("laptop.key", exampleKey)
	world.write("team.keys", "# who reads the backups\nage1y8u0glszxuxdu0qlrwxkwrh7c4tdmghtgwzsf0jy2wkhvghhvf0sfgxkgr\n")
	world.write("bob.pub", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINXsvL5sYLG0wMpjQYQRp6d1NDvLNk80aUW6mLjIIg5J bob@laptop\n")
	world.write("key.txt", "Harbour Core builds what a guest touches\n")
	world.write("README.md", "# Harbour\n\nSee [the docs](docs/a.md).\n")
	world.write("today.md", "Erin keeps the backups.\n")
	world.write("hook.json", `{"session_id":"s","prompt":"who leads infra?"}`)
	world.write("session.jsonl", `{"type":"user","uuid":"u","sessionId":"s","message":{"content":"hello"}}`+"\n")
	must.OK(t, os.Mkdir(filepath.Join(world.Dir, "docs"), 0o755))
	world.write("docs/a.md", "# Docs\n\nA harbour has a port.\n")
	queries := must.Get(os.ReadFile(filepath.Join("..", "..", "..", "testdata", "demo", "queries.jsonl")))(t)
	world.write("memory.changes.jsonl", demo.Memory)
	world.write("memory.queries.jsonl", string(queries))
	world.write("questions.jsonl", exampleQuestions(string(queries)))
	world.write("query.json", "[0.25,-0.5,1]\n")
	plain := t.TempDir()
	copyTree(t, world.Dir, plain)
	for _, args := range [][]string{
		{"init"}, {"commit", "-m", "one", "memory.jsonl", "alice.jsonl"},
		{"commit", "-m", "two", "change.jsonl"}, {"session", "start", "review"},
		{"retrieve", "--session", "review", "open tasks"},
	} {
		world.run(0, args...)
	}
	ran := 0
	eachCommand(func(path string, cmd *cobra.Command) {
		measures := strings.HasPrefix(path, "mnem bench") // for seconds
		if slices.Contains(notShells, path) || effort.Pick(measures, false, false) {
			return
		}
		from := world.Dir
		if slices.Contains(bare, path) {
			from = plain
		}
		_, asJSON := allShapes()[path]
		t.Run(path, func(t *testing.T) {
			lines := strings.Split(strings.ReplaceAll(cmd.Example, "\\\n", ""), "\n") // as a shell reads them
			must.Require(t, cmd.Example != "", "no example")
			// The demo runs everything twice more, and has a test of its own.
			if path != "mnem demo" && effort.Pick(!asJSON, true, true) {
				runExamples(t, path, from, lines, false)
			}
			if asJSON {
				runExamples(t, path, from, lines, true)
			}
			ran += len(lines)
		})
	})
	must.True(t, ran >= 50, "only %d examples", ran)
}

func runExamples(t *testing.T, path, from string, lines []string, asJSON bool) {
	t.Helper()
	w := newWorld(t)
	copyTree(t, from, w.Dir)
	w.env["XDG_CONFIG_HOME"] = filepath.Join(w.Dir, "xdg")
	w.env["XDG_DATA_HOME"] = filepath.Join(w.Dir, "data")
	if strings.HasPrefix(path, "mnem git") {
		for _, args := range [][]string{
			{"init", "-q", "-b", "feature/login"}, {"commit", "-q", "--allow-empty", "-m", "first"},
		} {
			cmd := exec.Command("git", args...)
			cmd.Dir = w.Dir
			cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=A",
				"GIT_COMMITTER_EMAIL=a@example.org")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		}
	}
	for _, args := range exampleSteps[path] {
		if args[0] != "init" {
			w.run(0, args...)
		}
	}
	for _, text := range lines {
		commands := must.Get(parseShell(text))(t)
		for _, cmd := range commands {
			w.example(path, cmd, asJSON)
		}
	}
}

// example runs one command line and checks its answer if it runs the command at path.
func (w *world) example(path string, cmd shellCommand, asJSON bool) {
	w.t.Helper()
	w.Stdin = strings.NewReader(cmd.text)
	if cmd.in != "" {
		data := must.Get(os.ReadFile(filepath.Join(w.Dir, cmd.in)))(w.t)
		w.Stdin = strings.NewReader(string(data))
	}
	own := strings.HasPrefix("mnem "+strings.Join(cmd.args, " "), path)
	check := own && asJSON && !slices.Contains(cmd.args, "--raw")
	args := cmd.args
	if check && !slices.Contains(args, "--json") {
		args = append(args, "--json")
	}
	stdout, _ := w.run(0, args...)
	if check {
		checkAnswer(w.t, path, stdout)
	}
}

// shellCommand is one run of the program in an example.
type shellCommand struct {
	args []string
	in   string // file that is standard input, "" for none
	text string // what a pipe brings
}

// parseShell reads the little of a shell's language that examples use: quotes, &&, redirection and
// echo into a pipe.
func parseShell(text string) ([]shellCommand, error) {
	words, err := shellWords(text)
	if err != nil {
		return nil, err
	}
	var all []shellCommand
	var piped string
	for len(words) > 0 {
		end := slices.IndexFunc(words, func(w string) bool { return w == "&&" || w == "|" })
		part := words
		if end >= 0 {
			part, words = words[:end], words[end+1:]
		} else {
			words = nil
		}
		if part[0] == "echo" && len(part) == 2 {
			piped = part[1] + "\n"
			continue
		}
		if part[0] != "mnem" {
			return nil, fmt.Errorf("example %q: %q is not the program", text, part[0])
		}
		cmd := shellCommand{text: piped}
		for _, w := range part[1:] {
			switch {
			case strings.HasPrefix(w, "<"):
				cmd.in = w[1:]
			case strings.HasPrefix(w, ">"):
			default:
				cmd.args = append(cmd.args, w)
			}
		}
		all, piped = append(all, cmd), ""
	}
	return all, nil
}

func shellWords(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	open := false
	for _, r := range text {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, open = r, true
		case r == ' ':
			if open {
				words = append(words, word.String())
			}
			word.Reset()
			open = false
		default:
			word.WriteRune(r)
			open = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("example %q: a quote is open", text)
	}
	if open {
		words = append(words, word.String())
	}
	return words, nil
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	must.OK(t, os.CopyFS(to, os.DirFS(from)))
}

// exampleQuestions are labelled questions: those of the demo, and as many that it does not answer.
func exampleQuestions(queries string) string {
	var b strings.Builder
	i := 0
	for line := range strings.Lines(queries) {
		q := regexp.MustCompile(`"text":("(?:[^"\\]|\\.)*")`).FindStringSubmatch(line)
		i++
		fmt.Fprintf(&b, `{"question":%s,"answerable":true}`+"\n", q[1])
		fmt.Fprintf(&b, `{"question":"which of the %d whales sang at noon?","answerable":false}`+"\n", i)
	}
	return b.String()
}
