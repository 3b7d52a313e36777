package cli

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

// logFlags are the flags of log.
type logFlags struct {
	limit                  int
	oneline, stat          bool
	types, authors, agents []string
	since, until, grep     string
}

func (f *logFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntVarP(&f.limit, "limit", "n", 0, "at most `N` commits; 0 for all")
	flags.BoolVar(&f.oneline, "oneline", false, "one line a commit")
	flags.BoolVar(&f.stat, "stat", false, "count what each commit changed by type")
	flags.StringArrayVar(&f.types, "type", nil,
		"commits that changed a node or edge of this `TYPE` (repeatable: any of them)")
	flags.StringArrayVar(&f.authors, "author", nil, "commits by this author (repeatable)")
	flags.StringArrayVar(&f.agents, "agent", nil, "commits by this agent (repeatable)")
	flags.StringVar(&f.since, "since", "", "commits at or after this `TIME`: RFC 3339 or YYYY-MM-DD")
	flags.StringVar(&f.until, "until", "", "commits before this `TIME`, likewise")
	flags.StringVar(&f.grep, "grep", "", "commits whose message matches this regular `EXPRESSION`")
}

// options returns which commits are wanted, but for revision and node.
func (f *logFlags) options() (repo.LogOptions, error) {
	opt := repo.LogOptions{Types: f.types, Authors: f.authors, Agents: f.agents}
	if f.limit < 0 {
		return opt, usagef("--limit: %d is below 0", f.limit)
	}
	var err error
	if opt.Since, err = optTime("since", f.since); err != nil {
		return opt, err
	}
	if opt.Until, err = optTime("until", f.until); err != nil {
		return opt, err
	}
	if f.grep != "" {
		if opt.Grep, err = regexp.Compile(f.grep); err != nil {
			return opt, usagef("--grep: %w", err)
		}
	}
	return opt, nil
}

func optTime(flag, text string) (graph.OptTime, error) {
	if text == "" {
		return graph.OptTime{}, nil
	}
	t, err := graph.ParseTime(text)
	if err != nil {
		return graph.OptTime{}, usagef("--%s: %w", flag, err)
	}
	return graph.At(t), nil
}

// logScope is what the arguments of log mean.
type logScope struct {
	rev  string
	node string // name of a node, "" for all
}

// scope finds out what the arguments mean: a revision or range and then a node, either of which
// may be left out. What is both a revision and a node is the revision, unless -- comes before it.
func (c *cli) scope(
	ctx context.Context, r *repo.Repo, cmd *cobra.Command, args []string,
) (logScope, error) {
	s := logScope{rev: c.global.at}
	revs, nodes := args, []string{}
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		revs, nodes = args[:dash], args[dash:]
	} else if len(args) == 2 {
		revs, nodes = args[:1], args[1:]
	} else if len(args) == 1 {
		isRev, err := isRevision(ctx, r, args[0])
		if err != nil {
			return s, err
		}
		if !isRev {
			revs, nodes = nil, args
		}
	}
	if len(revs) > 1 || len(nodes) > 1 {
		return s, usagef("give at most one revision or range and one node")
	}
	if len(nodes) == 1 {
		s.node = nodes[0]
	}
	if len(revs) == 1 {
		if cmd.Flags().Changed("at") {
			return s, usagef("give the revision as an argument or with --at, not both")
		}
		s.rev = revs[0]
	}
	return s, nil
}

// isRevision reports whether a name is that of a revision or range; else it may be a node's.
func isRevision(ctx context.Context, r *repo.Repo, name string) (bool, error) {
	if strings.HasPrefix(name, "key:") || strings.HasPrefix(name, "id:") {
		return false, nil
	}
	_, err := r.Resolve(ctx, name)
	if repo.IsRange(name) || isUnborn(err) {
		return true, nil
	}
	if errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrCorrupt) {
		return false, nil
	}
	return true, err
}

// nodeInLog returns the node that a name means where a revision or range ends. A key or full id
// that is no node there may be that of one which history knows: gone is true.
func (c *cli) nodeInLog(
	ctx context.Context, r *repo.Repo, s logScope,
) (id graph.ID, gone bool, err error) {
	from, _, err := r.Range(ctx, s.rev)
	if err != nil {
		return id, false, err
	}
	at, err := r.At(ctx, from[0])
	if err != nil {
		return id, false, err
	}
	id, err = at.Name(ctx, s.node)
	var missing *repo.NotFoundError
	if !errors.As(err, &missing) {
		return id, false, err
	}
	ref, refErr := futureRef(s.node)
	if refErr != nil {
		return id, false, err
	}
	return ref.Target(), true, nil
}

// logStatJSON counts by type what a commit changed.
type logStatJSON struct {
	NodeTypes []typeCountsJSON `json:"node_types"`
	EdgeTypes []typeCountsJSON `json:"edge_types"`
}

func logStat(ctx context.Context, e repo.LogEntry) (*logStatJSON, error) {
	t, err := countDiff(ctx, comparison{Diff: e.Diff}, diffOptions{})
	if err != nil {
		return nil, err
	}
	return &logStatJSON{jsonTypes(t.nodeTypes), jsonTypes(t.edgeTypes)}, nil
}

// printLogStat prints the counts of a commit by type as text.
func (c *cli) printLogStat(stat *logStatJSON) error {
	for _, part := range []struct {
		what  string
		types []typeCountsJSON
	}{{"node", stat.NodeTypes}, {"edge", stat.EdgeTypes}} {
		for _, t := range part.types {
			text := c.countsLine(repo.Counts(t.countsJSON), part.what+" "+line(t.Type))
			if err := c.printf("  %s\n", text); err != nil {
				return err
			}
		}
	}
	return nil
}
