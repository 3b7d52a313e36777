package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/repo"
)

// purgeJSON is what a purge did, or would do.
type purgeJSON struct {
	Node      string         `json:"node"`
	Operation *string        `json:"operation"` // null where nothing was done
	Branches  []refAtJSON    `json:"branches"`  // it was removed from, and their commits
	Stages    []string       `json:"stages"`
	Redacted  []redactedJSON `json:"redacted"`
	Shared    []redactedJSON `json:"shared"` // blocks that stay, as another node has the same
	Hits      []hitJSON      `json:"hits"`   // other places of its text
	MoreHits  int            `json:"more_hits"`
	// ErasurePending is whether the bytes are still in the files, for want of room to write these anew.
	ErasurePending bool `json:"erasure_pending"`
	DryRun         bool `json:"dry_run"`
}

type redactedJSON struct {
	CID  string `json:"cid"`
	What string `json:"what"`
}

type hitJSON struct {
	What string  `json:"what"`
	CID  *string `json:"cid"`  // null for a ref
	Name *string `json:"name"` // id of a node or edge, or name of a ref
}

// errUnconfirmed is returned by a purge without --yes.
var errUnconfirmed = errors.New("nothing was erased: there is no way back from a purge")

func (c *cli) purgeCommand() *cobra.Command {
	var opt repo.PurgeOptions
	var yes bool
	cmd := &cobra.Command{
		Use:     "purge NODE --yes",
		GroupID: groupCare,
		Short:   "Erase a node from every commit for good",
		Long: "Erase every version of a node, in all commits, with its embeddings and content, and leave\n" +
			"a redaction in place of each: reason, time and author. One operation, which cannot be undone,\n" +
			"first removes the node from every branch and stage that has it. Commits keep their CIDs, and\n" +
			"older ones show the redaction. What was erased does not come back by commits or imports.\n" +
			"Afterwards the store is compacted, so that no file of the repository has its text. Where the\n" +
			"disk has no room for that it says that the erasure is pending: opening the repository for\n" +
			"writing, 'mnem gc' and another purge go on with it when there is room.\n\n" +
			"What is not touched is listed: places where the key, summary, context, content or a string\n" +
			"property of the node, of 4 characters or more, stands elsewhere: messages, other nodes,\n" +
			"edges, marks, names of refs and recorded queries; --rewrite-receipts erases the latter too.\n" +
			"Copies, exports and the disk's own remains are out of reach, and the CID of a text that can\n" +
			"be guessed tells whoever guesses it. Without --yes it says what it would do and is refused.",
		Example: "  mnem purge bob --dry-run\n" +
			"  mnem purge bob --reason 'asked to be forgotten' --yes",
		Args: cobra.ExactArgs(1),
	}
	c.writeFlags(cmd)
	c.headFlag(cmd)
	c.signFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&opt.Reason, "reason", "", "why, for whoever meets the redaction")
	f.BoolVar(&opt.RewriteReceipts, "rewrite-receipts", false, "erase recorded queries with its "+
		"text too")
	f.BoolVar(&opt.DryRun, "dry-run", false, "say what would be done and do nothing")
	f.BoolVar(&yes, "yes", false, "really erase: there is no way back")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		if yes && opt.DryRun {
			return usagef("--yes and --dry-run exclude each other")
		}
		stamp := c.stamp
		if yes {
			stamp = c.signedStamp
		}
		var err error
		if opt.Stamp, err = stamp(cmd); err != nil {
			return err
		}
		refused := !yes && !opt.DryRun
		opt.DryRun = !yes
		return c.withRepo(cmd, yes, func(ctx context.Context, r *repo.Repo) error {
			p := c.progress()
			defer p.done()
			opt.Progress = func(what string, done int) { p.set(what, done, 0) }
			res, err := r.Purge(ctx, args[0], opt)
			if errors.Is(err, repo.ErrConflict) {
				return hint(err, "end that merge first, with 'mnem merge --continue' or 'mnem merge --abort'")
			}
			if err != nil {
				return nodeHint(err)
			}
			p.done()
			if err := c.printPurge(res, opt.DryRun); err != nil || !refused {
				return err
			}
			return hint(errUnconfirmed, "give --yes to erase it")
		})
	})
}

func (c *cli) printPurge(res *repo.PurgeResult, dryRun bool) error {
	if c.global.json {
		return c.printJSON(jsonPurge(res, dryRun))
	}
	verb := "erased"
	switch {
	case dryRun:
		verb = "would erase"
	case res.Pending:
		verb = "redacted"
	}
	err := c.printf("%s %s of node %s\n", verb, plural(len(res.Erased), "block"), res.Node)
	if err == nil && res.Pending {
		err = c.printf("erasure pending: the disk has no room to write the files anew that still have " +
			"its bytes;\nmake some, and 'mnem gc' or the next command that writes goes on\n")
	}
	if err != nil {
		return err
	}
	var rows [][]cell
	row := func(what, name string) {
		rows = append(rows, []cell{{what, styleDim}, {line(name), ""}})
	}
	for _, ref := range res.Commits {
		row("removed from branch", string(ref.Name[len(graph.Heads):]))
	}
	for _, s := range res.Stages {
		row("removed from stage", s)
	}
	for _, h := range res.Shared {
		row("kept, another node has the same "+h.What, h.CID.String())
	}
	for _, h := range res.Hits {
		name := h.Name
		if name == "" {
			name = h.CID.String()
		}
		row("its text is also in "+h.What, name)
	}
	if err := c.table(rows); err != nil || res.More == 0 {
		return err
	}
	return c.printf("… and in %s more\n", plural(res.More, "block"))
}

func jsonPurge(res *repo.PurgeResult, dryRun bool) purgeJSON {
	out := purgeJSON{
		Node: res.Node.String(), Operation: jsonCID(res.Operation), Branches: []refAtJSON{},
		Stages: append([]string{}, res.Stages...), Redacted: jsonRedacted(res.Erased),
		Shared: jsonRedacted(res.Shared), Hits: []hitJSON{}, MoreHits: res.More, DryRun: dryRun,
		ErasurePending: res.Pending,
	}
	for _, ref := range res.Commits {
		out.Branches = append(out.Branches, refAtJSON{string(ref.Name), ref.Target.String()})
	}
	for _, h := range res.Hits {
		out.Hits = append(out.Hits, hitJSON{h.What, jsonCID(h.CID), orNull(h.Name)})
	}
	return out
}

func jsonRedacted(list []repo.PurgeHit) []redactedJSON {
	out := make([]redactedJSON, len(list))
	for i, h := range list {
		out[i] = redactedJSON{h.CID.String(), h.What}
	}
	return out
}
