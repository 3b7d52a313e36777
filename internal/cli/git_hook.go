package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/filestate"
	"github.com/mnem-project/mnem/internal/gitdir"
	"github.com/mnem-project/mnem/repo"
)

const (
	hookFile = "post-merge"
	// hookMark begins the second line of the hook that is ours.
	hookMark = "# 'mnem git hook' wrote this; 'mnem git hook --remove' takes it away.\n"
	// hookBefore ends the name of the hook that was there before ours, which runs it first.
	hookBefore = ".before-mnem"
	hookFresh  = ".new-mnem" // of ours until it is whole
	maxHook    = 1 << 20
)

// gitHookJSON is where the hook is.
type gitHookJSON struct {
	Path      string `json:"path"`
	Installed bool   `json:"installed"`
	Chained   bool   `json:"chained"` // whether it runs a hook that was there before
	Changed   bool   `json:"changed"`
}

func (c *cli) gitHook() *cobra.Command {
	var remove bool
	cmd := &cobra.Command{
		Use:   "hook",
		Short: "Run 'mnem git sync' after each git merge",
		Long: "Have git run 'mnem git sync' after each merge and pull, by its hook post-merge. A hook that is there runs\n" +
			"first, and what it ends with counts; where mnem fails git goes on. Following needs no hook: this only\n" +
			"saves running 'mnem git sync' by hand. --remove puts back what was there before.",
		Example: "  mnem git hook\n  mnem git hook --remove",
		Args:    cobra.NoArgs,
	}
	cmd.Flags().BoolVar(&remove, "remove", false, "remove it, and put back what was there before")
	return c.command(cmd, func(cmd *cobra.Command, _ []string) error {
		if _, err := c.repoFile(""); err != nil {
			return err
		}
		tree, err := c.workTree()
		if errors.Is(err, gitdir.ErrNone) {
			return hint(fmt.Errorf("%w: %w", repo.ErrInvalid, err), "make one with 'git init'")
		}
		if err != nil {
			return err
		}
		path := hookPath(tree)
		out := &gitHookJSON{Path: path, Installed: !remove}
		if remove {
			err = unhook(path, out)
		} else if err = hooksHere(cmd.Context(), tree); err == nil {
			err = c.hookGit(path, out)
		}
		if err != nil {
			return err
		}
		return c.printGitHook(out)
	})
}

// hookPath returns the path of the hook of a work tree.
func hookPath(tree *gitdir.Tree) string { return filepath.Join(tree.Common, "hooks", hookFile) }

// hooksHere refuses where git's hooks are kept elsewhere: they belong to other repositories as well, or to a
// program that manages them.
func hooksHere(ctx context.Context, tree *gitdir.Tree) error {
	dir, _, err := askGit(ctx, tree.Work, "config", "--get", "--path", "core.hooksPath")
	if dir = strings.TrimSpace(dir); err != nil || dir == "" {
		return err
	}
	return hint(fmt.Errorf("%w: git's hooks are in %s (core.hooksPath)", repo.ErrInvalid, line(dir)),
		"add the line 'mnem git sync --quiet || :' to the hook post-merge there")
}

// hooked reports whether a hook is ours.
func hooked(path string) (bool, error) {
	data, err := filestate.Read(path, maxHook)
	return bytes.Contains(data, []byte(hookMark)), err
}

// hookGit writes the hook, which runs the one that is there first.
func (c *cli) hookGit(path string, out *gitHookJSON) error {
	ours, err := hooked(path)
	if err != nil {
		return err
	}
	before := path + hookBefore
	kept, err := os.Lstat(before)
	out.Chained = err == nil
	if ours {
		return nil
	}
	was, err := os.Lstat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for a hook: %w", err)
	}
	// One that is in both places was kept by a run that was ended.
	if kept != nil && (was == nil || !os.SameFile(kept, was)) {
		return hint(fmt.Errorf("%s: %w", before, fs.ErrExist), "it is of an earlier hook: move it away first")
	}
	out.Chained = was != nil
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return fmt.Errorf("write hook: %w", err)
	}
	fresh := path + hookFresh
	err = filestate.Replace(fresh, 0o755, func(w io.Writer) error {
		_, err := io.WriteString(w, c.hookText())
		return err
	})
	if err != nil {
		return fmt.Errorf("write hook: %w", err)
	}
	if was != nil && kept == nil {
		// Git has a hook at every moment: the one that was there stays until ours takes its place.
		if err = os.Link(path, before); err != nil {
			err = os.Rename(path, before) // where files have one name each
		}
	}
	if err == nil {
		if err = os.Rename(fresh, path); err == nil {
			out.Changed = true
			return nil
		}
		if was != nil {
			err = errors.Join(err, os.Rename(before, path))
		}
	}
	return errors.Join(fmt.Errorf("write hook: %w", err), os.Remove(fresh))
}

// hookText is our hook. What was there is run whether or not it can be run still, as git does.
func (c *cli) hookText() string {
	return "#!/bin/sh\n" + hookMark +
		"if test -x \"$0" + hookBefore + "\"; then \"$0" + hookBefore + "\" \"$@\" || exit $?; fi\n" +
		shellWord(firstOf(c.app.Executable, "mnem")) + " git sync --quiet || :\n"
}

// unhook puts back what was there before our hook.
func unhook(path string, out *gitHookJSON) error {
	ours, err := hooked(path)
	if err != nil || !ours {
		return err
	}
	before := path + hookBefore
	if _, err := os.Lstat(before); err == nil {
		err = os.Rename(before, path)
		out.Changed = err == nil
		return err
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove hook: %w", err)
	}
	out.Changed = true
	return nil
}

func (c *cli) printGitHook(out *gitHookJSON) error {
	if c.global.json {
		return c.printJSON(out)
	}
	switch {
	case !out.Installed && out.Changed:
		return c.printf("removed the hook of git\n")
	case !out.Installed:
		return c.printf("there is no hook of mnem\n")
	}
	more := ""
	if out.Chained {
		more = ", and the hook that was there before it"
	}
	return c.printf("git runs 'mnem git sync' after each merge%s: %s\n", more, line(out.Path))
}
