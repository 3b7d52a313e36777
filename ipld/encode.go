package ipld

import (
	"encoding/binary"
	"math"
)

// CBOR major types.
const (
	majorUint  = 0
	majorNeg   = 1
	majorBytes = 2
	majorText  = 3
	majorList  = 4
	majorMap   = 5
	majorTag   = 6
	majorOther = 7
)

const (
	byteFalse = 0xf4
	byteTrue  = 0xf5
	byteNull  = 0xf6
	byteFloat = 0xfb
	// smallHead is the largest argument that fits into an item's first byte.
	smallHead = 23
)

// linkHead is tag 42, a byte string of 37 bytes, and the historical zero byte before the CID.
var linkHead = [...]byte{0xd8, 0x2a, 0x58, CIDLen + 1, 0x00}

// linkLen is the length of an encoded link in bytes.
const linkLen = len(linkHead) + CIDLen

func appendHead(b []byte, major byte, n uint64) []byte {
	major <<= 5
	switch {
	case n <= smallHead:
		return append(b, major|byte(n))
	case n <= math.MaxUint8:
		return append(b, major|24, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, major|25), uint16(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(b, major|26), uint32(n))
	default:
		return binary.BigEndian.AppendUint64(append(b, major|27), n)
	}
}

// AppendInt appends an integer.
func AppendInt(b []byte, n int64) []byte {
	if n < 0 {
		return appendHead(b, majorNeg, uint64(^n))
	}
	return appendHead(b, majorUint, uint64(n))
}

// AppendBytes appends a byte string.
func AppendBytes(b, data []byte) []byte {
	return append(appendHead(b, majorBytes, uint64(len(data))), data...)
}

// AppendString appends a text string, which must be valid UTF-8.
func AppendString(b []byte, s string) []byte {
	return append(appendHead(b, majorText, uint64(len(s))), s...)
}

// AppendList appends the head of a list of n items, which follow.
func AppendList(b []byte, n int) []byte { return appendHead(b, majorList, uint64(n)) }

// AppendMap appends the head of a map of n entries, whose keys and values follow in canonical order.
func AppendMap(b []byte, n int) []byte { return appendHead(b, majorMap, uint64(n)) }

// AppendBool appends a boolean.
func AppendBool(b []byte, v bool) []byte {
	if v {
		return append(b, byteTrue)
	}
	return append(b, byteFalse)
}

// AppendNull appends null.
func AppendNull(b []byte) []byte { return append(b, byteNull) }

// AppendFloat appends a 64-bit float. It panics on NaN and infinities, which have no encoding.
func AppendFloat(b []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		panic("ipld: NaN or infinity has no canonical encoding")
	}
	return binary.BigEndian.AppendUint64(append(b, byteFloat), math.Float64bits(f))
}

// AppendLink appends a link. It panics on the undefined CID.
func AppendLink(b []byte, c CID) []byte {
	if !c.Defined() {
		panic("ipld: link to the undefined CID")
	}
	return c.Append(append(b, linkHead[:]...))
}

// AppendValue appends any value.
func AppendValue(b []byte, v Value) []byte {
	switch v.kind {
	case Bool:
		return AppendBool(b, v.bits == 1)
	case Int:
		return AppendInt(b, int64(v.bits))
	case Float:
		return AppendFloat(b, v.Float())
	case String:
		return AppendString(b, v.text)
	case Bytes:
		return append(appendHead(b, majorBytes, uint64(len(v.text))), v.text...)
	case List:
		items := v.List()
		b = AppendList(b, len(items))
		for _, item := range items {
			b = AppendValue(b, item)
		}
		return b
	case Map:
		return appendEntries(b, v.Entries())
	case Link:
		return AppendLink(b, v.Link())
	default:
		return AppendNull(b)
	}
}

func appendEntries(b []byte, entries []Entry) []byte {
	b = AppendMap(b, len(entries))
	for _, e := range entries {
		b = AppendValue(AppendString(b, e.Key), e.Value)
	}
	return b
}
