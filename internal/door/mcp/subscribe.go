package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mnem-project/mnem/internal/verb/operation"
)

const (
	// mostSubscribed bounds the addresses that clients subscribe to.
	mostSubscribed = 1000
	// watchAgain is how long a watch that failed waits before it starts again.
	watchAgain = time.Second
)

// subscriptions are the resources that clients want to hear of, and the one watch for all of them.
// It runs while there are any.
type subscriptions struct {
	mu   sync.Mutex
	uris map[string]map[*sdk.ServerSession]bool // who subscribed
	stop context.CancelFunc
	done sync.WaitGroup
}

// subscribe begins to tell a client when a resource changes. What is committed after the answer is
// told, and more often than needed rather than too seldom: the client reads the resource again.
func (s *Server) subscribe(ctx context.Context, req *sdk.SubscribeRequest) error {
	uri := req.Params.URI
	if _, _, err := parseURI(uri); err != nil {
		return rpcError(ctx, err)
	}
	who, _ := s.caller(ctx, req.Session.ID(), req.ClientInfo())
	if err := s.hearsAll(ctx, who); err != nil {
		return rpcError(ctx, err)
	}
	subs := &s.subscriptions
	subs.mu.Lock()
	defer subs.mu.Unlock()
	s.forgetGone()
	if subs.uris[uri] == nil && len(subs.uris) >= mostSubscribed {
		return rpcError(ctx, invalid("too many subscriptions", "unsubscribe from some"))
	}
	if subs.stop == nil {
		since, err := s.newest(ctx)
		if err != nil {
			return rpcError(ctx, err)
		}
		watching, stop := context.WithCancel(context.WithoutCancel(ctx))
		subs.stop = stop
		subs.done.Go(func() { s.keepWatching(watching, since) })
	}
	if subs.uris[uri] == nil {
		subs.uris[uri] = make(map[*sdk.ServerSession]bool)
	}
	subs.uris[uri][req.Session] = true
	return nil
}

// hearsAll returns an error for a caller that is confined to a branch: one watch of all branches is for all clients.
func (s *Server) hearsAll(ctx context.Context, who operation.Caller) error {
	if who.Only != "" {
		return invalid("no subscriptions for a caller that is confined to a branch", "read the resource again")
	}
	op, err := s.operation("pack_refs") // which a policy refuses to agents that it confines
	if err != nil {
		return nil
	}
	_, err = s.do(ctx, operation.Call{Operation: op, Caller: who})
	return err
}

// forgetGone forgets what clients subscribed to whose sessions ended: the library says nothing of
// that. The caller holds the lock of the subscriptions.
func (s *Server) forgetGone() {
	subs := &s.subscriptions
	if len(subs.uris) == 0 {
		return
	}
	open := map[*sdk.ServerSession]bool{}
	for session := range s.sdk.Sessions() {
		open[session] = true
	}
	for uri, sessions := range subs.uris {
		maps.DeleteFunc(sessions, func(session *sdk.ServerSession, _ bool) bool { return !open[session] })
		if len(sessions) == 0 {
			delete(subs.uris, uri)
		}
	}
}

func (s *Server) unsubscribe(_ context.Context, req *sdk.UnsubscribeRequest) error {
	subs := &s.subscriptions
	subs.mu.Lock()
	defer subs.mu.Unlock()
	if delete(subs.uris[req.Params.URI], req.Session); len(subs.uris[req.Params.URI]) == 0 {
		delete(subs.uris, req.Params.URI)
	}
	s.forgetGone()
	if len(subs.uris) == 0 && subs.stop != nil {
		subs.stop()
		subs.stop = nil
	}
	return nil
}

func (s *Server) endSubscriptions() {
	subs := &s.subscriptions
	subs.mu.Lock()
	if subs.stop != nil {
		subs.stop()
		subs.stop = nil
	}
	clear(subs.uris)
	subs.mu.Unlock()
	subs.done.Wait()
}

func (s *Server) newest(ctx context.Context) (string, error) {
	op, err := s.operation("op_show")
	if err != nil {
		return "", err
	}
	at, err := s.one(ctx, operation.Call{Operation: op, Caller: s.opt.Caller})
	return at.Find("op").Word(), err
}

// keepWatching tells what changes after an operation until ctx ends. If the watch fails, as what
// it had not come to was collected, everything counts as changed and it starts again.
func (s *Server) keepWatching(ctx context.Context, since string) {
	for {
		err := s.watchFrom(ctx, &since)
		if ctx.Err() != nil {
			return
		}
		s.log.Warn("the watch for subscriptions failed", "error", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(watchAgain):
		}
		if newest, err := s.newest(ctx); err == nil {
			since = newest
			s.changed(ctx, func(string) bool { return true })
		}
	}
}

// watchFrom tells what changes after an operation, and keeps in since how far it came.
func (s *Server) watchFrom(ctx context.Context, since *string) error {
	op, err := s.operation("op_watch")
	if err != nil {
		return err
	}
	ask := operation.Call{Operation: op, Caller: s.opt.Caller, Args: map[string]json.RawMessage{
		"since": encode(*since), "full": json.RawMessage("true"),
	}}
	took := func(answer operation.Answer) error {
		w, _, err := answer.Value(maxAnswer)
		if err != nil {
			return err
		}
		*since = w.Find("op").Word()
		if len(w.Find("branches").Items) > 0 {
			s.changed(ctx, func(uri string) bool { return touches(w, uri) })
		}
		return nil
	}
	ask.Answer = took
	_, err = s.runner.Run(ctx, ask, &lineReader{each: func(line []byte) error { return took(operation.Bytes(line)) }})
	if err == nil {
		err = errors.New("it ended")
	}
	return err
}

func (s *Server) changed(ctx context.Context, touches func(uri string) bool) {
	var told []string
	s.subscriptions.mu.Lock()
	for uri := range s.subscriptions.uris {
		if touches(uri) {
			told = append(told, uri)
		}
	}
	s.subscriptions.mu.Unlock()
	for _, uri := range told {
		if err := s.sdk.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri}); err != nil {
			s.log.Debug("a change was not told", "uri", uri, "error", err)
		}
	}
}

// touches reports whether an operation that moved branches may have changed a resource: a node that
// is among what differs, itself or an edge of it, or whatever is named by anything but CIDs.
func touches(w value, uri string) bool {
	_, words, err := parseURI(uri)
	if err != nil {
		return false
	}
	if !strings.HasPrefix(uri, nodeScheme) {
		return slices.ContainsFunc(words, func(word string) bool { return !strings.HasPrefix(word, "bafyrei") })
	}
	for _, b := range w.Find("branches").Items {
		changes := b.Find("changes")
		if changes.Kind != '{' || changes.Find("more").Text == "true" {
			return true // what it was is unknown
		}
		if slices.ContainsFunc(changes.Find("nodes").Items, func(n value) bool {
			return means(words[0], n.Find("id"), n.Find("key"))
		}) || slices.ContainsFunc(changes.Find("edges").Items, func(e value) bool {
			return means(words[0], e.Find("src"), e.Find("src_key")) || means(words[0], e.Find("dst"), e.Find("dst_key"))
		}) {
			return true
		}
	}
	return false
}

// means reports whether a name may mean a node of an id and a key.
func means(name string, id, key value) bool {
	if named, ok := strings.CutPrefix(name, "key:"); ok {
		return key.Word() == named
	}
	digits := strings.TrimPrefix(name, "id:")
	return key.Word() == name || digits != "" && strings.HasPrefix(id.Word(), strings.ToLower(digits))
}

// lineReader hands on what is written to it line by line.
type lineReader struct {
	each func(line []byte) error
	part []byte
}

var _ io.Writer = (*lineReader)(nil)

func (r *lineReader) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		text, after, whole := bytes.Cut(rest, []byte("\n"))
		r.part, rest = append(r.part, text...), after
		if !whole {
			break
		}
		if err := r.each(r.part); err != nil {
			return 0, err
		}
		r.part = r.part[:0]
	}
	return len(p), nil
}
