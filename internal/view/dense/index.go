package dense

import (
	"context"
	"fmt"
	"sync"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// Index answers queries about one tree of embeddings. It reads parts when a query needs them. Safe for concurrent use.
type Index struct {
	src    reader
	groups *prolly.Map
	source Source
	// exactWork is the constant of its name, which tests lower.
	exactWork int

	mu   sync.Mutex
	open map[groupKey]*group // of those that were asked
}

// Source returns the vectors of nodes by a model in the tree of embeddings, in the order of ids, with the values given
// to Update. It is called only for nodes that have one, one segment after the other, ascending by id. Safe for
// concurrent use.
type Source func(ctx context.Context, model string, ids []graph.ID) ([][]int8, error)

// group is the vectors of one model and number of dimensions.
type group struct {
	groupKey
	rows int // live ones
	segs []*table
	dead []segment.Bitset // of each segment the rows that newer segments kill, nil if they kill none
}

// Open reads the manifest of a tree of embeddings, of. cache may be shared with other indexes; nil means none. The
// error wraps store.ErrNotFound if a block is missing, store.ErrCorrupt if one is damaged or the manifest belongs to
// another tree.
func Open(
	ctx context.Context, blocks segment.Blocks, c, of ipld.CID, source Source, cache *segment.Cache,
) (*Index, error) {
	got, groups, err := loadGroups(ctx, blocks, c)
	if err != nil {
		return nil, err
	}
	if got != of {
		return nil, segment.Corrupt("%s has the tree %s, not %s", c, got, of)
	}
	src := reader{Format.NewReader(blocks, cache)}
	return &Index{
		src: src, groups: groups, source: source, exactWork: exactWork, open: map[groupKey]*group{},
	}, nil
}

// group returns the vectors of a key that the tree of groups has.
func (x *Index) group(ctx context.Context, k groupKey) (*group, error) {
	x.mu.Lock()
	g := x.open[k]
	x.mu.Unlock()
	if g != nil {
		return g, nil
	}
	item, ok, err := x.groups.Get(ctx, k.bytes())
	if err == nil && !ok {
		err = segment.Corrupt("no group of %d dimensions by %q", k.dims, k.model)
	}
	if err != nil {
		return nil, err
	}
	list, err := decodeSegments(item)
	if err != nil {
		return nil, err
	}
	if g, err = x.load(ctx, k, list.Segments); err != nil {
		return nil, err
	}
	// Two queries may both come here: they make the same group.
	x.mu.Lock()
	x.open[k] = g
	x.mu.Unlock()
	return g, nil
}

func (x *Index) load(ctx context.Context, k groupKey, list []segment.Ref) (*group, error) {
	g := &group{groupKey: k, rows: live(list)}
	if g.rows < 1 {
		return nil, segment.Corrupt("group of %d vectors", g.rows)
	}
	segs, err := x.src.Segments(ctx, list)
	if err != nil {
		return nil, err
	}
	for _, s := range segs {
		t := tableOf(s)
		if t.dims != k.dims {
			return nil, segment.Corrupt("segment %s of %d dimensions, its group of %d", s.CID, t.dims, k.dims)
		}
		g.segs = append(g.segs, t)
	}
	g.dead = make([]segment.Bitset, len(g.segs))
	for n, s := range g.segs {
		if err := x.kill(ctx, g, n, s); err != nil {
			return nil, fmt.Errorf("kills of segment %s: %w", s.CID, err)
		}
	}
	return g, nil
}

// kill marks the rows that segment n kills: each is the live one of its id, in an older segment.
func (x *Index) kill(ctx context.Context, g *group, n int, s *table) error {
	older := make([]segment.IDFinder, n)
	for i := range older {
		older[i] = x.src.IDFinder(g.segs[i].Segment)
	}
	return x.src.EachID(ctx, s.Segment, segment.Dead, func(id graph.ID) error {
		for i := n - 1; i >= 0; i-- {
			row, ok, err := older[i].Find(ctx, id)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			if g.dead[i].Has(row) {
				break
			}
			if g.dead[i] == nil {
				g.dead[i] = segment.NewBitset(g.segs[i].Docs)
			}
			g.dead[i].Set(row)
			return nil
		}
		return segment.Corrupt("%s, which there is not", id)
	})
}

// counts returns the number of a model's vectors of some dimensions, and of all.
func (x *Index) counts(ctx context.Context, k groupKey) (of, all int, err error) {
	for kv, err := range x.groups.ScanPrefix(ctx, append([]byte(k.model), 0)) {
		if err != nil {
			return 0, 0, err
		}
		key, err := parseGroupKey(kv.Key)
		if err != nil {
			return 0, 0, err
		}
		list, err := decodeSegments(kv.Value)
		if err != nil {
			return 0, 0, err
		}
		if all += live(list.Segments); key == k {
			of = live(list.Segments)
		}
	}
	return of, all, nil
}

// Rows returns how many vectors of a model there are, of any dimensions. It reads no segment.
func (x *Index) Rows(ctx context.Context, model string) (int, error) {
	_, all, err := x.counts(ctx, groupKey{model: model})
	return all, err
}

// Models returns the first most models that have vectors, ascending.
func (x *Index) Models(ctx context.Context, most int) ([]string, error) {
	var models []string
	for kv, err := range x.groups.Scan(ctx, nil, nil) {
		if err != nil {
			return nil, err
		}
		k, err := parseGroupKey(kv.Key)
		if err != nil {
			return nil, err
		}
		if n := len(models); n > 0 && models[n-1] == k.model {
			continue
		}
		if len(models) == most {
			break
		}
		models = append(models, k.model)
	}
	return models, nil
}
