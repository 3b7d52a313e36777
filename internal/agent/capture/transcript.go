package capture

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/ingest"
	"github.com/mnem-project/mnem/internal/ingest/chats"
)

const (
	// headBytes and tailBytes are how much is hashed of the beginning and the end of what was read, which
	// tells a file that was rewritten.
	headBytes = 32 << 10
	tailBytes = 4 << 10
	maxPlace  = 64 << 10
)

// resumePoint is where the reading of a transcript goes on, as it is stored.
type resumePoint struct {
	V    int            `json:"v"`
	At   chats.Position `json:"at"`
	Head string         `json:"head"`
	Tail string         `json:"tail"`
	// Refused is the size that the file had when the guard refused what it says: it is read again when it has
	// another one.
	Refused int64 `json:"refused,omitempty"`
}

func (s *spooled) placePath() string { return stemOf(s.path) + ".place" }

// readPlace returns where the reading goes on: at the beginning if nothing says so.
func (s *spooled) readPlace() (p resumePoint) {
	data, err := filestate.Read(s.placePath(), maxPlace)
	if err != nil || json.Unmarshal(data, &p) != nil || p.V != spoolV || p.At.Offset < 0 || p.At.Read < p.At.Offset {
		return resumePoint{}
	}
	return p
}

func (s *spooled) writePlace(p resumePoint) error {
	p.V = spoolV
	data, err := json.Marshal(p)
	if err != nil || len(data) > maxPlace {
		return err
	}
	return write(s.placePath(), data)
}

// sums hashes the beginning and the end of the first n bytes.
func sums(in io.ReaderAt, n int64) (head, tail string, err error) {
	part := func(from, to int64) (string, error) {
		h := sha256.New()
		if _, err := io.Copy(h, io.NewSectionReader(in, from, to-from)); err != nil {
			return "", err
		}
		return hex.EncodeToString(h.Sum(nil)[:16]), nil
	}
	if head, err = part(0, min(n, headBytes)); err == nil {
		tail, err = part(max(0, n-tailBytes), n)
	}
	return head, tail, err
}

type reading struct {
	*spooled
	next  resumePoint
	more  bool // whether the reading ended early
	later bool // whether the file has grown since the turn ended
	turns []turn
	// rest are the changes that belong to no turn: those of the session.
	rest  []graph.Change
	taken *ingest.Taken
	size  int64
}

type turn struct {
	id     graph.ID
	node   *graph.NodeChange // nil for a copy of one before
	before string            // the key of the one before, "" for none
	edges  []graph.Change
}

// open opens the transcript: a regular file that no link leads to out of its directory.
func (e *SpoolEntry) open() (*os.File, int64, error) {
	root, err := regular.OpenDir(e.Root)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = root.Close() }() // only read
	f, err := regular.OpenIn(root, e.Transcript)
	if errors.Is(err, regular.ErrKind) {
		return nil, 0, fmt.Errorf("%w: %w", ErrTranscript, err)
	}
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// read reads what is new of a transcript, at most so many bytes of it. It is nil if nothing is.
func (s *spooled) read(redact *ingest.Redactor, most int64, seen map[graph.ID]bool) (*reading, error) {
	f, size, err := s.open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	from := s.readPlace()
	if from.Refused > 0 && from.Refused == size {
		return nil, nil
	}
	if from.At.Read > 0 {
		head, tail, err := sums(f, min(from.At.Read, size))
		if err != nil {
			return nil, err
		}
		switch {
		case from.At.Read > size || head != from.Head || tail != from.Tail:
			from = resumePoint{}
		case from.At.Read == size:
			return nil, nil
		case from.At.Read >= s.until(size):
			return nil, s.wait()
		}
	}
	r := &reading{spooled: s, size: size}
	h := &handler{reading: r}
	end := s.until(size)
	r.later = end < size
	h.Taker = &ingest.Taker{Format: formatOf(s.Host), Redact: redact, Seen: seen, Yield: h.yield}
	r.taken = &h.Taken
	in := io.NewSectionReader(f, from.At.Offset, max(0, end-from.At.Offset))
	at, err := chats.Resume(formatOf(s.Host), in, from.At, most, h)
	if err != nil {
		return nil, err
	}
	if at.Read == 0 {
		at.Read = size // a format that is read as a whole
	}
	r.next.At, r.more = at, at.More
	r.next.Head, r.next.Tail, err = sums(f, at.Read)
	return r, err
}

// until is where the reading ends: what was said after the hook was called belongs to a turn that goes on, and would
// be found by what the agent asks for in it. Of a file that was rewritten, or is read as a whole, all is read.
func (s *spooled) until(size int64) int64 {
	whole := s.Host == Gemini || s.Host == OpenCode || s.Host == CopilotCLI
	if filepath.Ext(s.path) == waiting || whole || s.Size <= 0 {
		return size
	}
	return min(s.Size, size)
}

type handler struct {
	*reading
	*ingest.Taker
	open *turn // that changes belong to, nil for none
}

func (h *handler) yield(c graph.Change) error {
	switch {
	case h.open == nil:
		h.rest = append(h.rest, c)
	case c.Node != nil:
		h.open.node = c.Node
	default:
		h.open.edges = append(h.open.edges, c)
	}
	return nil
}

func (h *handler) Turn(t *chats.Turn) error {
	key := h.TurnKey(t.ID)
	h.open = &turn{id: graph.NodeID(key)}
	if t.Before != "" {
		h.open.before = h.TurnKey(t.Before)
	}
	err := h.Taker.Turn(t)
	h.turns = append(h.turns, *h.open)
	h.open = nil
	return err
}
