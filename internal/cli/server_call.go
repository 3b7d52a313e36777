package cli

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mnem-project/mnem/operation"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/remote/place"
	"github.com/mnem-project/mnem/remote/server"
	"github.com/mnem-project/mnem/repo"
)

const (
	// maxLinesSent bounds the lines that are sent to a server in one request, in bytes: they are kept so that they
	// can be sent again under one key.
	maxLinesSent = 64 << 20
	// sendAgain is how often a request is sent that a connection broke under.
	sendAgain = 3
)

// isServer reports whether the name of a repository is the URL of a server.
func isServer(path string) bool {
	return strings.HasPrefix(path, "http://") || strings.HasPrefix(path, "https://")
}

// serverURL returns the URL of the server whose repository was named, "" for a directory.
func (c *cli) serverURL() string {
	if path := firstOf(c.global.repo, c.env("MNEM_REPO")); !c.global.user && !c.by.Remote && isServer(path) {
		return path
	}
	return ""
}

// errOnServer is returned by commands that need the files of a repository.
func errOnServer(at string) error {
	shown := "a server"
	if u, err := url.Parse(at); err == nil {
		shown = u.Host
	}
	return hint(usagef("%s is no directory: this command needs the files of a repository", line(shown)),
		"verbs about the memory work there; others run on that machine, or in a clone")
}

// serverCall is a verb that a server is asked for.
type serverCall struct {
	c     *cli
	side  *server.Side
	spec  *ops.Spec
	req   any
	name  string
	args  map[string]any
	body  []byte // sent again where a connection breaks
	file  *os.File
	media string
	moved bool   // whether fields were made of arguments that a server does not take
	out   string // the file that the answer goes to, "" for standard output
}

// askServer has the server at a URL run a verb, and prints what it answers.
func (c *cli) askServer(ctx context.Context, at string, spec *ops.Spec, req any) error {
	if spec.Local || c.quietly {
		return errOnServer(at)
	}
	if q, ok := req.(ops.Checker); ok {
		if err := q.Check(); err != nil {
			return err
		}
	}
	u, err := place.ParseURL(at)
	if err != nil {
		return err
	}
	side, err := server.Reach(ctx, c.askHost(), u.At)
	if err != nil {
		return err
	}
	defer func() { _ = side.Close() }() // all was said
	for try := 0; ; try++ {
		outside, ok := req.(interface{ Outside(try int) (more bool) })
		more := ok && outside.Outside(try)
		err := c.askServerOnce(ctx, side, spec, req, ok)
		if !more || outcomeOf(ctx, err) != operation.NotFound {
			return err
		}
	}
}

func (c *cli) askServerOnce(ctx context.Context, side *server.Side, spec *ops.Spec, req any, moved bool) error {
	s := &serverCall{c: c, side: side, spec: spec, req: req, name: spec.Name(), args: map[string]any{}, moved: moved}
	if err := s.fields(); err != nil {
		return err
	}
	if err := s.input(ctx); err != nil {
		return err
	}
	if s.file != nil {
		defer func() { _ = s.file.Close() }() // it was read
	}
	if s.out == "" {
		return s.send(ctx, func(_ *http.Response, in io.Reader) error { return s.print(in) })
	}
	return s.send(ctx, func(res *http.Response, in io.Reader) error {
		return host{c}.Create(ctx, s.out, func(w io.Writer) error { return server.CopyUnpacked(w, res, in) })
	})
}

// fields makes arguments of the fields of the request. What a server does not take is refused.
func (s *serverCall) fields() error {
	base, err := s.spec.New()
	if err != nil {
		return err
	}
	given := ops.GivenOf(s.req)
	for _, f := range s.spec.Fields() {
		v := f.Value(s.req)
		if s.moved && f.Arg && !f.Remote {
			continue
		}
		set := slices.Contains(given, f.Name) || f.Arg && !v.IsZero()
		if !set && fmt.Sprint(v.Interface()) == fmt.Sprint(f.Value(base).Interface()) {
			continue
		}
		text := fmt.Sprint(v.Interface())
		switch {
		case f.Name == "author":
			s.side.Author = text
		case f.Name == "agent":
			s.side.Agent = text
		case f.Name == "task":
			s.side.Task = text
		case f.Remote:
			s.args[f.Parameter()] = v.Interface()
			if d, ok := v.Interface().(time.Duration); ok {
				s.args[f.Parameter()] = d.String()
			}
		case f.Name == "output" && s.spec.Answer != "":
			s.out = text
		case s.spec.Body != "" && f.Arg:
			// input opens it
		case s.spec.Lines != nil && (f.Name == s.spec.Lines.Flag || f.Arg),
			s.spec.Batch != nil && f.Name == s.spec.Batch.Lines.Flag:
		case f.Name == "no-sign" || f.Hidden:
		default:
			return hint(usagef("--%s: a server does not take it", f.Name), "leave it out, or work in a clone")
		}
	}
	return nil
}

// input reads or opens what the verb reads.
func (s *serverCall) input(ctx context.Context) error {
	names := s.c.inputs
	if q, ok := s.req.(fileReader); ok {
		names = q.FileNames()
	}
	for _, f := range s.spec.Fields() {
		batch := s.spec.Batch != nil && f.Name == s.spec.Batch.Lines.Flag
		if value := fmt.Sprint(f.Value(s.req).Interface()); batch && value != "" {
			names, s.name = []string{value}, s.name+"_batch"
			delete(s.args, f.Parameter())
		} else if s.spec.Body != "" && f.Arg && value != "" {
			return s.open(ctx, value)
		}
	}
	if len(names) == 0 {
		return nil
	}
	if err := onceStdin(names); err != nil {
		return err
	}
	var all bytes.Buffer
	for _, name := range names {
		in, shown, err := s.c.open(ctx, name)
		if err != nil {
			return err
		}
		_, err = io.Copy(&all, io.LimitReader(in, maxLinesSent+1-int64(all.Len())))
		if err = errors.Join(err, in.Close()); err != nil {
			return err
		}
		if all.Len() > maxLinesSent {
			return hint(fmt.Errorf("%w: %s: more than %s of lines for one request", repo.ErrInvalid, line(shown),
				bytesText(maxLinesSent)), "send them in parts")
		}
		if n := all.Len(); n > 0 && all.Bytes()[n-1] != '\n' {
			all.WriteByte('\n')
		}
	}
	s.body, s.media = all.Bytes(), operation.MediaNDJSON
	return nil
}

// open opens the file that is the body of a verb.
func (s *serverCall) open(ctx context.Context, name string) (err error) {
	s.media = s.spec.Body
	if name == stdinName {
		in, _, err := s.c.open(ctx, name)
		if err == nil {
			s.body, err = io.ReadAll(io.LimitReader(in, maxLinesSent+1))
		}
		if err == nil && len(s.body) > maxLinesSent {
			err = fmt.Errorf("%w: standard input has more than %s", repo.ErrInvalid, bytesText(maxLinesSent))
		}
		return err
	}
	if s.file, err = os.Open(s.c.absolute(name)); err != nil {
		return fmt.Errorf("open %s: %w", line(name), err)
	}
	return nil
}

// send sends the request, again where the connection breaks and that is safe: a write has a key by which the server
// knows it.
func (s *serverCall) send(ctx context.Context, take func(*http.Response, io.Reader) error) error {
	key := ""
	if s.spec.EffectOf(s.req) > operation.Reads {
		var b [16]byte
		if _, err := io.ReadFull(s.c.app.Rand, b[:]); err != nil {
			return fmt.Errorf("read random bytes: %w", err)
		}
		key = hex.EncodeToString(b[:])
	}
	for try := 1; ; try++ {
		req, err := s.request(ctx)
		if err != nil {
			return err
		}
		if key != "" {
			req.Header.Set("Idempotency-Key", key)
		}
		began := false
		wait := server.AnswerTime
		if _, endless := s.req.(ops.Resumer); endless {
			wait = 0
		}
		err = s.side.Exchange(req, wait, func(res *http.Response, in io.Reader) error {
			began = true
			return take(res, in)
		})
		var lost *server.UnreachableError
		if !errors.As(err, &lost) || began || s.file != nil || try == sendAgain || ctx.Err() != nil {
			return s.news(err)
		}
		if err := s.c.sleep(ctx, time.Duration(try)*500*time.Millisecond); err != nil {
			return err
		}
	}
}

// news prints the answer that came with an error.
func (s *serverCall) news(err error) error {
	var told *server.AnsweredError
	if errors.As(err, &told) && len(told.Answer) > 0 {
		if _, werr := s.c.out.Write(append(told.Answer, '\n')); werr != nil {
			return werr
		}
	}
	return err
}

// request makes the HTTP request.
func (s *serverCall) request(ctx context.Context) (*http.Request, error) {
	query, media := url.Values{}, firstOf(s.media, operation.MediaJSON)
	var body io.Reader
	var size int64
	switch {
	case s.media == "":
		data, err := json.Marshal(s.args)
		if err != nil {
			return nil, err
		}
		body, size = bytes.NewReader(data), int64(len(data))
	case s.file != nil:
		info, err := s.file.Stat()
		if err != nil {
			return nil, err
		}
		body, size, query = io.NopCloser(s.file), info.Size(), queryOf(s.args)
	default:
		body, size, query = bytes.NewReader(s.body), int64(len(s.body)), queryOf(s.args)
	}
	req, err := s.side.Request(ctx, s.name, query, body, size, media)
	if err != nil {
		return nil, err
	}
	by := &s.c.by
	for name, value := range map[string]string{"Mnem-Branch": by.Branch, "Mnem-Session": by.Session} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	switch stream := s.spec.Stream() || strings.HasSuffix(s.name, "_batch"); {
	case s.spec.Answer != "":
		req.Header.Set("Accept", s.spec.Answer)
		req.Header.Set("Accept-Encoding", "zstd")
	case !s.c.global.json:
		req.Header.Set("Accept", "text/plain")
	case stream:
		req.Header.Set("Accept", operation.MediaNDJSON)
	default:
		req.Header.Set("Accept", operation.MediaJSON)
	}
	return req, nil
}

// queryOf makes a query of arguments, for a request whose body is something else.
func queryOf(args map[string]any) url.Values {
	query := url.Values{}
	for name, value := range args {
		if list, ok := value.([]string); ok {
			query[name] = list
		} else {
			query.Set(name, fmt.Sprint(value))
		}
	}
	return query
}

// print prints an answer as it comes. What a server sends cannot steer a terminal.
func (s *serverCall) print(in io.Reader) error {
	buf := make([]byte, stdinBuffer)
	kept := 0 // of a character whose end has not come
	for {
		n, err := in.Read(buf[kept:])
		n += kept
		whole := n
		for back := 1; err == nil && back < utf8.UTFMax && back <= n; back++ {
			if utf8.RuneStart(buf[n-back]) {
				if !utf8.FullRune(buf[n-back : n]) {
					whole = n - back
				}
				break
			}
		}
		if _, werr := s.c.out.WriteString(harmless(string(buf[:whole]))); werr != nil {
			return werr
		}
		kept = copy(buf, buf[whole:n])
		if ferr := s.c.out.Flush(); ferr != nil {
			return ferr
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the answer of %s broke off: %w", s.side.Name(), err)
		}
	}
}

// harmless replaces control characters but line breaks and tabs.
func harmless(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}
