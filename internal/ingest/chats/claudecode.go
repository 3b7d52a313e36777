package chats

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// claudeCode reads the transcript of a session of Claude Code. A file may begin with turns of the session that
// it goes on with: they keep their ids.
type claudeCode struct {
	handler Handler
	talk    *talk
	open    string // the message of the turn in the making
	title   string
	named   bool // whether a person gave the title
	ranked  int  // how good the title is
	seen    map[string]bool
}

type claudeCodeLine struct {
	Type, UUID, SessionID, Timestamp, Cwd, GitBranch string

	Summary, AITitle, CustomTitle string

	IsSidechain, IsMeta, IsCompactSummary bool

	Message struct {
		ID      string
		Content json.RawMessage
	}
	Attachment struct {
		Type, CommandMode string
		Prompt            json.RawMessage
		SourceUUID        string `json:"source_uuid"`
		IsMeta            bool
	}
	ToolUseResult json.RawMessage
}

func (c *claudeCode) line(data []byte, at position) error {
	var l claudeCodeLine
	if err := decode(data, &l); err != nil {
		return err
	}
	place := at.String()
	switch {
	case l.Type == "summary", l.Type == "ai-title", l.Type == "custom-title":
		c.entitle(&l)
		return nil
	case l.Type == "attachment" && (l.Attachment.Type != "queued_command" || l.Attachment.CommandMode != "prompt"):
		kind := "attachment " + l.Attachment.Type
		if l.Attachment.Type == "queued_command" {
			kind = "queued " + l.Attachment.CommandMode
		}
		c.handler.Skipped(label(kind), "")
		return nil
	case l.Type == "attachment":
		l.Message.Content, l.IsMeta = l.Attachment.Prompt, l.IsMeta || l.Attachment.IsMeta
		l.Type = "user"
	case l.Type != "user" && l.Type != "assistant":
		kindsOf("claude-code").skip(c.handler, l.Type, place)
		return nil
	}
	switch {
	case l.IsSidechain:
		c.handler.Skipped(subagent, "")
		return nil
	case l.IsMeta:
		c.handler.Skipped(reminder, "")
		return nil
	case l.IsCompactSummary:
		c.handler.Skipped(compaction, "")
		return nil
	case again(c.seen, l.UUID), again(c.seen, l.Attachment.SourceUUID):
		c.handler.Skipped(Duplicate, "")
		return nil
	}
	return c.message(&l, data, at)
}

// entitle takes a title. A person's title goes before one of the program; otherwise the later one counts.
func (c *claudeCode) entitle(l *claudeCodeLine) {
	switch {
	case l.CustomTitle != "":
		c.title, c.named = l.CustomTitle, true
	case c.named:
	case l.AITitle != "":
		c.title, c.ranked = l.AITitle, 1
	case l.Summary != "" && c.ranked == 0:
		c.title = l.Summary
	}
}

func (c *claudeCode) message(l *claudeCodeLine, data []byte, at position) error {
	fieldsOf("claude-code").tell(c.handler, data)
	c.identify(l, data)
	if c.talk == nil || c.talk.session.ID != l.SessionID {
		if err := c.begin(l); err != nil {
			return err
		}
	}
	r := blockReader{handler: c.handler, at: at.String(), user: l.Type == "user"}
	if err := r.read(l.Message.Content); err != nil {
		return err
	}
	if r.user {
		r.text = join(r.text, answers(l.ToolUseResult))
	}
	turn := Turn{ID: l.UUID, Speaker: l.Type, Time: moment(l.Timestamp), Text: r.text, Calls: r.calls}
	if turn.empty(c.handler, r.left) {
		return nil
	}
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

// identify gives a message without a session the session of the message before it, or one named by a hash of its bytes.
func (c *claudeCode) identify(l *claudeCodeLine, data []byte) {
	switch {
	case l.SessionID != "":
	case c.talk != nil:
		l.SessionID = c.talk.session.ID
	default:
		sum := sha256.Sum256(data)
		l.SessionID = "~" + hex.EncodeToString(sum[:8])
	}
}

func (c *claudeCode) begin(l *claudeCodeLine) error {
	before := ""
	if c.talk != nil {
		if err := c.talk.end(); err != nil {
			return err
		}
		before = c.talk.before
	}
	c.talk = &talk{handler: c.handler, before: before, root: l.SessionID, session: Session{
		ID: l.SessionID, Dir: flat(l.Cwd), Branch: flat(l.GitBranch),
	}}
	return nil
}

func (c *claudeCode) begun() Position {
	p := c.talk.place()
	p.Session.Title, p.Named = c.title, c.named
	return p
}

func (c *claudeCode) end() error {
	if c.talk == nil {
		return nil
	}
	c.talk.session.Title = c.title
	return c.talk.end()
}

type contentBlock struct {
	Type, Text, Name string
	Input            json.RawMessage
	Content          json.RawMessage
}

// blockReader reads the content of a message: a text, or a list of blocks.
type blockReader struct {
	handler Handler
	at      string
	user    bool // whose texts may be of the program
	// clean removes the program's additions from a user's text; nil for spoken.
	clean func(text string, left func(kind string)) string
	more  kinds // further parts that are left out

	text  string
	calls []string
	left  int // how many parts were left out
}

func (r *blockReader) read(data json.RawMessage) error {
	var text string
	if len(data) == 0 || json.Unmarshal(data, &text) == nil {
		r.say(text)
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(data, &list) != nil {
		list = []json.RawMessage{data}
	}
	for _, part := range list {
		var b contentBlock
		if json.Unmarshal(part, &text) == nil {
			b = contentBlock{Type: "text", Text: text}
		} else if err := decode(part, &b); err != nil {
			return err
		}
		r.block(&b)
	}
	return nil
}

func (r *blockReader) block(b *contentBlock) {
	switch b.Type {
	case "text", "input_text", "output_text", "refusal":
		r.say(b.Text)
	case "tool_use", "server_tool_use", "mcp_tool_use":
		if len(r.calls) < maxCalls {
			r.calls = append(r.calls, call(b.Name, b.Input))
		} else {
			r.skip("call beyond 100")
		}
	case "tool_result":
		r.skip(toolResult)
		if said := refusal(b.Content); said != "" && r.user {
			r.say(said)
		}
	default:
		r.left++
		if kind, known := r.more[b.Type]; known {
			r.handler.Skipped(kind, "")
			return
		}
		kindsOf("content").skip(r.handler, b.Type, r.at)
	}
}

func (r *blockReader) skip(kind string) {
	r.left++
	r.handler.Skipped(kind, "")
}

// say adds a text, of a user without what programs put into it.
func (r *blockReader) say(text string) {
	text = strings.TrimSpace(text)
	switch {
	case r.clean != nil:
		text = r.clean(text, r.skip)
	case r.user:
		text = spoken(text, r.skip)
	}
	r.text = join(r.text, text)
}

// answers returns the user's choices when the program asked.
func answers(result json.RawMessage) string {
	var r struct{ Answers map[string]json.RawMessage }
	if len(result) == 0 || json.Unmarshal(result, &r) != nil {
		return ""
	}
	text := ""
	for _, question := range sortedKeys(r.Answers) {
		if answer := strings.TrimSpace(plain(r.Answers[question])); answer != "" {
			text = join(text, strings.TrimSpace(question)+"\n"+answer)
		}
	}
	return text
}

// refusal returns the user's words when they refused a call.
func refusal(content json.RawMessage) string {
	text := plain(content)
	if !strings.HasPrefix(text, "The user doesn't want to ") {
		return ""
	}
	_, said, _ := strings.Cut(text, "the user said:\n")
	said, _, _ = strings.Cut(said, "\n\nNote: The user's next message")
	return said
}
