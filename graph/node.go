package graph

import (
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

var nodeFields = []string{
	"v", "id", "key", "cues", "kind", "type", "props", "content", "context", "created", "sources",
	"summary", "updated", "validTo", "validFrom",
}

// Validate returns a *FieldError unless n satisfies every rule and limit of the format. Only a valid node may be
// encoded.
func (n *Node) Validate() error {
	var m meter
	err := firstError(
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
func (n *Node) Encode() []byte { return n.append(true) }

// Canonical returns the bytes that decide whether two nodes hold the same fact: the record without id, created and
// updated.
func (n *Node) Canonical() []byte { return n.append(false) }

func (n *Node) append(identity bool) []byte {
	room := 256 + len(n.Key) + len(n.Type) + len(n.Summary) + len(n.Context) + 32*len(n.Props)
	if n.Content != nil {
		room += 64 + len(n.Content.Text)
	}
	w := ipld.NewRecord(make([]byte, 0, room), n.Extra)
	w.Version(recordVersion)
	if identity {
		w.Bytes("id", n.ID[:])
	}
	w.OptString("key", n.Key)
	writeTexts(w, "cues", n.Cues)
	w.Kind(KindNode)
	w.String("type", n.Type)
	writeProps(w, n.Props)
	if n.Content != nil {
		w.Append("content", n.Content.write)
	}
	w.OptString("context", n.Context)
	if identity {
		w.Int("created", int64(n.Created))
	}
	writeTexts(w, "sources", n.Sources)
	w.OptString("summary", n.Summary)
	if identity {
		writeOptTime(w, "updated", n.Updated)
	}
	writeOptTime(w, "validTo", n.ValidTo)
	writeOptTime(w, "validFrom", n.ValidFrom)
	return w.Finish()
}

// DecodeNode decodes the block of a node. It returns an error that wraps ipld.ErrInvalid for everything that Encode
// cannot have written. The node keeps no reference to block.
func DecodeNode(block []byte) (*Node, error) {
	var dec nodeDecoder
	extra, err := ipld.DecodeRecord(block, KindNode, recordVersion, dec.field)
	if err != nil {
		return nil, err
	}
	dec.n.Extra = extra
	if err := firstError(missing(dec.seen, "props", "created"), dec.n.Validate()); err != nil {
		return nil, decodeProblem(KindNode, err)
	}
	return &dec.n, nil
}

type nodeDecoder struct {
	n    Node
	seen uint // bits of the required fields whose zero values are valid
}

func (dec *nodeDecoder) field(key string, d *ipld.Decoder) (known bool, err error) {
	n := &dec.n
	switch key {
	case "id":
		n.ID, err = decodeID(d)
	case "key":
		n.Key, err = decodeText(d)
	case "cues":
		n.Cues, err = decodeTexts(d, MaxCues)
	case "type":
		n.Type, err = d.String()
	case "props":
		dec.seen |= 1
		n.Props, err = decodeEntries(d)
	case "content":
		n.Content, err = decodeContent(d)
	case "context":
		n.Context, err = decodeText(d)
	case "created":
		dec.seen |= 2
		n.Created, err = decodeTime(d)
	case "sources":
		n.Sources, err = decodeTexts(d, MaxSources)
	case "summary":
		n.Summary, err = decodeText(d)
	case "updated":
		n.Updated, err = decodeOptTime(d)
	case "validTo":
		n.ValidTo, err = decodeOptTime(d)
	case "validFrom":
		n.ValidFrom, err = decodeOptTime(d)
	default:
		return false, nil
	}
	return true, err
}
