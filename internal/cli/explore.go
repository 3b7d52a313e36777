package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/memory"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

func (c *cli) exploreCommand() *cobra.Command {
	var req memory.ExploreRequest
	var marks []string
	cmd := &cobra.Command{
		Use:     "explore TOPIC… [flags]",
		GroupID: groupRead,
		Short:   "Show what lies around a topic, and how it hangs together",
		Long: "Search over edges, in both directions, from the nodes that fit a topic, and print what is found\n" +
			"with the best way to each node. From each of --depth hops the --beam nodes are followed that\n" +
			"promise most: by the weights of the edges on the way, by what they have of the topic, the less\n" +
			"the more edges a node has that the way goes through, and the more they are unlike each other.\n\n" +
			"The number before a node is its score in bits: 0 for the best, one less where it is half as\n" +
			"relevant. Nodes and edges that a mark hides are neither found nor passed.\n\n" +
			"With --keyword the TOPIC is the name of a tag or an entity, or a key or id, and the search\n" +
			"begins there. A TOPIC - is read from standard input.",
		Example: "  mnem explore billing outage\n  mnem explore billing --depth 2 --beam 8\n" +
			"  mnem explore --keyword svc/billing --edge-type depends-on --json\n" +
			"  mnem explore billing --at HEAD~1",
		Args: cobra.MinimumNArgs(1),
	}
	c.atFlag(cmd)
	f := cmd.Flags()
	f.BoolVar(&req.Keyword, "keyword", false, "begin at the tag, entity or node of this name")
	f.IntVar(&req.Depth, "depth", memory.DefaultDepth, "go `N` hops")
	f.IntVar(&req.Beam, "beam", memory.DefaultBeam, "follow `N` nodes from each hop")
	f.StringArrayVar(&req.EdgeTypes, "edge-type", nil, "follow only edges of this `TYPE` (repeatable)")
	f.StringArrayVar(&req.Types, "type", nil, "only nodes of this `TYPE`, on the way too (repeatable)")
	marksFlag(cmd, &marks)
	return c.command(cmd, func(cmd *cobra.Command, args []string) (err error) {
		if err := checkRange("depth", req.Depth, 1, memory.MaxDepth); err != nil {
			return err
		}
		if err := checkRange("beam", req.Beam, 1, memory.MaxBeam); err != nil {
			return err
		}
		if req.Marks, err = parseMarks(marks); err != nil {
			return err
		}
		if req.Topic, err = c.queryText(cmd.Context(), args); err != nil {
			return err
		}
		return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			s, err := r.Snapshot(ctx, c.global.at)
			if err != nil {
				return ops.CommitHint(err)
			}
			x, err := memory.Explore(ctx, s, req)
			if err != nil {
				return exploreHint(err, req.Keyword)
			}
			if c.global.json {
				return c.printExplorationJSON(s, x)
			}
			return c.printExploration(x)
		})
	})
}

// exploreHint tells what to do about a keyword that nothing has.
func exploreHint(err error, keyword bool) error {
	if keyword && errors.Is(err, store.ErrNotFound) {
		return hint(err, "leave out --keyword to search for it; 'mnem ls --type Tag' lists the tags")
	}
	return err
}

type exploredJSON struct {
	ID      string            `json:"id"`
	Key     *string           `json:"key"`
	Type    string            `json:"type"`
	Summary *string           `json:"summary"`
	Score   int64             `json:"score"`
	Hops    int               `json:"hops"`
	Path    []exploreStepJSON `json:"path"`
}

type exploreStepJSON struct {
	From    string `json:"from"`
	To      string `json:"to"`
	Edge    string `json:"edge"`
	Type    string `json:"type"`
	Forward bool   `json:"forward"`
}

type exploredEdgeJSON struct {
	ID     string     `json:"id"`
	Type   string     `json:"type"`
	Src    string     `json:"src"`
	Dst    string     `json:"dst"`
	Weight ops.Weight `json:"weight"`
}

func (c *cli) printExplorationJSON(s *repo.Snapshot, x *memory.Exploration) error {
	out := struct {
		Commit *string            `json:"commit"`
		Topic  string             `json:"topic"`
		Nodes  []exploredJSON     `json:"nodes"`
		Edges  []exploredEdgeJSON `json:"edges"`
		Cut    uint64             `json:"cut"`
	}{jsonCID(s.CID()), x.Request.Topic, []exploredJSON{}, []exploredEdgeJSON{}, x.Cut}
	for _, n := range x.Nodes {
		e := exploredJSON{n.Node.ID.String(), orNull(n.Node.Key), n.Node.Type, orNull(n.Node.Summary),
			n.Score, n.Hops, []exploreStepJSON{}}
		for _, p := range n.Path {
			e.Path = append(e.Path, exploreStepJSON{p.From.String(), p.To.String(), p.Edge.String(),
				p.Type, p.Forward})
		}
		out.Nodes = append(out.Nodes, e)
	}
	for _, e := range x.Edges {
		out.Edges = append(out.Edges, exploredEdgeJSON{e.ID.String(), e.Type, e.Src.String(),
			e.Dst.String(), ops.Weight(e.Weight)})
	}
	return c.printJSON(out)
}

// printExploration prints a node a line, and under it how it was reached.
func (c *cli) printExploration(x *memory.Exploration) error {
	names := map[graph.ID]*graph.Node{}
	for _, n := range x.Nodes {
		names[n.Node.ID] = n.Node
	}
	for _, n := range x.Nodes {
		about := brief(n.Node.Summary, summaryWidth)
		if about == "" {
			about = label(n.Node)
		}
		if err := c.printf("%6s  %s  %s  %s\n", bits(n.Score), c.paint(styleBold, about),
			line(n.Node.Type), c.paint(styleDim, label(n.Node))); err != nil {
			return err
		}
		if len(n.Path) > 0 {
			if err := c.printf("        %s\n", c.paint(styleDim, wayOf(names, n.Path))); err != nil {
				return err
			}
		}
	}
	cut := ""
	if x.Cut > 0 {
		cut = fmt.Sprintf(", %s of large nodes left out", plural(int(x.Cut), "edge"))
	}
	if len(x.Nodes) == 0 {
		c.remark("nothing fits the topic")
		return nil
	}
	c.remark("%s, %s%s", plural(len(x.Nodes), "node"), plural(len(x.Edges), "edge"), cut)
	return nil
}

// bits writes a score as bits with two decimals.
func bits(score int64) string {
	return strconv.FormatFloat(float64(score)/65536, 'f', 2, 64)
}

// wayOf writes a path, each node by the beginning of its text.
func wayOf(names map[graph.ID]*graph.Node, path []adjacency.Step) string {
	const width = 28
	name := func(id graph.ID) string {
		n := names[id]
		if n == nil {
			return id.String()
		}
		return firstOf(brief(n.Summary, width), label(n))
	}
	var b strings.Builder
	b.WriteString(name(path[0].From))
	for i, p := range path {
		arrow := " <-" + line(p.Type) + "- "
		if p.Forward {
			arrow = " -" + line(p.Type) + "-> "
		}
		b.WriteString(arrow)
		if i == len(path)-1 {
			b.WriteString("this")
		} else {
			b.WriteString(name(p.To))
		}
	}
	return b.String()
}

func (c *cli) suggestCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "suggest TEXT… [flags]",
		GroupID: groupRead,
		Short:   "Suggest tags for a text",
		Long: "Print three to six tags for a text, best first: those of the memories that are most like it,\n" +
			"each weighed by how like they are and how rare it is; where these are too few, what the text\n" +
			"itself names. A TEXT - is read from standard input. Fewer are printed where neither says more.",
		Example: "  mnem suggest 'The billing cache ran out of memory'\n" +
			"  mnem suggest - --json < note.txt",
		Args: cobra.MinimumNArgs(1),
	}
	c.atFlag(cmd)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		txt, err := c.longText(cmd.Context(), args)
		if err != nil {
			return err
		}
		return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			s, err := c.snapshot(ctx, r)
			if err != nil {
				return err
			}
			tags, err := memory.Suggest(ctx, s, txt)
			if err != nil {
				return err
			}
			return c.printSuggested(s, tags)
		})
	})
}

// longText returns the text of arguments, or of standard input where they are a hyphen. Of more
// bytes than a memory can have the rest is left out.
func (c *cli) longText(ctx context.Context, args []string) (string, error) {
	if len(args) != 1 || args[0] != stdinName {
		return strings.Join(args, " "), nil
	}
	in := newPatientReader(ctx, c.app.Stdin)
	data, err := io.ReadAll(io.LimitReader(in, 4*memory.MaxText))
	return string(data), err
}

func (c *cli) printSuggested(s *repo.Snapshot, tags []memory.SuggestedTag) error {
	type tagJSON struct {
		Tag   string   `json:"tag"`
		Score int64    `json:"score"`
		From  []string `json:"from"`
		Text  bool     `json:"in_text"`
	}
	if c.global.json {
		list := []tagJSON{}
		for _, t := range tags {
			list = append(list, tagJSON{t.Name, t.Score, idTexts(t.From), t.Text})
		}
		return c.printJSON(struct {
			Commit *string   `json:"commit"`
			Tags   []tagJSON `json:"tags"`
		}{jsonCID(s.CID()), list})
	}
	var rows [][]cell
	for _, t := range tags {
		why := "named in the text"
		if len(t.From) > 0 {
			why = "of a memory like it"
			if len(t.From) > 1 {
				why = "of memories like it"
			}
			if t.Text {
				why += ", and named in the text"
			}
		}
		rows = append(rows, []cell{{line(t.Name), styleBold}, {why, styleDim}})
	}
	if len(rows) == 0 {
		c.remark("nothing to suggest: no memory like it has tags, and it names nothing")
	}
	return c.table(rows)
}

func (c *cli) relatedCommand() *cobra.Command {
	var req memory.RelatedRequest
	var marks []string
	cmd := &cobra.Command{
		Use:     "related NODE [flags]",
		GroupID: groupRead,
		Short:   "List what is related to a node, and why",
		Long: "List the nodes that are related to a node, best first, with the reason of each: edges between\n" +
			"them, entities and tags that both have, the rarer the better, and words that both texts have.\n" +
			"NODE is a key, an id, or at least 4 digits of an id. Tags and entities are not listed.",
		Example: "  mnem related svc/billing\n  mnem related alice --limit 5 --json",
		Args:    cobra.ExactArgs(1),
	}
	c.atFlag(cmd)
	f := cmd.Flags()
	f.IntVar(&req.Limit, "limit", memory.DefaultRelated, "at most `N` nodes")
	marksFlag(cmd, &marks)
	return c.command(cmd, func(cmd *cobra.Command, args []string) (err error) {
		if err := checkRange("limit", req.Limit, 1, memory.MaxRelated); err != nil {
			return err
		}
		if req.Marks, err = parseMarks(marks); err != nil {
			return err
		}
		return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			s, err := c.snapshot(ctx, r)
			if err != nil {
				return err
			}
			if req.ID, err = s.Name(ctx, args[0]); err != nil {
				return ops.NodeHint(err)
			}
			list, err := memory.Related(ctx, s, req)
			if err != nil {
				return err
			}
			return c.printRelated(s, req.ID, list)
		})
	})
}

type relatedJSON struct {
	ID      string       `json:"id"`
	Key     *string      `json:"key"`
	Type    string       `json:"type"`
	Summary *string      `json:"summary"`
	Score   int64        `json:"score"`
	Reasons []reasonJSON `json:"reasons"`
}

type reasonJSON struct {
	Kind  string   `json:"kind"`
	Score int64    `json:"score"`
	Names []string `json:"names"`
}

func (c *cli) printRelated(s *repo.Snapshot, id graph.ID, list []memory.RelatedNode) error {
	if c.global.json {
		out := []relatedJSON{}
		for _, r := range list {
			e := relatedJSON{r.Node.ID.String(), orNull(r.Node.Key), r.Node.Type,
				orNull(r.Node.Summary), r.Score, []reasonJSON{}}
			for _, why := range r.Reasons {
				names := append([]string{}, why.Names...)
				e.Reasons = append(e.Reasons, reasonJSON{why.Kind, why.Score, names})
			}
			out = append(out, e)
		}
		return c.printJSON(struct {
			Commit *string       `json:"commit"`
			ID     string        `json:"id"`
			Nodes  []relatedJSON `json:"nodes"`
		}{jsonCID(s.CID()), id.String(), out})
	}
	for _, r := range list {
		about := firstOf(brief(r.Node.Summary, summaryWidth), label(r.Node))
		if err := c.printf("%s  %s  %s\n", c.paint(styleBold, about), line(r.Node.Type),
			c.paint(styleDim, label(r.Node))); err != nil {
			return err
		}
		var why []string
		for _, reason := range r.Reasons {
			why = append(why, reasonText(reason))
		}
		if err := c.printf("    %s\n", c.paint(styleDim, strings.Join(why, "; "))); err != nil {
			return err
		}
	}
	if len(list) == 0 {
		c.remark("nothing is related to it")
	}
	return nil
}

// reasonText says why a node is related to another.
func reasonText(r memory.Reason) string {
	names := make([]string, len(r.Names))
	for i, n := range r.Names {
		names[i] = brief(n, summaryWidth)
	}
	percent := r.Score * 100 / graph.MaxWeight
	switch r.Kind {
	case "edge":
		return strings.Join(names, ", ")
	case "shared":
		return "both have " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("%d%% of the words of either", percent)
}
