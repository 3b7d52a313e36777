package chats

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/mnem-project/mnem/internal/base/pattern"
)

// clineSession is a session of Cline as versions from 4 on store it.
type clineSession struct {
	Agent, SessionID string
	Messages         []json.RawMessage
}

// clineSaid is a message of a session.
type clineSaid struct {
	ID, Role string
	TS       int64
	Content  json.RawMessage
	Metadata struct{ DisplayRole string }
}

// clineParts has the parts of messages that are left out and that other programs do not have.
var clineParts = kinds{"file": file, "media": file}

var (
	clineSessionShape = sync.OnceValue(func() shape {
		return has("version", "updated_at", "agent", "sessionId", "taskType", "origin", "messages", "system_prompt")
	})
	clineSaidShape = sync.OnceValue(func() shape {
		return has("id", "role", "agent", "sessionId", "metadata", "modelInfo", "metrics", "ts").
			with("content", has("type", "text", "signature", "content", "path", "source", "data", "mediaType", "media", "id",
				"call_id", "name", "input", "tool_use_id", "is_error", "thinking", "details", "summary"))
	})
)

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
func readCline(in io.Reader, h Handler) error {
	b := bufio.NewReaderSize(in, 1<<16)
	head, _ := b.Peek(b.Size())
	if head = bytes.TrimSpace(head); len(head) > 0 && head[0] == '{' {
		return readClineSession(b, h)
	}
	c := &clineTask{talk: &talk{handler: h}, seen: make(map[uint64]bool)}
	if err := list(b, h, c.record); err != nil {
		return err
	}
	return c.talk.end()
}

func readClineSession(in io.Reader, h Handler) error {
	data, err := io.ReadAll(io.LimitReader(in, maxRecord+1))
	if err != nil {
		return err
	}
	var s clineSession
	if len(data) > maxRecord || json.Unmarshal(data, &s) != nil || s.SessionID == "" || s.Messages == nil {
		return ErrFormat
	}
	clineSessionShape().tell(h, data)
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
		case m.ID != "" && seen[m.ID]:
			h.Skipped(Duplicate, "")
			continue
		}
		seen[m.ID] = true
		clineSaidShape().tell(h, data)
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

// say adds a message to what is said.
func (m *clineSaid) say(t *talk, h Handler, place string) error {
	r := blockReader{handler: h, at: place, user: m.Role == "user", more: clineParts, clean: clineSpoken}
	if !r.user {
		r.clean = nil
	}
	if err := r.read(m.Content); err != nil {
		h.Skipped(Damaged, place)
		return nil
	}
	if r.text == "" && len(r.calls) == 0 {
		if r.left == 0 {
			h.Skipped(Empty, "")
		}
		return nil
	}
	turn := Turn{Speaker: m.Role, Text: r.text, Calls: r.calls, Time: millis(m.TS)}
	if m.ID != "" {
		turn.ID = t.root + "/" + m.ID
	}
	return t.said(turn, "", "")
}
