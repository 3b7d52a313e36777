package owner

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// Protocol is the newest protocol of this build, and oldest the oldest that it also speaks.
const (
	Protocol = 9
	oldest   = 9
)

func path(name string) string { return fmt.Sprintf("/v%d/%s", Protocol, name) }

const (
	maxHello = 4 << 10  // bytes of the answer to a hello
	maxBuild = 128      // bytes of the name of a build
	maxData  = 64 << 10 // bytes of output in one record
	// maxResult is more than a model may be told at once, in JSON.
	maxResult = 128 << 20
)

// ErrProtocol is returned when the other end sends something that is not part of this protocol.
var ErrProtocol = errors.New("not what this protocol sends")

// Build is an end's description of itself: its name and the protocols that it speaks.
type Build struct {
	Name   string `json:"build"`
	Oldest int    `json:"oldest"`
	Newest int    `json:"newest"`
}

// ours is a build of a name that speaks the protocols of this one.
func ours(name string) Build { return Build{name[:min(len(name), maxBuild)], oldest, Protocol} }

// speaks reports whether two ends have a protocol in common.
func (b Build) speaks(other Build) bool {
	return b.Oldest <= other.Newest && other.Oldest <= b.Newest
}

// hello is an owner's answer to a hello.
type hello struct {
	Build
	Holds bool `json:"holds"` // whether the claim of the request is about the directory that it holds
}

// kind is the first byte of a record; the package comment has the table.
type kind byte

const (
	kindOutput kind = 'O'
	kindFile   kind = 'F'
	kindWrites kind = 'W'
	kindTell   kind = 'T'
	kindResult kind = 'Z'
)

// headerLen is the length of a record's kind and length.
const headerLen = 5

// limit returns the longest payload of a kind, -1 for an unknown one.
func (k kind) limit() int64 {
	switch k {
	case kindOutput, kindFile, kindTell:
		return maxData
	case kindResult:
		return maxResult
	case kindWrites:
		return 0
	}
	return -1
}

// readRecord reads one record of an answer. The payload is in buf if it fits, and otherwise in a slice that grows with
// the bytes that arrive.
func readRecord(r io.Reader, buf []byte) (kind, []byte, error) {
	var head [headerLen]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	k, n := kind(head[0]), int64(binary.BigEndian.Uint32(head[1:]))
	if n > k.limit() {
		return 0, nil, fmt.Errorf("%w: record %q of %d bytes", ErrProtocol, head[0], n)
	}
	var err error
	if n <= int64(cap(buf)) {
		buf = buf[:n]
		_, err = io.ReadFull(r, buf)
	} else if buf, err = io.ReadAll(io.LimitReader(r, n)); err == nil && int64(len(buf)) < n {
		err = io.ErrUnexpectedEOF
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return k, buf, err
}

const (
	// stalled is how long a message may wait for the caller to read it: other writers may be waiting for the verb.
	// Answers are sent when none are, and a person may read those for hours.
	stalled = 30 * time.Second
	// lastWords is how long the result of an ended verb may take to be written. An owner that ends waits so long.
	lastWords = 5 * time.Second
)

type records struct {
	mu  sync.Mutex
	to  http.ResponseWriter
	rc  *http.ResponseController
	buf []byte
	err error // of the first write that failed; nothing is sent after it
}

func (s *records) send(k kind, payload []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var until time.Time
	switch k {
	case kindTell:
		until = time.Now().Add(stalled)
	case kindResult:
		until = time.Now().Add(lastWords)
	}
	if s.err == nil {
		s.err = s.rc.SetWriteDeadline(until)
	}
	if s.err == nil {
		s.buf = binary.BigEndian.AppendUint32(append(s.buf[:0], byte(k)), uint32(len(payload)))
		s.buf = append(s.buf, payload...)
		_, s.err = s.to.Write(s.buf)
	}
	if s.err == nil {
		s.err = s.rc.Flush()
	}
	return s.err
}

// end makes further writes fail, after which the ResponseWriter is not used any more.
func (s *records) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = net.ErrClosed
}
