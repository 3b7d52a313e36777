package owner

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"

	"github.com/mnem-project/mnem/internal/base/httpd"
)

// Asker holds the inputs and outputs of a process that asks for a verb.
type Asker struct {
	Inputs []io.Reader // sent whole, in this order
	// File receives the output that the verb writes to a file.
	File io.Writer
	// Tell receives the owner's messages for standard error.
	Tell func(data []byte)
}

// Ask has the owner run a verb, passes the answer to read, and returns the verb's result when it ends. The end of ctx
// interrupts the verb. A *LostError says that the owner ended first; other errors come from an input or from read. The
// client cannot be used again.
func (c *Client) Ask(ctx context.Context, request []byte, by Asker, read func(io.Reader) error) ([]byte, error) {
	if len(request) > httpd.MaxBody {
		return nil, fmt.Errorf("a request of %d bytes is more than the %d that another process takes",
			len(request), httpd.MaxBody)
	}
	defer c.interrupts(ctx)()
	a := &asking{Client: c, clean: true, by: by, failed: make(chan error, 1), buf: make([]byte, 0, maxData)}
	err := a.ask(request, read)
	select {
	case err = <-a.failed: // the owner has interrupted the verb
		return nil, err
	default:
		return a.result, err
	}
}

// asking is a verb that runs at the owner.
type asking struct {
	*Client
	by       Asker
	body     io.Reader
	clean    bool       // whether nothing was answered
	writes   bool       // whether the owner may have written
	failed   chan error // why an input could not be read
	buf      []byte
	rest     []byte // of the answers, not yet read
	result   []byte
	ended    error // io.EOF once the result is there, or why none comes
	printErr error
	fileErr  error // of writing the file
}

// ask sends the request and reads the answer.
func (a *asking) ask(request []byte, read func(io.Reader) error) error {
	r := a.form(request)
	send := func() {
		if r.Write(a.conn) != nil { // an input failed, or the owner has ended
			_ = a.conn.CloseWrite()
		}
	}
	if len(a.by.Inputs) > 0 {
		go send() // an input may come as slowly as a person types
	} else {
		send()
	}
	answer, err := a.response(r)
	if err != nil {
		return a.lost(err)
	}
	a.body = answer.Body
	if a.printErr = read(a); a.printErr != nil && a.ended == nil {
		_ = a.conn.CloseWrite() // nothing can be printed any more
	}
	if _, err := io.Copy(io.Discard, a); err != nil {
		return err
	}
	return cmp.Or(a.printErr, a.fileErr)
}

// form returns a request whose body is a form: the request for the verb, then the inputs.
func (a *asking) form(request []byte) *http.Request {
	var text bytes.Buffer
	var body []io.Reader
	form := multipart.NewWriter(&text)
	add := func(name string, content io.Reader) {
		_, _ = form.CreateFormField(name) // a buffer takes all
		body = append(body, bytes.NewReader(bytes.Clone(text.Bytes())), content)
		text.Reset()
	}
	add("call", bytes.NewReader(request))
	for _, in := range a.by.Inputs {
		add("input", &input{in, a.failed})
	}
	_ = form.Close() // as above
	r := newRequest(http.MethodPost, path("verb"), io.MultiReader(append(body, &text)...))
	r.Header.Set("Content-Type", form.FormDataContentType())
	return r
}

// input notes why it could not be read.
type input struct {
	io.Reader
	failed chan<- error
}

func (in *input) Read(p []byte) (int, error) {
	n, err := in.Reader.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // as io.Copy compares it
		select {
		case in.failed <- err:
		default:
		}
	}
	return n, err
}

func (a *asking) lost(err error) error {
	return &LostError{Clean: a.clean && !a.writes, Writes: a.writes, Err: err}
}

// Read reads the verb's answer, and handles the other records between its parts.
func (a *asking) Read(p []byte) (int, error) {
	for len(a.rest) == 0 {
		if a.ended != nil {
			return 0, a.ended
		}
		k, data, err := readRecord(a.body, a.buf)
		if err == nil {
			err = a.follow(k, data)
		}
		if err != nil {
			a.ended = a.lost(err)
		}
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

func (a *asking) follow(k kind, data []byte) error {
	switch k {
	case kindOutput:
		a.clean, a.rest = false, data
	case kindFile:
		if a.by.File == nil {
			return ErrProtocol
		}
		if a.fileErr != nil {
			return nil
		}
		if _, a.fileErr = a.by.File.Write(data); a.fileErr != nil {
			_ = a.conn.CloseWrite() // nothing can be written any more
		}
	case kindTell:
		if a.printErr == nil && a.fileErr == nil { // otherwise it reports the interruption
			a.by.Tell(data)
		}
	case kindWrites:
		a.writes = true
	case kindResult:
		a.result, a.ended = bytes.Clone(data), io.EOF
	}
	return nil
}
