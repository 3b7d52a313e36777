package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	escape "github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// Resources can be read by address: nodes, commits, and differences between two commits.
const (
	nodeScheme   = "mnem://node/"
	commitScheme = "mnem://commit/"
	diffScheme   = "mnem://diff/"

	nodeTemplate   = nodeScheme + "{+node}"
	commitTemplate = commitScheme + "{+revision}"
	diffTemplate   = diffScheme + "{+from}..{+to}"
)

const (
	pageResources = 50  // of a list
	mostCommits   = 50  // that the list of resources names, newest first
	mostNodes     = 950 // likewise, last changed first
	// resourceTokens bounds a resource that is read: there are no pages of it, and clients put it
	// into a model's context whole.
	resourceTokens = 8_000
)

func (s *Server) addResources() {
	add := func(name, title, template, doc string) {
		s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{
			Name: name, Title: title, URITemplate: template, Description: doc,
			MIMEType: "application/json",
		}, s.readResource)
	}
	add("node", "Memory", nodeTemplate, "A node by key or id, with its edges")
	add("commit", "Commit", commitTemplate, "A commit and what it changed, by CID, branch or tag")
	add("diff", "Changes", diffTemplate, "What differs between two revisions")
}

// cachePrivate keeps what a memory holds out of caches that others read.
const cachePrivate = "private"

func (s *Server) readResource(
	ctx context.Context, req *sdk.ReadResourceRequest,
) (*sdk.ReadResourceResult, error) {
	if ask := s.locate(ctx, req.Session, req, req.Params.InputResponses); ask != nil {
		return &sdk.ReadResourceResult{InputRequests: ask}, nil
	}
	caller, client := s.caller(ctx, req.Session.ID(), req.ClientInfo())
	data, err := s.resource(ctx, caller, client, req.Params.URI)
	if isNotFound(err) {
		return nil, sdk.ResourceNotFoundError(req.Params.URI)
	}
	if err != nil {
		return nil, rpcError(ctx, err)
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{
		{URI: req.Params.URI, MIMEType: "application/json", Text: string(data)},
	}}, nil
}

// resource returns the JSON of a resource, shortened where it is too long.
func (s *Server) resource(
	ctx context.Context, caller operation.Caller, client clientKey, uri string,
) (json.RawMessage, error) {
	name, words, err := parseURI(uri)
	if err != nil {
		return nil, err
	}
	op, err := s.operation(name)
	if err != nil {
		return nil, err
	}
	c := &call{Server: s, caller: caller, client: client}
	ask := c.ask(op)
	for i, w := range words {
		setWord(&ask, i+1, encode(w))
	}
	if strings.HasPrefix(uri, nodeScheme) {
		if err := c.at(ctx, &ask, ""); err != nil {
			return nil, err
		}
	}
	answer, err := s.one(ctx, ask)
	if err != nil {
		return nil, err
	}
	small, cut := shrink(answer, resourceTokens)
	if cut {
		small.Members = append(small.Members, member{Name: "shortened", Value: truth})
	}
	return written(small), nil
}

// parseURI returns the operation that reads a resource, and its words.
func parseURI(uri string) (name string, words []string, err error) {
	bad := invalid("no such resource: "+clipText(uri, 200),
		"resources are "+nodeTemplate+", "+commitTemplate+" and "+diffTemplate)
	scheme, rest := "", ""
	for _, scheme = range []string{nodeScheme, commitScheme, diffScheme} {
		if r, is := strings.CutPrefix(uri, scheme); is {
			rest = r
			break
		}
	}
	rest, escErr := url.PathUnescape(rest)
	if escErr != nil || rest == "" || strings.ContainsRune(rest, 0) {
		return "", nil, bad
	}
	switch scheme {
	case nodeScheme:
		return "show", []string{nodeName(rest)}, nil
	case commitScheme:
		return "show", []string{rest}, nil
	}
	from, to, is := strings.Cut(rest, "..")
	if !is || from == "" || to == "" {
		return "", nil, bad
	}
	return "diff", []string{from, to}, nil
}

// nodeName makes of the name of a node one that cannot be a revision.
func nodeName(s string) string {
	switch {
	case strings.HasPrefix(s, "key:"), strings.HasPrefix(s, "id:"):
		return s
	case looksLikeID(s):
		return "id:" + s
	}
	return "key:" + s
}

func looksLikeID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, r := range s {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (r == '-') || !dash && !strings.ContainsRune("0123456789abcdefABCDEF", r) {
			return false
		}
	}
	return true
}

// nodeURI is the address of a node: by key if it has one, since people read it.
func nodeURI(id, key string) string {
	if key == "" {
		return nodeScheme + id
	}
	return nodeScheme + strings.ReplaceAll(url.PathEscape(key), "%2F", "/")
}

// listResources names recent commits and nodes, page by page, all at the newest commit of the first page.
func (s *Server) listResources(
	ctx context.Context, req *sdk.ListResourcesRequest,
) (*sdk.ListResourcesResult, error) {
	const name = "resources/list"
	args := arguments{}
	if req.Params != nil && req.Params.Cursor != "" {
		args["cursor"] = encode(req.Params.Cursor)
	}
	position, commit, err := readCursor(name, args)
	if err != nil {
		return nil, rpcError(ctx, err)
	}
	caller, client := s.caller(ctx, req.Session.ID(), req.ClientInfo())
	c := &call{Server: s, caller: caller, client: client, commit: commit, args: arguments{}}
	all, commit, err := c.resources(ctx)
	if err != nil {
		return nil, rpcError(ctx, err)
	}
	all = all[min(position, len(all)):]
	res := &sdk.ListResourcesResult{Resources: all}
	res.CacheScope = cachePrivate
	if len(all) > pageResources {
		res.Resources = all[:pageResources]
		res.NextCursor = nextCursor(position+pageResources, name, args, commit)
	}
	return res, nil
}

func (c *call) resources(ctx context.Context) ([]*sdk.Resource, string, error) {
	logs, err := c.operation("log")
	if err != nil {
		return []*sdk.Resource{}, "", nil // a table without history
	}
	commit := c.commit
	if commit == "" {
		if commit, err = c.newest(ctx, logs); isNotFound(err) {
			return []*sdk.Resource{}, "", nil // nothing is known yet
		} else if err != nil {
			return nil, "", err
		}
	}
	list := []*sdk.Resource{}
	ask := c.ask(logs)
	set(&ask, "at", encode(commit))
	set(&ask, "limit", encode(mostCommits))
	doc, err := c.read(ctx, ask, []field{{name: "commits", list: true}})
	if err != nil {
		return nil, "", err
	}
	for _, p := range doc.pieces {
		m := p.value.Members
		list = append(list, &sdk.Resource{
			URI: commitScheme + textOf(m, "commit"), Name: oneLine(textOf(m, "message")),
			Description: fmt.Sprintf("commit by %s, %s", textOf(m, "author"), textOf(m, "time")),
			MIMEType:    "application/json",
		})
	}
	nodes, err := c.nodes(ctx, commit)
	return append(list, nodes...), commit, err
}

func (c *call) nodes(ctx context.Context, commit string) ([]*sdk.Resource, error) {
	op, err := c.operation("ls")
	if err != nil {
		return nil, nil // a table without lists
	}
	ask := c.ask(op)
	set(&ask, "at", encode(commit))
	set(&ask, "limit", encode(mostNodes))
	set(&ask, "sort", json.RawMessage(`"id"`))
	set(&ask, "all", json.RawMessage(`true`))
	doc, err := c.read(ctx, ask, []field{{name: "nodes", items: []string{"id", "key", "type", "summary"}}})
	if err != nil {
		return nil, err
	}
	var list []*sdk.Resource
	for _, p := range doc.pieces {
		m := p.value.Members
		id, key, summary := textOf(m, "id"), textOf(m, "key"), textOf(m, "summary")
		list = append(list, &sdk.Resource{
			URI: nodeURI(id, key), Name: oneLine(cmp.Or(key, summary, id)),
			Description: escape.EscapeWord(textOf(m, "type")) + ": " + oneLine(summary),
			MIMEType:    "application/json",
		})
	}
	return list, nil
}

func oneLine(s string) string {
	return clipText(strings.Join(strings.Fields(s), " "), 80)
}

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
