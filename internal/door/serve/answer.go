package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// maxHeld is how many bytes of an answer are held back until the result of the call is known. Longer answers begin
// before that, and break off if the call fails later.
const maxHeld = 1 << 20

// answer is the output of an operation on its way to the client.
type answer struct {
	server  *Server
	to      http.ResponseWriter
	request *http.Request
	q       *request
	kept    *kept // nil if the answer is not kept
	held    bytes.Buffer
	last    operation.Answer // in its type, nil if it came as bytes
	started bool
	gone    bool            // whether the client has gone, for an answer that is kept
	list    lister          // of lines that become a JSON list
	running context.Context // of the call, nil when it has ended
	packed  io.WriteCloser  // compresses the answer, nil if it is sent uncompressed
}

// Write takes some of the answer. Lines of a stream are sent as they come.
func (a *answer) Write(p []byte) (int, error) {
	stream := a.q.call.Operation.Answer != operation.MediaJSON && a.kept == nil
	if !a.started && !stream && a.held.Len()+len(p) <= maxHeld {
		return a.held.Write(p)
	}
	if !a.started {
		a.start(http.StatusOK)
		if err := a.send(a.held.Bytes(), false); err != nil {
			return 0, err
		}
		a.held.Reset()
	}
	if err := a.send(p, stream); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (a *answer) start(status int) {
	a.started = true
	h := a.to.Header()
	h.Set("Content-Type", contentType(a.q.form))
	h.Add("Vary", "Accept")
	if a.q.form == operation.MediaCAR && status == http.StatusOK {
		a.pack(h)
	}
	a.to.WriteHeader(status)
}

func contentType(form string) string {
	if form == mediaText {
		return form + "; charset=utf-8"
	}
	return form
}

func (a *answer) send(p []byte, flush bool) error {
	if a.packed != nil {
		_, err := a.packed.Write(p)
		return err
	}
	return a.transmit(p, flush)
}

// transmit sends a part of the answer, immediately if flush is set. A kept answer continues when its client has gone:
// otherwise the operation would run again when the client asks again.
func (a *answer) transmit(p []byte, flush bool) error {
	if a.gone {
		return nil
	}
	if a.lists() {
		p = a.list.items(p)
	}
	rc := http.NewResponseController(a.to)
	write := func() error {
		_ = rc.SetWriteDeadline(a.server.cfg.Now().Add(a.server.cfg.Limits.Write))
		_, err := a.to.Write(p)
		if flush && err == nil {
			_ = rc.Flush() // a client that is gone is seen when writing
		}
		return err
	}
	var err error
	if a.running != nil {
		err = a.server.slots.outside(a.running, write)
	} else {
		err = write()
	}
	if a.kept != nil && err != nil {
		a.gone, err = true, nil
	}
	return err
}

// lists reports whether the lines of a stream are wanted as one JSON list.
func (a *answer) lists() bool {
	return a.q.call.Operation.Stream() && a.q.form == operation.MediaJSON
}

// finish ends an answer that is one.
func (a *answer) finish(outcome operation.Outcome) {
	if a.started {
		if a.packed != nil && a.packed.Close() != nil {
			panic(http.ErrAbortHandler) // the client must not take half an answer for a whole one
		}
		if a.lists() {
			_, _ = a.to.Write(a.list.end()) // who asked may have gone
		}
		if a.kept != nil {
			a.kept.tooLong(exchangeOf(a.request).id)
		}
		return
	}
	body := a.held.Bytes()
	if a.lists() {
		body = append(a.list.items(body), a.list.end()...)
	}
	h := a.to.Header()
	tag := a.tag()
	if tag != "" {
		h.Set("Etag", tag)
	}
	a.link()
	if a.q.effect == operation.Reads && tag != "" {
		if a.q.expect != "" && a.q.expect != strings.Trim(tag, `"`) {
			h.Del("Etag")
			a.server.refuse(a.to, a.request, newProblem(http.StatusPreconditionFailed, codePrecondition,
				"the answer is from %s", strings.Trim(tag, `"`)))
			return
		}
		if matches(a.q.known, tag) {
			a.to.WriteHeader(http.StatusNotModified)
			return
		}
	}
	if a.kept != nil {
		header := http.Header{"Content-Type": {contentType(a.q.form)}}
		if tag != "" {
			header.Set("Etag", tag)
		}
		a.kept.keepBody(outcome.HTTP, header, bytes.Clone(body))
	}
	a.start(outcome.HTTP)
	_, _ = a.to.Write(body) // as above
}

// breakOff ends an answer that had begun when the call failed. The last line of a stream of lines is then an error; any
// other answer ends such that no client can take it for complete.
func (a *answer) breakOff(p *problem) {
	x := exchangeOf(a.request)
	p.RequestID = x.id
	if a.q.call.Operation.Stream() && a.q.form == operation.MediaNDJSON {
		line, _ := json.Marshal(map[string]any{"error": map[string]string{ // strings have a JSON form
			"code": p.Code, "message": p.Detail, "hint": p.Hint, "kind": p.Kind, "request_id": p.RequestID,
		}})
		_, _ = a.to.Write(append(text.EscapeJSON(line), '\n')) // who asked may have gone
		return
	}
	panic(http.ErrAbortHandler)
}

// head holds the members of an answer that surfaces repeat.
type head struct {
	Commit string `json:"commit"`
	Next   string `json:"next"`
}

func (a *answer) head() (h head) {
	if a.last != nil {
		return head{a.last.Text("commit"), a.last.Text("next")}
	}
	if a.q.call.Text || a.q.call.Operation.Answer != operation.MediaJSON ||
		json.Unmarshal(a.held.Bytes(), &h) != nil {
		return head{}
	}
	return h
}

// tag returns the ETag: the CID of the commit that an answer is from or that a write made, "" if the answer has none or
// depends on more. Each form of the answer has a different ETag.
func (a *answer) tag() string {
	if a.q.effect == operation.Reads && !a.q.call.Operation.IsPure(a.q.call.Args) {
		return ""
	}
	if h := a.head(); strings.HasPrefix(h.Commit, "baf") {
		return `"` + h.Commit + `"`
	}
	return ""
}

func matches(header, tag string) bool {
	for part := range strings.SplitSeq(header, ",") {
		part = strings.TrimPrefix(strings.TrimSpace(part), "W/")
		if part == "*" || part == tag {
			return true
		}
	}
	return false
}

func (a *answer) link() {
	r := a.request
	const cursor = "after"
	if r.Method == http.MethodPost || a.q.call.Operation.Param(cursor) == nil {
		return
	}
	if h := a.head(); h.Next != "" {
		q := r.URL.Query()
		q.Set(cursor, h.Next)
		next := url.URL{Path: r.URL.Path, RawQuery: q.Encode()}
		a.to.Header().Set("Link", "<"+next.String()+`>; rel="next"`)
	}
}

type lister struct {
	begun  bool
	inLine bool // whether a line has begun
}

func (l *lister) items(p []byte) []byte {
	var b bytes.Buffer
	for _, c := range p {
		switch {
		case c == '\n':
			l.inLine = false
			continue
		case !l.inLine && l.begun:
			b.WriteByte(',')
		case !l.inLine:
			b.WriteByte('[')
		}
		l.begun, l.inLine = true, true
		b.WriteByte(c)
	}
	return b.Bytes()
}

func (l *lister) end() []byte {
	if !l.begun {
		return []byte("[]\n")
	}
	return []byte("]\n")
}
