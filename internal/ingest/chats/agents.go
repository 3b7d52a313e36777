package chats

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/internal/base/pattern"
)

// claudeCode reads the transcript of a session of Claude Code. A file may begin with turns of the session that
// it goes on with: they keep their ids.
type claudeCode struct {
	handler Handler
	talk    *talk
	open    string // the message of the turn in the making
	title   string
}

type claudeCodeLine struct {
	Type, UUID, SessionID, Timestamp, Cwd, GitBranch, Summary string

	IsSidechain, IsMeta, IsCompactSummary bool

	Message struct {
		ID      string
		Content json.RawMessage
	}
}

// contentBlock is a part of a message.
type contentBlock struct {
	Type, Text, Name string
	Input            json.RawMessage
}

// injected is what programs put into what users say.
var injected = pattern.New(`(?s)<(system-reminder|ide_selection|ide_opened_file|environment_context|` +
	`user_instructions|local-command-caveat|hook_context|mnem-memory)>.*?</(?:system-reminder|ide_selection|` +
	`ide_opened_file|environment_context|user_instructions|local-command-caveat|hook_context|mnem-memory)>`)

// Spoken is what is left of a user's text without what programs put into it, "" for the output of a command.
func Spoken(text string) string {
	text = strings.TrimSpace(injected().ReplaceAllString(text, ""))
	for _, begin := range []string{"<command-", "<local-command", "<bash-", "Caveat: The messages below"} {
		if strings.HasPrefix(text, begin) {
			return ""
		}
	}
	return text
}

func (c *claudeCode) line(data []byte, at position) error {
	var l claudeCodeLine
	if err := decode(data, &l); err != nil {
		return err
	}
	switch {
	case l.Type == "summary":
		c.title = l.Summary
		return nil
	case l.Type != "user" && l.Type != "assistant":
		c.handler.Skipped("a note of the program", "")
		return nil
	case l.IsSidechain:
		c.handler.Skipped("a turn of a subagent", "")
		return nil
	case l.IsMeta || l.IsCompactSummary:
		c.handler.Skipped("put in by the program", "")
		return nil
	case l.UUID == "" || l.SessionID == "":
		return errDamaged
	}
	if c.talk == nil || c.talk.session.ID != l.SessionID {
		if err := c.begin(&l); err != nil {
			return err
		}
	}
	text, calls, results, err := blocks(l.Message.Content)
	if err != nil {
		return err
	}
	if l.Type == "user" {
		text = Spoken(text)
	}
	if text == "" && len(calls) == 0 {
		why := "put in by the program"
		if results {
			why = "what a tool answered"
		} else if l.Type == "assistant" {
			why = "a thought"
		}
		c.handler.Skipped(why, "")
		return nil
	}
	turn := Turn{ID: l.UUID, Speaker: l.Type, Time: moment(l.Timestamp), Text: text, Calls: calls}
	if l.Cwd != c.talk.session.Dir {
		turn.Dir = flat(l.Cwd)
	}
	if l.GitBranch != c.talk.session.Branch {
		turn.Branch = flat(l.GitBranch)
	}
	open := c.open
	c.open = l.Message.ID
	c.talk.at = at.place()
	return c.talk.said(turn, l.Message.ID, open)
}

func (c *claudeCode) begin(l *claudeCodeLine) error {
	before := ""
	if c.talk != nil {
		if err := c.talk.end(); err != nil {
			return err
		}
		before = c.talk.before
	}
	c.talk = &talk{handler: c.handler, before: before, session: Session{
		ID: l.SessionID, Dir: flat(l.Cwd), Branch: flat(l.GitBranch),
	}}
	return nil
}

func (c *claudeCode) begun() Place {
	p := c.talk.place()
	p.Session.Title = c.title
	return p
}

func (c *claudeCode) end() error {
	if c.talk == nil {
		return nil
	}
	c.talk.session.Title = c.title
	return c.talk.end()
}

// blocks reads the content of a message: a text, or a list of blocks.
func blocks(data json.RawMessage) (text string, calls []string, results bool, err error) {
	if len(data) == 0 || json.Unmarshal(data, &text) == nil {
		return strings.TrimSpace(text), nil, false, nil
	}
	var list []contentBlock
	if err := decode(data, &list); err != nil {
		return "", nil, false, err
	}
	for _, b := range list {
		switch b.Type {
		case "text", "input_text", "output_text":
			text = join(text, strings.TrimSpace(b.Text))
		case "tool_use", "server_tool_use":
			if len(calls) < maxCalls {
				calls = append(calls, call(b.Name, b.Input))
			}
		case "tool_result":
			results = true
		}
	}
	return text, calls, results, nil
}

// codex reads a rollout of Codex: lines of an envelope, or in older files the items themselves. Its items have
// no ids, but files only grow: a turn is known by its number.
type codex struct {
	handler Handler
	talk    *talk
	turns   int
}

type codexLine struct {
	Type, Timestamp, ID, Role, Name string
	Payload                         json.RawMessage
	Content, Arguments, Input       json.RawMessage
	Action                          struct{ Command []string }
}

type codexMeta struct {
	ID, SessionID, Timestamp, Cwd string
	Git                           struct{ Branch string }
}

func (c *codex) line(data []byte, at position) error {
	var l codexLine
	if err := decode(data, &l); err != nil {
		return err
	}
	when := l.Timestamp
	switch {
	case l.Type == "session_meta":
		return c.meta(l.Payload)
	case l.Type == "" && l.ID != "" && at.number == 1:
		return c.meta(data)
	case l.Type == "response_item":
		payload := l.Payload
		l = codexLine{}
		if err := decode(payload, &l); err != nil {
			return err
		}
	case l.Payload != nil:
		c.handler.Skipped("a note of the program", "") // events say again what the items say
		return nil
	}
	if c.talk == nil {
		return errDamaged
	}
	c.talk.at = at.place()
	return c.item(&l, when)
}

func (c *codex) meta(data json.RawMessage) error {
	var m codexMeta
	if err := decode(data, &m); err != nil {
		return err
	}
	if m.ID == "" {
		return errDamaged
	}
	if c.talk != nil { // a session that was resumed says so again
		return nil
	}
	c.talk = &talk{handler: c.handler, session: Session{
		ID: m.ID, Time: moment(m.Timestamp), Dir: flat(m.Cwd), Branch: flat(m.Git.Branch),
	}}
	return nil
}

func (c *codex) item(l *codexLine, when string) error {
	turn := Turn{Speaker: l.Role, Time: moment(when)}
	switch l.Type {
	case "message":
		if l.Role != "user" && l.Role != "assistant" {
			c.handler.Skipped("put in by the program", "")
			return nil
		}
		text, _, _, err := blocks(l.Content)
		if err != nil {
			return err
		}
		if turn.Text = text; l.Role == "user" {
			turn.Text = Spoken(text)
		}
		if turn.Text == "" {
			c.handler.Skipped("put in by the program", "")
			return nil
		}
	case "function_call", "custom_tool_call":
		args := l.Arguments
		if args == nil {
			args = l.Input
		}
		turn.Speaker, turn.Calls = "assistant", []string{call(l.Name, args)}
	case "local_shell_call":
		turn.Speaker = "assistant"
		turn.Calls = []string{flat("shell: " + strings.Join(l.Action.Command, " "))}
	case "reasoning":
		c.handler.Skipped("a thought", "")
		return nil
	default:
		c.handler.Skipped("what a tool answered", "")
		return nil
	}
	c.talk.at.Items = c.turns
	c.turns++
	turn.ID = fmt.Sprintf("%s/%d", c.talk.session.ID, c.turns)
	return c.talk.said(turn, "", "")
}

func (c *codex) begun() Place { return c.talk.place() }

func (c *codex) end() error {
	if c.talk == nil {
		return ErrFormat
	}
	return c.talk.end()
}
