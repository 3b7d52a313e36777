package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

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
