package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/verb/asking"
)

// reference is the page that TestReference keeps: go test ./internal/door/cli -run Reference -rewrite
// writes it.
var reference = filepath.Join("..", "..", "..", "docs", "reference", "commands.md")

// referenceHead and shapesHead have ~ for the quote of code.
const referenceHead = `# mnem: command line

This page is made from the commands themselves; a test holds the two together.

Results go to standard output, everything else to standard error. With ~--json~ every command
prints JSON: one object in one line, or where it says so one object a line. Text is UTF-8 and is
not escaped beyond what JSON asks for.

`

const shapesHead = `## JSON

The shapes below are JSON whose strings say what stands in their place: ~cid~ a CID in base32, ~id~
a UUID, ~time~ a time of RFC 3339 with microseconds in UTC, ~int~ an integer below 2^53, ~json~ any
value, ~null~ null; ~a|b~ is one of both, other words are themselves. A member whose name ends in
~|null~ may be null, one whose name ends in ~?~ may be missing. Scores are integers in units of
2^-16. Later releases may add members.

`

func code(s string) string { return strings.ReplaceAll(s, "~", "`") }

// TestReference compares the page with the commands.
func TestReference(t *testing.T) {
	var b bytes.Buffer
	writeReference(t, &b)
	if flag.Lookup("rewrite").Value.String() == "true" {
		if err := os.MkdirAll(filepath.Dir(reference), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(reference, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(reference)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(got), "\r\n", "\n")
	if diff := cmp.Diff(b.String(), text); diff != "" {
		t.Errorf("%s is out of date: run this test with -rewrite (-want +have):\n%s", reference, diff)
	}
}

func writeReference(t *testing.T, b *bytes.Buffer) {
	b.WriteString(code(referenceHead))
	for _, part := range []struct {
		title  string
		hidden bool
	}{{"Commands", false}, {"Commands that other programs call", true}} {
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
	for _, topic := range topics() {
		fmt.Fprintf(b, "## %s\n\n```\n%s\n```\n\n", topic.Short, topic.Long)
	}
	b.WriteString(code(shapesHead))
	eachCommand(func(path string, cmd *cobra.Command) {
		if cmd.HasParent() {
			writeCommand(t, b, path, cmd)
		}
	})
	page := bytes.TrimRight(b.Bytes(), "\n")
	b.Truncate(len(page) + 1)
}

func writeCommand(t *testing.T, b *bytes.Buffer, path string, cmd *cobra.Command) {
	fmt.Fprintf(b, "## %s\n\n%s.\n\n```\n%s\n```\n\n", path, cmd.Short, cmd.Long)
	if !cmd.HasSubCommands() {
		fmt.Fprintf(b, "```\n%s\n```\n\n", cmd.UseLine())
	}
	flags := cmd.NonInheritedFlags()
	if help := flags.Lookup("help"); help != nil {
		help.Hidden = true // every command has it
	}
	if flags.HasAvailableFlags() {
		fmt.Fprintf(b, "```\n%s```\n\n", flags.FlagUsages())
	}
	fmt.Fprintf(b, "Examples:\n\n```\n%s\n```\n\n", unindent(cmd.Example))
	shapes, ok := allShapes()[path]
	if !ok {
		return
	}
	if streams(path) {
		b.WriteString("With `--json`, one object a line:\n\n")
	} else {
		b.WriteString("With `--json`:\n\n")
	}
	for _, shape := range shapes {
		if !json.Valid([]byte(shape)) {
			t.Fatalf("%s: shape: %s", path, shape)
		}
		fmt.Fprintf(b, "```json\n%s\n```\n\n", layout(shape, ""))
	}
}

// shapeWidth is how long a line of a shape may be before its members get lines of their own.
const shapeWidth = 96

// layout breaks JSON that is longer than a line into its members.
func layout(shape, indent string) string {
	if len(indent)+len(shape) <= shapeWidth || !strings.ContainsRune("{[", rune(shape[0])) {
		return shape
	}
	var b strings.Builder
	b.WriteString(shape[:1])
	for i, member := range splitMembers(shape[1 : len(shape)-1]) {
		if i > 0 {
			b.WriteString(",")
		}
		name := ""
		if at := strings.Index(member, `": `); shape[0] == '{' && at > 0 {
			name, member = member[:at+3], member[at+3:]
		}
		inner := indent + "  "
		b.WriteString("\n" + inner + name + layout(member, inner))
	}
	return b.String() + "\n" + indent + shape[len(shape)-1:]
}

// splitMembers cuts the inside of an object or list at its own commas. No string of a shape has a
// bracket or comma.
func splitMembers(inside string) []string {
	var members []string
	depth, start := 0, 0
	for i, r := range inside {
		switch r {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			if depth == 0 {
				members = append(members, inside[start:i])
				start = i + 2 // the comma and a blank
			}
		}
	}
	return append(members, inside[start:])
}

func unindent(s string) string {
	return strings.TrimPrefix(strings.ReplaceAll(s, "\n  ", "\n"), "  ")
}

// TestEveryCommandIsComplete checks what nobody sees until they need it.
func TestEveryCommandIsComplete(t *testing.T) {
	seen := make(map[string]bool)
	eachCommand(func(path string, cmd *cobra.Command) {
		seen[path] = true
		if cmd.Short == "" || cmd.Long == "" || cmd.Example == "" {
			t.Errorf("%s: wants Short, Long and Example", path)
		}
		if strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: Short ends with a full stop", path)
		}
		if parent := cmd.Parent(); parent != nil && !parent.HasParent() && cmd.GroupID == "" {
			t.Errorf("%s: in no group of the help", path)
		}
		for _, text := range strings.Split(cmd.Long, "\n") {
			if len(text) > 110 {
				t.Errorf("%s: line of %d bytes in Long", path, len(text))
			}
		}
	})
	for path := range allShapes() {
		if !seen[path] {
			t.Errorf("shapes of %s, which is no command", path)
		}
	}
	if len(seen) < 25 {
		t.Errorf("only %d commands", len(seen))
	}
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
