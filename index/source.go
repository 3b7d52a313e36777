package index

import (
	"bytes"
	"context"
	"sort"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/segment"
)

// source reads segments and their parts. Safe for concurrent use.
type source struct{ *segment.Reader }

// idList returns part n of "ids" or "dead": sorted ids, end to end.
func (r *source) idList(ctx context.Context, s *segment.Segment, sec, n int) (idPart, error) {
	total := s.Docs
	if sec == secDead {
		total = s.Kills
	}
	v, err := r.Part(ctx, s, sec, n, func(_, data []byte) (any, int, error) {
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
	seg  *segment.Segment
	part idPart
	n    int // number of the part
}

// find returns the number of the document with an id.
func (f *idFinder) find(ctx context.Context, id graph.ID) (doc uint32, ok bool, err error) {
	if !f.holds(id) {
		n, err := f.src.Find(ctx, f.seg, secIDs, id[:])
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
	ctx context.Context, s *segment.Segment, sec int, fn func(id graph.ID) error,
) error {
	for n := range s.Parts(sec) {
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
func (r *source) meta(ctx context.Context, s *segment.Segment, doc uint32) (*metaPart, error) {
	v, _, err := r.Covering(ctx, s, secMeta, docKey(doc), func(key, data []byte) (any, int, error) {
		m, err := decodeMeta(data, key, s.Docs)
		return m, m.size(), err
	})
	if err != nil {
		return nil, err
	}
	m, ok := v.(*metaPart)
	if !ok || doc-m.first >= uint32(len(m.docs)) {
		return nil, r.Wrap(s, secMeta, segment.Corrupt("no document %d", doc))
	}
	return m, nil
}
