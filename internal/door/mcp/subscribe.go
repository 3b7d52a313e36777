package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mnem-project/mnem/internal/verb/operation"
)

const (
	// mostSubscribed bounds the addresses that clients subscribe to.
	mostSubscribed = 1000
	// watchAgain is how long a watch that failed waits before it is begun anew.
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
// told, and more often than needed rather than too seldom: the client reads the resource anew.
func (s *Server) subscribe(ctx context.Context, req *sdk.SubscribeRequest) error {
	uri := req.Params.URI
	if _, _, err := parseURI(uri); err != nil {
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
	if subs.uris == nil {
		subs.uris = make(map[string]map[*sdk.ServerSession]bool)
	}
	if subs.uris[uri] == nil {
		subs.uris[uri] = make(map[*sdk.ServerSession]bool)
	}
	subs.uris[uri][req.Session] = true
	return nil
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

// endSubscriptions ends the watch and waits for it.
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

// newest returns the CID of the newest operation.
func (s *Server) newest(ctx context.Context) (string, error) {
	op, err := s.operation("op_show")
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	ask := operation.Call{Operation: op, Caller: s.opt.Caller}
	if _, err := s.runner.Run(ctx, ask, &out); err != nil {
		return "", err
	}
	var at struct{ Op string }
	err = json.Unmarshal(out.Bytes(), &at)
	return at.Op, err
}

// keepWatching tells what changes after an operation until ctx ends. Where the watch fails, as what
// it had not come to was collected, everything counts as changed and it begins anew.
func (s *Server) keepWatching(ctx context.Context, since string) {
	for {
		err := s.watchFrom(ctx, &since)
		if ctx.Err() != nil {
			return
		}
		s.log.Warn("the watch for subscriptions failed", "error", err)
		again := time.NewTimer(watchAgain)
		select {
		case <-ctx.Done():
			again.Stop()
			return
		case <-again.C:
		}
		if newest, err := s.newest(ctx); err == nil {
			since = newest
			s.changed(ctx, func(string) bool { return true })
		}
	}
}

// watchFrom tells what changes after an operation, and keeps in since how far it came.
func (s *Server) watchFrom(ctx context.Context, since *string) error {
	op, err := s.operation("watch")
	if err != nil {
		return err
	}
	ask := operation.Call{Operation: op, Caller: s.opt.Caller, Args: map[string]json.RawMessage{
		"since": encode(*since), "diff": json.RawMessage("true"),
	}}
	_, err = s.runner.Run(ctx, ask, &lineReader{each: func(line []byte) error {
		var w watched
		if err := json.Unmarshal(line, &w); err != nil {
			return err
		}
		*since = w.Op
		if len(w.Branches) > 0 {
			s.changed(ctx, w.touches)
		}
		return nil
	}})
	if err == nil {
		err = errors.New("it ended")
	}
	return err
}

// changed tells the clients that subscribed to a resource that it changed.
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

// watched is what a line of the watch says of an operation.
type watched struct {
	Op       string
	Branches []struct {
		Changes *struct {
			Nodes []watchedNode
			Edges []struct {
				Src, Dst string
				SrcKey   string `json:"src_key"`
				DstKey   string `json:"dst_key"`
			}
			More bool
		}
	}
}

type watchedNode struct{ ID, Key string }

// touches reports whether an operation that moved branches may have changed a resource: a node that
// is among what differs, itself or an edge of it, or whatever is named by anything but CIDs.
func (w *watched) touches(uri string) bool {
	_, words, err := parseURI(uri)
	if err != nil {
		return false
	}
	if !strings.HasPrefix(uri, nodeScheme) {
		for _, word := range words {
			if !strings.HasPrefix(word, "bafyrei") {
				return true
			}
		}
		return false
	}
	for _, b := range w.Branches {
		if b.Changes == nil || b.Changes.More {
			return true // nobody knows what it was
		}
		for _, n := range b.Changes.Nodes {
			if n.is(words[0]) {
				return true
			}
		}
		for _, e := range b.Changes.Edges {
			src, dst := watchedNode{e.Src, e.SrcKey}, watchedNode{e.Dst, e.DstKey}
			if src.is(words[0]) || dst.is(words[0]) {
				return true
			}
		}
	}
	return false
}

// is reports whether a node may be the one that a name means.
func (n watchedNode) is(name string) bool {
	if key, ok := strings.CutPrefix(name, "key:"); ok {
		return n.Key == key
	}
	id := strings.TrimPrefix(name, "id:")
	return n.Key == name || id != "" && strings.HasPrefix(n.ID, strings.ToLower(id))
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
