package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ingest/chats"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/memory"
)

// Types of nodes of conversations.
const (
	TypeSession = "Session"
	TypeTurn    = "Turn"
)

const (
	// maxSummary is the longest text that is a summary, in bytes: of a longer one this much is, and all of it is
	// the content.
	maxSummary = 16 << 10
	// maxID is the longest id of another program that is part of a key as it is.
	maxID = 200
	// maxPlaces is how many places of damage are named.
	maxPlaces = 20
)

// unread stands for a text that cannot be kept.
const unread = "[not kept: more in it resembles credentials than is looked at]"

// Taken counts what was read of another program's files.
type Taken struct {
	Sessions, Turns, Memories, Relations int

	Redacted int            // credentials that were taken out
	Skipped  map[string]int // by the reason
	Damaged  int
	Places   []string // of the first that were damaged
}

// Taker makes changes of what another program wrote, one record at a time. It is a chats.Handler. The ids of that
// program become keys, so that a record given again is the same node.
type Taker struct {
	Format string
	Redact *Redactor
	Yield  func(graph.Change) error
	// Seen are the turns of files that were read before: a session that goes on in another file may begin with
	// a copy of them.
	Seen  map[graph.ID]bool
	Taken Taken
}

// key returns the key of a record.
func (t *Taker) key(kind, id string) string {
	if len(id) > maxID || graph.CheckLine("id", id, 1, maxID) != nil {
		sum := sha256.Sum256([]byte(id))
		id = "~" + hex.EncodeToString(sum[:16])
	}
	return kind + t.Format + "/" + id
}

func (t *Taker) session(id string) string { return t.key("session/", id) }
func (t *Taker) turn(id string) string    { return t.key("turn/", id) }

// clean takes the credentials out of a text.
func (t *Taker) clean(text string) (string, error) {
	out, n, err := t.Redact.Redact(text)
	if errors.Is(err, ErrUnread) {
		return unread, nil
	}
	t.Taken.Redacted += n
	return out, err
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
		*p = append(*p, ipld.Entry{Key: name, Value: texts(list)})
	}
}

// node gives a node, whose text has no credentials any more.
func (t *Taker) node(key, typ, text string, when int64, p props) *graph.NodeChange {
	ipld.SortEntries(p)
	c := &graph.NodeChange{Key: key, Type: typ, Props: p}
	summary := clip(text, maxSummary)
	if text != "" {
		c.Summary = &summary
	}
	if summary != text {
		_ = c.SetContent(text, "") // it is UTF-8 and as long as one record may be
	}
	if when > 0 {
		c.Created = graph.At(graph.Time(when))
	}
	return c
}

func (t *Taker) edge(src, typ, dst string) error {
	return t.Yield(graph.Change{Edge: &graph.EdgeChange{
		Type: typ, Src: graph.Ref{Key: src}, Dst: graph.Ref{Key: dst},
	}})
}

// Session implements chats.Handler.
func (t *Taker) Session(s *chats.Session) error {
	title, err := t.clean(s.Title)
	if err != nil {
		return err
	}
	t.Taken.Sessions++
	var p props
	p.text("source", t.Format)
	p.text("dir", s.Dir)
	p.text("branch", s.Branch)
	return t.Yield(graph.Change{Node: t.node(t.session(s.ID), TypeSession, title, s.Time, p)})
}

// Turn implements chats.Handler.
func (t *Taker) Turn(turn *chats.Turn) error {
	key := t.turn(turn.ID)
	if id := graph.NodeID(key); t.Seen[id] {
		t.Skipped("a copy of a turn of another file", "")
	} else {
		t.Seen[id] = true
		if err := t.turnNode(key, turn); err != nil {
			return err
		}
	}
	if err := t.edge(key, PartOf, t.session(turn.Session)); err != nil || turn.Before == "" {
		return err
	}
	return t.edge(t.turn(turn.Before), Next, key)
}

func (t *Taker) turnNode(key string, turn *chats.Turn) error {
	text, err := t.clean(turn.Text)
	if err != nil {
		return err
	}
	calls := make([]string, len(turn.Calls))
	for i, c := range turn.Calls {
		if calls[i], err = t.clean(c); err != nil {
			return err
		}
	}
	if text == "" {
		text = strings.Join(calls, "\n")
	}
	t.Taken.Turns++
	var p props
	p.text("speaker", turn.Speaker)
	p.list("calls", calls)
	p.text("dir", turn.Dir)
	p.text("branch", turn.Branch)
	if turn.Left {
		p = append(p, ipld.Entry{Key: "left", Value: ipld.BoolValue(true)})
	}
	c := t.node(key, TypeTurn, text, turn.Time, p)
	c.Context = &turn.Speaker
	src := memory.Source{Kind: memory.ConversationSource, Text: turn.Session, Turn: turn.Number}
	if read, err := memory.ParseSource(src.String()); err == nil && read == src {
		c.Sources = []string{src.String()}
	}
	return t.Yield(graph.Change{Node: c})
}

// Memory implements chats.Handler.
func (t *Taker) Memory(m *chats.Memory) error {
	text, err := t.clean(m.Text)
	if err != nil {
		return err
	}
	t.Taken.Memories++
	var p props
	p.list(memory.PropTags, m.Tags)
	for _, name := range slices.Sorted(maps.Keys(m.Meta)) {
		value, err := t.clean(m.Meta[name])
		if err != nil {
			return err
		}
		p.text(name, value)
	}
	typ := m.Type
	if typ == "" {
		typ = memory.Fact
	}
	key := t.key("", m.ID)
	if err := t.Yield(graph.Change{Node: t.node(key, typ, text, m.Time, p)}); err != nil || m.About == "" {
		return err
	}
	return t.edge(key, memory.EdgeAbout, t.key("", m.About))
}

// Relation implements chats.Handler.
func (t *Taker) Relation(r *chats.Relation) error {
	t.Taken.Relations++
	return t.edge(t.key("", r.From), r.Type, t.key("", r.To))
}

// Skipped implements chats.Handler.
func (t *Taker) Skipped(why, at string) {
	if t.Taken.Skipped == nil {
		t.Taken.Skipped = make(map[string]int)
	}
	t.Taken.Skipped[why]++
	if at == "" {
		return
	}
	if t.Taken.Damaged++; len(t.Taken.Places) < maxPlaces {
		t.Taken.Places = append(t.Taken.Places, at)
	}
}
