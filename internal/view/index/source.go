package index

import (
	"context"

	"github.com/mnem-project/mnem/internal/view/segment"
)

// typeBytes is the overhead of a type's name in a part, without its bytes.
const typeBytes = 24

// source reads segments and their parts. Safe for concurrent use.
type source struct{ *segment.Reader }

// meta returns the part of "meta" that holds a document.
func (r *source) meta(ctx context.Context, s *segment.Segment, doc uint32) (*metaPart, error) {
	v, _, err := r.Covering(ctx, s, secMeta, docKey(doc), func(key, data []byte) (any, int, error) {
		m, err := decodeMeta(data, key, s.Docs)
		if err != nil {
			return nil, 0, err
		}
		return m, len(data) + typeBytes*len(m.types), nil
	})
	if err != nil {
		return nil, err
	}
	m, ok := v.(*metaPart)
	if !ok || !m.has(doc) {
		return nil, r.Wrap(s, secMeta, segment.Corrupt("no document %d", doc))
	}
	return m, nil
}
