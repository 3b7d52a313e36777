package serve

import (
	"net/http"
	pathpkg "path"
	"strings"
	"time"

	"github.com/mnem-project/mnem/internal/verb/operation"
)

const (
	// maxNamed is how many bytes and maxParts of how many parts the name of a repository may have in a path.
	maxNamed = 255
	maxParts = 8
)

// Named is one of several repositories of a server.
type Named struct {
	Server *Server // that Sub made
	Done   func()  // ends its use
}

// Sub returns a server for one of several repositories, the one of cfg.Name. It shares with s the room for bodies, the
// slots, the stop, and the cache of known names and tokens; it has its own callers, rates, kept answers and metrics. It
// ignores cfg.Under. Call Drop when it is no longer used.
func (s *Server) Sub(cfg Config) *Server {
	cfg.Limits, cfg.Under = s.cfg.Limits, nil
	sub := New(cfg)
	sub.ids, sub.bodies, sub.slots, sub.watchers = s.ids, s.bodies, s.slots, s.watchers
	sub.met, sub.stop, sub.broken = s.met, s.stop, s.broken
	s.subs.Store(sub, nil)
	return sub
}

// Drop forgets what Sub returned.
func (s *Server) Drop(sub *Server) { s.subs.Delete(sub) }

// splitName takes the name of a repository off a path. It has letters, digits, "-", "_" and "." in parts that begin
// with none of the last two.
func splitName(path string) (name, rest string, ok bool) {
	at := strings.Index(path, "/v1/")
	for _, file := range []string{"/openapi.json", "/metrics"} {
		if at < 0 && strings.HasSuffix(path, file) {
			at = len(path) - len(file)
		}
	}
	if at < 2 || at > maxNamed {
		return "", "", false
	}
	name = path[1:at]
	if rest = path[at:]; pathpkg.Clean(rest) != rest { // net/http would redirect it if the repository exists
		return "", "", false
	}
	parts := strings.Split(name, "/")
	for _, part := range parts {
		if part == "" || part[0] == '.' || part[0] == '-' || strings.Trim(part, foreignID) != "" {
			return "", "", false
		}
	}
	return name, rest, len(parts) <= maxParts
}

// under answers a request for one of several repositories, and reports whether it was one.
func (s *Server) under(w http.ResponseWriter, r *http.Request) bool {
	if s.cfg.Under == nil {
		return false
	}
	name, rest, ok := splitName(r.URL.Path)
	if !ok {
		return false
	}
	if text, p := bearer(r); s.cfg.NeedToken && text == "" { // which repositories there are is not for everybody
		if p == nil {
			p = unauthorized(noToken)
		}
		s.refuse(w, r, p)
		return true
	}
	var there *Named
	looked, err := s.met.look(r, name, func() (_ bool, err error) {
		there, err = s.cfg.Under(name)
		return there != nil, err
	})
	switch {
	case !looked:
		s.refuse(w, r, tooMany(time.Second))
	case err != nil:
		s.cfg.Log.Error("a repository cannot be opened", "name", name, "cause", err)
		s.refuse(w, r, failed(operation.Busy, "the repository cannot be opened now")) // it can be asked for again
	case there == nil && s.cfg.NeedToken:
		s.refuse(w, r, invalidToken())
	case there == nil:
		s.refuse(w, r, notFound("no repository %q here", brief(name)))
	default:
		defer there.Done()
		exchangeOf(r).of = there.Server
		at := r.Clone(r.Context())
		at.URL.Path, at.URL.RawPath = rest, ""
		there.Server.mux.ServeHTTP(w, at)
	}
	return true
}
