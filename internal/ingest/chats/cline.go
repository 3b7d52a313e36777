package chats

import (
	"encoding/json"
	"fmt"
	"sync"
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
