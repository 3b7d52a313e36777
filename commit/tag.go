package commit

import (
	"cmp"
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

var tagFields = ipld.FieldNames(new(Tag).fields)

func (t *Tag) fields(r *ipld.Record) {
	r.Begin(KindTag, recordVersion, &t.Extra)
	r.String("name", &t.Name)
	r.Int("time", (*int64)(&t.Time))
	r.String("tagger", &t.Tagger)
	r.Link("target", &t.Target)
	t.Message.field(r)
}

// Validate returns a *graph.FieldError unless t satisfies every rule and limit of the format. Only a valid tag may
// be encoded.
func (t *Tag) Validate() error { return validate(t.check, t.Encode) }

func (t *Tag) check() error {
	return cmp.Or(
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
func (t *Tag) Encode() []byte { return ipld.WriteRecord(160+len(t.Message.Text), t.fields) }

// DecodeTag decodes the block of a tag. It returns an error that wraps ipld.ErrInvalid for everything that Encode
// cannot have written. The tag keeps no reference to block.
func DecodeTag(block []byte) (*Tag, error) {
	t := new(Tag)
	return ipld.ReadRecord(block, t, t.fields, t.check)
}

// ReadTag fetches and decodes a tag.
func ReadTag(ctx context.Context, g store.Getter, c ipld.CID) (*Tag, error) {
	return read(ctx, g, c, KindTag, DecodeTag)
}
