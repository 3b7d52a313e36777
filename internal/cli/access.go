package cli

import (
	"context"
	"path/filepath"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/accesses"
	"github.com/mnem-project/mnem/repo"
)

// accessSetting is the key that turns counting on.
const accessSetting = "access.count"

// accessKeys are the keys of the configuration about counting.
func accessKeys() []configKey {
	return []configKey{{accessSetting, "MNEM_ACCESS_COUNT", "false",
		"whether answers are counted by memory: true or false", checkBool}}
}

// countsAccesses reports whether somebody turned counting on.
func (c *cli) countsAccesses() (bool, error) {
	v := c.env("MNEM_ACCESS_COUNT")
	if v == "" {
		var err error
		if v, err = c.setting(accessSetting); err != nil || v == "" {
			return false, err
		}
	}
	return v == "true", checkBool(v)
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
	return filepath.Join(dir, repo.DirName, accesses.File), err
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
