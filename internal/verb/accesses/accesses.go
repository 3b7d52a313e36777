// Package accesses keeps how often memories were in answers, where somebody has that counted: a file of
// this machine beside the repository's configuration, no part of any commit, which may be deleted.
package accesses

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/verb"
)

const (
	// File is the name of the file in .mnem.
	File = "access.json"
	// maxFile bounds it in bytes: 52 for each memory, and room.
	maxFile = 8 << 20
	// maxCounted bounds the memories that are counted: of more, those used least are dropped.
	maxCounted = 1 << 16
)

// Read returns how often each memory was in answers.
func Read(path string) (func(graph.ID) int64, error) {
	data, err := filestate.Read(path, maxFile)
	counts, err := parse(path, data, err)
	return func(id graph.ID) int64 { return counts[id.String()] }, err
}

// parse returns what reading the counts gave, nil if there are none.
func parse(path string, data []byte, err error) (map[string]int64, error) {
	if err != nil && !errors.Is(err, filestate.ErrUnfit) {
		return nil, fmt.Errorf("read accesses: %w", err)
	}
	if err == nil && data == nil {
		return nil, nil
	}
	counts := make(map[string]int64)
	if err != nil || json.Unmarshal(data, &counts) != nil {
		return nil, verb.Hint(fmt.Errorf("%w: %s is not what was written", store.ErrCorrupt, path),
			"delete it: counting begins anew, and nothing else is lost", "")
	}
	return counts, nil
}

// Add adds to the counts how often answers showed memories. A crash leaves the counts as they were, or as
// they are to be.
func Add(ctx context.Context, path string, shown map[graph.ID]int64) error {
	opt := filestate.EditOptions{Limit: maxFile}
	err := filestate.Edit(ctx, path, opt, func(data []byte) ([]byte, error) {
		counts, err := parse(path, data, nil)
		if err != nil {
			return nil, err
		}
		data, err = json.Marshal(more(counts, shown)) // in the order of ids
		return append(data, '\n'), err
	})
	if errors.Is(err, filestate.ErrUnfit) {
		_, err = parse(path, nil, err)
	}
	return err
}

// more returns counts with what was noted. Of too many, those used least are dropped.
func more(counts map[string]int64, shown map[graph.ID]int64) map[string]int64 {
	if counts == nil {
		counts = make(map[string]int64)
	}
	for id, n := range shown {
		s := id.String()
		counts[s] = min(max(counts[s], 0), math.MaxInt32) + n
	}
	ids := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(ids, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	for _, id := range ids[min(len(ids), maxCounted):] {
		delete(counts, id)
	}
	return counts
}
