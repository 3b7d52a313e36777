package adjacency

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

const (
	idLen = graph.IDLen
	// minKey is the length of a key whose type has one byte.
	minKey = idLen + 1 + 1 + idLen + idLen
)

// Direction says from which end edges are seen.
type Direction uint8

const (
	Out  Direction = iota // from the source to the destination
	In                    // from the destination to the source
	Both                  // either
)

// Entry is one edge as seen from a node.
type Entry struct {
	Type   string
	Other  graph.ID // the other end; the node itself for a self-loop
	Edge   graph.ID
	Weight uint32 // 1 to graph.MaxWeight in units of 2^-16
}

// Key returns the key of an edge in the bucket of near.
func Key(near graph.ID, typ string, far, edge graph.ID) []byte {
	return append(append(Prefix(near, typ), far[:]...), edge[:]...)
}

// Prefix returns the prefix of the keys of near's edges of one type.
func Prefix(near graph.ID, typ string) []byte {
	b := make([]byte, 0, minKey+len(typ))
	b = append(b, near[:]...)
	b = append(b, typ...)
	return append(b, 0)
}

// OutKey returns an edge's key in the out tree.
func OutKey(e *graph.Edge) []byte { return Key(e.Src, e.Type, e.Dst, e.ID) }

// InKey returns an edge's key in the in tree.
func InKey(e *graph.Edge) []byte { return Key(e.Dst, e.Type, e.Src, e.ID) }

// Value returns the value of an edge in both trees.
func Value(e *graph.Edge) []byte { return ipld.AppendInt(nil, int64(e.Weight)) }

// Parse decodes an entry of the out or in tree. An entry that Key and Value cannot have written gives an error that
// wraps store.ErrCorrupt.
func Parse(key, value []byte) (near graph.ID, e Entry, err error) { return parse(key, value, "") }

// parse is Parse, but reuses the type string like if it is equal.
func parse(key, value []byte, like string) (near graph.ID, e Entry, err error) {
	if len(key) < minKey {
		return near, e, fmt.Errorf("%w adjacency key: %d bytes", store.ErrCorrupt, len(key))
	}
	rest := key[idLen:]
	end := len(rest) - 2*idLen - 1
	if rest[end] != 0 || bytes.IndexByte(rest[:end], 0) >= 0 {
		return near, e, fmt.Errorf("%w adjacency key %x", store.ErrCorrupt, key)
	}
	copy(near[:], key)
	if e.Type = like; string(rest[:end]) != like {
		e.Type = string(rest[:end])
	}
	copy(e.Other[:], rest[end+1:])
	copy(e.Edge[:], rest[end+1+idLen:])
	e.Weight, err = weight(value)
	return near, e, err
}

// full is the encoded default weight.
var full = ipld.AppendInt(nil, graph.MaxWeight)

// twoBytes is the head of an integer with two more bytes, canonical for 256 to 65,535.
const twoBytes = 0x19

func weight(value []byte) (uint32, error) {
	// Decodes most weights without allocating a decoder.
	if bytes.Equal(value, full) {
		return graph.MaxWeight, nil
	}
	if len(value) == 3 && value[0] == twoBytes && value[1] > 0 {
		return uint32(binary.BigEndian.Uint16(value[1:])), nil
	}
	v, err := ipld.DecodeValue(value)
	if err != nil || v.Kind() != ipld.Int || v.Int() < 1 || v.Int() > graph.MaxWeight {
		return 0, fmt.Errorf("%w adjacency weight %x", store.ErrCorrupt, value)
	}
	return uint32(v.Int()), nil
}
