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

// clineMessage is a message as Cline shows it.
type clineMessage struct {
	TS                   int64
	Type, Ask, Say, Text string
	Partial              bool
	Images, Files        []string
	Media                []json.RawMessage
}

// clineKinds has the messages that are left out, by their say or ask.
var clineKinds = kinds{
	"api_req_started": "request", "api_req_finished": "request", "api_req_retried": "request", "api_req_failed": "request",
	"reasoning": thought, "command_output": toolResult, "browser_action_result": toolResult, "mcp_server_response": toolResult,
	"mcp_server_request_started": "MCP servers", "mcp_notification": "notification", "error": "error", "info": "info",
	"error_retry": "error", "diff_error": "error", "clineignore_error": "error", "shell_integration_warning": "warning",
	"shell_integration_warning_with_suggestion": "warning", "checkpoint_created": "checkpoint",
	"load_mcp_documentation": "instructions", "generate_explanation": "explanation", "task_progress": "progress",
	"deleted_api_reqs": "request", "hook_status": "hook", "hook_output": "hook", "hook_output_stream": "hook",
	"command_permission_denied": "permissions", "conditional_rules_applied": "instructions", "subagent": subagent,
	"use_subagents": subagent, "subagent_usage": subagent, "resume_task": "resumed", "resume_completed_task": "resumed",
	"mistake_limit_reached": "error", "auto_approval_max_req_reached": "permissions", "browser_action_launch": "permissions",
	"new_task": "new task", "condense": compaction, "compaction": compaction, "summarize_task": compaction, "report_bug": "report", "use_mcp_server": "permissions",
	"command": "permissions", "tool": "permissions", "completion_result": "permissions", "browser_action": "browser",
}

var clineShape = sync.OnceValue(func() shape {
	return has("ts", "type", "ask", "say", "text", "reasoning", "images", "files", "partial", "commandCompleted",
		"lastCheckpointHash", "isCheckpointCheckedOut", "isOperationOutsideWorkspace", "conversationHistoryIndex",
		"conversationHistoryDeletedRange", "modelInfo", "multiCommandState", "contextCondense", "progressStatus", "checkpoint",
		"seq", "epoch", "media")
})

// clineTask reads the messages of a task of Cline, ui_messages.json. The time of the first of them names the task.
type clineTask struct {
	talk *talk
	seen map[uint64]bool
	n    int
}

// record adds a message.
func (c *clineTask) record(data json.RawMessage, h Handler) error {
	var m clineMessage
	if err := decode(data, &m); err != nil {
		return err
	}
	c.n++
	if m.Type != "say" && m.Type != "ask" {
		return errDamaged
	}
	clineShape().tell(h, data)
	switch {
	case again(c.seen, data):
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
		clineKinds.skip(h, kind, fmt.Sprintf("message %d", c.n))
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
	if turn.Text == "" && len(turn.Calls) == 0 {
		if r.left == 0 {
			h.Skipped(Empty, "")
		}
		return nil
	}
	return c.talk.said(*turn, "", "")
}

// turn returns the turn of a message, or the kind that counts it as left out.
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
