package graph

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mnem-project/mnem/ipld"
)

// Change is one change of the memory: exactly one of the pointers is set. Changes come from lines of JSON (Reader)
// or are filled in by hand; Validate checks both by the same rules.
type Change struct {
	File string // where the change came from, for messages; may be empty
	Line int    // from 1; 0 for a change that is not from a file

	Time OptTime // the current time for this change; absent: the batch's time. Lines cannot set it

	Node      *NodeChange
	Edge      *EdgeChange
	Embedding *EmbeddingChange
	Mark      *MarkChange
	Remove    *Removal
}

// Ref is a reference to a node, by its key or its id. The zero Ref refers to nothing.
type Ref struct {
	Key string
	ID  ID // used if Key is empty
}

// ParseRef reads a reference: a full id in its text form, or else a key.
func ParseRef(s string) (Ref, error) {
	if ShapedLikeID(s) {
		id, err := ParseID(s)
		return Ref{ID: id}, err
	}
	return Ref{Key: s}, checkKey("", s)
}

// Target returns the id of the node that r refers to, zero for the zero Ref.
func (r Ref) Target() ID {
	if r.Key != "" {
		return NodeID(r.Key)
	}
	return r.ID
}

// IsZero reports whether r refers to nothing.
func (r Ref) IsZero() bool { return r == Ref{} }

// String returns what ParseRef reads, "" for the zero Ref.
func (r Ref) String() string {
	if r.Key != "" || r.ID.IsZero() {
		return r.Key
	}
	return r.ID.String()
}

func (r Ref) check(field string) error {
	if r.IsZero() {
		return Fieldf(field, "missing")
	}
	if r.Key == "" {
		return nil
	}
	if err := checkKey(field, r.Key); err != nil || r.ID.IsZero() {
		return err
	}
	return checkAgreement(field, r.ID, NodeID(r.Key))
}

// checkAgreement checks that an id, if given, equals the one derived from the key.
func checkAgreement(field string, given, want ID) error {
	if !given.IsZero() && given != want {
		return Fieldf(field, "id %s, but the key has %s", given, want)
	}
	return nil
}

// EdgeRef is a reference to an edge: by ID, or by type, ends and, if it has one, key.
type EdgeRef struct {
	ID       ID
	Type     string
	Src, Dst Ref
	Key      string
	All      bool // every edge of the type between the ends; only to remove
}

// Target returns the id of the edge that r refers to. It is meaningless if All is set.
func (r *EdgeRef) Target() ID {
	if !r.ID.IsZero() {
		return r.ID
	}
	return EdgeID(r.Src.Target(), r.Type, r.Dst.Target(), r.Key)
}

func (r *EdgeRef) check(all bool) error {
	switch {
	case r.All && !all:
		return Fieldf("all", "only to remove edges")
	case !r.ID.IsZero():
		if *r != (EdgeRef{ID: r.ID}) {
			return Fieldf("id", "excludes the other members")
		}
		return nil
	case r.All && r.Key != "":
		return Fieldf("all", "excludes key")
	}
	return cmp.Or(checkGiven("type", r.Type, MaxType), r.Src.check("src"), r.Dst.check("dst"),
		checkOptName("key", r.Key, MaxKey))
}

// checkGiven checks a required name.
func checkGiven(field, s string, high int) error {
	if s == "" {
		return Fieldf(field, "missing")
	}
	return checkName(field, s, high)
}

func checkOptName(field, s string, high int) error {
	if s == "" {
		return nil
	}
	return checkName(field, s, high)
}

// EmbeddingChange gives a node a vector by a model: Vector or Sparse, not both.
type EmbeddingChange struct {
	Node   Ref
	Model  string
	Vector []float64
	Sparse []SparseWeight
}

// Make returns the embedding. text is the TextHash of the node after the batch.
func (c *EmbeddingChange) Make(text [32]byte) (*Embedding, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if len(c.Vector) > 0 {
		return NewDense(c.Model, c.Vector, text)
	}
	return NewSparse(c.Model, c.Sparse, text)
}

func (c *EmbeddingChange) check() error {
	err := cmp.Or(c.Node.check("node"), checkGiven("model", c.Model, MaxModel))
	if err != nil {
		return err
	}
	if (len(c.Vector) > 0) == (len(c.Sparse) > 0) {
		return Fieldf("", "needs either vector or sparse, not empty")
	}
	if len(c.Vector) > 0 {
		err = checkDense(c.Vector)
	} else {
		_, err = SparseWeights(c.Sparse)
	}
	return err
}

// MarkRef is the target of a mark: a node or an edge.
type MarkRef struct {
	Node Ref
	Edge *EdgeRef // instead of Node
}

// Target returns what r refers to.
func (r MarkRef) Target() (Target, ID) {
	if r.Edge != nil {
		return OnEdge, r.Edge.Target()
	}
	return OnNode, r.Node.Target()
}

func (r MarkRef) check() error {
	if r.Node.IsZero() == (r.Edge == nil) {
		return Fieldf("", "needs either node or edge")
	}
	if r.Edge != nil {
		return within("edge", r.Edge.check(false))
	}
	return r.Node.check("node")
}

// EmbeddingRef is a reference to the embedding of a node by a model.
type EmbeddingRef struct {
	Node  Ref
	Model string
}

// Removal removes one thing: exactly one field is set.
type Removal struct {
	Node      Ref
	Edge      *EdgeRef
	Mark      *MarkRef
	Embedding *EmbeddingRef
}

func (r *Removal) check() error {
	given := 0
	for _, is := range []bool{!r.Node.IsZero(), r.Edge != nil, r.Mark != nil, r.Embedding != nil} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		return Fieldf("", "needs exactly one of node, edge, mark, embedding")
	case r.Edge != nil:
		return within("edge", r.Edge.check(true))
	case r.Mark != nil:
		return within("mark", r.Mark.check())
	case r.Embedding != nil:
		return within("embedding", cmp.Or(r.Embedding.Node.check("node"),
			checkGiven("model", r.Embedding.Model, MaxModel)))
	}
	return r.Node.check("node")
}

// Validate returns a *FieldError, whose Field begins with the kind of the change, unless c satisfies every rule
// that can be checked without the graph.
func (c *Change) Validate() error {
	given := 0
	var err error
	set := func(kind string, is bool, check func() error) {
		if is {
			given++
			err = within(kind, check())
		}
	}
	set("node", c.Node != nil, func() error { return c.Node.check() })
	set("edge", c.Edge != nil, func() error { return c.Edge.check() })
	set("embedding", c.Embedding != nil, func() error { return c.Embedding.check() })
	set("mark", c.Mark != nil, func() error { return c.Mark.check() })
	set("remove", c.Remove != nil, func() error { return c.Remove.check() })
	if given != 1 {
		return Fieldf("", "needs exactly one of node, edge, embedding, mark, remove")
	}
	return cmp.Or(err, CheckTime("time", c.Time.Time))
}

// Now returns the current time for the change, given the batch's time.
func (c *Change) Now(batch Time) Time {
	if c.Time.Given {
		return c.Time.Time
	}
	return batch
}

// LineError names the line of a file that was refused. errors.Is(err, ErrInvalid) holds unless reading the file failed.
type LineError struct {
	File string // may be empty
	Line int    // from 1; 0 for a change that is not from a file
	Err  error
}

func (e *LineError) Error() string {
	if at := e.Place(); at != "" {
		return at + ": " + e.Err.Error()
	}
	return e.Err.Error()
}

// Place returns the message's name for the line, "" if there is none.
func (e *LineError) Place() string {
	switch {
	case e.Line == 0:
		return ""
	case e.File == "":
		return fmt.Sprintf("line %d", e.Line)
	}
	return fmt.Sprintf("%s:%d", e.File, e.Line)
}

// Unwrap returns the reason.
func (e *LineError) Unwrap() error { return e.Err }

// Is reports whether target is ErrInvalid and the line is invalid JSON.
func (e *LineError) Is(target error) bool {
	return target == ErrInvalid && errors.Is(e.Err, ipld.ErrJSON)
}

// At returns err as an error about c's line, or nil if err is nil.
func (c *Change) At(err error) error {
	if err == nil {
		return nil
	}
	return &LineError{File: c.File, Line: c.Line, Err: err}
}

// EdgeWeight returns a weight in units of 2^-16: RoundHalfEven(x·65536). It refuses numbers above 1 and those that
// round to less than one unit.
func EdgeWeight(x float64) (uint32, error) {
	scaled := math.RoundToEven(float64(x * MaxWeight))
	// The condition is false for NaN.
	if !(x <= 1 && scaled >= 1) {
		return 0, Fieldf("weight", "%g is not above 0 and at most 1", x)
	}
	return uint32(scaled), nil
}

// sortedProps returns props in canonical order, without changing them.
func sortedProps(props []ipld.Entry) []ipld.Entry {
	order := func(a, b ipld.Entry) int { return ipld.CompareKeys(a.Key, b.Key) }
	if slices.IsSortedFunc(props, order) {
		return props
	}
	props = slices.Clone(props)
	slices.SortStableFunc(props, order)
	return props
}

// mergeProps returns old with the given values replaced, in canonical order.
func mergeProps(old, given []ipld.Entry) []ipld.Entry {
	given = sortedProps(given)
	if len(old) == 0 || len(given) == 0 {
		return append(old[:len(old):len(old)], given...)
	}
	merged := make([]ipld.Entry, 0, len(old)+len(given))
	for _, e := range given {
		for len(old) > 0 && ipld.CompareKeys(old[0].Key, e.Key) < 0 {
			merged = append(merged, old[0])
			old = old[1:]
		}
		if len(old) > 0 && old[0].Key == e.Key {
			old = old[1:]
		}
		merged = append(merged, e)
	}
	return append(merged, old...)
}

// withoutProp returns props without the named one.
func withoutProp(props []ipld.Entry, name string) []ipld.Entry {
	i := slices.IndexFunc(props, func(e ipld.Entry) bool { return e.Key == name })
	if i < 0 {
		return props
	}
	return append(slices.Clone(props[:i]), props[i+1:]...)
}
