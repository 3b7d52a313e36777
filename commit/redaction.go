package commit

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// KindRedaction is the kind of a redaction's record.
	KindRedaction = "redaction"
	// MaxReason is the longest reason of a redaction in bytes.
	MaxReason = 4096
)

// Erased is the kind of a redacted block.
type Erased string

const (
	ErasedNode      Erased = "node"      // a version of the node
	ErasedContent   Erased = "content"   // a chunk of its content
	ErasedEmbedding Erased = "embedding" // a vector of it
	ErasedDigest    Erased = "digest"    // a text that a model wrote of it and of others
	ErasedQuery     Erased = "query"     // the text of a recorded request
	ErasedMessage   Erased = "message"   // the message of a commit, merge or tag
	ErasedEdge      Erased = "edge"      // an edge, except what Redaction.Left has
	ErasedMark      Erased = "mark"      // a mark, except what Redaction.Left has
)

var erased = []Erased{
	ErasedNode, ErasedContent, ErasedEmbedding, ErasedDigest, ErasedQuery, ErasedMessage, ErasedEdge,
	ErasedMark,
}

// Redaction is the stub that the store keeps under the CID of an erased block.
type Redaction struct {
	What   Erased     `json:"what" shape:"node|content|embedding|digest|query|message|edge|mark"`
	Node   graph.ID   `json:"node" shape:"null"`   // the purged node; zero if none was
	Reason string     `json:"reason" shape:"null"` // at most MaxReason bytes; may be ""
	Time   graph.Time `json:"time"`
	Actor  string     `json:"actor"` // 1 to graph.MaxActor bytes without control characters
	// Left is the record that is read in place of an erased edge or mark (Bare): what the trees contain of an edge
	// anyway, or the state of a mark. Nil for all others.
	Left  []byte       `json:"-"`
	Extra []ipld.Entry `json:"-"`
}

var redactionFields = ipld.FieldNames(new(Redaction).fields)

func (r *Redaction) fields(rec *ipld.Record) {
	rec.Begin(KindRedaction, recordVersion, &r.Extra)
	if rec.Has("left", r.Left != nil) {
		rec.Field("left", func(b []byte) []byte { return append(b, r.Left...) }, func(d *ipld.Decoder) error {
			item, err := d.Item()
			r.Left = bytes.Clone(item)
			return err
		})
	}
	if rec.Has("node", !r.Node.IsZero()) {
		rec.Fixed("node", r.Node[:])
		rec.Refuse(r.Node.IsZero(), "zero id")
	}
	rec.Int("time", (*int64)(&r.Time))
	rec.String("what", (*string)(&r.What))
	rec.String("actor", &r.Actor)
	rec.OptString("reason", &r.Reason)
}

// String says why, when and by whom, for callers that request the erased block.
func (r *Redaction) String() string {
	if r.Reason == "" {
		return fmt.Sprintf("redacted: %s, %s", r.Time, r.Actor)
	}
	return fmt.Sprintf("redacted: %s, %s, %s", r.Reason, r.Time, r.Actor)
}

// Validate returns a *graph.FieldError unless r satisfies every rule and limit of the format. Only a valid
// redaction may be encoded.
func (r *Redaction) Validate() error { return validate(r.check, r.Encode) }

func (r *Redaction) check() error {
	if !slices.Contains(erased, r.What) {
		return graph.Fieldf("what", "%q is none of %v", r.What, erased)
	}
	return cmp.Or(
		graph.CheckLine("actor", r.Actor, 1, graph.MaxActor),
		graph.CheckTime("time", r.Time),
		graph.CheckText("reason", r.Reason, 0, MaxReason),
		graph.CheckExtra(r.Extra, redactionFields),
		r.checkLeft(),
	)
}

// checkLeft returns an error unless Left is exactly the required remainder of the block.
func (r *Redaction) checkLeft() error {
	var bare []byte
	switch r.What {
	case ErasedEdge:
		e, err := graph.DecodeEdge(r.Left)
		if err != nil {
			return graph.Fieldf("left", "%v", err)
		}
		bare = e.Bare().Encode()
	case ErasedMark:
		m, err := graph.DecodeMark(r.Left)
		if err != nil {
			return graph.Fieldf("left", "%v", err)
		}
		bare = m.Bare().Encode()
	}
	if !bytes.Equal(r.Left, bare) {
		return graph.Fieldf("left", "not what is left of what is %q", r.What)
	}
	return nil
}

// Left returns the record that is read in place of an erased edge or mark if err says that it was erased; otherwise
// it returns err.
func Left(err error) ([]byte, error) {
	var gone *store.RedactedError
	if !errors.As(err, &gone) {
		return nil, err
	}
	rec, bad := DecodeRedaction(gone.Stub)
	if bad != nil {
		return nil, fmt.Errorf("redaction of %s: %w: %w", gone.CID, store.ErrCorrupt, bad)
	}
	if rec.Left == nil {
		return nil, err
	}
	return rec.Left, nil
}

// Encode returns the bytes of a valid redaction.
func (r *Redaction) Encode() []byte { return ipld.WriteRecord(128, r.fields) }

// DecodeRedaction decodes a redaction. It returns an error that wraps ipld.ErrInvalid for everything that Encode
// cannot have written. The redaction keeps no reference to stub.
func DecodeRedaction(stub []byte) (*Redaction, error) {
	r := new(Redaction)
	return ipld.ReadRecord(stub, r, r.fields, r.check)
}

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
