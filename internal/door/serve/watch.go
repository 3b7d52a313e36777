package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// The operation that is watched, and the one that names the newest.
const (
	watchName  = "op_watch"
	newestName = "op_show"
)

const (
	// maxWatchers bounds the requests that watch at once; each is one goroutine more, and some lines.
	maxWatchers = 256
	// quietTime is how long nothing is said to a watcher before a comment is, so that each end sees
	// when the other has gone.
	quietTime = 15 * time.Second
	// beginTime is how long a watch may take to be refused before its answer begins.
	beginTime = 300 * time.Millisecond
	// slowTime is the deadline for a watcher to receive an event. A slower client is disconnected and continues from
	// its last event.
	slowTime = 30 * time.Second

	mediaEvents   = "text/event-stream"
	lastEventID   = "Last-Event-ID"
	eventOf       = "operation"
	eventOfErrors = "error"
)

// watch reports operations as they are committed: as events to clients that accept text/event-stream, each with the id
// of its operation, so that a client continues with Last-Event-ID; otherwise as lines. It ends with the client, or the
// server, and does not count towards the limits on time and on concurrent operations.
func (s *Server) watch(w http.ResponseWriter, r *http.Request) {
	op := s.ops[watchName]
	exchangeOf(r).operation = op.Name
	events := r.Method == http.MethodGet && slices.ContainsFunc(r.Header.Values("Accept"),
		func(h string) bool { return strings.Contains(h, mediaEvents) })
	if events {
		r = r.Clone(r.Context())
		r.Header.Set("Accept", operation.MediaNDJSON)
	}
	q, p := s.read(r, op)
	defer q.release()
	if p == nil && r.Header.Get(lastEventID) != "" {
		q.argument("since", r.Header.Get(lastEventID))
	}
	caller := whoOf(r.Context()).key
	if p == nil && !s.watchers.take(caller, 1, wholly) {
		p = tooMany(quietTime)
	}
	if p != nil {
		s.refuse(w, r, p)
		return
	}
	defer s.watchers.give(caller, 1)
	s.long(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.follow(w, r, q, events)
	}))(w, r)
}

// follow runs the watch and sends its events.
func (s *Server) follow(w http.ResponseWriter, r *http.Request, q *request, events bool) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	out := &watcher{to: w, now: s.cfg.Now, events: events, gone: cancel, form: q.form}
	begin, p := s.begins(ctx, q)
	if p != nil {
		s.refuse(w, r, p)
		return
	}
	if begin != nil && events {
		out.event("begin", begin.Op, begin)
	}
	quiet := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() { out.keepAlive(quiet) })
	q.call.Answer = out.take
	outcome, err := s.cfg.Runner.Run(ctx, q.call, out)
	close(quiet)
	ended.Wait()
	exchangeOf(r).code = outcome.Code
	switch {
	case err == nil || r.Context().Err() != nil || ctx.Err() != nil:
		out.begin() // it was asked to end
	case !out.started:
		s.refuse(w, r, problemOf(outcome, err))
	default:
		p := problemOf(outcome, err)
		p.RequestID = exchangeOf(r).id
		out.fail(p)
	}
}

// beginJSON names the operation that a watch begins after.
type beginJSON struct {
	Op  string          `json:"op"`
	Seq json.RawMessage `json:"seq"`
}

// begins finds the operation after which a watch from now on begins, so that a client that has received nothing can
// continue. It returns nil if the caller says where to begin.
func (s *Server) begins(ctx context.Context, q *request) (*beginJSON, *problem) {
	newest := s.ops[newestName]
	if given := q.call.Args["since"]; newest == nil || given != nil && string(given) != `""` {
		return nil, nil
	}
	call := operation.Call{Operation: newest, Caller: q.call.Caller}
	answers, outcome, err := operation.Values(ctx, s.cfg.Runner, call, maxHeld)
	if err != nil {
		return nil, problemOf(outcome, err)
	}
	var at beginJSON
	if len(answers) == 1 {
		at = beginJSON{answers[0].Find("op").Word(), json.RawMessage(answers[0].Find("seq").Text)}
	}
	if at.Op == "" {
		return nil, failed(operation.Failed, "the newest operation has no name")
	}
	q.argument("since", at.Op)
	return &at, nil
}

// watcher sends the lines of a watch to who asked, one at a time.
type watcher struct {
	to     http.ResponseWriter
	now    func() time.Time
	gone   context.CancelFunc // called when a write to the client fails
	events bool
	form   string // media type of lines

	mu      sync.Mutex
	started bool
	sent    bool // since the last look of keepAlive
	list    lister
	part    []byte // of a line
}

// Write takes lines of the watch.
func (w *watcher) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for rest := p; len(rest) > 0; {
		text, after, whole := bytes.Cut(rest, []byte("\n"))
		w.part, rest = append(w.part, text...), after
		if !whole {
			break
		}
		if err := w.line(w.part, operation.Bytes(w.part).Text("op")); err != nil {
			return 0, err
		}
		w.part = w.part[:0]
	}
	return len(p), nil
}

// take takes an operation.
func (w *watcher) take(answer operation.Answer) error {
	var b bytes.Buffer
	if err := answer.WriteJSON(&b); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.line(bytes.TrimSuffix(b.Bytes(), []byte("\n")), answer.Text("op"))
}

func (w *watcher) line(text []byte, op string) error {
	if !w.events {
		line := append(text, '\n')
		if w.form == operation.MediaJSON {
			line = w.list.items(line)
		}
		return w.send(line)
	}
	return w.send(fmt.Appendf(nil, "id: %s\nevent: %s\ndata: %s\n\n", op, eventOf, text))
}

func (w *watcher) event(name, id string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		return // values sent here always have a JSON form
	}
	if id != "" {
		name += "\nid: " + id
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.send(fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, text.EscapeJSON(data))) // it ends the watch
}

// fail reports the error that ended the watch: as the last event or line.
func (w *watcher) fail(p *problem) {
	if w.events {
		w.event(eventOfErrors, "", p)
		return
	}
	if w.form == operation.MediaJSON {
		panic(http.ErrAbortHandler) // no client may take half a list for a whole one
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	line, _ := json.Marshal(map[string]any{"error": map[string]string{ // strings have a JSON form
		"code": p.Code, "message": p.Detail, "hint": p.Hint, "request_id": p.RequestID,
	}})
	_ = w.send(append(text.EscapeJSON(line), '\n')) // it ends the watch
}

// begin sends the headers, if nothing was sent, and the end of a list.
func (w *watcher) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	var end []byte
	if !w.events && w.form == operation.MediaJSON {
		end = w.list.end()
	}
	_ = w.send(end) // who asked may have gone
}

// send writes and flushes within slowTime. The caller holds mu.
func (w *watcher) send(data []byte) error {
	rc := http.NewResponseController(w.to)
	_ = rc.SetWriteDeadline(w.now().Add(slowTime)) // if there is none the client is waited for
	if !w.started {
		w.started = true
		form := w.form
		if w.events {
			form = mediaEvents
		}
		w.to.Header().Set("Content-Type", contentType(form))
		w.to.Header().Set("Cache-Control", "no-store")
		w.to.WriteHeader(http.StatusOK)
	}
	w.sent = true
	_, err := w.to.Write(data)
	if err == nil {
		err = rc.Flush()
	}
	if err != nil {
		w.gone()
	}
	return err
}

// keepAlive begins the answer soon, and says something now and then to a watcher of events, until quiet is closed.
func (w *watcher) keepAlive(quiet <-chan struct{}) {
	next := time.NewTimer(beginTime)
	defer next.Stop()
	for {
		select {
		case <-quiet:
			return
		case <-next.C:
		}
		w.mu.Lock()
		switch {
		case w.events && !w.sent:
			_ = w.send([]byte(": still here\n\n")) // it ends the watch
		case !w.started && w.form != operation.MediaJSON:
			_ = w.send(nil)
		}
		w.sent = false
		w.mu.Unlock()
		next.Reset(quietTime)
	}
}
