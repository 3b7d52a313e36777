package reach

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/agent/integrate"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/internal/verb/reading"
)

func knownShell(cmd *cobra.Command, args []string) error {
	if err := line.Positionals("bash|zsh|fish|powershell")(cmd, args); err != nil {
		return err
	}
	if !slices.Contains(cmd.ValidArgs, args[0]) {
		return line.Hint(line.Usagef("no completion for %q", args[0]), "shells are %s", strings.Join(cmd.ValidArgs, ", "))
	}
	return nil
}

// CompletionCommand is the command that prints scripts for shells.
func CompletionCommand(c *line.Line) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "completion bash|zsh|fish|powershell",
		GroupID: line.GroupStart, Hidden: true,
		Short: "Print a shell completion script",
		Long: "Print a script for a shell, which then completes commands, flags, branches, tags,\n" +
			"sessions, stages and config keys. Load it in the shell's start-up file.",
		Example: "  source <(mnem completion bash)\n" +
			"  mnem completion zsh >\"${fpath[1]}/_mnem\"\n" +
			"  mnem completion fish >~/.config/fish/completions/mnem.fish\n" +
			"  mnem completion powershell | Out-String | Invoke-Expression",
		Args:      knownShell,
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
	}
	return c.Command(cmd, func(cmd *cobra.Command, args []string) error {
		root := cmd.Root()
		switch args[0] {
		case "bash":
			return root.GenBashCompletionV2(c.Out, true)
		case "zsh":
			return root.GenZshCompletion(c.Out)
		case "fish":
			return root.GenFishCompletion(c.Out, true)
		}
		return root.GenPowerShellCompletionWithDesc(c.Out)
	})
}

// completer returns what completes a value of a kind, by this program or by what the repository has.
func completer(c *line.Line, kind string) cobra.CompletionFunc {
	switch kind {
	case "client":
		return fixed(integrate.Names())
	case "key":
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { return keyNames(c) }
	case "rule":
		return line.CompleteRules
	case "setting":
		return fixed(settings.Names())
	case "value":
		return completeValue
	}
	return func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return completions(c, cmd, prefix, kind), cobra.ShellCompDirectiveNoFileComp
	}
}

func completeValue(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	key, err := settings.KeyOf(args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return key.Values(), cobra.ShellCompDirectiveNoFileComp
}

// namesFile reports whether a text names a value that may be a file, which a shell completes by itself.
func namesFile(text string) bool {
	return slices.ContainsFunc([]string{"FILE", "DIR", "PATH", "URL", "SPEC", "MODEL"}, func(word string) bool {
		return strings.Contains(text, word)
	})
}

func fixed(values []string) cobra.CompletionFunc {
	return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
}

// arguments completes the first argument of a verb, and a later one where its field says how.
func arguments(c *line.Line, v *line.Bound) cobra.CompletionFunc {
	fields := argFields(v)
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		kind := ""
		switch {
		case len(args) == 0:
			kind = v.Spec.Complete
		case len(args) < len(fields):
			kind = fields[len(args)].Complete
		}
		if kind == "" {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return completer(c, kind)(cmd, args, prefix)
	}
}

// Completing reports whether a command line is one that a shell completes another one by.
func Completing(args []string) bool {
	return len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd)
}

// completeBy registers what completes a flag, in a command line that completes one: it is never
// forgotten again, which a process that runs many command lines would feel.
func completeBy(c *line.Line, cmd *cobra.Command, flag string, fn cobra.CompletionFunc) {
	if cmd.Flag(flag) == nil {
		panic("no flag --" + flag) // seen by the first test that builds the commands
	}
	if !Completing(c.Args) {
		return
	}
	if err := cmd.RegisterFlagCompletionFunc(flag, fn); err != nil {
		panic(err) // registered twice, seen by the first test that completes
	}
}

// completions never waits and never fails: pressing a key asks for no answer yet.
func completions(c *line.Line, cmd *cobra.Command, prefix, kind string) (names []string) {
	c.Global.Wait, c.Quiet, c.Quietly = 0, true, true
	c.Doing = line.Doing{Ctx: cmd.Context(), Wait: true}
	req := &reading.NamesRequest{Kind: kind, Prefix: prefix}
	_ = Ask(cmd.Context(), c, &reading.Names.Spec, req, func(answer any) error {
		for _, name := range answer.(*reading.NamesAnswer).Names {
			names = append(names, line.OneLine(name))
		}
		return nil
	})
	return names
}

// setWord follows --help of a command with parameters, to list these.
const setWord = "parameters"

// setsOf returns the field whose values of the form NAME=VALUE set other fields, nil for none.
func setsOf(spec *verb.Spec) *verb.Field {
	fields := spec.Fields()
	if at := slices.IndexFunc(fields, func(f verb.Field) bool { return f.Sets }); at >= 0 {
		return &fields[at]
	}
	return nil
}

func settable(spec *verb.Spec) (list []verb.Field) {
	for _, f := range spec.Fields() {
		if f.Named {
			list = append(list, f)
		}
	}
	return list
}

// setParameters lets a command list its parameters, complete them, and say how a flag that was one is set.
func setParameters(c *line.Line, cmd *cobra.Command, spec *verb.Spec) {
	by := setsOf(spec)
	if by == nil {
		return
	}
	how := ""
	if complete := completeSet(c, spec); by.Arg {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return arguments(c, &line.Bound{Spec: spec})(cmd, args, begun)
			}
			return complete(cmd, args, begun)
		}
	} else {
		how = "--" + by.Name + " "
		completeBy(c, cmd, by.Name, complete)
	}
	for _, f := range settable(spec) {
		switch {
		case !f.NoFlag:
		case f.Kind == operation.Boolean:
			line.MovedFlag(cmd, f.Name, how+f.Name)
		default:
			line.MovedFlag(cmd, f.Name, how+f.Name+"=VALUE")
		}
	}
	cmd.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if n := len(args); n > 0 && args[n-1] == setWord {
			_, _ = fmt.Fprint(cmd.OutOrStdout(), ParametersHelp(spec)+"\n")
			return
		}
		cmd.Parent().HelpFunc()(cmd, args)
	})
}

// ParametersHelp lists the parameters of a verb, each with its default and its bounds.
func ParametersHelp(spec *verb.Spec) string {
	const indent = 18
	var b strings.Builder
	for _, f := range settable(spec) {
		doc := WithModels(strings.NewReplacer("{", "", "}", "").Replace(f.Doc)) + f.Note
		if by := boundsOf(&f); by != "" {
			doc += " (" + by + ")"
		}
		at := 0
		fmt.Fprintf(&b, "\n  %-*s", indent-2, f.Name)
		for word := range strings.FieldsSeq(doc) {
			if at > 0 && indent+at+len(word) >= line.HelpWidth {
				fmt.Fprintf(&b, "\n%*s", indent, "")
				at = 0
			}
			at += len(word) + 1
			b.WriteString(" " + word)
		}
	}
	return strings.TrimPrefix(b.String(), "\n")
}

func boundsOf(f *verb.Field) string {
	var parts []string
	if f.Default != "" {
		parts = append(parts, "default "+f.Default)
	}
	if p := f.Param(); p != nil && p.Bounds != "" {
		parts = append(parts, p.Bounds)
	}
	return strings.Join(parts, "; ")
}

// completeSet completes NAME= and the words that a parameter may have.
func completeSet(c *line.Line, spec *verb.Spec) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) (list []string, how cobra.ShellCompDirective) {
		name, value, named := strings.Cut(begun, "=")
		how = cobra.ShellCompDirectiveNoFileComp
		for _, f := range settable(spec) {
			switch {
			case !named:
				list, how = append(list, f.Name+"="), how|cobra.ShellCompDirectiveNoSpace
				continue
			case f.Name != name:
				continue
			}
			words := f.Enum
			switch {
			case f.Complete != "":
				words, _ = completer(c, f.Complete)(cmd, args, value)
			case f.Kind == operation.Boolean:
				words = []string{"true", "false"}
			}
			for _, w := range words {
				list = append(list, name+"="+w)
			}
		}
		return list, how
	}
}

// setNamed gives fields the values that the request has as NAME=VALUE, and returns the names of all given fields.
func setNamed(spec *verb.Spec, req any, given []string) ([]string, error) {
	by := setsOf(spec)
	if by == nil || !slices.Contains(given, by.Name) {
		return given, nil
	}
	given = slices.DeleteFunc(given, func(name string) bool { return name == by.Name })
	values := map[string][]string{}
	for _, text := range by.Value(req).Interface().([]string) {
		f, value, err := namedValue(spec, req, by, text)
		if err != nil {
			return nil, err
		}
		if slices.Contains(given, f.Name) && values[f.Name] == nil {
			return nil, line.Usagef("%s is given twice", f.Name)
		}
		values[f.Name] = append(values[f.Name], value)
		if err := f.Set(req, values[f.Name]); err != nil {
			if p := f.Param(); p != nil && p.Bounds != "" {
				err = fmt.Errorf("want a number, %s", p.Bounds)
			}
			return nil, line.Usagef("%s: %w", text, err)
		}
		given = append(given, f.Name)
	}
	by.Value(req).SetZero() // no other process is to set them again
	return slices.Compact(slices.Sorted(slices.Values(given))), nil
}

// namedValue reads NAME=VALUE; a name alone means true of what is true or false.
func namedValue(spec *verb.Spec, req any, by *verb.Field, text string) (*verb.Field, string, error) {
	name, value, with := strings.Cut(text, "=")
	fields := settable(spec)
	at := slices.IndexFunc(fields, func(f verb.Field) bool { return f.Name == name })
	if at < 0 {
		if q, ok := req.(interface{ NoParameter(name string) error }); ok {
			if err := q.NoParameter(name); err != nil {
				return nil, "", err
			}
		}
		names := make([]string, len(fields))
		for i, f := range fields {
			names[i] = f.Name
		}
		err := line.Usagef("unknown parameter %q", name)
		if near := line.Nearest(name, names); len(near) > 0 {
			return nil, "", line.Hint(err, "did you mean %s?", strings.Join(near, " or "))
		}
		return nil, "", line.Hint(err, "see 'mnem %s --help %s'", spec.Command, setWord)
	}
	f := &fields[at]
	switch truth := f.Kind == operation.Boolean; {
	case !with && (truth || f.Alone):
		value = cmp.Or(f.True, "true")
	case !with:
		return nil, "", line.Usagef("%s: want %s=VALUE", name, name)
	case truth && value != "true" && value != "false":
		return nil, "", line.Usagef("%s: want true or false", text)
	}
	return f, value, nil
}
