package cli

import (
	"context"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/show"
	"github.com/mnem-project/mnem/remote/place"
	"github.com/mnem-project/mnem/remote/trade"
)

func (c *cli) remoteCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "remote",
		GroupID: groupTrade,
		Short:   "Manage other repositories of the same memory",
		Long: "A remote is another repository of the same memory and the name it has here: 'mnem sync' brings\n" +
			"both to the same state. What it had at the last fetch or push is under refs/remotes/NAME. Its URL\n" +
			"is one of\n\n" +
			"  PATH, file:///PATH                 the directory that holds .mnem\n" +
			"  https://HOST[:PORT][/PATH]         'mnem serve' there, behind a server that speaks TLS; http:// too\n" +
			"  ssh://[USER@]HOST[:PORT]/PATH      a directory of another machine, where mnem is installed,\n" +
			"                                     reached by ssh or what MNEM_SSH names\n" +
			"  git+https://HOST/PATH              a git repository, which keeps the memory as one ref beside the\n" +
			"                                     code; git+ssh:// and git+file:// too; needs git\n" +
			"  s3://BUCKET[/PREFIX]               a bucket of an S3-compatible object store, with the AWS_ variables:\n" +
			"                                     AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN,\n" +
			"                                     AWS_REGION, AWS_ENDPOINT_URL; MNEM_BUCKET_PATH_STYLE=0 puts the bucket\n" +
			"                                     into the host's name there, MNEM_BUCKET_ENCRYPTION names what\n" +
			"                                     x-amz-server-side-encryption says\n\n" +
			"URLs are kept in .mnem/remotes.json and shown, so they hold no password. The token for a server is\n" +
			"in MNEM_CREDENTIALS, or in the file credentials beside the user's configuration, mode 0600: lines\n" +
			"of URL and TOKEN, of which the one counts whose URL is the longest that begins the remote's. A\n" +
			"token goes to no other server, and without TLS to this machine alone.",
		Example: "  mnem remote add origin /srv/memory\n  mnem remote list\n  mnem remote rm laptop",
	}
	return c.parent(cmd, c.remoteAdd(), c.remoteList(), c.remoteSetURL(), c.remoteRedactions(), c.remotePrune(),
		c.remoteRemove())
}

func (c *cli) remoteAdd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add NAME URL",
		Short: "Add a remote",
		Long: "Give another repository a name: 1 to 64 letters, digits, and . - _ inside. Nothing is asked of it\n" +
			"before the first fetch or push, but for a bucket: eight writers at once try whether its store keeps\n" +
			"writers apart, and one that does not is refused. A relative path is kept as an absolute one.",
		Example: "  mnem remote add origin ../team\n  mnem remote add laptop file:///mnt/laptop/notes",
		Args:    cobra.ExactArgs(2),
	}
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		r := place.Remote{Name: args[0]}
		var err error
		if r.URL, err = place.Kept(c.app.Dir, args[1]); err == nil {
			err = r.Check()
		}
		if err == nil {
			err = c.tryRemote(cmd.Context(), r)
		}
		if err != nil {
			return err
		}
		err = c.editRemotes(cmd.Context(), func(list []place.Remote) ([]place.Remote, error) {
			if slices.Contains(place.Names(list), r.Name) {
				return nil, hint(already(fs.ErrExist, "remote %q", r.Name), "change where it is with 'mnem remote set-url'")
			}
			return append(list, r), nil
		})
		if err != nil {
			return err
		}
		return show.Answer(&c.Console, r, c.Remote)
	})
}

func (c *cli) remoteList() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List remotes",
		Long:    "List the names of other repositories and where they are. With --json, one object a line.",
		Example: "  mnem remote list\n  mnem remote list --json",
		Args:    cobra.NoArgs,
	}
	return c.command(cmd, func(*cobra.Command, []string) error {
		list, err := c.remotes()
		if err != nil {
			return err
		}
		var rows [][]show.Cell
		for _, r := range list {
			if c.InJSON {
				if err := c.PrintJSON(r); err != nil {
					return err
				}
				continue
			}
			rows = append(rows, show.Row(line(r.Name), show.Cyan, line(r.URL), ""))
		}
		return c.Table(rows)
	})
}

func (c *cli) remoteSetURL() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "set-url NAME URL",
		Short:   "Change the URL of a remote",
		Long:    "Say where another repository is now. What is known of it stays: the next fetch compares.",
		Example: "  mnem remote set-url origin /mnt/disk/memory",
		Args:    cobra.ExactArgs(2),
	}
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		r := place.Remote{Name: args[0]}
		var err error
		if r.URL, err = place.Kept(c.app.Dir, args[1]); err == nil {
			err = r.Check()
		}
		if err == nil {
			err = c.tryRemote(cmd.Context(), r)
		}
		if err != nil {
			return err
		}
		err = c.editRemotes(cmd.Context(), place.Change(r.Name, func(known *place.Remote) { *known = r }))
		if err != nil {
			return err
		}
		return show.Answer(&c.Console, r, c.Remote)
	})
}

func (c *cli) remotePrune() *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "prune [NAME]",
		Short: "Remove remote refs that the remote no longer has",
		Long: "Forget the refs under refs/remotes/NAME, by default of origin, whose branch or tag is not there any\n" +
			"more, and fetch nothing: 'mnem fetch --prune' does both. Branches and tags of this repository stay.",
		Example: "  mnem remote prune\n  mnem remote prune laptop --dry-run",
		Args:    cobra.MaximumNArgs(1),
	}
	c.writeFlags(cmd)
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "say which would be forgotten and forget none")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		t, err := c.transferWith(cmd.Context(), argAt(args, 0), false, dryRun)
		if err != nil {
			return err
		}
		defer t.End()
		gone, err := t.Prune(cmd.Context())
		if err != nil {
			return err
		}
		return show.Answer(&c.Console, gone, c.Pruned)
	})
}

func (c *cli) remoteRemove() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rm NAME",
		Short: "Remove a remote",
		Long: "Forget another repository: its name, and the refs under refs/remotes/NAME. Branches and tags of\n" +
			"this repository stay, and nothing is changed there.",
		Example: "  mnem remote rm laptop",
		Args:    cobra.ExactArgs(1),
	}
	c.writeFlags(cmd)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		return c.removeRemote(cmd.Context(), args[0])
	})
}

func (c *cli) removeRemote(ctx context.Context, name string) error {
	here, err := c.hereSide(false)
	if err != nil {
		return err
	}
	path, err := c.remotesPath()
	if err != nil {
		return err
	}
	was, err := trade.Forget(ctx, here, path, name)
	switch {
	case err != nil:
		return err
	case c.InJSON:
		return c.PrintJSON(was)
	}
	return c.Printf("forgot %s, which is %s\n", c.Paint(show.Cyan, line(name)), line(was.URL))
}

// tryRemote tries whether the place of a remote keeps writers apart, where that is in doubt.
func (c *cli) tryRemote(ctx context.Context, r place.Remote) error {
	here, err := c.hereSide(false)
	if err != nil {
		return err
	}
	tried, err := trade.Try(ctx, c.askHost(), here, r)
	if err == nil && !tried {
		c.Remark("%s cannot be written with these keys: it was not tried whether it keeps writers apart", line(r.URL))
	}
	return err
}

// remoteRedactions is the verb of that name, with the setting of the remote beside it. Where no remote is named it is
// about the one that others are about.
func (c *cli) remoteRedactions() *cobra.Command {
	var always, ask bool
	cmd := c.verb("remote redactions")
	fl := cmd.Flags()
	fl.BoolVar(&always, "always", false, "accept this remote's redactions as they come, from now on")
	fl.BoolVar(&ask, "ask", false, "have this remote's redactions wait, from now on")
	cmd.MarkFlagsMutuallyExclusive("always", "ask")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c.started = true
		r, err := c.findRemote(argAt(args, 0))
		if err == nil && (always || ask) {
			err = c.acceptPurge(cmd.Context(), r.Name, always)
		}
		if err != nil {
			return err
		}
		return run(cmd, append([]string{r.Name}, args[min(1, len(args)):]...))
	}
	return cmd
}

// acceptPurge says whether redactions of a remote are accepted as they come.
func (c *cli) acceptPurge(ctx context.Context, name string, always bool) error {
	return c.editRemotes(ctx, place.Change(name, func(r *place.Remote) {
		r.AcceptPurge = ""
		if always {
			r.AcceptPurge = place.AcceptAlways
		}
	}))
}
