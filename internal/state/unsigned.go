package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// UnsignedError is returned by a transaction whose records lack signatures; it wrote nothing. The same transaction
// succeeds with a Stamp that has the signatures, unless its records have changed.
type UnsignedError struct {
	Records [][]byte // without their signatures
	// Turn names the writer's turn that is kept for the signatures, "" for none.
	Turn string
}

func (e *UnsignedError) Error() string {
	return fmt.Sprintf("%d records lack signatures", len(e.Records))
}

// Signatures maps the hexadecimal SHA-256 of a record to its signature.
type Signatures map[string][]byte

// Add adds the signature of a record.
func (s Signatures) Add(unsigned, signature []byte) { s[recordKey(unsigned)] = signature }

// Sign is a commit.SignFunc. It returns an *UnsignedError for a record that has none.
func (s Signatures) Sign(unsigned []byte) ([]byte, error) {
	if signature := s[recordKey(unsigned)]; signature != nil {
		return signature, nil
	}
	return nil, &UnsignedError{Records: [][]byte{bytes.Clone(unsigned)}}
}

func recordKey(unsigned []byte) string {
	sum := sha256.Sum256(unsigned)
	return hex.EncodeToString(sum[:])
}
