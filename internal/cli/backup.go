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

	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

// backupJSON is a file that a backup wrote.
type backupJSON struct {
	File     string              `json:"file"`
	Refs     ops.List[ops.RefAt] `json:"refs"`
	Blocks   int                 `json:"blocks"`
	Bytes    int64               `json:"bytes"`
	Redacted int                 `json:"redacted"` // blocks that were erased and are not in it
}

func (c *cli) backupCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "backup FILE|URL",
		GroupID: groupTrade,
		Short:   "Write all branches, tags and sessions to one file",
		Long: "Write every branch, tag and session of a repository that others may use meanwhile to one file, as\n" +
			"they are at one moment; 'mnem clone FILE' makes a repository of it. The file is there whole or not\n" +
			"at all, replaces one of the name, and is for its user alone, mode 0600. What stays behind: the\n" +
			"configuration, keys, tokens, policy, list of remotes, stages and the log of operations.\n\n" +
			"At a URL the backup is a repository, made there before: every branch and tag is pushed, and what\n" +
			"another backup left there replaced where it is as that left it. 'mnem clone URL' reads it back.",
		Example: "  mnem backup memory.mnem\n  mnem backup memory.mnem --json",
		Args:    cobra.ExactArgs(1),
	}
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		here, err := c.hereSide(false)
		if err != nil {
			return err
		}
		if args[0] == stdinName {
			return usagef("name a file: 'mnem export --all -o -' writes to standard output")
		}
		if strings.Contains(args[0], "://") {
			return c.backupTo(cmd.Context(), args[0], here)
		}
		req := &ops.ExportRequest{All: true, Output: c.absolute(args[0])}
		answer, err := here.run(cmd.Context(), &ops.Export.Spec, req, nil, nil)
		if err != nil {
			return err
		}
		a := answer.(*ops.Exported)
		out := &backupJSON{a.File, a.Refs, a.Blocks, a.Bytes, a.Redacted}
		if c.global.json {
			return c.printJSON(out)
		}
		return c.printf("%s, %s, %s in %s\n", plural(len(out.Refs), "ref"), plural(out.Blocks, "block"), bytesText(out.Bytes),
			line(args[0]))
	})
}

// backupRemote is the name of the remote that a backup goes to where none has its URL.
const backupRemote = "backup"

// backupTo brings every branch and tag to another repository.
func (c *cli) backupTo(ctx context.Context, url string, here *verbSide) error {
	r := remoteJSON{Name: backupRemote, URL: url}
	if err := checkRemote(r); err != nil {
		return err
	}
	list, err := c.remotes()
	if err != nil {
		return err
	}
	for _, known := range list {
		if known.URL == url {
			r = known
			break
		}
		if known.Name == backupRemote {
			return hint(fmt.Errorf("%w: the remote %s has another URL", repo.ErrInvalid, backupRemote),
				"'mnem remote add NAME %s' gives this one a name of its own", shellWord(url))
		}
	}
	there, err := c.sideOf(ctx, url, filepath.Join(here.dir, repo.DirName, remotesDir, r.Name+gitSuffix))
	if err != nil {
		return err
	}
	t := c.transfer(r, here, there, false)
	defer t.end()
	f := pushFlags{all: true, tags: true, force: true}
	refs, err := t.refsToPush(ctx, nil, f)
	if err != nil {
		return err
	}
	res, err := t.push(ctx, refs, f)
	if err != nil {
		return err
	}
	return c.printPush(res)
}

// cloneFile makes a repository of a backup.
func (c *cli) cloneFile(cmd *cobra.Command, file, dir string, signed bool) (res *cloneJSON, err error) {
	path := filepath.Join(dir, repo.DirName)
	_, statErr := os.Lstat(dir)
	if err := c.makeRepo(cmd, dir, repo.DefaultBranch); err != nil {
		return nil, err
	}
	res, err = c.fillFrom(cmd.Context(), file, dir, signed)
	if err != nil { // nothing half written stays
		err = errors.Join(err, os.RemoveAll(path))
		if errors.Is(statErr, fs.ErrNotExist) {
			_ = os.Remove(dir) // unless something else is in it
		}
		return nil, err
	}
	return res, nil
}

// fillFrom takes a backup into a new repository.
func (c *cli) fillFrom(ctx context.Context, file, dir string, signed bool) (*cloneJSON, error) {
	c.global.repo, c.conf = dir, nil
	here, err := c.hereSide(signed)
	if err != nil {
		return nil, err
	}
	req := &ops.ImportRequest{File: file, RequireSigned: signed}
	req.Time = c.global.time
	answer, err := here.run(ctx, &ops.Import.Spec, req, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("clone %s: %w", file, err)
	}
	a := answer.(*ops.Imported)
	out := &cloneJSON{
		Path: filepath.Join(dir, repo.DirName), URL: file, Branch: firstOf(string(a.Head), repo.DefaultBranch),
		Refs: len(a.Refs), Bytes: a.Bytes, NewBlocks: a.NewBlocks,
	}
	for _, ref := range a.Refs {
		if name, ok := ref.Ref.Branch(); ok && name == out.Branch {
			out.Commit = ref.To
		}
	}
	return out, nil
}
