package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/operation"
	"github.com/mnem-project/mnem/repo"
)

type replayJSON struct {
	Session         *string         `json:"session"` // null for a single receipt
	Receipts        int             `json:"receipts"`
	Identical       *bool           `json:"identical"` // null where something was erased since
	FirstDifference *differenceJSON `json:"first_difference"`
	Redacted        []erasedJSON    `json:"redacted,omitempty"` // what was erased since
}

// erasedJSON is one erased block that a receipt needs.
type erasedJSON struct {
	CID    string  `json:"cid"`
	What   string  `json:"what"`
	Node   *string `json:"node"`
	Reason *string `json:"reason"`
	Time   string  `json:"time"`
	Actor  string  `json:"actor"`
}

type differenceJSON struct {
	Number  int    `json:"number"` // of the receipt, from 0
	Receipt string `json:"receipt"`
	Item    *int   `json:"item"` // from 0; null for what is not of one item
	Field   string `json:"field"`
	Old     string `json:"old"`
	New     string `json:"new"`
}

func (c *cli) replayCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "replay SESSION|RECEIPT",
		GroupID: groupRecord,
		Short:   "Answer recorded requests again and compare",
		Long: "Answer every request that a session recorded again, each at its own commit, or the one of a\n" +
			"receipt, and compare the answers with what was recorded, bit for bit. The exit code is 0\n" +
			"where all are identical and 4 where one differs, where stored data is damaged, where a\n" +
			"receipt needs a ranking version that this program does not have, and where something was\n" +
			"purged since that the answer depends on: then nobody can tell whether it would be the same.",
		Example:           "  mnem replay review\n  mnem replay review --json",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.completeArg(completeSessions),
	}
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			res, err := r.Replay(ctx, args[0])
			if err != nil {
				return err
			}
			if !res.Identical {
				c.exit = operation.Mismatch.Exit
			}
			if c.global.json {
				return c.printJSON(jsonReplay(res))
			}
			return c.printReplay(res)
		})
	})
}

func jsonReplay(res *repo.ReplayResult) replayJSON {
	out := replayJSON{
		Session: orNull(res.Session), Receipts: res.Receipts, Identical: &res.Identical,
	}
	for _, e := range res.Redacted {
		out.Identical = nil
		row := erasedJSON{
			CID: e.CID.String(), What: string(e.Record.What), Reason: orNull(e.Record.Reason),
			Time: e.Record.Time.String(), Actor: e.Record.Actor,
		}
		if !e.Record.Node.IsZero() {
			row.Node = orNull(e.Record.Node.String())
		}
		out.Redacted = append(out.Redacted, row)
	}
	if d := res.First; d != nil {
		out.FirstDifference = &differenceJSON{
			Number: d.Number, Receipt: d.Receipt.String(), Field: d.Field, Old: d.Old, New: d.New,
		}
		if d.Item >= 0 {
			out.FirstDifference.Item = &d.Item
		}
	}
	return out
}

func (c *cli) printReplay(res *repo.ReplayResult) error {
	d := res.First
	if len(res.Redacted) > 0 {
		err := c.printf("%s: receipt %d needs what was purged since\n",
			c.paint(styleYellow, "redacted"), res.Receipts)
		for _, e := range res.Redacted {
			err = firstError(err, c.printf("  %s: %s\n", e.CID, line(e.Record.String())))
		}
		return err
	}
	if d == nil {
		return c.printf("%s: %s\n", c.paint(styleGreen, "identical"), plural(res.Receipts, "receipt"))
	}
	where := ""
	if d.Item >= 0 {
		where = "item " + strconv.Itoa(d.Item+1) + ", "
	}
	return c.printf("%s: receipt %d (%s), %s%s\n  recorded: %s\n  now:      %s\n",
		c.paint(styleRed, "different"), d.Number+1, d.Receipt, where, line(d.Field), line(d.Old),
		line(d.New))
}
