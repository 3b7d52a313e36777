package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

// purgeJSON is what a purge did, or would do.
type purgeJSON struct {
	Node      *string        `json:"node"`      // null where a text was purged
	Derived   []string       `json:"derived"`   // nodes that went with it
	Operation *string        `json:"operation"` // null where nothing was done
	Branches  []refAtJSON    `json:"branches"`  // it was removed from, and their commits
	Stages    []string       `json:"stages"`
	Redacted  []redactedJSON `json:"redacted"`
	Shared    []redactedJSON `json:"shared"` // blocks that stay, as another node has the same
	Hits      []hitJSON      `json:"hits"`   // other places of its words
	MoreHits  int            `json:"more_hits"`
	// ErasurePending is whether the bytes are still in the files, for want of room to write these anew.
	ErasurePending bool `json:"erasure_pending"`
	DryRun         bool `json:"dry_run"`
}

type redactedJSON struct {
	CID  string  `json:"cid"`
	What string  `json:"what"`
	Name *string `json:"name"` // id of a node or edge
}

type hitJSON struct {
	What string  `json:"what"`
	CID  *string `json:"cid"` // null for a ref
	// Name is the id of a node or edge, the name of a ref, or the CID of what a message or query is of.
	Name *string `json:"name"`
}

// errUnconfirmed is returned by a purge without --yes.
var errUnconfirmed = errors.New("nothing was erased: there is no way back from a purge")

func (c *cli) purgeCommand() *cobra.Command {
	var opt purgeOptions
	cmd := &cobra.Command{
		Use:     "purge (NODE | --text) --yes",
		GroupID: groupCare,
		Short:   "Erase a node or a text from every commit for good",
		Long: "Erase every version of a node, in all commits, with its embeddings and content, and leave\n" +
			"a redaction in place of each: reason, time and author. One operation, which cannot be undone,\n" +
			"first removes the node from every branch and stage that has it. Commits keep their CIDs, and\n" +
			"older ones show the redaction. What was erased does not come back by commits or imports.\n" +
			"Afterwards the store is compacted, so that no file of the repository has its text. Where the\n" +
			"disk has no room for that it says that the erasure is pending: opening the repository for\n" +
			"writing, 'mnem gc' and another purge go on with it when there is room.\n\n" +
			"What only the node led to goes with it: entities, tags and subjects that are no more than a\n" +
			"name and that no edge of another node, old or new, ever led to; properties, keys and sources\n" +
			"of its edges; reasons of marks; recorded queries with its text (--keep-queries leaves them).\n\n" +
			"What stays is listed: places where the key, summary, context, content or a string property of\n" +
			"the node, of 4 characters or more, a word of these with letters and digits, or the name of\n" +
			"what went with it stands elsewhere: messages, other nodes, edges, marks, names of refs.\n\n" +
			"With --text it erases every block that holds a text of 8 bytes or more, whatever the block is:\n" +
			"as the text is, in other case, or with other signs between its words. The text is read from\n" +
			"standard input, or asked for without showing it, and never given as an argument, which others\n" +
			"could see. Of nodes the versions that hold it go; of edges and marks the properties and\n" +
			"reasons; messages and queries whole. What cannot be erased is listed: commits and tags that\n" +
			"have it elsewhere than in the message, operations, names of refs and sessions, receipts.\n\n" +
			"Copies, exports and the disk's own remains are out of reach, and so is text in another form,\n" +
			"such as base64; the CID of a text that can be guessed tells whoever guesses it. Without --yes\n" +
			"it says what it would do and is refused.",
		Example: "  mnem purge bob --dry-run\n" +
			"  mnem purge bob --reason 'asked to be forgotten' --yes\n" +
			"  mnem purge --text --reason 'a leaked key' --yes <key.txt",
		Args: cobra.MaximumNArgs(1),
	}
	c.writeFlags(cmd)
	c.headFlag(cmd)
	c.signFlags(cmd)
	f := cmd.Flags()
	f.BoolVar(&opt.text, "text", false, "erase the text on standard input, which a terminal is asked "+
		"for")
	f.StringVar(&opt.Reason, "reason", "", "why, for whoever meets the redaction")
	f.BoolVar(&opt.KeepQueries, "keep-queries", false, "leave recorded queries with its text")
	f.BoolVar(&opt.DryRun, "dry-run", false, "say what would be done and do nothing")
	f.BoolVar(&opt.yes, "yes", false, "really erase: there is no way back")
	cmd = c.command(cmd, func(cmd *cobra.Command, args []string) error {
		return c.purge(cmd, &opt, args)
	})
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := opt.check(args); err != nil {
			c.started = true
			return err
		}
		if opt.text { // before another process may be given the command: it has no terminal
			if err := c.askHidden("text to erase: "); err != nil {
				c.started = true
				return err
			}
		}
		return run(cmd, args)
	}
	return cmd
}

type purgeOptions struct {
	repo.PurgeOptions
	text, yes bool
}

func (o *purgeOptions) check(args []string) error {
	switch {
	case o.yes && o.DryRun:
		return usagef("--yes and --dry-run exclude each other")
	case o.text && len(args) > 0:
		return usagef("--text reads the text from standard input: an argument could be seen by others")
	case !o.text && len(args) == 0:
		return usagef("name a node, or give --text and the text on standard input")
	case o.text && o.KeepQueries:
		return usagef("--text and --keep-queries exclude each other: a query with the text is erased")
	}
	return nil
}

// purge erases a node or a text.
func (c *cli) purge(cmd *cobra.Command, o *purgeOptions, args []string) error {
	stamp := c.stamp
	if o.yes {
		stamp = c.signedStamp
	}
	opt := o.PurgeOptions
	var err error
	if opt.Stamp, err = stamp(cmd); err != nil {
		return err
	}
	opt.DryRun = !o.yes
	text := ""
	if o.text {
		if text, err = c.purgedText(cmd.Context()); err != nil {
			return err
		}
	}
	return c.withRepo(cmd, o.yes, func(ctx context.Context, r *repo.Repo) error {
		p := c.progress()
		defer p.done()
		opt.Progress = func(what string, done int) { p.set(what, done, 0) }
		var res *repo.PurgeResult
		if o.text {
			res, err = r.PurgeText(ctx, text, opt)
		} else {
			res, err = r.Purge(ctx, args[0], opt)
		}
		switch {
		case errors.Is(err, repo.ErrConflict):
			return hint(err, "end that merge first, with 'mnem merge --continue' or 'mnem merge --abort'")
		case o.text && errors.Is(err, store.ErrNotFound):
			return hint(err, "give it exactly as it was written, or a part of it; other files, such as "+
				"exports and logs of other programs, are not searched")
		case err != nil:
			return ops.NodeHint(err)
		}
		p.done()
		if err := c.printPurge(res, opt.DryRun); err != nil || o.yes || o.DryRun {
			return err
		}
		return hint(errUnconfirmed, "give --yes to erase it")
	})
}

// purgedText reads the text of --text: all of standard input but for one line end.
func (c *cli) purgedText(ctx context.Context) (string, error) {
	in := newPatientReader(ctx, c.app.Stdin)
	data, err := io.ReadAll(io.LimitReader(in, repo.MaxPurgeText+3))
	if err != nil {
		return "", fmt.Errorf("read the text: %w", err)
	}
	text := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	if len(text) < repo.MinPurgeText || len(text) > repo.MaxPurgeText {
		return "", usagef("the text on standard input has %d bytes, it needs %d to %d", len(text),
			repo.MinPurgeText, repo.MaxPurgeText)
	}
	return text, nil
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
	what := "with the text"
	if !res.Node.IsZero() {
		what = "of node " + res.Node.String()
	}
	err := c.printf("%s %s %s\n", verb, plural(len(res.Erased), "block"), what)
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
	for _, id := range res.Derived {
		row("with it, which nothing else led to, node", id.String())
	}
	if res.Node.IsZero() {
		for _, h := range res.Erased {
			row(h.What, firstOf(h.Name, h.CID.String()))
		}
	}
	for _, h := range res.Shared {
		row("kept, another node has the same "+h.What, h.CID.String())
	}
	for _, h := range res.Hits {
		what := "its words are also in "
		if res.Node.IsZero() {
			what = "kept, as it cannot be erased: "
		}
		row(what+h.What, firstOf(h.Name, h.CID.String()))
	}
	if err := c.table(rows); err != nil || res.More == 0 {
		return err
	}
	return c.printf("… and in %s more\n", plural(res.More, "block"))
}

func jsonPurge(res *repo.PurgeResult, dryRun bool) purgeJSON {
	out := purgeJSON{
		Node: orNull(""), Derived: []string{}, Operation: jsonCID(res.Operation), Branches: []refAtJSON{},
		Stages: append([]string{}, res.Stages...), Redacted: jsonRedacted(res.Erased),
		Shared: jsonRedacted(res.Shared), Hits: []hitJSON{}, MoreHits: res.More, DryRun: dryRun,
		ErasurePending: res.Pending,
	}
	if !res.Node.IsZero() {
		out.Node = orNull(res.Node.String())
	}
	for _, id := range res.Derived {
		out.Derived = append(out.Derived, id.String())
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
		out[i] = redactedJSON{h.CID.String(), h.What, orNull(h.Name)}
	}
	return out
}
