package line

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/keyring"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// flagError says in our words what is wrong with a flag, of what the parser returned.
func flagError(cmd *cobra.Command, err error) error {
	switch e := err.(type) { //nolint:errorlint // the parser wraps none of them
	case *pflag.NotExistError:
		return unknownFlag(cmd, e)
	case *pflag.ValueRequiredError:
		err = Usagef("%s needs a value", flagName(e.GetSpecifiedName(), e.GetSpecifiedShortnames()))
	case *pflag.InvalidValueError:
		err = Usagef("--%s: %s", e.GetFlag().Name, badValue(e))
	case *pflag.InvalidSyntaxError:
		err = Usagef("%q is not a flag", e.GetSpecifiedFlag())
	default:
		err = Usagef("%w", err)
	}
	return seeHelp(cmd, err)
}

func flagName(name, short string) string {
	if short != "" {
		return "-" + name
	}
	return "--" + name
}

// badValue says what a flag wants and its value is not.
func badValue(e *pflag.InvalidValueError) string {
	value := e.GetValue()
	if errors.Is(e, strconv.ErrRange) {
		return fmt.Sprintf("%q is too large or too small", value)
	}
	switch e.GetFlag().Value.Type() {
	case "int":
		return fmt.Sprintf("%q is not a whole number", value)
	case "float64":
		return fmt.Sprintf("%q is not a number", value)
	case "duration":
		return fmt.Sprintf("%q is not a duration like 5s or 336h", value)
	case "time":
		if _, err := graph.ParseTime(value); err != nil {
			return err.Error()
		}
	case "bool":
		return fmt.Sprintf("%q is neither true nor false", value)
	}
	return fmt.Sprintf("%q is not a list with commas between its entries, quoted as in CSV", value)
}

// unknownFlag is the error of a flag that a command does not have, with those that come close.
func unknownFlag(cmd *cobra.Command, e *pflag.NotExistError) error {
	if err := RenamedCommand(cmd, cmd.Flags().Args()); err != nil {
		return err
	}
	name, short := e.GetSpecifiedName(), e.GetSpecifiedShortnames()
	if now := cmd.Annotations[moved+name]; now != "" {
		return Hint(Usagef("--%s is now %s", name, now), "see '%s --help parameters'", cmd.CommandPath())
	}
	now, gone := operation.RenamedFlag(nameOf(cmd), name)
	if to, isFlag := strings.CutPrefix(now, "--"); isFlag {
		to, _, _ = strings.Cut(to, "=")
		to, _, _ = strings.Cut(to, " ")
		gone = cmd.Flags().Lookup(to) != nil // else it was no flag of this command
	}
	if gone && now == "" {
		return seeHelp(cmd, Usagef("--%s was removed and nothing replaces it", name))
	} else if gone {
		return seeHelp(cmd, Usagef("--%s is now %s", name, now))
	}
	err := Usagef("unknown flag %s", flagName(name, short))
	if len(short) > 1 {
		err = Usagef("unknown flag %s in -%s", flagName(name, short), short)
		name, _, _ = strings.Cut(short, "=") // perhaps a long one with one dash
	}
	if near := nearFlags(cmd, name); len(near) > 0 && len(name) > 1 {
		return Hint(err, "did you mean %s?", strings.Join(near, " or "))
	}
	return seeHelp(cmd, err)
}

// moved begins the annotations of a command that say how flags it had are given now.
const moved = "moved --"

// MovedFlag notes how a flag that a command had is given now.
func MovedFlag(cmd *cobra.Command, name, now string) {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[moved+name] = now
}

func nearFlags(cmd *cobra.Command, name string) (near []string) {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { // by name, inherited ones too
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	for _, n := range Nearest(name, names) {
		near = append(near, "--"+n)
	}
	return near
}

// Nearest returns those of several names that come close to one, the nearest first.
func Nearest(name string, of []string) []string {
	const far, most = 2, 3
	type near struct {
		name string
		far  int
	}
	var found []near
	for _, other := range of {
		n := Distance(name, other)
		if strings.HasPrefix(other, name) {
			n = min(n, 1)
		}
		if n <= far && n < len(other) {
			found = append(found, near{other, n})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return a.far - b.far })
	var names []string
	for _, f := range found[:min(len(found), most)] {
		if f.far == found[0].far {
			names = append(names, f.name)
		}
	}
	return names
}

// nameOf returns the name of a command without that of the program, which begins every error.
func nameOf(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// Distance returns the edit distance of a and b in bytes: insertions, deletions and replacements.
func Distance(a, b string) int {
	row := make([]int, len(b)+1) // of the beginnings of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost = 1 + min(before, row[j], row[j+1])
			}
			before, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// Positionals refuses too few positional arguments, naming the first that is missing, and too many. usage is the
// usage line without the name of the command.
func Positionals(usage string) cobra.PositionalArgs {
	usage = strings.TrimSuffix(usage, " [flags]")
	var required []string
	most, endless := 0, false
	for word := range strings.FieldsSeq(usage) {
		if strings.HasPrefix(word, "[flags") || strings.HasPrefix(word, "[-") {
			continue
		}
		endless = endless || strings.Contains(word, "…") || strings.Contains(word, "...")
		if !strings.HasPrefix(word, "[") {
			required = append(required, strings.TrimRight(word, "…."))
		}
		most++
	}
	return func(cmd *cobra.Command, args []string) error {
		see := func(err error) error {
			return Hint(err, "usage: %s %s; see '%[1]s --help'", cmd.CommandPath(), usage)
		}
		if err := RenamedCommand(cmd, args[:min(len(args), 1)]); err != nil {
			return err
		}
		switch {
		case len(args) < len(required):
			return see(Usagef("%s: %s is missing", nameOf(cmd), required[len(args)]))
		case most == 0:
			return noArguments(cmd, args)
		case len(args) > most && !endless:
			return see(Usagef("%s: one argument too many: %q", nameOf(cmd), args[most]))
		}
		return nil
	}
}

// CheckFlags refuses flags that do not go together, and those that need another one.
func (v *Bound) CheckFlags(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	if err := v.Spec.CheckExclusive(given); err != nil {
		return err
	}
	for _, group := range v.Spec.Together {
		i, j := slices.IndexFunc(group, given), slices.IndexFunc(group, func(name string) bool { return !given(name) })
		if i >= 0 && j >= 0 {
			return Usagef("--%s needs --%s", group[i], group[j])
		}
	}
	return nil
}

// HelpWidth is how wide a line of flags may be, in columns.
const HelpWidth = 80

// Basics are the commands that 'mnem --help' lists; 'mnem help --all' lists all.
var Basics = []string{
	"init", "integrate", "remember", "recall", "forget", "review", "ingest", "commit", "retrieve", "log", "diff", "show",
	"undo", "switch", "merge", "sync", "view", "doctor",
}

// usage returns one line of usage, examples, commands in their groups, flags, and topics under the command that shows
// them. It is no template: with text/template in a program the linker keeps every exported method of every type, which is
// a third of it.
func (c *Line) usage(cmd *cobra.Command) string {
	var b strings.Builder
	line := cmd.UseLine()
	switch {
	case !cmd.HasAvailableSubCommands():
	case strings.Contains(cmd.Use, " "): // it runs by itself too
		line += "\n  " + cmd.CommandPath() + " COMMAND"
	default:
		line = cmd.CommandPath() + " COMMAND"
	}
	fmt.Fprintf(&b, "Usage:\n  %s\n", line)
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	some := !cmd.HasParent() && c.Program == "" && !c.HelpAll
	listed := func(sub *cobra.Command) bool {
		return sub.IsAvailableCommand() && (!some || slices.Contains(Basics, sub.Name()))
	}
	for _, group := range cmd.Groups() {
		writeCommands(&b, group.Title, cmd, func(sub *cobra.Command) bool {
			return listed(sub) && sub.GroupID == group.ID
		})
	}
	if len(cmd.Groups()) == 0 {
		writeCommands(&b, "Commands:", cmd, listed)
	}
	if c.HelpAll && !cmd.HasParent() {
		var hidden []string
		for _, sub := range cmd.Commands() {
			if sub.Hidden {
				hidden = append(hidden, sub.Name())
			}
		}
		fmt.Fprintf(&b, "\nRun by programs:\n  %s\n", strings.Join(hidden, ", "))
	}
	if cmd.HasAvailableLocalFlags() {
		fmt.Fprintf(&b, "\nFlags:\n%s", cmd.LocalFlags().FlagUsagesWrapped(HelpWidth))
	}
	if cmd.HasAvailableInheritedFlags() {
		fmt.Fprintf(&b, "\nFlags of every command:\n%s", cmd.InheritedFlags().FlagUsagesWrapped(HelpWidth))
	}
	if cmd.HasHelpSubCommands() {
		writeCommands(&b, "Topics, shown by '"+cmd.CommandPath()+" help TOPIC':", cmd,
			(*cobra.Command).IsAdditionalHelpTopicCommand)
	}
	if cmd.HasAvailableSubCommands() {
		if some {
			fmt.Fprintf(&b, "\nUse '%s help --all' for all commands.\n", cmd.CommandPath())
		} else {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "Use '%s COMMAND --help' for more about a command.\n", cmd.CommandPath())
	}
	return b.String()
}

// writeCommands lists those commands under another that listed wants, if there are any.
func writeCommands(b *strings.Builder, title string, of *cobra.Command, listed func(*cobra.Command) bool) {
	for _, sub := range of.Commands() {
		if !listed(sub) {
			continue
		}
		if title != "" {
			fmt.Fprintf(b, "\n%s\n", title)
			title = ""
		}
		fmt.Fprintf(b, "  %-*s %s\n", sub.NamePadding(), sub.Name(), sub.Short)
	}
}

// Variable is an environment variable that commands read.
type Variable struct{ Name, Means string }

// Usagef returns the error of a command line that makes no sense.
func Usagef(format string, args ...any) error { return verb.Usagef(format, args...) }

// Hint adds the next step to an error of the command line.
func Hint(err error, format string, args ...any) error {
	return verb.Hintf(err, format, args...)
}

// Already returns the error of something that is there already.
func Already(err error, format string, args ...any) error {
	return branching.Already(err, format, args...)
}

// NoRepoError says where no repository was found.
type NoRepoError struct {
	Dir string
	Err error
}

func (e NoRepoError) Error() string { return "no repository in " + e.Dir + " or above it" }
func (e NoRepoError) Unwrap() error { return e.Err }

// lockHint says what to do about a repository that may not be written, or not even its lock file.
func lockHint(err error) error {
	at, ok := errors.AsType[*fs.PathError](err)
	if !ok || !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
		return err
	}
	if filepath.Base(at.Path) != lockFile {
		return Hint(err, "writing needs write permission to %s and what is in it; reading and --dry-run do not",
			filepath.Dir(at.Path))
	}
	return Hint(err, "reading needs read permission to %s, writing write permission too", at.Path)
}

// lockFile is the name of the lock file in a repository's db directory.
const lockFile = "LOCK"

// OutcomeOf maps an error to its row of the error table: by package verb, and of what only this surface meets here.
func OutcomeOf(ctx context.Context, err error) operation.Outcome {
	row := verb.OutcomeOf(ctx, err)
	is := func(targets ...error) bool {
		return slices.ContainsFunc(targets, func(t error) bool { return errors.Is(err, t) })
	}
	switch {
	case row != operation.Failed && row != operation.Invalid && row != operation.NotFound:
		return row
	case is(filestate.ErrLocked):
		return operation.Busy
	case is(errForeign, keyring.ErrExposed, ErrRevoked, ErrOpenToAll):
		return operation.Refused
	case is(filestate.ErrMoved):
		return operation.Conflict
	case is(filestate.ErrUnfit) && row == operation.Failed:
		return operation.Invalid
	}
	return row
}

// HintOf returns the next step after an error, "" for none.
func HintOf(err error, remote bool) string {
	next := verb.HintOf(err, remote)
	if next == "" && errors.Is(err, filestate.ErrLocked) {
		return "try again; stop the process that has it if it never ends"
	}
	return next
}

type errorJSON struct {
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Hint    string `json:"hint,omitempty"`
		Kind    string `json:"kind"` // see operation.Outcome

		Candidates []operation.Candidate `json:"candidates,omitempty"` // see operation.Error
	} `json:"error"`
}

// Report writes an error to the error stream and returns its exit code. The message is one line,
// whatever names are in it.
func (c *Line) Report(ctx context.Context, err error) int {
	row := OutcomeOf(ctx, err)
	next := HintOf(err, false)
	message := verb.MessageOf(err, false)
	if row == operation.Interrupted {
		message = "interrupted"
	}
	if c.InJSON {
		var body errorJSON
		body.Error.Code, body.Error.Message, body.Error.Hint = row.Code, message, next
		body.Error.Kind, body.Error.Candidates = row.Refusal(), verb.CandidatesOf(err)
		var b bytes.Buffer
		_ = verb.WriteJSON(&b, body) // strings always have a JSON form
		_, _ = c.App.Stderr.Write(b.Bytes())
		return row.Exit
	}
	fmt.Fprintf(c.App.Stderr, "%s: %s\n", FirstOf(c.Program, "mnem"), OneLine(message))
	for _, may := range verb.CandidatesOf(err) {
		fmt.Fprintf(c.App.Stderr, "  %s  %s\n", may.ID, OneLine(may.Title))
	}
	if next != "" {
		fmt.Fprintf(c.App.Stderr, "hint: %s\n", OneLine(next))
	}
	return row.Exit
}

// ErrOpenToAll is returned by a server that others could use without a token.
var ErrOpenToAll = errors.New("without a token anybody who reaches this address could use the memory")
