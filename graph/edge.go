package graph

import "github.com/mnem-project/mnem/ipld"

// KindEdge is the kind of an edge's record.
const KindEdge = "edge"

// Edge is one state of an edge. Like a Node's, its slices must not be modified.
type Edge struct {
	ID        ID
	Type      string // 1 to MaxType bytes
	Src, Dst  ID     // nodes; equal for a self-loop
	Key       string // distinguishes parallel edges, "" for none
	Weight    uint32 // 1 to MaxWeight, in units of 2^-16
	Props     []ipld.Entry
	Created   Time
	ValidFrom OptTime // inclusive
	ValidTo   OptTime // exclusive, after ValidFrom
	Sources   []string
	Extra     []ipld.Entry // unknown fields in canonical order
}

var edgeFields = []string{
	"v", "id", "dst", "key", "src", "kind", "type", "props", "weight", "created", "sources",
	"validTo", "validFrom",
}

// Validate returns a *FieldError unless e satisfies every rule and limit of the format. Only a valid edge may be
// encoded.
func (e *Edge) Validate() error {
	var m meter
	err := firstError(
		checkID("id", e.ID),
		checkID("src", e.Src),
		checkID("dst", e.Dst),
		checkName("type", e.Type, MaxType),
		e.checkKey(),
		checkWeight(e.Weight),
		CheckTime("created", e.Created),
		checkSpan(e.ValidFrom, e.ValidTo),
		checkSources(e.Sources),
		m.props(e.Props),
		m.extra(e.Extra, edgeFields),
	)
	if err != nil {
		return err
	}
	m.text(e.Key, e.Type)
	m.text(e.Sources...)
	return m.fits(e.Encode)
}

func (e *Edge) checkKey() error {
	if e.Key == "" {
		return nil
	}
	if err := checkName("key", e.Key, MaxKey); err != nil {
		return err
	}
	if want := EdgeID(e.Src, e.Type, e.Dst, e.Key); e.ID != want {
		return Fieldf("id", "%s, but type, ends and key have %s", e.ID, want)
	}
	return nil
}

func checkWeight(w uint32) error {
	if w < 1 || w > MaxWeight {
		return Fieldf("weight", "%d is outside 1 to %d", w, MaxWeight)
	}
	return nil
}

// Bare returns the remainder of an erased edge: what the trees of a graph contain anyway, and its times.
func (e *Edge) Bare() *Edge {
	return &Edge{
		ID: e.ID, Type: e.Type, Src: e.Src, Dst: e.Dst, Weight: e.Weight, Created: e.Created,
		ValidFrom: e.ValidFrom, ValidTo: e.ValidTo,
	}
}

// Encode returns the block of a valid edge.
func (e *Edge) Encode() []byte {
	w := ipld.NewRecord(make([]byte, 0, 256+len(e.Key)+len(e.Type)+32*len(e.Props)), e.Extra)
	w.Version(recordVersion)
	w.Bytes("id", e.ID[:])
	w.Bytes("dst", e.Dst[:])
	w.OptString("key", e.Key)
	w.Bytes("src", e.Src[:])
	w.Kind(KindEdge)
	w.String("type", e.Type)
	writeProps(w, e.Props)
	w.Int("weight", int64(e.Weight))
	w.Int("created", int64(e.Created))
	writeTexts(w, "sources", e.Sources)
	writeOptTime(w, "validTo", e.ValidTo)
	writeOptTime(w, "validFrom", e.ValidFrom)
	return w.Finish()
}

// DecodeEdge decodes the block of an edge. It returns an error that wraps ipld.ErrInvalid for everything that
// Encode cannot have written. The edge keeps no reference to block.
func DecodeEdge(block []byte) (*Edge, error) {
	var dec edgeDecoder
	extra, err := ipld.DecodeRecord(block, KindEdge, recordVersion, dec.field)
	if err != nil {
		return nil, err
	}
	dec.e.Extra = extra
	if err := firstError(missing(dec.seen, "props", "created"), dec.e.Validate()); err != nil {
		return nil, decodeProblem(KindEdge, err)
	}
	return &dec.e, nil
}

type edgeDecoder struct {
	e    Edge
	seen uint // bits of the required fields whose zero values are valid
}

func (dec *edgeDecoder) field(key string, d *ipld.Decoder) (known bool, err error) {
	e := &dec.e
	switch key {
	case "id":
		e.ID, err = decodeID(d)
	case "dst":
		e.Dst, err = decodeID(d)
	case "key":
		e.Key, err = decodeText(d)
	case "src":
		e.Src, err = decodeID(d)
	case "type":
		e.Type, err = d.String()
	case "props":
		dec.seen |= 1
		e.Props, err = decodeEntries(d)
	case "weight":
		e.Weight, err = decodeUint32(d)
	case "created":
		dec.seen |= 2
		e.Created, err = decodeTime(d)
	case "sources":
		e.Sources, err = decodeTexts(d, MaxSources)
	case "validTo":
		e.ValidTo, err = decodeOptTime(d)
	case "validFrom":
		e.ValidFrom, err = decodeOptTime(d)
	default:
		return false, nil
	}
	return true, err
}
