package source

import (
	"context"
	"crypto/sha256"

	"github.com/mnem-project/mnem/graph"
)

// Digested is the ability of a Graph whose digests are known.
type Digested interface {
	// Digests returns the digests that contain a node, the nearest first and the root's last; none if no digest does.
	Digests(ctx context.Context, id graph.ID) ([]*Digest, error)
	// Sentences returns how many sentences a fact has that digests may quote.
	Sentences(ctx context.Context, id graph.ID) (int, error)
	// RootDigest returns the digest of the whole, nil for a graph without facts.
	RootDigest(ctx context.Context) (*Digest, error)
}

// Digest is a digest of a scope, a cluster or the whole memory.
type Digest struct {
	Name      string // clause 29.4
	Shown     string // replaces Name in output: with the key of its scope, "" for none
	Root      bool
	Facts     int // below
	Source    [sha256.Size]byte
	Sentences []DigestSentence
	Written   string // by Model, replaces the sentences, "" for none
	Model     string
}

// DigestSentence is a sentence of a digest.
type DigestSentence struct {
	Fact graph.ID // that it is from
	Text string   // one line
}
