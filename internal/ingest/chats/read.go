package chats

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// maxRecord is the longest line or member of a list that is read, in bytes.
	maxRecord = 64 << 20
	// maxCalls is how many calls of tools one turn keeps.
	maxCalls = 100
	// maxLabel is the longest name that is told.
	maxLabel = 500
)

// ErrFormat is returned for a file that is not of the format at all.
var ErrFormat = errors.New("not of this format")

// Session is one conversation. It comes after its turns.
type Session struct {
	ID          string
	Title       string // "" where it has none
	Time        int64  // of its beginning, in µs since 1970; 0 where it is not known
	Dir, Branch string
}

// Turn is what one side said.
type Turn struct {
	Session string // its ID
	ID      string // the same each time that the file is read
	Before  string // the ID of the turn before it, "" for the first
	Number  int    // in its session, from 1
	Speaker string // user or assistant
	Time    int64  // as in Session
	Text    string
	Calls   []string // of tools: the name and one argument of any length
	Left    bool     // whether the conversation went another way

	Dir, Branch string // where they are not those of the session
}

// Memory is a statement, or a thing that statements are about.
type Memory struct {
	ID    string
	Type  string // "" for a statement
	Text  string
	About string // the ID of the thing that it is about, "" for none
	Time  int64
	Tags  []string
	Meta  map[string]string
}

// Relation is an edge between two things.
type Relation struct{ From, Type, To string }

// Handler is given what a file holds, in order. An error of it ends the reading and is returned.
type Handler interface {
	Session(*Session) error
	Turn(*Turn) error
	Memory(*Memory) error
	Relation(*Relation) error
	// Skipped is told what was left out and why; at is its place where it is damaged, else "".
	Skipped(why, at string)
}

// Formats are the names of the formats, in order.
func Formats() []string {
	return []string{"claude-code", "codex", "gemini", "opencode", "chatgpt", "claude", "server-memory", "mem0"}
}

// Read reads a file of a format. It returns ErrFormat for what is none at all.
func Read(format string, in io.Reader, h Handler) error {
	switch format {
	case "claude-code", "codex", "gemini", "opencode":
		_, err := Resume(format, in, Place{}, 0, h)
		return err
	case "server-memory":
		_, err := lines(in, h, &serverMemory{handler: h}, Place{}, 0)
		return err
	}
	in = &validReader{in: bufio.NewReaderSize(in, 1<<16)}
	switch format {
	case "chatgpt":
		return list(in, h, chatGPT)
	case "claude":
		return list(in, h, claude)
	case "mem0":
		return list(in, h, mem0)
	}
	return fmt.Errorf("no format %q", format)
}

var byteOrderMark = []byte("\ufeff")

// validReader leaves out a byte order mark.
type validReader struct {
	in    *bufio.Reader
	begun bool
}

func (r *validReader) Read(p []byte) (int, error) {
	if !r.begun {
		r.begun = true
		if mark, _ := r.in.Peek(3); bytes.Equal(mark, byteOrderMark) {
			_, _ = r.in.Discard(3) // they were peeked
		}
	}
	return r.in.Read(p)
}

// list reads a list of records, which may be a member of an object.
func list(in io.Reader, h Handler, one func(json.RawMessage, Handler) error) error {
	limited := &io.LimitedReader{R: in, N: maxRecord}
	dec := json.NewDecoder(limited)
	if err := enter(dec); err != nil {
		return err
	}
	for number := 1; dec.More(); number++ {
		limited.N = maxRecord
		var record json.RawMessage
		at := fmt.Sprintf("record %d", number)
		if err := dec.Decode(&record); err != nil {
			h.Skipped("damaged from here on", at)
			return nil
		}
		err := one(record, h)
		if errors.Is(err, errDamaged) {
			h.Skipped("damaged", at)
		} else if err != nil {
			return err
		}
	}
	if t, err := dec.Token(); err != nil || t != json.Delim(']') {
		h.Skipped("damaged from here on", "the end")
	}
	return nil
}

// enter reads up to the first record of a list: of the file, or of the first list in its object.
func enter(dec *json.Decoder) error {
	for depth := 0; ; depth++ {
		t, err := dec.Token()
		switch {
		case err == nil && t == json.Delim('['):
			return nil
		case err != nil || t != json.Delim('{') || depth > 0:
			return ErrFormat
		}
		for {
			if t, err = dec.Token(); err != nil || t == json.Delim('}') {
				return ErrFormat
			}
			switch t {
			case "results", "conversations", "memories":
				if t, err = dec.Token(); err != nil || t != json.Delim('[') {
					return ErrFormat
				}
				return nil
			}
			var skipped json.RawMessage
			if err := dec.Decode(&skipped); err != nil {
				return ErrFormat
			}
		}
	}
}

// decode reads a record. Members of another type than is wanted make it damaged.
func decode(data []byte, to any) error {
	if err := json.Unmarshal(data, to); err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	return nil
}

// moment reads a time in RFC 3339, 0 for none.
func moment(s string) int64 {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		if t, err = time.Parse("2006-01-02T15:04:05.999999", s); err != nil {
			return 0
		}
	}
	return max(0, t.UnixMicro())
}

// seconds is a time in seconds since 1970, 0 for none.
func seconds(s *float64) int64 {
	if s == nil || !(*s > 0 && *s < 1e11) {
		return 0
	}
	return int64(math.RoundToEven(*s * 1e6))
}

// clip cuts a text to n bytes, at a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// label is a text in one line of bounded length.
func label(s string) string { return clip(flat(s), maxLabel) }

// flat is a text in one line. What may hold a credential is not cut here: a part of one is not found.
func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

// call is the short form of a call of a tool: its name and the first argument that says something.
func call(name string, args json.RawMessage) string {
	short := ""
	var text string
	if json.Unmarshal(args, &text) == nil { // an object as text
		args = json.RawMessage(text)
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(args, &members) == nil {
		for _, key := range []string{
			"command", "cmd", "file_path", "path", "pattern", "query", "url", "description", "prompt", "input",
		} {
			if short = plain(members[key]); short != "" {
				break
			}
		}
	} else {
		short = text
	}
	if name = label(name); short == "" {
		return name
	}
	return name + ": " + flat(short)
}

// plain is a JSON text, or a list of them joined by blanks.
func plain(data json.RawMessage) string {
	var text string
	var list []string
	switch {
	case json.Unmarshal(data, &text) == nil:
		return text
	case json.Unmarshal(data, &list) == nil:
		return strings.Join(list, " ")
	}
	return ""
}

// talk gathers the turns of one session in their order.
type talk struct {
	handler Handler
	session Session
	before  string
	number  int
	open    *Turn

	at    Place // of the line that is read: Offset, Line and Items
	begun Place // of the open turn
}

// said adds a text or calls to what a side says. Another text of the same side continues the turn only where
// that is the same message.
func (t *talk) said(turn Turn, message, open string) error {
	o := t.open
	goes := o != nil && o.Speaker == turn.Speaker && turn.Speaker == "assistant" &&
		(turn.Text == "" || o.Text == "" || message != "" && message == open)
	if !goes {
		if err := t.flush(); err != nil {
			return err
		}
		t.open = &turn
		t.begun = t.at
		t.begun.Session, t.begun.Before, t.begun.Turns = t.session, t.before, t.number
		return nil
	}
	o.Text = join(o.Text, turn.Text)
	if room := maxCalls - len(o.Calls); room > 0 {
		o.Calls = append(o.Calls, turn.Calls[:min(room, len(turn.Calls))]...)
	}
	return nil
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}

// flush gives the turn in the making to the handler.
func (t *talk) flush() error {
	o := t.open
	if o == nil {
		return nil
	}
	t.open = nil
	t.number++
	o.Session, o.Before, o.Number = t.session.ID, t.before, t.number
	t.before = o.ID
	if t.session.Time == 0 {
		t.session.Time = o.Time
	}
	return t.handler.Turn(o)
}

// end gives the session to the handler, if it had turns.
func (t *talk) end() error {
	if err := t.flush(); err != nil || t.number == 0 {
		return err
	}
	t.session.Title = flat(t.session.Title)
	return t.handler.Session(&t.session)
}

// place is where the open turn, or the last one, begins.
func (t *talk) place() Place {
	if t == nil {
		return Place{}
	}
	return t.begun
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func reversed(list []string) []string {
	out := slices.Clone(list)
	slices.Reverse(out)
	return out
}
