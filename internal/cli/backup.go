package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/remote/byverb"
	"github.com/mnem-project/mnem/remote/place"
	"github.com/mnem-project/mnem/remote/trade"
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
		answer, err := here.Run(cmd.Context(), &ops.Export.Spec, req)
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
func (c *cli) backupTo(ctx context.Context, url string, here *byverb.Side) error {
	r := place.Remote{Name: backupRemote, URL: url}
	if err := r.Check(); err != nil {
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
	t, err := trade.Open(ctx, c.askHost(), here, r, false)
	if err != nil {
		return err
	}
	defer t.End()
	f := trade.PushOptions{All: true, Tags: true, Force: true}
	refs, err := t.Refs(ctx, nil, f)
	if err != nil {
		return err
	}
	res, err := t.Push(ctx, refs, f)
	if err != nil {
		return err
	}
	return c.printPush(res)
}
