package dense

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/tiers"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/store"
)

const kindManifest = "dense"

// Blocks is what an update reads and writes.
type Blocks interface {
	store.Getter
	store.Putter
}

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
		return groupKey{}, corrupt("%x is not a key of a group", key)
	}
	n := binary.BigEndian.Uint32([]byte(dims))
	if n < 1 || n > graph.MaxDims {
		return groupKey{}, corrupt("group of %d dimensions", n)
	}
	return groupKey{model, int(n)}, nil
}

// encodeSegments returns the value of a group: its segments, and last the run of them that is to
// be merged by Merge, where there is one.
func encodeSegments(l *tiers.List) []byte {
	n := len(l.Segments)
	if l.Run.Count > 0 {
		n++
	}
	b := tiers.AppendRefs(ipld.AppendList(nil, n), l.Segments)
	if l.Run.Count > 0 {
		b = tiers.AppendRun(b, l.Run)
	}
	return b
}

func decodeSegments(item []byte) (l tiers.List, err error) {
	d, err := ipld.NewDecoder(item)
	if err != nil {
		return l, asDamage(err)
	}
	n, err := d.List()
	if err == nil && (n < 1 || n > maxSegments+1) {
		err = d.Errorf("%d segments outside 1 to %d", n, maxSegments)
	}
	for ; n > 0 && err == nil; n-- {
		var items int
		if items, err = d.List(); err != nil {
			break
		}
		if n == 1 && items == 2 {
			l.Run, err = tiers.DecodeRun(d, items)
			break
		}
		var ref tiers.Ref
		if ref, err = tiers.DecodeRef(d, items, maxRows); err == nil {
			l.Segments = append(l.Segments, ref)
		}
	}
	if err == nil {
		err = d.End()
	}
	if err == nil {
		err = l.Check()
	}
	if n := len(l.Segments); err == nil && (n < 1 || n > maxSegments) {
		err = d.Errorf("%d segments outside 1 to %d", n, maxSegments)
	}
	if rows := stored(l.Segments); err == nil && rows > maxGroupRows {
		err = d.Errorf("group of %d vectors, dead ones included, over %d", rows, maxGroupRows)
	}
	return l, asDamage(err)
}

// stored returns how many vectors segments have, dead ones included.
func stored(list []tiers.Ref) int {
	n := 0
	for _, s := range list {
		n += s.Docs
	}
	return n
}

// live returns how many vectors live in segments.
func live(list []tiers.Ref) int {
	n := 0
	for _, s := range list {
		n += s.Docs - s.Kills
	}
	return n
}

func encodeManifest(of, groups ipld.CID) []byte {
	w := ipld.NewRecord(nil, nil)
	w.Version(formatVersion)
	w.Link("of", of)
	w.Kind(kindManifest)
	w.Link("groups", groups)
	return w.Finish()
}

// decodeManifest returns which tree of embeddings a manifest is of, and its tree of groups.
func decodeManifest(block []byte) (of, groups ipld.CID, err error) {
	_, err = ipld.DecodeRecord(block, kindManifest, formatVersion,
		func(key string, d *ipld.Decoder) (known bool, err error) {
			switch key {
			case "of":
				of, err = d.Link()
			case "groups":
				groups, err = d.Link()
			default:
				return false, nil
			}
			return true, err
		})
	if err == nil && (!of.Defined() || !groups.Defined()) {
		err = fmt.Errorf("a link is missing")
	}
	return of, groups, asDamage(err)
}

// manifest reads a manifest.
func manifest(ctx context.Context, get store.Getter, c ipld.CID) (of, groups ipld.CID, err error) {
	block, err := get.Get(ctx, c)
	if err == nil {
		of, groups, err = decodeManifest(block)
	}
	if err != nil {
		return of, groups, fmt.Errorf("read manifest %s: %w", c, err)
	}
	return of, groups, nil
}

// Of returns the root of the tree of embeddings that a manifest is of. The error of a block that is
// none wraps store.ErrCorrupt.
func Of(ctx context.Context, get store.Getter, c ipld.CID) (ipld.CID, error) {
	of, _, err := manifest(ctx, get, c)
	return of, err
}

// groups loads the tree of groups.
func loadGroups(ctx context.Context, blocks Blocks, root ipld.CID) (*prolly.Map, error) {
	m, err := prolly.NewNodes(blocks, nil).Load(ctx, root)
	if err != nil {
		return nil, fmt.Errorf("read groups of vectors: %w", err)
	}
	return m, nil
}
