package cli

import (
	"context"
	"path/filepath"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/verb/accesses"
)

// countsAccesses reports whether somebody turned counting on.
func (c *cli) countsAccesses() (bool, error) {
	v, err := c.configured(settings.AccessKey)
	return v == "true", err
}

// accesses returns how often memories were in answers, nil where that is not counted.
func (c *cli) accesses() (func(graph.ID) int64, error) {
	on, err := c.countsAccesses()
	if err != nil || !on {
		return nil, err
	}
	path, err := c.accessPath()
	if err != nil {
		return nil, err
	}
	return accesses.Read(path)
}

func (c *cli) accessPath() (string, error) {
	dir, err := c.dir()
	return filepath.Join(dir, core.DirName, accesses.File), err
}

// addUsed adds to the counts how often answers showed memories, where counting is on.
func (c *cli) addUsed(ctx context.Context, shown map[graph.ID]int64) error {
	on, err := c.countsAccesses()
	if err != nil || !on || len(shown) == 0 {
		return err
	}
	path, err := c.accessPath()
	if err != nil {
		return err
	}
	return accesses.Add(ctx, path, shown)
}
