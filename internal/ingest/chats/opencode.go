package chats

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/base/sqlite"
)

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

// openCode reads a session of OpenCode, one JSON text.
func openCode(in io.Reader, h Handler) error {
	var f openCodeFile
	data, err := readWhole(in, &f)
	if err != nil {
		return err
	}
	if f.Info.ID == "" {
		return ErrFormat
	}
	fieldsOf("opencode").tell(h, data)
	if f.Info.ParentID != "" {
		h.Skipped(subagent, "")
		return nil
	}
	t := &talk{handler: h, session: Session{
		ID: f.Info.ID, Dir: flat(f.Info.Directory), Title: openCodeTitle(f.Info.Title), Time: millis(f.Info.Time.Created),
	}}
	open := "" // what the assistant's open turn answers
	for i, record := range f.Messages {
		at := fmt.Sprintf("message %d", i+1)
		if err := passDamaged(h, at, openCodeTurn(t, record, &open, at)); err != nil {
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
			kindsOf("opencode").skip(t.handler, p.Type, at)
		}
	}
	if turn.empty(t.handler, left) {
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

type openCodeRow struct {
	id    string
	time  int64 // in milliseconds since 1970
	place sqlite.Place
}

// openCodeDatabase reads the database of OpenCode, opencode.db: the same sessions as openCode, many in a file.
func openCodeDatabase(db *sqlite.Database, h Handler) error {
	for _, name := range []string{"session", "message"} {
		if _, ok := db.Table(name); !ok {
			return ErrFormat
		}
	}
	messages, err := openCodeRows(db, "message", "session_id", h)
	if err != nil {
		return err
	}
	parts, err := openCodeRows(db, "part", "message_id", h)
	if err != nil {
		return err
	}
	var sessions []*talk
	err = eachRow(db, "session", h, func(t *sqlite.Table, r *sqlite.Row) error {
		id, ok := r.Text(t.Column("id"), maxKey)
		if !ok || id == "" {
			h.Skipped(Damaged, "a row of sessions")
			return nil
		}
		if parent, _ := r.Text(t.Column("parent_id"), maxKey); parent != "" {
			h.Skipped(subagent, "")
			delete(messages, id)
			return nil
		}
		title, _ := r.Text(t.Column("title"), maxRecord)
		dir, _ := r.Text(t.Column("directory"), maxRecord)
		created, _ := r.Int(t.Column("time_created"))
		sessions = append(sessions, &talk{handler: h, session: Session{
			ID: id, Title: openCodeTitle(title), Dir: flat(dir), Time: millis(created),
		}})
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(sessions, func(a, b *talk) int { return cmp.Compare(a.session.ID, b.session.ID) })
	for _, t := range sessions {
		if err := openCodeSession(db, t, messages[t.session.ID], parts); err != nil {
			return err
		}
		delete(messages, t.session.ID)
	}
	for _, rest := range messages {
		for range rest {
			h.Skipped("message without its session", "")
		}
	}
	return nil
}

// openCodeRows returns the rows of a table by the id of what they belong to.
func openCodeRows(db *sqlite.Database, table, owner string, h Handler) (map[string][]openCodeRow, error) {
	rows, n := map[string][]openCodeRow{}, 0
	err := eachRow(db, table, h, func(t *sqlite.Table, r *sqlite.Row) error {
		id, ok := r.Text(t.Column("id"), maxKey)
		of, has := r.Text(t.Column(owner), maxKey)
		if !ok || !has {
			h.Skipped(Damaged, "a row of the table "+table)
			return nil
		}
		if n++; n > maxRows {
			return errRows
		}
		created, _ := r.Int(t.Column("time_created"))
		rows[of] = append(rows[of], openCodeRow{id, created, r.Place})
		return nil
	})
	return rows, err
}

// openCodeSession reads the messages of a session by their times and ids, and the parts of each by their ids.
func openCodeSession(db *sqlite.Database, t *talk, list []openCodeRow, parts map[string][]openCodeRow) error {
	slices.SortFunc(list, func(a, b openCodeRow) int {
		return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.id, b.id))
	})
	open := ""
	for _, row := range list {
		at := "message " + label(row.id)
		record, err := openCodeRecord(db, row, parts[row.id], t.handler)
		if err == nil {
			err = openCodeTurn(t, record, &open, at)
		}
		if err := passDamaged(t.handler, at, err); err != nil {
			return err
		}
	}
	return t.end()
}

// openCodeRecord puts a message together as an export has it.
func openCodeRecord(db *sqlite.Database, row openCodeRow, parts []openCodeRow, h Handler) (json.RawMessage, error) {
	info, err := openCodeData(db, "message", row)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(parts, func(a, b openCodeRow) int { return cmp.Compare(a.id, b.id) })
	record := struct {
		Info  map[string]json.RawMessage   `json:"info"`
		Parts []map[string]json.RawMessage `json:"parts"`
	}{Info: info}
	for _, p := range parts {
		part, err := openCodeData(db, "part", p)
		if err != nil {
			h.Skipped(Damaged, "part "+label(p.id))
			continue
		}
		record.Parts = append(record.Parts, part)
	}
	data, err := json.Marshal(record)
	if err == nil {
		fieldsOf("opencode")["messages"].tell(h, data)
	}
	return data, err
}

// openCodeData reads the column data of a row, and adds the id to it.
func openCodeData(db *sqlite.Database, table string, row openCodeRow) (map[string]json.RawMessage, error) {
	t, _ := db.Table(table)
	r, err := db.At(row.place)
	if err != nil {
		return nil, errDamaged
	}
	text, ok := r.Text(t.Column("data"), maxRecord)
	var data map[string]json.RawMessage
	if !ok || json.Unmarshal([]byte(text), &data) != nil || data == nil {
		return nil, errDamaged
	}
	id, err := json.Marshal(row.id)
	data["id"] = id
	return data, err
}
