package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mnem-project/mnem/internal/guard"
)

const (
	// versionHeader names the protocol version of a request; requests without it begin a session.
	versionHeader = "Mcp-Protocol-Version"
	stateless     = "2026-07-28" // the first version whose requests stand alone
	maxBody       = 8 << 20      // bytes of a request
	// idle is how long a session may be silent before it is forgotten; its client begins a new one.
	idle = 30 * time.Minute
	// maxSessions bounds what clients that never end their sessions can fill.
	maxSessions = 1024
)

// Handler returns the server over HTTP, for one path. Requests of 2026-07-28 and later stand alone;
// those before belong to a session. It refuses requests of web pages of other origins and, if it
// listens on a loopback address, those with another host's name; who may ask is for what is around
// it to say. A session belongs to the token that began it. Sessions end with [Server.Close].
func (s *Server) Handler() http.Handler {
	alone := sdk.NewStreamableHTTPHandler(
		func(*http.Request) *sdk.Server { return s.sdk },
		&sdk.StreamableHTTPOptions{
			Stateless: true, Logger: s.libraryLog(), MaxRequestBodyBytes: maxBody,
			PropagateRequestCancellation: true,
		})
	sessions := sdk.NewStreamableHTTPHandler(
		func(r *http.Request) *sdk.Server {
			if r.Header.Get("Mcp-Session-Id") == "" && s.crowded() {
				return nil
			}
			return s.sdk
		},
		&sdk.StreamableHTTPOptions{
			Logger: s.libraryLog(), MaxRequestBodyBytes: maxBody, SessionTimeout: idle,
		})
	byVersion := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(versionHeader) >= stateless {
			alone.ServeHTTP(w, r)
			return
		}
		sessions.ServeHTTP(w, r)
	})
	return http.NewCrossOriginProtection().Handler(bound(byVersion))
}

// bound ties sessions to the token of the request that began them, whose caller they speak for: who
// comes to know the id of another's session cannot use it. That a token is one is known by then.
func bound(next http.Handler) http.Handler {
	byToken := auth.RequireBearerToken(
		func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
			return &auth.TokenInfo{UserID: fmt.Sprintf("%x", sha256.Sum256([]byte(token)))}, nil
		}, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			next.ServeHTTP(w, r)
			return
		}
		byToken.ServeHTTP(w, r)
	})
}

func (s *Server) crowded() bool {
	n := 0
	for range s.sdk.Sessions() {
		n++
	}
	return n >= maxSessions
}

const (
	// maxLine is how long a message may be: a commit of many lines fits, and what is longer is
	// refused without being kept.
	maxLine = 16 << 20
	// drain is how long answers that are still being worked on are waited for when the client has
	// closed its end, as a script does that only writes its requests.
	drain = 10 * time.Second
)

// lines stands between a client's streams and the protocol library. The library ends the connection
// at the first line that is no message, and drops what it works on when reading ends; here such a
// line is answered with an error, and the end waits for the answers.
type lines struct {
	out io.Writer

	mu      sync.Mutex
	pending map[string]int // ids of calls without an answer
	settled chan struct{}  // closed when none is pending any more, nil while no call waits
}

func (s *Server) runLines(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l := &lines{out: out, pending: map[string]int{}}
	reader, writer := io.Pipe()
	go func() { // ends with the input; a read of a terminal or pipe cannot be interrupted
		err := l.pump(in, writer)
		l.wait(ctx, drain)
		writer.CloseWithError(err)
	}()
	err := s.sdk.Run(ctx, &sdk.IOTransport{Reader: reader, Writer: l, MaxLineLength: -1})
	if errors.Is(err, context.Canceled) || errors.Is(err, io.ErrClosedPipe) {
		return nil // told to stop
	}
	return err
}

// pump passes on the lines that are messages and answers the others.
func (l *lines) pump(in io.Reader, to io.Writer) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(r)
		if len(line) > 0 {
			line = append(line, '\n')
			if refused := l.admit(line); refused != nil {
				l.refuse(refused)
			} else if _, err := to.Write(line); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, errLong):
			l.refuse(&jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()})
		case errors.Is(err, io.EOF):
			return io.EOF
		case err != nil:
			return fmt.Errorf("read a message: %w", err)
		}
	}
}

var errLong = fmt.Errorf("a message is longer than %d MiB", maxLine>>20)

// readLine returns the next line without its end. One that is too long is skipped.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; !long {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long {
			line, err = nil, cmp.Or(err, errLong)
		}
		return bytes.TrimSpace(line), err
	}
}

// admit says what is wrong with a line, and else notes the calls in it.
func (l *lines) admit(line []byte) *jsonrpc.Error {
	if !json.Valid(line) {
		return &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the line is no JSON"}
	}
	bad := func(why string) *jsonrpc.Error { return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: why} }
	var batch []json.RawMessage
	switch line[0] {
	case '{':
		batch = []json.RawMessage{line}
	case '[':
		if err := json.Unmarshal(line, &batch); err != nil || len(batch) == 0 {
			return bad("the batch is empty")
		}
	default:
		return bad("a message is a JSON object")
	}
	var ids []string
	for _, data := range batch {
		msg, err := jsonrpc.DecodeMessage(data)
		if err != nil {
			return bad("the line is no JSON-RPC 2.0 message")
		}
		req, is := msg.(*jsonrpc.Request)
		switch {
		case !is:
		case req.IsCall() && req.Method != listen:
			ids = append(ids, string(encode(req.ID.Raw())))
		case req.Method == cancelled:
			l.cancel(req)
		}
	}
	return l.begin(ids)
}

const (
	listen    = "subscriptions/listen" // the call that is answered when its subscriptions end
	cancelled = "notifications/cancelled"
)

// cancel forgets a call whose answer is no longer wanted.
func (l *lines) cancel(req *jsonrpc.Request) {
	var params struct {
		ID any `json:"requestId"`
	}
	if json.Unmarshal(req.Params, &params) != nil {
		return // the library says so
	}
	if id, err := jsonrpc.MakeID(params.ID); err == nil {
		l.mu.Lock()
		delete(l.pending, string(encode(id.Raw())))
		l.mu.Unlock()
	}
}

// begin notes calls. An id that is in use already would tie two answers to one call.
func (l *lines) begin(ids []string) *jsonrpc.Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, id := range ids {
		if l.pending[id] > 0 {
			for _, id := range ids[:i] {
				delete(l.pending, id)
			}
			return &jsonrpc.Error{
				Code: jsonrpc.CodeInvalidRequest, Message: "a call with id " + id + " is not answered yet",
			}
		}
		l.pending[id]++
	}
	return nil
}

// refuse answers a line that is no message. Its call is unknown.
func (l *lines) refuse(e *jsonrpc.Error) {
	body := struct {
		Version string         `json:"jsonrpc"`
		ID      any            `json:"id"`
		Error   *jsonrpc.Error `json:"error"`
	}{"2.0", nil, &jsonrpc.Error{Code: e.Code, Message: guard.Message(e.Message), Data: e.Data}}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.out.Write(append(encode(body), '\n')) // the next answer meets the same error
}

// answered returns the ids of the calls that a message answers. The library writes the id before the answer.
func answered(data []byte) (ids []string) {
	if bytes.HasPrefix(data, []byte("[")) {
		var batch []json.RawMessage
		_ = json.Unmarshal(data, &batch) // the library writes JSON
		for _, one := range batch {
			ids = append(ids, answered(one)...)
		}
		return ids
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	_, err := dec.Token()
	for err == nil && dec.More() {
		var name json.Token
		var v any
		name, err = dec.Token()
		switch {
		case err != nil, name == "method": // a call of the library's own
			return nil
		case name == "result", name == "error":
			return ids
		}
		if err = dec.Decode(&v); err == nil && name == "id" {
			if id, err := jsonrpc.MakeID(v); err == nil {
				ids = append(ids, string(encode(id.Raw())))
			}
		}
	}
	return nil
}

// Write passes on what the library writes, and notes which calls it answers.
func (l *lines) Write(data []byte) (int, error) {
	ids := answered(data)
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.out.Write(data)
	for _, id := range ids {
		delete(l.pending, id)
	}
	if len(l.pending) == 0 && l.settled != nil {
		close(l.settled)
		l.settled = nil
	}
	return n, err
}

// Close ends nothing: the streams are the caller's.
func (l *lines) Close() error { return nil }

func (l *lines) wait(ctx context.Context, most time.Duration) {
	l.mu.Lock()
	if len(l.pending) == 0 {
		l.mu.Unlock()
		return
	}
	settled := make(chan struct{})
	l.settled = settled
	l.mu.Unlock()
	select {
	case <-settled:
	case <-time.After(most):
	case <-ctx.Done():
	}
}
