package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/filestate"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

const (
	// accessFile keeps how often memories were in answers, beside the repository's configuration: it
	// is of this machine, no part of any commit, and may be deleted.
	accessFile = "access.json"
	// accessSetting is the key that turns counting on.
	accessSetting = "access.count"
	// maxAccessed bounds the memories that are counted: of more, those used least are dropped.
	maxAccessed = 1 << 16
	// maxAccessFile bounds the file in bytes: 52 for each memory, and room.
	maxAccessFile = 8 << 20
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
	counts, err := c.readAccesses()
	return func(id graph.ID) int64 { return counts[id.String()] }, err
}

func (c *cli) accessPath() (string, error) {
	dir, err := c.dir()
	return filepath.Join(dir, repo.DirName, accessFile), err
}

// readAccesses reads the counts, none where there are none yet.
func (c *cli) readAccesses() (map[string]int64, error) {
	path, err := c.accessPath()
	if err != nil {
		return nil, err
	}
	data, err := filestate.Read(path, maxAccessFile)
	return parseAccesses(path, data, err)
}

// parseAccesses returns what reading the counts gave, nil where there are none.
func parseAccesses(path string, data []byte, err error) (map[string]int64, error) {
	if err != nil && !errors.Is(err, filestate.ErrUnfit) {
		return nil, fmt.Errorf("read accesses: %w", err)
	}
	if err == nil && data == nil {
		return nil, nil
	}
	counts := make(map[string]int64)
	if err != nil || json.Unmarshal(data, &counts) != nil {
		return nil, hint(fmt.Errorf("%w: %s is not what was written", store.ErrCorrupt, path),
			"delete it: counting begins anew, and nothing else is lost")
	}
	return counts, nil
}

// addUsed adds to the counts how often answers showed memories, where counting is on. A crash leaves the
// counts as they were, or as they are to be.
func (c *cli) addUsed(ctx context.Context, shown map[graph.ID]int64) error {
	on, err := c.countsAccesses()
	if err != nil || !on || len(shown) == 0 {
		return err
	}
	path, err := c.accessPath()
	if err != nil {
		return err
	}
	opt := filestate.Options{Limit: maxAccessFile}
	err = filestate.Edit(ctx, path, opt, func(data []byte) ([]byte, error) {
		counts, err := parseAccesses(path, data, nil)
		if err != nil {
			return nil, err
		}
		data, err = json.Marshal(moreUsed(counts, shown)) // in the order of ids
		return append(data, '\n'), err
	})
	if errors.Is(err, filestate.ErrUnfit) {
		_, err = parseAccesses(path, nil, err)
	}
	return err
}

// moreUsed returns counts with what was noted. Of too many, those used least are dropped.
func moreUsed(counts map[string]int64, shown map[graph.ID]int64) map[string]int64 {
	if counts == nil {
		counts = make(map[string]int64)
	}
	for id, n := range shown {
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
