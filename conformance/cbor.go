package main

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"math"
	"sort"
	"strings"
)

// Values of the data model are nil, bool, int64 (int is accepted when encoding), float64,
// string, []byte, []any, dict and link.
type (
	dict = map[string]any
	link string // the 36 bytes of a CID
)

// encode returns the canonical dag-cbor of v (clause 1.2).
func encode(v any) []byte { return appendItem(nil, v) }

func appendHead(b []byte, major byte, n uint64) []byte {
	m := major << 5
	switch {
	case n < 24:
		return append(b, m|byte(n))
	case n < 1<<8:
		return append(b, m|24, byte(n))
	case n < 1<<16:
		return binary.BigEndian.AppendUint16(append(b, m|25), uint16(n))
	case n < 1<<32:
		return binary.BigEndian.AppendUint32(append(b, m|26), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(b, m|27), n)
}

func appendItem(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, 0xf6)
	case bool:
		if v {
			return append(b, 0xf5)
		}
		return append(b, 0xf4)
	case int:
		return appendItem(b, int64(v))
	case int64:
		if v < 0 {
			return appendHead(b, 1, uint64(-1-v))
		}
		return appendHead(b, 0, uint64(v))
	case float64:
		return binary.BigEndian.AppendUint64(append(b, 0xfb), math.Float64bits(v))
	case string:
		return append(appendHead(b, 3, uint64(len(v))), v...)
	case []byte:
		return append(appendHead(b, 2, uint64(len(v))), v...)
	case link:
		return append(append(b, 0xd8, 0x2a, 0x58, 0x25, 0x00), v...)
	case []any:
		b = appendHead(b, 4, uint64(len(v)))
		for _, e := range v {
			b = appendItem(b, e)
		}
		return b
	case dict:
		b = appendHead(b, 5, uint64(len(v)))
		for _, k := range sortedKeys(v) {
			b = appendItem(appendItem(b, k), v[k])
		}
		return b
	}
	panic("a value outside the data model")
}

// sortedKeys returns the keys of a map in canonical order: shorter first, then bytewise.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool {
		if len(keys[i]) != len(keys[j]) {
			return len(keys[i]) < len(keys[j])
		}
		return keys[i] < keys[j]
	})
	return keys
}

const (
	codecCBOR = 0x71
	codecRaw  = 0x55
)

func cidOf(codec byte, block []byte) link {
	sum := sha256.Sum256(block)
	return link(append([]byte{1, codec, 0x12, 0x20}, sum[:]...))
}

// recordCID is the CID of the record v.
func recordCID(v any) link { return cidOf(codecCBOR, encode(v)) }

const base32Digits = "abcdefghijklmnopqrstuvwxyz234567"

var base32Lower = base32.NewEncoding(base32Digits).WithPadding(base32.NoPadding)

func (l link) String() string { return "b" + base32Lower.EncodeToString([]byte(l)) }

func hx[T string | []byte | link](b T) string { return hex.EncodeToString([]byte(b)) }

func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

// first16 is the form of every id: the first 16 bytes of a sha2-256 over the joined parts.
func first16(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "")))
	return string(sum[:16])
}

// uuid is the text form of an id.
func uuid(id string) string {
	h := hx(id)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// rng is xorshift64*: small, seedable, and easy to write down in any language.
type rng uint64

func (r *rng) next() uint64 {
	x := uint64(*r)
	x ^= x >> 12
	x ^= x << 25
	x ^= x >> 27
	*r = rng(x)
	return x * 0x2545f4914f6cdd1d
}

func (r *rng) below(n int) int { return int(r.next() % uint64(n)) }
