package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/door/verbs"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/verbkit"
	"github.com/mnem-project/mnem/internal/verb/asking"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// reference is the directory of the pages that TestReference keeps: go test ./internal/door/cli -run Reference -rewrite
// writes them.
var reference = filepath.Join("..", "..", "..", "docs", "reference")

// The beginnings of the pages have ~ for the quote of code.
const (
	commandsHead = `# Commands

This page is generated from the commands; a test keeps it up to date. Results go to standard output, everything else to
standard error. With ~--json~ every command prints JSON, and [Answers as JSON](json.md) shows what. [Settings](settings.md) has the
settings, variables and parameters, [Errors](errors.md) the exit codes.

`
	jsonHead = `# Answers as JSON

This page is generated from the commands; a test keeps it up to date. With ~--json~ a command prints one object in one line, or
where it says so one object a line. Text is UTF-8 and is escaped only as JSON demands. The strings of a shape say what stands in
their place: ~cid~ a CID in base32, ~id~ a UUID, ~time~ a time of RFC 3339 with microseconds in UTC, ~int~ an integer below
2^53, ~json~ any value, ~null~ null; ~a|b~ is one of both, other words are themselves. A member whose name ends in ~|null~ may be
null, one whose name ends in ~?~ may be missing. Scores are integers in units of 2^-16. Later releases may add members.

`
	settingsHead = `# Settings

This page is generated from the program; a test keeps it up to date. ~mnem config set KEY VALUE~ sets a value for a repository,
with ~--user~ for all repositories of the user.

`
	errorsHead = `# Errors

This page is generated from the program; a test keeps it up to date.

`
)

func code(s string) string { return strings.ReplaceAll(s, "~", "`") }

// TestReference compares the pages with the commands.
func TestReference(t *testing.T) {
	for name, write := range map[string]func(*testing.T, *bytes.Buffer){
		"commands.md": writeCommands, "json.md": writeShapes, "settings.md": writeSettings, "errors.md": writeErrors,
	} {
		var b bytes.Buffer
		write(t, &b)
		want := strings.TrimRight(b.String(), "\n") + "\n"
		page := filepath.Join(reference, name)
		if flag.Lookup("rewrite").Value.String() == "true" {
			must.OK(t, os.WriteFile(page, []byte(want), 0o644))
		}
		got := must.Get(os.ReadFile(page))(t)
		if diff := cmp.Diff(want, strings.ReplaceAll(string(got), "\r\n", "\n")); diff != "" {
			t.Errorf("%s is out of date: run this test with -rewrite (-want +have):\n%s", page, diff)
		}
	}
}

// shared are flags that the page explains once: those of commands that write.
var shared = []string{
	"agent", "allow-secret", "author", "branch", "dry-run", "expect", "key", "message", "sign", "strict", "task", "time",
}

// commonFlags returns the shared flags, each with the help that most commands give it.
func commonFlags() *pflag.FlagSet {
	common := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, name := range shared {
		var most *pflag.Flag
		times := make(map[string]int)
		eachCommand(func(_ string, cmd *cobra.Command) {
			flag := cmd.NonInheritedFlags().Lookup(name)
			if flag == nil {
				return
			}
			if times[flag.Usage]++; most == nil || times[flag.Usage] > times[most.Usage] {
				most = flag
			}
		})
		common.AddFlag(most)
	}
	return common
}

func writeCommands(_ *testing.T, b *bytes.Buffer) {
	b.WriteString(code(commandsHead))
	for _, part := range []struct {
		title  string
		hidden bool
	}{{"Commands", false}, {"Commands that are seldom called by hand", true}} {
		fmt.Fprintf(b, "## %s\n\n", part.title)
		eachCommand(func(path string, cmd *cobra.Command) {
			if cmd.HasParent() && part.hidden == (cmd.Hidden || cmd.Parent().Hidden) {
				fmt.Fprintf(b, "- [%s](#%s): %s\n", path, strings.ReplaceAll(path, " ", "-"), cmd.Short)
			}
		})
		b.WriteString("\n")
	}
	root := root((&line.Line{App: &line.App{Getenv: func(string) string { return "" }}}))
	fmt.Fprintf(b, "## Flags of every command\n\n```\n%s```\n\n", root.PersistentFlags().FlagUsages())
	common := commonFlags()
	fmt.Fprintf(b, "## Flags of commands that write\n\n```\n%s```\n\n", common.FlagUsages())
	for _, topic := range topics() {
		if topic.Name == "changes" || topic.Name == "revisions" {
			fmt.Fprintf(b, "## %s\n\n```\n%s\n```\n\n", topic.Short, topic.Long)
		}
	}
	eachCommand(func(path string, cmd *cobra.Command) {
		if cmd.HasParent() {
			writeCommand(b, path, cmd, common)
		}
	})
}

// writeCommand writes the section of a command. Flags whose help is the common one are only named.
func writeCommand(b *bytes.Buffer, path string, cmd *cobra.Command, common *pflag.FlagSet) {
	fmt.Fprintf(b, "## %s\n\n```\n%s.\n%s\n", path, cmd.Short, cmd.Long)
	if !cmd.HasSubCommands() {
		fmt.Fprintf(b, "\n%s\n", cmd.UseLine())
	}
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	var others []string
	cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		switch {
		case f.Name == "help" || f.Hidden:
		case common.Lookup(f.Name) != nil && common.Lookup(f.Name).Usage == f.Usage:
			others = append(others, "--"+f.Name)
		default:
			own.AddFlag(f)
		}
	})
	b.WriteString(own.FlagUsages())
	if len(others) > 0 {
		fmt.Fprintf(b, "also %s\n", strings.Join(others, ", "))
	}
	b.WriteString("\n")
	for line := range strings.Lines(cmd.Example) {
		fmt.Fprintf(b, "$ %s\n", strings.TrimSpace(line))
	}
	b.WriteString("```\n\n")
}

func writeShapes(t *testing.T, b *bytes.Buffer) {
	b.WriteString(code(jsonHead))
	eachCommand(func(path string, cmd *cobra.Command) {
		shapes := allShapes()[path]
		if len(shapes) == 0 {
			return
		}
		fmt.Fprintf(b, "## %s\n\n", path)
		if streams(path) {
			b.WriteString("One object a line:\n\n")
		}
		for _, shape := range shapes {
			must.Require(t, json.Valid([]byte(shape)), "%s: shape: %s", path, shape)
			fmt.Fprintf(b, "```json\n%s\n```\n\n", fill(shape))
		}
	})
}

// fill breaks JSON into lines, at its commas. No string of a shape has one.
func fill(shape string) string {
	const width = 110
	var b strings.Builder
	at := 0
	for i, word := range strings.SplitAfter(shape, ", ") {
		if i > 0 && at+len(word) > width {
			b.WriteString("\n  ")
			at = 2
		}
		b.WriteString(word)
		at += len(word)
	}
	return strings.ReplaceAll(b.String(), " \n", "\n")
}

func writeSettings(_ *testing.T, b *bytes.Buffer) {
	b.WriteString(code(settingsHead) + "| key | variable | default | meaning |\n|---|---|---|---|\n")
	for _, k := range settings.Keys() {
		fmt.Fprintf(b, "| `%s` | `%s` | %s | %s |\n", k.Name, k.Env, k.Default, k.Help)
	}
	for _, topic := range topics() {
		if topic.Name == "environment" || topic.Name == "parameters" {
			fmt.Fprintf(b, "\n## %s\n\n```\n%s\n```\n", topic.Short, topic.Long)
		}
	}
}

func writeErrors(_ *testing.T, b *bytes.Buffer) {
	b.WriteString(errorsHead)
	for _, topic := range topics() {
		if topic.Name == "exit-codes" {
			about, _, _ := strings.Cut(topic.Long, "  code ")
			fmt.Fprintf(b, "```\n%s\n```\n\n", strings.TrimSpace(about))
		}
	}
	b.WriteString("| code | exit | HTTP | when |\n|---|---|---|---|\n")
	for _, o := range operation.Outcomes() {
		fmt.Fprintf(b, "| `%s` | %d | %d | %s |\n", o.Code, o.Exit, o.HTTP, o.When)
	}
}

// TestEveryCommandIsComplete checks help that is rarely read.
func TestEveryCommandIsComplete(t *testing.T) {
	seen := make(map[string]bool)
	eachCommand(func(path string, cmd *cobra.Command) {
		seen[path] = true
		if cmd.Short == "" || cmd.Long == "" || cmd.Example == "" {
			t.Errorf("%s: wants Short, Long and Example", path)
		}
		must.True(t, !strings.HasSuffix(cmd.Short, "."), "%s: Short ends with a full stop", path)
		if parent := cmd.Parent(); parent != nil && !parent.HasParent() && cmd.GroupID == "" {
			t.Errorf("%s: in no group of the help", path)
		}
		for _, text := range strings.Split(cmd.Long, "\n") {
			must.True(t, len(text) <= 110, "%s: line of %d bytes in Long", path, len(text))
		}
	})
	for path := range allShapes() {
		must.True(t, seen[path], "shapes of %s, which is no command", path)
	}
	must.True(t, len(seen) >= 25, "only %d commands", len(seen))
}

// TestVariablesAreDocumented holds the list of variables to what the help of commands and flags says.
func TestVariablesAreDocumented(t *testing.T) {
	known := make(map[string]bool)
	for _, v := range variables() {
		known[v.Name] = true
	}
	var help strings.Builder
	eachCommand(func(_ string, cmd *cobra.Command) {
		help.WriteString(cmd.Long + "\n" + cmd.Flags().FlagUsages() + cmd.InheritedFlags().FlagUsages())
	})
	help.WriteString(reach.ParametersHelp(&asking.Retrieve.Spec))
	for _, key := range settings.Keys() {
		help.WriteString(key.Env + "\n")
	}
	for name := range known {
		if strings.HasPrefix(name, "MNEM_") && !strings.Contains(help.String(), name) {
			t.Errorf("no flag or key of the configuration is told by %s", name)
		}
	}
	for _, word := range strings.FieldsFunc(help.String(), func(r rune) bool {
		return r != '_' && (r < 'A' || r > 'Z')
	}) {
		if strings.HasPrefix(word, "MNEM_") && !known[word] {
			t.Errorf("%s is not among the variables", word)
		}
	}
}

// allShapes lists the shapes of each command's answer, as operation.Schema reads them; an answer has one of them.
// Commands that are not here print no JSON.
var allShapes = sync.OnceValue(func() map[string][]string {
	all := make(map[string][]string)
	for _, v := range append(verbs.Verbs(), locals()...) {
		if shapes := v.Spec.Shapes(); len(shapes) > 0 {
			all["mnem "+v.Spec.Command] = shapes
		}
	}
	return all
})

// streams reports whether a command prints one object a line instead of one.
func streams(path string) bool {
	return slices.ContainsFunc(append(verbs.Verbs(), locals()...), func(v *line.Bound) bool {
		return "mnem "+v.Spec.Command == path && v.Spec.Stream()
	})
}

// checkAnswer fails the test unless what a command printed with --json has one of its shapes.
func checkAnswer(t *testing.T, command, stdout string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	if len(lines) > 1 && !streams(command) {
		t.Errorf("%s prints %d lines", command, len(lines))
	}
	for _, text := range lines {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Errorf("%s: %v: %s", command, err, text)
			return
		}
		must.OK(t, verbkit.CheckShapes(t, allShapes()[command], v), command, " has none of its schemas")
	}
}
