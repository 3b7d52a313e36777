package graph

import (
	"cmp"
	"slices"

	"github.com/mnem-project/mnem/ipld"
)

// KindMark is the kind of a mark's record.
const KindMark = "mark"

// Target is the kind of a mark's target.
type Target string

// The targets of marks.
const (
	OnNode Target = "node"
	OnEdge Target = "edge"
)

// State is the state that a mark gives its node or edge.
type State string

// The states.
const (
	Stale        State = "stale"
	Superseded   State = "superseded"
	Retired      State = "retired"
	Forgotten    State = "forgotten"
	Expired      State = "expired"
	Contradicted State = "contradicted"
)

var states = []State{Stale, Superseded, Retired, Forgotten, Expired, Contradicted}

// States returns all states, in a fixed order.
func States() []State { return slices.Clone(states) }

// Hides reports whether answers omit nodes and edges in this state unless a request includes it. Stale and
// contradicted ones are shown with their state.
func (s State) Hides() bool { return s == Forgotten || s == Superseded || s == Expired || s == Retired }

// ByOther reports whether a mark of this state may name the node that caused it.
func (s State) ByOther() bool { return s == Superseded || s == Contradicted }

// Mark is the state of one node or edge.
type Mark struct {
	On     Target       `json:"-"`
	ID     ID           `json:"-"`
	State  State        `json:"state"`
	By     ID           `json:"by" shape:"null"`     // the node that supersedes or contradicts, zero for none
	Reason string       `json:"reason" shape:"null"` // "" for none
	Actor  string       `json:"actor"`               // 1 to MaxActor bytes without control characters
	Time   Time         `json:"time"`
	Extra  []ipld.Entry `json:"-"` // unknown fields in canonical order
}

var markFields = ipld.FieldNames(new(Mark).fields)

func (m *Mark) fields(r *ipld.Record) {
	r.Begin(KindMark, recordVersion, &m.Extra)
	if r.Has("by", !m.By.IsZero()) {
		r.Fixed("by", m.By[:])
		r.Refuse(m.By.IsZero(), "the id of all zeros identifies nothing")
	}
	r.Fixed("id", m.ID[:])
	r.String("on", (*string)(&m.On))
	r.Int("time", (*int64)(&m.Time))
	r.String("actor", &m.Actor)
	r.String("state", (*string)(&m.State))
	r.OptString("reason", &m.Reason)
}

// MarkKeyLen is the length of a key in the tree of marks.
const MarkKeyLen = 1 + IDLen

// MarkKey returns the key of a mark in the tree of marks: 'n' or 'e', then the id.
func MarkKey(on Target, id ID) []byte {
	letter := byte('n')
	if on == OnEdge {
		letter = 'e'
	}
	return append([]byte{letter}, id[:]...)
}

// ParseMarkKey reads a key of the tree of marks.
func ParseMarkKey(key []byte) (Target, ID, error) {
	if len(key) != MarkKeyLen || (key[0] != 'n' && key[0] != 'e') {
		return "", ID{}, Fieldf("", "%x is not a key of a mark", key[:min(len(key), MarkKeyLen)])
	}
	on := OnNode
	if key[0] == 'e' {
		on = OnEdge
	}
	return on, ID(key[1:]), nil
}

// Validate returns a *FieldError unless m satisfies every rule and limit of the format. Only a valid mark may be
// encoded.
func (m *Mark) Validate() error {
	var room meter
	err := cmp.Or(
		checkTarget(m.On),
		checkID("id", m.ID),
		checkState(m.State),
		checkBy(m.State, !m.By.IsZero()),
		CheckText("reason", m.Reason, 0, MaxReason),
		CheckLine("actor", m.Actor, 1, MaxActor),
		CheckTime("time", m.Time),
		room.extra(m.Extra, markFields),
	)
	if err != nil {
		return err
	}
	room.text(m.Reason, m.Actor)
	return room.fits(m.Encode)
}

func checkTarget(on Target) error {
	if on != OnNode && on != OnEdge {
		return Fieldf("on", "%s is neither node nor edge", quote(string(on)))
	}
	return nil
}

func checkState(s State) error {
	if s == "" {
		return Fieldf("state", "missing")
	}
	if !slices.Contains(states, s) {
		return Fieldf("state", "%s is none of %v", quote(string(s)), states)
	}
	return nil
}

func checkBy(s State, given bool) error {
	if given && !s.ByOther() {
		return Fieldf("by", "only for %s and %s", Superseded, Contradicted)
	}
	return nil
}

// Bare returns the remainder of an erased mark: everything but its reason and unknown fields, so that its target
// stays hidden.
func (m *Mark) Bare() *Mark {
	return &Mark{On: m.On, ID: m.ID, State: m.State, By: m.By, Actor: m.Actor, Time: m.Time}
}

// Encode returns the block of a valid mark.
func (m *Mark) Encode() []byte { return ipld.WriteRecord(192+len(m.Reason)+len(m.Actor), m.fields) }

// DecodeMark decodes the block of a mark. It returns an error that wraps ipld.ErrInvalid for everything that Encode
// cannot have written. The mark keeps no reference to block.
func DecodeMark(block []byte) (*Mark, error) {
	m := new(Mark)
	return ipld.ReadRecord(block, m, m.fields, m.Validate)
}
