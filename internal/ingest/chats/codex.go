package chats

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
)

// codex reads a rollout of Codex: lines of an envelope, or in older files the items themselves. Items have no ids: a
// turn is identified by the ID of the turn before it and by its text. A fork begins with a copy of its parent
// conversation; the turns up to the first difference have the IDs of the parent's.
type codex struct {
	handler Handler
	talk    *talk
	left    string // as what all is left out, "" for a session that is read
}

type codexLine struct {
	Type, Timestamp, ID, Role, Name string
	RecordType                      string `json:"record_type"`
	Payload                         json.RawMessage
	Content, Arguments, Input       json.RawMessage
	Action                          struct {
		Type, Query, URL, Pattern string
		Command                   []string
	}
	RevisedPrompt string `json:"revised_prompt"`
}

type codexMeta struct {
	ID, Timestamp, Cwd string
	SessionID          string          `json:"session_id"`
	ForkedFrom         string          `json:"forked_from_id"`
	ThreadSource       string          `json:"thread_source"`
	Source             json.RawMessage // a name, or an object for the sessions of subagents
	Git                struct{ Branch string }
}

func (c *codex) line(data []byte, at position) error {
	var l codexLine
	if err := decode(data, &l); err != nil {
		return err
	}
	when := l.Timestamp
	switch {
	case l.Type == "session_meta":
		return c.meta(l.Payload)
	case l.Type == "" && l.RecordType != "":
		kindsOf("codex").skip(c.handler, l.RecordType, at.String())
		return nil
	case l.Type == "" && l.ID != "" && at.number == 1:
		return c.meta(data)
	case c.left != "":
		c.handler.Skipped(c.left, "")
		return nil
	case l.Type == "event_msg" && c.talk != nil:
		return c.event(l.Payload)
	case l.Type == "response_item":
		payload := l.Payload
		l = codexLine{}
		if err := decode(payload, &l); err != nil {
			return err
		}
	case l.Payload != nil:
		kindsOf("codex").skip(c.handler, l.Type, at.String())
		return nil
	}
	if c.talk == nil {
		return errDamaged
	}
	c.talk.at = at.place()
	if _, left := kindsOf("codex")[l.Type]; !left {
		of := fieldsOf("codex")
		if !bytes.Contains(data, []byte(`"payload"`)) {
			of = fieldsOf("codex item")
		}
		of.tell(c.handler, data)
	}
	return c.item(&l, when, at)
}

// meta takes the description of the session. In a fork further descriptions follow, those of its ancestors, the root
// last.
func (c *codex) meta(data json.RawMessage) error {
	var m codexMeta
	if err := decode(data, &m); err != nil {
		return err
	}
	fieldsOf("codex meta").tell(c.handler, data)
	m.ID = cmp.Or(m.ID, m.SessionID)
	if m.ID == "" {
		return errDamaged
	}
	root := cmp.Or(m.ForkedFrom, m.ID)
	if c.talk != nil {
		if c.talk.number == 0 && c.talk.open == nil {
			c.talk.root = root
		}
		return nil // a session that was resumed says so again
	}
	var of map[string]json.RawMessage
	if m.ThreadSource == "subagent" || json.Unmarshal(m.Source, &of) == nil && of["subagent"] != nil {
		c.left = subagent
	}
	c.talk = &talk{handler: c.handler, holds: true, root: root, session: Session{
		ID: m.ID, Time: moment(m.Timestamp), Dir: flat(m.Cwd), Branch: flat(m.Git.Branch),
	}}
	return nil
}

// event takes the events that say what no item does.
func (c *codex) event(data json.RawMessage) error {
	var e struct {
		Type       string
		Turns      int    `json:"num_turns"`
		ThreadName string `json:"thread_name"`
	}
	if err := decode(data, &e); err != nil {
		return err
	}
	switch e.Type {
	case "thread_rolled_back":
		return c.talk.takeBack(e.Turns)
	case "thread_name_updated":
		c.talk.session.Title = e.ThreadName
		return nil
	}
	c.handler.Skipped("event", "") // events repeat the items
	return nil
}

func (c *codex) item(l *codexLine, when string, at position) error {
	turn := Turn{Speaker: "assistant", Time: moment(when)}
	switch l.Type {
	case "message":
		r := blockReader{handler: c.handler, at: at.String(), user: l.Role != "assistant"}
		if err := r.read(l.Content); err != nil {
			return err
		}
		if turn.Text = r.text; l.Role != "assistant" {
			turn.Speaker = "user"
		}
		if turn.empty(c.handler, r.left) {
			return nil
		}
		if l.Role != "user" && l.Role != "assistant" { // developer, system
			c.handler.Skipped("instructions", "")
			return nil
		}
	case "function_call", "custom_tool_call", "tool_search_call", "mcp_tool_call":
		args := l.Arguments
		if args == nil {
			args = l.Input
		}
		l.Name = cmp.Or(l.Name, l.Type)
		turn.Calls = []string{call(l.Name, args)}
	case "local_shell_call":
		turn.Calls = []string{flat("shell: " + strings.Join(l.Action.Command, " "))}
	case "web_search_call":
		turn.Calls = []string{flat("web_search: " + l.Action.Query + " " + l.Action.URL + " " + l.Action.Pattern)}
	case "image_generation_call":
		turn.Calls = []string{flat("image_generation: " + l.RevisedPrompt)}
	default:
		kindsOf("codex").skip(c.handler, l.Type, at.String())
		return nil
	}
	return c.talk.said(turn, "", "")
}

func (c *codex) begun() Position { return c.talk.place() }

func (c *codex) end() error {
	if c.talk == nil {
		return ErrFormat
	}
	return c.talk.end()
}
