package chats

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// maxRecord is the longest line or member of a list that is read, in bytes.
	maxRecord = 64 << 20
	// maxCalls is how many calls of tools one turn keeps.
	maxCalls = 100
	// maxLabel is the longest name that is reported.
	maxLabel = 500
)

// ErrFormat is returned for a file in another format.
var ErrFormat = errors.New("not of this format")

// Session is one conversation. It comes after its turns.
type Session struct {
	ID          string
	Title       string // "" if it has none
	Time        int64  // of its beginning, in µs since 1970; 0 if it is not known
	Dir, Branch string
	// Store names the store of the session if the program keeps conversations in several; another store may have the
	// same conversation under other turn IDs. "" for the program's usual files.
	Store string `json:",omitempty"`
}

// Turn is one message of one side.
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
	Copied  bool     // whether it may belong to the session that this one was forked from

	Dir, Branch string // if they differ from the session's
	Store       string `json:",omitempty"` // as in Session
}

// empty reports whether a turn has nothing to keep, and counts it if no part of it was left out and counted.
func (t *Turn) empty(h Handler, left int) bool {
	if t.Text != "" || len(t.Calls) > 0 {
		return false
	}
	if left == 0 {
		h.Skipped(Empty, "")
	}
	return true
}

// Memory is a statement, or a thing that statements are about.
type Memory struct {
	ID    string
	Type  string // "" for a statement
	Text  string
	About string // the ID of the thing that it is about, "" for none
	Time  int64
	Tags  []string
	Meta  map[string]ipld.Value

	ValidTo int64 // as Time, 0 for no end
}

// Relation is an edge between two things.
type Relation struct{ From, Type, To string }

// Handler receives the contents of a file, in order. If it returns an error, reading ends with that error.
type Handler interface {
	Session(*Session) error
	Turn(*Turn) error
	Memory(*Memory) error
	Relation(*Relation) error
	// Left receives the ID of a turn from an earlier reading that the conversation has since abandoned.
	Left(id string) error
	// Skipped receives the kind of each part that is left out. at is the position of a part that is damaged or of an
	// unknown kind, else "".
	Skipped(kind, at string)
}

// Formats are the names of the formats, in order.
func Formats() []string {
	return []string{
		"claude-code", "codex", "gemini", "opencode", "cursor", "copilot", "copilot-cli", "cline", "chatgpt", "claude",
		"server-memory", "mem0",
	}
}

// Read reads a file of a format, which may be compressed with zstd or be an archive of an export. name is the file's
// path, because in some formats only the path has the session's id. It returns ErrFormat for a file of another format.
func Read(format, name string, in io.Reader, h Handler) error {
	if is, err := readDatabase(format, in, h); is {
		return err
	}
	return unpack(in, h, readAs(format, name))
}

// readAs returns what reads a file of a format that is not packed.
func readAs(format, name string) func(in io.Reader, h Handler) error {
	return func(in io.Reader, h Handler) error {
		switch format {
		case "cursor":
			_, err := lines(in, h, newCursor(name, h), Position{}, 0)
			return err
		case "copilot":
			return vscodeChat(in, h)
		case "claude-code", "codex", "gemini", "opencode", "copilot-cli":
			_, err := Resume(format, in, Position{}, 0, h)
			return err
		case "server-memory":
			_, err := lines(in, h, newServerMemory(h), Position{}, 0)
			return err
		}
		switch b := unmarked(in); format {
		case "cline":
			return readCline(b, h)
		case "chatgpt":
			return list(b, h, chatGPT)
		case "claude":
			return list(b, h, claude)
		case "mem0":
			return list(b, h, mem0)
		}
		return fmt.Errorf("no format %q", format)
	}
}

var byteOrderMark = []byte("\ufeff")

// unmarked returns a reader of what follows a byte order mark, if there is one.
func unmarked(in io.Reader) *bufio.Reader {
	b := bufio.NewReaderSize(in, 1<<16)
	if mark, _ := b.Peek(len(byteOrderMark)); bytes.Equal(mark, byteOrderMark) {
		_, _ = b.Discard(len(mark)) // they were peeked
	}
	return b
}

// readWhole reads a file that is one JSON text of at most maxRecord bytes, and returns ErrFormat for another.
func readWhole(in io.Reader, to any) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxRecord+1))
	if err == nil && (len(data) > maxRecord || json.Unmarshal(data, to) != nil) {
		err = ErrFormat
	}
	return data, err
}

// passDamaged counts a damaged record, and returns any other error.
func passDamaged(h Handler, at string, err error) error {
	if errors.Is(err, errDamaged) {
		h.Skipped(Damaged, at)
		return nil
	}
	return err
}

// again reports whether a key was seen before, and records it. The zero key never was.
func again[K comparable](seen map[K]bool, key K) bool {
	var zero K
	before := seen[key] && key != zero
	seen[key] = true
	return before
}

// list reads a list of records, which may be a member of an object, or one record alone.
func list(in io.Reader, h Handler, one func(json.RawMessage, Handler) error) error {
	limited := &io.LimitedReader{R: in, N: maxRecord}
	var head headBuffer
	dec := json.NewDecoder(io.TeeReader(limited, &head))
	entered, err := enter(dec, h)
	if err != nil {
		return err
	}
	if entered == alone {
		if err := one(head.data[:dec.InputOffset()], h); !errors.Is(err, errDamaged) {
			return err
		}
		return ErrFormat
	}
	head.off = true
	head.data = nil
	for number := 1; dec.More(); number++ {
		limited.N = maxRecord
		var data json.RawMessage
		at := fmt.Sprintf("record %d", number)
		if err := dec.Decode(&data); err != nil {
			h.Skipped(Damaged, at+" and what follows")
			return nil
		}
		if err := passDamaged(h, at, one(data, h)); err != nil {
			return err
		}
	}
	limited.N = maxRecord
	if t, err := dec.Token(); err != nil || t != json.Delim(']') || entered == member && leave(dec, h) != nil {
		h.Skipped(Damaged, "the end")
	}
	return nil
}

// headBuffer keeps the bytes written to it until it is switched off.
type headBuffer struct {
	data []byte
	off  bool
}

func (b *headBuffer) Write(p []byte) (int, error) {
	if !b.off {
		b.data = append(b.data, p...)
	}
	return len(p), nil
}

// The forms of a file of records.
const (
	whole  = iota // a list
	member        // a list in an object
	alone         // one record
)

// enter reads up to the first record of a list: of the file, or of the first list in its object. It reads an object
// without one as a whole.
func enter(dec *json.Decoder, h Handler) (where int, err error) {
	t, err := dec.Token()
	if err == nil && t == json.Delim('[') {
		return whole, nil
	}
	if err != nil || t != json.Delim('{') {
		return 0, ErrFormat
	}
	var others []string
	for {
		if t, err = dec.Token(); err != nil {
			return 0, ErrFormat
		}
		switch t {
		case json.Delim('}'):
			return alone, nil
		case "results", "conversations", "memories":
			if t, err = dec.Token(); err != nil || t != json.Delim('[') {
				return 0, ErrFormat
			}
			for _, name := range others {
				h.Skipped("member "+name, "")
			}
			return member, nil
		}
		if name, ok := t.(string); ok {
			others = append(others, label(name))
		}
		var skipped json.RawMessage
		if err := dec.Decode(&skipped); err != nil {
			return 0, ErrFormat
		}
	}
}

// leave reads what follows the list in its object.
func leave(dec *json.Decoder, h Handler) error {
	for {
		t, err := dec.Token()
		if err != nil || t == json.Delim('}') {
			return err
		}
		var skipped json.RawMessage
		if err := dec.Decode(&skipped); err != nil {
			return err
		}
		var list []json.RawMessage
		times := 1
		if json.Unmarshal(skipped, &list) == nil {
			times = len(list)
		}
		for name, ok := t.(string); ok && times > 0; times-- {
			h.Skipped("member "+label(name), "")
		}
	}
}

// decode reads a record. A member of the wrong type makes the record damaged.
func decode(data []byte, to any) error {
	if err := json.Unmarshal(data, to); err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	return nil
}

// moment reads a time in RFC 3339, 0 for none.
func moment(s string) int64 {
	at, _ := momentOf(s)
	return at
}

// momentOf reads a time in RFC 3339, perhaps without a zone, which is UTC then.
func momentOf(s string) (at int64, zoned bool) {
	for i, form := range []string{
		time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999",
		"2006-01-02 15:04:05.999999999", "2006-01-02T15:04",
	} {
		if t, err := time.Parse(form, s); err == nil {
			return max(0, t.UnixMicro()), i < 2
		}
	}
	return 0, false
}

// seconds is a time in seconds since 1970, 0 for none.
func seconds(s *float64) int64 {
	if s == nil || !(*s > 0 && *s < 1e11) {
		return 0
	}
	return int64(math.RoundToEven(*s * 1e6))
}

// label is a text in one line of bounded length.
func label(s string) string { return text.FirstBytes(flat(s), maxLabel) }

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

	// holds is whether turns are held until the end, since later records may say that the conversation left them.
	holds  bool
	held   []*Turn
	index  map[string]int // of held by their IDs
	recent []string       // the IDs of the last turns, a user's after a +, another one's after a -
	root   string         // begins the IDs of turns whose format has none

	at    Position // of the line that is read: Offset, Line and Items
	begun Position // of the open turn
}

// maxRecent is how many turns can be taken back.
const maxRecent = 256

// said adds text or calls to the open turn. A further text of the same side continues the turn only if it belongs to
// the same message.
func (t *talk) said(turn Turn, message, open string) error {
	o := t.open
	goes := o != nil && o.Speaker == turn.Speaker && o.Left == turn.Left && turn.Speaker == "assistant" &&
		(turn.Text == "" || o.Text == "" || message != "" && message == open)
	if !goes {
		if err := t.flush(); err != nil {
			return err
		}
		if turn.ID == "" {
			turn.ID = t.nextID(&turn)
		}
		t.open = &turn
		t.begun = t.at
		t.begun.Session, t.begun.Before, t.begun.Turns = t.session, t.before, t.number
		t.begun.Recent, t.begun.Root = t.recent, t.root
		return nil
	}
	o.Text = join(o.Text, turn.Text)
	if room := maxCalls - len(o.Calls); room > 0 {
		o.Calls = append(o.Calls, turn.Calls[:min(room, len(turn.Calls))]...)
	}
	return nil
}

// nextID makes an ID for a turn whose format has none, from the ID of the turn before it and the turn's first content.
// So a copy of a conversation has the IDs of the original up to the first difference.
func (t *talk) nextID(turn *Turn) string {
	sum := sha256.Sum256([]byte(t.before + "\x00" + turn.Speaker + "\x00" + turn.Text + "\x00" +
		strings.Join(turn.Calls, "\x00")))
	return t.root + "/" + hex.EncodeToString(sum[:8])
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}

// flush gives the turn in the making to the handler, or holds it.
func (t *talk) flush() error {
	o := t.open
	if o == nil {
		return nil
	}
	t.open = nil
	if i, held := t.index[o.ID]; held { // a prompt that was taken back and is said again
		t.handler.Skipped(Duplicate, "")
		t.held[i].Left = false
		t.follow(o)
		return nil
	}
	t.number++
	o.Session, o.Before, o.Number = t.session.ID, t.before, t.number
	o.Copied = t.root != "" && t.root != t.session.ID
	t.follow(o)
	t.session.Time = cmp.Or(t.session.Time, o.Time)
	if t.holds {
		if t.index == nil {
			t.index = make(map[string]int)
		}
		t.index[o.ID] = len(t.held)
		t.held = append(t.held, o)
		return nil
	}
	return t.handler.Turn(o)
}

// follow makes a turn the last of the conversation.
func (t *talk) follow(o *Turn) {
	t.before = o.ID
	if !t.holds {
		return
	}
	sign := "-"
	if o.Speaker == "user" {
		sign = "+"
	}
	t.recent = append(t.recent, sign+o.ID)
	t.recent = t.recent[max(0, len(t.recent)-maxRecent):]
}

// takeBack marks the last n turns of the user and all that followed them as left. Those that an earlier reading gave to
// the handler are named to it.
func (t *talk) takeBack(n int) error {
	if err := t.flush(); err != nil {
		return err
	}
	t.recent = slices.Clone(t.recent) // positions hold the old slice
	for n > 0 && len(t.recent) > 0 {
		last := t.recent[len(t.recent)-1]
		t.recent = t.recent[:len(t.recent)-1]
		if last[0] == '+' {
			n--
		}
		if i, held := t.index[last[1:]]; held {
			t.held[i].Left = true
		} else if err := t.handler.Left(last[1:]); err != nil {
			return err
		}
	}
	if t.before = ""; len(t.recent) > 0 {
		t.before = t.recent[len(t.recent)-1][1:]
	}
	return nil
}

// end emits the held turns and, if it had turns, the session.
func (t *talk) end() error {
	if err := t.flush(); err != nil || t.number == 0 {
		return err
	}
	for _, o := range t.held {
		if err := t.handler.Turn(o); err != nil {
			return err
		}
	}
	t.held = nil
	t.session.Title = flat(t.session.Title)
	return t.handler.Session(&t.session)
}

// place returns the start of the open turn, or of the last one.
func (t *talk) place() Position {
	if t == nil {
		return Position{}
	}
	return t.begun
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
