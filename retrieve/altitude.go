package retrieve

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/graph"
)

// Altitude says from how far up an answer is: clause 29.6.
type Altitude string

// The altitudes there are.
const (
	AltitudeEntity Altitude = "entity" // facts alone
	AltitudeScope  Altitude = "scope"  // digests of scopes and clusters in place of facts that do not fit
	AltitudeRoot   Altitude = "root"   // the digest of the whole before these
	AltitudeAuto   Altitude = "auto"   // as scope if the text asks broadly, else as entity
)

// Altitudes are all of them.
func Altitudes() []Altitude {
	return []Altitude{AltitudeEntity, AltitudeScope, AltitudeRoot, AltitudeAuto}
}

// DigestItem is a digest in an answer.
type DigestItem struct {
	Name     string            `json:"-"`
	Source   [sha256.Size]byte `json:"-"`
	Facts    int               `json:"facts"`                                    // below
	Found    int               `json:"found"`                                    // of the nodes looked at, how many are below it
	Band     Band              `json:"band,omitempty" shape:"answer|maybe|rest"` // by Score
	Score    int64             `json:"score"`                                    // how much of the question its text accounts for, in units of 2^-16
	Tokens   int               `json:"tokens"`                                   // of Rendered
	Rendered string            `json:"rendered"`                                 // lines, each with its line end
	Covers   []graph.ID        `json:"covers"`                                   // nodes that it tells of and that are no items for that, ascending
}

// ReceiptDigest is a digest of an answer.
type ReceiptDigest struct {
	Name     string
	Source   [sha256.Size]byte
	Tokens   int
	Rendered [sha256.Size]byte // sha2-256 of the rendered text
}

// maxDigestName is the longest name of a digest: a UUID, a slash and 96 digits.
const maxDigestName = 36 + 1 + 96

// maxReceiptDigests is the largest number of digests of a receipt.
const maxReceiptDigests = 4

func (r *Receipt) checkDigests() (tokens int, err error) {
	if len(r.Digests) > maxReceiptDigests {
		return 0, graph.Fieldf(fieldDigests, "%d digests, limit %d", len(r.Digests), maxReceiptDigests)
	}
	for i, d := range r.Digests {
		field := fmt.Sprintf("%s[%d]", fieldDigests, i)
		if err := graph.CheckLine(field+".name", d.Name, 1, maxDigestName); err != nil {
			return 0, err
		}
		if err := checkCount(field+".tokens", d.Tokens); err != nil {
			return 0, err
		}
		tokens += d.Tokens
	}
	return tokens, nil
}

// digestTexts are the digests as text, for comparing.
func (r *Receipt) digestTexts() string {
	var parts []string
	for _, d := range r.Digests {
		parts = append(parts, fmt.Sprintf("%s %x %d %x", d.Name, d.Source, d.Tokens, d.Rendered))
	}
	return strings.Join(parts, ", ")
}
