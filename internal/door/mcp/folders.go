package mcp

//lint:file-ignore SA1019 clients have nothing else yet to name their folders

import (
	"cmp"
	"context"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

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
