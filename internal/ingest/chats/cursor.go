package chats

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path"
	"strings"
	"sync"
)

// cursor reads the transcript of a Cursor agent. Its lines have no ids and no times: the file name identifies the
// session, and a turn's text and previous turn identify the turn.
type cursor struct {
	handler Handler
	talk    *talk
	left    bool // whether a subagent wrote the transcript
}

type cursorLine struct {
	Type, Role string
	Message    struct{ Content json.RawMessage }
}

// cursorKinds has the kinds of lines that are left out.
var cursorKinds = named("turn_ended", "turn_started", "status", "error")

// cursorContexts has the elements that Cursor adds to a user's words.
var cursorContexts = kinds{
	"attached_files": "attached files", "open_and_recently_viewed_files": "editor", "user_info": "environment",
	"git_status": "environment", "project_layout": "environment", "rules": "instructions",
	"agent_transcripts": "environment", "agent_skills": "instructions", "mcp_file_system": "instructions",
	"mcp_instructions": "instructions", "always_applied_workspace_rules": "instructions",
	"always_applied_workspace_rule": "instructions", "user_rules": "instructions", "system_reminder": reminder,
	"timestamp": "timestamp", "external_links": "environment", "cursor_commands": command, "manually_attached_skills": "skill",
	"image_files": image, "additional_data": "environment", "current_file": "editor", "terminal_files_information": "environment",
}

var cursorShape = sync.OnceValue(func() shape {
	return has("type", "role", "timestamp", "status", "error").
		with("message", has("role", "id", "model").with("content", blockShape()))
})

func newCursor(name string, h Handler) *cursor {
	name = path.Clean(strings.ReplaceAll(name, `\`, "/"))
	id := strings.TrimSuffix(path.Base(name), ".jsonl")
	if id == "." || id == "-" {
		id = "" // of its first line
	}
	return &cursor{
		handler: h, left: strings.Contains("/"+name, "/subagents/"),
		talk: &talk{handler: h, root: id, session: Session{ID: id}},
	}
}

func (c *cursor) line(data []byte, at position) error {
	var l cursorLine
	if err := decode(data, &l); err != nil {
		return err
	}
	switch {
	case l.Role == "" && l.Type != "":
		cursorKinds.skip(c.handler, l.Type, at.String())
		return nil
	case l.Role != "user" && l.Role != "assistant":
		return errDamaged
	case c.left:
		c.handler.Skipped(subagent, "")
		return nil
	}
	cursorShape().tell(c.handler, data)
	if c.talk.session.ID == "" {
		sum := sha256.Sum256(data)
		c.talk.root = "~" + hex.EncodeToString(sum[:8])
		c.talk.session.ID = c.talk.root
	}
	r := blockReader{handler: c.handler, at: at.String(), user: l.Role == "user"}
	if r.user {
		r.clean = cursorSpoken
	}
	if err := r.read(l.Message.Content); err != nil {
		return err
	}
	if r.text == "" && len(r.calls) == 0 {
		if r.left == 0 {
			c.handler.Skipped(Empty, "")
		}
		return nil
	}
	return c.talk.said(Turn{Speaker: l.Role, Text: r.text, Calls: r.calls}, "", "")
}

// cursorSpoken returns a user's words without the elements that Cursor added.
func cursorSpoken(text string, left func(kind string)) string {
	const begin, end = "<user_query>", "</user_query>"
	query := ""
	var around strings.Builder
	for {
		before, rest, ok := strings.Cut(text, begin)
		around.WriteString(before)
		if !ok {
			break
		}
		inner, after, _ := strings.Cut(rest, end)
		query = join(query, strings.TrimSpace(inner))
		text = after
	}
	text = around.String()
	for {
		text = strings.TrimSpace(text)
		name, _, ok := strings.Cut(strings.TrimPrefix(text[:min(len(text), 100)], "<"), ">")
		name, _, _ = strings.Cut(name, " ")
		kind, known := cursorContexts[name]
		_, after, closed := strings.Cut(text, "</"+name+">")
		if !ok || !known || !closed || text[0] != '<' {
			break
		}
		left(kind)
		text = after
	}
	return join(query, spoken(text, left))
}

func (c *cursor) begun() Position { return Position{} }

func (c *cursor) end() error { return c.talk.end() }
