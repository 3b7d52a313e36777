package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/model"
	"github.com/mnem-project/mnem/model/embed"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

// embedFlags are the flags of embed.
type embedFlags struct {
	model, message, expect string
	types                  []string
	stale, all, dryRun     bool
	limit                  int
}

// embedJSON is what a run did, or would do.
type embedJSON struct {
	Model     string  `json:"model"`
	Dim       *int    `json:"dim"` // null while nobody knows
	Branch    string  `json:"branch"`
	Commit    *string `json:"commit"`    // the branch's newest
	Commits   int     `json:"commits"`   // made
	Embedded  int     `json:"embedded"`  // nodes whose embedding was made
	Stale     int     `json:"stale"`     // that keep an embedding of an older text
	Unchanged int     `json:"unchanged"` // that keep one of their text
	Skipped   int     `json:"skipped"`   // without anything to embed
	TooLong   int     `json:"too_long"`  // with a text longer than embed.MaxText
	Remaining int     `json:"remaining"` // left for another run by --limit
	DryRun    bool    `json:"dry_run"`
}

func (c *cli) embedCommand() *cobra.Command {
	var f embedFlags
	cmd := &cobra.Command{
		Use:     "embed [flags]",
		GroupID: groupChange,
		Short:   "Embed nodes for retrieval by meaning",
		Long: "Give the nodes of a branch's newest commit embeddings by a model, and commit these. A node's\n" +
			"text is its context, summary and content. Nodes that have an embedding of the model are left\n" +
			"alone, unless --stale adds those whose text has changed since, or --all takes all.\n\n" +
			"The model is a SPEC: hash (built in: finds other forms and misspellings of words, and needs\n" +
			"nothing), static:DIR (a directory with tokenizer.json and model.safetensors), or of a server:\n" +
			model.List(model.Specs(embed.Remotes()), "or") + ". Servers are told the texts. Their addresses and what\n" +
			"else is known of models are in 'mnem config'; their keys come from the variables that 'mnem help\n" +
			"environment' lists alone. A relative DIR is looked for in the working directory.\n\n" +
			"All become one commit. Other commands work meanwhile, through this one. " +
			fmt.Sprintf("Where there are more\nthan %d nodes, in the order of their ids, each %d are kept in a stage of the branch and model:\n",
				embedChunk, embedChunk) +
			"after an interrupt or a failure the same command goes on from there and asks for nothing again\n" +
			"that is kept. Where the branch moves meanwhile the embeddings are merged onto it, unless\n" +
			"--expect is given; where it moved since an interrupted run, what that run kept is committed\n" +
			"first.\n\n" +
			"Nodes in which the model finds nothing are skipped, each time, as are texts of more than 1 MiB.\n" +
			"'mnem retrieve --embed' asks by these embeddings.",
		Example: "  mnem embed --model hash\n" +
			"  mnem embed --model hash --stale --type Person --limit 100\n" +
			"  mnem embed --model hash --all --dry-run",
		Args: cobra.NoArgs,
	}
	c.writeFlags(cmd)
	c.branchFlag(cmd)
	c.signFlags(cmd)
	fs := cmd.Flags()
	fs.StringVar(&f.model, "model", "", "what embeds: `SPEC` is "+
		model.List(embed.Specs(), "or")+" (MNEM_EMBED_MODEL; config: "+keyEmbedModel+")")
	fs.BoolVar(&f.stale, "stale", false, "embed nodes too whose text has changed since")
	fs.BoolVar(&f.all, "all", false, "embed all nodes anew")
	fs.StringArrayVar(&f.types, "type", nil, "only nodes of this `TYPE` (repeatable)")
	fs.IntVar(&f.limit, "limit", 0, "make at most `N` embeddings; 0 for no limit")
	fs.BoolVar(&f.dryRun, "dry-run", false, "count what would be embedded; ask nobody, write nothing")
	fs.StringVarP(&f.message, "message", "m", "", "what the commit is about (default: \"embed with "+
		"MODEL\")")
	fs.StringVar(&f.expect, "expect", "", "the `CID` of the commit that the branch must be at; else "+
		"exit code 5")
	cmd.MarkFlagsMutuallyExclusive("stale", "all")
	return c.command(cmd, func(cmd *cobra.Command, _ []string) error { return c.runEmbed(cmd, f) })
}

func (c *cli) runEmbed(cmd *cobra.Command, f embedFlags) (err error) {
	if f.limit < 0 {
		return usagef("--limit: %d is less than 0", f.limit)
	}
	expect, err := ops.ParseExpect(f.expect)
	if err != nil {
		return err
	}
	by, err := c.commitStamp(cmd, f.dryRun)
	if err != nil {
		return err
	}
	run := &embedRun{c: c, cmd: cmd, flags: f, by: by, strict: expect != nil, line: c.progress()}
	defer run.line.done()
	run.e, err = c.embedder(f.model, "--model", embed.Options{Progress: run.progress})
	if err != nil {
		return err
	}
	run.out = embedJSON{Model: run.e.Model(), DryRun: f.dryRun}
	if !f.dryRun {
		done, err := c.share(cmd)
		if err != nil {
			return err
		}
		defer func() { err = firstError(err, done()) }()
	}
	plan := func(ctx context.Context, r *repo.Repo) error { return run.plan(ctx, r, expect) }
	if err := c.withRepo(cmd, false, plan); err != nil {
		return err
	}
	if run.moved {
		if err := run.commitKept(); err != nil {
			return err
		}
		expect = nil // it was met, and the branch is at that commit now
		if err := c.withRepo(cmd, false, plan); err != nil {
			return err
		}
	}
	if f.dryRun {
		run.foretell()
	} else if err := run.all(); err != nil {
		return run.failed(err)
	}
	run.line.done()
	return run.print()
}

// plan finds the branch and what is to be done on it.
func (r *embedRun) plan(ctx context.Context, from *repo.Repo, expect *ipld.CID) error {
	info, err := r.c.targetBranch(ctx, from)
	if err != nil {
		return err
	}
	if expect != nil && *expect != info.Commit {
		return &repo.ExpectError{Want: *expect, Have: info.Commit}
	}
	if !info.Commit.Defined() {
		return hint(&repo.NotFoundError{What: ops.NoCommitYet, Name: info.Name},
			"make the first with 'mnem commit -m MESSAGE FILE'")
	}
	r.out.Branch, r.at = info.Name, info.Commit
	r.stage = embedStages + graph.NodeID("embed "+info.Name+" "+r.e.Model()).String()
	st, err := from.Status(ctx, r.stage)
	if err != nil {
		return err
	}
	r.kept, r.moved = st.Staged, st.Staged && st.Base != info.Commit && !r.flags.dryRun
	if r.moved {
		return nil // what is kept is committed first
	}
	return r.look(ctx, from)
}

// look finds the nodes that are to be embedded, and what is known of the model.
func (r *embedRun) look(ctx context.Context, from *repo.Repo) error {
	s, err := from.At(ctx, r.at)
	if err != nil {
		return err
	}
	now := s
	if r.kept {
		if now, err = from.StagedSnapshot(ctx, r.stage); err != nil {
			return err
		}
	}
	for n, err := range now.Embeddings(ctx, r.e.Model()) {
		if err != nil {
			return err
		}
		again := r.flags.all
		if again && r.kept { // but for what an interrupted run did already
			done, err := now.EmbeddedSince(ctx, s, n.ID, r.e.Model())
			if err != nil {
				return err
			}
			again = !done
		}
		if r.dims == 0 {
			r.dims = n.Dims
		}
		if len(r.flags.types) > 0 && !slices.Contains(r.flags.types, n.Type) {
			continue
		}
		switch {
		case again, n.State == repo.EmbeddingMissing,
			n.State == repo.EmbeddingStale && r.flags.stale:
			r.todo = append(r.todo, n.ID)
		case n.State == repo.EmbeddingStale:
			r.out.Stale++
		default:
			r.out.Unchanged++
		}
	}
	if r.flags.dryRun {
		return r.dropBlank(ctx, s)
	}
	return nil
}

// targetBranch returns the branch that is written to.
func (c *cli) targetBranch(ctx context.Context, r *repo.Repo) (repo.BranchInfo, error) {
	name := c.branch()
	if name == "" {
		current, at, err := r.Branch(ctx)
		if err == nil && current == "" {
			err = &repo.DetachedError{At: at}
		}
		return repo.BranchInfo{Name: current, Commit: at}, err
	}
	all, err := r.Branches(ctx)
	if err != nil {
		return repo.BranchInfo{}, err
	}
	for _, b := range all {
		if b.Name == name && b.Name != string(graph.Head) {
			return b, nil
		}
	}
	return repo.BranchInfo{}, &repo.NotFoundError{What: "branch", Name: name}
}

// dropBlank counts the nodes whose texts no model would be asked about.
func (r *embedRun) dropBlank(ctx context.Context, s *repo.Snapshot) error {
	rest := r.todo[:0]
	for _, id := range r.todo {
		text, ok, err := s.EmbedText(ctx, id)
		if err != nil {
			return err
		}
		if r.wants(text, ok) {
			rest = append(rest, id)
		}
	}
	r.todo = rest
	return nil
}

// foretell says what a run would do, as far as can be known without the model.
func (r *embedRun) foretell() {
	r.out.Embedded = len(r.todo)
	if n := r.flags.limit; n > 0 {
		r.out.Embedded = min(n, len(r.todo))
	}
	r.out.Remaining = len(r.todo) - r.out.Embedded
}

func (r *embedRun) print() error {
	out := &r.out
	out.Commit = jsonCID(r.at)
	dim := r.dim()
	if dim > 0 {
		out.Dim = &dim
	}
	if r.c.global.json {
		return r.c.printJSON(out)
	}
	verb, place := "embedded", ""
	switch {
	case out.DryRun:
		verb = "would embed"
	case out.Commits > 0:
		place = fmt.Sprintf("[%s %s] ", r.c.paint(styleCyan, line(out.Branch)),
			r.c.paint(styleYellow, shortCID(r.at)))
	}
	text := fmt.Sprintf("%s%s %s with %s", place, verb, plural(out.Embedded, "node"), line(out.Model))
	if dim > 0 {
		text += fmt.Sprintf(" (%s)", plural(dim, "dimension"))
	}
	for _, n := range []struct {
		count int
		what  string
	}{
		{out.Unchanged, "unchanged"}, {out.Stale, "stale"}, {out.Skipped, "without text to embed"},
		{out.TooLong, "too long"}, {out.Remaining, "left by --limit"},
	} {
		if n.count > 0 {
			text += fmt.Sprintf(", %d %s", n.count, n.what)
		}
	}
	if err := r.c.printf("%s\n", text); err != nil {
		return err
	}
	if out.Stale > 0 {
		r.c.remark("note: stale embeddings are of an older text of their nodes; --stale embeds them anew")
	}
	return nil
}
