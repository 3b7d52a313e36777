package chats

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/mnem-project/mnem/internal/base/sqlite"
)

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

// cursorKeys are the rows of the database that are left out, by how their keys begin.
var cursorKeys = kinds{
	"agentKv": "agent state", "checkpointId": "checkpoint", "codeBlockDiff": "edit", "inlineDiff": "edit",
	"inlineDiffs": "edit", "codeBlockPartialInlineDiffFates": "edit", "messageRequestContext": "environment",
	"composer.content": "file", "ofsContent": "file", "composerVirtualRowHeights": "view", "composerDraft": "draft",
	"composerRootWriterDiagnostic": "diagnostics", "localAgentMailboxCursor": "agent state",
}

var cursorChatShape = sync.OnceValue(func() shape {
	return has("_v", "composerId", "name", "subtitle", "text", "richText", "createdAt", "lastUpdatedAt", "hasLoaded",
		"fullConversationHeadersOnly", "conversation", "conversationMap", "status", "forceMode", "unifiedMode", "isAgentic",
		"context", "allAttachedFileCodeChunksUris", "contextUsagePercent", "modelConfig", "capabilities",
		"originalFileStates", "newlyCreatedFiles", "newlyCreatedFolders", "totalLinesAdded", "totalLinesRemoved",
		"addedFiles", "removedFiles", "filesChangedCount", "isFileListExpanded", "isQueueExpanded", "hasUnreadMessages",
		"browserChipManuallyDisabled", "browserChipManuallyEnabled", "gitHubPromptDismissed", "createdOnBranch",
		"isCreatingWorktree", "isApplyingWorktree", "isUndoingWorktree", "applied", "pendingCreateWorktree",
		"generatingBubbleIds", "codeBlockData", "subComposerIds", "capabilityContexts", "todos",
		"speculativeSummarizationEncryptionKey", "latestChatGenerationUUID", "latestConversationSummary", "usageData",
		"isArchived", "isDraft", "isBestOfNSubcomposer", "isBestOfNParent", "bestOfNJudgeWinner", "isSpec",
		"isSpecSubagentDone", "isNAL", "planModeSuggestionUsed", "subagentInfo", "conversationState", "isWorktree",
		"worktreeStartedReadOnly", "isProject", "numSubComposers", "referencedPlans", "branches", "draftTarget",
		"hasBeenInSidebar")
})

var cursorBubbleShape = sync.OnceValue(func() shape {
	return has("_v", "type", "bubbleId", "text", "richText", "createdAt", "requestId", "attachedCodeChunks",
		"attachedFileCodeChunksMetadataOnly", "supportedTools", "modelInfo", "workspaceUris", "serverBubbleId", "codeBlocks",
		"thinking", "toolResults", "timingInfo", "usageUuid", "capabilityType", "isAgentic", "unifiedMode", "commits",
		"pullRequests", "images", "gitDiffs", "interpreterResults", "docsReferences", "webReferences", "aiWebSearchResults",
		"cursorRules", "contextPieces", "allThinkingBlocks", "tokenCount", "toolFormerData", "capabilities", "isThought",
		"thinkingDurationMs", "checkpointId", "context", "lints", "todos", "errorDetails")
})

// cursorRows are the rows of a database that are wanted, by their keys.
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
	if !ok {
		if _, ok = db.Table("ItemTable"); !ok {
			return ErrFormat
		}
	}
	rows := &cursorRows{
		db: db, handler: h, chats: map[string]sqlite.Place{}, messages: map[string]map[string]sqlite.Place{},
	}
	if ok && t != nil {
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
		cursorKeys.skip(c.handler, kind, "key "+label(key))
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

// read reads the chats in the order of their ids.
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
		cursorChatShape().tell(c.handler, data)
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

// chat reads the messages of a chat in their order.
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
		case seen[turn.ID]:
			c.handler.Skipped(Duplicate, "")
			continue
		}
		seen[turn.ID] = true
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

// turn reads a message, nil for one that is left out.
func (c *cursorRows) turn(data []byte) (*Turn, error) {
	var b cursorBubble
	if err := decode(data, &b); err != nil {
		return nil, err
	}
	if b.BubbleID == "" || b.Type != 1 && b.Type != 2 {
		return nil, errDamaged
	}
	cursorBubbleShape().tell(c.handler, data)
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
	if turn.Text == "" && len(turn.Calls) == 0 {
		if left == 0 {
			c.handler.Skipped(Empty, "")
		}
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
