package owner

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Protocol is the newest version of what is spoken on the socket, and oldest the oldest that this build
// speaks too.
const (
	Protocol = 7
	oldest   = 7
)

// kind says what a frame is; the package comment has the table.
type kind byte

const (
	kindHello   kind = 'H'
	kindHolds   kind = 'D'
	kindVerb    kind = 'V'
	kindKeep    kind = 'K'
	kindCancel  kind = 'C'
	kindInput   kind = 'I'
	kindNoInput kind = 'X'
	kindNoPrint kind = 'P'
	kindNeed    kind = 'N'
	kindOutput  kind = 'O'
	kindFile    kind = 'F'
	kindWrites  kind = 'W'
	kindTell    kind = 'T'
	kindResult  kind = 'Z'
	kindGone    kind = 'G'
)

const (
	headerLen  = 5
	maxBuild   = 128 // bytes of the name of a build
	tableLen   = 8   // bytes of the hash of a table of verbs
	helloLen   = 4 + tableLen
	maxData    = 64 << 10 // bytes of input or output in one frame
	maxMessage = 1 << 10
	// maxRequest is above what files and models say to most requests.
	maxRequest = 64 << 20
	// maxResult is above what a model may be told at once, in JSON.
	maxResult = 128 << 20
	indexLen  = 2 // bytes of the number of an input
)

// ErrProtocol is returned when the other end sends what no end of this protocol does.
var ErrProtocol = errors.New("not what this protocol sends")

// limit returns the longest payload of a kind, and false for what is none.
func (k kind) limit() (int, bool) {
	switch k {
	case kindHello:
		return helloLen + maxBuild, true
	case kindHolds:
		return valueText, true
	case kindVerb:
		return maxRequest, true
	case kindInput, kindOutput, kindFile, kindTell:
		return maxData, true
	case kindResult:
		return maxResult, true
	case kindNeed:
		return indexLen, true
	case kindNoInput, kindNoPrint:
		return maxMessage, true
	case kindKeep, kindCancel, kindWrites, kindGone:
		return 0, true
	}
	return 0, false
}

// readFrame reads one frame. The payload is in buf where that has room, and in what grows with the
// bytes that arrive where it has none.
func readFrame(r io.Reader, buf []byte) (kind, []byte, error) {
	var head [headerLen]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	k, n := kind(head[0]), binary.BigEndian.Uint32(head[1:])
	limit, known := k.limit()
	if !known || n > uint32(limit) {
		return 0, nil, fmt.Errorf("%w: frame %q of %d bytes", ErrProtocol, head[0], n)
	}
	var err error
	if int(n) <= cap(buf) {
		buf = buf[:n]
		_, err = io.ReadFull(r, buf)
	} else if buf, err = io.ReadAll(io.LimitReader(r, int64(n))); err == nil && len(buf) < int(n) {
		err = io.ErrUnexpectedEOF
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return k, buf, err
}

// sender writes frames of several goroutines to one connection.
type sender struct {
	mu   sync.Mutex
	conn net.Conn
	buf  []byte
	err  error // of the first write that failed, after which there are no frames any more
	// last is when all must be said, in nanoseconds since 1970; 0 for no such time.
	last atomic.Int64
}

// stalled is how long what a verb tells may wait to be read: other writers may be waiting for the verb. Answers are
// sent when none are, and a person may read those for hours.
const stalled = 30 * time.Second

// send writes one frame.
func (s *sender) send(k kind, payload []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	s.buf = append(s.buf[:0], byte(k))
	s.buf = binary.BigEndian.AppendUint32(s.buf, uint32(len(payload)))
	s.buf = append(s.buf, payload...)
	var until time.Time
	if k == kindTell {
		until = time.Now().Add(stalled)
	}
	s.err = s.conn.SetWriteDeadline(until)
	if at := s.last.Load(); at != 0 && s.err == nil { // which hurry may just have said
		s.err = s.conn.SetWriteDeadline(time.Unix(0, at))
	}
	if s.err == nil {
		_, s.err = s.conn.Write(s.buf)
	}
	if cap(s.buf) > headerLen+maxData {
		s.buf = nil // a request is sent once
	}
	return s.err
}

// hurry says by when all must be said, also what is being said.
func (s *sender) hurry(d time.Duration) {
	at := time.Now().Add(d)
	s.last.Store(at.UnixNano())
	_ = s.conn.SetWriteDeadline(at) // a closed connection hurries by itself
}

// message cuts a message to what a frame takes.
func message(err error) []byte {
	text := err.Error()
	return []byte(text[:min(len(text), maxMessage)])
}

// Build is what an end says of itself: its name, the hash of the verbs that it knows, and the protocols
// that it speaks. Table is 8 bytes, or nil for none.
type Build struct {
	Name           string
	Table          []byte
	Oldest, Newest int // set by this package
}

// encode returns the first frame of an end.
func (b Build) encode() []byte {
	out := binary.BigEndian.AppendUint16(nil, uint16(b.Newest))
	out = binary.BigEndian.AppendUint16(out, uint16(b.Oldest))
	var table [tableLen]byte
	copy(table[:], b.Table)
	out = append(out, table[:]...)
	return append(out, b.Name[:min(len(b.Name), maxBuild)]...)
}

// ours is a build that speaks what this one does.
func ours(b Build) Build {
	b.Oldest, b.Newest = oldest, Protocol
	return b
}

// speaks reports whether two ends have a protocol in common.
func (b Build) speaks(other Build) bool {
	return b.Oldest <= other.Newest && other.Oldest <= b.Newest
}

// firstRange is the first protocol whose hello has a range; before it was the protocol and the build.
const firstRange = 3

// readHello reads the first frame of the other end.
func readHello(r io.Reader) (Build, error) {
	k, data, err := readFrame(r, make([]byte, 0, helloLen+maxBuild))
	if err != nil {
		return Build{}, err
	}
	if k != kindHello || len(data) < 2 {
		return Build{}, fmt.Errorf("%w: no hello", ErrProtocol)
	}
	newest := int(binary.BigEndian.Uint16(data))
	if newest < firstRange {
		return Build{Name: string(data[2:]), Newest: newest, Oldest: newest}, nil
	}
	if len(data) < helloLen {
		return Build{}, fmt.Errorf("%w: a short hello", ErrProtocol)
	}
	return Build{
		Newest: newest, Oldest: int(binary.BigEndian.Uint16(data[2:])), Table: data[4:helloLen],
		Name: string(data[helloLen:]),
	}, nil
}
