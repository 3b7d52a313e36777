package chats

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/mnem-project/mnem/internal/base/pattern"
)

type clineMessage struct {
	TS                   int64
	Type, Ask, Say, Text string
	Partial              bool
	Images, Files        []string
	Media                []json.RawMessage
}

// clineTask reads the messages of a task of Cline, ui_messages.json. The time of the first of them names the task.
type clineTask struct {
	talk *talk
	seen map[uint64]bool
	n    int
}

func (c *clineTask) record(data json.RawMessage, h Handler) error {
	var m clineMessage
	if err := decode(data, &m); err != nil {
		return err
	}
	c.n++
	if m.Type != "say" && m.Type != "ask" {
		return errDamaged
	}
	fieldsOf("cline").tell(h, data)
	switch {
	case again(c.seen, sumOf(data)):
		h.Skipped(Duplicate, "")
		return nil
	case m.Partial:
		h.Skipped("partial", "")
		return nil
	}
	if c.talk.session.ID == "" {
		c.talk.session.ID = fmt.Sprintf("%d", m.TS)
		c.talk.root = c.talk.session.ID
	}
	turn, kind := m.turn()
	if kind != "" {
		kindsOf("cline").skip(h, kind, fmt.Sprintf("message %d", c.n))
		return nil
	}
	r := blockReader{handler: h, user: turn.Speaker == "user"}
	for range m.Images {
		r.skip(image)
	}
	for range len(m.Files) + len(m.Media) {
		r.skip(file)
	}
	r.say(turn.Text)
	turn.Text, turn.Time = r.text, millis(m.TS)
	if turn.empty(h, r.left) {
		return nil
	}
	return c.talk.said(*turn, "", "")
}

func (m *clineMessage) turn() (turn *Turn, kind string) {
	what := m.Say
	if m.Type == "ask" {
		what = m.Ask
	}
	switch m.Type + " " + what {
	case "say task", "say user_feedback", "say user_feedback_diff":
		text := m.Text
		if what == "user_feedback_diff" {
			text = clineText(m.Text, "diff")
		}
		return &Turn{Speaker: "user", Text: text}, ""
	case "say text", "say completion_result", "say plan_completion_result":
		return &Turn{Speaker: "assistant", Text: m.Text}, ""
	case "ask followup", "ask plan_mode_respond", "ask act_mode_respond":
		return &Turn{Speaker: "assistant", Text: clineText(m.Text, "question", "response")}, ""
	case "say tool", "say command", "ask tool", "ask command", "say browser_action", "say use_mcp_server",
		"ask use_mcp_server", "say browser_action_launch":
		return &Turn{Speaker: "assistant", Calls: []string{clineCall(what, m.Text)}}, ""
	}
	return nil, what
}

// clineText returns a member of a JSON text, or the whole text if it is not JSON.
func clineText(text string, names ...string) string {
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &members) == nil {
		for _, name := range names {
			if s := plain(members[name]); s != "" {
				return s
			}
		}
	}
	return text
}

func clineCall(what, text string) string {
	var c struct{ Tool, ServerName, ToolName string }
	if json.Unmarshal([]byte(text), &c) == nil {
		switch {
		case c.Tool != "":
			return call(c.Tool, json.RawMessage(text))
		case c.ToolName != "":
			return call(c.ServerName+"."+c.ToolName, json.RawMessage(text))
		}
	}
	return what + ": " + flat(text)
}

// clineSession is a session of Cline as versions from 4 on store it.
type clineSession struct {
	Agent, SessionID string
	Messages         []json.RawMessage
}

type clineSaid struct {
	ID, Role string
	TS       int64
	Content  json.RawMessage
	Metadata struct{ DisplayRole string }
}

// clineAround matches what Cline puts around a user's words, with its content.
var clineAround = pattern.New(`(?s)<mode_notice>.*?</mode_notice>|<hook_context\b[^>]*>.*?</hook_context>|` +
	`<file_content\b[^>]*>.*?</file_content>`)

// clineWrapped matches the tags around what a user said or commanded.
var clineWrapped = pattern.New(`</?user_(?:input|command)\b[^>]*>`)

// clineSpoken returns a user's words without what Cline added.
func clineSpoken(text string, left func(kind string)) string {
	text = clineAround().ReplaceAllStringFunc(text, func(found string) string {
		switch {
		case strings.HasPrefix(found, "<hook"):
			left("hook")
		case strings.HasPrefix(found, "<file"):
			left(file)
		default:
			left(reminder)
		}
		return ""
	})
	text = strings.TrimSpace(clineWrapped().ReplaceAllString(text, ""))
	if strings.HasPrefix(text, "[TASK RESUMPTION]") {
		left("resumed")
		return ""
	}
	return spoken(text, left)
}

// readCline reads a task, which is a list of messages, or a session, which is an object.
func readCline(in *bufio.Reader, h Handler) error {
	head, _ := in.Peek(in.Size())
	if bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) {
		return readClineSession(in, h)
	}
	c := &clineTask{talk: &talk{handler: h}, seen: make(map[uint64]bool)}
	if err := list(in, h, c.record); err != nil {
		return err
	}
	return c.talk.end()
}

func readClineSession(in io.Reader, h Handler) error {
	var s clineSession
	data, err := readWhole(in, &s)
	if err != nil {
		return err
	}
	if s.SessionID == "" || s.Messages == nil {
		return ErrFormat
	}
	fieldsOf("cline session").tell(h, data)
	if s.Agent != "" && s.Agent != "lead" {
		h.Skipped(subagent, "")
		return nil
	}
	t := &talk{handler: h, root: s.SessionID, session: Session{ID: s.SessionID}}
	seen := make(map[string]bool)
	for i, data := range s.Messages {
		place := fmt.Sprintf("message %d", i+1)
		var m clineSaid
		switch err := decode(data, &m); {
		case err != nil || m.Role != "user" && m.Role != "assistant":
			h.Skipped(Damaged, place)
			continue
		case again(seen, m.ID):
			h.Skipped(Duplicate, "")
			continue
		}
		fieldsOf("cline message").tell(h, data)
		if m.Metadata.DisplayRole != "" {
			h.Skipped(reminder, "")
			continue
		}
		if err := m.say(t, h, place); err != nil {
			return err
		}
	}
	return t.end()
}

func (m *clineSaid) say(t *talk, h Handler, place string) error {
	r := blockReader{handler: h, at: place, user: m.Role == "user", more: kindsOf("cline parts"), clean: clineSpoken}
	if !r.user {
		r.clean = nil
	}
	if err := r.read(m.Content); err != nil {
		h.Skipped(Damaged, place)
		return nil
	}
	turn := Turn{Speaker: m.Role, Text: r.text, Calls: r.calls, Time: millis(m.TS)}
	if turn.empty(h, r.left) {
		return nil
	}
	if m.ID != "" {
		turn.ID = t.root + "/" + m.ID
	}
	return t.said(turn, "", "")
}
