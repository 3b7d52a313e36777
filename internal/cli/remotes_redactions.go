package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/remote"
	"github.com/mnem-project/mnem/remote/place"
	"github.com/mnem-project/mnem/remote/trade"
	"github.com/mnem-project/mnem/repo"
)

// quarantineJSON is what a remote says was erased.
type quarantineJSON struct {
	Remote     string             `json:"remote"`
	Redactions ops.List[toldJSON] `json:"redactions"`
}

// toldJSON is a redaction that a remote told of.
type toldJSON struct {
	Decision remote.Decision `json:"decision" shape:"waiting|rejected|accepted"`
	Key      ops.Text        `json:"key"` // that signed it, null for none
	ops.ToldRedaction
}

// decidedJSON is what became of redactions.
type decidedJSON struct {
	Remote         string             `json:"remote"`
	Erased         ops.List[ipld.CID] `json:"erased"`
	Closed         ops.List[ipld.CID] `json:"closed"`
	Waiting        int                `json:"waiting"`
	ErasurePending bool               `json:"erasure_pending"`
}

// redactionFlags say what is decided about redactions.
type redactionFlags struct{ accept, reject, always, ask bool }

func (c *cli) remoteRedactions() *cobra.Command {
	f := redactionFlags{}
	cmd := &cobra.Command{
		Use:   "redactions [NAME] [CID...]",
		Short: "Accept or reject erasures that a remote reports",
		Long: "List what another repository, by default origin, says was purged there and is not purged here, as of\n" +
			"the last fetch. It is in quarantine: nothing is erased here, and a block that comes from elsewhere is\n" +
			"kept. --accept erases the blocks here for good, in all that the refs under refs/remotes/NAME reach,\n" +
			"and keeps them away from then on; there is no way back. What no such ref reaches waits on. --reject\n" +
			"leaves them. Both are about all that wait, or about the blocks that are named, and what was decided\n" +
			"is not asked again.\n\n" +
			"What is signed by a key that is trusted for it ('mnem key trust KEY --purge') is accepted as it comes.\n" +
			"--always has this remote's redactions accepted by each fetch from now on, --ask has them wait again.\n" +
			"Other copies, backups and old commits of a git host keep what they have.",
		Example: "  mnem remote redactions\n  mnem remote redactions origin --accept\n  mnem remote redactions team --reject",
		Args:    cobra.ArbitraryArgs,
	}
	c.writeFlags(cmd)
	fl := cmd.Flags()
	fl.BoolVar(&f.accept, "accept", false, "erase the blocks here for good")
	fl.BoolVar(&f.reject, "reject", false, "leave the blocks here")
	fl.BoolVar(&f.always, "always", false, "accept this remote's redactions as they come, from now on")
	fl.BoolVar(&f.ask, "ask", false, "have this remote's redactions wait, from now on")
	cmd.MarkFlagsMutuallyExclusive("accept", "reject")
	cmd.MarkFlagsMutuallyExclusive("always", "ask")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		r, err := c.findRemote(argAt(args, 0))
		if err != nil {
			return err
		}
		var only []ipld.CID
		for _, text := range args[min(1, len(args)):] {
			id, err := ipld.ParseCID(text)
			if err != nil {
				return usagef("%q is no CID: %v", text, err)
			}
			only = append(only, id)
		}
		if len(only) > 0 && !f.accept && !f.reject {
			return usagef("say what to do with the blocks: --accept or --reject")
		}
		if f.always || f.ask {
			if err := c.acceptPurge(cmd.Context(), r.Name, f.always); err != nil {
				return err
			}
		}
		switch {
		case f.accept || f.reject:
			return c.decideRedactions(cmd.Context(), r.Name, only, f.accept)
		case f.always || f.ask:
			if r, err = c.findRemote(r.Name); err != nil {
				return err
			}
			return c.printRemote(r)
		}
		return c.listRedactions(r.Name)
	})
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

func (c *cli) decideRedactions(ctx context.Context, name string, only []ipld.CID, accept bool) error {
	here, err := c.hereSide(false)
	if err != nil {
		return err
	}
	as := remote.Rejected
	if accept {
		as = remote.Accepted
	}
	opt := remote.Options{Name: name, Dir: here.Kept(name)}
	got, err := remote.Decide(ctx, here, opt, only, as)
	if err != nil {
		return err
	}
	q, err := remote.ReadQuarantine(opt.Dir)
	if err != nil {
		return err
	}
	out := &decidedJSON{name, got.Erased, got.Closed, q.Count(remote.Waiting), got.Pending}
	if c.global.json {
		return c.printJSON(out)
	}
	if got.Pending {
		c.remark("warning: the bytes are still in the files: the disk has no room to write these anew")
	}
	return c.printf("erased %s, closed %s; %d of %s wait\n", plural(len(got.Erased), "block"),
		plural(len(got.Closed), "gap"), out.Waiting, line(name))
}

func (c *cli) listRedactions(name string) error {
	here, err := c.hereSide(false)
	if err != nil {
		return err
	}
	q, err := remote.ReadQuarantine(here.Kept(name))
	if err != nil {
		return err
	}
	out := quarantineJSON{Remote: name}
	var rows [][]cell
	for _, e := range q.Entries {
		r, err := ops.RedactionOf(repo.ToldRedaction{CID: e.CID, Record: e.Record})
		if err != nil {
			return err
		}
		key := ops.Text("")
		if k, signed := trade.SignerOf(repo.ToldRedaction{CID: e.CID, Record: e.Record}); signed {
			key = ops.Text(k.String())
		}
		out.Redactions = append(out.Redactions, toldJSON{e.Decision, key, r})
		rows = append(rows, []cell{{string(e.Decision), ""}, {r.CID.String(), styleYellow}, {r.What, ""},
			{r.Time.String(), styleDim}, {line(string(r.Actor)), styleCyan}, {line(string(r.Reason)), ""}})
	}
	if c.global.json {
		return c.printJSON(out)
	}
	return c.table(rows)
}
