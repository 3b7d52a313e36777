package line

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
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
	"github.com/mnem-project/mnem/internal/gitdir"
	"github.com/mnem-project/mnem/internal/gitfollow"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/policy"
	"github.com/mnem-project/mnem/internal/verb/table"
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
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		_, err := fmt.Fprint(cmd.OutOrStderr(), c.usage(cmd))
		return err
	})
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
	by.Task = FirstOf(g.Task, c.By.Task)
	if f := c.By.Following; by.Task == "" && f != nil && len(f.Branch) <= graph.MaxActor {
		by.Task = f.Branch
	}
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
	if by.Head, err = verb.ParseExpect(c.Global.ExpectHead); err != nil {
		return by, err
	}
	if by.Secrets, err = c.secretOptions(); err != nil {
		return by, err
	}
	m, err := c.Meaning()
	if err != nil {
		return by, err
	}
	if m != nil {
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

// RepoFile returns the path of a file of the repository, which must exist.
func (c *Line) RepoFile(name string) (string, error) {
	dir, err := c.Dir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, core.DirName)
	if _, err := os.Stat(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = Hint(fmt.Errorf("%w: there is no repository in %s", store.ErrNotFound, dir),
				"run 'mnem init' to make a repository there")
		}
		return "", err
	}
	return filepath.Join(path, name), nil
}

// operationName is how policies name a command: "op_restore", "cherry_pick".
func operationName(cmd *cobra.Command) string {
	words := strings.Fields(cmd.CommandPath())[1:]
	return strings.ReplaceAll(strings.Join(words, "_"), "-", "_")
}

// PolicyPath returns the path of the repository's policy.
func (c *Line) PolicyPath() (string, error) {
	dir, err := c.Dir()
	return filepath.Join(dir, core.DirName, policy.FileName), err
}

// guard refuses a command that the repository's policy does not allow the agent of a stamp, and adds to
// the stamp what refuses the changes that it does not allow; nothing for people, and a guard of changes
// if there is a policy. It is asked for whatever writes, by stamp.
func (c *Line) guard(by *state.Stamp, name string) error {
	if by.Agent == "" && !c.By.Remote { // who calls a server is an agent, named or not
		return nil
	}
	path, err := c.PolicyPath()
	if errors.Is(err, store.ErrNotFound) {
		return nil // the command says so where it needs a repository
	}
	if err != nil {
		return err
	}
	return verb.Guard(by, path, name, table.Recording(name), c.OwnKey)
}

// allowSecret is the flag about credentials.
const allowSecret = "allow-secret"

// CompleteRules completes the names of the rules by which credentials are found.
func CompleteRules(_ *cobra.Command, _ []string, prefix string) (ids []string, _ cobra.ShellCompDirective) {
	for _, r := range guard.Rules() {
		if strings.HasPrefix(r.ID, prefix) {
			ids = append(ids, r.ID)
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// secretOptions says what becomes of credentials in what is written.
func (c *Line) secretOptions() (state.SecretOptions, error) {
	for _, id := range c.Global.AllowSecret {
		if !guard.IsRule(id) {
			return state.SecretOptions{}, Hint(Usagef("--%s: no rule %q", allowSecret, id),
				"'mnem config secrets' lists them")
		}
	}
	return state.SecretOptions{Allow: c.Global.AllowSecret, Strict: c.Global.Strict}, nil
}

// Follow sets HEAD for the caller from the git work tree, if the memory follows git. Only the first call of a command
// does anything. Without a work tree HEAD is not changed.
func (c *Line) Follow() error {
	if c.followed || c.Program != "" || c.Global.User {
		return nil
	}
	c.followed = true
	on, err := c.Configured(settings.FollowKey)
	if on != "true" || err != nil {
		return err
	}
	ctx := c.Doing.Ctx
	tree, err := c.WorkTree()
	if errors.Is(err, gitdir.ErrNone) || err == nil && tree == nil {
		return nil
	}
	if err == nil {
		c.By.Following, err = gitfollow.Following(ctx, tree)
	}
	if err != nil {
		return Hint(fmt.Errorf("follow git: %w", err), "repair what git says, end it with 'mnem git follow --remove', or set "+
			"%s=false for one command", settings.FollowVariable)
	}
	return nil
}

// WorkTree returns the git work tree that the memory follows: the one around the working directory, if it shares its
// branches with the one around the repository, and otherwise the latter.
func (c *Line) WorkTree() (*gitdir.Tree, error) {
	dir, err := c.Dir()
	if err != nil {
		return nil, err
	}
	return gitfollow.WorkTree(dir, c.App.Dir)
}

// mainRepo returns the directory of the repository that is about a linked git work tree: that of the main work
// tree, if it follows git. found is the nearest repository, "" for none.
func (c *Line) mainRepo(found string) string {
	return gitfollow.MainRepo(found, c.App.Dir, func(dir string) bool {
		list, err := settings.Read(filepath.Join(dir, core.DirName, settings.File))
		on, _ := settings.Find(list, settings.FollowKey)
		return err == nil && FirstOf(c.Env(settings.FollowVariable), on) == "true"
	})
}

// OfMain reports whether a repository that the user did not name belongs to the main work tree of a linked one.
func (c *Line) OfMain(dir string) bool {
	if c.Global.User || FirstOf(c.Global.Repo, c.Env("MNEM_REPO")) != "" {
		return false
	}
	rel, err := filepath.Rel(dir, c.App.Dir)
	return err == nil && !filepath.IsLocal(rel)
}
