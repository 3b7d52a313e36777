package dense

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/index"
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

// encodeSegments returns the value of a group.
func encodeSegments(list []index.SegmentRef) []byte {
	b := ipld.AppendList(nil, len(list))
	for _, s := range list {
		b = ipld.AppendLink(ipld.AppendList(b, 3), s.CID)
		b = ipld.AppendInt(ipld.AppendInt(b, int64(s.Docs)), int64(s.Kills))
	}
	return b
}

func decodeSegments(item []byte) (list []index.SegmentRef, err error) {
	d, err := ipld.NewDecoder(item)
	if err != nil {
		return nil, asDamage(err)
	}
	n, err := d.List()
	if err == nil && (n < 1 || n > maxSegments) {
		err = d.Errorf("%d segments outside 1 to %d", n, maxSegments)
	}
	for range n {
		if err != nil {
			break
		}
		var s index.SegmentRef
		if s, err = decodeRef(d); err == nil {
			list = append(list, s)
		}
	}
	if err == nil {
		err = d.End()
	}
	if rows := stored(list); err == nil && rows > maxGroupRows {
		err = d.Errorf("group of %d vectors, dead ones included, over %d", rows, maxGroupRows)
	}
	return list, asDamage(err)
}

func decodeRef(d *ipld.Decoder) (s index.SegmentRef, err error) {
	n, err := d.List()
	if err == nil && n != 3 {
		err = d.Errorf("segment of %d items, want 3", n)
	}
	if err != nil {
		return s, err
	}
	if s.CID, err = d.Link(); err != nil {
		return s, err
	}
	docs, err := decodeCount(d, maxRows)
	if err != nil {
		return s, err
	}
	kills, err := decodeCount(d, maxRows)
	s.Docs, s.Kills = int(docs), int(kills)
	return s, err
}

// stored returns how many vectors segments have, dead ones included.
func stored(list []index.SegmentRef) int {
	n := 0
	for _, s := range list {
		n += s.Docs
	}
	return n
}

// live returns how many vectors live in segments.
func live(list []index.SegmentRef) int {
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
