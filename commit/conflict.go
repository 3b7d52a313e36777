package commit

import (
	"cmp"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// KindConflict is the kind of a conflict's record.
	KindConflict = "conflict"
	// MaxConflictFields is the largest number of fields that a conflict names; it names the first ones.
	MaxConflictFields = 512
	// MaxConflictField is the longest name of a field that a conflict names, in bytes: a property name fits. Longer
	// ones are omitted.
	MaxConflictField = 1024
)

// Conflict is one item whose changes on two sides do not merge.
type Conflict struct {
	Item   graph.Item
	Cause  graph.ConflictKind
	Fields []string // that differ, in order, a property as props.NAME
	Base   ipld.CID // the item's record before, undefined if it did not exist
	Ours   ipld.CID // on our side, or undefined
	Theirs ipld.CID // on their side, or undefined
	Extra  []ipld.Entry
}

var conflictFields = ipld.FieldNames(new(Conflict).fields)

func (c *Conflict) fields(r *ipld.Record) {
	r.Begin(KindConflict, recordVersion, &c.Extra)
	r.OptLink("base", &c.Base)
	r.Field("item", func(b []byte) []byte { return ipld.AppendString(b, c.Item.String()) },
		func(d *ipld.Decoder) error {
			text, err := d.String()
			if err != nil {
				return err
			}
			if c.Item, err = graph.ParseItem(text); err != nil {
				return d.Errorf("%v", err)
			}
			return nil
		})
	r.OptLink("ours", &c.Ours)
	r.String("cause", (*string)(&c.Cause))
	r.OptStrings("fields", &c.Fields, MaxConflictFields)
	r.OptLink("theirs", &c.Theirs)
}

var causes = []graph.ConflictKind{
	graph.EditEdit, graph.AddAdd, graph.DeleteModify, graph.EndRemoved, graph.Circle,
}

// Validate returns a *graph.FieldError unless c satisfies every rule and limit of the format. Only a valid conflict
// may be encoded.
func (c *Conflict) Validate() error { return validate(c.check, c.Encode) }

func (c *Conflict) check() error {
	_, err := graph.ParseItem(c.Item.String())
	err = cmp.Or(err, graph.CheckOptLink("base", c.Base), graph.CheckOptLink("ours", c.Ours),
		graph.CheckOptLink("theirs", c.Theirs), graph.CheckExtra(c.Extra, conflictFields))
	switch {
	case err != nil:
		return err
	case !slices.Contains(causes, c.Cause):
		return graph.Fieldf("cause", "%q is none of %v", c.Cause, causes)
	case c.Ours == c.Theirs:
		return graph.Fieldf("theirs", "the same as ours")
	case len(c.Fields) > MaxConflictFields:
		return graph.Fieldf("fields", "%d names, limit %d", len(c.Fields), MaxConflictFields)
	}
	for i, f := range c.Fields {
		if err := graph.CheckText("fields", f, 1, MaxConflictField); err != nil {
			return err
		}
		if i > 0 && c.Fields[i-1] >= f {
			return graph.Fieldf("fields", "%q does not come after %q", f, c.Fields[i-1])
		}
	}
	return nil
}

// SetFields names the fields that conflict, within the limits of the record.
func (c *Conflict) SetFields(names []string) {
	c.Fields = slices.DeleteFunc(slices.Clone(names), func(f string) bool {
		return f == "" || len(f) > MaxConflictField
	})
	slices.Sort(c.Fields)
	c.Fields = slices.Compact(c.Fields)
	c.Fields = c.Fields[:min(len(c.Fields), MaxConflictFields)]
}

// Encode returns the block of a valid conflict.
func (c *Conflict) Encode() []byte { return ipld.WriteRecord(256, c.fields) }

// DecodeConflict decodes the block of a conflict. It returns an error that wraps ipld.ErrInvalid for everything
// that Encode cannot have written. The conflict keeps no reference to block.
func DecodeConflict(block []byte) (*Conflict, error) {
	c := new(Conflict)
	return ipld.ReadRecord(block, c, c.fields, c.check)
}
