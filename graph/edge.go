package graph

import (
	"cmp"
	"math"

	"github.com/mnem-project/mnem/ipld"
)

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

var edgeFields = ipld.FieldNames(new(Edge).fields)

func (e *Edge) fields(r *ipld.Record) {
	r.Begin(KindEdge, recordVersion, &e.Extra)
	r.Fixed("id", e.ID[:])
	r.Fixed("dst", e.Dst[:])
	r.OptString("key", &e.Key)
	r.Fixed("src", e.Src[:])
	r.String("type", &e.Type)
	r.Entries("props", &e.Props)
	ipld.Number(r, "weight", &e.Weight, 0, math.MaxUint32) // Validate is stricter
	r.Int("created", (*int64)(&e.Created))
	r.OptStrings("sources", &e.Sources, MaxSources)
	optTime(r, "validTo", &e.ValidTo)
	optTime(r, "validFrom", &e.ValidFrom)
}

// Validate returns a *FieldError unless e satisfies every rule and limit of the format. Only a valid edge may be
// encoded.
func (e *Edge) Validate() error {
	var m meter
	err := cmp.Or(
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
	return ipld.WriteRecord(256+len(e.Key)+len(e.Type)+32*len(e.Props), e.fields)
}

// DecodeEdge decodes the block of an edge. It returns an error that wraps ipld.ErrInvalid for everything that
// Encode cannot have written. The edge keeps no reference to block.
func DecodeEdge(block []byte) (*Edge, error) {
	e := new(Edge)
	return ipld.ReadRecord(block, e, e.fields, e.Validate)
}
