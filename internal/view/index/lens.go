package index

import (
	"context"
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/mnem-project/mnem/internal/view/segment"
)

// docLens are the lengths of a document's fields in terms.
type docLens [Fields]uint32

// appendLens appends the lengths of one document, as a draft has them.
func appendLens(b []byte, lens docLens) []byte {
	for _, n := range lens {
		b = putUint(b, uint64(n))
	}
	return b
}

// lenPart is the lengths of docsPerPart documents, fewer in the last part, as they are stored: of
// each field a column of numbers of 0, 1, 2 or 4 bytes, which nothing decodes but who wants one. A
// search wants few of most parts.
type lenPart struct {
	columns [Fields][]byte
	widths  [Fields]uint8
}

// encodeLens returns a part.
func encodeLens(docs []docLens) []byte {
	var b []byte
	for f := range Fields {
		most := uint32(0)
		for i := range docs {
			most = max(most, docs[i][f])
		}
		width := lenWidth(most)
		b = append(b, width)
		for i := range docs {
			b = appendFixed(b, docs[i][f], width)
		}
	}
	return b
}

// lenWidth returns how many bytes the lengths of a column take.
func lenWidth(most uint32) uint8 {
	switch {
	case most == 0:
		return 0
	case most <= math.MaxUint8:
		return 1
	case most <= math.MaxUint16:
		return 2
	}
	return 4
}

func appendFixed(b []byte, n uint32, width uint8) []byte {
	for range width {
		b = append(b, byte(n))
		n >>= 8
	}
	return b
}

// decodeLens returns a part of n documents, which keeps the data.
func decodeLens(data []byte, n int) (*lenPart, error) {
	p := new(lenPart)
	left := data
	for f := range Fields {
		if len(left) == 0 || left[0] > 4 || left[0] == 3 || len(left)-1 < n*int(left[0]) {
			return nil, segment.Corrupt("%d bytes of lengths of %d documents", len(data), n)
		}
		p.widths[f] = left[0]
		p.columns[f], left = left[1:1+n*int(left[0])], left[1+n*int(left[0]):]
	}
	if len(left) > 0 {
		return nil, segment.Corrupt("%d bytes of lengths of %d documents", len(data), n)
	}
	return p, nil
}

// at returns the lengths of some fields of a document, 0 for the others.
func (p *lenPart) at(doc uint32, fields byte) (lens docLens) {
	i := doc % docsPerPart
	for m := fields; m != 0; m &= m - 1 {
		f := bits.TrailingZeros8(m)
		switch c := p.columns[f]; p.widths[f] {
		case 1:
			lens[f] = uint32(c[i])
		case 2:
			lens[f] = uint32(binary.LittleEndian.Uint16(c[2*i:]))
		case 4:
			lens[f] = binary.LittleEndian.Uint32(c[4*i:])
		}
	}
	return lens
}

// lens returns part n of "lens".
func (r *source) lens(ctx context.Context, s *segment.Segment, n int) (*lenPart, error) {
	v, err := r.Part(ctx, s, secLens, n, func(_, data []byte) (any, int, error) {
		lens, err := decodeLens(data, partDocs(s.Docs, n))
		return lens, len(data), err
	})
	if err != nil {
		return nil, err
	}
	return v.(*lenPart), nil
}
