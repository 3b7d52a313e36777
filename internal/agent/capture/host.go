package capture

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/ingest/chats"
)

// Host is a program that runs agents.
type Host string

// The hosts.
const (
	ClaudeCode Host = "claude-code"
	Codex      Host = "codex"
	Gemini     Host = "gemini"
	Cursor     Host = "cursor"
	OpenCode   Host = "opencode"
	CopilotCLI Host = "copilot-cli"
	Cline      Host = "cline"
)

// Event is an event that a host reports to a hook.
type Event string

// The events.
const (
	SessionStart Event = "session-start"
	Prompt       Event = "prompt"
	Stop         Event = "stop"
	Compact      Event = "compact"
	SessionEnd   Event = "session-end"
)

// Hosts are the names of the hosts.
func Hosts() []string {
	return []string{string(ClaudeCode), string(Codex), string(Gemini), string(Cursor), string(OpenCode), string(CopilotCLI),
		string(Cline)}
}

// Events are the names of the events.
func Events() []string {
	return []string{string(SessionStart), string(Prompt), string(Stop), string(Compact), string(SessionEnd)}
}

// spelled are the events as the hosts spell them that call commands.
var spelled = map[Host]map[string]Event{
	ClaudeCode: {
		"SessionStart": SessionStart, "UserPromptSubmit": Prompt, "Stop": Stop, "PreCompact": Compact, "SessionEnd": SessionEnd,
	},
	Codex: {"SessionStart": SessionStart, "UserPromptSubmit": Prompt, "Stop": Stop, "PreCompact": Compact},
	Gemini: {
		"SessionStart": SessionStart, "BeforeAgent": Prompt, "AfterAgent": Stop, "PreCompress": Compact,
		"SessionEnd": SessionEnd,
	},
	Cursor:     {"sessionStart": SessionStart, "beforeSubmitPrompt": Prompt, "preCompact": Compact},
	CopilotCLI: {"sessionStart": SessionStart, "agentStop": Stop, "preCompact": Compact, "sessionEnd": SessionEnd},
	Cline:      {"UserPromptSubmit": Prompt},
}

// EventOf returns the event that a name stands for, as this program or the host spells it, and whether there is one.
func EventOf(host, name string) (Event, bool) {
	if e, ok := spelled[Host(host)][name]; ok {
		return e, true
	}
	return Event(name), slices.Contains(Hosts(), host) && slices.Contains(Events(), name)
}

const (
	maxSaid = 1 << 20
	maxTalk = 16 << 20
)

// MaxInput is how much of standard input is read of a host, in bytes: what is longer is not its JSON. OpenCode says
// all of a conversation, since it has no file of it.
func MaxInput(host string) int64 {
	if Host(host) == OpenCode {
		return maxTalk
	}
	return maxSaid
}

// ErrInput is returned for what is not JSON of a host.
var ErrInput = errors.New("not what a host says")

// Call is a host's message to a hook.
type Call struct {
	Host       Host
	Event      Event
	Session    string // the host's id of it
	Transcript string // its path, "" if the host names none
	Dir        string // the working directory, "" if the host names none
	Prompt     string // of the event prompt
	Talk       []byte // all of the conversation, of a host without transcripts; nil for none
}

// wire has the members of all hosts: names tell them apart.
type wire struct {
	Session      string   `json:"session_id"`
	Code         string   `json:"sessionId"`       // Copilot CLI; VS Code, which runs the hooks of Claude Code
	Conversation string   `json:"conversation_id"` // Cursor
	Transcript   string   `json:"transcript_path"` // null where there is none
	Copilot      string   `json:"transcriptPath"`  // the same of Copilot CLI
	Dir          string   `json:"cwd"`
	Roots        []string `json:"workspace_roots"` // Cursor
	Prompt       string   `json:"prompt"`

	Talk json.RawMessage `json:"talk"` // OpenCode

	// Of Cline.
	Task    string                  `json:"taskId"`
	Folders []string                `json:"workspaceRoots"`
	Submit  struct{ Prompt string } `json:"userPromptSubmit"`
}

// Parse reads what a host says to a hook. The event may be spelled as EventOf has it.
func Parse(host, event string, data []byte) (*Call, error) {
	known, ok := EventOf(host, event)
	if !ok {
		return nil, fmt.Errorf("%w: host %q, event %q", ErrInput, host, event)
	}
	var w wire
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), &w); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	c := &Call{
		Host: Host(host), Event: known, Session: w.Session, Transcript: w.Transcript, Dir: w.Dir,
		Prompt: chats.Spoken(w.Prompt), // Gemini CLI puts what other hooks said before it
	}
	if c.Host == OpenCode && len(w.Talk) > 0 && w.Talk[0] == '{' {
		c.Talk = w.Talk
	}
	c.Session = cmp.Or(c.Session, w.Conversation)
	if c.Session == "" && c.Host == CopilotCLI {
		c.Session, c.Transcript = w.Code, w.Copilot
	}
	if c.Host == Cline {
		c.Session, c.Prompt, w.Roots = w.Task, chats.Spoken(w.Submit.Prompt), w.Folders
	}
	if c.Session == "" && c.Host == ClaudeCode {
		c.Session, c.Transcript = w.Code, "" // of a form that is not read
	}
	if c.Dir == "" && len(w.Roots) > 0 {
		c.Dir = w.Roots[0]
		if runtime.GOOS == "windows" && c.Host == Cursor {
			c.Dir = drivePath(c.Dir)
		}
	}
	if c.Session == "" {
		return nil, fmt.Errorf("%w: no session", ErrInput)
	}
	if c.Dir != "" && !filepath.IsAbs(c.Dir) {
		return nil, fmt.Errorf("%w: the working directory %q is not absolute", ErrInput, c.Dir)
	}
	return c, nil
}

// drivePath returns a directory as Windows has it: Cursor writes it as the path of an address, /c:/dir.
func drivePath(path string) string {
	if len(path) < 3 || path[0] != '/' || path[2] != ':' {
		return path
	}
	return strings.ReplaceAll(path[1:], "/", `\`)
}

// Forgets reports whether the agent no longer sees what it was given before. Gemini CLI asks at each prompt whether
// there is something to compact, and says so to hooks before it knows.
func (c *Call) Forgets() bool {
	return c.Event == SessionStart || c.Event == Compact && c.Host != Gemini
}

// At names the transcript of a call by the user's own directory, for a host that does not name it at every event.
func (c *Call) At(home string) {
	if c.Host == CopilotCLI && c.Transcript == "" && filepath.Base(c.Session) == c.Session && filepath.IsLocal(c.Session) {
		c.Transcript = filepath.Join(home, ".copilot", "session-state", c.Session, "events.jsonl")
	}
}

// digest is the first digits of the hash of a session's id.
func digest(session string) string {
	sum := sha256.Sum256([]byte(session))
	return hex.EncodeToString(sum[:8])
}

// sessions is how the names begin of the sessions that hooks record in.
const sessions = "hook/"

// SessionName is the name of the session that a hook records in.
func SessionName(host Host, session string) string {
	plain := len(session) <= 100 && !strings.Contains(session, "/")
	name := sessions + string(host) + "/" + session
	if !plain || graph.ValidateName(name) != nil {
		name = sessions + string(host) + "/" + digest(session)
	}
	return name
}

// OfHook reports whether a session is one that hooks record in.
func OfHook(name string) bool { return strings.HasPrefix(name, sessions) }

// Output returns what a host is told so that its agent is given a text: nil for none, and for events that take none.
func Output(host Host, event Event, text string) []byte {
	if text == "" || event != SessionStart && event != Prompt {
		return nil
	}
	type specific struct {
		Event string `json:"hookEventName"`
		Text  string `json:"additionalContext"`
	}
	var out any
	switch {
	case host == Cursor && event == Prompt:
		out = struct {
			Continue bool   `json:"continue"`
			Text     string `json:"additional_context"`
		}{true, text}
	case host == Cline:
		out = struct {
			Cancel bool   `json:"cancel"`
			Text   string `json:"contextModification"`
		}{false, text}
	case host == CopilotCLI:
		out = struct {
			Text string `json:"additionalContext"`
		}{text}
	case host == Cursor:
		out = struct {
			Text string `json:"additional_context"`
		}{text}
	default:
		name := "SessionStart"
		if event == Prompt {
			if name = "UserPromptSubmit"; host == Gemini {
				name = "BeforeAgent"
			}
		}
		out = struct {
			Specific specific `json:"hookSpecificOutput"`
		}{specific{name, text}}
	}
	data, _ := json.Marshal(out) // it has a JSON form
	return append(data, '\n')
}
