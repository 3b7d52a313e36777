package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/gitfollow"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/upkeep"
)

const (
	microsPerSecond = 1_000_000
	minEpoch        = int64(graph.MinTime) / microsPerSecond
	maxEpoch        = int64(graph.MaxTime) / microsPerSecond
)

// Command groups of the help.
const (
	groupStart   = "start"
	groupChange  = "change"
	groupRead    = "read"
	groupHistory = "history"
	groupRecord  = "record"
	groupTrade   = "trade"
	groupCare    = "care"
)

// root returns the command that holds those which a command line needs; no line needs all.
func (c *cli) root(args ...string) *cobra.Command {
	root := &cobra.Command{
		Use:   "mnem",
		Short: "git for an AI agent's memory",
		Long: "mnem keeps an agent's memory as a graph under version control: commit facts,\n" +
			"diff and branch them, and retrieve against an immutable commit under a token\n" +
			"budget. The same commit and request give the same bytes in every process.",
		Example: "  mnem init\n" +
			"  mnem remember 'We moved billing to Stripe because PayPal kept failing'\n" +
			"  mnem recall 'why did we move billing?'",
	}
	c.parent(root)
	root.AddGroup(
		&cobra.Group{ID: groupStart, Title: "Start:"},
		&cobra.Group{ID: groupChange, Title: "Change the memory:"},
		&cobra.Group{ID: groupRead, Title: "Read the memory:"},
		&cobra.Group{ID: groupHistory, Title: "Branch, tag and undo:"},
		&cobra.Group{ID: groupRecord, Title: "Record and replay:"},
		&cobra.Group{ID: groupTrade, Title: "Exchange:"},
		&cobra.Group{ID: groupCare, Title: "Care:"},
	)
	c.rootFlags(root)
	list := wanted(commands(c.all()), args)
	for _, name := range list {
		root.AddCommand(c.commandOf(name))
	}
	if len(list) > 1 { // no line that names a command wants a page of help
		for _, t := range topics() {
			root.AddCommand(topicCommand(t))
		}
	}
	root.SetHelpCommandGroupID(groupStart)
	c.checkHelp(root)
	root.Version = upkeep.VersionsHere().Version
	return root
}

// rootFlags gives a root the flags of every command, and what is said of wrong ones.
func (c *cli) rootFlags(root *cobra.Command) {
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.DisableDefaultCmd = true
	c.setUsage(root)
	g, f := &c.global, root.PersistentFlags()
	f.StringVarP(&g.repo, "repo", "R", "", "repository `PATH`: the directory that holds .mnem, the URL of "+
		"'mnem serve', or postgres://… (MNEM_REPO; default: found from here upward)")
	f.BoolVarP(&g.user, "global", "G", false, "the user's own repository, of all projects")
	f.BoolVar(&c.InJSON, "json", false, "print JSON, and errors as JSON on standard error")
	f.DurationVar(&g.wait, "wait", settings.DefaultWait, "how long to wait for another process to let go "+
		"of the repository (MNEM_WAIT; config: wait)")
	f.BoolVar(&g.noPager, "no-pager", false, "print long results on a terminal directly, without a pager (MNEM_PAGER, PAGER, less)")
	f.BoolVarP(&c.Quiet, "quiet", "q", false, "no progress and no remarks on standard error")
	c.profiling.add(root)
	root.SetGlobalNormalizationFunc(flagNames)
}

// flagNames gives flags their other names: what HTTP calls If-Match is --expect.
func flagNames(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	if name == "if-match" {
		name = "expect"
	}
	return pflag.NormalizedName(name)
}

// snapshot returns the memory at the revision of --at. HEAD before the first commit is the empty
// memory.
func (c *cli) snapshot(ctx context.Context, r *core.Repo) (*core.Snapshot, error) {
	if c.global.at == string(graph.Head) {
		_, head, err := r.Branch(ctx)
		if err != nil {
			return nil, err
		}
		return r.At(ctx, head)
	}
	return r.Snapshot(ctx, c.global.at)
}

// agent returns the name of the program that acts for the author, "" for a person.
func (c *cli) agent() string { return firstOf(c.global.agent, c.by.Agent) }

// stamp says who does this, and when. Where there is no repository that is what its error says: it
// comes before what is missing for writing to one.
func (c *cli) stamp() (state.Stamp, error) {
	by, err := c.stampOf()
	if err != nil && c.opened == nil && c.doing.name != "init" {
		if _, missing := c.repoFile(""); missing != nil {
			err = missing
		}
	}
	return by, err
}

func (c *cli) stampOf() (state.Stamp, error) {
	g := &c.global
	by := state.Stamp{
		Author:  firstOf(g.author, c.by.Author),
		Agent:   c.agent(),
		Command: slices.Clone(c.doing.words),
	}
	err := c.follow()
	if err != nil {
		return by, err
	}
	by.Task = firstOf(g.task, c.by.Task, c.followedTask())
	if by.Author == "" {
		if by.Author, err = c.setting("author"); err != nil {
			return by, err
		}
	}
	if by.Author == "" {
		return by, hint(fmt.Errorf("%w: no author", state.ErrInvalid),
			"run 'mnem config set author NAME', or give --author")
	}
	if by.Time, err = c.now(); err != nil {
		return by, err
	}
	if by.Head, err = verb.ParseExpect(c.global.expect); err != nil {
		return by, err
	}
	if by.Secrets, err = c.secretOptions(); err != nil {
		return by, err
	}
	return by, c.guard(&by, c.doing.name)
}

// doing is what the process is asked to do, as far as it matters to whoever opens and writes.
type doing struct {
	ctx   context.Context
	name  string   // of the verb, as policies know it
	words []string // how the operation log names it
	wait  bool     // whether --wait was given
}

// commandWords is how the operation log names a command: the verb, and the names of the flags
// given; never values, which may be private.
func commandWords(cmd *cobra.Command) []string {
	words := strings.Fields(cmd.CommandPath())[1:]
	cmd.Flags().Visit(func(f *pflag.Flag) { words = append(words, "--"+f.Name) })
	return words
}

// now returns the time of a change: --time, else SOURCE_DATE_EPOCH, else the clock.
func (c *cli) now() (graph.Time, error) {
	if s := c.global.time; s != "" {
		t, err := graph.ParseTime(s)
		if err != nil {
			err = usagef("--time: %w", err)
		}
		return t, err
	}
	if s := c.env("SOURCE_DATE_EPOCH"); s != "" {
		seconds, err := strconv.ParseInt(s, 10, 64)
		if err != nil || seconds > maxEpoch || seconds < minEpoch {
			return 0, usagef("SOURCE_DATE_EPOCH: %q is not a number of seconds since 1970", s)
		}
		return graph.Time(seconds * microsPerSecond), nil
	}
	return c.app.clock(), nil
}

// absolute returns a path from the working directory.
func (c *cli) absolute(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(c.app.Dir, path)
}

// withRepo opens the repository, for reading only unless write, runs fn and closes it. Where this
// process shares one it runs fn with that, and where another process has it open and answers that runs
// the verb.
func (c *cli) withRepo(
	write bool, fn func(ctx context.Context, r *core.Repo) error,
) (err error) {
	if err := c.follow(); err != nil {
		return err
	}
	ctx := c.doing.ctx
	if c.opened != nil {
		return fn(verb.Follow(ctx, c.by.Following), c.opened)
	}
	r, done, err := c.openRepo(ctx, write)
	if err != nil {
		return err
	}
	c.opened = r
	defer func() {
		c.opened = nil
		if closeErr := done(); err == nil {
			err = closeErr
		}
	}()
	if c.by.Following, err = gitfollow.Origins(ctx, r, c.by.Following); err != nil {
		return err
	}
	ctx = verb.Follow(ctx, c.by.Following)
	if err := fn(ctx, r); err != nil {
		return err
	}
	if f := c.by.Following; f != nil && f.Unknown {
		c.Remark("warning: the git branch that the memory follows is not known: %s", line(f.ReadOnly))
	}
	if !write {
		return nil
	}
	c.autoGC(ctx, r)
	return nil
}

// openHint says what to do about a repository that does not open.
func (c *cli) openHint(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		if c.global.user {
			return noGlobal(err)
		}
		if _, missing := c.repoFile(""); missing != nil {
			return missing
		}
		if c.linked() {
			return hint(err, "make it with 'mnem -R URL init', or correct the URL")
		}
		return hint(err, "run 'mnem init' to make a repository there")
	}
	var lost *core.HeadError
	if errors.As(err, &lost) {
		return hint(err, "copy the repository; 'mnem fsck --repair --accept-head' then takes what is "+
			"stored for the newest operation")
	}
	return lockHint(err)
}

func (c *cli) options() (core.Options, error) {
	opt := core.Options{
		Wait: c.global.wait, PID: c.app.PID, AcceptHead: c.acceptHead,
		Since: c.app.clock().String(), Now: c.app.clock, Opened: c.app.Opened,
	}
	err := c.setCaches(&opt)
	if err == nil && c.linked() {
		opt.Client, err = c.clientName(c.doing.ctx)
	}
	if err != nil {
		return opt, err
	}
	if c.doing.wait {
		return opt, settings.CheckWait(opt.Wait)
	}
	s := c.env("MNEM_WAIT")
	if s == "" {
		var err error
		if s, err = c.setting("wait"); s == "" || err != nil {
			return opt, err
		}
	}
	d, err := settings.ParseWait(s)
	opt.Wait = d
	return opt, err
}
