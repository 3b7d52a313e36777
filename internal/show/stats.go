package show

import (
	"maps"
	"slices"
	"strconv"

	"github.com/mnem-project/mnem/internal/plain"
	"github.com/mnem-project/mnem/ops"
)

func (c *Console) Stats(s *ops.Stats) error {
	rows := [][]Cell{
		{{"commit", Bold}, {ShortCID(s.Commit), Yellow}},
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
		[]Cell{{"block bytes", Bold}, {plain.Bytes(s.Store.BlockBytes), ""}},
		countRow("index blocks", uint64(s.Store.DerivedBlocks)),
		[]Cell{{"index bytes", Bold}, {plain.Bytes(s.Store.DerivedBytes), ""}},
		[]Cell{{"bytes on disk", Bold}, {plain.Bytes(s.Store.DiskBytes), ""}})
	if err := c.Table(rows); err != nil || s.Scores == nil {
		return err
	}
	return c.printScores(s.Scores)
}

func (c *Console) printScores(s *ops.Scores) error {
	c.put("\nscores of %d memories, each against all others\n", s.Sampled)
	rows := [][]Cell{{{"", ""}}}
	for _, name := range []string{"p50", "p90", "p95", "p99", "max"} {
		rows[0] = append(rows[0], Cell{name, Dim})
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
		cells := []Cell{{row.name, Bold}}
		for _, v := range []int64{row.of.P50, row.of.P90, row.of.P95, row.of.P99, row.of.Max} {
			cells = append(cells, Cell{row.show(v), ""})
		}
		rows = append(rows, cells)
	}
	return c.Table(rows)
}

func countRow(name string, n uint64) []Cell {
	return []Cell{{name, Bold}, {strconv.FormatUint(n, 10), ""}}
}
