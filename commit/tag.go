package commit

import (
	"context"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// KindTag is the kind of a tag's record.
const KindTag = "tag"

// Tag is an annotated tag: a name given to a commit, by whom and why. A plain tag is just a ref.
type Tag struct {
	Target  ipld.CID // a commit
	Name    string   // as graph.ValidateName wants it
	Tagger  string   // 1 to graph.MaxActor bytes without control characters
	Time    graph.Time
	Message Message
	Extra   []ipld.Entry // unknown fields in canonical order
}

var tagFields = []string{"v", "kind", "name", "time", "tagger", "target", "message"}

// Validate returns a *graph.FieldError unless t satisfies every rule and limit of the format. Only a valid tag may
// be encoded.
func (t *Tag) Validate() error {
	if err := t.check(); err != nil {
		return err
	}
	return fits(t.Encode())
}

func (t *Tag) check() error {
	return firstError(
		graph.CheckLink("target", t.Target, ipld.DagCBOR),
		checkTagName(t.Name),
		graph.CheckLine("tagger", t.Tagger, 1, graph.MaxActor),
		graph.CheckTime("time", t.Time),
		t.Message.check(),
		graph.CheckExtra(t.Extra, tagFields),
	)
}

func checkTagName(name string) error {
	if err := graph.ValidateName(name); err != nil {
		return graph.Fieldf("name", "%v", err)
	}
	return nil
}

// Encode returns the block of a valid tag.
func (t *Tag) Encode() []byte {
	w := ipld.NewRecord(make([]byte, 0, 160+len(t.Message.Text)), t.Extra)
	w.Version(recordVersion)
	w.Kind(KindTag)
	w.String("name", t.Name)
	w.Int("time", int64(t.Time))
	w.String("tagger", t.Tagger)
	w.Link("target", t.Target)
	t.Message.write(w)
	return w.Finish()
}

// DecodeTag decodes the block of a tag. It returns an error that wraps ipld.ErrInvalid for everything that Encode
// cannot have written. The tag keeps no reference to block.
func DecodeTag(block []byte) (*Tag, error) {
	var dec tagDecoder
	extra, err := ipld.DecodeRecord(block, KindTag, recordVersion, dec.field)
	if err != nil {
		return nil, err
	}
	dec.t.Extra = extra
	if err := firstError(missing(dec.seen, "time", "message"), dec.t.check()); err != nil {
		return nil, decodeProblem(KindTag, err)
	}
	return &dec.t, nil
}

type tagDecoder struct {
	t    Tag
	seen uint // bits of the required fields whose zero values are valid
}

func (dec *tagDecoder) field(key string, d *ipld.Decoder) (known bool, err error) {
	t := &dec.t
	switch key {
	case "name":
		t.Name, err = d.String()
	case "time":
		dec.seen |= 1
		t.Time, err = decodeTime(d)
	case "tagger":
		t.Tagger, err = d.String()
	case "target":
		t.Target, err = d.Link()
	case "message":
		dec.seen |= 2
		t.Message, err = decodeMessage(d)
	default:
		return false, nil
	}
	return true, err
}

// ReadTag fetches and decodes a tag.
func ReadTag(ctx context.Context, g store.Getter, c ipld.CID) (*Tag, error) {
	return read(ctx, g, c, KindTag, DecodeTag)
}
