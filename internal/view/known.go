package view

import (
	"encoding/binary"
	"hash/maphash"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view/dense"
	"github.com/mnem-project/mnem/internal/view/index"
	"github.com/mnem-project/mnem/ipld"
)

// KnownRecords is fsck's record of the blocks that it met in its pass over all blocks. Trees lead to records in the
// order of ids, and reading them again one by one, all over the store, would be slow. 64 bits say that a block is a
// valid record of an id; an edge has 64 more for its entries in the trees out and in. A record takes 20 to 39 bytes, no
// pointers. Both are hashes under a key of this run, so no stored block can be made to match them: a record that is not
// known, or entries that do not add up, are damaged or erased, except in one of 2^40 runs. Then the records are read,
// and named. Nil knows nothing. Not safe for concurrent use; the hashes are.
type KnownRecords struct {
	key     maphash.Seed
	Texts   *index.Expectations // nil if no index is compared
	dense   dense.Digester
	records map[uint64]uint64 // of a record what KnownRecord says
}

// KnownRecord is a record by its hash, and what trees or an index must have for it; 0 if that is not known.
type KnownRecord struct{ Record, entries uint64 }

// notDense is the digest for a sparse embedding, for which the index of vectors has no vector.
const notDense = 1 << 63

// NewKnownRecords returns an empty set. Its hashes have a random key.
func NewKnownRecords() *KnownRecords {
	return &KnownRecords{key: maphash.MakeSeed(), dense: dense.NewDigester(), records: map[uint64]uint64{}}
}

// Entry is the hash of an entry of a tree, out or in.
func (k *KnownRecords) Entry(tree byte, key, value []byte) uint64 {
	b := make([]byte, 0, 320)
	b = binary.BigEndian.AppendUint32(append(b, tree), uint32(len(key)))
	return maphash.Bytes(k.key, append(append(b, key...), value...))
}

// Record is the hash of a record that a tree has under a key, never 0.
func (k *KnownRecords) Record(kind state.Role, key []byte, c ipld.CID) uint64 {
	b := make([]byte, 0, 320)
	b = c.Append(append(b, byte(kind)))
	return max(1, maphash.Bytes(k.key, append(b, key...)))
}

// Read returns the entry for a block, false for a block that is read when a tree leads to it.
func (k *KnownRecords) Read(c ipld.CID, block []byte) (KnownRecord, bool) {
	switch ipld.PeekKind(block) {
	case graph.KindNode:
		n, err := graph.DecodeNode(block)
		if err != nil {
			return KnownRecord{}, false
		}
		return k.ofNode(c, n)
	case graph.KindEdge:
		e, err := graph.DecodeEdge(block)
		if err != nil {
			return KnownRecord{}, false
		}
		return k.ofEdge(c, e), true
	case graph.KindEmbedding:
		e, err := graph.DecodeEmbedding(block)
		if err != nil {
			return KnownRecord{}, false
		}
		return k.ofEmbedding(c, e), true
	}
	return KnownRecord{}, false
}

// Leads is state.Leads. It also stores the record's entry, so that the record is decoded once.
func (k *KnownRecords) Leads(l state.Lead, block []byte) (next []state.Lead, as state.Role, err error) {
	if l.Cid.Codec() == ipld.Raw {
		return state.Leads(l, block)
	}
	switch l.As {
	case state.RoleNode:
		n, err := graph.DecodeNode(block)
		if err != nil {
			return nil, l.As, err
		}
		if r, ok := k.ofNode(l.Cid, n); ok {
			k.Add(r)
		}
		return state.ChunkLeads(n), l.As, nil
	case state.RoleEdge:
		e, err := graph.DecodeEdge(block)
		if err == nil {
			k.Add(k.ofEdge(l.Cid, e))
		}
		return nil, l.As, err
	case state.RoleEmbedding:
		e, err := graph.DecodeEmbedding(block)
		if err == nil {
			k.Add(k.ofEmbedding(l.Cid, e))
		}
		return nil, l.As, err
	}
	return state.Leads(l, block)
}

// ofNode returns the entry for a node, false if its content must be read.
func (k *KnownRecords) ofNode(c ipld.CID, n *graph.Node) (KnownRecord, bool) {
	if n.Content != nil && len(n.Content.Chunks) > 0 {
		return KnownRecord{}, false
	}
	r := KnownRecord{Record: k.Record(state.RoleNode, n.ID[:], c)}
	if k.Texts != nil {
		r.entries = k.Texts.Sum(newDocument(n))
	}
	return r, true
}

func (k *KnownRecords) ofEdge(c ipld.CID, e *graph.Edge) KnownRecord {
	value := adjacency.Value(e)
	return KnownRecord{
		Record: k.Record(state.RoleEdge, e.ID[:], c),
		entries: k.Entry('o', adjacency.OutKey(e), value) +
			k.Entry('i', adjacency.InKey(e), value),
	}
}

func (k *KnownRecords) ofEmbedding(c ipld.CID, e *graph.Embedding) KnownRecord {
	r := KnownRecord{Record: k.Record(state.RoleEmbedding, []byte(e.Model), c)}
	if k.Texts == nil {
		return r
	}
	if e.DType == graph.Sparse {
		r.entries = notDense
	} else if values, err := DenseInt8(e); err == nil {
		r.entries = uint64(k.dense.Of(values))
	}
	return r
}

// Add keeps a record.
func (k *KnownRecords) Add(r KnownRecord) {
	if _, known := k.records[r.Record]; !known {
		k.records[r.Record] = r.entries
	}
}

// Has returns the entry of the record that a tree links to under a key.
func (k *KnownRecords) Has(kind state.Role, key, item []byte) (entries uint64, ok bool) {
	if k == nil {
		return 0, false
	}
	c, err := state.LinkItem(item)
	if err != nil || !c.Defined() {
		return 0, false
	}
	entries, ok = k.records[k.Record(kind, key, c)]
	return entries, ok
}
