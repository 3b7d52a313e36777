// Package server reaches repositories served by 'mnem serve': by HTTP, or through pipes of ssh or another program
// that connects to a machine.
package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/exchange/remote"
	"github.com/mnem-project/mnem/internal/exchange/remote/place"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/internal/verb/transfer"
)

const (
	// maxAnswer bounds an answer that is not a pack, in bytes: the largest number of refs fits.
	maxAnswer = 64 << 20
	// maxProblem bounds an error document of a server.
	maxProblem = 64 << 10
	// maxShown is how many characters of it are shown.
	maxShown = 1000
	// stallTime is how long a transfer of a pack may make no progress; answerTime is how long a server may take to
	// answer a complete request.
	stallTime  = time.Minute
	answerTime = 10 * time.Minute
	// refsAtOnce is how many refs one request changes, since they are in its URL.
	refsAtOnce = 80
	// packWindow bounds the decompression window of a pack.
	packWindow = 8 << 20
	// askAgain is how often a busy server is asked.
	askAgain = 5
)

// Side is a repository served by 'mnem serve'.
type Side struct {
	transfer.Verbs
	host   *place.Host
	base   *url.URL
	client *http.Client
	name   string // of the server, for messages
	token  string
	// Author, Agent and Task identify who makes changes.
	Author, Agent, Task string

	mu     sync.Mutex
	dialed []net.Conn // by another transport; Close ends each
}

var _ remote.Side = (*Side)(nil)

// Reach connects to a server. It makes no request yet.
func Reach(ctx context.Context, h *place.Host, u *url.URL) (*Side, error) {
	token, err := place.TokenFor(ctx, h, u)
	if err != nil {
		return nil, err
	}
	if token != "" && u.Scheme == "http" && !place.IsLoopback(u) {
		return nil, verb.Hintf(fmt.Errorf("%w: a token would go to %s where others can read it", state.ErrInvalid, u.Host),
			"use https://, or ssh://")
	}
	return newSide(h, u, token)
}

func newSide(h *place.Host, u *url.URL, token string) (_ *Side, err error) {
	dial := net.Dialer{Timeout: 30 * time.Second}
	s := &Side{host: h, Agent: h.Agent, Task: h.Task, base: u, name: u.Host, token: token, client: &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dial.DialContext, ForceAttemptHTTP2: true,
			TLSHandshakeTimeout: 30 * time.Second, MaxResponseHeaderBytes: 64 << 10, DisableCompression: true,
		},
		// Never send the token and the memory to another server than the named one.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	s.Verbs = transfer.Verbs{Do: s.ask, Time: h.Time}
	s.Author, err = h.Author()
	return s, err
}

// dial sets another transport to the server.
func (s *Side) dial(connect func(context.Context) (net.Conn, error)) {
	s.client.Transport = &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := connect(ctx)
			if err == nil {
				s.mu.Lock()
				s.dialed = append(s.dialed, conn)
				s.mu.Unlock()
			}
			return conn, err
		},
		MaxConnsPerHost: 1, MaxResponseHeaderBytes: 64 << 10, DisableCompression: true,
	}
}

// Request returns a request for an operation, with the given body.
func (s *Side) Request(
	ctx context.Context, name string, query url.Values, body io.Reader, size int64, media string,
) (*http.Request, error) {
	u := s.base.JoinPath("v1", name)
	u.RawQuery = query.Encode()
	if size == 0 {
		body = http.NoBody
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), body)
	if err != nil {
		return nil, err
	}
	req.ContentLength = size
	h := req.Header
	h.Set("Content-Type", media)
	for name, value := range map[string]string{"Mnem-Author": s.Author, "Mnem-Agent": s.Agent, "Mnem-Task": s.Task} {
		if value != "" {
			h.Set(name, value)
		}
	}
	if s.token != "" {
		h.Set("Authorization", "Bearer "+s.token)
	}
	return req, nil
}

// do is Exchange with a limit of answerTime.
func (s *Side) do(req *http.Request, take func(*http.Response, io.Reader) error) error {
	return s.Exchange(req, answerTime, take)
}

// Exchange sends a request and passes the answer to take while it arrives. It must begin within the given time, and
// 0 means no limit; after that it must keep making progress.
func (s *Side) Exchange(req *http.Request, within time.Duration, take func(*http.Response, io.Reader) error) error {
	ctx, cancel := context.WithCancelCause(req.Context())
	defer cancel(nil)
	var watch *time.Timer
	if within > 0 {
		watch = time.AfterFunc(within, func() { cancel(errStalled) })
		defer watch.Stop()
	}
	res, err := s.client.Do(req.WithContext(ctx))
	if err != nil {
		return s.unreachable(ctx, err)
	}
	defer func() { _ = res.Body.Close() }() // it was read
	in := &watched{from: res.Body, watch: watch}
	if res.StatusCode != http.StatusOK {
		return s.refusal(res, in)
	}
	err = take(res, in)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errStalled) {
		return fmt.Errorf("%s: %w", s.name, cause)
	}
	if err != nil && in.broke != nil && ctx.Err() == nil {
		return verb.Hintf(&lostError{fmt.Errorf("the answer of %s broke off: %w", s.name, in.broke), true},
			"give the command again: a transfer goes on from what has come")
	}
	return err
}

var errStalled = fmt.Errorf("%w: the server sends nothing", store.ErrBusy)

// watched is an answer that must keep making progress. broke is the reason why it did not.
type watched struct {
	from  io.Reader
	watch *time.Timer
	broke error
}

func (w *watched) Read(p []byte) (int, error) {
	if w.watch != nil {
		w.watch.Reset(stallTime)
	}
	n, err := w.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		w.broke = err
	}
	return n, err
}

// unreachable returns the error for a server that does not answer. It shows only the host of the URL.
func (s *Side) unreachable(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		if errors.Is(cause, errStalled) {
			return fmt.Errorf("%s: %w", s.name, cause)
		}
		return ctx.Err()
	}
	if detail, ok := errors.AsType[*url.Error](err); ok {
		err = detail.Err
	}
	return verb.Hintf(&lostError{fmt.Errorf("ask %s: %w", s.name, err), false},
		"is 'mnem serve' running there? 'mnem remote list' shows the URL")
}

func (s *Side) refusal(res *http.Response, in io.Reader) error {
	var p struct {
		Code, Detail, Hint string
		Answer             json.RawMessage
	}
	data, err := io.ReadAll(io.LimitReader(in, maxProblem))
	if err != nil || json.Unmarshal(data, &p) != nil || p.Code == "" {
		err := fmt.Errorf("%s answers with status %d", s.name, res.StatusCode)
		return verb.Hintf(err, "is the URL that of 'mnem serve'?")
	}
	out := &operation.Error{Message: s.name + ": " + plain.Brief(p.Detail, maxShown), Hint: plain.Brief(p.Hint, maxShown)}
	row, known := operation.WithCode(p.Code)
	switch {
	case known:
		out.Outcome = row
	case p.Code == "unauthorized":
		out.Outcome = operation.Refused
		out.Hint = "put the line 'URL TOKEN' into " + place.CredentialsVariable + " or the file " + place.CredentialsFile +
			"; 'mnem serve token new NAME --scope write' makes a token there"
	case p.Code == "precondition_failed":
		out.Outcome = operation.Conflict
	case p.Code == "quota":
		out.Outcome = operation.Refused
	case p.Code == "too_large":
		out.Outcome, out.Hint = operation.Invalid, "push less at once, or start the server with a larger --limit body=SIZE"
	case p.Code == "too_many_requests", p.Code == "in_flight":
		out.Outcome = operation.Busy
	default:
		out.Outcome = operation.Failed
	}
	if out.Outcome == operation.Conflict {
		return transfer.Conflict(out)
	}
	if p.Answer != nil {
		return &answeredError{out, p.Answer}
	}
	return out
}

// ask runs an idempotent verb: it repeats the request if the server is busy, or if the answer broke off before any
// of it was passed on. The answer goes to out if there is one.
func (s *Side) ask(ctx context.Context, v *verb.Spec, req, answer any, _ io.Reader, out io.Writer) (any, error) {
	args := map[string]any{}
	for _, f := range v.Fields() {
		if value := f.Value(req); f.Remote && !value.IsZero() {
			args[f.Parameter()] = value.Interface()
		}
	}
	body, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		req, err := s.Request(ctx, v.Name(), nil, bytes.NewReader(body), int64(len(body)), operation.MediaJSON)
		if err != nil {
			return nil, err
		}
		take := func(_ *http.Response, in io.Reader) error { return decode(in, answer) }
		req.Header.Set("Accept", operation.MediaJSON)
		if out != nil {
			take = func(res *http.Response, in io.Reader) error { return copyUnpacked(out, res, in) }
			req.Header.Set("Accept", operation.MediaCAR)
			req.Header.Set("Accept-Encoding", "zstd")
		}
		err = s.do(req, take)
		broken, _ := errors.AsType[*lostError](err)
		again := busy(err) || out == nil && broken != nil && broken.began
		if !again || try == askAgain {
			return answer, err
		}
		if err := s.host.Pause(ctx, time.Duration(try)*500*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

func decode(in io.Reader, to any) error {
	data, err := io.ReadAll(io.LimitReader(in, maxAnswer+1))
	if err != nil {
		return err
	}
	if len(data) > maxAnswer {
		return remote.ErrTooLarge
	}
	if err := json.Unmarshal(data, to); err != nil {
		return fmt.Errorf("%w: the answer of the server: %w", state.ErrInvalid, err)
	}
	return nil
}

// copyUnpacked writes a binary answer, decompressing it if necessary.
func copyUnpacked(w io.Writer, res *http.Response, in io.Reader) error {
	if res.Header.Get("Content-Encoding") == "zstd" {
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(packWindow))
		if err != nil {
			return err
		}
		defer z.Close()
		in = z
	}
	_, err := io.Copy(w, in)
	return err
}

// Take implements remote.Side: many refs take several requests, each all or nothing.
func (s *Side) Take(ctx context.Context, news remote.News) (*remote.Taken, error) {
	if news.Tracking != "" {
		return nil, fmt.Errorf("%w: a server keeps no refs of remotes for others", state.ErrInvalid)
	}
	if news.Pack != nil && news.Pack.Size() > uploadFrom {
		return s.inTurns(news.Updates, func(query url.Values) (*http.Request, error) {
			return s.takeUpload(ctx, query, news.Pack)
		})
	}
	var packed bytes.Buffer
	if news.Pack != nil {
		if err := compress(&packed, news.Pack); err != nil {
			return nil, err
		}
	}
	body := packed.Bytes()
	return s.inTurns(news.Updates, func(query url.Values) (*http.Request, error) {
		from := &sending{bytes.NewReader(body), s.host.Progress, 0}
		req, err := s.Request(ctx, transfer.PackTake.Name(), query, from, int64(len(body)), operation.MediaCAR)
		if err == nil && len(body) > 0 {
			req.Header.Set("Content-Encoding", "zstd")
			req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		}
		return req, err
	})
}

// inTurns changes refs by several requests, each made from a query.
func (s *Side) inTurns(
	list []exchange.RefUpdate, request func(url.Values) (*http.Request, error),
) (*remote.Taken, error) {
	out := &remote.Taken{}
	for updates := range slices.Chunk(list, refsAtOnce) {
		query := url.Values{}
		query["move"], query["set"], query["session"] = transfer.UpdateTexts(updates)
		if s.Time != "" {
			query.Set("time", s.Time)
		}
		req, err := request(query)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Accept", operation.MediaJSON)
		var answer transfer.PackTaken
		err = s.do(req, func(_ *http.Response, in io.Reader) error { return decode(in, &answer) })
		if err != nil {
			return nil, err
		}
		out.Refs, out.Blocks = append(out.Refs, answer.Refs...), out.Blocks+answer.Blocks
	}
	return out, nil
}

// Accept implements remote.Side: the server requires a token with scope admin.
func (s *Side) Accept(
	ctx context.Context, list []care.ToldRedaction, tracking string,
) (*care.AcceptedRedactions, error) {
	if tracking != "" {
		return nil, fmt.Errorf("%w: a server keeps no refs of remotes for others", state.ErrInvalid)
	}
	return s.Verbs.Accept(ctx, list, "")
}

// compress writes a pack in compressed form.
func compress(w io.Writer, pack *io.SectionReader) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(packWindow))
	if err != nil {
		return err
	}
	_, err = io.Copy(z, io.NewSectionReader(pack, 0, pack.Size()))
	return errors.Join(err, z.Close())
}

// Close implements remote.Side.
func (s *Side) Close() error {
	s.client.CloseIdleConnections()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conn := range s.dialed { // a connection may be about to become idle, and its program would wait for more
		_ = conn.Close()
	}
	s.dialed = nil
	return nil
}

// lostError is returned if a connection cannot be made, or breaks: before an answer, or after one began.
type lostError struct {
	cause error
	began bool
}

func (e *lostError) Error() string { return e.cause.Error() }
func (e *lostError) Unwrap() error { return e.cause }

// answeredError is a refusal together with an answer.
type answeredError struct {
	cause  error
	answer []byte
}

func (e *answeredError) Error() string { return e.cause.Error() }
func (e *answeredError) Unwrap() error { return e.cause }
