// Package accesses reads how often memories were in answers, where somebody has that counted: a file of
// this machine beside the repository's configuration, no part of any commit, which may be deleted.
package accesses

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/filestate"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/store"
)

const (
	// File is the name of the file in .mnem.
	File = "access.json"
	// MaxFile bounds it in bytes: 52 for each memory, and room.
	MaxFile = 8 << 20
)

// Read returns how often each memory was in answers.
func Read(path string) (func(graph.ID) int64, error) {
	data, err := filestate.Read(path, MaxFile)
	counts, err := Parse(path, data, err)
	return func(id graph.ID) int64 { return counts[id.String()] }, err
}

// Parse returns what reading the counts gave, nil where there are none.
func Parse(path string, data []byte, err error) (map[string]int64, error) {
	if err != nil && !errors.Is(err, filestate.ErrUnfit) {
		return nil, fmt.Errorf("read accesses: %w", err)
	}
	if err == nil && data == nil {
		return nil, nil
	}
	counts := make(map[string]int64)
	if err != nil || json.Unmarshal(data, &counts) != nil {
		return nil, ops.Hint(fmt.Errorf("%w: %s is not what was written", store.ErrCorrupt, path),
			"delete it: counting begins anew, and nothing else is lost", "")
	}
	return counts, nil
}
