package cli

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
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/operation"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/remote"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

const (
	// maxAnswer bounds an answer that is no pack, in bytes: as many refs as a repository is told of fit.
	maxAnswer = 64 << 20
	// maxProblem bounds an error that a server sends.
	maxProblem = 64 << 10
	// maxShown is how many characters of that are shown.
	maxShown = 1000
	// stallTime is how long a server may send and take nothing while a pack goes or comes, answerTime how
	// long it may take for an answer once it has all.
	stallTime  = time.Minute
	answerTime = 10 * time.Minute
	// maxUpload bounds a pack that is sent, in bytes: what it becomes is in memory meanwhile.
	maxUpload = 512 << 20
	// refsAtOnce is how many refs are changed by one request, since they are in its URL.
	refsAtOnce = 80
	// packWindow bounds what is kept in memory of a pack that is unpacked.
	packWindow = 8 << 20
	// askAgain is how often a question is asked of a server that is busy.
	askAgain = 5
)

// httpSide is a repository that 'mnem serve' answers for.
type httpSide struct {
	c      *cli
	base   *url.URL
	client *http.Client
	name   string // of the server, for messages
	token  string
	author string
	// progress, where given, is told how many bytes have gone.
	progress func(what string, bytes int64)

	mu     sync.Mutex
	dialed []net.Conn // in another way, each of which Close ends
}

var _ remote.Side = (*httpSide)(nil)

// httpSide connects to a server. Nothing is asked of it yet.
func (c *cli) httpSide(ctx context.Context, u *url.URL) (*httpSide, error) {
	token, err := c.tokenFor(ctx, u)
	if err != nil {
		return nil, err
	}
	if token != "" && u.Scheme == "http" && !isLoopback(u) {
		return nil, hint(fmt.Errorf("%w: a token would go to %s where others can read it", repo.ErrInvalid, u.Host),
			"use https://, or ssh://")
	}
	return c.newHTTPSide(u, token)
}

func (c *cli) newHTTPSide(u *url.URL, token string) (_ *httpSide, err error) {
	dial := net.Dialer{Timeout: 30 * time.Second}
	s := &httpSide{c: c, base: u, name: u.Host, token: token, client: &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dial.DialContext, ForceAttemptHTTP2: true,
			TLSHandshakeTimeout: 30 * time.Second, MaxResponseHeaderBytes: 64 << 10, DisableCompression: true,
		},
		// A token and a memory are for the server that was named.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if s.author, err = c.authorHere(); err != nil {
		return nil, err
	}
	return s, nil
}

// dial has the server reached in another way.
func (s *httpSide) dial(connect func(context.Context) (net.Conn, error)) {
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

// authorHere returns who makes changes here, "" where nobody is named.
func (c *cli) authorHere() (string, error) {
	if name := firstOf(c.global.author, c.by.Author); name != "" {
		return name, nil
	}
	return c.setting("author")
}

// request returns a request for an operation, which sends what it is given as its body.
func (s *httpSide) request(
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
	for name, value := range map[string]string{
		"Mnem-Author": s.author, "Mnem-Agent": s.c.agent(), "Mnem-Task": firstOf(s.c.global.task, s.c.by.Task),
	} {
		if value != "" {
			h.Set(name, value)
		}
	}
	if s.token != "" {
		h.Set("Authorization", "Bearer "+s.token)
	}
	return req, nil
}

// do sends a request and gives the answer to take while it comes.
func (s *httpSide) do(req *http.Request, take func(*http.Response, io.Reader) error) error {
	return s.doWithin(req, answerTime, take)
}

// doWithin is do for an answer that must begin within a time and then go on coming, 0 for one that may take as long
// as it wants.
func (s *httpSide) doWithin(
	req *http.Request, within time.Duration, take func(*http.Response, io.Reader) error,
) error {
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
	in := &watched{res.Body, watch}
	if res.StatusCode != http.StatusOK {
		return s.refusal(res, in)
	}
	err = take(res, in)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errStalled) {
		err = fmt.Errorf("%s: %w", s.name, cause)
	}
	return err
}

var errStalled = fmt.Errorf("%w: the server sends nothing", store.ErrBusy)

// watched is an answer that must go on coming.
type watched struct {
	from  io.Reader
	watch *time.Timer
}

func (w *watched) Read(p []byte) (int, error) {
	if w.watch != nil {
		w.watch.Reset(stallTime)
	}
	return w.from.Read(p)
}

// unreachable says that a server does not answer, without what is in the URL beside its host.
func (s *httpSide) unreachable(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		if errors.Is(cause, errStalled) {
			return fmt.Errorf("%s: %w", s.name, cause)
		}
		return ctx.Err()
	}
	var detail *url.Error
	if errors.As(err, &detail) {
		err = detail.Err
	}
	return hint(&unreachableError{fmt.Errorf("ask %s: %w", s.name, err)},
		"is 'mnem serve' running there? 'mnem remote list' shows the URL")
}

// refusal returns the error that a server answers with.
func (s *httpSide) refusal(res *http.Response, in io.Reader) error {
	var p struct {
		Code, Detail, Hint string
		Answer             json.RawMessage
	}
	data, err := io.ReadAll(io.LimitReader(in, maxProblem))
	if err != nil || json.Unmarshal(data, &p) != nil || p.Code == "" {
		err := fmt.Errorf("%s answers with status %d", s.name, res.StatusCode)
		return hint(err, "is the URL that of 'mnem serve'?")
	}
	out := &operation.Error{Message: s.name + ": " + brief(p.Detail, maxShown), Hint: brief(p.Hint, maxShown)}
	row, known := operation.WithCode(p.Code)
	switch {
	case known:
		out.Outcome = row
	case p.Code == "unauthorized":
		out.Outcome = operation.Refused
		out.Hint = "put the line 'URL TOKEN' into " + credentialsVariable + " or the file " + credentialsFile +
			"; 'mnem token new NAME --scope write' makes a token there"
	case p.Code == "precondition_failed":
		out.Outcome = operation.Conflict
	case p.Code == "quota":
		out.Outcome = operation.Refused
	case p.Code == "too_large":
		out.Outcome, out.Hint = operation.Invalid, "push less at once, or start the server with a larger --max-body"
	case p.Code == "too_many_requests", p.Code == "in_flight":
		out.Outcome = operation.Busy
	default:
		out.Outcome = operation.Failed
	}
	if out.Outcome == operation.Conflict {
		return fmt.Errorf("%w%w", silentConflict{}, out)
	}
	if p.Answer != nil {
		return &answeredProblem{out, p.Answer}
	}
	return out
}

// ask asks what may be asked twice, again where the server is busy.
func (s *httpSide) ask(
	ctx context.Context, name string, args any, accept string, take func(*http.Response, io.Reader) error,
) error {
	body, err := json.Marshal(args)
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		req, err := s.request(ctx, name, nil, bytes.NewReader(body), int64(len(body)), operation.MediaJSON)
		if err != nil {
			return err
		}
		req.Header.Set("Accept", accept)
		if accept == operation.MediaCAR {
			req.Header.Set("Accept-Encoding", "zstd")
		}
		err = s.do(req, take)
		var told *operation.Error
		if !errors.As(err, &told) || told.Outcome != operation.Busy || try == askAgain {
			return err
		}
		if err := s.c.sleep(ctx, time.Duration(try)*500*time.Millisecond); err != nil {
			return err
		}
	}
}

// decode reads an answer of JSON.
func decode(in io.Reader, to any) error {
	data, err := io.ReadAll(io.LimitReader(in, maxAnswer+1))
	if err != nil {
		return err
	}
	if len(data) > maxAnswer {
		return remote.ErrTooLarge
	}
	if err := json.Unmarshal(data, to); err != nil {
		return fmt.Errorf("%w: the answer of the server: %w", repo.ErrInvalid, err)
	}
	return nil
}

// Look implements remote.Side.
func (s *httpSide) Look(ctx context.Context, q remote.Question) (*remote.State, error) {
	args := map[string]any{}
	if len(q.Commits) > 0 {
		args["commit"] = texts(q.Commits)
	}
	if q.Tracking {
		args["tracking"] = true
	}
	var answer ops.PackRefsAnswer
	err := s.ask(ctx, ops.PackRefs.Name(), args, operation.MediaJSON,
		func(_ *http.Response, in io.Reader) error { return decode(in, &answer) })
	if err != nil {
		return nil, err
	}
	return stateOf(&answer), nil
}

// Send implements remote.Side.
func (s *httpSide) Send(ctx context.Context, w io.Writer, want remote.Want, from int64) error {
	req, err := sendRequest(want, from)
	if err != nil {
		return err
	}
	args := map[string]any{"ref": req.Refs}
	if len(req.Have) > 0 {
		args["have"] = req.Have
	}
	if from > 0 {
		args["from"] = from
	}
	return s.ask(ctx, ops.PackSend.Name(), args, operation.MediaCAR, func(res *http.Response, in io.Reader) error {
		return copyUnpacked(w, res, in)
	})
}

// copyUnpacked writes an answer of bytes, which may have come compressed.
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

// Take implements remote.Side: many refs in several requests, each of which is all or nothing.
func (s *httpSide) Take(ctx context.Context, news remote.News) (*remote.Taken, error) {
	if news.Tracking != "" {
		return nil, fmt.Errorf("%w: a server keeps no refs of remotes for others", repo.ErrInvalid)
	}
	if news.Pack != nil && news.Pack.Size() > uploadFrom {
		taken, err := s.takeUploads(ctx, news)
		if !errors.Is(err, errNoUploads) {
			return taken, err
		}
	}
	body, err := squeeze(news.Pack)
	if err != nil {
		return nil, err
	}
	out := &remote.Taken{}
	for len(news.Updates) > 0 {
		n := min(len(news.Updates), refsAtOnce)
		taken, err := s.take(ctx, s.updateQuery(news.Updates[:n]), body)
		if err != nil {
			return nil, err
		}
		out.Refs, out.Blocks = append(out.Refs, taken.Refs...), out.Blocks+taken.Blocks
		news.Updates = news.Updates[n:]
	}
	return out, nil
}

// Redactions implements remote.Side.
func (s *httpSide) Redactions(ctx context.Context, after ipld.CID) ([]repo.ToldRedaction, bool, error) {
	args := map[string]any{}
	if after.Defined() {
		args["after"] = after.String()
	}
	var answer ops.PackRedactionsAnswer
	err := s.ask(ctx, ops.PackRedactions.Name(), args, operation.MediaJSON,
		func(_ *http.Response, in io.Reader) error { return decode(in, &answer) })
	if err != nil {
		return nil, false, err
	}
	return toldOf(&answer)
}

// Accept implements remote.Side: a server takes it from a token of scope admin.
func (s *httpSide) Accept(
	ctx context.Context, list []repo.ToldRedaction, tracking string,
) (*repo.AcceptedRedactions, error) {
	if tracking != "" {
		return nil, fmt.Errorf("%w: a server keeps no refs of remotes for others", repo.ErrInvalid)
	}
	args := map[string]any{"redaction": ops.RedactionTexts(list), "yes": true}
	if t := s.c.global.time; t != "" {
		args["time"] = t
	}
	var answer ops.PackRedacted
	err := s.ask(ctx, ops.PackRedact.Name(), args, operation.MediaJSON,
		func(_ *http.Response, in io.Reader) error { return decode(in, &answer) })
	if err != nil {
		return nil, err
	}
	return acceptedOf(&answer), nil
}

// take has a server take in a pack once.
func (s *httpSide) take(ctx context.Context, query url.Values, body []byte) (*remote.Taken, error) {
	from := &sending{bytes.NewReader(body), s.tell, 0}
	req, err := s.request(ctx, ops.PackTake.Name(), query, from, int64(len(body)), operation.MediaCAR)
	if err != nil {
		return nil, err
	}
	if len(body) > 0 {
		req.Header.Set("Content-Encoding", "zstd")
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	req.Header.Set("Accept", operation.MediaJSON)
	var answer ops.PackTaken
	err = s.do(req, func(_ *http.Response, in io.Reader) error { return decode(in, &answer) })
	if err != nil {
		return nil, err
	}
	return takenOf(&answer), nil
}

// squeeze returns a pack as it is sent, nil for none.
func squeeze(pack *io.SectionReader) ([]byte, error) {
	if pack == nil {
		return nil, nil
	}
	if pack.Size() > maxUpload {
		return nil, hint(fmt.Errorf("%w: a pack of %s is too much for one request", repo.ErrInvalid, bytesText(pack.Size())),
			"push older commits first, under a branch of their own")
	}
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(packWindow))
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(z, io.NewSectionReader(pack, 0, pack.Size())); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Close implements remote.Side.
func (s *httpSide) Close() error {
	s.client.CloseIdleConnections()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conn := range s.dialed { // one may be about to become idle, and its program would wait for more
		_ = conn.Close()
	}
	s.dialed = nil
	return nil
}
