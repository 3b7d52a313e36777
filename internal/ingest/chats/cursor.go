package chats

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/mnem-project/mnem/internal/base/sqlite"
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
		kindsOf("cursor").skip(c.handler, l.Type, at.String())
		return nil
	case l.Role != "user" && l.Role != "assistant":
		return errDamaged
	case c.left:
		c.handler.Skipped(subagent, "")
		return nil
	}
	fieldsOf("cursor").tell(c.handler, data)
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
	turn := Turn{Speaker: l.Role, Text: r.text, Calls: r.calls}
	if turn.empty(c.handler, r.left) {
		return nil
	}
	return c.talk.said(turn, "", "")
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
		kind, known := kindsOf("cursor contexts")[name]
		_, after, closed := strings.Cut(text, "</"+name+">")
		if !ok || !known || !closed || text[0] != '<' {
			break
		}
		left(kind)
		text = after
	}
	return join(query, spoken(text, left))
}

func (c *cursor) end() error { return c.talk.end() }

// cursorChat is one conversation of Cursor's database, the value of a key composerData:ID.
type cursorChat struct {
	Name                        string
	CreatedAt                   json.RawMessage
	FullConversationHeadersOnly []struct{ BubbleID string }
	Conversation                []json.RawMessage
	ConversationMap             map[string]json.RawMessage
	SubagentInfo                json.RawMessage
	IsBestOfNSubcomposer        bool
}

// cursorBubble is one message, the value of a key bubbleId:CHAT:ID.
type cursorBubble struct {
	Type           int
	BubbleID       string
	Text           string
	CreatedAt      json.RawMessage
	TimingInfo     struct{ ClientRPCSendTime json.Number }
	Thinking       json.RawMessage
	Images         []json.RawMessage
	ToolFormerData *struct {
		Name            string
		RawArgs, Params json.RawMessage
	}
}

const (
	// InDatabase is the Store of chats in the database, whose IDs transcripts have too.
	InDatabase   = "database"
	keyOfChat    = "composerData"
	keyOfMessage = "bubbleId"
	// maxKey is the longest key of a row that is read, in bytes.
	maxKey = 1000
)

type cursorRows struct {
	db       *sqlite.Database
	handler  Handler
	value    int // the column
	chats    map[string]sqlite.Place
	messages map[string]map[string]sqlite.Place // by their chats
	count    int
}

// cursorDatabase reads state.vscdb of Cursor. Older chats are in a table of settings, which is not read.
func cursorDatabase(db *sqlite.Database, h Handler) error {
	t, ok := db.Table("cursorDiskKV")
	if _, older := db.Table("ItemTable"); !ok && !older {
		return ErrFormat
	}
	rows := &cursorRows{
		db: db, handler: h, chats: map[string]sqlite.Place{}, messages: map[string]map[string]sqlite.Place{},
	}
	if ok {
		rows.value = t.Column("value")
	}
	if err := eachRow(db, "cursorDiskKV", h, rows.note); err != nil {
		return err
	}
	if err := eachRow(db, "ItemTable", h, rows.older); err != nil {
		return err
	}
	return rows.read()
}

// note takes the place of a row, or counts it.
func (c *cursorRows) note(t *sqlite.Table, r *sqlite.Row) error {
	key, ok := r.Text(t.Column("key"), maxKey)
	kind, rest, _ := strings.Cut(key, ":")
	switch {
	case !ok:
		c.handler.Skipped(Damaged, "a row without a key")
	case c.count == maxRows:
		return errRows
	case kind == keyOfChat:
		c.count++
		c.chats[rest] = r.Place
	case kind == keyOfMessage:
		c.count++
		chat, id, _ := strings.Cut(rest, ":")
		if c.messages[chat] == nil {
			c.messages[chat] = map[string]sqlite.Place{}
		}
		c.messages[chat][id] = r.Place
	default:
		if strings.HasPrefix(kind, "composer.content.") {
			kind = "composer.content"
		}
		if name, _, ok := strings.Cut(kind, "-"); ok { // inlineDiffs-TIME
			kind = name
		}
		kindsOf("cursor keys").skip(c.handler, kind, "key "+label(key))
	}
	return nil
}

// older counts chats in the form before composers.
func (c *cursorRows) older(t *sqlite.Table, r *sqlite.Row) error {
	if key, _ := r.Text(t.Column("key"), maxKey); key != "workbench.panel.aichat.view.aichat.chatdata" {
		return nil
	}
	var data struct{ Tabs []json.RawMessage }
	text, _ := r.Text(t.Column("value"), maxRecord)
	if json.Unmarshal([]byte(text), &data) != nil {
		c.handler.Skipped(Damaged, "chats of an older version")
	}
	for range data.Tabs {
		c.handler.Skipped("chat of an older version", "")
	}
	return nil
}

// at returns the value of a row, nil if it has none.
func (c *cursorRows) at(place sqlite.Place) (data []byte, ok bool) {
	r, err := c.db.At(place)
	if err != nil {
		return nil, false
	}
	if r.Null(c.value) {
		return nil, true
	}
	text, ok := r.Text(c.value, maxRecord)
	return []byte(text), ok
}

func (c *cursorRows) read() error {
	for _, id := range sortedKeys(c.chats) {
		data, ok := c.at(c.chats[id])
		var chat cursorChat
		switch {
		case ok && data == nil:
			c.handler.Skipped(Empty, "")
			continue
		case !ok || decode(data, &chat) != nil:
			c.handler.Skipped(Damaged, "chat "+label(id))
			continue
		case present(chat.SubagentInfo) || chat.IsBestOfNSubcomposer || strings.HasPrefix(id, "task-tool_"):
			c.handler.Skipped(subagent, "")
			delete(c.messages, id)
			continue
		}
		fieldsOf("cursor chat").tell(c.handler, data)
		if err := c.chat(id, &chat); err != nil {
			return err
		}
	}
	for _, rest := range c.messages {
		for range rest { // its chat is gone, or does not show it
			c.handler.Skipped("message without its chat", "")
		}
	}
	return nil
}

func present(data json.RawMessage) bool { return len(data) > 0 && string(data) != "null" }

func (c *cursorRows) chat(id string, chat *cursorChat) error {
	t := &talk{handler: c.handler, session: Session{ID: id, Title: chat.Name, Time: cursorTime(chat.CreatedAt), Store: InDatabase}}
	list, listed := chat.Conversation, make(map[string]bool)
	for _, header := range chat.FullConversationHeadersOnly {
		data, ok := chat.ConversationMap[header.BubbleID], true
		if place, there := c.messages[id][header.BubbleID]; there {
			data, ok = c.at(place)
			delete(c.messages[id], header.BubbleID)
		}
		again := listed[header.BubbleID]
		listed[header.BubbleID] = true
		switch {
		case again:
			c.handler.Skipped(Duplicate, "")
		case !ok:
			c.handler.Skipped(Damaged, "message "+label(header.BubbleID))
		case !present(data):
			c.handler.Skipped("missing message", "")
		default:
			list = append(list, data)
		}
	}
	if len(list) == 0 {
		c.handler.Skipped(Empty, "")
	}
	last, asked, open := t.session.Time, "", ""
	seen := make(map[string]bool)
	for i, data := range list {
		turn, err := c.turn(data)
		switch {
		case err != nil:
			c.handler.Skipped(Damaged, fmt.Sprintf("chat %s, message %d", label(id), i+1))
			continue
		case turn == nil:
			continue
		case again(seen, turn.ID):
			c.handler.Skipped(Duplicate, "")
			continue
		}
		turn.Time = cmp.Or(turn.Time, last)
		last = turn.Time
		if turn.Speaker == "user" {
			asked = turn.ID
		}
		was := open
		if open = asked; turn.Speaker == "user" {
			open = ""
		}
		if err := t.said(*turn, cmp.Or(asked, "none"), was); err != nil {
			return err
		}
	}
	return t.end()
}

func (c *cursorRows) turn(data []byte) (*Turn, error) {
	var b cursorBubble
	if err := decode(data, &b); err != nil {
		return nil, err
	}
	if b.BubbleID == "" || b.Type != 1 && b.Type != 2 {
		return nil, errDamaged
	}
	fieldsOf("cursor bubble").tell(c.handler, data)
	turn := &Turn{
		ID: b.BubbleID, Speaker: "assistant", Text: strings.TrimSpace(b.Text), Time: cursorTime(b.CreatedAt), Store: InDatabase,
	}
	left := len(b.Images)
	skip := func(kind string) { left++; c.handler.Skipped(kind, "") }
	if b.Type == 1 {
		turn.Speaker, turn.Text = "user", cursorSpoken(b.Text, skip)
	}
	for range b.Images {
		c.handler.Skipped(image, "")
	}
	if ms, err := b.TimingInfo.ClientRPCSendTime.Int64(); err == nil && turn.Time == 0 {
		turn.Time = millis(ms)
	}
	if present(b.Thinking) {
		skip(thought)
	}
	if f := b.ToolFormerData; f != nil && f.Name != "" {
		args := f.RawArgs
		if !present(args) {
			args = f.Params
		}
		turn.Calls = []string{call(f.Name, args)}
	}
	if turn.empty(c.handler, left) {
		return nil, nil
	}
	return turn, nil
}

// cursorTime reads a time, which is in milliseconds or a text; 0 for none.
func cursorTime(data json.RawMessage) int64 {
	var text string
	var ms json.Number
	if json.Unmarshal(data, &text) == nil {
		return moment(text)
	}
	if json.Unmarshal(data, &ms) == nil {
		if n, err := ms.Int64(); err == nil {
			return millis(n)
		}
	}
	return 0
}
