package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/repo"
)

// blameJSON tells for each field of a node which commit last set it.
type blameJSON struct {
	ID     string           `json:"id"`
	Key    *string          `json:"key"`
	Fields []fieldBlameJSON `json:"fields"`
}

type fieldBlameJSON struct {
	Field  string  `json:"field"`
	Commit string  `json:"commit"`
	Author string  `json:"author"`
	Agent  *string `json:"agent"`
	Time   string  `json:"time"`
}

func (c *cli) blameCommand() *cobra.Command {
	var fields []string
	cmd := &cobra.Command{
		Use:     "blame NODE [flags]",
		GroupID: groupRead,
		Short:   "Tell who last set each field of a node, and when",
		Long: "For each field and property of a node, as it is at --at, and for its mark, print the commit\n" +
			"that last set it, with author, agent and time. A merge has set what none of its parents had.\n" +
			"'mnem log NODE' lists all commits that touched the node.",
		Example: "  mnem blame alice\n  mnem blame alice --field summary --field props.team\n" +
			"  mnem blame alice --at HEAD~1 --json",
		Args: cobra.ExactArgs(1),
	}
	c.atFlag(cmd)
	cmd.Flags().StringArrayVar(&fields, "field", nil,
		"print this `FIELD` alone, as summary or props.NAME (repeatable)")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			return c.blame(ctx, r, args[0], fields)
		})
	})
}

func (c *cli) blame(ctx context.Context, r *repo.Repo, name string, only []string) error {
	s, err := c.snapshot(ctx, r)
	if err != nil {
		return err
	}
	id, err := s.Name(ctx, name)
	if err != nil {
		return nodeHint(err)
	}
	n, at, err := s.Node(ctx, id)
	if err != nil {
		return err
	}
	if red, err := s.Redaction(ctx, at); err != nil || red != nil {
		return firstError(err, redactedError{red})
	}
	found, err := s.Blame(ctx, id)
	if err == nil {
		found, err = pickFields(found, only)
	}
	if err != nil {
		return err
	}
	out := blameJSON{ID: id.String(), Key: orNull(n.Key), Fields: []fieldBlameJSON{}}
	var rows [][]cell
	for _, b := range found {
		rec := b.Commit
		out.Fields = append(out.Fields, fieldBlameJSON{
			b.Field, b.CID.String(), rec.Author, orNull(rec.Agent), rec.Time.String(),
		})
		by := line(rec.Author)
		if rec.Agent != "" {
			by += " by " + line(rec.Agent)
		}
		message, err := r.Message(ctx, rec.Message)
		if err != nil {
			return err
		}
		rows = append(rows, []cell{
			{brief(b.Field, nameWidth), styleBold}, {shortCID(b.CID), styleYellow},
			{rec.Time.String(), styleDim}, {by, ""}, {brief(firstLine(message), summaryWidth), ""},
		})
	}
	if c.global.json {
		return c.printJSON(out)
	}
	return c.table(rows)
}

// pickFields leaves the fields that were asked for, in their order; all for none.
func pickFields(all []repo.FieldBlame, only []string) ([]repo.FieldBlame, error) {
	if len(only) == 0 {
		return all, nil
	}
	byName := make(map[string]repo.FieldBlame)
	for _, b := range all {
		byName[b.Field] = b
	}
	var out []repo.FieldBlame
	for _, name := range only {
		b, ok := byName[name]
		if !ok {
			return nil, fmt.Errorf("blame: %w", &repo.NotFoundError{What: "field", Name: name})
		}
		out = append(out, b)
	}
	return out, nil
}
