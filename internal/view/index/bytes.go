package index

import "encoding/binary"

// input reads the bytes of a part. The first error sets bad, and then every read returns zero values; callers check bad
// once, at any point.
type input struct {
	b   []byte
	pos int
	bad bool
}

func (in *input) fail() { in.bad = true }

func (in *input) done() bool { return in.bad || in.pos == len(in.b) }

// uint reads a varint of the shortest form that is at most limit.
func (in *input) uint(limit uint64) uint64 {
	if !in.bad && in.pos < len(in.b) {
		if c := in.b[in.pos]; c < 0x80 && uint64(c) <= limit {
			in.pos++
			return uint64(c)
		}
	}
	return in.longUint(limit)
}

func (in *input) longUint(limit uint64) uint64 {
	if in.bad {
		return 0
	}
	n, width := binary.Uvarint(in.b[in.pos:])
	if width <= 0 || n > limit || width > 1 && in.b[in.pos+width-1] == 0 {
		in.bad = true
		return 0
	}
	in.pos += width
	return n
}

// int reads a zigzag varint.
func (in *input) int() int64 {
	u := in.uint(1<<64 - 1)
	return int64(u>>1) ^ -int64(u&1)
}

func (in *input) byte() byte {
	if in.bad || in.pos >= len(in.b) {
		in.bad = true
		return 0
	}
	in.pos++
	return in.b[in.pos-1]
}

// take returns the next n bytes, a part of the input.
func (in *input) take(n uint64) []byte {
	if in.bad || n > uint64(len(in.b)-in.pos) {
		in.bad = true
		return nil
	}
	in.pos += int(n)
	return in.b[in.pos-int(n) : in.pos : in.pos]
}

func putUint(b []byte, n uint64) []byte { return binary.AppendUvarint(b, n) }

func putInt(b []byte, n int64) []byte {
	return binary.AppendUvarint(b, uint64(n)<<1^uint64(n>>63))
}

// docKey is the directory key of a part that starts at a document number.
func docKey(doc uint32) []byte { return binary.BigEndian.AppendUint32(nil, doc) }
