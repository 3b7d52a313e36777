package source

import (
	"context"
	"crypto/sha256"

	"github.com/mnem-project/mnem/graph"
)

// Digested is the ability of a Graph whose digests are known.
type Digested interface {
	// Digests returns the digests that a node is in, the nearest first and that of the whole last; none
	// for a node that is in none.
	Digests(ctx context.Context, id graph.ID) ([]*Digest, error)
	// Sentences returns how many sentences a fact has that digests may quote.
	Sentences(ctx context.Context, id graph.ID) (int, error)
	// RootDigest returns the digest of the whole, nil for a graph without facts.
	RootDigest(ctx context.Context) (*Digest, error)
}

// Digest is what is said of a scope, a cluster or the whole.
type Digest struct {
	Name      string // clause 29.4
	Shown     string // in place of Name: with the key of its scope, "" for none
	Root      bool
	Facts     int // below
	Source    [sha256.Size]byte
	Sentences []DigestSentence
	Written   string // by Model in place of the sentences, "" for none
	Model     string
}

// DigestSentence is a sentence of a digest.
type DigestSentence struct {
	Fact graph.ID // that it is from
	Text string   // one line
}
