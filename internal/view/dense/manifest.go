package dense

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// groupKey names the vectors that can be compared with each other.
type groupKey struct {
	model string
	dims  int
}

// bytes returns the key of a group: model, a zero byte, which no name has, and dimensions.
func (k groupKey) bytes() []byte {
	return binary.BigEndian.AppendUint32(append([]byte(k.model), 0), uint32(k.dims))
}

func parseGroupKey(key []byte) (groupKey, error) {
	model, dims, ok := strings.Cut(string(key), "\x00")
	if !ok || model == "" || len(dims) != 4 {
		return groupKey{}, segment.Corrupt("%x is not a key of a group", key)
	}
	n := binary.BigEndian.Uint32([]byte(dims))
	if n < 1 || n > graph.MaxDims {
		return groupKey{}, segment.Corrupt("group of %d dimensions", n)
	}
	return groupKey{model, int(n)}, nil
}

func decodeSegments(item []byte) (segment.List, error) {
	l, err := Format.DecodeList(item)
	if n := len(l.Segments); err == nil && n < 1 {
		err = segment.Corrupt("no segments")
	}
	if rows := stored(l.Segments); err == nil && rows > maxGroupRows {
		err = segment.Corrupt("group of %d vectors, dead ones included, over %d", rows, maxGroupRows)
	}
	return l, err
}

// stored returns how many vectors segments have, dead ones included.
func stored(list []segment.Ref) int {
	n := 0
	for _, s := range list {
		n += s.Docs
	}
	return n
}

// live returns how many vectors live in segments.
func live(list []segment.Ref) int {
	n := 0
	for _, s := range list {
		n += s.Docs - s.Kills
	}
	return n
}

// loadGroups returns which tree of embeddings a manifest is of, and its tree of groups.
func loadGroups(
	ctx context.Context, blocks segment.Blocks, manifest ipld.CID,
) (of ipld.CID, groups *prolly.Map, err error) {
	m, err := Format.ReadManifest(ctx, blocks, manifest)
	if err != nil {
		return of, nil, err
	}
	if groups, err = prolly.NewNodes(blocks, nil).Load(ctx, m.Roots[1]); err != nil {
		err = fmt.Errorf("read groups of vectors: %w", err)
	}
	return m.Roots[0], groups, err
}

// eachList yields the groups of a manifest, ascending by key, and their segments.
func eachList(ctx context.Context, groups *prolly.Map) iter.Seq2[segment.List, error] {
	return func(yield func(segment.List, error) bool) {
		for kv, err := range groups.Scan(ctx, nil, nil) {
			var l segment.List
			if err == nil {
				l, err = decodeSegments(kv.Value)
			}
			if !yield(l, err) || err != nil {
				return
			}
		}
	}
}

// Walk is segment.Format.Walk: manifest, tree of groups, segments.
func Walk(ctx context.Context, blocks segment.Blocks, c ipld.CID, fn func(ipld.CID) error) error {
	if skip, err := segment.Visit(c, fn); skip || err != nil {
		return err
	}
	_, groups, err := loadGroups(ctx, blocks, c)
	if err != nil {
		return err
	}
	err = groups.Walk(ctx, func(c ipld.CID, _ int) (bool, error) {
		_, err := segment.Visit(c, fn)
		return true, err
	})
	if err != nil {
		return err
	}
	for l, err := range eachList(ctx, groups) {
		if err == nil {
			err = Format.WalkList(ctx, blocks, &l, fn)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
