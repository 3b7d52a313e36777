package cli

import (
	"context"
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

// tagJSON is one tag; what follows current is null for a plain one.
type tagJSON struct {
	Name    string  `json:"name"`
	Commit  string  `json:"commit"`
	Current bool    `json:"current"` // whether HEAD is at that commit
	Tag     *string `json:"tag"`
	Tagger  *string `json:"tagger"`
	Time    *string `json:"time"`
	Message *string `json:"message"`
}

func (c *cli) tagCommand() *cobra.Command {
	var f refFlags
	var annotate bool
	var message string
	cmd := &cobra.Command{
		Use:     "tag | tag NAME [REV] | tag -d NAME",
		GroupID: groupHistory,
		Short:   "List, make or remove tags",
		Long: "Without a name, list the tags. With a name, give it to a commit, by default that of HEAD: with\n" +
			"-a or -m the tag also keeps who made it, when and why. A tag stays where it is unless --force\n" +
			"moves it. -d removes a tag.\n\nWith --json, one object a line.",
		Example:           "  mnem tag v1\n  mnem tag v2 -m 'what the audit saw' HEAD~1\n  mnem tag\n  mnem tag -d v1",
		Args:              cobra.MaximumNArgs(2),
		ValidArgsFunction: c.completeArg(completeTags),
	}
	c.writeFlags(cmd)
	c.secretFlag(cmd)
	f.add(cmd, "a tag", "move a tag that exists")
	cmd.Flags().BoolVarP(&annotate, "annotate", "a", false, "keep who made the tag and when")
	cmd.Flags().StringVarP(&message, "message", "m", "", "what the tag is about; means -a")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		annotate = annotate || cmd.Flags().Changed("message")
		switch {
		case f.remove && annotate:
			return usagef("-d excludes -a and -m")
		case len(args) == 0 && !f.remove && !annotate:
			if err := listOnly(cmd); err != nil {
				return err
			}
			return c.withRepo(cmd, false, c.listTags)
		case len(args) == 0:
			return usagef("name a tag")
		case f.remove && len(args) > 1:
			return usagef("-d takes one tag, not %d", len(args))
		}
		return c.writeRef(cmd, &f, func(
			ctx context.Context, r *repo.Repo, opt repo.RefOptions,
		) error {
			if f.remove {
				return c.removeTag(ctx, r, args[0], opt)
			}
			to := repo.TagOptions{RefOptions: opt, Annotate: annotate, Message: message}
			return c.createTag(ctx, r, args, to)
		})
	})
}

func (c *cli) listTags(ctx context.Context, r *repo.Repo) error {
	all, err := r.Tags(ctx)
	if err != nil {
		return err
	}
	var rows [][]cell
	for _, tag := range all {
		if c.global.json {
			if err := c.printTagJSON(ctx, r, tag); err != nil {
				return err
			}
			continue
		}
		title, err := titleOf(ctx, r, tag.Commit)
		if tag.Record != nil {
			title, err = r.Message(ctx, tag.Record.Message)
			title = brief(firstLine(title), summaryWidth)
		}
		if err != nil {
			return err
		}
		rows = append(rows, []cell{
			{line(tag.Name), styleBold}, {shortCID(tag.Commit), styleYellow}, {title, ""},
		})
	}
	return c.table(rows)
}

func (c *cli) printTagJSON(ctx context.Context, r *repo.Repo, tag repo.TagInfo) error {
	_, head, err := r.Branch(ctx)
	if err != nil {
		return err
	}
	out := tagJSON{
		Name: tag.Name, Commit: tag.Commit.String(), Current: tag.Commit == head, Tag: jsonCID(tag.CID),
	}
	if rec := tag.Record; rec != nil {
		time := rec.Time.String()
		message, err := r.Message(ctx, rec.Message)
		if err != nil {
			return err
		}
		out.Tagger, out.Time, out.Message = &rec.Tagger, &time, &message
	}
	return c.printJSON(out)
}

func (c *cli) createTag(
	ctx context.Context, r *repo.Repo, args []string, opt repo.TagOptions,
) error {
	rev := ""
	if len(args) == 2 {
		rev = args[1]
	}
	tag, err := r.CreateTag(ctx, args[0], rev, opt)
	switch {
	case errors.Is(err, fs.ErrExist):
		return hint(already(err, "tag %q", args[0]), "move it with --force")
	case errors.Is(err, store.ErrNotFound):
		return ops.CommitHint(err)
	case err != nil:
		return err
	case c.global.json:
		return c.printTagJSON(ctx, r, tag)
	}
	return c.printf("tag %s is at %s\n", c.paint(styleBold, line(tag.Name)),
		c.paint(styleYellow, shortCID(tag.Commit)))
}

func (c *cli) removeTag(
	ctx context.Context, r *repo.Repo, name string, opt repo.RefOptions,
) error {
	was, err := r.RemoveTag(ctx, name, opt)
	if err != nil {
		return err
	}
	if c.global.json {
		return c.printJSON(removedJSON{name, was.Commit.String()})
	}
	return c.printf("tag %s, which was at %s, is removed\n", line(name),
		c.paint(styleYellow, shortCID(was.Commit)))
}
