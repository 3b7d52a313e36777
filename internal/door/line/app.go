// Package line holds one command line while it runs: the process's environment and streams, flags, the
// configuration, who asks, and where the repository is.
package line

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/gitdir"
	"github.com/mnem-project/mnem/internal/model/embed"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/internal/verb/peers"
)

// App is the outside world as commands see it. Tests pass their own.
type App struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// Hidden asks for a line that is not shown; nil if standard input is no terminal.
	Hidden func(prompt string) ([]byte, error)
	// Key waits for one key of the terminal; nil if standard input is no terminal.
	Key    func() (rune, error)
	Getenv func(string) string
	Now    func() time.Time
	// Sleep waits before a remote model is asked again; nil for the system's.
	Sleep  func(context.Context, time.Duration) error
	Rand   io.Reader // where the secrets of keys come from
	Dir    string    // working directory
	User   string    // name of the system's user, for the author that init writes
	Config string    // directory of the user's configurations if XDG_CONFIG_HOME is not set
	Data   string    // directory of the user's data if XDG_DATA_HOME is not set
	Home   string    // the user's own directory, "" if the system names none
	// Executable is the path of this program, for others to start it; "" if it is not known.
	Executable string
	// Detach starts this program as a process that outlives this one; nil if it must not.
	Detach func(args ...string) error
	// LookPath finds a program as the system starts it; nil if none is looked for.
	LookPath func(program string) (string, error)
	// Open opens a file in the user's browser; nil if there is none.
	Open func(ctx context.Context, path string) error
	// StartPager starts a program that shows what is written to it on the terminal, and returns how to wait for it
	// to end; nil if there is none.
	StartPager func(words []string) (io.WriteCloser, func() error, error)
	PID        int
	// OutTTY and ErrTTY tell whether results and messages go to a terminal: colour and progress only appear there.
	OutTTY, ErrTTY bool
	// Holder is the repository that commands of this process share, nil if each opens its own.
	// Commands about another repository do not use it.
	Holder *peers.Holder
	// Meaning is the model that is a part of the program, nil for none.
	Meaning embed.Exact
	// Opened, if set, is called after each opening of a repository.
	Opened func(path string)
	// Signer, if set, signs in place of the user's key, which it is given.
	Signer func(key commit.SignFunc) commit.SignFunc
	// Serving is set by commands that are servers, for Main; nil outside of it.
	Serving *atomic.Bool
}

// System returns the App of this process.
func System() *App {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	home, _ := os.UserHomeDir()
	program, _ := os.Executable()
	a := &App{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Now: time.Now,
		Rand: rand.Reader, Hidden: hiddenInput(), Key: terminalKeys(), Dir: dir, User: systemUser(),
		Home: home, Executable: program, Detach: detach, LookPath: exec.LookPath, Open: openFile, StartPager: startPager,
		PID: os.Getpid(), OutTTY: isTerminal(os.Stdout), ErrTTY: isTerminal(os.Stderr),
	}
	a.Config, a.Data = systemDirs(home)
	return a
}

// Clock returns the time that it is.
func (a *App) Clock() graph.Time { return graph.From(a.Now()) }

func (a *App) Run(ctx context.Context, args []string, rootOf func(*Line) *cobra.Command) int {
	app := *a
	if app.Stdin == nil {
		app.Stdin = strings.NewReader("")
	}
	out := newOutlet(app.Stdout)
	app.Stderr = aside{out, app.Stderr}
	a = &app
	c := &Line{App: a, Args: args, Console: ConsoleOf(a, Buffered(out)), By: a.Caller(ctx), outlet: out}
	defer func() { *c = Line{} }() // what completed flags is kept for ever, and leads here
	root := rootOf(c)
	root.SetArgs(args)
	root.SetIn(a.Stdin)
	root.SetOut(c.Out)
	root.SetErr(a.Stderr)
	var gone error
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if gone = RenamedCommand(cmd, cmd.Flags().Args()); gone == nil {
			help(cmd, args)
		}
	})
	err := root.ExecuteContext(ctx)
	err = FirstError(err, gone)
	c.Release(err)
	err = FirstError(err, c.CloseKept())
	if err != nil && !c.Started {
		err = Usagef("%w", err) // refused before any command ran
	}
	err = FirstError(err, c.Out.Flush())
	if c.pager != nil {
		c.pager.end()
	}
	switch {
	case err == nil || IsClosedPipe(err):
		return c.Exit // the reader of the results may have seen enough
	case !c.Started:
		c.InJSON = c.InJSON || WantsJSON(args)
	}
	return c.Report(ctx, err)
}

// outBuffer is how many bytes of results are gathered for one write.
const outBuffer = 64 << 10

// IsClosedPipe reports whether a write failed because the reader has gone.
func IsClosedPipe(err error) bool {
	const brokenPipe, noData = syscall.Errno(109), syscall.Errno(232) // how Windows says it
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) ||
		runtime.GOOS == "windows" && (errors.Is(err, brokenPipe) || errors.Is(err, noData))
}

// WantsJSON reports whether --json is among arguments that could not be parsed.
func WantsJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}

// OutBuffers pools such buffers for calls from other surfaces, which come in quick succession.
var OutBuffers = sync.Pool{New: func() any { return Buffered(nil) }}

// Buffered returns a writer that gathers what is printed.
func Buffered(out io.Writer) *bufio.Writer { return bufio.NewWriterSize(out, outBuffer) }

// ConsoleOf returns where a command of an app prints, and says things.
func ConsoleOf(app *App, out *bufio.Writer) show.Console {
	return show.Console{
		Out: out, Aside: app.Stderr, Terminal: app.OutTTY, Plain: app.Getenv("NO_COLOR") != "",
	}
}

// Line is one command line being run.
type Line struct {
	show.Console
	App       *App
	Program   string // another than mnem, "" for that
	HelpAll   bool   // whether help lists all commands
	Args      []string
	By        operation.Caller         // who asks; flags go before
	Verbs     []*Bound                 // all commands that are declared, once one is made
	Asked     *Running                 // the verb that runs, nil for none
	GitTree   *gitdir.Tree             // that commits of git are named of, nil until one is
	Quietly   bool                     // whether answers of verbs are for this process, and not printed
	Inputs    []string                 // the files that it reads, of change lines
	Whole     map[string]*wholeInput   // inputs that were read before the repository is held, by their names
	Kept      map[string]*peers.Holder // repositories that transfers keep open, by their directories; nil until one is asked
	Global    GlobalFlags
	profiling profilingFlags
	Doing     Doing
	Long      bool      // whether the verb under way takes so long that other processes must be let in
	outlet    *outlet   // that results go to, nil for other surfaces
	ahead     []*outlet // that wait for no reader, nil if all do
	pager     *pager    // that results go to, nil for none
	Working   []func()  // end what shows that it takes its time
	Started   bool      // whether a command ran: errors before that are about usage
	Exit      int       // exit code of a command that succeeded but has bad news, as fsck and replay
	Conf      *settings.Layers
	followed  bool       // whether it was looked what HEAD is for the caller
	InUse     *peers.Use // the shared repository that this command uses, nil for none
	Opened    *core.Repo // that this command has open now, shared or its own
	// AcceptHead opens a repository whose head file disagrees: for fsck --repair alone.
	AcceptHead bool
	// Client names the process in databases unless MNEM_CLIENT does, "" for the user's own name.
	Client   string
	Failures map[string]int // of models by kind, nil if they are not counted
}

// GlobalFlags are the flags of every command, and those of commands that write.
type GlobalFlags struct {
	Repo string
	User bool // the user's own repository: --global
	Wait time.Duration
	verb.Writing
}

// Caller returns who asks: as the context says, and if it does not, the environment.
func (a *App) Caller(ctx context.Context) operation.Caller {
	by, said := operation.CallerOf(ctx)
	by.Author = FirstOf(by.Author, a.Getenv("MNEM_AUTHOR"))
	by.Agent = FirstOf(by.Agent, a.Getenv("MNEM_AGENT"))
	by.Task = FirstOf(by.Task, a.Getenv("MNEM_TASK"))
	by.Branch = FirstOf(by.Branch, a.Getenv("MNEM_BRANCH"))
	by.Stage = FirstOf(by.Stage, a.Getenv("MNEM_STAGE"))
	if !said {
		by.Session = a.Getenv("MNEM_SESSION") // else answers are recorded where the caller says
	}
	return by
}

// Env returns the first set variable's value.
func (c *Line) Env(names ...string) string {
	for _, n := range names {
		if v := c.App.Getenv(n); v != "" {
			return v
		}
	}
	return ""
}

// Command finishes a command: errors and usage are reported by Run, and what follows the name of
// the command in its Use is written by hand.
func (c *Line) Command(cmd *cobra.Command, run func(cmd *cobra.Command, args []string) error) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c.Started = true
		c.Doing = Doing{
			Ctx: cmd.Context(), Name: operationName(cmd), Words: CommandWords(cmd),
			Wait: cmd.Flags().Changed("wait"),
		}
		c.page()
		stop, err := c.profiling.start(c)
		if err != nil {
			return err
		}
		return FirstError(run(cmd, args), stop())
	}
	if f := cmd.Flags().Lookup("expect"); f != nil {
		f.Usage += "; also --if-match"
	}
	cmd.SilenceErrors = true
	cmd.SilenceUsage = true
	cmd.DisableFlagsInUseLine = true
	return cmd
}

// Parent finishes a command that only holds others: alone it shows its help.
func (c *Line) Parent(cmd *cobra.Command, subs ...*cobra.Command) *cobra.Command {
	cmd.Args = knownCommand
	cmd.AddCommand(subs...)
	return c.Command(cmd, func(cmd *cobra.Command, _ []string) error { return cmd.Help() })
}

// noArguments refuses arguments, and says where one may be the value of a flag before it.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := Usagef("%s takes no arguments: %q", nameOf(cmd), args[0])
	if name := givenAlone(cmd); name != "" {
		return Hint(err, "a value of --%[1]s follows \"=\": --%[1]s=%[2]s", name, args[0])
	}
	return seeHelp(cmd, err)
}

func seeHelp(cmd *cobra.Command, err error) error {
	return Hint(err, "see '%s --help'", cmd.CommandPath())
}

// givenAlone returns a flag that was given without the value that it may have, "" for none.
func givenAlone(cmd *cobra.Command) (name string) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.NoOptDefVal != "" && f.Value.Type() != "bool" && f.Value.String() == f.NoOptDefVal {
			name = f.Name
		}
	})
	return name
}

// mostWords is how many words the name of a command has at most.
const mostWords = 3

// RenamedCommand names the replacement of a removed command, which the first words of a line are, nil for any other.
func RenamedCommand(cmd *cobra.Command, args []string) error {
	words := append(strings.Fields(cmd.CommandPath())[1:], args...)
	for n := min(mostWords, len(words)); n > 0; n-- {
		name := strings.Join(words[:n], " ")
		if now := operation.Renamed(name); now != "" {
			command, _, _ := strings.Cut(now, " -")
			return Hint(Usagef("'%s' is now '%s'", name, now), "see '%s %s --help'", cmd.Root().Name(), command)
		}
	}
	return nil
}

// knownCommand refuses what is not the name of a command, with the names that come close.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	err := fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
	if err := RenamedCommand(cmd, args); err != nil {
		return err
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return Hint(err, "did you mean %s?", strings.Join(near, " or "))
	}
	return seeHelp(cmd, err)
}

// Bound is a verb with what prints its answers for people.
type Bound struct {
	Spec *verb.Spec
	// Print prints an answer to a request, row returns the row of one table that an answer is: one of them is set.
	Print func(c *show.Console, req, answer any) error
	Row   func(c *show.Console, answer any) []show.Cell
	// Around is called in place of what runs the verb, which it is given; nil for most.
	Around func(ctx context.Context, c *Line, req any, run func(context.Context) error) error
}

// Running is a verb that runs: here, or where the repository is open.
type Running struct {
	*verb.Job              // the run that it is at
	Top       any          // the request that was asked for
	Typed     bool         // whether emit is given answers, and not JSON printed as it comes
	Unshare   func() error // ends the sharing of the repository with other processes, nil if it is not shared
	Stamp     state.Stamp  // of a verb that writes, once it is made

	Rest verb.Resumer // the request of a verb without an end, nil of others
	Over bool         // whether no more answers are wanted
}

// Release ends the use of the shared repository, once the command reads no more from it. err is the
// error of the command.
func (c *Line) Release(err error) {
	if c.InUse != nil {
		c.InUse.Done(err)
		c.InUse = nil
	}
}

// ShownFile returns the name of a file for messages.
func ShownFile(name string) string {
	if name == StdinName {
		return stdinShown
	}
	return name
}

// InterruptGrace is how long a command may take to end by itself after an interrupt. Ending the
// process then loses nothing that was acknowledged, as a power cut does not.
const InterruptGrace = 700 * time.Millisecond

// Serves says that the command is a server, whose end takes as long as its settings say.
func (a *App) Serves() {
	if a.Serving != nil {
		a.Serving.Store(true)
	}
}

// CloseKept closes the repositories that were kept open.
func (c *Line) CloseKept() (err error) {
	for _, h := range c.Kept {
		if h != nil {
			err = errors.Join(err, h.Close())
		}
	}
	c.Kept = nil
	return err
}

// OneLine makes text that users wrote safe to print: one line, nothing invisible.
func OneLine(s string) string { return plain.Line(s) }

// Plural is "1 node", "2 nodes".
func Plural(n int, what string) string { return plain.Plural(n, what) }

// FirstOf returns the first text that is not empty.
func FirstOf(values ...string) string { return cmp.Or(values...) }

// FirstError returns the first error that is one.
func FirstError(errs ...error) error { return cmp.Or(errs...) }
