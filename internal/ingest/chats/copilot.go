package chats

import (
	"encoding/json"
	"slices"
)

// copilotCLI reads the events of a session of Copilot CLI. The events of a turn that was rewound stay in the file.
type copilotCLI struct {
	handler Handler
	talk    *talk
	events  []string          // of turns, in order
	turns   map[string]string // the turn that each event belongs to
	seen    map[string]bool
}

type copilotEvent struct {
	Type, ID, Timestamp, AgentID string
	Ephemeral                    bool
	Data                         struct {
		SessionID, StartTime, Title, Content, Source, ReasoningText, EncryptedContent string
		ParentToolCallID, ParentAgentTaskID, UpToEventID                              string
		IsAutopilotContinuation                                                       bool
		Context                                                                       json.RawMessage
		Attachments                                                                   []struct{ Type string }
		ToolRequests                                                                  []struct {
			Name      string
			Arguments json.RawMessage
		}
	}
}

// copilotTaken are the events that are read.
var copilotTaken = []string{
	"session.start", "session.title_changed", "user.message", "assistant.message", "session.snapshot_rewind",
}

func (c *copilotCLI) line(data []byte, at position) error {
	var e copilotEvent
	if err := decode(data, &e); err != nil {
		return err
	}
	if !slices.Contains(copilotTaken, e.Type) {
		if e.Type == "" {
			return errDamaged
		}
		if _, known := kindsOf("copilot-cli")[e.Type]; e.Ephemeral && !known {
			e.Type = "ephemeral"
		}
		kindsOf("copilot-cli").skip(c.handler, e.Type, at.String())
		return nil
	}
	fieldsOf("copilot-cli").tell(c.handler, data)
	switch {
	case e.Type == "session.start":
		return c.start(&e)
	case c.talk == nil:
		return errDamaged
	case e.Type == "session.title_changed":
		c.talk.session.Title = e.Data.Title
		return nil
	case e.Type == "session.snapshot_rewind":
		return c.rewind(e.Data.UpToEventID)
	case e.AgentID != "" || e.Data.ParentToolCallID != "" || e.Data.ParentAgentTaskID != "":
		c.handler.Skipped(subagent, "")
		return nil
	case e.ID == "":
		return errDamaged
	case again(c.seen, e.ID):
		c.handler.Skipped(Duplicate, "")
		return nil
	}
	return c.message(&e)
}

func (c *copilotCLI) start(e *copilotEvent) error {
	var in struct{ Cwd, Branch string }
	if len(e.Data.Context) > 0 {
		if err := decode(e.Data.Context, &in); err != nil {
			return err
		}
	}
	if e.Data.SessionID == "" {
		return errDamaged
	}
	if c.talk != nil {
		if c.talk.session.ID != e.Data.SessionID {
			return errDamaged // a file has one session
		}
		c.handler.Skipped(Duplicate, "")
		return nil
	}
	c.turns, c.seen = make(map[string]string), make(map[string]bool)
	c.talk = &talk{handler: c.handler, holds: true, session: Session{
		ID: e.Data.SessionID, Time: moment(e.Data.StartTime), Dir: flat(in.Cwd), Branch: flat(in.Branch),
	}}
	return nil
}

// message adds a message. A step of an answer that only calls tools belongs to the previous turn.
func (c *copilotCLI) message(e *copilotEvent) error {
	turn := Turn{ID: c.talk.session.ID + "/" + e.ID, Speaker: "assistant", Time: moment(e.Timestamp)}
	r := blockReader{handler: c.handler, user: e.Type == "user.message"}
	if r.user {
		turn.Speaker = "user"
		if e.Data.IsAutopilotContinuation || e.Data.Source != "" && e.Data.Source != "user" {
			c.handler.Skipped(reminder, "")
			return nil
		}
	}
	r.say(e.Data.Content)
	turn.Text = r.text
	for _, a := range e.Data.Attachments {
		r.skip(label("attachment " + a.Type))
	}
	if e.Data.ReasoningText != "" || e.Data.EncryptedContent != "" {
		r.skip(thought)
	}
	for _, t := range e.Data.ToolRequests {
		if len(turn.Calls) == maxCalls {
			r.skip("call beyond 100")
			continue
		}
		turn.Calls = append(turn.Calls, call(t.Name, t.Arguments))
	}
	if turn.empty(c.handler, r.left) {
		return nil
	}
	if err := c.talk.said(turn, "", ""); err != nil {
		return err
	}
	c.events = append(c.events, e.ID)
	c.turns[e.ID] = c.talk.open.ID
	return nil
}

func (c *copilotCLI) rewind(event string) error {
	if err := c.talk.flush(); err != nil {
		return err
	}
	from := slices.Index(c.events, event)
	if from < 0 {
		c.handler.Skipped("rewind to what is not a turn", "")
		return nil
	}
	for _, id := range c.events[from:] {
		if i, held := c.talk.index[c.turns[id]]; held {
			c.talk.held[i].Left = true
		}
	}
	c.events = c.events[:from]
	c.talk.before = ""
	if from > 0 {
		c.talk.before = c.turns[c.events[from-1]]
	}
	return nil
}

func (c *copilotCLI) end() error {
	if c.talk == nil {
		return ErrFormat
	}
	return c.talk.end()
}
