package serve

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// guard refuses requests that a page in somebody's browser sends here: those whose Host is a name
// that is not this server's, as after DNS rebinding, and those from a foreign Origin.
func (s *Server) guard(w http.ResponseWriter, r *http.Request) *problem {
	if !s.knowsHost(r.Host) {
		p := forbidden("the Host %q is not this server's", brief(r.Host))
		p.Hint = "ask by its address, or start it with --host NAME"
		return p
	}
	origin := r.Header.Get("Origin")
	h := w.Header()
	h.Add("Vary", "Origin")
	switch {
	case origin == "":
		switch r.Header.Get("Sec-Fetch-Site") {
		case "", "none", "same-origin":
			return nil
		}
		return forbidden("a page of another origin asked")
	case slices.Contains(s.cfg.Origins, origin):
		allowOrigin(h, origin)
		return nil
	case strings.EqualFold(origin, "http://"+r.Host), strings.EqualFold(origin, "https://"+r.Host):
		return nil
	}
	p := forbidden("the Origin %q is not allowed", brief(origin))
	p.Hint = "start the server with --origin " + brief(origin) + " if pages from there may ask"
	return p
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

// maxBrief is how much of what a client sent an error repeats.
const maxBrief = 100

func brief(s string) string {
	if len(s) > maxBrief {
		s = s[:maxBrief] + "…"
	}
	return strings.ToValidUTF8(s, "?")
}
