package chats

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/base/pattern"
)

type chatGPTRecord struct {
	ID             string
	ConversationID string `json:"conversation_id"`
	Title          string
	CreateTime     *float64 `json:"create_time"`
	CurrentNode    string   `json:"current_node"`
	Mapping        map[string]*chatGPTNode
}

type chatGPTNode struct {
	Message  json.RawMessage
	Parent   string
	Children []string
}

type chatGPTMessage struct {
	ID         string
	Author     struct{ Role, Name string } // a name where more than two take part, and of tools
	CreateTime *float64                    `json:"create_time"`
	Content    struct {
		Type  string `json:"content_type"`
		Parts []json.RawMessage
		Text  string
	}
	Metadata struct {
		Hidden bool `json:"is_visually_hidden_from_conversation"`
	}
	Recipient string
}

// chatGPTTexts are the types of content with spoken text.
var chatGPTTexts = []string{
	"", "text", "multimodal_text", "code", "tether_quote", "tether_browsing_display", "execution_output",
	"sonic_webpage", "computer_output", "citable_code_output",
}

// chatGPT reads one conversation of an export of ChatGPT: a tree of messages. The current path is the conversation.
func chatGPT(record json.RawMessage, h Handler) error {
	var c chatGPTRecord
	if err := decode(record, &c); err != nil {
		return err
	}
	c.ID = cmp.Or(c.ID, c.ConversationID)
	if c.ID == "" || len(c.Mapping) == 0 {
		return errDamaged
	}
	fieldsOf("chatgpt").tell(h, record)
	w := newTree(h, Session{ID: c.ID, Title: flat(c.Title), Time: seconds(c.CreateTime)})
	for _, id := range chatGPTOrder(c.Mapping) {
		n := c.Mapping[id]
		w.add(id, n.Parent)
		if len(n.Message) == 0 || string(n.Message) == "null" {
			continue
		}
		if turn := chatGPTTurn(n.Message, "message "+label(id)+" of "+label(c.ID), h); turn != nil {
			turn.ID = c.ID + "/" + id
			w.turns[id] = turn
		}
	}
	w.leadTo(c.CurrentNode)
	return w.end()
}

// chatGPTOrder are the nodes in the order of their ids, children as their parents have them.
func chatGPTOrder(nodes map[string]*chatGPTNode) []string {
	seen := make(map[string]bool)
	var out []string
	add := func(id string) {
		if nodes[id] != nil && !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	for _, id := range sortedKeys(nodes) {
		if n := nodes[id]; n != nil {
			for _, child := range n.Children {
				if nodes[child] != nil && nodes[child].Parent == "" {
					nodes[child].Parent = id // only the parent link is set
				}
				if nodes[child] != nil && nodes[child].Parent == id {
					add(child)
				}
			}
		}
	}
	for _, id := range sortedKeys(nodes) {
		add(id)
	}
	return out
}

func chatGPTTurn(data json.RawMessage, at string, h Handler) *Turn {
	var m chatGPTMessage
	if err := decode(data, &m); err != nil {
		h.Skipped(Damaged, at)
		return nil
	}
	role := m.Author.Role
	switch {
	case role == "tool":
		h.Skipped(toolResult, "")
		return nil
	case role != "user" && role != "assistant", m.Metadata.Hidden:
		h.Skipped("instructions", "")
		return nil
	case !slices.Contains(chatGPTTexts, m.Content.Type):
		kindsOf("chatgpt").skip(h, m.Content.Type, at)
		return nil
	}
	turn := &Turn{Speaker: role, Time: seconds(m.CreateTime), Text: chatGPTText(&m, at, h)}
	if name := flat(m.Author.Name); name != "" {
		turn.Speaker = name
	}
	if turn.Text == "" {
		h.Skipped(Empty, "")
		return nil
	}
	to := m.Recipient
	switch name, text := canvas(turn.Text); {
	case role != "assistant" || to == "" || to == "all":
		turn.Text = uncited(turn.Text, h)
	case strings.HasPrefix(to, "canmore.") && text != "":
		turn.Text, turn.Calls = text, []string{flat(to + ": " + name)}
	default:
		turn.Text, turn.Calls = "", []string{flat(to + ": " + turn.Text)}
	}
	return turn
}

// chatGPTText is the text of a message. Voice is kept as its transcription; images and files are counted.
func chatGPTText(m *chatGPTMessage, at string, h Handler) string {
	text := strings.TrimSpace(m.Content.Text)
	for _, data := range m.Content.Parts {
		var one string
		if json.Unmarshal(data, &one) != nil {
			var part struct {
				Type string `json:"content_type"`
				Text string
			}
			if json.Unmarshal(data, &part) != nil {
				h.Skipped(Damaged, at)
				continue
			}
			one = part.Text
			if part.Type != "audio_transcription" && part.Type != "text" {
				kindsOf("chatgpt").skip(h, part.Type, at)
			}
		}
		text = join(text, strings.TrimSpace(one))
	}
	return text
}

// canvas returns the name and text of the document that a call creates or changes.
func canvas(call string) (name, text string) {
	var c struct {
		Name, Content string
		Updates       []struct{ Replacement string }
		Comments      []struct{ Comment string }
	}
	if json.Unmarshal([]byte(call), &c) != nil {
		return "", ""
	}
	text = strings.TrimSpace(c.Content)
	for _, u := range c.Updates {
		text = join(text, strings.TrimSpace(u.Replacement))
	}
	for _, u := range c.Comments {
		text = join(text, strings.TrimSpace(u.Comment))
	}
	if text != "" && c.Name != "" && !strings.Contains(text[:min(len(text), 2*len(c.Name)+8)], c.Name) {
		text = c.Name + "\n\n" + text
	}
	return c.Name, text
}

var (
	// citations are spans between characters of a private use area. Some contain words of the text.
	citations = pattern.New("(?s) ?\ue200([^\ue200\ue201]*)\ue201")
	// bare are citations without these characters, and the form used in older answers.
	bare = pattern.New(` ?(?:file)?cite(?:turn[0-9]+[a-z]+[0-9]+)+| ?【[^】]{0,200}†[^】]{0,200}】`)
)

func uncited(text string, h Handler) string {
	cut := func(found string) string {
		h.Skipped("citation", "")
		return ""
	}
	text = citations().ReplaceAllStringFunc(text, func(found string) string {
		lead, rest, _ := strings.Cut(found, "\ue200")
		if shown := shownIn(strings.TrimSuffix(rest, "\ue201")); shown != "" {
			return lead + shown
		}
		return cut(found)
	})
	return strings.TrimSpace(bare().ReplaceAllStringFunc(text, cut))
}

// shownIn returns the visible text of a span: a name, or the title of a link.
func shownIn(span string) string {
	parts := strings.Split(span, "\ue202")
	switch {
	case len(parts) < 2:
	case parts[0] == "entity":
		var names []string
		if json.Unmarshal([]byte(parts[1]), &names) == nil && len(names) > 1 {
			return names[1]
		}
	case parts[0] == "url" || parts[0] == "link_title":
		return parts[1]
	}
	return ""
}

// tree gathers the turns of a conversation whose messages name the one before them. They may have been answered more than
// once: of the ways through them one is the current one.
type tree struct {
	handler  Handler
	session  Session
	turns    map[string]*Turn // by their messages
	parent   map[string]string
	children map[string][]string
	ids      []string // of messages, in the order of the file
	current  map[string]bool
}

func newTree(h Handler, s Session) *tree {
	return &tree{
		handler: h, session: s, turns: make(map[string]*Turn), parent: make(map[string]string),
		children: make(map[string][]string), current: make(map[string]bool),
	}
}

// end gives the turns and the session to the handler. A turn follows the nearest one before it.
func (t *tree) end() error {
	order := t.order()
	times := t.times(order)
	kept := make(map[string]string) // of each message the turn that it is, or that came before it
	number := 0
	for _, id := range order {
		before := kept[t.parent[id]]
		kept[id] = before
		turn := t.turns[id]
		if turn == nil {
			continue
		}
		number++
		turn.Session, turn.Before, turn.Number = t.session.ID, before, number
		turn.Left = len(t.current) > 0 && !t.current[id]
		turn.Time = cmp.Or(times[id], t.session.Time)
		kept[id] = turn.ID
		if err := t.handler.Turn(turn); err != nil {
			return err
		}
	}
	if number == 0 {
		t.handler.Skipped("conversation without turns", "")
		return nil
	}
	return t.handler.Session(&t.session)
}

type claudeRecord struct {
	UUID, Name, Summary string
	CreatedAt           string            `json:"created_at"`
	CurrentLeaf         string            `json:"current_leaf_message_uuid"`
	Messages            []json.RawMessage `json:"chat_messages"`
}

type claudeMessage struct {
	UUID, Text, Sender string
	CreatedAt          string `json:"created_at"`
	Parent             string `json:"parent_message_uuid"`
	Content            []json.RawMessage
	Attachments        []struct {
		FileName  string `json:"file_name"`
		Extracted string `json:"extracted_content"`
	}
	Files []struct {
		FileName string `json:"file_name"`
	}
}

// claude reads one conversation of an export of Claude: a tree of messages if they name the one before them, else a
// list. The way to the last message is the current one unless the conversation names another.
func claude(record json.RawMessage, h Handler) error {
	var c claudeRecord
	if err := decode(record, &c); err != nil {
		return err
	}
	if c.UUID == "" {
		return errDamaged
	}
	w := newTree(h, Session{ID: c.UUID, Title: flat(c.Name), Time: moment(c.CreatedAt)})
	if c.Summary != "" {
		h.Skipped("summary", "")
	}
	at := "a message of " + label(c.UUID)
	fieldsOf("claude").tell(h, record)
	list := claudeMessages(c.Messages, at, h)
	isTree := slices.ContainsFunc(list, func(m *claudeMessage) bool { return m.Parent != "" })
	before := ""
	for _, m := range list {
		if !isTree {
			m.Parent = before
		}
		if before = m.UUID; !w.add(m.UUID, m.Parent) {
			h.Skipped(Duplicate, "")
			continue
		}
		turn, err := claudeTurn(m, at, h)
		if err != nil {
			h.Skipped(Damaged, at)
		} else if turn != nil {
			w.turns[m.UUID] = turn
		}
	}
	if w.has(c.CurrentLeaf) {
		before = c.CurrentLeaf
	}
	w.leadTo(before)
	return w.end()
}

// claudeMessages are the messages of a conversation that can be read, in the order of their times.
func claudeMessages(data []json.RawMessage, at string, h Handler) []*claudeMessage {
	var list []*claudeMessage
	timed := true
	for _, one := range data {
		m := new(claudeMessage)
		if decode(one, m) != nil || m.UUID == "" || m.Sender != "human" && m.Sender != "assistant" {
			h.Skipped(Damaged, at)
			continue
		}
		timed = timed && moment(m.CreatedAt) != 0
		list = append(list, m)
	}
	if timed {
		slices.SortStableFunc(list, func(a, b *claudeMessage) int {
			return cmp.Compare(moment(a.CreatedAt), moment(b.CreatedAt))
		})
	}
	return list
}

func claudeTurn(m *claudeMessage, at string, h Handler) (*Turn, error) {
	turn := &Turn{ID: m.UUID, Speaker: m.Sender, Time: moment(m.CreatedAt)}
	if m.Sender == "human" {
		turn.Speaker = "user"
	}
	left := 0
	for _, data := range m.Content {
		var b contentBlock
		if err := decode(data, &b); err != nil {
			return nil, err
		}
		switch b.Type {
		case "text", "voice_note":
			turn.Text = join(turn.Text, strings.TrimSpace(b.Text))
		case "tool_use":
			name, text := written(&b)
			turn.Text = join(turn.Text, text)
			if len(turn.Calls) < maxCalls {
				turn.Calls = append(turn.Calls, name)
			}
		default:
			left++
			kindsOf("content").skip(h, b.Type, at)
		}
	}
	if turn.Text == "" {
		turn.Text = strings.TrimSpace(m.Text)
	}
	for _, a := range m.Attachments {
		if name := flat(a.FileName); name != "" && len(turn.Calls) < maxCalls {
			turn.Calls = append(turn.Calls, "attached: "+name)
		}
		if text := strings.TrimSpace(a.Extracted); text != "" {
			turn.Text = join(turn.Text, strings.TrimSpace(flat(a.FileName)+"\n"+text))
		}
	}
	for _, f := range m.Files {
		if len(turn.Calls) < maxCalls {
			turn.Calls = append(turn.Calls, "attached: "+flat(f.FileName))
		}
	}
	if turn.empty(h, left) {
		return nil, nil
	}
	return turn, nil
}

// written returns the short form of a call, and the text of the artifact or file that it writes.
func written(b *contentBlock) (short, text string) {
	var in struct {
		Title, Path, Content string
		NewStr               string `json:"new_str"`
		FileText             string `json:"file_text"`
	}
	if b.Name != "artifacts" && b.Name != "create_file" || json.Unmarshal(b.Input, &in) != nil {
		return call(b.Name, b.Input), ""
	}
	title := cmp.Or(in.Title, in.Path)
	text = strings.TrimSpace(join(in.Content, join(in.NewStr, in.FileText)))
	if text != "" && title != "" && !strings.Contains(text[:min(len(text), 2*len(title)+8)], title) {
		text = title + "\n\n" + text
	}
	return flat(b.Name + ": " + title), text
}

// add takes a message. It is false for one that is there.
func (t *tree) add(id, parent string) bool {
	if _, has := t.parent[id]; has {
		return false
	}
	t.parent[id] = parent
	t.ids = append(t.ids, id)
	t.children[parent] = append(t.children[parent], id)
	return true
}

// leadTo makes the way from the root to a message the current one.
func (t *tree) leadTo(id string) {
	for t.has(id) && !t.current[id] {
		t.current[id] = true
		id = t.parent[id]
	}
}

func (t *tree) has(id string) bool {
	_, has := t.parent[id]
	return has
}

// order returns the messages from the roots on, each after its parent, those of the current way before others. What no
// root leads to, as messages in a circle, comes last.
func (t *tree) order() []string {
	var todo []string
	for _, id := range t.ids {
		if !t.has(t.parent[id]) {
			todo = append(todo, id)
		}
	}
	slices.Reverse(todo)
	out := make([]string, 0, len(t.ids))
	seen := make(map[string]bool)
	for rest := t.ids; ; {
		for len(todo) > 0 {
			id := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if seen[id] {
				continue
			}
			seen[id] = true
			out = append(out, id)
			for _, now := range []bool{false, true} {
				for _, child := range slices.Backward(t.children[id]) {
					if t.current[child] == now {
						todo = append(todo, child)
					}
				}
			}
		}
		for len(rest) > 0 && seen[rest[0]] {
			rest = rest[1:]
		}
		if len(rest) == 0 {
			return out
		}
		todo = append(todo, rest[0])
	}
}

// times returns the time of each message: its own, else that of the nearest before it that has one, else of the nearest
// after it.
func (t *tree) times(order []string) map[string]int64 {
	times := make(map[string]int64)
	for id, turn := range t.turns {
		times[id] = turn.Time
	}
	for _, id := range order {
		if times[id] == 0 {
			times[id] = times[t.parent[id]]
		}
	}
	for _, id := range slices.Backward(order) {
		if up := t.parent[id]; times[up] == 0 {
			times[up] = times[id]
		}
	}
	return times
}
