package graph

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/ipld"
)

// propPrefix begins the names of properties in Unset.
const propPrefix = "props."

// NodeChange makes or changes a node. Zero fields are not given and leave the node's field unchanged.
type NodeChange struct {
	Key       string  // decides the id
	ID        ID      // decides the node if there is no key
	Type      string  // required for a new node
	Summary   *string // empty removes
	Context   *string // empty removes
	Props     []ipld.Entry
	Content   *Content // from SetContent; the zero Content removes
	Chunks    []Chunk  // the blocks of Content, to be stored before the node
	Created   OptTime
	ValidFrom OptTime
	ValidTo   OptTime
	Sources   []string // empty but not nil removes
	Cues      []string // likewise
	Unset     []string // fields to remove last; a property as props.NAME
	Replace   bool     // first drop all fields but id, key, type and created
}

// SetContent sets the node's content, or removes it if text is empty.
func (c *NodeChange) SetContent(text, media string) error {
	if text == "" {
		c.Content, c.Chunks = new(Content), nil
		return nil
	}
	content, chunks, err := SplitContent(text, media)
	if err != nil {
		return within("content", err)
	}
	c.Content, c.Chunks = content, chunks
	return nil
}

// Target returns the id of the changed node, zero if its content decides the id.
func (c *NodeChange) Target() ID { return Ref{Key: c.Key, ID: c.ID}.Target() }

var nodeUnset = []string{"summary", "context", "content", "validFrom", "validTo", "sources", "cues"}

func (c *NodeChange) check() error {
	var m meter
	if c.Key != "" || !c.ID.IsZero() {
		if err := (Ref{Key: c.Key, ID: c.ID}).check("key"); err != nil {
			return err
		}
	}
	err := cmp.Or(
		checkOptName("type", c.Type, MaxType),
		checkOptText("summary", c.Summary),
		checkOptText("context", c.Context),
		m.props(sortedProps(c.Props)),
		within("content", c.checkContent(&m)),
		CheckTime("created", c.Created.Time),
		checkSpan(c.ValidFrom, c.ValidTo),
		checkSources(c.Sources),
		checkCues(c.Cues),
		checkUnset(c.Unset, nodeUnset),
	)
	return err
}

func (c *NodeChange) checkContent(m *meter) error {
	if c.Content == nil || c.Content.removes() {
		return nil
	}
	if err := c.Content.check(m); err != nil {
		return err
	}
	same := slices.EqualFunc(c.Content.Chunks, c.Chunks, func(id ipld.CID, chunk Chunk) bool { return id == chunk.CID })
	if !same {
		return Fieldf("chunks", "not the blocks of the content")
	}
	return nil
}

// removes reports whether c is the zero Content.
func (c *Content) removes() bool {
	return c.Size == 0 && c.Text == "" && len(c.Chunks) == 0 && c.Media == "" && len(c.Extra) == 0
}

func checkOptText(field string, s *string) error {
	if s == nil {
		return nil
	}
	return CheckText(field, *s, 0, MaxText)
}

func checkUnset(names, allowed []string) error {
	for _, name := range names {
		prop, isProp := strings.CutPrefix(name, propPrefix)
		if isProp && CheckText("", prop, 1, MaxPropName) == nil || slices.Contains(allowed, name) {
			continue
		}
		return Fieldf("unset", "%s is none of %s, props.NAME", quote(name), strings.Join(allowed, ", "))
	}
	return nil
}

// Make returns a new node made at the given time. A node whose id depends on its content gets the first candidate,
// ContentID(n.Canonical(), 0); only the graph knows which candidate is free.
func (c *NodeChange) Make(now Time) (*Node, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.Type == "" {
		return nil, Fieldf("type", "missing: a new node needs one")
	}
	n := &Node{ID: c.Target(), Key: c.Key, Created: now}
	c.set(n)
	if n.ID.IsZero() {
		n.ID = ContentID(n.Canonical(), 0)
	}
	if c.Created.Given {
		n.Created = c.Created.Time
	}
	return n, n.Validate()
}

// Apply returns the node after changing old at the given time, and whether that changes any fact. If not, next is
// old. old is not modified.
func (c *NodeChange) Apply(old *Node, now Time) (next *Node, changed bool, err error) {
	if err := c.check(); err != nil {
		return nil, false, err
	}
	if c.Key != "" && c.Key != old.Key {
		return nil, false, Fieldf("key", "node %s has %s", old.ID, keyName(old.Key))
	}
	n := *old
	if c.Replace {
		n = Node{ID: old.ID, Key: old.Key, Type: old.Type, Created: old.Created}
	}
	c.set(&n)
	if bytes.Equal(n.Canonical(), old.Canonical()) {
		return old, false, nil
	}
	if c.Created.Given {
		n.Created = c.Created.Time
	}
	n.Updated = OptTime{}
	if now != n.Created {
		n.Updated = At(now)
	}
	return &n, true, n.Validate()
}

func keyName(key string) string {
	if key == "" {
		return "no key"
	}
	return "key " + quote(key)
}

// set sets the given fields of n except times of change.
func (c *NodeChange) set(n *Node) {
	if c.Type != "" {
		n.Type = c.Type
	}
	if c.Summary != nil {
		n.Summary = *c.Summary
	}
	if c.Context != nil {
		n.Context = *c.Context
	}
	if c.Content != nil {
		n.Content = c.Content
		if c.Content.removes() {
			n.Content = nil
		}
	}
	if c.Cues != nil {
		n.Cues = c.Cues
	}
	if len(n.Cues) == 0 {
		n.Cues = nil
	}
	setShared(c.Props, &n.Props, c.Sources, &n.Sources)
	setTime(c.ValidFrom, &n.ValidFrom)
	setTime(c.ValidTo, &n.ValidTo)
	for _, name := range c.Unset {
		switch name {
		case "summary":
			n.Summary = ""
		case "context":
			n.Context = ""
		case "content":
			n.Content = nil
		case "cues":
			n.Cues = nil
		default:
			unsetShared(name, &n.Props, &n.Sources, &n.ValidFrom, &n.ValidTo)
		}
	}
}

func setShared(props []ipld.Entry, toProps *[]ipld.Entry, sources []string, toSources *[]string) {
	*toProps = mergeProps(*toProps, props)
	if sources != nil {
		*toSources = sources
	}
	if len(*toSources) == 0 {
		*toSources = nil
	}
}

func setTime(given OptTime, to *OptTime) {
	if given.Given {
		*to = given
	}
}

func unsetShared(name string, props *[]ipld.Entry, sources *[]string, from, to *OptTime) {
	switch name {
	case "sources":
		*sources = nil
	case "validFrom":
		*from = OptTime{}
	case "validTo":
		*to = OptTime{}
	default:
		*props = withoutProp(*props, strings.TrimPrefix(name, propPrefix))
	}
}

// EdgeChange makes or changes an edge. Zero fields are not given and leave the edge's field unchanged.
type EdgeChange struct {
	ID        ID     // decides the edge if there is no key
	Type      string // required, as are the ends, but with the ID of an edge that exists
	Src, Dst  Ref
	Key       string // distinguishes parallel edges
	Weight    uint32 // 1 to MaxWeight, from EdgeWeight
	Props     []ipld.Entry
	Created   OptTime
	ValidFrom OptTime
	ValidTo   OptTime
	Sources   []string // empty but not nil removes
	Unset     []string // fields to remove last; a property as props.NAME
	Replace   bool     // first drop all fields but id, key, type, ends and created
}

// Target returns the id of the changed edge.
func (c *EdgeChange) Target() ID {
	ref := EdgeRef{ID: c.ID, Type: c.Type, Src: c.Src, Dst: c.Dst, Key: c.Key}
	return ref.Target()
}

var edgeUnset = []string{"weight", "validFrom", "validTo", "sources"}

func (c *EdgeChange) check() error {
	var m meter
	return cmp.Or(
		c.checkIdentity(),
		c.checkWeight(),
		m.props(sortedProps(c.Props)),
		CheckTime("created", c.Created.Time),
		checkSpan(c.ValidFrom, c.ValidTo),
		checkSources(c.Sources),
		checkUnset(c.Unset, edgeUnset),
	)
}

func (c *EdgeChange) checkIdentity() error {
	if c.ID.IsZero() || c.Key != "" {
		ref := EdgeRef{Type: c.Type, Src: c.Src, Dst: c.Dst, Key: c.Key}
		if err := ref.check(false); err != nil || c.ID.IsZero() {
			return err
		}
		return checkAgreement("id", c.ID, ref.Target())
	}
	return cmp.Or(checkOptName("type", c.Type, MaxType), checkOptRef("src", c.Src), checkOptRef("dst", c.Dst))
}

func checkOptRef(field string, r Ref) error {
	if r.IsZero() {
		return nil
	}
	return r.check(field)
}

func (c *EdgeChange) checkWeight() error {
	if c.Weight > MaxWeight {
		return checkWeight(c.Weight)
	}
	return nil
}

// Make returns a new edge made at the given time.
func (c *EdgeChange) Make(now Time) (*Edge, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.Type == "" || c.Src.IsZero() || c.Dst.IsZero() {
		return nil, Fieldf("id", "no edge has it: a new edge needs type, src and dst")
	}
	e := &Edge{
		ID: c.ID, Type: c.Type, Src: c.Src.Target(), Dst: c.Dst.Target(), Key: c.Key,
		Weight: MaxWeight, Created: now,
	}
	if e.ID.IsZero() {
		e.ID = EdgeID(e.Src, e.Type, e.Dst, e.Key)
	}
	c.set(e)
	if c.Created.Given {
		e.Created = c.Created.Time
	}
	return e, e.Validate()
}

// Apply returns the edge after changing old, and whether that changes any fact. If not, next is old. old is not
// modified.
func (c *EdgeChange) Apply(old *Edge) (next *Edge, changed bool, err error) {
	if err := cmp.Or(c.check(), c.checkSame(old)); err != nil {
		return nil, false, err
	}
	e := *old
	if c.Replace {
		e = Edge{
			ID: old.ID, Type: old.Type, Src: old.Src, Dst: old.Dst, Key: old.Key,
			Weight: MaxWeight, Created: old.Created,
		}
	}
	c.set(&e)
	if bytes.Equal(e.Encode(), old.Encode()) {
		return old, false, nil
	}
	if c.Created.Given {
		e.Created = c.Created.Time
	}
	return &e, true, e.Validate()
}

// checkSame checks that immutable fields, if given, are unchanged.
func (c *EdgeChange) checkSame(old *Edge) error {
	switch {
	case c.Type != "" && c.Type != old.Type:
		return Fieldf("type", "edge %s has %s", old.ID, quote(old.Type))
	case !c.Src.IsZero() && c.Src.Target() != old.Src:
		return Fieldf("src", "edge %s has %s", old.ID, old.Src)
	case !c.Dst.IsZero() && c.Dst.Target() != old.Dst:
		return Fieldf("dst", "edge %s has %s", old.ID, old.Dst)
	case c.Key != "" && c.Key != old.Key:
		return Fieldf("key", "edge %s has %s", old.ID, keyName(old.Key))
	}
	return nil
}

// set sets the given fields of e except identity and created.
func (c *EdgeChange) set(e *Edge) {
	if c.Weight != 0 {
		e.Weight = c.Weight
	}
	setShared(c.Props, &e.Props, c.Sources, &e.Sources)
	setTime(c.ValidFrom, &e.ValidFrom)
	setTime(c.ValidTo, &e.ValidTo)
	for _, name := range c.Unset {
		if name == "weight" {
			e.Weight = MaxWeight
			continue
		}
		unsetShared(name, &e.Props, &e.Sources, &e.ValidFrom, &e.ValidTo)
	}
}

// MarkChange marks a node or edge.
type MarkChange struct {
	On     MarkRef
	State  State
	By     Ref     // the node that supersedes or contradicts
	Reason string  // "" for none
	Actor  string  // "" for the batch's author
	Time   OptTime // absent for the batch's time
}

func (c *MarkChange) check() error {
	return cmp.Or(
		c.On.check(),
		checkState(c.State),
		checkBy(c.State, !c.By.IsZero()),
		checkOptRef("by", c.By),
		CheckText("reason", c.Reason, 0, MaxReason),
		CheckLine("actor", c.Actor, 0, MaxActor),
		CheckTime("time", c.Time.Time),
	)
}

// Make returns the mark, made by author at the given time.
func (c *MarkChange) Make(author string, now Time) (*Mark, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	m := &Mark{
		State: c.State, By: c.By.Target(), Reason: c.Reason, Actor: c.Actor, Time: now,
	}
	m.On, m.ID = c.On.Target()
	if c.Actor == "" {
		m.Actor = author
	}
	if c.Time.Given {
		m.Time = c.Time.Time
	}
	return m, m.Validate()
}

// Apply returns the mark that replaces old, and whether it differs in more than time. If not, next is old. old is
// not modified.
func (c *MarkChange) Apply(old *Mark, author string, now Time) (next *Mark, changed bool, err error) {
	next, err = c.Make(author, now)
	if err != nil {
		return nil, false, err
	}
	same := *next
	same.Time = old.Time
	if bytes.Equal(same.Encode(), old.Encode()) {
		return old, false, nil
	}
	return next, true, nil
}
