package line

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
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
)

const (
	microsPerSecond = 1_000_000
	minEpoch        = int64(graph.MinTime) / microsPerSecond
	maxEpoch        = int64(graph.MaxTime) / microsPerSecond
)

// Command groups of the help.
const (
	GroupStart   = "start"
	GroupChange  = "change"
	GroupRead    = "read"
	GroupHistory = "history"
	GroupRecord  = "record"
	GroupTrade   = "trade"
	GroupCare    = "care"
)

// RootFlags gives a root the flags of every command, and what is said of wrong ones.
func (c *Line) RootFlags(root *cobra.Command) {
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.DisableDefaultCmd = true
	c.setUsage(root)
	g, f := &c.Global, root.PersistentFlags()
	f.StringVarP(&g.Repo, "repo", "R", "", "repository `PATH`: the directory that holds .mnem, the URL of "+
		"'mnem serve', or postgres://… (MNEM_REPO; default: found from here upward)")
	f.BoolVarP(&g.User, "global", "G", false, "the user's own repository, of all projects")
	f.BoolVar(&c.InJSON, "json", false, "print JSON, and errors as JSON on standard error")
	f.DurationVar(&g.Wait, "wait", settings.DefaultWait, "how long to wait for another process to let go "+
		"of the repository (MNEM_WAIT; config: wait)")
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

// Agent returns the name of the program that acts for the author, "" for a person.
func (c *Line) Agent() string { return FirstOf(c.Global.Agent, c.By.Agent) }

// Stamp says who makes a change, and when. If there is no repository its error says so, rather than
// what else is missing for a write.
func (c *Line) Stamp() (state.Stamp, error) {
	by, err := c.StampOf()
	if err != nil && c.Opened == nil && c.Doing.Name != "init" {
		if _, missing := c.RepoFile(""); missing != nil {
			err = missing
		}
	}
	return by, err
}

// StampOf says who makes a change now, without what a verb knows of it.
func (c *Line) StampOf() (state.Stamp, error) {
	g := &c.Global
	by := state.Stamp{
		Author:  FirstOf(g.Author, c.By.Author),
		Agent:   c.Agent(),
		Command: slices.Clone(c.Doing.Words),
	}
	err := c.Follow()
	if err != nil {
		return by, err
	}
	by.Task = FirstOf(g.Task, c.By.Task, c.followedTask())
	if by.Author == "" {
		if by.Author, err = c.Setting("author"); err != nil {
			return by, err
		}
	}
	if by.Author == "" {
		return by, Hint(fmt.Errorf("%w: no author", state.ErrInvalid),
			"run 'mnem config set author NAME', or give --author")
	}
	if by.Time, err = c.Now(); err != nil {
		return by, err
	}
	if by.Head, err = verb.ParseExpect(c.Global.Expect); err != nil {
		return by, err
	}
	if by.Secrets, err = c.secretOptions(); err != nil {
		return by, err
	}
	if m, err := c.Meaning(); err != nil {
		return by, err
	} else if m != nil {
		by.Meaning = m
	}
	return by, c.guard(&by, c.Doing.Name)
}

// Doing describes the running command to the code that opens the repository and writes to it.
type Doing struct {
	Ctx   context.Context
	Name  string   // of the verb, as policies know it
	Words []string // how the operation log names it
	Wait  bool     // whether --wait was given
}

// CommandWords is how the operation log names a command: the verb, and the names of the flags
// given; never values, which may be private.
func CommandWords(cmd *cobra.Command) []string {
	words := strings.Fields(cmd.CommandPath())[1:]
	cmd.Flags().Visit(func(f *pflag.Flag) { words = append(words, "--"+f.Name) })
	return words
}

// Now returns the time of a change: --time, else SOURCE_DATE_EPOCH, else the clock.
func (c *Line) Now() (graph.Time, error) {
	if s := c.Global.Time; s != "" {
		t, err := graph.ParseTime(s)
		if err != nil {
			err = Usagef("--time: %w", err)
		}
		return t, err
	}
	if s := c.Env("SOURCE_DATE_EPOCH"); s != "" {
		seconds, err := strconv.ParseInt(s, 10, 64)
		if err != nil || seconds > maxEpoch || seconds < minEpoch {
			return 0, Usagef("SOURCE_DATE_EPOCH: %q is not a number of seconds since 1970", s)
		}
		return graph.Time(seconds * microsPerSecond), nil
	}
	return c.App.Clock(), nil
}

// Absolute returns a path from the working directory.
func (c *Line) Absolute(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(c.App.Dir, path)
}

// OpenHint says what to do about a repository that does not open.
func (c *Line) OpenHint(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		if c.Global.User {
			return noGlobal(err)
		}
		if _, missing := c.RepoFile(""); missing != nil {
			return missing
		}
		if c.Linked() {
			return Hint(err, "make it with 'mnem -R URL init', or correct the URL")
		}
		return Hint(err, "run 'mnem init' to make a repository there")
	}
	var lost *core.HeadError
	if errors.As(err, &lost) {
		return Hint(err, "copy the repository; 'mnem fsck --repair --accept' then takes what is "+
			"stored for the newest operation")
	}
	return lockHint(err)
}
