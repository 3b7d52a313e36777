package cli

import (
	"context"
	"io/fs"
	"slices"

	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/exchange/remote/place"
	"github.com/mnem-project/mnem/internal/exchange/remote/trade"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/transfer"
)

type (
	// remoteAt is a remote and where it is.
	remoteAt struct {
		Name string `op:",arg"`
		URL  string `op:"url,arg"`
	}
	remoteNamed struct {
		Name string `op:",arg"`
		verb.Actor
	}
	remotePruneRequest struct {
		remoteNamed
		DryRun bool `op:"" doc:"say which would be forgotten and forget none"`
	}
)

func remoteCommands() []*bound {
	one := []any{place.Remote{}}
	return []*bound{
		local(verb.Spec{
			Command: "remote add", Right: verb.OwnRight, Usage: "NAME URL", Title: "Add a remote",
			Doc: "Give another repository a name: 1 to 64 letters, digits, and . - _ inside. Nothing is asked of it\n" +
				"before the first fetch or push, but for a bucket: eight writers at once try whether its store keeps\n" +
				"writers apart, and one that does not is refused. A relative path is kept as an absolute one.",
			Example: "  mnem remote add origin ../team\n  mnem remote add laptop file:///mnt/laptop/notes", Answers: one,
		}, (*cli).remoteAdd),
		localLines(verb.Spec{
			Command: "remote list", Right: verb.NoRight, Title: "List remotes",
			Doc:     "List the names of other repositories and where they are. With --json, one object a line.",
			Example: "  mnem remote list\n  mnem remote list --json", Answers: one,
		}, (*cli).remoteList),
		local(verb.Spec{
			Command: "remote set-url", Right: verb.OwnRight, Usage: "NAME URL", Title: "Change the URL of a remote",
			Doc:     "Say where another repository is now. What is known of it stays: the next fetch compares.",
			Example: "  mnem remote set-url origin /mnt/disk/memory", Answers: one,
		}, (*cli).remoteSetURL),
		local(verb.Spec{
			Command: "remote prune", Right: verb.OwnRight, Runs: []string{"pack_take"},
			Usage: "[NAME]", Title: "Remove remote refs that the remote no longer has",
			Doc: "Forget the refs under refs/remotes/NAME, by default of origin, whose branch or tag is not there any\n" +
				"more, and fetch nothing: 'mnem fetch --prune' does both. Branches and tags of this repository stay.",
			Example: "  mnem remote prune\n  mnem remote prune laptop --dry-run",
		}, (*cli).remotePrune),
		local(verb.Spec{
			Command: "remote rm", Right: verb.OwnRight, Runs: []string{"pack_take"},
			Usage: "NAME", Title: "Remove a remote",
			Doc: "Forget another repository: its name, and the refs under refs/remotes/NAME. Branches and tags of\n" +
				"this repository stay, and nothing is changed there.",
			Example: "  mnem remote rm laptop", Answers: one,
		}, (*cli).removeRemote),
	}
}

func (c *cli) remoteAdd(ctx context.Context, q *remoteAt) error {
	return c.keepRemote(ctx, q, func(r place.Remote) func([]place.Remote) ([]place.Remote, error) {
		return func(list []place.Remote) ([]place.Remote, error) {
			if slices.Contains(place.Names(list), r.Name) {
				return nil, hint(already(fs.ErrExist, "remote %q", r.Name), "change where it is with 'mnem remote set-url'")
			}
			return append(list, r), nil
		}
	})
}

// keepRemote notes where a remote is, once that was tried.
func (c *cli) keepRemote(
	ctx context.Context, q *remoteAt, edit func(place.Remote) func([]place.Remote) ([]place.Remote, error),
) error {
	url, err := place.Kept(c.app.Dir, q.URL)
	if err != nil {
		return err
	}
	r := place.Remote{Name: q.Name, URL: url}
	if err := r.Check(); err != nil {
		return err
	}
	// Refs and messages have the name.
	if err := (state.SecretOptions{}).Refuse(guard.Text("remote", r.Name)); err != nil {
		return err
	}
	if err := c.tryRemote(ctx, r); err != nil {
		return err
	}
	if err := c.editRemotes(ctx, edit(r)); err != nil {
		return err
	}
	return show.Answer(&c.Console, r, c.Remote)
}

func (c *cli) remoteList(_ context.Context, _ *struct{}) error {
	list, err := c.remotes()
	if err != nil {
		return err
	}
	return show.PrintList(&c.Console, list, func(r place.Remote) []show.Cell {
		return show.Row(line(r.Name), show.Cyan, line(r.URL), "")
	})
}

func (c *cli) remoteSetURL(ctx context.Context, q *remoteAt) error {
	return c.keepRemote(ctx, q, func(r place.Remote) func([]place.Remote) ([]place.Remote, error) {
		return place.Change(r.Name, func(known *place.Remote) { *known = r })
	})
}

func (c *cli) remotePrune(ctx context.Context, q *remotePruneRequest) error {
	t, err := c.transferWith(ctx, q.Name, false, q.DryRun)
	if err != nil {
		return err
	}
	defer t.End()
	gone, err := t.Prune(ctx)
	if err != nil {
		return err
	}
	return show.Answer(&c.Console, gone, c.Pruned)
}

func (c *cli) removeRemote(ctx context.Context, q *remoteNamed) error {
	here, err := c.hereSide(false)
	if err != nil {
		return err
	}
	path, err := c.remotesPath()
	if err != nil {
		return err
	}
	was, err := trade.Forget(ctx, here, path, q.Name)
	if err != nil {
		return err
	}
	return c.Say(was, "forgot %s, which is %s\n", c.Paint(show.Cyan, line(q.Name)), line(was.URL))
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

// bindRedactions binds the verb about what remotes say was erased to the setting of the remote beside it. Where no
// remote is named it is about the one that other commands are about.
func bindRedactions() *bound {
	v := bind(transfer.RemoteRedactions, (*show.Console).Quarantine)
	v.around = func(ctx context.Context, c *cli, req any, run func(context.Context) error) error {
		if c.by.Remote {
			return run(ctx)
		}
		q := req.(*transfer.RemoteRedactionsRequest)
		r, err := c.findRemote(q.Name)
		if err == nil && (q.Always || q.Ask) {
			err = c.acceptPurge(ctx, r.Name, q.Always)
		}
		if err != nil {
			return err
		}
		q.Name = r.Name
		return run(ctx)
	}
	return v
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
