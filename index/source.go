package index

import (
	"bytes"
	"context"
	"fmt"
	"sort"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// source reads segments and their parts through a cache. Safe for concurrent use.
type source struct {
	get   store.Getter
	cache *Cache
}

func (r *source) segment(ctx context.Context, c ipld.CID) (*segment, error) {
	key := partKey{segment: c, section: keySegment}
	v, ok, epoch := r.cache.Get(key)
	if ok {
		return v.(*segment), nil
	}
	block, err := r.get.Get(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("read segment %s: %w", c, err)
	}
	s, err := decodeSegment(c, block)
	if err != nil {
		return nil, fmt.Errorf("read segment %s: %w", c, err)
	}
	r.cache.AddSince(epoch, key, s, int64(2*len(block)))
	return s, nil
}

// ref returns the reference to part n of a section, whose number the caller has checked.
func (r *source) ref(ctx context.Context, s *segment, sec, n int) (partRef, error) {
	if !s.sec[sec].deep() {
		return s.sec[sec].refs[n], nil
	}
	dir, err := r.dir(ctx, s, sec, n/dirFan)
	if err != nil {
		return partRef{}, err
	}
	return dir[n%dirFan], nil
}

// dir returns directory block n of a section.
func (r *source) dir(ctx context.Context, s *segment, sec, n int) ([]partRef, error) {
	key := partKey{segment: s.cid, section: uint16(keyDirs + sec), number: int32(n)}
	v, ok, epoch := r.cache.Get(key)
	if ok {
		return v.([]partRef), nil
	}
	block, err := r.get.Get(ctx, s.sec[sec].refs[n].cid)
	if err != nil {
		return nil, r.wrap(s, sec, err)
	}
	refs, err := decodeDir(block)
	if err != nil {
		return nil, r.wrap(s, sec, err)
	}
	if want := min(dirFan, s.sec[sec].parts-n*dirFan); len(refs) != want ||
		!bytes.Equal(refs[0].key, s.sec[sec].refs[n].key) {
		return nil, r.wrap(s, sec, corrupt("directory %d does not fit", n))
	}
	r.cache.AddSince(epoch, key, refs, int64(2*len(block)))
	return refs, nil
}

func (r *source) wrap(s *segment, sec int, err error) error {
	return fmt.Errorf("read %s of segment %s: %w", sectionNames[sec], s.cid, err)
}

// find returns the last part of a section whose key is at most key, or -1.
func (r *source) find(ctx context.Context, s *segment, sec int, key []byte) (int, error) {
	n := lastAtMost(s.sec[sec].refs, key)
	if n < 0 || !s.sec[sec].deep() {
		return n, nil
	}
	dir, err := r.dir(ctx, s, sec, n)
	if err != nil {
		return 0, err
	}
	return n*dirFan + lastAtMost(dir, key), nil
}

func lastAtMost(refs []partRef, key []byte) int {
	return sort.Search(len(refs), func(i int) bool { return bytes.Compare(refs[i].key, key) > 0 }) - 1
}

// part returns part n of a section as decode makes it from the part's bytes; decode also returns
// how many bytes its value keeps.
func (r *source) part(
	ctx context.Context, s *segment, sec, n int, decode func(data []byte) (any, int, error),
) (any, error) {
	key := partKey{segment: s.cid, section: uint16(sec), number: int32(n)}
	v, ok, epoch := r.cache.Get(key)
	if ok {
		return v, nil
	}
	data, err := r.raw(ctx, s, sec, n)
	if err != nil {
		return nil, err
	}
	v, size, err := decode(data)
	if err != nil {
		return nil, r.wrap(s, sec, fmt.Errorf("part %d: %w", n, err))
	}
	r.cache.AddSince(epoch, key, v, int64(size))
	return v, nil
}

// raw returns the bytes of part n of a section.
func (r *source) raw(ctx context.Context, s *segment, sec, n int) ([]byte, error) {
	if n < 0 || n >= s.sec[sec].parts {
		return nil, r.wrap(s, sec, corrupt("no part %d", n))
	}
	ref, err := r.ref(ctx, s, sec, n)
	if err != nil {
		return nil, err
	}
	data := ref.data
	if data == nil {
		if data, err = r.get.Get(ctx, ref.cid); err != nil {
			return nil, r.wrap(s, sec, err)
		}
	}
	if len(data) > maxPart && sec != secLarge {
		return nil, r.wrap(s, sec, corrupt("part %d of %d bytes, limit %d", n, len(data), maxPart))
	}
	return data, nil
}

func keepRaw(data []byte) (any, int, error) { return data, len(data), nil }

// bytes returns part n of a section as it is.
func (r *source) bytes(ctx context.Context, s *segment, sec, n int) ([]byte, error) {
	v, err := r.part(ctx, s, sec, n, keepRaw)
	if err != nil {
		return nil, err
	}
	return v.([]byte), nil
}

// idList returns part n of "ids" or "dead": sorted ids, end to end.
func (r *source) idList(ctx context.Context, s *segment, sec, n int) (idPart, error) {
	total := s.docs
	if sec == secDead {
		total = s.kills
	}
	v, err := r.part(ctx, s, sec, n, func(data []byte) (any, int, error) {
		ids, err := decodeIDs(data, partDocs(total, n))
		return ids, len(data), err
	})
	if err != nil {
		return nil, err
	}
	return v.(idPart), nil
}

// idFinder finds documents by id. Ids that ascend cost little more than a walk.
type idFinder struct {
	src  *source
	seg  *segment
	part idPart
	n    int // number of the part
}

// find returns the number of the document with an id.
func (f *idFinder) find(ctx context.Context, id graph.ID) (doc uint32, ok bool, err error) {
	if !f.holds(id) {
		n, err := f.src.find(ctx, f.seg, secIDs, id[:])
		if n < 0 || err != nil {
			return 0, false, err
		}
		if f.part, err = f.src.idList(ctx, f.seg, secIDs, n); err != nil {
			return 0, false, err
		}
		f.n = n
	}
	i := sort.Search(f.part.len(), func(i int) bool {
		return bytes.Compare(f.part.at(i), id[:]) >= 0
	})
	if i == f.part.len() || !bytes.Equal(f.part.at(i), id[:]) {
		return 0, false, nil
	}
	return uint32(f.n*docsPerPart + i), true, nil
}

// holds reports whether the part at hand is the one where an id would be.
func (f *idFinder) holds(id graph.ID) bool {
	return len(f.part) > 0 && bytes.Compare(f.part.at(0), id[:]) <= 0 &&
		bytes.Compare(id[:], f.part.at(f.part.len()-1)) <= 0
}

// eachID calls fn with every id of "ids" or "dead" in order.
func (r *source) eachID(
	ctx context.Context, s *segment, sec int, fn func(id graph.ID) error,
) error {
	for n := range s.sec[sec].parts {
		ids, err := r.idList(ctx, s, sec, n)
		if err != nil {
			return err
		}
		for i := range ids.len() {
			if err := fn(graph.ID(ids.at(i))); err != nil {
				return err
			}
		}
	}
	return nil
}

// meta returns the part of "meta" that holds a document.
func (r *source) meta(ctx context.Context, s *segment, doc uint32) (*metaPart, error) {
	n, err := r.find(ctx, s, secMeta, docKey(doc))
	if err != nil {
		return nil, err
	}
	m, err := r.metaAt(ctx, s, n)
	if err != nil {
		return nil, err
	}
	if doc-m.first >= uint32(len(m.docs)) {
		return nil, r.wrap(s, secMeta, corrupt("no document %d", doc))
	}
	return m, nil
}

func (r *source) metaAt(ctx context.Context, s *segment, n int) (*metaPart, error) {
	v, err := r.part(ctx, s, secMeta, n, func(data []byte) (any, int, error) {
		ref, err := r.ref(ctx, s, secMeta, n)
		if err != nil {
			return nil, 0, err
		}
		m, err := decodeMeta(data, ref.key, s.docs)
		return m, m.size(), err
	})
	if err != nil {
		return nil, err
	}
	return v.(*metaPart), nil
}
