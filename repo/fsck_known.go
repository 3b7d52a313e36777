package repo

import (
	"encoding/binary"
	"hash/maphash"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/dense"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/index"
	"github.com/mnem-project/mnem/ipld"
)

// knownRecords is what fsck keeps of the records that it meets while it goes through all blocks, so
// that trees, which lead to them in the order of ids, need not read them again one by one from all
// over the store: 64 bits say that a block is a good record of an id, and of an edge 64 more what
// the trees out and in must have for it. 22 to 32 bytes for each record, no pointers. Both are hashes
// under a key of this run, which no stored block can have been made to fit, so that what is not
// known or does not add up is damage, or was erased, but for one in 2^40 runs. Then the records are
// read, and named. Nil knows nothing. Not safe for concurrent use; the hashes are.
type knownRecords struct {
	key    maphash.Seed
	texts  *index.Expectations // nil where no index is compared
	dense  dense.Digester
	shards [knownShards]knownShard
}

const knownShards = 256

type knownShard struct {
	places []knownRecord // a record of 0 is a free place
	n      int
}

// knownRecord is a record by its hash, and what trees or an index must have for it; 0 where that is not known.
type knownRecord struct{ record, entries uint64 }

// notDense is what the index of vectors must have for a sparse embedding: the digest of no vector.
const notDense = 1 << 63

func newKnownRecords() *knownRecords {
	return &knownRecords{key: maphash.MakeSeed(), dense: dense.NewDigester()}
}

// entry is the hash of an entry of a tree, out or in.
func (k *knownRecords) entry(tree byte, key, value []byte) uint64 {
	b := make([]byte, 0, 320)
	b = binary.BigEndian.AppendUint32(append(b, tree), uint32(len(key)))
	return maphash.Bytes(k.key, append(append(b, key...), value...))
}

// record is the hash of a record that a tree has under a key, never 0.
func (k *knownRecords) record(kind role, key []byte, c ipld.CID) uint64 {
	b := make([]byte, 0, 320)
	b = c.Append(append(b, byte(kind)))
	return max(1, maphash.Bytes(k.key, append(b, key...)))
}

// read returns what is to be known of a block, false for what is read where a tree leads to it.
func (k *knownRecords) read(c ipld.CID, block []byte) (knownRecord, bool) {
	switch ipld.PeekKind(block) {
	case graph.KindNode:
		n, err := graph.DecodeNode(block)
		if err != nil {
			return knownRecord{}, false
		}
		return k.ofNode(c, n)
	case graph.KindEdge:
		e, err := graph.DecodeEdge(block)
		if err != nil {
			return knownRecord{}, false
		}
		return k.ofEdge(c, e), true
	case graph.KindEmbedding:
		e, err := graph.DecodeEmbedding(block)
		if err != nil {
			return knownRecord{}, false
		}
		return k.ofEmbedding(c, e), true
	}
	return knownRecord{}, false
}

// leads is leads, and keeps what is to be known of the record, which is decoded once.
func (k *knownRecords) leads(l lead, block []byte) (next []lead, as role, err error) {
	if l.cid.Codec() == ipld.Raw {
		return leads(l, block)
	}
	switch l.as {
	case roleNode:
		n, err := graph.DecodeNode(block)
		if err != nil {
			return nil, l.as, err
		}
		if r, ok := k.ofNode(l.cid, n); ok {
			k.add(r)
		}
		return chunkLeads(n), l.as, nil
	case roleEdge:
		e, err := graph.DecodeEdge(block)
		if err == nil {
			k.add(k.ofEdge(l.cid, e))
		}
		return nil, l.as, err
	case roleEmbedding:
		e, err := graph.DecodeEmbedding(block)
		if err == nil {
			k.add(k.ofEmbedding(l.cid, e))
		}
		return nil, l.as, err
	}
	return leads(l, block)
}

// ofNode returns what is to be known of a node, false for one whose content is to be read.
func (k *knownRecords) ofNode(c ipld.CID, n *graph.Node) (knownRecord, bool) {
	if n.Content != nil && len(n.Content.Chunks) > 0 {
		return knownRecord{}, false
	}
	r := knownRecord{record: k.record(roleNode, n.ID[:], c)}
	if k.texts != nil {
		r.entries = k.texts.Sum(newDocument(n))
	}
	return r, true
}

func (k *knownRecords) ofEdge(c ipld.CID, e *graph.Edge) knownRecord {
	value := adjacency.Value(e)
	return knownRecord{
		record: k.record(roleEdge, e.ID[:], c),
		entries: k.entry('o', adjacency.OutKey(e), value) +
			k.entry('i', adjacency.InKey(e), value),
	}
}

func (k *knownRecords) ofEmbedding(c ipld.CID, e *graph.Embedding) knownRecord {
	r := knownRecord{record: k.record(roleEmbedding, []byte(e.Model), c)}
	if k.texts == nil {
		return r
	}
	if e.DType == graph.Sparse {
		r.entries = notDense
	} else if values, err := denseInt8(e); err == nil {
		r.entries = uint64(k.dense.Of(values))
	}
	return r
}

// add keeps a record.
func (k *knownRecords) add(r knownRecord) {
	s := &k.shards[r.record%knownShards]
	if 4*s.n >= 3*len(s.places) {
		old := s.places
		s.places = make([]knownRecord, max(8, len(old)*3/2))
		for _, r := range old {
			if r.record != 0 {
				*s.find(r.record) = r
			}
		}
	}
	if at := s.find(r.record); at.record == 0 {
		*at = r
		s.n++
	}
}

// has returns what is known of the record that a tree links to under a key.
func (k *knownRecords) has(kind role, key, item []byte) (entries uint64, ok bool) {
	if k == nil {
		return 0, false
	}
	c, err := linkItem(item)
	if err != nil || !c.Defined() {
		return 0, false
	}
	record := k.record(kind, key, c)
	s := &k.shards[record%knownShards]
	if s.n == 0 {
		return 0, false
	}
	at := s.find(record)
	return at.entries, at.record != 0
}

// find returns the place of a record, or the free one where it would be.
func (s *knownShard) find(record uint64) *knownRecord {
	at := int(record / knownShards % uint64(len(s.places)))
	for s.places[at].record != record && s.places[at].record != 0 {
		if at++; at == len(s.places) {
			at = 0
		}
	}
	return &s.places[at]
}
