package chats

import (
	"strings"

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
