package chats

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
)

// vscodeSession is a chat of VS Code: the content of a JSON file, or the result of a log of changes.
type vscodeSession struct {
	SessionID                  string
	CreationDate               int64
	CustomTitle, ComputedTitle string
	WorkingDirectory           string
	Requests                   []json.RawMessage
	PendingRequests            []json.RawMessage
}

type vscodeRequest struct {
	RequestID, ResponseID        string
	Timestamp, ResponseTimestamp int64
	Message                      json.RawMessage
	Response                     json.RawMessage
	IsHidden, IsSystemInitiated  bool
	VariableData                 struct{ Variables []json.RawMessage }
}

// vscodePart is a part of an answer; one without a kind is Markdown.
type vscodePart struct {
	Kind, Name, ToolID string
	Value, Content     json.RawMessage
	InlineReference    json.RawMessage
	InvocationMessage  json.RawMessage
	ToolSpecificData   struct {
		CommandLine struct{ Original, UserEdited string }
		RawInput    json.RawMessage
	}
	SubAgentInvocationID string
}

func vscodeChat(in io.Reader, h Handler) error {
	b := unmarked(in)
	if head, _ := b.Peek(64); bytes.HasPrefix(bytes.ReplaceAll(head, []byte(" "), nil), []byte(`{"kind":`)) {
		data, err := replay(b, h)
		if err != nil {
			return err
		}
		in = bytes.NewReader(data)
	} else {
		in = b
	}
	var s vscodeSession
	data, err := readWhole(in, &s)
	if err != nil {
		return err
	}
	if s.SessionID == "" || s.Requests == nil {
		return ErrFormat
	}
	fieldsOf("copilot").tell(h, data)
	for range s.PendingRequests {
		h.Skipped("queued request", "")
	}
	t := &talk{handler: h, session: Session{
		ID: s.SessionID, Title: cmp.Or(s.CustomTitle, s.ComputedTitle), Time: millis(s.CreationDate),
	}}
	if u, err := url.Parse(s.WorkingDirectory); err == nil && u.Scheme == "file" {
		t.session.Dir = flat(u.Path)
	}
	seen := make(map[string]bool)
	for i, record := range s.Requests {
		at := fmt.Sprintf("request %d", i+1)
		if err := passDamaged(h, at, vscodeTurns(t, record, seen, at)); err != nil {
			return err
		}
	}
	return t.end()
}

func vscodeTurns(t *talk, record json.RawMessage, seen map[string]bool, at string) error {
	var r vscodeRequest
	if err := decode(record, &r); err != nil {
		return err
	}
	switch {
	case r.RequestID == "":
		return errDamaged
	case seen[r.RequestID]:
		t.handler.Skipped(Duplicate, "")
		return nil
	case r.IsHidden || r.IsSystemInitiated:
		t.handler.Skipped(reminder, "")
		return nil
	}
	seen[r.RequestID] = true
	for range r.VariableData.Variables {
		t.handler.Skipped("attachment", "")
	}
	var message struct{ Text string }
	text := plain(r.Message)
	if text == "" && len(r.Message) > 0 && r.Message[0] == '{' {
		if err := decode(r.Message, &message); err != nil {
			return err
		}
		text = message.Text
	}
	id := t.session.ID + "/" + r.RequestID
	ask := blockReader{handler: t.handler, at: at, user: true}
	ask.say(text)
	if ask.text == "" {
		t.handler.Skipped(Empty, "")
	} else if err := t.said(Turn{ID: id, Speaker: "user", Time: millis(r.Timestamp), Text: ask.text}, "", ""); err != nil {
		return err
	}
	answer := Turn{ID: id + "/answer", Speaker: "assistant", Time: millis(max(r.Timestamp, r.ResponseTimestamp))}
	if err := vscodeAnswer(t.handler, &answer, r.Response, at); err != nil || answer.Text == "" && len(answer.Calls) == 0 {
		return err
	}
	return t.said(answer, "", "")
}

// vscodeAnswer joins the parts of an answer; pieces of Markdown are joined without a separator.
func vscodeAnswer(h Handler, turn *Turn, response json.RawMessage, at string) error {
	if text := plain(response); text != "" || len(response) == 0 || string(response) == "null" {
		turn.Text = strings.TrimSpace(text)
		return nil
	}
	var list []json.RawMessage
	if err := decode(response, &list); err != nil {
		return err
	}
	var b strings.Builder
	for _, data := range list {
		var p vscodePart
		if err := decode(data, &p); err != nil {
			return err
		}
		switch {
		case p.Kind == "" && p.Value != nil:
			b.WriteString(plain(p.Value))
		case p.Kind == "markdownContent" || p.Kind == "markdownVuln":
			b.WriteString(markdownOf(p.Content))
		case p.Kind == "inlineReference":
			b.WriteString(referenceOf(&p))
		case p.Kind == "toolInvocationSerialized" && p.SubAgentInvocationID != "":
			h.Skipped(subagent, "")
		case p.Kind == "toolInvocationSerialized" && len(turn.Calls) < maxCalls:
			turn.Calls = append(turn.Calls, vscodeCall(&p))
			h.Skipped(toolResult, "") // it is a part of the call
		case p.Kind == "toolInvocationSerialized":
			h.Skipped("call beyond 100", "")
		default:
			kindsOf("copilot").skip(h, p.Kind, at)
		}
	}
	turn.Text = strings.TrimSpace(b.String())
	return nil
}

// markdownOf returns the text of Markdown, which is a string or an object with one.
func markdownOf(data json.RawMessage) string {
	var m struct{ Value string }
	if text := plain(data); text != "" || json.Unmarshal(data, &m) != nil {
		return text
	}
	return m.Value
}

// referenceOf returns the name of a file or symbol in an answer.
func referenceOf(p *vscodePart) string {
	var ref struct {
		Name, Path, FsPath string
		URI                struct{ Path string }
	}
	if p.Name != "" || json.Unmarshal(p.InlineReference, &ref) != nil {
		return p.Name
	}
	for _, name := range []string{ref.Name, ref.Path, ref.FsPath, ref.URI.Path} {
		if name != "" {
			return name[strings.LastIndexAny(name, `/\`)+1:]
		}
	}
	return ""
}

func vscodeCall(p *vscodePart) string {
	name := label(p.ToolID)
	line := p.ToolSpecificData.CommandLine
	for _, text := range []string{line.UserEdited, line.Original, markdownOf(p.InvocationMessage)} {
		if text != "" {
			return name + ": " + flat(text)
		}
	}
	return call(p.ToolID, p.ToolSpecificData.RawInput)
}

type change struct {
	Kind *int
	K    []json.RawMessage
	V    json.RawMessage
	I    *int
}

// replay returns the object after all changes of a log.
func replay(in io.Reader, h Handler) ([]byte, error) {
	r := &changeLog{handler: h}
	if _, err := lines(in, h, r, Position{}, 0); err != nil {
		return nil, err
	}
	return json.Marshal(r.root)
}

// errChanges is returned for a log that is too long.
var errChanges = fmt.Errorf("%w: more than 256 MiB of changes", ErrFormat)

type changeLog struct {
	handler Handler
	root    any
	size    int64
}

func (r *changeLog) end() error { return nil }

func (r *changeLog) line(data []byte, at position) error {
	var c change
	if err := decode(data, &c); err != nil {
		return err
	}
	if r.size += int64(len(data)); r.size > maxHeld {
		return errChanges
	}
	if c.Kind == nil {
		return errDamaged
	}
	var value any
	if len(c.V) > 0 {
		dec := json.NewDecoder(bytes.NewReader(c.V))
		dec.UseNumber()
		if err := dec.Decode(&value); err != nil {
			return errDamaged
		}
	}
	switch *c.Kind {
	case 0:
		r.root = value
	case 1, 2, 3:
		if r.root == nil || len(c.K) > maxSteps {
			return errDamaged
		}
		next, err := r.apply(r.root, c.K, *c.Kind, value, c.I)
		if err != nil {
			return err
		}
		r.root = next
	default:
		kinds(nil).skip(r.handler, fmt.Sprintf("change %d", *c.Kind), at.String())
	}
	return nil
}

const (
	// maxIndex is how long a list may get by setting an item beyond its end. Each item that this adds counts as itemSize
	// bytes of changes.
	maxIndex = 100_000
	itemSize = 16
	// maxSteps is how deep a change may be.
	maxSteps = 1000
)

// apply returns a value after a change at a path: 1 sets, 2 adds to a list after cutting it at an index, 3 deletes.
func (r *changeLog) apply(to any, at []json.RawMessage, kind int, value any, cut *int) (any, error) {
	if len(at) == 0 {
		switch kind {
		case 1:
			return value, nil
		case 2:
			list, _ := to.([]any)
			if cut != nil && *cut >= 0 && *cut < len(list) {
				list = list[:*cut]
			}
			more, ok := value.([]any)
			if !ok && value != nil {
				return nil, errDamaged
			}
			return append(list, more...), nil
		}
		return nil, errDamaged
	}
	var name string
	if json.Unmarshal(at[0], &name) == nil {
		object, ok := to.(map[string]any)
		if !ok {
			return nil, errDamaged
		}
		if kind == 3 && len(at) == 1 {
			delete(object, name)
			return object, nil
		}
		next, err := r.apply(object[name], at[1:], kind, value, cut)
		if err == nil {
			object[name] = next
		}
		return object, err
	}
	var i int
	list, ok := to.([]any)
	if json.Unmarshal(at[0], &i) != nil || !ok || i < 0 || i > maxIndex {
		return nil, errDamaged
	}
	if r.size += int64(max(0, i+1-len(list))) * itemSize; r.size > maxHeld {
		return nil, errChanges
	}
	for len(list) <= i {
		list = append(list, nil)
	}
	if kind == 3 && len(at) == 1 {
		list[i] = nil
		return list, nil
	}
	next, err := r.apply(list[i], at[1:], kind, value, cut)
	if err == nil {
		list[i] = next
	}
	return list, err
}
