package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"path/filepath"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/accesses"
	"github.com/mnem-project/mnem/internal/filestate"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
)

const (
	// accessSetting is the key that turns counting on.
	accessSetting = "access.count"
	// maxAccessed bounds the memories that are counted: of more, those used least are dropped.
	maxAccessed = 1 << 16
)

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

// used notes that an answer shows memories.
func (c *cli) used(ans *retrieve.Answer) {
	if c.shown == nil {
		c.shown = make(map[graph.ID]int64)
	}
	for i := range ans.Items {
		c.shown[ans.Items[i].ID]++
	}
}

// countUsed adds to the counts what was noted, where counting is on. A crash leaves the counts as
// they were, or as they are to be. An answer that was given stays one, whatever happens here.
func (c *cli) countUsed(ctx context.Context) {
	if err := c.addUsed(ctx); err != nil {
		c.remark("warning: accesses are not counted: %v", err)
	}
}

func (c *cli) addUsed(ctx context.Context) error {
	on, err := c.countsAccesses()
	if err != nil || !on || len(c.shown) == 0 {
		return err
	}
	path, err := c.accessPath()
	if err != nil {
		return err
	}
	opt := filestate.Options{Limit: accesses.MaxFile}
	err = filestate.Edit(ctx, path, opt, func(data []byte) ([]byte, error) {
		counts, err := accesses.Parse(path, data, nil)
		if err != nil {
			return nil, err
		}
		data, err = json.Marshal(c.moreUsed(counts)) // in the order of ids
		return append(data, '\n'), err
	})
	if errors.Is(err, filestate.ErrUnfit) {
		_, err = accesses.Parse(path, nil, err)
	}
	if err == nil {
		c.shown = nil
	}
	return err
}

// moreUsed returns counts with what was noted. Of too many, those used least are dropped.
func (c *cli) moreUsed(counts map[string]int64) map[string]int64 {
	if counts == nil {
		counts = make(map[string]int64)
	}
	for id, n := range c.shown {
		s := id.String()
		counts[s] = min(max(counts[s], 0), math.MaxInt32) + n
	}
	ids := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(ids, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	for _, id := range ids[min(len(ids), maxAccessed):] {
		delete(counts, id)
	}
	return counts
}
