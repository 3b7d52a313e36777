package commit

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
)

const (
	// KeyLen is the length of a key and of a seed in bytes.
	KeyLen = 32
	// KeyPrefix begins the text form of a key, SecretPrefix that of a secret.
	KeyPrefix    = "mnem-ed25519-"
	SecretPrefix = "mnem-ed25519-secret-"

	// algorithmEd25519 is the first byte of a signature: Ed25519 of RFC 8032. Numbers are only ever added.
	algorithmEd25519 = 1

	// checkLen is the number of check bytes in text forms: with the 32 bytes of a key they fill 56 digits exactly,
	// so that no digit has spare bits.
	checkLen = 3
	// printLen is the number of bytes in a fingerprint, four groups of four digits: enough to distinguish keys, too
	// few to identify one securely.
	printLen   = 10
	printGroup = 4

	keyDomain    = "mnem:key:"
	secretDomain = "mnem:secret:"
	printDomain  = "mnem:fingerprint:"
)

var digits = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// Key is a public key of Ed25519: the encoding of a point. The zero Key is none.
type Key [KeyLen]byte

// ParseKey reads the text form of a key: mnem-ed25519- and 56 digits. It returns a
// *graph.FieldError for everything that Key.String cannot have written of a valid key.
func ParseKey(text string) (Key, error) {
	if strings.HasPrefix(text, SecretPrefix) {
		return Key{}, graph.Fieldf("key", "is a secret, not the key that belongs to it")
	}
	raw, err := parseKeyText(text, "key", KeyPrefix, keyDomain)
	if err != nil {
		return Key{}, err
	}
	k := Key(raw)
	return k, k.Validate()
}

// String returns the text form.
func (k Key) String() string { return keyText(k[:], KeyPrefix, keyDomain) }

// IsZero reports whether k is no key.
func (k Key) IsZero() bool { return k == Key{} }

// Fingerprint returns a short name of the key for people: four groups of four digits. It does not identify the key:
// with enough effort another key with the same fingerprint can be made.
func (k Key) Fingerprint() string {
	text := digits.EncodeToString(hashKey(printDomain, k[:], printLen))
	groups := slices.Collect(slices.Chunk([]byte(text), printGroup))
	parts := make([]string, len(groups))
	for i, g := range groups {
		parts[i] = string(g)
	}
	return strings.Join(parts, "-")
}

// The prime of the field and, by their y, the points for which anyone can sign: those whose order divides 8.
var (
	prime      = hexNumber("7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed")
	smallOrder = []*big.Int{
		big.NewInt(0), big.NewInt(1),
		hexNumber("7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffec"),
		hexNumber("7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7"),
		hexNumber("05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826"),
	}
)

func hexNumber(s string) *big.Int {
	n, ok := new(big.Int).SetString(s, 16)
	if !ok {
		panic("a constant that is no number")
	}
	return n
}

// Validate returns a *graph.FieldError unless k is the canonical encoding of a point of the curve whose order does
// not divide 8: with such a point, signatures verify that were made without a secret.
func (k Key) Validate() error {
	be := k
	slices.Reverse(be[:])
	be[0] &= 0x7f // the sign of x
	y := new(big.Int).SetBytes(be[:])
	switch {
	case y.Cmp(prime) >= 0:
		return graph.Fieldf("key", "is not the encoding of a point")
	case slices.ContainsFunc(smallOrder, func(s *big.Int) bool { return s.Cmp(y) == 0 }):
		return graph.Fieldf("key", "is a point of small order, for which anyone can sign")
	case !onCurve(y):
		return graph.Fieldf("key", "is not a point of the curve")
	}
	return nil
}

// onCurve reports whether the curve has a point with this y: whether x² = (y² − 1) / (d·y² + 1) with d = −121665/121666
// has a root. Multiplying by a square does not change that, so it tests 121666·(y² − 1)·(121666 − 121665·y²).
func onCurve(y *big.Int) bool {
	one, a, b := big.NewInt(1), big.NewInt(121666), big.NewInt(121665)
	yy := new(big.Int).Mul(y, y)
	u := new(big.Int).Mul(a, new(big.Int).Sub(yy, one))
	v := new(big.Int).Sub(a, new(big.Int).Mul(b, yy))
	square := u.Mul(u, v)
	return big.Jacobi(square.Mod(square, prime), prime) >= 0
}

// Secret is the private half of a key. It prints as a placeholder, whatever the verb.
type Secret struct{ seed [KeyLen]byte }

// NewSecret makes a secret of the next 32 bytes of a source of randomness.
func NewSecret(random io.Reader) (Secret, error) {
	var s Secret
	if _, err := io.ReadFull(random, s.seed[:]); err != nil {
		return Secret{}, fmt.Errorf("read randomness: %w", err)
	}
	return s, nil
}

// ParseSecret reads the text form of a secret: mnem-ed25519-secret- and 56 digits. Its errors are
// *graph.FieldError and show nothing of the text.
func ParseSecret(text string) (Secret, error) {
	raw, err := parseKeyText(text, "secret", SecretPrefix, secretDomain)
	if err != nil {
		return Secret{}, err
	}
	return Secret{[KeyLen]byte(raw)}, nil
}

// Reveal returns the text form. Anyone who has it can sign as the key's owner.
func (s Secret) Reveal() string { return keyText(s.seed[:], SecretPrefix, secretDomain) }

// Key returns the key that belongs to the secret.
func (s Secret) Key() Key { return Key(s.private()[KeyLen:]) }

func (s Secret) private() ed25519.PrivateKey { return ed25519.NewKeyFromSeed(s.seed[:]) }

// Format keeps the secret out of messages and logs.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "(secret)") }

func keyText(raw []byte, prefix, domain string) string {
	return prefix + digits.EncodeToString(append(slices.Clone(raw), hashKey(domain, raw, checkLen)...))
}

func parseKeyText(text, field, prefix, domain string) ([]byte, error) {
	rest, ok := strings.CutPrefix(text, prefix)
	if !ok {
		return nil, graph.Fieldf(field, "does not begin with %s", prefix)
	}
	if len(rest) != digits.EncodedLen(KeyLen+checkLen) {
		return nil, graph.Fieldf(field, "has %d digits, want %d", len(rest), digits.EncodedLen(KeyLen+checkLen))
	}
	raw, err := digits.DecodeString(rest)
	if err != nil || len(raw) != KeyLen+checkLen { // line ends would be skipped
		return nil, graph.Fieldf(field, "has digits other than a to z and 2 to 7")
	}
	raw, check := raw[:KeyLen], raw[KeyLen:]
	if string(hashKey(domain, raw, checkLen)) != string(check) {
		return nil, graph.Fieldf(field, "has a mistake in it: its check digits do not fit")
	}
	return raw, nil
}

// hashKey returns the first n bytes of the hash of a key or seed under a domain.
func hashKey(domain string, raw []byte, n int) []byte {
	sum := sha256.Sum256(append(append([]byte(domain), algorithmEd25519), raw...))
	return sum[:n]
}
