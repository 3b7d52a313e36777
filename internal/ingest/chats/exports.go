package chats

import (
	"encoding/json"
	"strings"
)

type chatGPTRecord struct {
	ID             string
	ConversationID string `json:"conversation_id"`
	Title          string
	CreateTime     *float64 `json:"create_time"`
	CurrentNode    string   `json:"current_node"`
	Mapping        map[string]*chatGPTNode
}

type chatGPTNode struct {
	Message  json.RawMessage
	Parent   string
	Children []string
}

type chatGPTMessage struct {
	ID         string
	Author     struct{ Role, Name string } // a name where more than two take part, and of tools
	CreateTime *float64                    `json:"create_time"`
	Content    struct {
		Type  string `json:"content_type"`
		Parts []json.RawMessage
		Text  string
	}
	Metadata struct {
		Hidden bool `json:"is_visually_hidden_from_conversation"`
	}
	Recipient string
}

// chatGPT reads one conversation of an export of ChatGPT: a tree of messages, of which one way is the current one.
func chatGPT(record json.RawMessage, h Handler) error {
	var c chatGPTRecord
	if err := decode(record, &c); err != nil {
		return err
	}
	if c.ID == "" {
		c.ID = c.ConversationID
	}
	if c.ID == "" || len(c.Mapping) == 0 {
		return errDamaged
	}
	current := make(map[string]bool)
	for id := c.CurrentNode; c.Mapping[id] != nil && !current[id]; id = c.Mapping[id].Parent {
		current[id] = true
	}
	w := &chatGPTWalk{handler: h, of: &c, current: current, kept: make(map[string]string)}
	for _, id := range w.order() {
		if err := w.node(id); err != nil {
			return err
		}
	}
	if w.number == 0 {
		h.Skipped("a conversation without turns", "")
		return nil
	}
	return h.Session(&Session{ID: c.ID, Title: flat(c.Title), Time: seconds(c.CreateTime)})
}

type chatGPTWalk struct {
	handler Handler
	of      *chatGPTRecord
	current map[string]bool
	kept    map[string]string // of each node the turn that it is, or that came before it
	number  int
}

// order returns the nodes from the roots on, each after its parent, those of the current way before others.
func (w *chatGPTWalk) order() []string {
	var out, roots []string
	seen := make(map[string]bool)
	for _, id := range sortedKeys(w.of.Mapping) {
		if n := w.of.Mapping[id]; n != nil && w.of.Mapping[n.Parent] == nil {
			roots = append(roots, id)
		}
	}
	for todo := reversed(roots); len(todo) > 0; {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		n := w.of.Mapping[id]
		if n == nil || seen[id] {
			continue
		}
		seen[id] = true
		out = append(out, id)
		for _, child := range reversed(n.Children) {
			if !w.current[child] {
				todo = append(todo, child)
			}
		}
		for _, child := range n.Children {
			if w.current[child] {
				todo = append(todo, child)
			}
		}
	}
	return out
}

func (w *chatGPTWalk) node(id string) error {
	n := w.of.Mapping[id]
	w.kept[id] = w.kept[n.Parent]
	if len(n.Message) == 0 || string(n.Message) == "null" {
		return nil
	}
	var m chatGPTMessage
	if err := decode(n.Message, &m); err != nil {
		w.handler.Skipped("damaged", "message "+label(id))
		return nil
	}
	role := m.Author.Role
	switch {
	case role == "tool":
		w.handler.Skipped("what a tool answered", "")
		return nil
	case role != "user" && role != "assistant", m.Metadata.Hidden, m.Content.Type == "user_editable_context":
		w.handler.Skipped("put in by the program", "")
		return nil
	case m.Content.Type == "thoughts", m.Content.Type == "reasoning_recap":
		w.handler.Skipped("a thought", "")
		return nil
	}
	turn := &Turn{
		Session: w.of.ID, ID: w.of.ID + "/" + id, Before: w.kept[n.Parent], Speaker: role,
		Time: seconds(m.CreateTime), Left: len(w.current) > 0 && !w.current[id],
	}
	if name := flat(m.Author.Name); name != "" {
		turn.Speaker = name
	}
	text := m.Content.Text
	for _, part := range m.Content.Parts {
		text = join(text, plain(part)) // images and files are objects
	}
	if text = strings.TrimSpace(text); text == "" {
		w.handler.Skipped("a turn without text", "")
		return nil
	}
	if turn.Text = text; role == "assistant" && m.Recipient != "" && m.Recipient != "all" {
		turn.Text, turn.Calls = "", []string{flat(m.Recipient + ": " + text)}
	}
	w.number++
	turn.Number, w.kept[id] = w.number, turn.ID
	return w.handler.Turn(turn)
}

type claudeRecord struct {
	UUID, Name string
	CreatedAt  string            `json:"created_at"`
	Messages   []json.RawMessage `json:"chat_messages"`
}

type claudeMessage struct {
	UUID, Text, Sender string
	CreatedAt          string `json:"created_at"`
	Content            []contentBlock
	Attachments        []struct {
		FileName string `json:"file_name"`
	}
}

// claude reads one conversation of an export of Claude.
func claude(record json.RawMessage, h Handler) error {
	var c claudeRecord
	if err := decode(record, &c); err != nil {
		return err
	}
	if c.UUID == "" {
		return errDamaged
	}
	t := &talk{handler: h, session: Session{ID: c.UUID, Title: c.Name, Time: moment(c.CreatedAt)}}
	for _, data := range c.Messages {
		var m claudeMessage
		if decode(data, &m) != nil || m.UUID == "" || m.Sender != "human" && m.Sender != "assistant" {
			h.Skipped("damaged", "a message of "+label(c.UUID))
			continue
		}
		turn := Turn{ID: m.UUID, Speaker: m.Sender, Time: moment(m.CreatedAt)}
		if m.Sender == "human" {
			turn.Speaker = "user"
		}
		for _, b := range m.Content {
			switch b.Type {
			case "text":
				turn.Text = join(turn.Text, strings.TrimSpace(b.Text))
			case "tool_use":
				if len(turn.Calls) < maxCalls {
					turn.Calls = append(turn.Calls, call(b.Name, b.Input))
				}
			}
		}
		if turn.Text == "" {
			turn.Text = strings.TrimSpace(m.Text)
		}
		for _, a := range m.Attachments[:min(len(m.Attachments), maxCalls)] {
			turn.Calls = append(turn.Calls, "attached: "+flat(a.FileName))
		}
		if turn.Text == "" && len(turn.Calls) == 0 {
			h.Skipped("a turn without text", "")
			continue
		}
		if err := t.flush(); err != nil { // messages are whole
			return err
		}
		t.open = &turn
	}
	if t.number == 0 && t.open == nil {
		h.Skipped("a conversation without turns", "")
		return nil
	}
	return t.end()
}
