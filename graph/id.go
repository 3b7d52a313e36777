package graph

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"strconv"
)

// IDLen is the length of an id in bytes.
const IDLen = 16

// uuidLen is the length of an id's text form.
const uuidLen = 36

// Prefixes of the data hashed into ids, so that a node's id cannot be an edge's by construction.
const (
	nodeDomain    = "mnem:node:"
	contentDomain = "mnem:content:"
	edgeDomain    = "mnem:edge:"
)

// ID identifies a node or an edge across its versions. It is comparable. The zero ID identifies nothing.
type ID [IDLen]byte

// String returns the UUID form in lower case.
func (id ID) String() string {
	var h [2 * IDLen]byte
	hex.Encode(h[:], id[:])
	return string(h[:8]) + "-" + string(h[8:12]) + "-" + string(h[12:16]) + "-" + string(h[16:20]) + "-" + string(h[20:])
}

// MarshalJSON writes the UUID form, null for the zero ID.
func (id ID) MarshalJSON() ([]byte, error) {
	if id.IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + id.String() + `"`), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (id *ID) UnmarshalJSON(data []byte) error {
	var text *string
	err := json.Unmarshal(data, &text)
	switch {
	case err != nil:
	case text == nil:
		*id = ID{}
	default:
		*id, err = ParseID(*text)
	}
	return err
}

// IsZero reports whether id identifies nothing.
func (id ID) IsZero() bool { return id == ID{} }

// Compare orders ids as their bytes.
func (id ID) Compare(other ID) int {
	a, b := binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(other[:8])
	if a == b {
		a, b = binary.BigEndian.Uint64(id[8:]), binary.BigEndian.Uint64(other[8:])
	}
	return cmp.Compare(a, b)
}

// ShapedLikeID reports whether s has the shape of an id's text form, in either case. Keys must not.
func ShapedLikeID(s string) bool {
	if len(s) != uuidLen {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
			continue
		}
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return true
}

// ParseID reads an id's text form, which is in lower case. The zero ID is refused.
func ParseID(s string) (ID, error) {
	if !ShapedLikeID(s) {
		return ID{}, Fieldf("", "%s is not an id: want 8-4-4-4-12 hex digits", quote(s))
	}
	var digits [2 * IDLen]byte
	n := 0
	for i := range len(s) {
		if s[i] >= 'A' && s[i] <= 'F' {
			return ID{}, Fieldf("", "%s is not an id: write its digits in lower case", quote(s))
		}
		if s[i] != '-' {
			digits[n] = s[i]
			n++
		}
	}
	var id ID
	// Decode cannot fail: ShapedLikeID looked at every digit.
	_, _ = hex.Decode(id[:], digits[:])
	if id.IsZero() {
		return ID{}, Fieldf("", "the id of all zeros identifies nothing")
	}
	return id, nil
}

// truncated returns the id hashed from parts.
func truncated(parts ...string) ID {
	var stack [256]byte
	buf := stack[:0]
	for _, p := range parts {
		buf = append(buf, p...)
	}
	sum := sha256.Sum256(buf)
	return ID(sum[:IDLen])
}

// NodeID returns the id of the node with a key.
func NodeID(key string) ID { return truncated(nodeDomain, key) }

// ContentID returns the nth candidate, from 0, for the id of a node that was given neither key nor id and whose
// Canonical form is canonical.
func ContentID(canonical []byte, n uint64) ID {
	h := sha256.New()
	h.Write([]byte(contentDomain))
	h.Write(canonical)
	h.Write(binary.BigEndian.AppendUint64(nil, n))
	return ID(h.Sum(nil)[:IDLen])
}

// EdgeID returns the id of the edge between two nodes; key is empty if the edge has none.
func EdgeID(src ID, typ string, dst ID, key string) ID {
	return truncated(edgeDomain, string(src[:]), typ, "\x00", string(dst[:]), key)
}

// checkKey checks the key of a node.
func checkKey(field, key string) error {
	if err := checkName(field, key, MaxKey); err != nil {
		return err
	}
	if ShapedLikeID(key) {
		return Fieldf(field, "%s has the shape of an id", quote(key))
	}
	return nil
}

// quote returns s quoted for an error message, truncated to a line's length.
func quote(s string) string {
	const most = 80
	if len(s) > most {
		return strconv.Quote(s[:most]) + "…"
	}
	return strconv.Quote(s)
}
