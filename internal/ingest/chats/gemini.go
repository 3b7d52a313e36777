package chats

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

type geminiFile struct {
	SessionID, StartTime string
	Messages             []json.RawMessage
}

type geminiMessage struct {
	ID, Timestamp, Type string
	Content             json.RawMessage
	ToolCalls           []struct {
		Name string
		Args json.RawMessage
	}
}

// gemini reads a session of Gemini CLI that is one JSON text.
func gemini(in io.Reader, h Handler) error {
	data, err := io.ReadAll(io.LimitReader(in, maxRecord+1))
	if err != nil {
		return err
	}
	var f geminiFile
	if len(data) > maxRecord || json.Unmarshal(data, &f) != nil || f.SessionID == "" {
		return ErrFormat
	}
	t := &talk{handler: h, session: Session{ID: f.SessionID, Time: moment(f.StartTime)}}
	for i, record := range f.Messages {
		err := geminiTurn(t, record)
		if errors.Is(err, errDamaged) {
			h.Skipped("damaged", fmt.Sprintf("record %d", i+1))
		} else if err != nil {
			return err
		}
	}
	return t.end()
}

func geminiTurn(t *talk, record json.RawMessage) error {
	var m geminiMessage
	if err := decode(record, &m); err != nil {
		return err
	}
	turn := Turn{ID: t.session.ID + "/" + m.ID, Speaker: m.Type, Time: moment(m.Timestamp)}
	switch {
	case m.Type == "gemini":
		turn.Speaker = "assistant"
	case m.Type != "user":
		t.handler.Skipped("a note of the program", "")
		return nil
	case m.ID == "":
		return errDamaged
	}
	var parts []struct{ Text string }
	if json.Unmarshal(m.Content, &turn.Text) != nil {
		if err := decode(m.Content, &parts); err != nil {
			return err
		}
		for _, p := range parts {
			turn.Text = join(turn.Text, p.Text)
		}
	}
	if turn.Text = strings.TrimSpace(turn.Text); turn.Speaker == "user" {
		turn.Text = Spoken(turn.Text)
	}
	for _, c := range m.ToolCalls[:min(len(m.ToolCalls), maxCalls)] {
		turn.Calls = append(turn.Calls, call(c.Name, c.Args))
	}
	if turn.Text == "" && len(turn.Calls) == 0 {
		t.handler.Skipped("put in by the program", "")
		return nil
	}
	return t.said(turn, "", "")
}

// geminiLines reads a session of Gemini CLI that is JSON Lines: the session, then messages. A message that was
// completed comes again with its id, and the last one counts.
type geminiLines struct {
	handler Handler
	talk    *talk
	held    json.RawMessage // the message that may come again
	id      string          // its id
	at      position        // where it came first
}

// isGeminiLines reports whether the first line is a session without messages.
func isGeminiLines(b *bufio.Reader) bool {
	head, _ := b.Peek(b.Size())
	line, _, whole := bytes.Cut(bytes.TrimPrefix(head, byteOrderMark), []byte("\n"))
	var f geminiFile
	return whole && json.Unmarshal(line, &f) == nil && f.SessionID != "" && f.Messages == nil
}

func (g *geminiLines) line(data []byte, at position) error {
	var m struct {
		geminiMessage
		SessionID, StartTime string
	}
	if err := decode(data, &m); err != nil {
		return err
	}
	switch {
	case m.SessionID != "" && g.talk == nil:
		g.talk = &talk{handler: g.handler, session: Session{ID: m.SessionID, Time: moment(m.StartTime)}}
		return nil
	case g.talk == nil:
		return errDamaged
	case m.Type == "" || m.ID == "":
		g.handler.Skipped("a note of the program", "")
		return nil
	case m.ID != g.id:
		if err := g.release(); err != nil {
			return err
		}
		g.id, g.at = m.ID, at
	}
	g.held = bytes.Clone(data)
	return nil
}

// release gives the message that was held.
func (g *geminiLines) release() error {
	data := g.held
	if data == nil {
		return nil
	}
	g.held = nil
	g.talk.at = g.at.place()
	err := geminiTurn(g.talk, data)
	if errors.Is(err, errDamaged) {
		g.handler.Skipped("damaged", fmt.Sprintf("line %d", g.at.number))
		return nil
	}
	return err
}

func (g *geminiLines) begun() Place { return g.talk.place() }

func (g *geminiLines) end() error {
	if g.talk == nil {
		return ErrFormat
	}
	if err := g.release(); err != nil {
		return err
	}
	return g.talk.end()
}
