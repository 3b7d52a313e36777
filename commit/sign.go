package commit

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/graph"
)

const (
	// SignatureLen is the length of the signatures that this version makes and verifies.
	SignatureLen = 1 + KeyLen + ed25519.SignatureSize

	signDomain = "mnem:commit:"
)

var (
	// ErrUnsigned is returned by Commit.Signer when the commit has no signature.
	ErrUnsigned = errors.New("no signature")
	// ErrSignature marks errors about an invalid signature, for any reason.
	ErrSignature = errors.New("bad signature")
)

// SignFunc signs a commit, given its record without a signature (Commit.Unsigned), which it must not keep.
// Secret.Sign is one.
type SignFunc func(unsigned []byte) (signature []byte, err error)

// Sign returns the signature of a commit: algorithm, key, and Ed25519 over the domain and the record without
// signature. It is deterministic. The error is nil.
func (s Secret) Sign(unsigned []byte) ([]byte, error) {
	private := s.private()
	out := make([]byte, 0, SignatureLen)
	out = append(out, algorithmEd25519)
	out = append(out, private[KeyLen:]...)
	return append(out, ed25519.Sign(private, signedMessage(unsigned))...), nil
}

func signedMessage(unsigned []byte) []byte { return append([]byte(signDomain), unsigned...) }

// Sign signs a commit that is otherwise complete. If sign fails or its signature is invalid, the commit is
// unchanged and the error wraps that of sign, or ErrSignature.
func (c *Commit) Sign(sign SignFunc) error {
	signature, err := sign(c.Unsigned())
	if err != nil {
		return fmt.Errorf("sign commit: %w", err)
	}
	old := c.Signature
	c.Signature = signature
	if _, err := c.Signer(); err != nil {
		c.Signature = old
		return fmt.Errorf("sign commit: signer gave a %w", err)
	}
	return nil
}

// Signer verifies the commit's signature and returns the key that made it. It returns ErrUnsigned if there is none,
// and an error that wraps ErrSignature if it is invalid, together with the key that the signature names, if any. A
// Verifier decides whether the key is trusted.
func (c *Commit) Signer() (Key, error) {
	key, signature, err := splitSignature(c.Signature)
	if err != nil {
		return Key{}, err
	}
	// Verify requires S below the group's order and compares encodings, without cofactor.
	if !ed25519.Verify(key[:], signedMessage(c.Unsigned()), signature) {
		return key, fmt.Errorf("%w: it is not of this commit", ErrSignature)
	}
	return key, nil
}

// splitSignature returns the key in a signature and the Ed25519 signature.
func splitSignature(s []byte) (Key, []byte, error) {
	switch {
	case len(s) == 0:
		return Key{}, nil, ErrUnsigned
	case s[0] != algorithmEd25519:
		return Key{}, nil, fmt.Errorf("%w: unknown algorithm %d", ErrSignature, s[0])
	case len(s) != SignatureLen:
		return Key{}, nil, fmt.Errorf("%w: %d bytes, want %d", ErrSignature, len(s), SignatureLen)
	}
	key := Key(s[1 : 1+KeyLen])
	if err := key.Validate(); err != nil {
		return Key{}, nil, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	return key, s[1+KeyLen:], nil
}

// SignatureState is a Verifier's judgment of a commit's signature.
type SignatureState string

const (
	Signed    SignatureState = "signed"    // it holds, by a trusted key
	Untrusted SignatureState = "untrusted" // it holds, by a key that is not trusted
	Revoked   SignatureState = "revoked"   // it holds, by a key that was revoked
	Unsigned  SignatureState = "unsigned"  // no signature
	Bad       SignatureState = "bad"       // it does not hold
)

// SignatureStates returns all states, best first.
func SignatureStates() []SignatureState {
	return []SignatureState{Signed, Untrusted, Unsigned, Revoked, Bad}
}

// Trust is a Verifier's judgment of a key.
type Trust struct {
	State  SignatureState // Signed, Untrusted or Revoked, of a signature that holds
	Name   string         // of the key's owner as the verifier knows it, "" for none
	Reason string         // of a revocation, "" for none
}

// Verifier decides which keys are trusted.
type Verifier interface {
	// Trust judges the key of a valid signature on a commit with the given time. The time is the signer's claim.
	Trust(key Key, at graph.Time) Trust
}

// Verdict is the judgment of a commit's signature, and the reason.
type Verdict struct {
	State  SignatureState
	Key    Key    // that made the signature, zero unless it holds
	Name   string // of the key's owner, "" for none
	Reason string // why it is bad or revoked, "" for none
}

// Verify judges the signature of a commit. Without a verifier no key is trusted.
func Verify(c *Commit, v Verifier) Verdict {
	key, err := c.Signer()
	switch {
	case errors.Is(err, ErrUnsigned):
		return Verdict{State: Unsigned}
	case err != nil:
		return Verdict{State: Bad, Reason: err.Error()}
	case v == nil:
		return Verdict{State: Untrusted, Key: key}
	}
	t := v.Trust(key, c.Time)
	return Verdict{t.State, key, t.Name, t.Reason}
}
