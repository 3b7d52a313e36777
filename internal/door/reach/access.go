package reach

import (
	"context"
	"path/filepath"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/verb/accesses"
)

// countsAccesses reports whether somebody turned counting on.
func countsAccesses(c *line.Line) (bool, error) {
	v, err := c.Configured(settings.AccessKey)
	return v == "true", err
}

// usedCounts returns how often memories were in answers, nil if that is not counted.
func usedCounts(c *line.Line) (func(graph.ID) int64, error) {
	on, err := countsAccesses(c)
	if err != nil || !on {
		return nil, err
	}
	path, err := accessPath(c)
	if err != nil {
		return nil, err
	}
	return accesses.Read(path)
}

func accessPath(c *line.Line) (string, error) {
	dir, err := c.Dir()
	return filepath.Join(dir, core.DirName, accesses.File), err
}

// addUsed adds to the counts how often answers showed memories, where counting is on.
func addUsed(ctx context.Context, c *line.Line, shown map[graph.ID]int64) error {
	on, err := countsAccesses(c)
	if err != nil || !on || len(shown) == 0 {
		return err
	}
	path, err := accessPath(c)
	if err != nil {
		return err
	}
	return accesses.Add(ctx, path, shown)
}
