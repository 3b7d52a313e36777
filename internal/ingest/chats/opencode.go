package chats

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// openCodeFile is a session as OpenCode exports it.
type openCodeFile struct {
	Info struct {
		ID, Directory, Title string
		ParentID             string
		Time                 struct{ Created int64 }
	}
	Messages []json.RawMessage
}

type openCodeMessage struct {
	Info struct {
		ID, Role, ParentID string
		Summary            json.RawMessage
		Time               struct{ Created int64 }
	}
	Parts []struct {
		Type, Text, Tool   string
		Synthetic, Ignored bool
		State              struct{ Input json.RawMessage }
	}
}

// openCodeKinds are the parts of messages that are left out.
var openCodeKinds = kinds{
	"reasoning": thought, "file": file, "step-start": "step", "step-finish": "step", "snapshot": "snapshot",
	"patch": "patch", "agent": "agent", "retry": "retry", "compaction": compaction, "subtask": subagent,
	"tool": "call beyond 100",
}

// openCode reads a session of OpenCode, one JSON text.
func openCode(in io.Reader, h Handler) error {
	data, err := io.ReadAll(io.LimitReader(in, maxRecord+1))
	if err != nil {
		return err
	}
	var f openCodeFile
	if len(data) > maxRecord || json.Unmarshal(data, &f) != nil || f.Info.ID == "" {
		return ErrFormat
	}
	openCodeShape().tell(h, data)
	if f.Info.ParentID != "" {
		h.Skipped(subagent, "")
		return nil
	}
	t := &talk{handler: h, session: Session{
		ID: f.Info.ID, Dir: flat(f.Info.Directory), Time: millis(f.Info.Time.Created),
	}}
	t.session.Title = openCodeTitle(f.Info.Title)
	open := "" // what the assistant's open turn answers
	for i, record := range f.Messages {
		at := fmt.Sprintf("message %d", i+1)
		err := openCodeTurn(t, record, &open, at)
		if errors.Is(err, errDamaged) {
			h.Skipped(Damaged, at)
		} else if err != nil {
			return err
		}
	}
	return t.end()
}

// openCodeTitle is the title of a session, "" for that which it has until it gets one.
func openCodeTitle(title string) string {
	if strings.HasPrefix(title, "New session - ") {
		return ""
	}
	return title
}

// openCodeTurn takes in a message. Each step of an answer is one, with the id of what it answers.
func openCodeTurn(t *talk, record json.RawMessage, open *string, at string) error {
	var m openCodeMessage
	if err := decode(record, &m); err != nil {
		return err
	}
	if m.Info.ID == "" || m.Info.Role != "user" && m.Info.Role != "assistant" {
		return errDamaged
	}
	turn := Turn{ID: m.Info.ID, Speaker: m.Info.Role, Time: millis(m.Info.Time.Created)}
	if string(m.Info.Summary) == "true" {
		t.handler.Skipped(compaction, "")
		return nil
	}
	left := 0
	skip := func(kind string) { left++; t.handler.Skipped(kind, "") }
	for _, p := range m.Parts {
		switch {
		case p.Type == "text" && (p.Synthetic || p.Ignored):
			skip(reminder)
		case p.Type == "text":
			text := strings.TrimSpace(p.Text)
			if m.Info.Role == "user" {
				text = spoken(text, skip)
			}
			turn.Text = join(turn.Text, text)
		case p.Type == "tool" && len(turn.Calls) < maxCalls:
			turn.Calls = append(turn.Calls, call(p.Tool, p.State.Input))
		default:
			left++
			openCodeKinds.skip(t.handler, p.Type, at)
		}
	}
	if turn.Text == "" && len(turn.Calls) == 0 {
		if left == 0 {
			t.handler.Skipped(Empty, "")
		}
		return nil
	}
	was := *open
	*open = m.Info.ParentID
	return t.said(turn, m.Info.ParentID, was)
}

// millis is a time in milliseconds since 1970, 0 for none.
func millis(ms int64) int64 {
	if ms <= 0 || ms > 1e14 {
		return 0
	}
	return ms * 1000
}
