package serve

import (
	"context"
	"net/http"
	"net/netip"
	pathpkg "path"
	"strings"
	"sync"
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

const (
	// maxMet is how many names of repositories and tokens a server remembers, and as many that it met before those.
	maxMet = 10_000
	// maxLooks is how many unknown names and tokens are looked up at the same time, and maxLooksOf those of one
	// address: a client that guesses does not load the database further, and leaves slots for others.
	maxLooks   = 8
	maxLooksOf = 4
	// lookWait is how long a request waits until it is looked up.
	lookWait = 5 * time.Second
	// subnetOf6 is how many bits of an IPv6 address count: a client usually has the whole subnet.
	subnetOf6 = 64
)

// met caches the names and tokens found, of all repositories of a server. Cached ones are looked up immediately; others
// wait in the order of arrival, so that no request is refused because other clients ask for names that do not exist.
type met struct {
	mu       sync.Mutex
	all, old map[string]bool // names, and hashes of tokens with the names of their repositories
	free     chan struct{}
	lines    map[string]*line // of addresses that look something up
}

type line struct {
	free  chan struct{}
	users int
}

func newMet() *met {
	return &met{all: make(map[string]bool), free: make(chan struct{}, maxLooks), lines: make(map[string]*line)}
}

// look calls find, which reports whether the name exists, and reports whether it got a slot in time.
func (m *met) look(r *http.Request, name string, find func() (bool, error)) (looked bool, err error) {
	m.mu.Lock()
	known := m.all[name] || m.old[name]
	m.mu.Unlock()
	if !known {
		ctx, cancel := context.WithTimeout(r.Context(), lookWait)
		defer cancel()
		end, ok := m.enter(ctx, addressOf(r))
		if !ok {
			return false, nil
		}
		defer end()
	}
	found, err := find()
	if err != nil {
		return true, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case !found:
		delete(m.all, name)
		delete(m.old, name)
	case !m.all[name]:
		if len(m.all) >= maxMet {
			m.all, m.old = make(map[string]bool), m.all
		}
		m.all[name] = true
	}
	return true, nil
}

// enter waits for a turn of an address until the context ends, and reports whether there was one. end ends it.
func (m *met) enter(ctx context.Context, from string) (end func(), ok bool) {
	m.mu.Lock()
	l := m.lines[from]
	if l == nil {
		l = &line{free: make(chan struct{}, maxLooksOf)}
		m.lines[from] = l
	}
	l.users++
	m.mu.Unlock()
	leave := func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(m.lines, from)
		}
	}
	select {
	case l.free <- struct{}{}:
	case <-ctx.Done():
		leave()
		return nil, false
	}
	select {
	case m.free <- struct{}{}:
	case <-ctx.Done():
		<-l.free
		leave()
		return nil, false
	}
	return func() { <-m.free; <-l.free; leave() }, true
}

// addressOf returns the address that a request came from, of IPv6 the subnet.
func addressOf(r *http.Request) string {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	addr := at.Addr().Unmap().WithZone("")
	if addr.Is4() {
		return addr.String()
	}
	subnet, _ := addr.Prefix(subnetOf6) // an IPv6 address has as many bits
	return subnet.String()
}
