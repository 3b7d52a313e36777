package commit

import (
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

var operationFields = []string{
	"v", "seq", "kind", "skip", "time", "view", "actor", "parent", "redoes", "undoes", "command",
	"horizon",
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
func (o *Operation) Validate() error {
	if err := o.check(); err != nil {
		return err
	}
	return fits(o.Encode())
}

func (o *Operation) check() error {
	err := firstError(
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
	return firstError(checkOptLink("parent", o.Parent), checkOptLink("skip", o.Skip),
		checkOptLink("undoes", o.Undoes), checkOptLink("redoes", o.Redoes))
}

// Encode returns the block of a valid operation.
func (o *Operation) Encode() []byte {
	w := ipld.NewRecord(make([]byte, 0, 320), o.Extra)
	w.Version(recordVersion)
	w.Int("seq", int64(o.Seq))
	w.Kind(KindOperation)
	w.OptLink("skip", o.Skip)
	w.Int("time", int64(o.Time))
	w.Link("view", o.View)
	w.String("actor", o.Actor)
	w.OptLink("parent", o.Parent)
	w.OptLink("redoes", o.Redoes)
	w.OptLink("undoes", o.Undoes)
	w.Append("command", func(b []byte) []byte {
		b = ipld.AppendList(b, len(o.Command))
		for _, word := range o.Command {
			b = ipld.AppendString(b, word)
		}
		return b
	})
	if o.Horizon != 0 {
		w.Int("horizon", int64(o.Horizon))
	}
	return w.Finish()
}

// DecodeOperation decodes the block of an operation. It returns an error that wraps ipld.ErrInvalid for everything
// that Encode cannot have written. The operation keeps no reference to block.
func DecodeOperation(block []byte) (*Operation, error) {
	var dec operationDecoder
	extra, err := ipld.DecodeRecord(block, KindOperation, recordVersion, dec.field)
	if err != nil {
		return nil, err
	}
	dec.o.Extra = extra
	if err := firstError(missing(dec.seen, "time"), dec.o.check()); err != nil {
		return nil, decodeProblem(KindOperation, err)
	}
	return &dec.o, nil
}

type operationDecoder struct {
	o    Operation
	seen uint // bits of the required fields whose zero values are valid
}

func (dec *operationDecoder) field(key string, d *ipld.Decoder) (known bool, err error) {
	o := &dec.o
	switch key {
	case "seq":
		o.Seq, err = decodeCount(d)
	case "skip":
		o.Skip, err = d.Link()
	case "time":
		dec.seen |= 1
		o.Time, err = decodeTime(d)
	case "view":
		o.View, err = d.Link()
	case "actor":
		o.Actor, err = d.String()
	case "parent":
		o.Parent, err = d.Link()
	case "redoes":
		o.Redoes, err = d.Link()
	case "undoes":
		o.Undoes, err = d.Link()
	case "horizon":
		o.Horizon, err = decodeCount(d)
	case "command":
		o.Command, err = decodeCommand(d)
	default:
		return false, nil
	}
	return true, err
}

func decodeCommand(d *ipld.Decoder) ([]string, error) {
	n, err := d.List()
	if err != nil {
		return nil, err
	}
	if n > MaxCommand {
		return nil, d.Errorf("%d words, limit %d", n, MaxCommand)
	}
	words := make([]string, n)
	for i := range words {
		if words[i], err = d.String(); err != nil {
			return nil, err
		}
	}
	return words, nil
}
