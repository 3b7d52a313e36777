package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
)

// sessionJSON is the newest record of a session.
type sessionJSON struct {
	Session string  `json:"session"`
	Commit  *string `json:"commit"` // null where it follows HEAD
	Follow  bool    `json:"follow"`
	Agent   *string `json:"agent"`
	Task    *string `json:"task"`
	Actor   string  `json:"actor"`
	Time    string  `json:"time"`
	Records int64   `json:"records"`
	Ended   bool    `json:"ended"`
}

func jsonSession(s *retrieve.Session) sessionJSON {
	return sessionJSON{
		Session: s.Name, Commit: jsonCID(s.Commit), Follow: s.Follow, Agent: orNull(s.Agent),
		Task: orNull(s.Task), Actor: s.Actor, Time: s.Time.String(), Records: s.Seq + 1,
		Ended: s.Ended,
	}
}

func (c *cli) sessionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "session",
		GroupID: groupRecord,
		Short:   "Pin a commit for a series of retrievals and record them",
		Long: "A session pins one commit: whatever is committed meanwhile, 'mnem retrieve --session NAME'\n" +
			"answers from it and records a receipt, and 'mnem replay NAME' answers it all again.",
		Example: "  mnem session start review --agent reviewer\n" +
			"  mnem retrieve 'open tasks' --session review\n" +
			"  mnem session log review\n  mnem replay review",
	}
	return c.parent(cmd, c.sessionStart(), c.sessionLog(), c.sessionList(), c.sessionAdvance(),
		c.sessionEnd(), c.sessionRemove())
}

func (c *cli) sessionStart() *cobra.Command {
	var follow bool
	cmd := &cobra.Command{
		Use:   "start NAME [flags]",
		Short: "Start a session at a commit",
		Long: "Start a session that answers from the commit at --at, or with --follow from what HEAD is at\n" +
			"each retrieval. --agent and --task say who works on what.",
		Example: "  mnem session start review\n  mnem session start audit --at HEAD~1 --task 'winter launch'",
		Args:    cobra.ExactArgs(1),
	}
	c.atFlag(cmd)
	cmd.Flags().BoolVar(&follow, "follow", false, "answer from HEAD at each retrieval")
	c.writeFlags(cmd)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		if err := needOne(cmd, "at", "follow"); err != nil {
			return err
		}
		return c.write(cmd, func(ctx context.Context, r *repo.Repo, by repo.Stamp) error {
			opt := repo.SessionOptions{Stamp: by, At: c.global.at, Follow: follow}
			s, err := r.StartSession(ctx, args[0], opt)
			if err != nil {
				return ops.CommitHint(err)
			}
			return c.printSession(s)
		})
	})
}

// printSession prints the state of a session after a command changed it.
func (c *cli) printSession(s *retrieve.Session) error {
	if c.global.json {
		return c.printJSON(jsonSession(s))
	}
	return c.printf("%s\n", sessionText(s))
}

func sessionText(s *retrieve.Session) string {
	text := "session " + line(s.Name)
	switch {
	case s.Ended:
		text += " has ended"
	case s.Follow:
		text += " follows HEAD"
	default:
		text += " is at " + shortCID(s.Commit)
	}
	return text
}

func (c *cli) sessionList() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List sessions by name",
		Long:    "List all sessions in order of name. With --json, one object a line.",
		Example: "  mnem session list",
		Args:    cobra.NoArgs,
	}
	return c.command(cmd, func(cmd *cobra.Command, _ []string) error {
		return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			all, err := r.Sessions(ctx)
			if err != nil {
				return err
			}
			var rows [][]cell
			for _, e := range all {
				if c.global.json {
					if err := c.printJSON(jsonSession(e.Record)); err != nil {
						return err
					}
				}
				rows = append(rows, sessionRow(e.Record))
			}
			if c.global.json {
				return nil
			}
			return c.table(rows)
		})
	})
}

func sessionRow(s *retrieve.Session) []cell {
	where := "follows HEAD"
	if !s.Follow {
		where = shortCID(s.Commit)
	}
	state := "open"
	if s.Ended {
		state = "ended"
	}
	return []cell{
		{line(s.Name), styleBold}, {where, styleYellow}, {state, ""}, {s.Time.String(), styleDim},
		{line(joinText(s.Agent, s.Task)), ""},
	}
}

func (c *cli) sessionAdvance() *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:     "advance NAME [flags]",
		Short:   "Pin a session to another commit",
		Long:    "Pin a session to the commit at --to for the retrievals to come.",
		Example: "  mnem session advance review\n  mnem session advance review --to HEAD",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: c.completeArg(completeSessions),
	}
	cmd.Flags().StringVar(&to, "to", string(graph.Head), "the `REV`ision to pin")
	c.complete(cmd, "to", completeRevs)
	return c.sessionWrite(cmd, func(
		ctx context.Context, r *repo.Repo, name string, by repo.Stamp,
	) (*retrieve.Session, error) {
		return r.AdvanceSession(ctx, name, to, by)
	})
}

func (c *cli) sessionEnd() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "end NAME [flags]",
		Short:   "End a session: nothing is added to it any more",
		Long:    "End a session. It can still be read and replayed, but nothing is added to it any more.",
		Example: "  mnem session end review",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: c.completeArg(completeSessions),
	}
	return c.sessionWrite(cmd, func(
		ctx context.Context, r *repo.Repo, name string, by repo.Stamp,
	) (*retrieve.Session, error) {
		return r.EndSession(ctx, name, by)
	})
}

func (c *cli) sessionRemove() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "rm NAME [flags]",
		Short:   "Remove a session",
		Long:    "Remove a session and its receipts from sight. Their records stay in older operations.",
		Example: "  mnem session rm review",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: c.completeArg(completeSessions),
	}
	c.writeFlags(cmd)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		return c.write(cmd, func(ctx context.Context, r *repo.Repo, by repo.Stamp) error {
			if err := r.RemoveSession(ctx, args[0], by); err != nil {
				return err
			}
			if c.global.json {
				return c.printJSON(map[string]string{"removed": args[0]})
			}
			return c.printf("session %s is removed\n", line(args[0]))
		})
	})
}

// sessionWrite finishes a command that changes one session and prints what it is then.
func (c *cli) sessionWrite(
	cmd *cobra.Command,
	change func(context.Context, *repo.Repo, string, repo.Stamp) (*retrieve.Session, error),
) *cobra.Command {
	c.writeFlags(cmd)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		return c.write(cmd, func(ctx context.Context, r *repo.Repo, by repo.Stamp) error {
			s, err := change(ctx, r, args[0], by)
			if err != nil {
				return err
			}
			return c.printSession(s)
		})
	})
}

// recordJSON is one record of a session.
type recordJSON struct {
	Record  string  `json:"record"`
	Event   string  `json:"event"`
	Time    string  `json:"time"`
	Actor   string  `json:"actor"`
	Commit  *string `json:"commit"` // of the answer, or the pinned one
	Receipt *string `json:"receipt"`
	Query   *string `json:"query"`
	Items   *int    `json:"items"`
	Tokens  *int    `json:"tokens"`
}

func (c *cli) sessionLog() *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "log NAME [flags]",
		Short: "List what a session recorded, newest first",
		Long: "List the records of a session, newest first: where it was pinned, and every receipt with its\n" +
			"query, commit and numbers of items and tokens. With --json, one object a line.",
		Example: "  mnem session log review\n  mnem session log review -n 5 --json",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: c.completeArg(completeSessions),
	}
	cmd.Flags().IntVarP(&limit, "limit", "n", 0, "at most `N` records; 0 for all")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		if limit < 0 {
			return usagef("--limit: %d is below 0", limit)
		}
		return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			n := 0
			var later *repo.SessionEntry
			for e, err := range r.SessionLog(ctx, args[0]) {
				if err != nil {
					return err
				}
				if later != nil {
					if err := c.printRecord(ctx, r, *later, e.Record); err != nil {
						return err
					}
					if n++; n == limit {
						return nil
					}
				}
				later = &e
			}
			if later == nil {
				return nil
			}
			return c.printRecord(ctx, r, *later, nil)
		})
	})
}

// printRecord prints a record; before is the one before it, nil for the first.
func (c *cli) printRecord(
	ctx context.Context, r *repo.Repo, e repo.SessionEntry, before *retrieve.Session,
) error {
	s := e.Record
	v := recordJSON{
		Record: e.CID.String(), Event: eventOf(s, before), Time: s.Time.String(), Actor: s.Actor,
		Commit: jsonCID(s.Commit), Receipt: jsonCID(s.Receipt),
	}
	at := s.Commit
	if s.Receipt.Defined() {
		rec, req, err := r.Receipt(ctx, s.Receipt)
		if err != nil {
			return err
		}
		items := len(rec.Items)
		at = rec.Commits[0]
		v.Commit, v.Query, v.Items, v.Tokens = jsonCID(at), &req.Text, &items, &rec.Tokens
	}
	if c.global.json {
		return c.printJSON(v)
	}
	return c.printf("%s\n", c.recordText(&v, at))
}

// eventOf says what a record of a session is about.
func eventOf(s, before *retrieve.Session) string {
	switch {
	case before == nil:
		return "start"
	case s.Receipt.Defined():
		return "retrieve"
	case s.Ended:
		return "end"
	}
	return "advance"
}

func (c *cli) recordText(v *recordJSON, at ipld.CID) string {
	parts := []string{c.paint(styleDim, v.Time), v.Event}
	if at.Defined() {
		parts = append(parts, c.paint(styleYellow, shortCID(at)))
	}
	if v.Receipt != nil {
		parts = append(parts, plural(*v.Items, "item"), plural(*v.Tokens, "token"),
			strconv.Quote(brief(*v.Query, summaryWidth)))
	}
	return strings.Join(parts, "  ")
}
