package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// App is the outside world as commands see it. Tests pass their own.
type App struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Getenv func(string) string
	Now    func() time.Time
	Dir    string // working directory
	User   string // login name of the system's user, for the author that init writes
	PID    int
	// OutTTY and ErrTTY tell whether results and messages go to a terminal: colour and progress
	// only appear there.
	OutTTY, ErrTTY bool
}

// System returns the App of this process.
func System() *App {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	return &App{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Now: time.Now,
		Dir: dir, User: systemUser(), PID: os.Getpid(),
		OutTTY: isTerminal(os.Stdout), ErrTTY: isTerminal(os.Stderr),
	}
}

// Run runs one command line and returns its exit code.
func (a *App) Run(ctx context.Context, args []string) int {
	out := bufio.NewWriterSize(a.Stdout, 64<<10)
	c := &cli{app: a, out: out}
	root := c.root()
	root.SetArgs(args)
	root.SetIn(a.Stdin)
	root.SetOut(out)
	root.SetErr(a.Stderr)
	err := root.ExecuteContext(ctx)
	if flushErr := out.Flush(); err == nil {
		err = flushErr
	}
	if errors.Is(err, syscall.EPIPE) {
		return 0 // whoever read the results has seen enough
	}
	if err != nil {
		return c.report(ctx, err)
	}
	return c.exit
}

// cli is one command line being run.
type cli struct {
	app    *App
	out    *bufio.Writer
	global globalFlags
	exit   int // exit code of a command that succeeded but has bad news, as fsck and replay
}

// globalFlags are the flags of every command.
type globalFlags struct {
	repo    string
	json    bool
	author  string
	agent   string
	task    string
	time    string
	wait    time.Duration
	waitSet bool
	branch  string
	quiet   bool
}

// env returns the first set variable's value.
func (c *cli) env(names ...string) string {
	for _, n := range names {
		if v := c.app.Getenv(n); v != "" {
			return v
		}
	}
	return ""
}

// command finishes a cobra command: errors and usage are reported by Run.
func command(cmd *cobra.Command, run func(cmd *cobra.Command, args []string) error) *cobra.Command {
	cmd.RunE = run
	cmd.SilenceErrors = true
	cmd.SilenceUsage = true
	cmd.DisableFlagsInUseLine = true
	return cmd
}
