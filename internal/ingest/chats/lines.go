package chats

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Position is a position in a growing file: the start of its last turn, which may have been incomplete. The zero
// Position is the beginning.
type Position struct {
	Offset int64 `json:"offset"` // in bytes
	Line   int   `json:"line"`   // how many lines are before it
	Read   int64 `json:"read"`   // how many bytes of the file were read
	// Session and Turns are the session and its number of turns before the last one; Before is the ID of the last turn
	// among these.
	Session Session `json:"session"`
	Before  string  `json:"before,omitempty"`
	Turns   int     `json:"turns"`
	// Recent are the turns that may be taken back, and Root begins the IDs of turns, of a format without ids.
	Recent []string `json:"recent,omitempty"`
	Root   string   `json:"root,omitempty"`
	Named  bool     `json:"named,omitempty"` // whether a person gave the session its title
	// More is whether the reading ended before the file.
	More bool `json:"-"`
}

// Resume reads the rest of a file of claude-code, codex, gemini or opencode; in starts at from. It returns the position
// from which to read when the file has grown, and then the last turn is read again. It stops at the first line end
// after most new bytes; 0 means no limit. Files of gemini and opencode are read as a whole. After an error it returns
// from.
func Resume(format string, in io.Reader, from Position, most int64, h Handler) (Position, error) {
	var resumed *talk
	if from.Offset > 0 {
		resumed = &talk{
			handler: h, session: from.Session, before: from.Before, number: from.Turns, recent: from.Recent, root: from.Root,
		}
	}
	switch format {
	case "claude-code":
		c := &claudeCode{
			handler: h, talk: resumed, title: from.Session.Title, named: from.Named, seen: make(map[string]bool),
		}
		return lines(in, h, c, from, most)
	case "codex":
		if resumed != nil {
			resumed.holds = true
		}
		return lines(in, h, &codex{handler: h, talk: resumed}, from, most)
	case "copilot-cli": // an event names those before it, so that all are read again
		_, err := lines(in, h, &copilotCLI{handler: h}, Position{}, 0)
		return from, err
	case "gemini":
		return from, gemini(unmarked(in), h)
	case "opencode":
		return from, openCode(unmarked(in), h)
	}
	return from, fmt.Errorf("no format %q that goes on", format)
}

type lineReader interface {
	line(data []byte, at position) error // returns errDamaged or an error of the handler
	end() error
}

// resumer is a lineReader of a file that need not be read from its beginning again.
type resumer interface {
	begun() Position // the start of the last turn, the zero Position if there was none
}

type position struct {
	offset int64
	number int // from 1
}

func (p position) place() Position { return Position{Offset: p.offset, Line: p.number - 1} }

// String names the line in messages.
func (p position) String() string { return fmt.Sprintf("line %d", p.number) }

// errDamaged is returned for a record that cannot be read.
var errDamaged = errors.New("damaged")

// lines reads the rest of a file of JSON Lines; in starts at from. It returns the position at which it stopped: the
// first line end after most new bytes; 0 means no limit.
func lines(in io.Reader, h Handler, r lineReader, from Position, most int64) (Position, error) {
	b := bufio.NewReaderSize(in, 1<<16)
	read, damaged := 0, 0
	seen := make(map[uint64]bool) // lines with a time, which a program writes once
	next, until := from, from.Read+most
	for at := (position{from.Offset, from.Line + 1}); ; at.number++ {
		line, length, err := oneLine(b)
		if err != nil && !errors.Is(err, io.EOF) {
			return from, err
		}
		last := err != nil
		if at.offset == 0 && line != nil {
			line = bytes.TrimPrefix(line, byteOrderMark)
		}
		switch {
		case line == nil:
			damaged++
			h.Skipped("longer than 64 MiB", at.String())
		case len(bytes.TrimSpace(line)) == 0:
		case bytes.Contains(line, []byte(`"timestamp"`)) && again(seen, sumOf(line)):
			h.Skipped(Duplicate, "")
		default:
			err := r.line(line, at)
			switch {
			case errors.Is(err, errDamaged) && last:
				h.Skipped(Incomplete, "")
			case errors.Is(err, errDamaged):
				damaged++
				h.Skipped(Damaged, at.String())
			case err != nil:
				return from, err
			default:
				read++
			}
		}
		if r, ok := r.(resumer); ok && r.begun().Session.ID != "" {
			next = r.begun()
		}
		next.Read = at.offset
		if last {
			break
		}
		at.offset += length
		next.Read = at.offset
		if next.More = most > 0 && at.offset >= until; next.More {
			break
		}
	}
	if read == 0 && damaged > 0 {
		return from, ErrFormat
	}
	return next, r.end()
}

func sumOf(record []byte) uint64 {
	sum := sha256.Sum256(bytes.TrimSpace(record))
	return binary.BigEndian.Uint64(sum[:])
}

// oneLine reads a line, nil for one that is too long, and returns how many bytes it has.
func oneLine(b *bufio.Reader) (line []byte, length int64, err error) {
	line = []byte{}
	for {
		part, err := b.ReadSlice('\n')
		length += int64(len(part))
		if length > maxRecord {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, length, err
		}
	}
}
