package commit

import (
	"cmp"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// KindOperation is the kind of an operation's record.
	KindOperation = "operation"
	// MaxCommand is the largest number of words of a command.
	MaxCommand = 64
	// MaxWord is the longest word of a command in bytes.
	MaxWord = 255
)

// Operation is one change of refs.
type Operation struct {
	Parent  ipld.CID // the operation before, undefined if Seq is 1
	Seq     uint64   // from 1
	Skip    ipld.CID // the operation of sequence number Skip(Seq), undefined if that is 0
	View    ipld.CID // tree: ref name to link, or to string naming another ref
	Time    graph.Time
	Actor   string   // 1 to graph.MaxActor bytes without control characters
	Command []string // verb, flag names and ids, never values; 1 to MaxCommand words
	Undoes  ipld.CID // the operation, no undo itself, that this one took back; may be undefined
	Redoes  ipld.CID // the undo that this one took back; undefined if Undoes is set
	// Horizon is the least sequence number that is kept: earlier operations may be gone, except the records that
	// Kept names. 0 if none was dropped; otherwise from 2 to Seq, and never less than in the operation before.
	Horizon uint64
	Extra   []ipld.Entry // unknown fields in canonical order
}

var operationFields = ipld.FieldNames(new(Operation).fields)

func (o *Operation) fields(r *ipld.Record) {
	r.Begin(KindOperation, recordVersion, &o.Extra)
	ipld.Number(r, "seq", &o.Seq, 1, graph.MaxCount)
	r.OptLink("skip", &o.Skip)
	r.Int("time", (*int64)(&o.Time))
	r.Link("view", &o.View)
	r.String("actor", &o.Actor)
	r.OptLink("parent", &o.Parent)
	r.OptLink("redoes", &o.Redoes)
	r.OptLink("undoes", &o.Undoes)
	r.Strings("command", &o.Command, 1, MaxCommand)
	if r.Has("horizon", o.Horizon != 0) {
		ipld.Number(r, "horizon", &o.Horizon, 1, graph.MaxCount)
	}
}

// Kept returns, descending, the sequence numbers below a horizon whose operations are kept, though not what they
// lead to: those on the paths of skip links from the horizon on. They are the horizon with its lowest set bits
// cleared one by one.
func Kept(horizon uint64) (seqs []uint64) {
	for seq := horizon & (horizon - 1); seq > 0; seq &= seq - 1 {
		seqs = append(seqs, seq)
	}
	return seqs
}

// Behind reports whether an operation of sequence number seq lies behind the horizon of o.
func (o *Operation) Behind(seq uint64) bool { return seq < max(o.Horizon, 1) }

// Skip returns the sequence number that the skip link of operation seq points to: seq with its lowest set bit
// cleared. It returns 0 for no link, also if the parent is that operation.
func Skip(seq uint64) uint64 {
	if seq%2 == 1 {
		return 0
	}
	return seq & (seq - 1)
}

// Validate returns a *graph.FieldError unless o satisfies every rule and limit that can be checked on the operation
// alone. Only a valid operation may be encoded.
func (o *Operation) Validate() error { return validate(o.check, o.Encode) }

func (o *Operation) check() error {
	err := cmp.Or(
		o.checkLinks(),
		graph.CheckLink("view", o.View, ipld.DagCBOR),
		graph.CheckTime("time", o.Time),
		graph.CheckLine("actor", o.Actor, 1, graph.MaxActor),
		graph.CheckExtra(o.Extra, operationFields),
	)
	if err != nil {
		return err
	}
	if len(o.Command) < 1 || len(o.Command) > MaxCommand {
		return graph.Fieldf("command", "%d words, want 1 to %d", len(o.Command), MaxCommand)
	}
	for _, word := range o.Command {
		if err := graph.CheckText("command", word, 0, MaxWord); err != nil {
			return err
		}
	}
	return nil
}

func (o *Operation) checkLinks() error {
	if o.Seq < 1 || o.Seq > graph.MaxCount {
		return graph.Fieldf("seq", "%d is outside 1 to %d", o.Seq, uint64(graph.MaxCount))
	}
	if (o.Seq > 1) != o.Parent.Defined() {
		return graph.Fieldf("parent", "must be given just where seq is above 1, which is %d", o.Seq)
	}
	if (Skip(o.Seq) != 0) != o.Skip.Defined() {
		return graph.Fieldf("skip", "seq %d skips to %d (0 for no link)", o.Seq, Skip(o.Seq))
	}
	if o.Horizon != 0 && (o.Horizon < 2 || o.Horizon > o.Seq) {
		return graph.Fieldf("horizon", "%d is outside 2 to seq, which is %d", o.Horizon, o.Seq)
	}
	if o.Undoes.Defined() && o.Redoes.Defined() {
		return graph.Fieldf("redoes", "excluded by undoes")
	}
	return cmp.Or(graph.CheckOptLink("parent", o.Parent), graph.CheckOptLink("skip", o.Skip),
		graph.CheckOptLink("undoes", o.Undoes), graph.CheckOptLink("redoes", o.Redoes))
}

// Encode returns the block of a valid operation.
func (o *Operation) Encode() []byte { return ipld.WriteRecord(320, o.fields) }

// DecodeOperation decodes the block of an operation. It returns an error that wraps ipld.ErrInvalid for everything
// that Encode cannot have written. The operation keeps no reference to block.
func DecodeOperation(block []byte) (*Operation, error) {
	o := new(Operation)
	return ipld.ReadRecord(block, o, o.fields, o.check)
}
