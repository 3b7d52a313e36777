package serve

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// askFrom asks a server from an address, and returns the status.
func askFrom(t *testing.T, s *Server, from, path, header string) int {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	r.Host, r.RemoteAddr = "localhost", from
	if name, value, ok := strings.Cut(header, ": "); ok {
		r.Header.Set(name, value)
	}
	s.ServeHTTP(w, r)
	return w.Code
}

const someone, another = "192.0.2.1:1000", "192.0.2.2:1000"

// TestStrangers looks for tokens that are not there, and asks by one that was not met before.
func TestStrangers(t *testing.T) {
	f, k := withTokens(t, nil)
	looked, of := 0, f.srv.cfg.Token
	f.srv.cfg.Token = func(id string) (*Token, error) {
		looked++
		return of(id)
	}
	_, text, err := NewToken(ones{}, "none", "read", time.Now())
	must.OK(t, err)
	for range 200 {
		for _, header := range []string{text, "guess", "mnem_a_b"} {
			if got := askFrom(t, f.srv, someone, "/v1/get?node=a", "Authorization: Bearer "+header); got != 401 {
				t.Fatalf("status %d, want 401", got)
			}
		}
	}
	must.Equal(t, looked, 200, "tokens were looked up, want 200: the rest are none")
	for _, from := range []string{someone, another} {
		mine := k.make(t, "mine", "read", nil)
		if got := askFrom(t, f.srv, from, "/v1/get?node=a", mine); got != 200 {
			t.Errorf("status %d of a token from %s", got, from)
		}
	}
}

// TestStrangersAtOnce has look-ups that take long.
func TestStrangersAtOnce(t *testing.T) {
	f, k := withTokens(t, nil)
	other, text, err := NewToken(ones{}, "none", "read", time.Now())
	must.OK(t, err)
	met := k.make(t, "met", "read", nil)
	f.want(f.ask("GET", "/v1/get?node=a", "", met), 200, "")
	var looks atomic.Int64
	begun, end := make(chan struct{}, 100), make(chan struct{})
	of := f.srv.cfg.Token
	f.srv.cfg.Token = func(id string) (*Token, error) {
		if id == other.ID {
			looks.Add(1)
			begun <- struct{}{}
			<-end
		}
		return of(id)
	}
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if got := askFrom(t, f.srv, someone, "/v1/get?node=a", "Authorization: Bearer "+text); got != 401 {
				t.Errorf("status %d, want 401", got)
			}
		})
	}
	for range maxLooksOf {
		<-begun
	}
	if got := askFrom(t, f.srv, another, "/v1/get?node=a", k.make(t, "mine", "read", nil)); got != 200 {
		t.Errorf("status %d of another address", got)
	}
	if got := askFrom(t, f.srv, someone, "/v1/get?node=a", met); got != 200 {
		t.Errorf("status %d of a token that was met", got)
	}
	must.Equal(t, looks.Load(), maxLooksOf, "are looked up at once")
	r := httptest.NewRequest(http.MethodGet, "/v1/get?node=a", nil)
	r.Host, r.RemoteAddr = "localhost", someone
	r.Header.Set("Authorization", "Bearer "+text)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := httptest.NewRecorder()
	f.srv.ServeHTTP(w, r.WithContext(ctx))
	if w.Code != 429 || w.Header().Get("Retry-After") != "1" {
		t.Errorf("status %d of one that waits no longer", w.Code)
	}
	close(end)
	all.Wait()
	if len(f.srv.met.lines) != 0 || len(f.srv.met.free) != 0 {
		t.Errorf("%d addresses wait, %d look up", len(f.srv.met.lines), len(f.srv.met.free))
	}
}

// TestStrangersNames looks for repositories that are not there. What a repository met outlives its server.
func TestStrangersNames(t *testing.T) {
	f, k := withTokens(t, nil)
	for _, need := range []bool{true, false} {
		var top, sub *Server
		cfg := f.srv.cfg
		cfg.NeedToken, cfg.Loopback, cfg.Name = need, false, "there"
		cfg.Under = func(name string) (*Named, error) {
			if name != "there" {
				return nil, nil
			}
			if sub != nil {
				top.Drop(sub)
			}
			sub = top.Sub(cfg)
			return &Named{sub, func() {}}, nil
		}
		top = New(cfg)
		want, mine := 404, k.make(t, "mine", "read", nil)
		if need {
			want = 401
		}
		for n := range 100 {
			must.Equal(t, askFrom(t, top, someone, fmt.Sprintf("/none%d/v1/get?node=a", n), mine), want, "status")
		}
		for range 2 {
			if got := askFrom(t, top, someone, "/there/v1/get?node=a", mine); got != 200 {
				t.Errorf("status %d of the one that is there", got)
			}
		}
		if n := len(top.met.all); n != 2 || sub.met != top.met {
			t.Errorf("%d are remembered, want the repository and the token", n)
		}
	}
}

// TestNamesAreHidden asks without a token that counts for a repository that is there, and for one that is not.
func TestNamesAreHidden(t *testing.T) {
	f, _ := withTokens(t, nil)
	var top *Server
	looked := 0
	cfg := f.srv.cfg
	cfg.Loopback, cfg.Name = false, "there"
	cfg.Under = func(name string) (*Named, error) {
		if looked++; name != "there" {
			return nil, nil
		}
		return &Named{top.Sub(cfg), func() {}}, nil
	}
	top = New(cfg)
	_, text, err := NewToken(ones{}, "none", "read", time.Now())
	must.OK(t, err)
	for _, path := range []string{
		"/v1/get?node=a", "/v1/none", "/v1/", "/v1/a/b", "/v1/get/", "/v1//get", "/v1/../v1/get", "/openapi.json", "/metrics",
	} {
		for _, header := range []string{"", "Authorization: Basic x", "Authorization: Bearer x", "Authorization: Bearer " + text} {
			there, not := asked(t, top, "/there"+path, header), asked(t, top, "/other"+path, header)
			if there != not || strings.HasPrefix(there, "200") {
				t.Errorf("%s with %q: %s, but %s", path, header, there, not)
			}
			if header == "" && looked > 0 {
				t.Fatalf("%s is looked up without a token", path)
			}
		}
		looked = 0
	}
}

// asked asks a server, and returns the status and the answer without what is of each request.
func asked(t *testing.T, s *Server, path, header string) string {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	r.Host = "localhost"
	r.Header.Set("X-Request-Id", "one")
	if name, value, ok := strings.Cut(header, ": "); ok {
		r.Header.Set(name, value)
	}
	s.ServeHTTP(w, r)
	return strings.NewReplacer("/there", "/NAME", "/other", "/NAME").Replace(fmt.Sprint(w.Code, w.Header(), w.Body))
}

func TestMet(t *testing.T) {
	m := newMet()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	there := func() (bool, error) { return true, nil }
	for n := range 2*maxMet + 5 {
		_, _ = m.look(r, fmt.Sprint(n), there)
	}
	if len(m.all) > maxMet || len(m.old) > maxMet || !m.old[fmt.Sprint(2*maxMet-1)] {
		t.Errorf("%d and %d are remembered", len(m.all), len(m.old))
	}
	_, _ = m.look(r, fmt.Sprint(2*maxMet-1), func() (bool, error) { return false, nil })
	if m.old[fmt.Sprint(2*maxMet-1)] {
		t.Error("one that is not there any more is remembered")
	}
	for from, want := range map[string]string{
		"192.0.2.1:7": "192.0.2.1", "[::ffff:192.0.2.1]:7": "192.0.2.1", "[2001:db8::1:2]:7": "2001:db8::/64",
		"[fe80::1%eth0]:7": "fe80::/64", "@": "@",
	} {
		if r.RemoteAddr = from; addressOf(r) != want {
			t.Errorf("%s is of %s, want %s", from, addressOf(r), want)
		}
	}
}

type ones struct{}

func (ones) Read(b []byte) (int, error) {
	b[0] = 8
	return len(b), nil
}
