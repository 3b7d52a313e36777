package cli

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// foreign are words of the libraries that parse flags, arguments and numbers. No error of ours has them.
var foreign = regexp.MustCompile(`strconv|pflag|cobra|invalid syntax|invalid argument|arg\(s\)|accepts|requires at least|` +
	`out of range|flags in the group|flag needs|shorthand|unknown flag:|bad flag|parsing|unknown unit|unmarshal|record on line`)

// refusal runs a command line that must be refused as a usage error in our words, and returns what it says.
func (w *world) refusal(args ...string) string {
	w.t.Helper()
	_, said := w.run(2, args...)
	must.True(w.t, !foreign.MatchString(said), "mnem %q says %s", args, said)
	must.True(w.t, strings.HasPrefix(said, "mnem: "), "mnem %q says %q", args, said)
	return said
}

// leaves returns all commands that do something.
func leaves(w *world) []*cobra.Command {
	c := &line.Line{App: w.App}
	c.Console = line.ConsoleOf(w.App, line.Buffered(new(bytes.Buffer)))
	var list []*cobra.Command
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
		if !cmd.HasSubCommands() && cmd.Runnable() {
			list = append(list, cmd)
		}
	}
	walk(root(c))
	return list
}

// TestUsageErrors gives each flag of each command a bad value, none, and a name with a letter too few; each command too
// few arguments and too many.
func TestUsageErrors(t *testing.T) {
	w := newWorld(t)
	list := leaves(w)
	must.Require(t, len(list) >= 60, "only %d commands", len(list))
	values, missing, many := 0, 0, 0
	for _, cmd := range list {
		words := strings.Fields(cmd.CommandPath())[1:]
		if words[0] == "help" || words[0] == hookName || // hooks end well whatever they are given
			len(words) == 1 && cmd.Short != "" && cmd.GroupID == "" && !cmd.HasFlags() {
			continue // topics, and help
		}
		cmd.InheritedFlags()
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			switch f.Value.Type() {
			case "int", "float64", "duration", "bool":
				values++
				said := w.refusal(append(words, "--"+f.Name+"=high")...)
				if !strings.Contains(said, "--") || !strings.Contains(said, `"high"`) {
					t.Errorf("%s --%s=high says %s", cmd.CommandPath(), f.Name, said)
				}
			}
			if f.Value.Type() == "int" {
				w.refusal(append(words, "--"+f.Name+"=99999999999999999999")...)
			}
			if f.NoOptDefVal == "" {
				if said := w.refusal(append(words, "--"+f.Name)...); !strings.Contains(said, "--"+f.Name+" needs a value") {
					t.Errorf("%s --%s says %s", cmd.CommandPath(), f.Name, said)
				}
			}
			if near := f.Name[:1] + f.Name[2:]; len(f.Name) > 4 && !f.Hidden && cmd.Flags().Lookup(near) == nil {
				if said := w.refusal(append(words, "--"+near)...); !strings.Contains(said, "did you mean ") ||
					!strings.Contains(said, "--"+f.Name) {
					t.Errorf("%s --%s says %s", cmd.CommandPath(), near, said)
				}
			}
		})
		w.refusal(append(words, "--zzzzzz")...)
		w.refusal(append(words, "-%")...)
		w.refusal(append(words, "--=x")...)
		if len(words) > 0 && cmd.Args != nil {
			if cmd.Args(cmd, nil) != nil {
				missing++
				must.Contain(t, w.refusal(words...), "is missing", cmd.CommandPath(), " without arguments")
			}
			if hundred := strings.Fields(strings.Repeat("x ", 100)); cmd.Args(cmd, hundred) != nil {
				many++
				w.refusal(append(words, hundred...)...)
			}
		}
	}
	if values < 100 || missing < 20 || many < 50 {
		t.Errorf("%d values, %d commands without arguments, %d with too many", values, missing, many)
	}
}

// TestFlagsThatExclude gives each verb the flags that do not go together, and one of those that go together alone.
func TestFlagsThatExclude(t *testing.T) {
	w := newWorld(t)
	tried := 0
	try := func(v *line.Bound, want string, names ...string) {
		tried++
		args := strings.Fields(v.Spec.Command)
		for _, word := range strings.Fields(line.FirstOf(v.Spec.Args, v.Spec.Usage)) {
			if !strings.HasPrefix(word, "[") {
				args = append(args, "x")
			}
		}
		for _, f := range v.Spec.Fields() {
			for _, name := range names {
				switch {
				case f.Name != name:
				case f.Kind == operation.Boolean || f.Alone:
					args = append(args, "--"+name)
				default:
					value := "1"
					if _, is := f.Value(v.Spec.Request()).Interface().(time.Duration); is {
						value = "1s"
					}
					args = append(args, "--"+name, value)
				}
			}
		}
		must.Contain(t, w.refusal(args...), want, "mnem ", args)
	}
	for _, v := range all((&line.Line{App: w.App})) {
		for _, f := range v.Spec.Fields() {
			for _, other := range f.Not {
				try(v, "exclude each other", f.Name, other)
			}
		}
		for _, group := range v.Spec.Exclude {
			try(v, "exclude each other", group[0], group[1])
		}
		for _, group := range v.Spec.Together {
			try(v, "--"+group[0]+" needs --"+group[1], group[0])
		}
	}
	must.True(t, tried >= 20, "only %d", tried)
}

// TestBadWords gives each flag with a text or a list of each verb that only reads a bad value: what is refused is
// refused in our words.
func TestBadWords(t *testing.T) {
	w := demoWorld(t)
	refused := 0
	for _, v := range all((&line.Line{App: w.App})) {
		if v.Spec.Effect != operation.Reads || v.Spec.Command == "" || resumes(v) || localCommand(v) {
			continue
		}
		for _, f := range v.Spec.Fields() {
			if f.Arg || f.Kind != operation.String && f.Kind != operation.Strings {
				continue
			}
			args := strings.Fields(v.Spec.Command)
			for _, word := range strings.Fields(line.FirstOf(v.Spec.Args, v.Spec.Usage)) {
				if !strings.HasPrefix(word, "[") {
					args = append(args, "alice")
				}
			}
			for _, bad := range []string{"", "no\"such value", "-1", "2026-99-99"} {
				ctx, stop := context.WithTimeout(t.Context(), time.Minute)
				w.err.Reset()
				w.out.Reset()
				if Run(ctx, w.App, append(args, fmt.Sprintf("--%s=%s", f.Name, bad))) != 0 {
					refused++
				}
				stop()
				if said := w.err.String(); foreign.MatchString(said) {
					t.Errorf("mnem %q --%s=%s says %s", args, f.Name, bad, said)
				}
			}
		}
	}
	must.True(t, refused >= 100, "only %d were refused", refused)
}

func resumes(v *line.Bound) bool {
	_, endless := v.Spec.Request().(verb.Resumer)
	return endless
}

// localCommand reports whether a command is about this machine: servers and files.
func localCommand(v *line.Bound) bool { return v.Spec.Name() == "" || v.Print == nil && v.Row == nil }
