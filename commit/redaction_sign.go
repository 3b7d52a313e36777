package commit

import (
	"crypto/ed25519"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/ipld"
)

const (
	// redactionSignature is the field of a redaction's signature, which every version preserves: algorithm, key and
	// Ed25519 signature as in a commit, over redactionDomain, the CID of the erased block and the record without
	// the field.
	redactionSignature = "signature"
	redactionDomain    = "mnem:redaction:"
)

// Sign signs a redaction of a block. If that fails, the redaction is unchanged.
func (r *Redaction) Sign(c ipld.CID, sign SignFunc) error {
	message := r.message(c)
	signature, err := sign(message)
	if err != nil {
		return fmt.Errorf("sign redaction: %w", err)
	}
	extra := slices.DeleteFunc(slices.Clone(r.Extra), isRedactionSignature)
	extra = append(extra, ipld.Entry{Key: redactionSignature, Value: ipld.BytesValue(signature)})
	ipld.SortEntries(extra)
	signed := *r
	signed.Extra = extra
	if _, err := signed.Signer(c); err != nil {
		return fmt.Errorf("sign redaction: signer gave a %w", err)
	}
	r.Extra = extra
	return nil
}

// Signer verifies the signature of a redaction of a block and returns the key that made it. It returns ErrUnsigned
// if there is none, and an error that wraps ErrSignature if it is invalid.
func (r *Redaction) Signer(c ipld.CID) (Key, error) {
	i := slices.IndexFunc(r.Extra, isRedactionSignature)
	if i < 0 {
		return Key{}, ErrUnsigned
	}
	v := r.Extra[i].Value
	if v.Kind() != ipld.Bytes {
		return Key{}, fmt.Errorf("%w: it is no bytes", ErrSignature)
	}
	key, signature, err := splitSignature(v.Data())
	if err != nil {
		return key, err
	}
	if !ed25519.Verify(key[:], signedMessage(r.message(c)), signature) {
		return key, fmt.Errorf("%w: it is not of this redaction", ErrSignature)
	}
	return key, nil
}

func isRedactionSignature(e ipld.Entry) bool { return e.Key == redactionSignature }

// message returns the signed bytes.
func (r *Redaction) message(c ipld.CID) []byte {
	bare := *r
	bare.Extra = slices.DeleteFunc(slices.Clone(r.Extra), isRedactionSignature)
	return append(append([]byte(redactionDomain), c.Bytes()...), bare.Encode()...)
}
