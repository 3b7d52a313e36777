package chats

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// geminiRecord is any record of a session of Gemini CLI: the session, a message, or a change of either.
type geminiRecord struct {
	SessionID, StartTime, Summary, Kind string
	Messages                            []json.RawMessage
	MemoryScratchpad                    json.RawMessage

	Set      *geminiRecord `json:"$set"`
	RewindTo *string       `json:"$rewindTo"`

	ID, Timestamp, Type     string
	Content, DisplayContent json.RawMessage
	Thoughts                []json.RawMessage
	ToolCalls               []struct {
		Name   string
		Args   json.RawMessage
		Result json.RawMessage
	}
}

// geminiSession reads a session of Gemini CLI as the program does: a message that comes again with its id replaces the
// earlier one, and a record may take back all from a message on.
type geminiSession struct {
	handler  Handler
	session  Session
	kind     string
	order    []*geminiTurn
	byID     map[string]*geminiTurn
	held     int // bytes
	messages int
}

// geminiTurn is a message as it was said last.
type geminiTurn struct {
	Turn
	at   string
	left []string // the kinds of its parts that are left out
	// said is whether the message has text or calls to keep.
	said bool
}

// maxHeld is how many bytes of texts one session may have.
const maxHeld = 256 << 20

// gemini reads a session that is one JSON text, or one record a line.
func gemini(in *bufio.Reader, h Handler) error {
	g := &geminiSession{handler: h, byID: make(map[string]*geminiTurn)}
	if isGeminiLines(in) {
		_, err := lines(in, h, g, Position{}, 0)
		return err
	}
	var r geminiRecord
	data, err := readWhole(in, &r)
	if err != nil {
		return err
	}
	if r.SessionID == "" {
		return ErrFormat
	}
	fieldsOf("gemini").tell(h, data)
	if err := g.record(&r, "record 1"); err != nil {
		return err
	}
	return g.end()
}

// isGeminiLines reports whether the first line is a record.
func isGeminiLines(b *bufio.Reader) bool {
	head, _ := b.Peek(b.Size())
	line, _, whole := bytes.Cut(head, []byte("\n"))
	line = bytes.TrimSpace(line)
	return whole && len(line) > 0 && line[0] == '{' && json.Valid(line)
}

func (g *geminiSession) line(data []byte, at position) error {
	var r geminiRecord
	if err := decode(data, &r); err != nil {
		return err
	}
	if r.ID != "" || r.Type != "" {
		fieldsOf("gemini message").tell(g.handler, data)
	} else {
		fieldsOf("gemini").tell(g.handler, data)
	}
	return g.record(&r, at.String())
}

func (g *geminiSession) record(r *geminiRecord, at string) error {
	switch {
	case r.RewindTo != nil:
		g.rewind(*r.RewindTo)
		return nil
	case r.ID != "" || r.Type != "":
		return g.message(r, at)
	case r.Set != nil:
		g.describe(r.Set, at)
		return nil
	case r.SessionID != "":
		g.describe(r, at)
		return nil
	}
	g.handler.Skipped(unknown+"record", at)
	return nil
}

// describe takes properties of the session, and a list of messages that replaces the earlier ones.
func (g *geminiSession) describe(r *geminiRecord, at string) {
	g.session.ID = cmp.Or(r.SessionID, g.session.ID)
	g.session.Title = cmp.Or(r.Summary, g.session.Title)
	g.kind = cmp.Or(r.Kind, g.kind)
	if r.StartTime != "" {
		g.session.Time = moment(r.StartTime)
	}
	if len(r.MemoryScratchpad) > 0 {
		g.handler.Skipped("scratchpad", "")
	}
	for i, data := range r.Messages {
		place := fmt.Sprintf("record %d", i+1)
		if at != "record 1" {
			place = at + ", " + place
		}
		var m geminiRecord
		err := decode(data, &m)
		if err == nil {
			fieldsOf("gemini message").tell(g.handler, data)
			err = g.message(&m, place)
		}
		if err != nil {
			g.handler.Skipped(Damaged, place)
		}
	}
}

// rewind takes back a message and all that followed it; one that is not there takes back all, as in the program.
func (g *geminiSession) rewind(id string) {
	from := 0
	for i, t := range g.order {
		if t.ID == id && !t.Left {
			from = i
		}
	}
	for _, t := range g.order[from:] {
		t.Left = true
	}
}

// message takes a message, or a later version of one. Of a version that says nothing the earlier one stays.
func (g *geminiSession) message(m *geminiRecord, at string) error {
	switch {
	case m.Type != "user" && m.Type != "gemini":
		kindsOf("gemini").skip(g.handler, m.Type, at)
		return nil
	case m.ID == "":
		return errDamaged
	}
	now := &geminiTurn{at: at, Turn: Turn{ID: m.ID, Speaker: "assistant", Time: moment(m.Timestamp)}}
	if m.Type == "user" {
		now.Speaker = "user"
	}
	if err := now.read(m); err != nil {
		return err
	}
	g.messages++
	if g.held += len(now.Text); g.held > maxHeld {
		return fmt.Errorf("%w: more than 256 MiB of text", ErrFormat)
	}
	switch old := g.byID[m.ID]; {
	case old == nil || old.Left: // new, or said again after it was taken back
		g.byID[m.ID] = now
		g.order = append(g.order, now)
	case now.said || !old.said:
		*old = *now
	}
	return nil
}

func (t *geminiTurn) read(m *geminiRecord) error {
	var parts partList
	if err := parts.read(m.Content); err != nil {
		return err
	}
	if m.DisplayContent != nil && t.Speaker == "user" { // without the files that were put into it
		var shown partList
		if err := shown.read(m.DisplayContent); err != nil {
			return err
		}
		if shown.text != "" && shown.text != parts.text {
			parts.text = shown.text
			parts.left = append(parts.left, file)
		}
	}
	if t.left = parts.left; t.Speaker == "user" {
		parts.text = spoken(parts.text, func(kind string) { t.left = append(t.left, kind) })
	}
	t.Text = parts.text
	for range m.Thoughts {
		t.left = append(t.left, thought)
	}
	if len(m.ToolCalls) == 0 {
		t.Calls = parts.calls
	}
	for _, c := range m.ToolCalls {
		if len(c.Result) > 0 {
			t.left = append(t.left, toolResult)
		}
		if len(t.Calls) < maxCalls {
			t.Calls = append(t.Calls, call(c.Name, c.Args))
		}
	}
	t.said = t.Text != "" || len(t.Calls) > 0
	if !t.said && len(t.left) == 0 {
		t.left = []string{Empty}
	}
	return nil
}

// partList is a content: a text, a part, or a list of both.
type partList struct {
	text  string
	calls []string
	left  []string
}

func (p *partList) read(data json.RawMessage) error {
	var text string
	var list []json.RawMessage
	switch {
	case len(data) == 0 || string(data) == "null":
		return nil
	case json.Unmarshal(data, &text) == nil:
		p.text = strings.TrimSpace(text)
		return nil
	case json.Unmarshal(data, &list) != nil:
		list = []json.RawMessage{data}
	}
	for _, one := range list {
		if json.Unmarshal(one, &text) == nil {
			p.text = join(p.text, strings.TrimSpace(text))
			continue
		}
		var part struct {
			Text         string
			Thought      bool
			FunctionCall *struct {
				Name string
				Args json.RawMessage
			}
			FunctionResponse, InlineData, FileData, ExecutableCode, CodeExecutionResult json.RawMessage
		}
		if err := decode(one, &part); err != nil {
			return err
		}
		switch {
		case part.Thought:
			p.left = append(p.left, thought)
		case part.Text != "":
			p.text = join(p.text, strings.TrimSpace(part.Text))
		case part.FunctionCall != nil:
			p.calls = append(p.calls, call(part.FunctionCall.Name, part.FunctionCall.Args))
		case part.FunctionResponse != nil, part.CodeExecutionResult != nil:
			p.left = append(p.left, toolResult)
		case part.ExecutableCode != nil:
			p.calls = append(p.calls, call("code", part.ExecutableCode))
		case part.InlineData != nil, part.FileData != nil:
			p.left = append(p.left, file)
		}
	}
	return nil
}

// end emits the turns in order; turns that were taken back keep their predecessor.
func (g *geminiSession) end() error {
	if g.session.ID == "" {
		return ErrFormat
	}
	if g.kind == "subagent" {
		for range g.messages {
			g.handler.Skipped(subagent, "")
		}
		return nil
	}
	t := &talk{handler: g.handler, session: g.session}
	said := make(map[string]bool)
	stays := "" // the last turn that was not taken back
	for _, m := range g.order {
		for _, kind := range m.left {
			g.handler.Skipped(kind, "")
		}
		if !m.said {
			continue
		}
		turn := m.Turn
		for turn.ID = g.session.ID + "/" + m.ID; said[turn.ID]; {
			turn.ID += "~" // it was taken back under this id before
		}
		said[turn.ID] = true
		if err := t.said(turn, "", ""); err != nil {
			return err
		}
		if t.open.ID == turn.ID && !turn.Left {
			t.before, stays = stays, turn.ID
		}
	}
	return t.end()
}
