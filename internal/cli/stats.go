package cli

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

// statsJSON is the size of a memory and of what keeps it.
type statsJSON struct {
	Commit     *string         `json:"commit"`
	Graph      *string         `json:"graph"`
	Nodes      totalJSON       `json:"nodes"`
	Edges      totalJSON       `json:"edges"`
	Marks      markTotalJSON   `json:"marks"`
	Embeddings uint64          `json:"embeddings"`
	Agents     map[string]int  `json:"agents"` // commits by their agents, else authors
	NodeTypes  []typeCountJSON `json:"node_types"`
	EdgeTypes  []typeCountJSON `json:"edge_types"`
	Index      ops.Index       `json:"index"`
	Store      storeJSON       `json:"store"`
	Scores     *scoresJSON     `json:"scores,omitempty"` // with --scores
}

// totalJSON is how many things there are, of each type too.
type totalJSON struct {
	Total  uint64         `json:"total"`
	ByType map[string]int `json:"by_type"`
}

type markTotalJSON struct {
	Total   uint64              `json:"total"`
	ByState map[graph.State]int `json:"by_state"`
}

type typeCountJSON struct {
	Type  string `json:"type"`
	Count int    `json:"count"`
}

// storeJSON is what the whole repository holds; bytes of blocks are without overhead.
type storeJSON struct {
	Bytes         int64  `json:"bytes"` // of all blocks, those of the index too
	Operations    uint64 `json:"operations"`
	Blocks        int    `json:"blocks"`
	BlockBytes    int64  `json:"block_bytes"`
	DerivedBlocks int    `json:"derived_blocks"`
	DerivedBytes  int64  `json:"derived_bytes"`
	DiskBytes     int64  `json:"disk_bytes"`
	Branches      int    `json:"branches"`
	Tags          int    `json:"tags"`
}

func (c *cli) statsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "stats",
		GroupID: groupCare,
		Short:   "Count what a commit and the repository hold",
		Long: "Count the nodes and edges of a commit by type, its marks by state, the commits behind it by\n" +
			"agent (or author), its embeddings, the size of its index, and the operations, blocks and bytes\n" +
			"of the whole repository. It looks at every block.\n\n" +
			"--scores tells how much the memories have in common: of a sample of 200, what 'mnem check'\n" +
			"finds of the text of each in all others, and how alike the nearest is to it, as percentiles.\n" +
			"Thresholds want to be above what is common here. It costs a retrieval for each.",
		Example: "  mnem stats\n  mnem stats --at HEAD~1 --json\n  mnem stats --scores",
		Args:    cobra.NoArgs,
	}
	c.atFlag(cmd)
	var scores bool
	cmd.Flags().BoolVar(&scores, "scores", false, "print percentiles of the scores of check and remember")
	return c.command(cmd, func(cmd *cobra.Command, _ []string) error {
		return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			stats, err := c.stats(ctx, r, scores)
			if err != nil {
				return err
			}
			if c.global.json {
				return c.printJSON(stats)
			}
			return c.printStats(stats)
		})
	})
}

func (c *cli) stats(ctx context.Context, r *repo.Repo, scores bool) (*statsJSON, error) {
	s, err := c.snapshot(ctx, r)
	if err != nil {
		return nil, err
	}
	out := &statsJSON{Commit: jsonCID(s.CID()), Graph: jsonCID(s.Graph())}
	out.Nodes.Total, out.Edges.Total, out.Marks.Total, out.Embeddings = s.Sizes()
	if err := c.countKinds(ctx, s, out); err != nil {
		return nil, err
	}
	if out.Agents, err = agents(ctx, r, s); err != nil {
		return nil, err
	}
	if scores {
		if out.Scores, err = c.sampleScores(ctx, s); err != nil {
			return nil, err
		}
	}
	index, err := s.IndexStats(ctx)
	if err != nil {
		return nil, err
	}
	out.Index = *ops.IndexOf(index)
	sizes, err := r.Sizes(ctx)
	if err != nil {
		return nil, err
	}
	branches, err := completeBranches(ctx, r)
	if err != nil {
		return nil, err
	}
	tags, err := completeTags(ctx, r)
	if err != nil {
		return nil, err
	}
	disk, err := c.diskBytes()
	out.Store = storeJSON{
		sizes.BlockBytes + sizes.DerivedBytes, sizes.Operations, sizes.Blocks, sizes.BlockBytes,
		sizes.DerivedBlocks, sizes.DerivedBytes, disk, len(branches), len(tags),
	}
	return out, err
}

// countKinds counts what the commit has, of each kind.
func (c *cli) countKinds(ctx context.Context, s *repo.Snapshot, out *statsJSON) error {
	p := c.progress()
	defer p.done()
	all := int(out.Nodes.Total + out.Edges.Total + out.Marks.Total)
	kinds, err := s.Kinds(ctx, func(done int) { p.set("counting", done, all) })
	if err != nil {
		return err
	}
	out.Nodes.ByType, out.Edges.ByType, out.Marks.ByState = kinds.Nodes, kinds.Edges, kinds.Marks
	out.NodeTypes, out.EdgeTypes = jsonTypeCounts(kinds.Nodes), jsonTypeCounts(kinds.Edges)
	return nil
}

// agents counts the commits behind a snapshot by who made them.
func agents(ctx context.Context, r *repo.Repo, s *repo.Snapshot) (map[string]int, error) {
	out := make(map[string]int)
	if !s.CID().Defined() {
		return out, nil
	}
	for e, err := range r.Log(ctx, s.CID().String()) {
		if err != nil {
			return nil, err
		}
		out[firstOf(e.Commit.Agent, e.Commit.Author)]++
	}
	return out, nil
}

func jsonTypeCounts(of map[string]int) []typeCountJSON {
	list := make([]typeCountJSON, 0, len(of))
	for _, typ := range slices.Sorted(maps.Keys(of)) {
		list = append(list, typeCountJSON{typ, of[typ]})
	}
	return list
}

// diskBytes is the size of all files of the repository. A file that goes away meanwhile, as the
// store's do, is not counted.
func (c *cli) diskBytes() (int64, error) {
	dir, err := c.dir()
	if err != nil {
		return 0, err
	}
	var size int64
	err = filepath.WalkDir(filepath.Join(dir, repo.DirName),
		func(_ string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				var info fs.FileInfo
				if info, err = d.Info(); err == nil {
					size += info.Size()
				}
			}
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		})
	return size, err
}

func (c *cli) printStats(s *statsJSON) error {
	commit := "(none)"
	if s.Commit != nil {
		cid, err := ipld.ParseCID(*s.Commit)
		if err != nil {
			return err
		}
		commit = shortCID(cid)
	}
	rows := [][]cell{
		{{"commit", styleBold}, {commit, styleYellow}},
		countRow("nodes", s.Nodes.Total), countRow("edges", s.Edges.Total),
		countRow("marks", s.Marks.Total),
		countRow("embeddings", s.Embeddings),
	}
	for _, t := range s.NodeTypes {
		rows = append(rows, countRow("node "+brief(t.Type, nameWidth), uint64(t.Count)))
	}
	for _, t := range s.EdgeTypes {
		rows = append(rows, countRow("edge "+brief(t.Type, nameWidth), uint64(t.Count)))
	}
	for _, state := range slices.Sorted(maps.Keys(s.Marks.ByState)) {
		rows = append(rows, countRow("mark "+line(string(state)), uint64(s.Marks.ByState[state])))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Agents)) {
		rows = append(rows, countRow("commits by "+brief(name, nameWidth), uint64(s.Agents[name])))
	}
	rows = append(rows, countRow("index segments", uint64(s.Index.Segments)),
		countRow("index terms", uint64(s.Index.Terms)),
		countRow("branches", uint64(s.Store.Branches)), countRow("tags", uint64(s.Store.Tags)),
		countRow("operations", s.Store.Operations), countRow("blocks", uint64(s.Store.Blocks)),
		[]cell{{"block bytes", styleBold}, {bytesText(s.Store.BlockBytes), ""}},
		countRow("index blocks", uint64(s.Store.DerivedBlocks)),
		[]cell{{"index bytes", styleBold}, {bytesText(s.Store.DerivedBytes), ""}},
		[]cell{{"bytes on disk", styleBold}, {bytesText(s.Store.DiskBytes), ""}})
	if err := c.table(rows); err != nil || s.Scores == nil {
		return err
	}
	return c.printScores(s.Scores)
}

func countRow(name string, n uint64) []cell {
	return []cell{{name, styleBold}, {strconv.FormatUint(n, 10), ""}}
}

// bytesText is a size for people.
func bytesText(n int64) string {
	const step = 1 << 10
	if n < step {
		return strconv.FormatInt(n, 10) + " B"
	}
	x, unit := float64(n)/step, "KiB"
	for _, next := range []string{"MiB", "GiB", "TiB"} {
		if x < step {
			break
		}
		x, unit = x/step, next
	}
	return strconv.FormatFloat(x, 'f', 1, 64) + " " + unit
}
