package graph

import (
	"cmp"

	"github.com/mnem-project/mnem/ipld"
)

// KindNode is the kind of a node's record.
const KindNode = "node"

// Node is one state of a node. The slices of a decoded or encoded Node must not be modified: copies share them.
type Node struct {
	ID        ID
	Key       string       // "" for none; otherwise ID is NodeID(Key)
	Type      string       // 1 to MaxType bytes
	Summary   string       // "" for none
	Context   string       // one sentence that places the node, "" for none
	Cues      []string     // words under which somebody may look for it, nil for none
	Props     []ipld.Entry // in canonical order
	Content   *Content     // nil for none
	Created   Time
	Updated   OptTime // absent if it would equal Created
	ValidFrom OptTime // inclusive
	ValidTo   OptTime // exclusive, after ValidFrom
	Sources   []string
	Extra     []ipld.Entry // unknown fields in canonical order
}

var nodeFields = ipld.FieldNames(new(Node).fields)

func (n *Node) fields(r *ipld.Record) { n.fieldsOf(r, true) }

// fieldsOf names the fields, with or without those that are no part of the fact.
func (n *Node) fieldsOf(r *ipld.Record, identity bool) {
	r.Begin(KindNode, recordVersion, &n.Extra)
	if identity {
		r.Fixed("id", n.ID[:])
	}
	r.OptString("key", &n.Key)
	r.OptStrings("cues", &n.Cues, MaxCues)
	r.String("type", &n.Type)
	r.Entries("props", &n.Props)
	if r.Has("content", n.Content != nil) {
		if r.Reading() {
			n.Content = new(Content)
		}
		r.Map("content", n.Content.fields)
	}
	r.OptString("context", &n.Context)
	if identity {
		r.Int("created", (*int64)(&n.Created))
	}
	r.OptStrings("sources", &n.Sources, MaxSources)
	r.OptString("summary", &n.Summary)
	if identity {
		optTime(r, "updated", &n.Updated)
	}
	optTime(r, "validTo", &n.ValidTo)
	optTime(r, "validFrom", &n.ValidFrom)
}

// Validate returns a *FieldError unless n satisfies every rule and limit of the format. Only a valid node may be
// encoded.
func (n *Node) Validate() error {
	var m meter
	err := cmp.Or(
		checkID("id", n.ID),
		n.checkKey(),
		checkName("type", n.Type, MaxType),
		CheckText("summary", n.Summary, 0, MaxText),
		CheckText("context", n.Context, 0, MaxText),
		checkCues(n.Cues),
		CheckTime("created", n.Created),
		CheckTime("updated", n.Updated.Time),
		checkSpan(n.ValidFrom, n.ValidTo),
		checkSources(n.Sources),
		m.props(n.Props),
		m.extra(n.Extra, nodeFields),
	)
	if err != nil {
		return err
	}
	if n.Updated == At(n.Created) {
		return Fieldf("updated", "must be left out where it equals created")
	}
	if n.Content != nil {
		if err := n.Content.check(&m); err != nil {
			return within("content", err)
		}
	}
	m.text(n.Key, n.Type, n.Summary, n.Context)
	m.text(n.Sources...)
	m.text(n.Cues...)
	return m.fits(n.Encode)
}

func (n *Node) checkKey() error {
	if n.Key == "" {
		return nil
	}
	if err := checkKey("key", n.Key); err != nil {
		return err
	}
	if want := NodeID(n.Key); n.ID != want {
		return Fieldf("id", "%s, but the key %s has %s", n.ID, quote(n.Key), want)
	}
	return nil
}

// Encode returns the block of a valid node.
func (n *Node) Encode() []byte { return ipld.WriteRecord(n.size(), n.fields) }

// Canonical returns the bytes that decide whether two nodes hold the same fact: the record without id, created and
// updated.
func (n *Node) Canonical() []byte {
	return ipld.WriteRecord(n.size(), func(r *ipld.Record) { n.fieldsOf(r, false) })
}

// size returns about the length of the record in bytes.
func (n *Node) size() int {
	size := 256 + len(n.Key) + len(n.Type) + len(n.Summary) + len(n.Context) + 32*len(n.Props)
	if n.Content != nil {
		size += 64 + len(n.Content.Text)
	}
	return size
}

// DecodeNode decodes the block of a node. It returns an error that wraps ipld.ErrInvalid for everything that Encode
// cannot have written. The node keeps no reference to block.
func DecodeNode(block []byte) (*Node, error) {
	n := new(Node)
	return ipld.ReadRecord(block, n, n.fields, n.Validate)
}
