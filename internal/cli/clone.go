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
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/remote"
	"github.com/mnem-project/mnem/repo"
)

// cloneJSON is a repository that was made of another one.
type cloneJSON struct {
	Path      string   `json:"path"`
	URL       string   `json:"url"`
	Branch    string   `json:"branch"`
	Commit    ipld.CID `json:"commit" shape:"null"`
	Refs      int      `json:"refs"`
	Bytes     int64    `json:"bytes"`
	NewBlocks int      `json:"new_blocks"`
	learnedJSON
}

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
		c.remarkLearned(defaultRemote, res.learnedJSON)
		switch {
		case !res.Commit.Defined():
			return c.printf("cloned into %s: nothing is there yet\n", line(res.Path))
		}
		return c.printf("cloned into %s: branch %s at %s, %s, %s\n", line(res.Path), c.paint(styleCyan, line(res.Branch)),
			c.paint(styleYellow, shortCID(res.Commit)), plural(res.Refs, "ref"), bytesText(res.Bytes))
	})
}

func (c *cli) clone(cmd *cobra.Command, args []string, signed bool) (res *cloneJSON, err error) {
	if c.global.repo != "" || c.global.user {
		return nil, usagef("--repo and --global do not go with clone: name the directory after the URL")
	}
	from := remoteJSON{Name: defaultRemote}
	if from.URL, err = c.keptURL(args[0]); err != nil {
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
		return c.cloneFile(cmd, from.URL, dir, signed)
	}
	there, err := c.sideOf(cmd.Context(), from.URL, "")
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
	_, statErr := os.Lstat(dir)
	if err := c.makeRepo(cmd, dir, branch); err != nil {
		return nil, err
	}
	res, err = c.fill(cmd.Context(), dir, branch, from, there, signed)
	if err != nil { // nothing half written stays
		err = errors.Join(err, os.RemoveAll(path))
		if errors.Is(statErr, fs.ErrNotExist) {
			_ = os.Remove(dir) // unless something else is in it
		}
		return nil, err
	}
	return res, nil
}

// fill brings into a new repository what another one has.
func (c *cli) fill(
	ctx context.Context, dir, branch string, from remoteJSON, there remote.Side, signed bool,
) (*cloneJSON, error) {
	c.global.repo, c.conf = dir, nil
	err := c.editRemotes(ctx, func([]remoteJSON) ([]remoteJSON, error) { return []remoteJSON{from}, nil })
	if err != nil {
		return nil, err
	}
	here, err := c.hereSide(signed)
	if err != nil {
		return nil, err
	}
	t := c.transfer(from, here, there, false)
	defer t.shown.done()
	got, err := t.fetch(ctx, false)
	if err != nil {
		return nil, err
	}
	b := &syncedBranch{Branch: branch}
	if err := t.merge(ctx, b, syncFlags{conflicts: conflictsStop}); err != nil {
		return nil, err
	}
	return &cloneJSON{
		Path: filepath.Join(dir, repo.DirName), URL: from.URL, Branch: branch, Commit: b.Commit, Refs: len(got.Refs),
		Bytes: got.Bytes, NewBlocks: got.NewBlocks, learnedJSON: got.learnedJSON,
	}, nil
}

// cloneDir returns the directory that a clone of a URL is made in.
func cloneDir(at string) (string, error) {
	u, err := parseURL(at)
	if err != nil {
		return "", err
	}
	path := strings.TrimRight(filepath.ToSlash(u.path), "/")
	path = strings.TrimSuffix(strings.TrimSuffix(path, "/"+repo.DirName), ".git")
	name := path[strings.LastIndexByte(path, '/')+1:]
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".mnem"), ".car")
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, ":\\") {
		return "", usagef("name the directory of the clone after the URL")
	}
	return name, nil
}
