package cli

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/verbs"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// exposedList is the page that TestExposed keeps: go test ./internal/door/cli -run Exposed -rewrite
// writes it.
var exposedList = filepath.Join("testdata", "operations.txt")

// TestExposed lists exactly what callers from outside may ask, so that nothing is let out by
// somebody who only adds a flag.
func TestExposed(t *testing.T) {
	var b strings.Builder
	kinds := []string{"", "string", "integer", "number", "boolean", "strings", "lines"}
	for _, o := range verbs.Operations() {
		fmt.Fprintf(&b, "%s: %s, %s", o.Name, strings.Join(o.Command, " "), o.Effect)
		if o.Body != "" {
			fmt.Fprintf(&b, ", from %s", o.Body)
		}
		if o.Answer != operation.MediaJSON {
			fmt.Fprintf(&b, ", to %s", o.Answer)
		}
		if o.Confined {
			b.WriteString(", confined")
		}
		b.WriteString("\n")
		for _, p := range o.Params {
			fmt.Fprintf(&b, "  %s %s", p.Name, kinds[p.Kind])
			if p.Effect != 0 {
				fmt.Fprintf(&b, ", %s", p.Effect)
			}
			if p.Required {
				b.WriteString(", required")
			}
			if p.Enum != nil {
				fmt.Fprintf(&b, ": %s", strings.Join(p.Enum, " "))
			}
			b.WriteString("\n")
		}
	}
	if flag.Lookup("rewrite").Value.String() == "true" {
		must.OK(t, os.WriteFile(exposedList, []byte(b.String()), 0o644))
	}
	got := must.Get(os.ReadFile(exposedList))(t)
	if diff := cmp.Diff(strings.ReplaceAll(string(got), "\r\n", "\n"), b.String()); diff != "" {
		t.Errorf("other things are exposed (-want +have); if that is meant, -rewrite:\n%s", diff)
	}
}

// ofThisMachine are the commands that only users of this machine may run.
var ofThisMachine = []string{
	"mnem", "mnem init", "mnem config", "mnem config get", "mnem config set", "mnem config list",
	"mnem config unset", "mnem demo", "mnem completion", "mnem key", "mnem key new", "mnem key list",
	"mnem key show", "mnem key export", "mnem key import", "mnem key trust", "mnem key revoke",
	"mnem key rm", "mnem review sources",
	"mnem ingest", "mnem capture", "mnem hold", "mnem hook", "mnem session last",
	"mnem integrate", "mnem doctor", "mnem config policy", "mnem config secrets",
	"mnem serve", "mnem view", "mnem mcp", "mnem serve token", "mnem serve token new", "mnem serve token list", "mnem serve token revoke",
	"mnem remote", "mnem remote add", "mnem remote list", "mnem remote readers", "mnem remote rm",
	"mnem git", "mnem git follow", "mnem git sync", "mnem git prune", "mnem git hook",
	"mnem clone", "mnem fetch", "mnem push", "mnem sync",
	"mnem op", "mnem session", "mnem pack", // which hold others
}

// TestEveryCommandIsExposedOrNot sees to it that a new command is thought about.
func TestEveryCommandIsExposedOrNot(t *testing.T) {
	paths := map[string]bool{}
	for _, v := range verbs.Verbs() {
		paths["mnem "+v.Spec.Command] = !v.Spec.Local
	}
	eachCommand(func(path string, _ *cobra.Command) {
		if paths[path] == slices.Contains(ofThisMachine, path) {
			t.Errorf("%s: exposed %t; declare it, or list it in ofThisMachine", path, paths[path])
		}
	})
}

func TestOperationsAreWellFormed(t *testing.T) {
	names := map[string]bool{}
	snake := regexp.MustCompile(`^[a-z][a-z_]*$`)
	root := root((&line.Line{App: &line.App{Getenv: func(string) string { return "" }}}))
	for _, o := range verbs.Operations() {
		must.True(t, !names[o.Name] && snake.MatchString(o.Name), "%s: twice, or not in snake_case", o.Name)
		names[o.Name] = true
		if o.Title == "" || o.Doc == "" || o.Answer == "" || o.Effect == 0 {
			t.Errorf("%s: wants Title, Doc, Answer and Effect", o.Name)
		}
		if len(o.Shapes) == 0 && o.Answer != operation.MediaCAR {
			t.Errorf("%s: no shape of its answer", o.Name)
		}
		if !json.Valid(o.InputSchema()) {
			t.Errorf("%s: %s", o.Name, o.InputSchema())
		}
		cmd, _, err := root.Find(o.Command)
		must.OK(t, err)
		params, words := map[string]bool{}, true
		for _, p := range o.Params {
			if params[p.Name] || !snake.MatchString(p.Name) || p.Doc == "" || p.Kind == 0 {
				t.Errorf("%s: parameter %s: twice, not in snake_case, or without Doc or Kind", o.Name, p.Name)
			}
			params[p.Name] = true
			words = words && p.Flag == ""
			if p.Flag == "" && p.Kind != operation.Lines && !words {
				t.Errorf("%s: %s comes after a flag", o.Name, p.Name)
			}
			if p.Flag == "" {
				continue
			}
			flag := cmd.Flags().Lookup(p.Flag)
			if flag == nil { // of --set alone, or of remote callers
				continue
			}
			for _, v := range p.Enum {
				if usage := flag.Usage; !strings.Contains(usage, v) {
					t.Errorf("%s: %s: %q is not in %q", o.Name, p.Name, v, usage)
				}
			}
		}
	}
	must.True(t, len(names) >= 60, "only %d operations", len(names))
}
