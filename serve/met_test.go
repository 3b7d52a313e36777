package serve

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestStrangers looks for tokens and for repositories that are not there, more often than is looked up, while one of
// each that is there is answered.
func TestStrangers(t *testing.T) {
	f, k := withTokens(t, nil)
	now := time.Now()
	f.srv.rates.now = func() time.Time { return now }
	looked, of := 0, f.srv.cfg.Token
	f.srv.cfg.Token = func(id string) (*Token, error) {
		looked++
		return of(id)
	}
	mine := k.make(t, "mine", "read", nil)
	f.want(f.ask("GET", "/v1/get?node=a", "", mine), 200, "")
	looked = 0
	other, text, err := NewToken(ones{}, "none", "read", now)
	if err != nil || other.ID == "" {
		t.Fatal(err)
	}
	for range 5 * unknownRate {
		f.ask("GET", "/v1/get?node=a", "", "Authorization: Bearer "+text)
	}
	if looked != 2*unknownRate {
		t.Errorf("%d tokens were looked up, want %d", looked, 2*unknownRate)
	}
	f.want(f.ask("GET", "/v1/get?node=a", "", "Authorization: Bearer "+text), 429, codeTooMany)
	f.want(f.ask("GET", "/v1/get?node=a", "", mine), 200, "")
	f.srv.cfg.Token = func(string) (*Token, error) { return nil, nil } // it was revoked
	f.want(f.ask("GET", "/v1/get?node=a", "", mine), 429, codeTooMany)

	for _, need := range []bool{true, false} {
		asked := 0
		var top *Server
		cfg := f.srv.cfg
		cfg.NeedToken, cfg.Now, cfg.Loopback = need, func() time.Time { return now }, false
		cfg.Under = func(name string) (*Named, error) {
			asked++
			if name != "there" {
				return nil, nil
			}
			return &Named{top.Sub(cfg), func() {}}, nil
		}
		top = New(cfg)
		get := func(name string) int {
			w := httptest.NewRecorder()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/"+name+"/v1/get?node=a", nil)
			r.Host = "localhost"
			top.ServeHTTP(w, r)
			return w.Code
		}
		get("there")
		asked = 0
		for n := range 5 * unknownRate {
			get(fmt.Sprint("none", n))
		}
		if asked != 2*unknownRate {
			t.Errorf("%d names were looked up, want %d", asked, 2*unknownRate)
		}
		if got := get("none"); got != 429 {
			t.Errorf("status %d, want 429", got)
		}
		if got := get("there"); got == 429 || got == 404 {
			t.Errorf("status %d of the one that is there", got)
		}
	}
	m := met{}
	r := newRates(1, time.Now)
	for n := range maxMet + 5 {
		_, _ = m.look(&r, fmt.Sprint(n), func() (bool, error) { return true, nil })
	}
	if len(m.all) > maxMet {
		t.Errorf("%d are remembered", len(m.all))
	}
}

type ones struct{}

func (ones) Read(b []byte) (int, error) {
	b[0] = 8
	return len(b), nil
}
