package commit

import (
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// KindRedaction is the kind of a redaction's record.
	KindRedaction = "redaction"
	// MaxReason is the longest reason of a redaction in bytes.
	MaxReason = 4096
)

// Erased says what a redacted block was.
type Erased string

const (
	ErasedNode      Erased = "node"      // a version of the node
	ErasedContent   Erased = "content"   // a chunk of its content
	ErasedEmbedding Erased = "embedding" // a vector of it
	ErasedQuery     Erased = "query"     // the text of a recorded request
)

var erased = []Erased{ErasedNode, ErasedContent, ErasedEmbedding, ErasedQuery}

// Redaction is what is left of an erased block: the stub that the store keeps under its CID.
type Redaction struct {
	What   Erased
	Node   graph.ID // that was purged; zero where none was
	Actor  string   // 1 to graph.MaxActor bytes without control characters
	Time   graph.Time
	Reason string // at most MaxReason bytes; may be ""
	Extra  []ipld.Entry
}

var redactionFields = []string{"v", "kind", "node", "time", "what", "actor", "reason"}

// String says why, when and by whom, for whoever asks for what is gone.
func (r *Redaction) String() string {
	if r.Reason == "" {
		return fmt.Sprintf("redacted: %s, %s", r.Time, r.Actor)
	}
	return fmt.Sprintf("redacted: %s, %s, %s", r.Reason, r.Time, r.Actor)
}

// Validate returns a *graph.FieldError unless r keeps every rule and limit of the format. Only a
// valid redaction may be encoded.
func (r *Redaction) Validate() error {
	if err := r.check(); err != nil {
		return err
	}
	return fits(r.Encode())
}

func (r *Redaction) check() error {
	if !slices.Contains(erased, r.What) {
		return graph.Fieldf("what", "%q is none of %v", r.What, erased)
	}
	return firstError(
		graph.CheckLine("actor", r.Actor, 1, graph.MaxActor),
		graph.CheckTime("time", r.Time),
		graph.CheckText("reason", r.Reason, 0, MaxReason),
		graph.CheckExtra(r.Extra, redactionFields),
	)
}

// Encode returns the bytes of a valid redaction.
func (r *Redaction) Encode() []byte {
	w := ipld.NewRecord(make([]byte, 0, 128), r.Extra)
	w.Version(recordVersion)
	w.Kind(KindRedaction)
	if !r.Node.IsZero() {
		w.Bytes("node", r.Node[:])
	}
	w.Int("time", int64(r.Time))
	w.String("what", string(r.What))
	w.String("actor", r.Actor)
	w.OptString("reason", r.Reason)
	return w.Finish()
}

// DecodeRedaction reads a redaction. It returns an error that wraps ipld.ErrInvalid for everything
// that Encode cannot have written. The redaction keeps no part of stub.
func DecodeRedaction(stub []byte) (*Redaction, error) {
	r, seen := new(Redaction), uint(0)
	extra, err := ipld.DecodeRecord(stub, KindRedaction, recordVersion,
		func(key string, d *ipld.Decoder) (known bool, err error) {
			switch key {
			case "node":
				if r.Node, err = decodeID(d); err == nil && r.Node.IsZero() {
					err = d.Errorf("zero id")
				}
			case "time":
				seen |= 1
				r.Time, err = decodeTime(d)
			case "what":
				var what string
				what, err = d.String()
				r.What = Erased(what)
			case "actor":
				r.Actor, err = d.String()
			case "reason":
				if r.Reason, err = d.String(); err == nil && r.Reason == "" {
					err = d.Errorf("empty reason")
				}
			default:
				return false, nil
			}
			return true, err
		})
	if err != nil {
		return nil, err
	}
	r.Extra = extra
	if err := firstError(missing(seen, "time"), r.check()); err != nil {
		return nil, decodeProblem(KindRedaction, err)
	}
	return r, nil
}
