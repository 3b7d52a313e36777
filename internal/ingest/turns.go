package ingest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/ingest/chats"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/memory/sources"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/ipld"
)

// Types of nodes of conversations.
const (
	TypeSession = "Session"
	TypeTurn    = "Turn"
)

const (
	// maxSummary is the longest summary, in bytes. A longer text is truncated there, and the content has all of it.
	maxSummary = 16 << 10
	// maxID is the longest id of another program that keys contain unhashed.
	maxID = 200
	// maxCall is the longest short form of a call of a tool, in bytes, maxLabel the longest title or value of
	// another program, maxType, maxName and maxTag the longest type, name of a value and tag.
	maxCall  = 200
	maxLabel = 500
	maxType  = 200
	maxName  = 105
	maxTag   = 50
	// maxValue is the longest value from another program in bytes, maxListed the length of a list.
	maxValue  = 2000
	maxListed = 50
	// maxPlaces is how many positions of damage are reported.
	maxPlaces = 20
)

// unread replaces a text that cannot be kept.
const unread = "[not kept: more in it resembles credentials than is looked at]"

// Taken counts what was read from another program's files.
type Taken struct {
	Sessions  int            `json:"sessions"`
	Turns     int            `json:"turns"`
	Memories  int            `json:"memories"`
	Relations int            `json:"relations"`
	Redacted  int            `json:"redacted"` // credentials that were taken out
	Damaged   int            `json:"damaged"`  // records that could not be read, or have an unknown kind
	Skipped   map[string]int `json:"skipped"`  // parts left out, by kind
	Places    []string       `json:"-"`        // of the first that were damaged
}

// Add adds the counts of another file.
func (n *Taken) Add(t *Taken) {
	n.Sessions += t.Sessions
	n.Turns += t.Turns
	n.Memories += t.Memories
	n.Relations += t.Relations
	n.Redacted += t.Redacted
	n.Damaged += t.Damaged
	for kind, times := range t.Skipped {
		if n.Skipped == nil {
			n.Skipped = make(map[string]int)
		}
		n.Skipped[kind] += times
	}
}

// Taker makes changes of what another program wrote, one record at a time. It is a chats.Handler. The ids of that
// program become keys, so that a record given again is the same node.
type Taker struct {
	Format string
	Redact *Redactor
	Yield  func(graph.Change) error
	// Seen are the turns of files that were read before: a session that goes on in another file may begin with
	// a copy of them.
	Seen    map[graph.ID]bool
	Taken   Taken
	doubles map[string]bool // sessions, by ID: whether they were taken from another store
	err     error           // of Redact, which give returns
	// Stored reads the stored node of an id and its mark, nil for none; the field is nil if nothing is looked up.
	Stored func(graph.ID) (*graph.Node, *graph.Mark, error)
}

const (
	// leftReason is the reason of the marks on turns that the conversation left.
	leftReason = "the conversation went another way"
	// propLeft says the same of a turn, so that one that a user shows again is not hidden again.
	propLeft = "left"
	// propStore names a session's store if it is not the program's usual files.
	propStore = "store"
)

func (t *Taker) key(kind, id string) string {
	if len(id) > maxID || graph.CheckLine("id", id, 1, maxID) != nil {
		sum := sha256.Sum256([]byte(id))
		id = "~" + hex.EncodeToString(sum[:16])
	}
	return kind + t.Format + "/" + id
}

// SessionKey is the key of a session.
func (t *Taker) SessionKey(id string) string { return t.key("session/", id) }

// TurnKey is the key of a turn.
func (t *Taker) TurnKey(id string) string { return t.key("turn/", id) }

// clean takes the credentials out of a text. After an error, which give returns, there is none.
func (t *Taker) clean(text string) string {
	out, n, err := t.Redact.RedactSaid(text)
	if errors.Is(err, ErrUnread) {
		return unread
	}
	t.err = cmp.Or(t.err, err)
	t.Taken.Redacted += n
	return out
}

// label takes the credentials out of a text and cuts it then: a part of one is not found.
func (t *Taker) label(s string, n int) string { return text.FirstBytes(t.clean(s), n) }

// give passes a change on, unless a text could not be cleaned.
func (t *Taker) give(c graph.Change) error {
	if t.err != nil {
		return t.err
	}
	return t.Yield(c)
}

// props are properties of a node that is made; empty texts are left out.
type props []ipld.Entry

func (p *props) text(name, value string) {
	if value != "" {
		*p = append(*p, ipld.Entry{Key: name, Value: ipld.StringValue(value)})
	}
}

func (p *props) list(name string, list []string) {
	if len(list) > 0 {
		*p = append(*p, ipld.Entry{Key: name, Value: source.TextList(list)})
	}
}

// node gives a node, whose text has no credentials any more.
func (t *Taker) node(key, typ, said string, when int64, p props) *graph.NodeChange {
	ipld.SortEntries(p)
	c := &graph.NodeChange{Key: key, Type: typ, Props: p}
	summary := text.FirstBytes(said, maxSummary)
	if said != "" {
		c.Summary = &summary
	}
	if summary != said {
		_ = c.SetContent(said, "") // it is UTF-8 and as long as one record may be
	}
	if when > 0 {
		c.Created = graph.At(graph.Time(when))
	}
	return c
}

func (t *Taker) edge(src, typ, dst string) error {
	return t.give(graph.Change{Edge: &graph.EdgeChange{
		Type: typ, Src: graph.Ref{Key: src}, Dst: graph.Ref{Key: dst},
	}})
}

// Session implements chats.Handler.
func (t *Taker) Session(s *chats.Session) error {
	if double, err := t.double(s.ID, s.Store); double || err != nil {
		return err
	}
	title := t.label(s.Title, maxLabel)
	t.Taken.Sessions++
	var p props
	p.text("source", t.Format)
	p.text(propStore, s.Store)
	t.place(&p, s.Dir, s.Branch)
	return t.give(graph.Change{Node: t.node(t.SessionKey(s.ID), TypeSession, title, s.Time, p)})
}

func (t *Taker) place(p *props, dir, branch string) {
	p.text("dir", t.label(dir, maxLabel))
	p.text("branch", t.label(branch, maxLabel))
}

// Turn implements chats.Handler.
func (t *Taker) Turn(turn *chats.Turn) error {
	if double, err := t.double(turn.Session, turn.Store); double || err != nil {
		t.Skipped(chats.Duplicate, "")
		return err
	}
	key := t.TurnKey(turn.ID)
	id := graph.NodeID(key)
	have, mark, err := t.stored(id)
	if err != nil {
		return err
	}
	if t.Seen[id] || turn.Copied && ofOther(have, turn) {
		t.Skipped(chats.Duplicate, "")
	} else {
		t.Seen[id] = true
		if err := t.turnNode(key, turn); err != nil {
			return err
		}
		if err := t.mark(key, turn.Left, have, mark); err != nil {
			return err
		}
	}
	if err := t.edge(key, PartOf, t.SessionKey(turn.Session)); err != nil || turn.Before == "" {
		return err
	}
	return t.edge(t.TurnKey(turn.Before), Next, key)
}

// double reports whether a session was taken from another store than this: its turns have other IDs there.
func (t *Taker) double(session, store string) (bool, error) {
	double, known := t.doubles[session]
	if known {
		return double, nil
	}
	key := t.SessionKey(session)
	other := map[string]string{"": chats.InDatabase, chats.InDatabase: ""}[store]
	if double = t.Seen[graph.NodeID(key+"#"+other)]; !double {
		have, _, err := t.stored(graph.NodeID(key))
		if err != nil {
			return false, err
		}
		if have != nil {
			v, _ := ipld.FindEntry(have.Props, propStore)
			double = (v.Text() == chats.InDatabase) != (store == chats.InDatabase)
		}
	}
	if t.doubles == nil {
		t.doubles = make(map[string]bool)
	}
	if t.doubles[session] = double; !double {
		t.Seen[graph.NodeID(key+"#"+store)] = true
	}
	return double, nil
}

func (t *Taker) stored(id graph.ID) (*graph.Node, *graph.Mark, error) {
	if t.Stored == nil {
		return nil, nil, nil
	}
	return t.Stored(id)
}

// ofOther reports whether a stored turn belongs to another session.
func ofOther(have *graph.Node, turn *chats.Turn) bool {
	if have == nil || len(have.Sources) == 0 {
		return false
	}
	src, err := sources.Parse(have.Sources[0])
	return err == nil && src.Kind == sources.ConversationSource && src.Text != turn.Session
}

// mark hides a turn that the conversation has left, and shows it again if the conversation returns. Nodes that a user
// hid or showed stay as they are.
func (t *Taker) mark(key string, left bool, have *graph.Node, mark *graph.Mark) error {
	on := graph.MarkRef{Node: graph.Ref{Key: key}}
	switch {
	case left && mark == nil && (have == nil || !IsLeft(have)):
		return t.Yield(LeftChanges(key)[1])
	case !left && mark != nil && mark.State == graph.Retired && mark.Reason == leftReason:
		return t.Yield(graph.Change{Remove: &graph.Removal{Mark: &on}})
	}
	return nil
}

// IsLeft reports whether the conversation left a turn.
func IsLeft(n *graph.Node) bool {
	_, left := ipld.FindEntry(n.Props, propLeft)
	return left
}

// LeftChanges are the changes that record that the conversation has left a turn, and hide it.
func LeftChanges(key string) []graph.Change {
	left := []ipld.Entry{{Key: propLeft, Value: ipld.BoolValue(true)}}
	return []graph.Change{
		{Node: &graph.NodeChange{Key: key, Props: left}},
		{Mark: &graph.MarkChange{
			On: graph.MarkRef{Node: graph.Ref{Key: key}}, State: graph.Retired, Reason: leftReason,
		}},
	}
}

// Left implements chats.Handler.
func (t *Taker) Left(id string) error {
	for _, c := range LeftChanges(t.TurnKey(id)) {
		if err := t.Yield(c); err != nil {
			return err
		}
	}
	return nil
}

func (t *Taker) turnNode(key string, turn *chats.Turn) error {
	said := t.clean(turn.Text)
	calls := make([]string, len(turn.Calls))
	for i, c := range turn.Calls {
		calls[i] = t.label(c, maxCall)
	}
	said = cmp.Or(said, strings.Join(calls, "\n"))
	t.Taken.Turns++
	var p props
	p.text("speaker", t.label(turn.Speaker, maxLabel))
	p.list("calls", calls)
	t.place(&p, turn.Dir, turn.Branch)
	if turn.Left {
		p = append(p, ipld.Entry{Key: propLeft, Value: ipld.BoolValue(true)})
	}
	c := t.node(key, TypeTurn, said, turn.Time, p)
	if !turn.Left {
		c.Unset = []string{"props." + propLeft}
	}
	src := sources.Source{Kind: sources.ConversationSource, Text: turn.Session, Turn: turn.Number}
	if read, err := sources.Parse(src.String()); err == nil && read == src {
		c.Sources = []string{src.String()}
	}
	return t.give(graph.Change{Node: c})
}

// Memory implements chats.Handler.
func (t *Taker) Memory(m *chats.Memory) error {
	said := t.clean(m.Text)
	t.Taken.Memories++
	tags := make([]string, len(m.Tags))
	for i, tag := range m.Tags {
		tags[i] = t.label(tag, maxTag)
	}
	var p props
	p.list(memory.PropTags, tags)
	for _, name := range slices.Sorted(maps.Keys(m.Meta)) {
		shown, value := t.label(name, maxName), t.value(m.Meta[name])
		if !slices.ContainsFunc(p, func(e ipld.Entry) bool { return e.Key == shown }) {
			p = append(p, ipld.Entry{Key: shown, Value: value})
		}
	}
	key := t.key("", m.ID)
	c := t.node(key, cmp.Or(t.label(m.Type, maxType), memory.Fact), said, m.Time, p)
	if m.ValidTo > 0 {
		c.ValidTo = graph.At(graph.Time(m.ValidTo))
	}
	if err := t.give(graph.Change{Node: c}); err != nil || m.About == "" {
		return err
	}
	return t.edge(key, memory.EdgeAbout, t.key("", m.About))
}

// value removes credentials from a value of another program, and truncates long texts.
func (t *Taker) value(v ipld.Value) ipld.Value {
	switch v.Kind() {
	case ipld.String:
		said := t.clean(v.Text())
		if len(said) > maxValue {
			t.Skipped("end of a long value", "")
		}
		return ipld.StringValue(text.FirstBytes(said, maxValue))
	case ipld.List:
		list := slices.Clone(v.List())
		if len(list) > maxListed {
			t.Skipped("end of a long value", "")
			list = list[:maxListed]
		}
		for i := range list {
			list[i] = t.value(list[i])
		}
		return ipld.ListValue(list...)
	}
	return v
}

// Relation implements chats.Handler.
func (t *Taker) Relation(r *chats.Relation) error {
	t.Taken.Relations++
	return t.edge(t.key("", r.From), t.label(r.Type, maxType), t.key("", r.To))
}

// Skipped implements chats.Handler.
func (t *Taker) Skipped(kind, at string) { t.Taken.Other(kind, at) }

// Other counts a part that was left out, by kind. at is its position if it is damaged or of an unknown kind.
func (n *Taken) Other(kind, at string) {
	if n.Skipped == nil {
		n.Skipped = make(map[string]int)
	}
	if _, has := n.Skipped[kind]; !has && len(n.Skipped) >= maxKinds {
		kind = "other kinds"
	}
	n.Skipped[kind]++
	if at == "" {
		return
	}
	if kind != chats.Damaged {
		at += ": " + kind
	}
	if n.Damaged++; len(n.Places) < maxPlaces {
		n.Places = append(n.Places, at)
	}
}

// maxKinds is how many kinds are counted by their names.
const maxKinds = 200
