package serve

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/mnem-project/mnem/internal/verb/operation"
)

const (
	// A body is held in pieces of doubling size, so that the reserved memory follows the bytes that arrived: a request
	// that announces much and sends nothing holds firstPiece.
	firstPiece = 512
	lastPiece  = 64 << 10
	// largeBody is the size from which a body waits for room for all of its rest, and is then read to its end. Large
	// bodies that come at once so follow each other instead of filling the room with unfinished parts.
	largeBody = 1 << 20
	// bodyWindow bytes of a body, or its rest, must come within Limits.Stall.
	bodyWindow = 64 << 10
	// parsedWeight is how many bytes are reserved for one byte of JSON: it is held as received, as one text, as values,
	// and as lines.
	parsedWeight = 4
)

// body is the body of a request. Its memory is reserved in the room that all bodies share.
type body struct {
	room   *room
	caller string
	weight int64

	mu     sync.Mutex // readers of a body may still exist when its request has ended
	pieces [][]byte
	held   int64 // that are reserved
	whole  bool  // whether the reservation is for all of it
	size   int64 // that arrived and were not read
}

// take reads a whole body if there is room for it, so that an operation never waits for a slow client. It reserves
// weight times each byte as it arrives; a large body waits for room for the rest. The caller must release the body in
// any case.
func (s *Server) take(r *http.Request, limit, weight int64) (*body, *problem) {
	b := &body{room: s.bodies, caller: whoOf(r.Context()).key, weight: weight}
	tooLarge := newProblem(http.StatusRequestEntityTooLarge, codeTooLarge,
		"the body has more than %d bytes", limit)
	switch {
	case r.ContentLength > limit:
		return b, tooLarge
	case r.ContentLength == 0:
		return b, nil
	}
	most := limit
	if r.ContentLength > 0 {
		most = r.ContentLength
	}
	from := &steady{
		from: http.MaxBytesReader(nil, r.Body, limit), now: s.cfg.Now, start: exchangeOf(r).start,
		most: s.cfg.Limits.Read, stall: s.cfg.Limits.Stall, rc: http.NewResponseController(exchangeOf(r)),
	}
	from.window = from.start
	for next := int64(firstPiece); ; next = min(2*next, lastPiece) {
		// One more byte than is to come, to see the end in the same read.
		next = min(next, most-b.size+1)
		if !b.reserve(next, most) && (b.held+firstPiece < smallBody/2 || !s.reserveRest(r, b, from, most)) {
			return b, failed(operation.Busy, "too many bodies are read at once")
		}
		piece := make([]byte, next)
		n, err := io.ReadFull(from, piece)
		if n > 0 {
			b.pieces, b.size = append(b.pieces, piece[:n]), b.size+int64(n)
		}
		var large *http.MaxBytesError
		switch {
		case err == nil:
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF) && from.ended:
			return b, nil
		case errors.As(err, &large):
			return b, tooLarge
		default:
			return b, newProblem(http.StatusRequestTimeout, operation.Interrupted.Code,
				"the body did not come, or not in %v, or less than %d KiB of it in %v", s.cfg.Limits.Read,
				bodyWindow>>10, s.cfg.Limits.Stall)
		}
	}
}

// reserveRest waits for room for all that is to come of a body, for as long as one may take to come.
func (s *Server) reserveRest(r *http.Request, b *body, from *steady, most int64) bool {
	ctx, cancel := context.WithTimeout(r.Context(), s.cfg.Limits.Read)
	defer cancel()
	began := s.cfg.Now()
	n := (most+1)*b.weight - b.held
	if n > 0 && !b.room.await(ctx, b.caller, n) {
		return false
	}
	b.held, b.whole = b.held+max(n, 0), true
	from.wait(s.cfg.Now().Sub(began)) // which is not for the client to answer for
	return true
}

// reserve reserves n bytes more of most. It refuses beyond largeBody; reserveRest is for that.
func (b *body) reserve(n, most int64) bool {
	if b.whole {
		return true
	}
	if n *= b.weight; b.held+n > largeBody {
		return false
	}
	// One that is not small leaves the room for little to others as soon as it may wait for the rest.
	use, small := partly, int64(smallBody)
	if most > smallBody/b.weight {
		small /= 2
	}
	if b.held+n <= small {
		use = little
	}
	if !b.room.take(b.caller, n, use) {
		return false
	}
	b.held += n
	return true
}

func (b *body) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.room.give(b.caller, b.held)
	b.pieces, b.held, b.size = nil, 0, 0
}

// text returns what arrived as one slice, which is then not read otherwise.
func (b *body) text() []byte {
	all := bytes.Join(b.pieces, nil)
	b.pieces = nil
	return all
}

// writeTo writes what arrived and was not read, which stays.
func (b *body) writeTo(w io.Writer) {
	for _, p := range b.pieces {
		_, _ = w.Write(p) // a hash takes all
	}
}

// Read reads what arrived, once: the room of each piece is given back when it was read.
func (b *body) Read(to []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(to, b.pieces[0])
	b.pieces[0], b.size = b.pieces[0][n:], b.size-int64(n)
	if len(b.pieces[0]) > 0 {
		return n, nil
	}
	b.pieces[0], b.pieces = nil, b.pieces[1:]
	if left := b.size * b.weight; left < b.held {
		b.room.give(b.caller, b.held-left)
		b.held = left
	}
	return n, nil
}

// steady reads a body that must come within a time, and without long pauses.
type steady struct {
	from   io.Reader
	rc     *http.ResponseController
	now    func() time.Time
	start  time.Time
	most   time.Duration // for all
	stall  time.Duration // for bodyWindow bytes
	window time.Time     // when its bytes began to be counted
	bytes  int           // that came since
	ended  bool
}

// wait says that for some time nothing was read for lack of room.
func (s *steady) wait(d time.Duration) {
	s.start, s.window, s.bytes = s.start.Add(d), s.now(), 0
}

func (s *steady) Read(to []byte) (int, error) {
	if s.ended { // the connection is being read for its next request, without a deadline
		return 0, io.EOF
	}
	deadline := s.start.Add(s.most)
	if stall := s.window.Add(s.stall); stall.Before(deadline) {
		deadline = stall
	}
	_ = s.rc.SetReadDeadline(deadline) // if there is none the body is waited for
	n, err := s.from.Read(to)
	if s.bytes += n; s.bytes >= bodyWindow {
		s.window, s.bytes = s.now(), 0
	}
	s.ended = errors.Is(err, io.EOF)
	return n, err
}

// zstdWindow bounds what is kept in memory of what is compressed and decompressed, in bytes.
const zstdWindow = 8 << 20

// encodingZstd is the coding of bodies and answers that are CAR files.
const encodingZstd = "zstd"

func badBody(what string) error {
	return &operation.Error{Outcome: operation.Invalid, Message: "the body: " + what}
}

// unpacked returns a body as the operation reads it. A compressed one may become as long as one that is not:
// beyond that reading fails.
func unpacked(b *body, encoding string, op *operation.Operation, limit int64) (io.Reader, *problem) {
	switch {
	case encoding == "" || encoding == "identity":
		return b, nil
	case encoding != encodingZstd || op.Body != operation.MediaCAR:
		return nil, newProblem(http.StatusUnsupportedMediaType, codeMedia, "%s: no Content-Encoding but that of CAR "+
			"files, zstd", op.Name)
	}
	return &unpacking{from: b, left: limit}, nil
}

// unpacking decompresses what is read of a body, from the first read on.
type unpacking struct {
	from io.Reader
	z    *zstd.Decoder
	left int64
	err  error
}

func (u *unpacking) Read(p []byte) (int, error) {
	if u.z == nil && u.err == nil {
		u.z, u.err = zstd.NewReader(u.from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow))
	}
	if u.err != nil {
		return 0, u.err
	}
	n, err := u.z.Read(p)
	if u.left -= int64(n); u.left < 0 {
		n, err = 0, badBody("it is longer than the server takes")
	}
	if err != nil {
		if u.err = err; !errors.Is(err, io.EOF) && u.left >= 0 {
			u.err = badBody(err.Error())
		}
		err = u.err
		u.z.Close()
	}
	return n, err
}

// pack compresses the answer if the client takes that.
func (a *answer) pack(h http.Header) {
	h.Add("Vary", "Accept-Encoding")
	for coding := range strings.SplitSeq(a.request.Header.Get("Accept-Encoding"), ",") {
		if strings.TrimSpace(coding) != encodingZstd {
			continue
		}
		z, err := zstd.NewWriter(transmitter{a}, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(zstdWindow))
		if err == nil {
			a.packed = z
			h.Set("Content-Encoding", encodingZstd)
		}
		return
	}
}

type transmitter struct{ a *answer }

func (t transmitter) Write(p []byte) (int, error) {
	if err := t.a.transmit(p, true); err != nil {
		return 0, err
	}
	return len(p), nil
}
