package mcp

//lint:file-ignore SA1019 clients have nothing else yet to name their folders

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mnem-project/mnem/internal/verb/operation"
)

// Record says how sessions of clients are recorded.
type Record int

const (
	RecordFollow Record = iota // each answer from the newest commit, with a receipt
	RecordPin                  // all answers from the commit at the first call
	RecordNone
)

// clientKey tells clients apart by protocol session, name and what their tokens say.
type clientKey struct{ session, name, agent, only string }

// recording is the session that the answers for one client are recorded in.
type recording struct {
	mu     sync.Mutex
	name   string // "" until it is started
	who    operation.Caller
	commit string    // that it is pinned to
	told   bool      // that it could not be started
	ended  bool      // nothing more is recorded
	used   time.Time // under the server's lock
}

// maxRecordings bounds the open sessions; the answers of further clients are not recorded.
const maxRecordings = 1024

// caller returns who asks. The client's name and version are the agent, unless the server was told another one.
func (s *Server) caller(
	ctx context.Context, session string, client *sdk.Implementation,
) (operation.Caller, clientKey) {
	who := s.opt.Caller
	if s.opt.CallerOf != nil {
		known := s.opt.CallerOf(ctx)
		who.Author = cmp.Or(known.Author, who.Author)
		who.Agent = cmp.Or(known.Agent, who.Agent)
		who.Only = cmp.Or(known.Only, who.Only) // a server takes no token of another branch than its own
	}
	name := "unknown"
	if client != nil {
		if n := plainName(client.Name); n != "" {
			name = n
		}
		if v := plainName(client.Version); v != "" {
			name += "/" + v
		}
	}
	who.Agent = cmp.Or(who.Agent, name)
	return who, clientKey{session, name, who.Agent, who.Only}
}

// plainName leaves of a name what can stand in the name of an agent and of a ref.
func plainName(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_':
			return r
		}
		return '-'
	}, s[:min(len(s), maxName)])
	return strings.Trim(s, "-.")
}

const maxName = 60 // bytes of a client's name or version that are kept

// session returns the name of the session that answers for a client are recorded in, "" for none. It
// is started at the first answer, so that a client which only looks at the tools leaves no trace.
// If it cannot be started the answer is given all the same, unless the session pins the commit.
func (s *Server) session(ctx context.Context, key clientKey, who operation.Caller) (string, error) {
	rec := s.recording(ctx, key)
	if rec == nil {
		return "", nil
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if rec.name != "" || rec.ended {
		return rec.name, nil
	}
	// After an error the next answer tries again: a repository or an author may be there by then.
	err := s.start(ctx, rec, key, who)
	switch {
	case err == nil || s.opt.Record == RecordPin:
		return rec.name, err
	case !rec.told:
		rec.told = true
		s.log.Warn("session not recorded", "client", key.name, "error", err)
	}
	return "", nil
}

// recording returns where the answers for a client are recorded, nil for nowhere.
func (s *Server) recording(ctx context.Context, key clientKey) *recording {
	if s.opt.Record == RecordNone {
		return nil
	}
	now := s.opt.Now()
	s.mu.Lock()
	rec := s.recordings[key]
	var gone map[clientKey]*recording
	if rec == nil {
		if gone = s.abandoned(now); len(s.recordings) < maxRecordings {
			rec = &recording{}
			s.recordings[key] = rec
		}
	}
	if rec != nil {
		rec.used = now
	}
	s.mu.Unlock()
	s.end(ctx, gone)
	return rec
}

// abandoned removes the recordings of clients whose protocol session ended, or that were silent for long.
func (s *Server) abandoned(now time.Time) map[clientKey]*recording {
	open := map[string]bool{}
	for session := range s.sdk.Sessions() {
		open[session.ID()] = true
	}
	gone := map[clientKey]*recording{}
	for key, rec := range s.recordings {
		if key.session != "" && !open[key.session] || key.session == "" && now.Sub(rec.used) > idle {
			gone[key] = rec
			delete(s.recordings, key)
		}
	}
	return gone
}

// start starts the session of a client. Its name is the client and the time, which a second process
// cannot have had in the same microsecond but by chance; then it is told so and nothing is recorded.
func (s *Server) start(ctx context.Context, rec *recording, key clientKey, who operation.Caller) error {
	op, err := s.operation("session_start")
	if err != nil {
		return err
	}
	client, _, _ := strings.Cut(key.name, "/")
	name := fmt.Sprintf("%s-%s", client, s.opt.Now().UTC().Format(sessionTime))
	ask := operation.Call{Operation: op, Args: map[string]json.RawMessage{}, Caller: who}
	setWord(&ask, 1, encode(name))
	if s.opt.Record == RecordFollow {
		set(&ask, "follow", json.RawMessage("true"))
	}
	answer, err := s.one(ctx, ask)
	if err != nil {
		return err
	}
	rec.name, rec.who = name, who
	if s.opt.Record == RecordPin {
		rec.commit = answer.Find("commit").Word()
	}
	return nil
}

const sessionTime = "20060102T150405.000000Z"

// pinned returns the commit that reads of a client are of where they name none, "" for the newest.
func (s *Server) pinned(ctx context.Context, key clientKey, who operation.Caller) (string, error) {
	if s.opt.Record != RecordPin {
		return "", nil
	}
	if _, err := s.session(ctx, key, who); err != nil {
		return "", err
	}
	rec := s.recording(ctx, key)
	if rec == nil {
		return "", nil
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	return rec.commit, nil
}

// endSessions ends what was started, so that nothing is added to it any more.
func (s *Server) endSessions(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	s.mu.Lock()
	all := s.recordings
	s.recordings = map[clientKey]*recording{}
	s.mu.Unlock()
	s.end(ctx, all)
}

func (s *Server) end(ctx context.Context, all map[clientKey]*recording) {
	op, err := s.operation("session_end")
	if err != nil {
		return
	}
	for _, rec := range all {
		rec.mu.Lock()
		rec.ended = true
		if rec.name != "" {
			ask := operation.Call{Operation: op, Args: map[string]json.RawMessage{}, Caller: rec.who}
			setWord(&ask, 1, encode(rec.name))
			if _, err := s.do(ctx, ask); err != nil {
				s.log.Warn("session not ended", "session", rec.name, "error", err)
			}
			rec.name = ""
		}
		rec.mu.Unlock()
	}
}

// endTime is how long ending the sessions may take: the client is gone.
const endTime = 2 * time.Second

// Actions of the tool session.
var (
	sessionReads  = []string{"current", "list", "log"}
	sessionWrites = []string{"start", "end", "advance"}
)

func session(ctx context.Context, c *call, ask operation.Call) (*document, error) {
	action, name := c.args.text("action"), c.args.text("name")
	if action == "current" || name == "" && slices.Contains([]string{"log", "end", "advance"}, action) {
		current := ""
		if rec := c.recording(ctx, c.client); rec != nil {
			rec.mu.Lock()
			current = rec.name
			rec.mu.Unlock()
		}
		if action == "current" {
			return &document{head: []member{{Name: "session", Value: operation.TextValue(current)}}, ours: true}, nil
		}
		if name = current; name == "" {
			return nil, invalid(`argument "name" is missing: nothing was recorded for this client yet`,
				`action "list" names the sessions there are`)
		}
	}
	if action == "start" && name == "" {
		return nil, invalid(`argument "name" is missing`, "a name for the new session")
	}
	op, err := c.operation("session_" + action)
	if err != nil {
		return nil, err
	}
	ask = c.ask(op)
	if name != "" && action != "list" {
		setWord(&ask, 1, encode(name))
	}
	return c.read(ctx, ask, c.tool.fields)
}

// The protocol calls the folders that a client has open its roots. Version 2026-07-28 deprecates them, and clients
// have nothing else yet to say which project a server is for that they start in a directory of their own.

const (
	// DefaultFoldersWait is how long a client of an older protocol has to say which folders it has open.
	DefaultFoldersWait = 5 * time.Second
	// maxFolders is how many folders are looked at, and maxFolderURI the longest address of one.
	maxFolders   = 64
	maxFolderURI = 4096
	// rootsKey names what such an answer asks for.
	rootsKey = "mnem/roots"
)

// folders records whether ServerOptions.Folders got the client's open folders, and whether there were any.
type folders struct {
	mu          sync.Mutex
	told, named bool
}

type asker interface {
	ClientCapabilities() *sdk.ClientCapabilities
}

// locate passes the client's open folders to ServerOptions.Folders, before the first request that needs the memory and
// after each change. It returns a request that the answer must make of the client, nil for none.
// A client that has no roots, or fails to name them, has none open; one that named some before is asked again.
func (s *Server) locate(
	ctx context.Context, session *sdk.ServerSession, req asker, answers sdk.InputResponseMap,
) sdk.InputRequestMap {
	if s.opt.Folders == nil {
		return nil
	}
	s.open.mu.Lock()
	defer s.open.mu.Unlock()
	if s.open.told {
		return nil
	}
	caps := req.ClientCapabilities()
	if caps == nil || caps.RootsV2 == nil {
		s.tell(nil)
		return nil
	}
	if answer, ok := answers[rootsKey].(*sdk.ListRootsResult); ok {
		s.tell(answer.Roots)
		return nil
	}
	if p := session.InitializeParams(); p == nil || p.ProtocolVersion >= stateless { // a server asks by its answer
		return sdk.InputRequestMap{rootsKey: &sdk.ListRootsParams{}}
	}
	asked, cancel := context.WithTimeout(ctx, cmp.Or(s.opt.FoldersWait, DefaultFoldersWait))
	defer cancel()
	answer, err := session.ListRoots(asked, nil)
	switch {
	case err == nil:
		s.tell(answer.Roots)
	case ctx.Err() == nil: // else no request waits for the answer, and the next one asks again
		s.log.Warn("the client does not say which folders it has open", "error", err)
		s.tell(nil)
		s.open.told = !s.open.named
	}
	return nil
}

func (s *Server) tell(roots []*sdk.Root) {
	var list []string
	for _, r := range roots[:min(len(roots), maxFolders)] {
		if r != nil {
			if dir := folderOf(r.URI); dir != "" {
				list = append(list, dir)
			}
		}
	}
	s.open.told, s.open.named = true, s.open.named || len(list) > 0
	s.opt.Folders(list)
}

func (s *Server) moved(context.Context, *sdk.RootsListChangedRequest) {
	s.open.mu.Lock()
	defer s.open.mu.Unlock()
	s.open.told = false
}

// folderOf returns the path that a root names, "" for none on this machine.
func folderOf(uri string) string {
	if len(uri) > maxFolderURI {
		return ""
	}
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" ||
		u.RawQuery != "" || u.Fragment != "" { // of a name that was not encoded, whose beginning is another folder
		return ""
	}
	path := u.Path
	if runtime.GOOS == "windows" { // /C:/project
		if path = strings.TrimPrefix(path, "/"); strings.HasPrefix(path, "/") {
			return "" // another machine
		}
	}
	if path = filepath.FromSlash(path); !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return ""
	}
	return filepath.Clean(path)
}
