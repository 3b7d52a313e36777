package serve

import (
	"bytes"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/mnem-project/mnem/web"
)

// guard refuses requests that a page in somebody's browser sends here: those whose Host is a name
// that is not this server's, as after DNS rebinding, and those from a foreign Origin.
func (s *Server) guard(w http.ResponseWriter, r *http.Request) *problem {
	if !s.knowsHost(r.Host) {
		p := forbidden("the Host %q is not this server's", brief(r.Host))
		p.Hint = "ask by its address, or start it with --host NAME"
		return p
	}
	w.Header().Add("Vary", "Origin")
	named := false
	for _, origin := range r.Header.Values("Origin") {
		if p := s.knowsOrigin(origin, r.Host); p != nil {
			return p
		}
		named = named || origin != ""
	}
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if !named && !slices.Contains([]string{"", "none", "same-origin"}, site) && !s.opensView(r) {
			return forbidden("a page of another origin asked")
		}
	}
	if p := once(r.Header); p != nil {
		return p
	}
	if origin := r.Header.Get("Origin"); slices.Contains(s.cfg.Origins, origin) {
		allowOrigin(w.Header(), origin)
	}
	return nil
}

func (s *Server) knowsOrigin(origin, host string) *problem {
	if origin == "" || slices.Contains(s.cfg.Origins, origin) ||
		strings.EqualFold(origin, "http://"+host) || strings.EqualFold(origin, "https://"+host) {
		return nil
	}
	p := forbidden("the Origin %q is not allowed", brief(origin))
	p.Hint = "start the server with --origin " + brief(origin) + " if pages from there may ask"
	return p
}

// singular are the headers with an effect that must have one value, in addition to those that begin with one of
// singularPrefixes. A proxy could read another one of several values.
var (
	singular = []string{
		"Authorization", "Content-Encoding", "Content-Type", "Idempotency-Key", "If-Match", "Last-Event-Id", "Origin",
		"Sec-Fetch-Site", "X-Request-Id",
	}
	singularPrefixes = []string{"Mcp-", "Mnem-"}
)

// once refuses headers that say twice what can be said once, alike or not. net/http sees to Host and
// to the length of the body.
func once(h http.Header) *problem {
	for name, values := range h {
		if len(values) > 1 && (slices.Contains(singular, name) ||
			slices.ContainsFunc(singularPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })) {
			return badRequest("the header %s is given twice", name)
		}
	}
	return nil
}

// allowOrigin lets a page of an origin see the answer.
func allowOrigin(h http.Header, origin string) {
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, If-Match, "+
		"If-None-Match, Idempotency-Key, X-Request-Id, "+strings.Join(callerHeaders, ", "))
	h.Set("Access-Control-Expose-Headers", "ETag, Link, X-Request-Id, Retry-After, Idempotent-Replay")
	h.Set("Access-Control-Max-Age", "600")
}

// knowsHost reports whether a Host is an address or name of this server. An address beyond the
// loopback ones needs no list: no name can be made to mean it, since it is none.
func (s *Server) knowsHost(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if slices.Contains(s.cfg.Hosts, name) || name == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && (addr.IsLoopback() || !s.cfg.Loopback)
}

const maxBrief = 100

func brief(s string) string {
	if len(s) > maxBrief {
		s = s[:maxBrief] + "…"
	}
	return strings.ToValidUTF8(s, "?")
}

// serveView answers the paths of the web view. Its files are the same for everybody and say nothing of
// the repository, so no login is needed to get them.
func (s *Server) serveView() {
	for _, f := range web.Files() {
		path := f.Path
		if path == "/" {
			path = "/{$}"
		}
		s.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if !s.methods(w, r, http.MethodGet, http.MethodHead) {
				return
			}
			h := w.Header()
			h.Set("Content-Type", f.Media)
			h.Set("Content-Security-Policy", web.Policy)
			h.Set("Cross-Origin-Opener-Policy", "same-origin")
			h.Set("Cross-Origin-Resource-Policy", "same-origin")
			h.Set("Referrer-Policy", "no-referrer")
			h.Set("Etag", f.Tag)
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.Data))
		})
	}
}

// opensView reports whether a browser goes to the web view from elsewhere, by a link or a file that
// 'mnem view' wrote, or to the page on which clients sign in. The page that did it sees nothing of the answer, and no cookie comes with it.
func (s *Server) opensView(r *http.Request) bool {
	h := r.Header
	page := s.cfg.View && r.URL.Path == "/" || s.cfg.OAuth != nil && r.URL.Path == authorizePath
	return page && r.Method == http.MethodGet && len(h.Values("Origin")) == 0 &&
		slices.Equal(h.Values("Sec-Fetch-Mode"), []string{"navigate"}) &&
		slices.Equal(h.Values("Sec-Fetch-Dest"), []string{"document"})
}
