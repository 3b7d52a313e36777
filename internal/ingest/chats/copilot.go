package chats

import (
	"encoding/json"
	"slices"
	"sync"
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
		SessionID, StartTime, Title, Content, Source, TurnID, ReasoningText, EncryptedContent string
		ParentToolCallID, ParentAgentTaskID, UpToEventID                                      string
		IsAutopilotContinuation                                                               bool
		Context                                                                               json.RawMessage
		Attachments                                                                           []struct{ Type string }
		ToolRequests                                                                          []struct {
			Name      string
			Arguments json.RawMessage
		}
	}
}

// copilotKinds has the events that are left out.
var copilotKinds = kinds{
	"tool.execution_complete": toolResult, "tool.execution_partial_result": toolResult,
	"external_tool.completed": toolResult, "assistant.reasoning": thought, "system.message": "instructions",
	"system.notification": "notification", "skill.invoked": "skill", "abort": "aborted",
	"session.compaction_complete": compaction, "session.compaction_start": compaction, "session.truncation": compaction,
	"subagent.started": subagent, "subagent.completed": subagent, "subagent.failed": subagent,
	"subagent.selected": subagent, "subagent.deselected": subagent, "subagent.configured": subagent,
	"session.resume": "session.resume", "session.shutdown": "session.shutdown", "session.info": "session.info",
	"session.warning": "session.warning", "session.error": "session.error", "session.idle": "session.idle",
	"session.model_change": "session.model_change", "session.mode_changed": "session.mode_changed",
	"session.plan_changed": "session.plan_changed", "session.todos_changed": "session.todos_changed",
	"session.workspace_file_changed": "session.workspace_file_changed", "session.handoff": "session.handoff",
	"session.context_changed": "session.context_changed", "session.context_cleared": "session.context_cleared",
	"session.task_complete": "session.task_complete", "session.permissions_changed": "session.permissions_changed",
	"session.usage_checkpoint": "session.usage_checkpoint", "session.usage_info": "session.usage_info",
	"session.schedule_created": "session.schedule_created", "session.schedule_cancelled": "session.schedule_cancelled",
	"session.schedule_rearmed":              "session.schedule_rearmed",
	"session.autopilot_objective_changed":   "session.autopilot_objective_changed",
	"session.session_limits_changed":        "session.session_limits_changed",
	"session.remote_steerable_changed":      "session.remote_steerable_changed",
	"session.mode_notice_delivered":         "session.mode_notice_delivered",
	"session.auto_mode_resolved":            "session.auto_mode_resolved",
	"session.custom_notification":           "session.custom_notification",
	"session.binary_asset":                  file,
	"session.canvas.recorded":               "session.canvas.recorded",
	"session.canvas.removed":                "session.canvas.removed",
	"session.managed_settings_resolved":     "session.managed_settings_resolved",
	"session.managed_settings_enforced":     "session.managed_settings_enforced",
	"session.extensions.attachments_pushed": "session.extensions.attachments_pushed",
	"assistant.turn_start":                  "assistant.turn_start", "assistant.turn_end": "assistant.turn_end",
	"assistant.intent": "assistant.intent", "assistant.usage": "assistant.usage", "assistant.idle": "assistant.idle",
	"tool.execution_start": "tool.execution_start", "tool.user_requested": "tool.user_requested",
	"tool_search.activated": "tool_search.activated", "hook.start": "hook.start", "hook.end": "hook.end",
	"model.call_failure": "model.call_failure", "model.call_finished": "model.call_finished",
	"permission.requested": "permission.requested", "permission.completed": "permission.completed",
	"user_input.requested": "user_input.requested", "user_input.completed": "user_input.completed",
	"elicitation.requested": "elicitation.requested", "elicitation.completed": "elicitation.completed",
	"command.queued": "command.queued", "command.execute": "command.execute", "command.completed": "command.completed",
	"external_tool.requested":  "external_tool.requested",
	"exit_plan_mode.requested": "exit_plan_mode.requested", "exit_plan_mode.completed": "exit_plan_mode.completed",
	"factory.run_started": "factory.run_started", "factory.run_updated": "factory.run_updated",
	"factory.run_settled": "factory.run_settled", "ephemeral": "ephemeral",
}

var (
	copilotShape = sync.OnceValue(func() shape {
		return has("type", "id", "parentId", "timestamp", "ephemeral", "agentId").
			with("data", has("sessionId", "version", "producer", "copilotVersion", "startTime", "selectedModel",
				"reasoningEffort", "reasoningSummary", "contextTier", "alreadyInUse", "remoteSteerable", "sessionLimits", "verbosity",
				"detachedFromSpawningParentSessionId", "githubMcpToolConfig", "title", "content", "source", "agentMode",
				"attachments", "delivery", "interactionId", "isAutopilotContinuation", "nativeDocumentPathFallbackPaths",
				"parentAgentTaskId", "supportedNativeDocumentMimeTypes", "transformedContent", "turnId", "apiCallId", "chunkCount",
				"chunkIndex", "citations", "clientRequestId", "encryptedContent", "messageId", "model", "outputTokens",
				"parentToolCallId", "phase", "reasoningOpaque", "reasoningText", "reasoningWireField", "requestId", "rte",
				"serverTools", "serviceRequestId", "inputIntegrity", "inputOrigin", "upToEventId", "eventsRemoved").
				with("context", has("cwd", "gitRoot", "branch", "repository", "repositoryHost", "hostType", "headCommit",
					"baseCommit", "pendingGitContext")).
				with("toolRequests", has("toolCallId", "name", "arguments", "type", "intentionSummary", "mcpServerName",
					"mcpToolName", "toolTitle")))
	})
	copilotTaken = []string{"session.start", "session.title_changed", "user.message", "assistant.message",
		"session.snapshot_rewind"}
)

func (c *copilotCLI) line(data []byte, at position) error {
	var e copilotEvent
	if err := decode(data, &e); err != nil {
		return err
	}
	if !slices.Contains(copilotTaken, e.Type) {
		if e.Type == "" {
			return errDamaged
		}
		if _, known := copilotKinds[e.Type]; e.Ephemeral && !known {
			e.Type = "ephemeral"
		}
		copilotKinds.skip(c.handler, e.Type, at.String())
		return nil
	}
	copilotShape().tell(c.handler, data)
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
	case c.seen[e.ID]:
		c.handler.Skipped(Duplicate, "")
		return nil
	}
	c.seen[e.ID] = true
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
	if turn.Text == "" && len(turn.Calls) == 0 {
		if r.left == 0 {
			c.handler.Skipped(Empty, "")
		}
		return nil
	}
	if err := c.talk.said(turn, "", ""); err != nil {
		return err
	}
	c.events = append(c.events, e.ID)
	c.turns[e.ID] = c.talk.open.ID
	return nil
}

// rewind marks the turns from an event onwards as left.
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

func (c *copilotCLI) begun() Position { return Position{} }

func (c *copilotCLI) end() error {
	if c.talk == nil {
		return ErrFormat
	}
	return c.talk.end()
}
