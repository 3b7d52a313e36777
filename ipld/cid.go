package ipld

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
)

// Codec is the multicodec of a block's content.
type Codec uint8

const (
	Raw     Codec = 0x55 // any bytes
	DagCBOR Codec = 0x71 // one canonical DAG-CBOR item
)

const (
	// CIDLen is the length of a binary CID in bytes.
	CIDLen = 4 + DigestLen
	// DigestLen is the length of a sha2-256 digest in bytes.
	DigestLen = sha256.Size
	// TextLen is the length of a CID's text form in characters: the multibase prefix and one base32 digit for every
	// 5 bits, rounded up.
	TextLen = 1 + (8*CIDLen+4)/5
)

// textEncoding is multibase "b" without its prefix.
var textEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").
	WithPadding(base32.NoPadding)

// CID identifies a block by its codec and the sha2-256 digest of its bytes. It is comparable and
// may be a map key. The zero CID is undefined: it identifies nothing.
type CID struct {
	codec  Codec
	digest [DigestLen]byte
}

// Sum returns the CID of data under codec: Raw or DagCBOR.
func Sum(codec Codec, data []byte) CID { return CID{codec: codec, digest: sha256.Sum256(data)} }

// CIDFromBytes reads a binary CID, which must be exactly b. It returns an error that wraps ErrCID
// for any other version, codec, hash function or digest length.
func CIDFromBytes(b []byte) (CID, error) {
	if len(b) != CIDLen || b[0] != 1 || b[2] != 0x12 || b[3] != DigestLen {
		return CID{}, fmt.Errorf("%w: %d bytes % x…", ErrCID, len(b), b[:min(len(b), 4)])
	}
	c := CID{codec: Codec(b[1])}
	if c.codec != Raw && c.codec != DagCBOR {
		return CID{}, fmt.Errorf("%w: codec 0x%x", ErrCID, b[1])
	}
	copy(c.digest[:], b[4:])
	return c, nil
}

// ParseCID reads the canonical text form. Other multibases, upper case and other CID forms are
// refused with an error that wraps ErrCID, so that one CID has one spelling.
func ParseCID(s string) (CID, error) {
	if len(s) != TextLen || s[0] != 'b' {
		return CID{}, fmt.Errorf("%w: %q is not base32 of %d characters", ErrCID, shorten(s), TextLen)
	}
	// Decode skips line ends and ignores the spare bits of the last digit: hence the comparison below.
	var buf [CIDLen]byte
	n, err := textEncoding.Decode(buf[:], []byte(s[1:]))
	if err != nil {
		return CID{}, fmt.Errorf("%w: %q: %w", ErrCID, s, err)
	}
	c, err := CIDFromBytes(buf[:n])
	if err != nil {
		return CID{}, fmt.Errorf("%q: %w", s, err)
	}
	if c.String() != s {
		return CID{}, fmt.Errorf("%w: %q is not canonical", ErrCID, s)
	}
	return c, nil
}

func shorten(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}

// Defined reports whether c identifies a block.
func (c CID) Defined() bool { return c.codec != 0 }

// Codec returns the content's multicodec, 0 for the undefined CID.
func (c CID) Codec() Codec { return c.codec }

// Digest returns the sha2-256 digest.
func (c CID) Digest() [DigestLen]byte { return c.digest }

// Bytes returns the binary form, CIDLen bytes. For the undefined CID the result is not a CID.
func (c CID) Bytes() []byte { return c.Append(make([]byte, 0, CIDLen)) }

// Append appends the binary form to b.
func (c CID) Append(b []byte) []byte {
	b = append(b, 1, byte(c.codec), 0x12, DigestLen)
	return append(b, c.digest[:]...)
}

// String returns the canonical text form, or "" for the undefined CID.
func (c CID) String() string {
	if !c.Defined() {
		return ""
	}
	return string(c.appendText(make([]byte, 0, TextLen)))
}

// MarshalJSON writes the text form, null for the undefined CID.
func (c CID) MarshalJSON() ([]byte, error) {
	if !c.Defined() {
		return []byte("null"), nil
	}
	return append(c.appendText(append(make([]byte, 0, TextLen+2), '"')), '"'), nil
}

// UnmarshalJSON reads what MarshalJSON writes. It returns the error of ParseCID.
func (c *CID) UnmarshalJSON(data []byte) (err error) {
	text, null, err := jsonText(data)
	if err != nil || null {
		*c = CID{}
		return err
	}
	*c, err = ParseCID(text)
	return err
}

// jsonText reads a JSON string or null.
func jsonText(data []byte) (text string, null bool, err error) {
	if string(data) == "null" {
		return "", true, nil
	}
	v, err := ParseJSON(data)
	if err == nil && v.Kind() != String {
		err = fmt.Errorf("%w: not a string", ErrJSON)
	}
	if err != nil {
		return "", false, err
	}
	return v.Text(), false, nil
}

func (c CID) appendText(b []byte) []byte {
	var bin [CIDLen]byte
	return textEncoding.AppendEncode(append(b, 'b'), c.Append(bin[:0]))
}

// Compare orders CIDs as their binary forms.
func (c CID) Compare(d CID) int {
	if c.codec != d.codec {
		return int(c.codec) - int(d.codec)
	}
	return bytes.Compare(c.digest[:], d.digest[:])
}
