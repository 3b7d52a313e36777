package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/community"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

const (
	defaultCommunities = 20 // listed unless told
	shownMembers       = 5  // of each in a list
	maxListed          = 100_000
)

// communitiesOptions are the flags of communities.
type communitiesOptions struct {
	limit int
	keep  bool
	let   []graph.State
}

func (c *cli) communitiesCommand() *cobra.Command {
	var opt communitiesOptions
	var marks []string
	cmd := &cobra.Command{
		Use:     "communities [NODE] [flags]",
		GroupID: groupRead,
		Short:   "List groups of nodes that edges hold together",
		Long: "List the communities of a commit, the largest first, with their best-connected members;\n" +
			"or the members of the community that NODE is in. NODE is a key, an id, or at least 4\n" +
			"digits of an id.\n\n" +
			"A community is a set of nodes with more weight of edges among them than chance would\n" +
			"give. Each node with edges is in one at most. They depend on the edges alone, whatever\n" +
			"the types and marks, and are the same everywhere; 'mnem retrieve --community' uses them.\n\n" +
			"They take some seconds for 300,000 edges. A process that may write keeps them in the\n" +
			"repository, as --keep does, until the edges change.",
		Example: "  mnem communities\n  mnem communities alice\n" +
			"  mnem communities --at HEAD~1 --limit 5 --json\n  mnem communities --keep",
		Args: cobra.MaximumNArgs(1),
	}
	c.atFlag(cmd)
	f := cmd.Flags()
	f.IntVar(&opt.limit, "limit", defaultCommunities, "at most `N` communities or members; 0 for all")
	f.BoolVar(&opt.keep, "keep", false, "keep the communities, so that others need not find them anew")
	marksFlag(cmd, &marks)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		if err := checkRange("limit", opt.limit, 0, maxListed); err != nil {
			return err
		}
		if opt.limit == 0 {
			opt.limit = maxListed
		}
		var err error
		if opt.let, err = parseMarks(marks); err != nil {
			return err
		}
		return c.withRepo(cmd, opt.keep, func(ctx context.Context, r *repo.Repo) error {
			s, err := c.snapshot(ctx, r)
			if err != nil {
				return err
			}
			l := communityLister{c: c, s: s, opt: opt, names: newLabels(s)}
			if len(args) == 1 {
				return l.one(ctx, args[0])
			}
			return l.all(ctx)
		})
	})
}

// communityLister prints communities of a snapshot.
type communityLister struct {
	c     *cli
	s     *repo.Snapshot
	opt   communitiesOptions
	names *labels
}

// communityJSON is one community.
type communityJSON struct {
	Number  int          `json:"number"` // from 1, the largest first
	Size    int          `json:"size"`
	Members []memberJSON `json:"members"` // best-connected first
}

type memberJSON struct {
	ID       string     `json:"id"`
	Key      *string    `json:"key"`
	NodeType *string    `json:"node_type"`
	Summary  *string    `json:"summary"`
	Inside   insideJSON `json:"weight"` // of its edges inside
}

// insideJSON is a sum of weights of edges, to the nearest thousandth.
type insideJSON uint64

// MarshalJSON writes a number.
func (w insideJSON) MarshalJSON() ([]byte, error) { return []byte(w.String()), nil }

func (w insideJSON) String() string {
	s := strconv.FormatFloat(float64(w)/graph.MaxWeight, 'f', 3, 64)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// members reads the first members of a community that are not hidden.
func (l *communityLister) members(
	ctx context.Context, list []community.Member, limit int,
) ([]memberJSON, error) {
	out := []memberJSON{}
	see := ops.Visible{Snapshot: l.s, Let: l.opt.let}
	for _, m := range list {
		if len(out) == limit {
			break
		}
		ok, err := see.Node(ctx, m.ID)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		row := memberJSON{ID: m.ID.String(), Inside: insideJSON(m.Inside)}
		n, err := l.names.Node(ctx, m.ID)
		if err != nil {
			return nil, err
		}
		if n != nil {
			row.Key, row.NodeType, row.Summary = orNull(n.Key), orNull(n.Type), orNull(n.Summary)
		}
		out = append(out, row)
	}
	return out, nil
}

// all lists the communities.
func (l *communityLister) all(ctx context.Context) error {
	p, err := l.s.Communities(ctx)
	if err != nil {
		return err
	}
	list := []communityJSON{}
	for number := range min(p.Len(), l.opt.limit) {
		members, err := l.members(ctx, p.Members(number), shownMembers)
		if err != nil {
			return err
		}
		list = append(list, communityJSON{number + 1, len(p.Members(number)), members})
	}
	if l.c.global.json {
		return l.c.printJSON(struct {
			Commit      *string         `json:"commit"`
			Count       int             `json:"count"`
			Nodes       int             `json:"nodes"` // that are in one
			Communities []communityJSON `json:"communities"`
			More        int             `json:"more"`
		}{jsonCID(l.s.CID()), p.Len(), p.Nodes(), list, p.Len() - len(list)})
	}
	if len(list) == 0 {
		l.c.remark("no communities: no edge connects two nodes")
		return nil
	}
	var rows [][]cell
	for _, one := range list {
		names := make([]string, len(one.Members))
		for i, m := range one.Members {
			names[i] = m.label()
		}
		rows = append(rows, []cell{{strconv.Itoa(one.Number), styleDim},
			{plural(one.Size, "node"), styleBold}, {strings.Join(names, ", "), ""}})
	}
	if err := l.c.table(rows); err != nil {
		return err
	}
	if more := p.Len() - len(list); more > 0 {
		return l.c.printf("... (+%d more)\n", more)
	}
	return nil
}

// label is the member's key, or its id.
func (m memberJSON) label() string {
	if m.Key == nil {
		return m.ID
	}
	return line(*m.Key)
}

// one lists the members of the community of a node.
func (l *communityLister) one(ctx context.Context, name string) error {
	id, err := l.s.Name(ctx, name)
	if err != nil {
		return ops.NodeHint(err)
	}
	p, err := l.s.Communities(ctx)
	if err != nil {
		return err
	}
	out := communityJSON{Members: []memberJSON{}}
	number, ok := p.Of(id)
	if ok {
		list := p.Members(number)
		out.Number, out.Size = number+1, len(list)
		if out.Members, err = l.members(ctx, list, l.opt.limit); err != nil {
			return err
		}
	}
	if l.c.global.json {
		return l.c.printJSON(struct {
			Commit *string `json:"commit"`
			ID     string  `json:"id"`
			communityJSON
		}{jsonCID(l.s.CID()), id.String(), out})
	}
	if !ok {
		l.c.remark("in no community: no edge connects the node to another, or none closely enough")
		return nil
	}
	return l.printMembers(out)
}

func (l *communityLister) printMembers(of communityJSON) error {
	var rows [][]cell
	for _, m := range of.Members {
		row := []cell{{m.label(), styleBold}, {"", ""}, {"", styleDim}, {"", styleDim}}
		if m.NodeType != nil {
			row[1].text = line(*m.NodeType)
		}
		row[2].text = m.Inside.String()
		if m.Summary != nil {
			row[3].text = brief(*m.Summary, summaryWidth)
		}
		rows = append(rows, row)
	}
	if err := l.c.table(rows); err != nil {
		return err
	}
	if err := l.c.out.Flush(); err != nil {
		return err
	}
	l.c.remark("community %d: %s, %d shown", of.Number, plural(of.Size, "node"), len(of.Members))
	return nil
}
