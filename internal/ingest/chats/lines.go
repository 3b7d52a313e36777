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

// Position is where the reading of a file that only grows goes on: at its last turn, which may have been in the
// making. The zero Place is the beginning.
type Position struct {
	Offset int64 `json:"offset"` // in bytes
	Line   int   `json:"line"`   // how many lines are before it
	Read   int64 `json:"read"`   // how many bytes of the file were read
	// Session is as it was before the turn, and Turns how many turns it had; Before is the last of them.
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

// Resume reads a file of claude-code, codex, gemini or opencode from a place on, of which in is the rest, and returns
// where to go on once the file has grown: the last turn comes again then. It ends at the end of a line after
// most bytes that were not read before, 0 for all of the file. Files of gemini and opencode are read as a whole. After
// an error the place is from.
func Resume(format string, in io.Reader, from Position, most int64, h Handler) (Position, error) {
	var resumed *talk
	if from.Offset > 0 {
		resumed = &talk{
			handler: h, session: from.Session, before: from.Before, number: from.Turns, recent: from.Recent, root: from.Root,
		}
	}
	switch format {
	case "claude-code":
		c := &claudeCode{handler: h, talk: resumed, title: from.Session.Title, named: from.Named}
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
		return from, gemini(bufio.NewReaderSize(in, 1<<16), h)
	case "opencode":
		return from, openCode(&validReader{in: bufio.NewReader(in)}, h)
	}
	return from, fmt.Errorf("no format %q that goes on", format)
}

// lineReader reads one file of lines.
type lineReader interface {
	line(data []byte, at position) error // errDamaged, or one of the handler
	end() error
	// begun is where the last turn begins, the zero Place if none came.
	begun() Position
}

// position is where a line is.
type position struct {
	offset int64
	number int // from 1
}

func (p position) place() Position { return Position{Offset: p.offset, Line: p.number - 1} }

// errDamaged is returned for a record that cannot be read.
var errDamaged = errors.New("damaged")

// lines reads a file of JSON Lines from a place on, of which in is the rest, and returns where it goes on. It
// ends after most bytes that were not read before, 0 for all.
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
		place := fmt.Sprintf("line %d", at.number)
		if at.offset == 0 && line != nil {
			line = bytes.TrimPrefix(line, byteOrderMark)
		}
		switch {
		case line == nil:
			damaged++
			h.Skipped("longer than 64 MiB", place)
		case len(bytes.TrimSpace(line)) == 0:
		case bytes.Contains(line, []byte(`"timestamp"`)) && again(seen, line):
			h.Skipped(Duplicate, "")
		default:
			err := r.line(line, at)
			switch {
			case errors.Is(err, errDamaged) && last:
				h.Skipped(Incomplete, "")
			case errors.Is(err, errDamaged):
				damaged++
				h.Skipped(Damaged, place)
			case err != nil:
				return from, err
			default:
				read++
			}
		}
		if begun := r.begun(); begun.Session.ID != "" {
			next = begun
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

// again reports whether a record was read before.
func again(seen map[uint64]bool, record []byte) bool {
	sum := sha256.Sum256(bytes.TrimSpace(record))
	key := binary.BigEndian.Uint64(sum[:])
	before := seen[key]
	seen[key] = true
	return before
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
