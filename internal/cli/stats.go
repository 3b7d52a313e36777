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
	"github.com/mnem-project/mnem/repo"
)

// statsJSON is the size of a memory and of what keeps it.
type statsJSON struct {
	Commit     *string         `json:"commit"`
	Graph      *string         `json:"graph"`
	Nodes      uint64          `json:"nodes"`
	Edges      uint64          `json:"edges"`
	Marks      uint64          `json:"marks"`
	Embeddings uint64          `json:"embeddings"`
	NodeTypes  []typeCountJSON `json:"node_types"`
	EdgeTypes  []typeCountJSON `json:"edge_types"`
	Index      indexJSON       `json:"index"`
	Store      storeJSON       `json:"store"`
}

type typeCountJSON struct {
	Type  string `json:"type"`
	Count int    `json:"count"`
}

// storeJSON is what the whole repository holds; bytes of blocks are without overhead.
type storeJSON struct {
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
		Long: "Count the nodes, edges, marks and embeddings of a commit, by type, the size of its\n" +
			"index, and the operations, blocks and bytes of the whole repository. It reads\n" +
			"everything.",
		Example: "  mnem stats\n  mnem stats --at HEAD~1 --json",
		Args:    cobra.NoArgs,
	}
	c.atFlag(cmd)
	return c.command(cmd, func(cmd *cobra.Command, _ []string) error {
		return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			stats, err := c.stats(ctx, r)
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

func (c *cli) stats(ctx context.Context, r *repo.Repo) (*statsJSON, error) {
	s, err := c.snapshot(ctx, r)
	if err != nil {
		return nil, err
	}
	out := &statsJSON{Commit: jsonCID(s.CID()), Graph: jsonCID(s.Graph())}
	out.Nodes, out.Edges, out.Marks, out.Embeddings = s.Sizes()
	if err := c.countTypes(ctx, s, out); err != nil {
		return nil, err
	}
	index, err := s.IndexStats(ctx)
	if err != nil {
		return nil, err
	}
	out.Index = jsonIndex(index)
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
		sizes.Operations, sizes.Blocks, sizes.BlockBytes, sizes.DerivedBlocks, sizes.DerivedBytes, disk,
		len(branches), len(tags),
	}
	return out, err
}

func (c *cli) countTypes(ctx context.Context, s *repo.Snapshot, out *statsJSON) error {
	p := c.progress()
	defer p.done()
	nodes, edges := make(map[string]int), make(map[string]int)
	done := 0
	for e, err := range s.Nodes(ctx, graph.ID{}) {
		if err != nil {
			return err
		}
		nodes[e.Node.Type]++
		done++
		p.set("counting", done, int(out.Nodes+out.Edges))
	}
	for e, err := range s.Edges(ctx, graph.ID{}) {
		if err != nil {
			return err
		}
		edges[e.Edge.Type]++
		done++
		p.set("counting", done, int(out.Nodes+out.Edges))
	}
	out.NodeTypes, out.EdgeTypes = jsonTypeCounts(nodes), jsonTypeCounts(edges)
	return nil
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
		countRow("nodes", s.Nodes), countRow("edges", s.Edges), countRow("marks", s.Marks),
		countRow("embeddings", s.Embeddings),
	}
	for _, t := range s.NodeTypes {
		rows = append(rows, countRow("node "+brief(t.Type, nameWidth), uint64(t.Count)))
	}
	for _, t := range s.EdgeTypes {
		rows = append(rows, countRow("edge "+brief(t.Type, nameWidth), uint64(t.Count)))
	}
	rows = append(rows, countRow("index segments", uint64(s.Index.Segments)),
		countRow("index terms", uint64(s.Index.Terms)),
		countRow("branches", uint64(s.Store.Branches)), countRow("tags", uint64(s.Store.Tags)),
		countRow("operations", s.Store.Operations), countRow("blocks", uint64(s.Store.Blocks)),
		[]cell{{"block bytes", styleBold}, {bytesText(s.Store.BlockBytes), ""}},
		countRow("index blocks", uint64(s.Store.DerivedBlocks)),
		[]cell{{"index bytes", styleBold}, {bytesText(s.Store.DerivedBytes), ""}},
		[]cell{{"bytes on disk", styleBold}, {bytesText(s.Store.DiskBytes), ""}})
	return c.table(rows)
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
