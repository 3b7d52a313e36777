package server

import (
	"bufio"
	"bytes"
	"cmp"
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

	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

const (
	// maxLines bounds the change lines or standard input of one request, in bytes: they are buffered so that they
	// can be sent again under one key.
	maxLines = 64 << 20
	// sendAgain is how often a request is sent whose connection breaks.
	sendAgain = 3
	// printed is how many bytes of an answer are printed at a time.
	printed = 64 << 10
)

// Call is a request to run a verb on a server, with the caller's input and output.
type Call struct {
	Spec            *verb.Spec
	Req             any
	JSON            bool // whether to request JSON
	Branch, Session string
	Inputs          []string // the files that it reads, of change lines
	// Open opens a file, "-" for standard input, and returns its name for messages.
	Open func(ctx context.Context, name string) (io.ReadCloser, string, error)
	// Create writes an answer to a file; other answers go to Out as they arrive.
	Create func(ctx context.Context, name string, write func(io.Writer) error) error
	Out    *bufio.Writer
}

// Call runs a verb on the server; its request is already checked.
func (s *Side) Call(ctx context.Context, c *Call) error {
	for try := 0; ; try++ {
		outside, ok := c.Req.(interface{ Outside(try int) (more bool) })
		more := ok && outside.Outside(try)
		err := s.callOnce(ctx, c, ok)
		if !more || verb.OutcomeOf(ctx, err) != operation.NotFound {
			return err
		}
	}
}

type call struct {
	*Call
	side  *Side
	name  string
	args  map[string]any
	body  []byte // sent again if a connection breaks
	file  *os.File
	media string
	moved bool   // whether fields were made of arguments that a server does not take
	out   string // the file for the answer, "" for standard output
}

func (s *Side) callOnce(ctx context.Context, asked *Call, moved bool) error {
	c := &call{Call: asked, side: s, name: asked.Spec.Name(), args: map[string]any{}, moved: moved}
	if err := c.fields(); err != nil {
		return err
	}
	if err := c.input(ctx); err != nil {
		return err
	}
	if c.file != nil {
		defer func() { _ = c.file.Close() }() // it was read
	}
	if c.out == "" {
		return c.send(ctx, func(_ *http.Response, in io.Reader) error { return c.print(in) })
	}
	return c.send(ctx, func(res *http.Response, in io.Reader) error {
		return c.Create(ctx, c.out, func(w io.Writer) error { return copyUnpacked(w, res, in) })
	})
}

// fields converts the fields of the request to arguments. It refuses fields that the server does not accept.
func (c *call) fields() error {
	base, err := c.Spec.New()
	if err != nil {
		return err
	}
	given := verb.GivenOf(c.Req)
	for _, f := range c.Spec.Fields() {
		v := f.Value(c.Req)
		if c.moved && f.Arg && !f.Remote {
			continue
		}
		set := slices.Contains(given, f.Name) || f.Arg && !v.IsZero()
		if !set && fmt.Sprint(v.Interface()) == fmt.Sprint(f.Value(base).Interface()) {
			continue
		}
		shown := fmt.Sprint(v.Interface())
		switch {
		case f.Name == "author":
			c.side.Author = shown
		case f.Name == "agent":
			c.side.Agent = shown
		case f.Name == "task":
			c.side.Task = shown
		case f.Remote:
			c.args[f.Parameter()] = v.Interface()
			if d, ok := v.Interface().(time.Duration); ok {
				c.args[f.Parameter()] = d.String()
			}
		case f.Name == "output" && c.Spec.Answer != "":
			c.out = shown
		case c.Spec.Body != "" && f.Arg:
			// input opens it
		case c.Spec.Lines != nil && (f.Name == c.Spec.Lines.Flag || f.Arg),
			c.Spec.Batch != nil && f.Name == c.Spec.Batch.Lines.Flag:
		case f.Name == "sign" && shown == "false": // it signs with no key of the caller's
		default:
			return verb.Hintf(verb.Usagef("--%s: a server does not take it", f.Name), "leave it out, or work in a clone")
		}
	}
	return nil
}

func (c *call) input(ctx context.Context) error {
	names := c.Inputs
	for _, f := range c.Spec.Fields() {
		batch := c.Spec.Batch != nil && f.Name == c.Spec.Batch.Lines.Flag
		if value := fmt.Sprint(f.Value(c.Req).Interface()); batch && value != "" {
			names, c.name = []string{value}, c.name+"_batch"
			delete(c.args, f.Parameter())
		} else if c.Spec.Body != "" && f.Arg && value != "" {
			return c.open(ctx, value)
		}
	}
	if len(names) == 0 {
		return nil
	}
	var all bytes.Buffer
	for _, name := range names {
		in, shown, err := c.Open(ctx, name)
		if err != nil {
			return err
		}
		_, err = io.Copy(&all, io.LimitReader(in, maxLines+1-int64(all.Len())))
		if err = errors.Join(err, in.Close()); err != nil {
			return err
		}
		if all.Len() > maxLines {
			return verb.Hintf(fmt.Errorf("%w: %s: more than %s of lines for one request", state.ErrInvalid, text.EscapeLine(shown),
				plain.Bytes(maxLines)), "send them in parts")
		}
		if n := all.Len(); n > 0 && all.Bytes()[n-1] != '\n' {
			all.WriteByte('\n')
		}
	}
	c.body, c.media = all.Bytes(), operation.MediaNDJSON
	return nil
}

// open opens the file that is the body of a verb.
func (c *call) open(ctx context.Context, name string) (err error) {
	c.media = c.Spec.Body
	if name == "-" {
		in, _, err := c.Open(ctx, name)
		if err == nil {
			c.body, err = io.ReadAll(io.LimitReader(in, maxLines+1))
		}
		if err == nil && len(c.body) > maxLines {
			err = fmt.Errorf("%w: standard input has more than %s", state.ErrInvalid, plain.Bytes(maxLines))
		}
		return err
	}
	if c.file, err = regular.Open(c.side.host.Absolute(name)); err != nil {
		return fmt.Errorf("open %s: %w", text.EscapeLine(name), err)
	}
	return nil
}

// send sends the request, and repeats it if the connection breaks and that is safe: the server recognizes a write
// by its key.
func (c *call) send(ctx context.Context, take func(*http.Response, io.Reader) error) error {
	key := ""
	if c.Spec.EffectOf(c.Req) > operation.Reads {
		var b [16]byte
		if _, err := io.ReadFull(c.side.host.Rand, b[:]); err != nil {
			return fmt.Errorf("read random bytes: %w", err)
		}
		key = hex.EncodeToString(b[:])
	}
	for try := 1; ; try++ {
		req, err := c.request(ctx)
		if err != nil {
			return err
		}
		if key != "" {
			req.Header.Set("Idempotency-Key", key)
		}
		wait := answerTime
		if _, endless := c.Req.(verb.Resumer); endless {
			wait = 0
		}
		err = c.side.Exchange(req, wait, take)
		if !unreachable(err) || c.file != nil || try == sendAgain || ctx.Err() != nil {
			return c.news(err)
		}
		if err := c.side.host.Pause(ctx, time.Duration(try)*500*time.Millisecond); err != nil {
			return err
		}
	}
}

// news prints the answer that came with an error.
func (c *call) news(err error) error {
	if told, ok := errors.AsType[*answeredError](err); ok && len(told.answer) > 0 {
		if _, werr := c.Out.Write(append(told.answer, '\n')); werr != nil {
			return werr
		}
	}
	return err
}

func (c *call) request(ctx context.Context) (*http.Request, error) {
	query, media := url.Values{}, cmp.Or(c.media, operation.MediaJSON)
	var body io.Reader
	var size int64
	switch {
	case c.media == "":
		data, err := json.Marshal(c.args)
		if err != nil {
			return nil, err
		}
		body, size = bytes.NewReader(data), int64(len(data))
	case c.file != nil:
		info, err := c.file.Stat()
		if err != nil {
			return nil, err
		}
		body, size, query = io.NopCloser(c.file), info.Size(), queryOf(c.args)
	default:
		body, size, query = bytes.NewReader(c.body), int64(len(c.body)), queryOf(c.args)
	}
	req, err := c.side.Request(ctx, c.name, query, body, size, media)
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{"Mnem-Branch": c.Branch, "Mnem-Session": c.Session} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	switch stream := c.Spec.Stream() || strings.HasSuffix(c.name, "_batch"); {
	case c.Spec.Answer != "":
		req.Header.Set("Accept", c.Spec.Answer)
		req.Header.Set("Accept-Encoding", "zstd")
	case !c.JSON:
		req.Header.Set("Accept", "text/plain")
	case stream:
		req.Header.Set("Accept", operation.MediaNDJSON)
	default:
		req.Header.Set("Accept", operation.MediaJSON)
	}
	return req, nil
}

// queryOf encodes arguments as a query, for a request with another body.
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

// print prints an answer as it arrives, without control characters except line breaks and tabs: a server must not
// control the terminal.
func (c *call) print(in io.Reader) error {
	from := bufio.NewReaderSize(in, printed)
	for {
		r, size, err := from.ReadRune()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if r == utf8.RuneError && size == 1 || r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) {
			r = '?'
		}
		if _, err := c.Out.WriteRune(r); err != nil {
			return err
		}
		if from.Buffered() == 0 {
			if err := c.Out.Flush(); err != nil {
				return err
			}
		}
	}
}
