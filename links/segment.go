package links

import (
	"bytes"
	"context"
	"fmt"
	"sort"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

const (
	kindSegment = "linked"
	// formatVersion is the version of every record of this package.
	formatVersion = 1
)

// segment is the decoded block of a segment. It is immutable.
type segment struct {
	cid         ipld.CID
	docs, kills int
	parts       []*part    // of a small one
	dirs        []ipld.CID // of any other
	sieves      []ipld.CID // one for each directory
	first       []byte     // first id of each directory, end to end
	apart       int        // how many parts the directories have
}

func encodeSegment(s *segment, parts []written) []byte {
	w := ipld.NewRecord(nil, nil)
	w.Version(formatVersion)
	w.Links("dirs", s.dirs)
	w.Int("docs", int64(s.docs))
	w.Kind(kindSegment)
	w.Int("apart", int64(s.apart))
	w.Bytes("first", s.first)
	w.Int("kills", int64(s.kills))
	w.Append("parts", func(b []byte) []byte {
		b = ipld.AppendList(b, len(parts))
		for _, p := range parts {
			b = ipld.AppendBytes(b, p.data)
		}
		return b
	})
	w.Links("sieves", s.sieves)
	return w.Finish()
}

func decodeSegment(cid ipld.CID, block []byte) (*segment, error) {
	s := &segment{cid: cid}
	seen := 0
	_, err := ipld.DecodeRecord(block, kindSegment, formatVersion,
		func(key string, d *ipld.Decoder) (known bool, err error) {
			seen++
			switch key {
			case "docs":
				s.docs, err = decodeCount(d)
			case "kills":
				s.kills, err = decodeCount(d)
			case "apart":
				s.apart, err = decodeCount(d)
			case "first":
				s.first, err = d.Bytes()
				s.first = bytes.Clone(s.first)
			case "dirs":
				s.dirs, err = decodeLinks(d)
			case "sieves":
				s.sieves, err = decodeLinks(d)
			case "parts":
				s.parts, err = decodeParts(d)
			default:
				seen--
				return false, nil
			}
			return true, err
		})
	if err == nil && (seen != 7 || len(s.first) != len(s.dirs)*graph.IDLen ||
		len(s.sieves) != len(s.dirs) || len(s.dirs) != (s.apart+dirFan-1)/dirFan || len(s.parts) > 0 && s.apart > 0) {
		err = fmt.Errorf("segment of %d fields, %d and %d parts, %d directories", seen, len(s.parts),
			s.apart, len(s.dirs))
	}
	return s, asDamage(err)
}

func decodeCount(d *ipld.Decoder) (int, error) {
	n, err := d.Int()
	if err == nil && (n < 0 || n > maxNodes) {
		err = d.Errorf("count %d outside 0 to %d", n, maxNodes)
	}
	return int(n), err
}

func decodeLinks(d *ipld.Decoder) ([]ipld.CID, error) {
	n, err := d.List()
	if err == nil && n > ipld.MaxBlock/ipld.CIDLen {
		err = d.Errorf("%d links", n)
	}
	if err != nil {
		return nil, err
	}
	out := make([]ipld.CID, n)
	for i := range out {
		if out[i], err = d.Link(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func decodeParts(d *ipld.Decoder) ([]*part, error) {
	n, err := d.List()
	if err == nil && n > maxInline {
		err = d.Errorf("%d parts", n)
	}
	if err != nil {
		return nil, err
	}
	out := make([]*part, n)
	for i := range out {
		b, err := d.Bytes()
		if err == nil {
			out[i], err = decodePart(bytes.Clone(b))
		}
		if err != nil {
			return nil, err
		}
		if i > 0 && bytes.Compare(out[i-1].ids[len(out[i-1].ids)-graph.IDLen:], out[i].first()) >= 0 {
			return nil, d.Errorf("part %d does not ascend", i)
		}
	}
	return out, nil
}

// dir is the rows of a directory: the first id of each part, and its CID.
type dir []byte

func (d dir) len() int           { return len(d) / dirRow }
func (d dir) first(i int) []byte { return d[i*dirRow:][:graph.IDLen] }

func (d dir) part(i int) (ipld.CID, error) {
	c, err := ipld.CIDFromBytes(d[i*dirRow+graph.IDLen:][:ipld.CIDLen])
	return c, asDamage(err)
}

// reader reads blocks through a cache. Safe for concurrent use.
type reader struct {
	get   store.Getter
	cache *Cache
}

// segment reads a segment's block.
func (r *reader) segment(ctx context.Context, c ipld.CID) (*segment, error) {
	block, err := r.get.Get(ctx, c)
	var s *segment
	if err == nil {
		s, err = decodeSegment(c, block)
	}
	if err != nil {
		return nil, fmt.Errorf("read segment %s: %w", c, err)
	}
	return s, nil
}

// dir reads directory n of a segment.
func (r *reader) dir(ctx context.Context, s *segment, n int) (dir, error) {
	c := s.dirs[n]
	want, first := min(dirFan, s.apart-n*dirFan), s.first[n*graph.IDLen:][:graph.IDLen]
	kept, _, epoch := r.cache.Get(c)
	if d, ok := kept.(dir); ok && d.len() == want && bytes.Equal(d.first(0), first) {
		return d, nil
	}
	data, err := r.get.Get(ctx, c)
	if err == nil && (len(data) != want*dirRow || !bytes.Equal(data[:graph.IDLen], first)) {
		err = corrupt("directory of %d bytes, want %d parts", len(data), want)
	}
	d := dir(data)
	for i := 1; i < d.len() && err == nil; i++ {
		if bytes.Compare(d.first(i-1), d.first(i)) >= 0 {
			err = corrupt("part %d of a directory does not ascend", i)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read directory %s: %w", c, err)
	}
	r.cache.AddSince(epoch, c, d, int64(len(d)))
	return d, nil
}

// part reads part i of a directory.
func (r *reader) part(ctx context.Context, d dir, i int) (*part, error) {
	c, err := d.part(i)
	if err != nil {
		return nil, err
	}
	kept, _, epoch := r.cache.Get(c)
	if p, ok := kept.(*part); ok {
		return p, nil
	}
	data, err := r.get.Get(ctx, c)
	var p *part
	if err == nil {
		p, err = decodePart(data)
	}
	if err == nil && !bytes.Equal(p.first(), d.first(i)) {
		err = corrupt("part begins with %s", p.id(0))
	}
	if err != nil {
		return nil, fmt.Errorf("read part %s: %w", c, err)
	}
	r.cache.AddSince(epoch, c, p, int64(p.memory(len(data))))
	return p, nil
}

// find looks a node up in one segment, that it is likely to be in where that is the oldest.
func (r *reader) find(
	ctx context.Context, s *segment, id graph.ID, oldest bool,
) (f Found, ok bool, err error) {
	p, err := r.covering(ctx, s, id, oldest)
	if p == nil || err != nil {
		return f, false, err
	}
	i, ok := p.find(id)
	if ok {
		f, err = p.at(i)
	}
	return f, ok, err
}

// covering returns the only part that may have a node, nil for none.
func (r *reader) covering(
	ctx context.Context, s *segment, id graph.ID, oldest bool,
) (*part, error) {
	if len(s.dirs) == 0 {
		i := before(len(s.parts), id, func(i int) []byte { return s.parts[i].first() })
		if i < 0 {
			return nil, nil
		}
		return s.parts[i], nil
	}
	n := before(len(s.dirs), id, func(i int) []byte { return s.first[i*graph.IDLen:][:graph.IDLen] })
	if n < 0 {
		return nil, nil
	}
	if !oldest {
		v, err := r.sieve(ctx, s, n)
		if err != nil || !v.has(id) {
			return nil, err
		}
	}
	d, err := r.dir(ctx, s, n)
	if err != nil {
		return nil, err
	}
	return r.part(ctx, d, before(d.len(), id, d.first))
}

// before returns the last of n ids, ascending, that is not above another, -1 where there is none.
func before(n int, id graph.ID, at func(int) []byte) int {
	return sort.Search(n, func(i int) bool { return bytes.Compare(at(i), id[:]) > 0 }) - 1
}
