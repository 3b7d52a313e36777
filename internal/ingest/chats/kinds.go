package chats

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"

	"github.com/mnem-project/mnem/internal/base/pattern"
)

// Kinds of records and parts of records that are left out, as answers count them. A record left out as a whole is
// counted by the type name in its format, or by one of these.
const (
	Damaged    = "damaged"
	Duplicate  = "duplicate"
	Incomplete = "incomplete last line"
	Empty      = "empty"

	thought    = "thought"
	toolResult = "tool result"
	subagent   = "subagent"
	image      = "image"
	file       = "file"
	audio      = "audio"
	reminder   = "reminder"
	command    = "command"
	compaction = "compaction"
)

// unknown begins the kind of a record or part that no table has: a newer version of its program wrote it.
const unknown = "unknown "

// kinds are the record types, or parts of records, of a format that are left out, and as what each is counted. The
// tables of docs/reference/importers.md say why.
type kinds map[string]string

// skip counts a record or part that is left out. A kind that is in no table is reported with its position.
func (k kinds) skip(h Handler, name, at string) {
	if kind, known := k[name]; known {
		h.Skipped(kind, "")
		return
	}
	h.Skipped(unknown+label(name), at)
}

// contexts are the elements that programs put into the messages of users, and as what each is counted.
var contexts = kinds{
	"environment_context": "environment", "environments_instructions": "environment", "session_context": "environment",
	"additional_context": "environment", "current_time_reminder": "environment", "context_window": "environment",
	"token_budget": "environment", "rollout_budget": "environment", "internal_model_context": "environment",
	"codex_internal_context": "environment", "realtime_conversation": "environment", "heartbeat": "environment",
	"user_instructions": "instructions", "INSTRUCTIONS": "instructions", "apps_instructions": "instructions",
	"plugins_instructions": "instructions", "skills_instructions": "instructions", "git_attribution": "instructions",
	"collaboration_mode": "instructions", "multi_agent_mode": "instructions", "personality_spec": "instructions",
	"model_switch": "instructions", "tools": "instructions", "recommended_plugins": "instructions",
	"permissions instructions": "permissions", "user_verification_notice": "permissions",
	"turn_aborted": "aborted", "user_shell_command": "shell command", "skill": "skill",
	"subagent_notification": "notification", "task-notification": "notification", "codex_delegation": "notification",
	"state_snapshot": compaction, "compaction_summary": compaction,
	"system-reminder": reminder, "ide_selection": "editor", "ide_opened_file": "editor", "hook_prompt": "hook",
	"hook_context": "hook", "local-command-caveat": command, "mnem-memory": "memory",
}

// anywhere are the elements that programs put between the words of a user.
var anywhere = pattern.New(`(?s)<(?:system-reminder|ide_selection|ide_opened_file|environment_context|` +
	`user_instructions|local-command-caveat|hook_context|mnem-memory|session_context)>.*?` +
	`</(?:system-reminder|ide_selection|ide_opened_file|environment_context|user_instructions|` +
	`local-command-caveat|hook_context|mnem-memory|session_context)>`)

// beginnings are texts that programs say in the name of a user.
var beginnings = []struct{ text, kind string }{
	{"<command-", command},
	{"<local-command", command},
	{"<bash-", "shell command"},
	{"Caveat: The messages below", command},
	{"[Request interrupted by user", "aborted"},
	{"This session is being continued from a previous conversation", compaction},
}

// Spoken returns a user's text without the parts that programs added, "" for the output of a command.
func Spoken(text string) string { return spoken(text, func(string) {}) }

// spoken is Spoken, and names the kind of each thing that it takes out.
func spoken(text string, left func(kind string)) string {
	text = anywhere().ReplaceAllStringFunc(text, func(found string) string {
		name, _, _ := strings.Cut(found[1:], ">")
		left(contexts[name])
		return ""
	})
	for text = strings.TrimSpace(text); ; text = strings.TrimSpace(text) {
		// Instructions of a directory have a line above them.
		if strings.HasPrefix(text, "# AGENTS.md instructions") {
			if _, rest, ok := strings.Cut(text, "<INSTRUCTIONS>"); ok {
				text = "<INSTRUCTIONS>" + rest
			}
		}
		name, after := element(text)
		if after == 0 {
			break
		}
		left(contexts[name])
		text = text[after:]
	}
	for _, b := range beginnings {
		if strings.HasPrefix(text, b.text) {
			left(b.kind)
			return ""
		}
	}
	return text
}

// element returns the name of the context element that a text begins with, and where it ends, 0 for none.
func element(text string) (name string, after int) {
	head, ok := strings.CutPrefix(text[:min(len(text), 200)], "<")
	if !ok {
		return "", 0
	}
	name, _, ok = strings.Cut(head, ">")
	if _, known := contexts[name]; !ok || !known {
		return "", 0
	}
	end := "</" + name + ">"
	if at := strings.Index(text, end); at >= 0 {
		return name, at + len(end)
	}
	return "", 0
}

// shape lists the members of a record in the supported versions of its program. A member that holds objects, or lists
// of them, has its own shape.
type shape map[string]shape

// anyName matches every member of an object whose names are ids.
const anyName = "*"

// has returns a shape with these members.
func has(names ...string) shape {
	s := make(shape, len(names))
	for _, n := range names {
		s[n] = nil
	}
	return s
}

// with adds a member with a shape of its own.
func (s shape) with(name string, of shape) shape {
	s[name] = of
	return s
}

// unknownField is the prefix of the kind of a member that is in no shape.
const unknownField = "unknown field "

// tell counts the members of a record that the shape does not have. The record is valid JSON.
func (s shape) tell(h Handler, record []byte) {
	f := fieldScanner{data: record, handler: h}
	f.value(s)
}

// fieldScanner walks through valid JSON once.
type fieldScanner struct {
	data    []byte
	at      int
	handler Handler
}

// value skips a value, and checks the members of objects that have a shape.
func (f *fieldScanner) value(s shape) {
	f.blanks()
	if f.at >= len(f.data) {
		return
	}
	switch c := f.data[f.at]; {
	case c == '{' && s != nil:
		f.object(s)
	case c == '[' && s != nil:
		f.at++
		for f.next(']') {
			f.value(s)
		}
	case c == '{' || c == '[':
		f.nested()
	case c == '"':
		f.text()
	default:
		for f.at < len(f.data) && !bytes.ContainsRune([]byte(",]} \t\r\n"), rune(f.data[f.at])) {
			f.at++
		}
	}
}

func (f *fieldScanner) blanks() {
	for f.at < len(f.data) && (f.data[f.at] == ' ' || f.data[f.at] == '\n' || f.data[f.at] == '\t' || f.data[f.at] == '\r') {
		f.at++
	}
}

// next skips a comma, or the end of an object or list; it returns false at the end.
func (f *fieldScanner) next(end byte) bool {
	f.blanks()
	if f.at < len(f.data) && f.data[f.at] == ',' {
		f.at++
		f.blanks()
	}
	if f.at >= len(f.data) || f.data[f.at] == end {
		f.at++
		return false
	}
	return true
}

func (f *fieldScanner) object(s shape) {
	f.at++
	for f.next('}') {
		name := string(f.text())
		f.blanks()
		f.at++ // the colon
		of, known := s[name]
		if !known {
			of, known = s[anyName]
		}
		if !known {
			f.handler.Skipped(unknownField+label(name), "")
		}
		f.value(of)
	}
}

// text reads a string and returns its value.
func (f *fieldScanner) text() []byte {
	from := f.at
	f.at++
	for f.at < len(f.data) {
		i := bytes.IndexAny(f.data[f.at:], `"\`)
		if i < 0 {
			f.at = len(f.data)
			break
		}
		f.at += i
		if f.data[f.at] == '"' {
			f.at++
			break
		}
		f.at += 2
	}
	raw := f.data[from:min(f.at, len(f.data))]
	if !bytes.ContainsRune(raw, '\\') {
		return bytes.Trim(raw, `"`)
	}
	var s string
	_ = json.Unmarshal(raw, &s) // it is valid; else the name is empty
	return []byte(s)
}

// nested skips a whole object or list.
func (f *fieldScanner) nested() {
	for depth := 0; f.at < len(f.data); {
		switch f.data[f.at] {
		case '"':
			f.skipText()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				f.at++
				return
			}
		}
		f.at++
	}
}

// skipText skips a string.
func (f *fieldScanner) skipText() {
	f.at++
	for f.at < len(f.data) {
		switch f.data[f.at] {
		case '"':
			f.at++
			return
		case '\\':
			f.at++
		}
		f.at++
	}
}

// The members of records in 2026, as the programs write them.
var (
	blockShape = sync.OnceValue(func() shape {
		return has("type", "text", "id", "name", "input", "caller", "content", "tool_use_id", "is_error", "thinking",
			"signature", "data", "source", "citations", "cache_control", "title", "context", "file_id", "call_id", "ts",
			"reasoning_details", "summary")
	})
	claudeCodeShape = sync.OnceValue(func() shape {
		return has("type", "uuid", "parentUuid", "logicalParentUuid", "sessionId", "session_id", "timestamp", "cwd",
			"gitBranch", "version", "userType", "isSidechain", "isMeta", "isCompactSummary", "isVisibleInTranscriptOnly",
			"requestId", "toolUseResult", "toolUseID", "parentToolUseID", "sourceToolUseID", "sourceToolAssistantUUID", "slug",
			"agentId", "agentName", "teamName", "promptId", "promptSource", "permissionMode", "entrypoint", "thinkingMetadata",
			"todos", "isApiErrorMessage", "error", "apiError", "apiErrorStatus", "errorDetails", "attachment", "imagePasteIds",
			"planContent", "origin", "mcpMeta", "effort", "forkedFrom", "isReplay", "attributionSkill", "attributionPlugin",
			"attributionAgent", "attributionMcpServer", "attributionMcpTool", "queuePriority", "interruptedMessageId").
			with("message", has("id", "role", "model", "type", "stop_reason", "stop_sequence", "stop_details", "usage", "container",
				"context_management", "diagnostics").with("content", blockShape()))
	})
	codexPartShape = sync.OnceValue(func() shape {
		return has("type", "text", "image_url", "detail", "annotations", "logprobs", "encrypted_content", "audio_url",
			"file_id", "file_data", "filename")
	})
	codexItemShape = sync.OnceValue(func() shape {
		return has("type", "role", "id", "name", "arguments", "input", "call_id", "status", "namespace", "phase",
			"end_turn", "action", "result", "revised_prompt", "execution", "metadata", "timestamp", "record_type",
			"internal_chat_message_metadata_passthrough").with("content", codexPartShape())
	})
	codexShape = sync.OnceValue(func() shape {
		return has("timestamp", "type", "ordinal").with("payload", codexItemShape())
	})
	codexMetaShape = sync.OnceValue(func() shape {
		return has("id", "session_id", "timestamp", "cwd", "originator", "cli_version", "instructions",
			"base_instructions", "source", "thread_source", "model_provider", "forked_from_id", "parent_thread_id",
			"agent_nickname", "agent_role", "agent_path", "dynamic_tools", "memory_mode", "history_mode", "record_type",
			"multi_agent_version", "context_window").with("git", has("commit_hash", "branch", "repository_url"))
	})
	geminiPartShape = sync.OnceValue(func() shape {
		return has("text", "thought", "thoughtSignature", "inlineData", "fileData", "functionCall",
			"functionResponse", "executableCode", "codeExecutionResult", "videoMetadata", "mediaResolution")
	})
	geminiMessageShape = sync.OnceValue(func() shape {
		return has("id", "timestamp", "type", "thoughts", "tokens", "model").
			with("content", geminiPartShape()).with("displayContent", geminiPartShape()).
			with("toolCalls", has("id", "name", "args", "result", "status", "timestamp", "resultDisplay", "displayName",
				"description", "renderOutputAsMarkdown", "agentId", "parentCallId"))
	})
	geminiShape = sync.OnceValue(func() shape {
		return has("sessionId", "projectHash", "startTime", "lastUpdated", "directories", "summary", "kind",
			"memoryScratchpad", "messages", "$set", "$rewindTo")
	})
	chatGPTShape = sync.OnceValue(func() shape {
		return has("id", "conversation_id", "title", "create_time", "update_time", "current_node",
			"moderation_results", "plugin_ids", "gizmo_id", "gizmo_type", "conversation_template_id", "is_archived", "is_starred",
			"is_read_only", "is_do_not_remember", "is_study_mode", "safe_urls", "blocked_urls", "default_model_slug",
			"conversation_origin", "voice", "async_status", "disabled_tool_ids", "memory_scope", "sugar_item_id",
			"sugar_item_visible", "workspace_id", "owner", "context_scopes", "pinned_time").
			with("mapping", shape{anyName: has("id", "parent", "children").with("message",
				has("id", "create_time", "update_time", "status", "end_turn", "weight", "metadata", "recipient", "channel").
					with("author", has("role", "name", "metadata")).
					with("content", has("content_type", "text", "language", "response_format_name", "thoughts",
						"source_analysis_msg_id", "content", "user_profile", "user_instructions", "model_set_context", "name",
						"result", "summary", "assets", "tether_id", "url", "domain", "title", "repository", "repo_summary",
						"structured_context").
						with("parts", has("content_type", "text", "direction", "decoding_id", "asset_pointer", "size_bytes", "format",
							"metadata", "expiry_datetime", "frames_asset_pointers", "video_container_asset_pointer",
							"audio_asset_pointer", "audio_start_timestamp", "width", "height", "fovea", "tool_audio_direction"))))})
	})
	claudeShape = sync.OnceValue(func() shape {
		return has("uuid", "name", "summary", "model", "created_at", "updated_at", "settings", "account",
			"current_leaf_message_uuid", "is_starred", "is_temporary", "project", "project_uuid", "platform").
			with("chat_messages", has("uuid", "text", "sender", "created_at", "updated_at", "files_v2", "sync_sources",
				"parent_message_uuid", "index", "truncated", "input_mode", "stop_reason").
				with("content", has("start_timestamp", "stop_timestamp", "flags", "type", "text", "title", "thinking", "summaries",
					"cut_off", "alternative_display_type", "signature", "citations", "name", "input", "message",
					"integration_name", "integration_icon_url", "icon_name", "context", "display_content", "approval_options",
					"approval_key", "is_error", "tool_use_id", "content", "structured_content", "meta", "id", "is_mcp_app",
					"mcp_server_url", "remaining", "truncated", "transcription", "duration", "data", "source", "flag", "helpline")).
				with("attachments", has("id", "file_name", "file_size", "file_type", "extracted_content", "created_at")).
				with("files", has("file_name", "file_kind", "file_uuid", "created_at", "thumbnail_url", "preview_url",
					"thumbnail_asset", "preview_asset", "document_asset")))
	})
	openCodeShape = sync.OnceValue(func() shape {
		return shape{}.with("info", has("id", "slug", "projectID", "workspaceID", "directory", "path", "parentID",
			"title", "version", "time", "summary", "share", "revert", "permission", "cost", "tokens", "agent", "model", "metadata")).
			with("messages", shape{}.with("info", has("id", "sessionID", "role", "time", "parentID", "modelID", "providerID",
				"mode", "agent", "path", "cost", "tokens", "summary", "error", "system", "tools", "model", "variant", "format",
				"structured", "finish")).
				with("parts", has("id", "sessionID", "messageID", "type", "text", "synthetic", "ignored", "time", "metadata",
					"callID", "tool", "state", "snapshot", "reason", "cost", "tokens", "hash", "files", "name", "source", "attempt",
					"error", "auto", "overflow", "prompt", "description", "agent", "model", "command", "mime", "filename", "url")))
	})
	serverMemoryShape = sync.OnceValue(func() shape {
		return has("type", "name", "entityType", "observations", "from", "to", "relationType")
	})
)
