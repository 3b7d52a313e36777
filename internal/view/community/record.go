package community

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// Kind is the kind of the record.
	Kind = "communities"
	// Version is the version of the algorithm: another one gives other communities for the same edges.
	Version = 1

	recordVersion = 1
	partSize      = 512 << 10 // bytes: half of a block
	// maxParts have room for two ends of every edge, a varint of ten bytes with each.
	maxParts  = 2*MaxEdges*(graph.IDLen+binary.MaxVarintLen64)/partSize + 1
	maxWeight = MaxEdges * graph.MaxWeight
)

// ErrInvalid marks errors about a record, or parts, that Encode cannot have written.
var ErrInvalid = errors.New("invalid communities")

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalid, fmt.Sprintf(format, args...))
}

// Record is the head of communities that are kept.
type Record struct {
	Out          ipld.CID // root of their out tree
	Count, Nodes int
	Parts        []ipld.CID
}

// Encode returns the block of the record and the raw blocks of its parts.
func (p *Partition) Encode(out ipld.CID) (record []byte, parts [][]byte) {
	var list []byte
	for _, set := range p.members {
		list = binary.AppendUvarint(list, uint64(len(set)))
		for _, m := range set {
			list = binary.AppendUvarint(append(list, m.ID[:]...), m.Inside)
		}
	}
	var links []ipld.CID
	for len(list) > 0 {
		n := min(partSize, len(list))
		parts = append(parts, list[:n:n])
		links = append(links, ipld.Sum(ipld.Raw, list[:n]))
		list = list[n:]
	}
	rec := Record{out, p.Len(), p.Nodes(), links}
	return ipld.WriteRecord(128, rec.fields), parts
}

func (r *Record) fields(rec *ipld.Record) {
	rec.Begin(Kind, recordVersion, nil)
	rec.Link("out", &r.Out)
	ipld.Number(rec, "count", &r.Count, 0, 2*MaxEdges)
	ipld.Number(rec, "nodes", &r.Nodes, 0, 2*MaxEdges)
	rec.Links("parts", &r.Parts, 0, maxParts)
}

// DecodeRecord reads the block of a record. It returns an error that wraps ErrInvalid.
func DecodeRecord(block []byte) (*Record, error) {
	r := new(Record)
	if _, err := ipld.ReadRecord(block, r, r.fields, nil); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if r.Out.Codec() != ipld.DagCBOR {
		return nil, invalid("out is no tree")
	}
	for _, c := range r.Parts {
		if c.Codec() != ipld.Raw {
			return nil, invalid("part %s is not raw", c)
		}
	}
	return r, nil
}

// Decode reads communities from their record and part, which returns its parts. It returns errors
// of part, and one that wraps ErrInvalid.
func (r *Record) Decode(part func(ipld.CID) ([]byte, error)) (*Partition, error) {
	var list []byte
	for _, c := range r.Parts {
		b, err := part(c)
		if err != nil {
			return nil, err
		}
		if len(list)%partSize != 0 || len(b) == 0 || len(b) > partSize {
			return nil, invalid("part of %d bytes", len(b))
		}
		list = append(list, b...)
	}
	s := scanner{rest: list}
	members := make([][]Member, 0, min(r.Count, len(list)/graph.IDLen))
	nodes := 0
	for len(s.rest) > 0 && s.err == nil {
		set := s.community()
		if nodes += len(set); len(members) > 0 && len(set) > len(members[len(members)-1]) {
			s.fail("communities out of order")
		}
		members = append(members, set)
	}
	if s.err != nil {
		return nil, s.err
	}
	if len(members) != r.Count || nodes != r.Nodes {
		return nil, invalid("%d of %d nodes; want %d of %d", len(members), nodes, r.Count, r.Nodes)
	}
	p := newPartition(members)
	for i := 1; i < len(p.ids); i++ {
		if p.ids[i] == p.ids[i-1] {
			return nil, invalid("node %s twice", p.ids[i])
		}
	}
	return p, nil
}

type scanner struct {
	rest []byte
	err  error
}

func (s *scanner) fail(format string, args ...any) {
	if s.err == nil {
		s.err = invalid(format, args...)
	}
}

func (s *scanner) uvarint(limit uint64) uint64 {
	n, size := binary.Uvarint(s.rest)
	if size <= 0 || size > 1 && s.rest[size-1] == 0 || n > limit {
		s.fail("bad number")
		return 0
	}
	s.rest = s.rest[size:]
	return n
}

func (s *scanner) community() []Member {
	n := s.uvarint(uint64(len(s.rest)) / (graph.IDLen + 1)) // at most this many fit
	if n < 2 {
		s.fail("community of %d nodes", n)
	}
	set := make([]Member, 0, n)
	for range n {
		var m Member
		if len(s.rest) <= graph.IDLen {
			s.fail("cut off")
		}
		if s.err != nil {
			return nil
		}
		copy(m.ID[:], s.rest)
		s.rest = s.rest[graph.IDLen:]
		m.Inside = s.uvarint(maxWeight)
		if len(set) > 0 && byInside(set[len(set)-1], m) >= 0 {
			s.fail("members out of order")
		}
		set = append(set, m)
	}
	return set
}
