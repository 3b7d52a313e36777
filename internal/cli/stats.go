package cli

import (
	"maps"
	"slices"
	"strconv"

	"github.com/mnem-project/mnem/internal/plain"
	"github.com/mnem-project/mnem/ops"
)

func (c *cli) printStats(s *ops.Stats) error {
	rows := [][]cell{
		{{"commit", styleBold}, {shortCID(s.Commit), styleYellow}},
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

func (c *cli) printScores(s *ops.Scores) error {
	if err := c.printf("\nscores of %d memories, each against all others\n", s.Sampled); err != nil {
		return err
	}
	rows := [][]cell{{{"", ""}}}
	for _, name := range []string{"p50", "p90", "p95", "p99", "max"} {
		rows[0] = append(rows[0], cell{name, styleDim})
	}
	for _, row := range []struct {
		name string
		of   ops.Percentiles
		show func(int64) string
	}{
		{"check coverage", s.Check.Coverage, shareText},
		{"check evidence, bits", s.Check.Evidence, bitsText},
		{"check lead", s.Check.Lead, shareText},
		{"remember similarity", s.Remember.Similarity, shareText},
	} {
		cells := []cell{{row.name, styleBold}}
		for _, v := range []int64{row.of.P50, row.of.P90, row.of.P95, row.of.P99, row.of.Max} {
			cells = append(cells, cell{row.show(v), ""})
		}
		rows = append(rows, cells)
	}
	return c.table(rows)
}

func countRow(name string, n uint64) []cell {
	return []cell{{name, styleBold}, {strconv.FormatUint(n, 10), ""}}
}

// bytesText is a size for people.
func bytesText(n int64) string { return plain.Bytes(n) }
