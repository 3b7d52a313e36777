package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/remote"
	"github.com/mnem-project/mnem/remote/byverb"
	"github.com/mnem-project/mnem/remote/place"
	"github.com/mnem-project/mnem/remote/trade"
	"github.com/mnem-project/mnem/repo"
)

func (c *cli) cloneCommand() *cobra.Command {
	var signed bool
	cmd := &cobra.Command{
		Use:     "clone URL|FILE [DIR]",
		GroupID: groupTrade,
		Short:   "Clone another repository",
		Long: "Make a repository in DIR/.mnem with what another one has: its branches and tags with their\n" +
			"histories. DIR is by default a directory in this one with the last name of URL. The other\n" +
			"repository is the remote origin of the new one; the branch that its HEAD is on is made here, and\n" +
			"the other branches are refs/remotes/origin/heads/…. Everything is verified before it is kept.\n\n" +
			"Of a FILE of 'mnem backup' or 'mnem export --all' every branch is made here, and there is no remote.\n\n" +
			"Indexes are built here when they are needed. What stays behind: the configuration, tokens, policy,\n" +
			"sessions, stages and the log of operations.",
		Example: "  mnem clone memory notes\n  mnem clone memory.mnem restored\n  mnem clone memory/.mnem laptop",
		Args:    cobra.RangeArgs(1, 2),
	}
	c.writeFlags(cmd)
	c.requireFlag(cmd, &signed)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		res, err := c.clone(cmd, args, signed)
		switch {
		case err != nil:
			return err
		case c.global.json:
			return c.printJSON(res)
		}
		c.remarkLearned(place.DefaultName, res.Learned)
		switch {
		case !res.Commit.Defined():
			return c.printf("cloned into %s: nothing is there yet\n", line(res.Path))
		}
		return c.printf("cloned into %s: branch %s at %s, %s, %s\n", line(res.Path), c.paint(styleCyan, line(res.Branch)),
			c.paint(styleYellow, shortCID(res.Commit)), plural(res.Refs, "ref"), bytesText(res.Bytes))
	})
}

func (c *cli) clone(cmd *cobra.Command, args []string, signed bool) (res *trade.Cloned, err error) {
	if c.global.repo != "" || c.global.user {
		return nil, usagef("--repo and --global do not go with clone: name the directory after the URL")
	}
	from := place.Remote{Name: place.DefaultName}
	if from.URL, err = place.Kept(c.app.Dir, args[0]); err != nil {
		return nil, err
	}
	dir := argAt(args, 1)
	if dir == "" {
		if dir, err = cloneDir(from.URL); err != nil {
			return nil, err
		}
	}
	dir = c.absolute(dir)
	path := filepath.Join(dir, repo.DirName)
	if _, err := os.Lstat(path); err == nil {
		return nil, repoExists(fs.ErrExist, path)
	}
	if c.global.author, _, err = c.firstAuthor(); err != nil {
		return nil, err
	}
	if info, err := os.Stat(from.URL); err == nil && info.Mode().IsRegular() {
		return c.cloneInto(cmd, dir, repo.DefaultBranch, signed, func(ctx context.Context, here *byverb.Side) (*trade.Cloned, error) {
			return trade.CloneFile(ctx, here, from.URL)
		})
	}
	there, err := trade.Connect(cmd.Context(), c.askHost(), from.URL, "")
	if err != nil {
		return nil, err
	}
	defer func() { _ = there.Close() }() // all was said
	st, err := there.Look(cmd.Context(), remote.Question{})
	if err != nil {
		return nil, err
	}
	branch := repo.DefaultBranch
	if name, ok := st.Head.Branch(); ok {
		if err := graph.ValidateRef(st.Head); err != nil {
			return nil, fmt.Errorf("%w: HEAD there: %w", repo.ErrInvalid, err)
		}
		branch = name
	}
	return c.cloneInto(cmd, dir, branch, signed, func(ctx context.Context, here *byverb.Side) (*trade.Cloned, error) {
		err := c.editRemotes(ctx, func([]place.Remote) ([]place.Remote, error) { return []place.Remote{from}, nil })
		if err != nil {
			return nil, err
		}
		return trade.Between(c.askHost(), here, from, there, false).Clone(ctx, branch)
	})
}

// cloneInto makes a repository and has it filled. Nothing half written stays.
func (c *cli) cloneInto(
	cmd *cobra.Command, dir, branch string, signed bool,
	fill func(ctx context.Context, here *byverb.Side) (*trade.Cloned, error),
) (res *trade.Cloned, err error) {
	_, statErr := os.Lstat(dir)
	if err := c.makeRepo(cmd, dir, branch); err != nil {
		return nil, err
	}
	c.global.repo, c.conf = dir, nil
	here, err := c.hereSide(signed)
	if err == nil {
		res, err = fill(cmd.Context(), here)
	}
	if err != nil {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, repo.DirName)))
		if errors.Is(statErr, fs.ErrNotExist) {
			_ = os.Remove(dir) // unless something else is in it
		}
		return nil, err
	}
	return res, nil
}

// cloneDir returns the directory that a clone of a URL is made in.
func cloneDir(at string) (string, error) {
	u, err := place.ParseURL(at)
	if err != nil {
		return "", err
	}
	path := strings.TrimRight(filepath.ToSlash(u.Path), "/")
	path = strings.TrimSuffix(strings.TrimSuffix(path, "/"+repo.DirName), ".git")
	name := path[strings.LastIndexByte(path, '/')+1:]
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".mnem"), ".car")
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, ":\\") {
		return "", usagef("name the directory of the clone after the URL")
	}
	return name, nil
}
