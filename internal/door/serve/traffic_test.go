package serve

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// TestQuietServerEnds waits for a server without requests to end, which a running request prevents.
func TestQuietServerEnds(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	f := newFixture(t, func(cfg *Config) { cfg.Limits.Quiet = 40 * time.Millisecond })
	f.run = func(context.Context, operation.Call, io.Writer) (operation.Outcome, error) {
		close(begun)
		<-release
		return operation.OK, nil
	}
	ended := make(chan error, 1)
	go func() {
		res, err := http.Get(f.url + "/v1/get?node=a")
		if err == nil {
			err = res.Body.Close()
		}
		ended <- err
	}()
	<-begun
	time.Sleep(200 * time.Millisecond)
	f.want(f.ask("GET", "/healthz", ""), 200, "")
	must.Require(t, !f.srv.stopping.Load(), "the server ended during a request")
	close(release)
	must.OK(t, <-ended)
	for !f.srv.stopping.Load() {
		time.Sleep(5 * time.Millisecond) // go test bounds it
	}
}

// TestInstance checks that answers name the process, refusals too.
func TestInstance(t *testing.T) {
	f := newFixture(t, nil)
	first := f.ask("GET", "/healthz", "").Header.Get("Mnem-Instance")
	second := f.ask("GET", "/nothing", "").Header.Get("Mnem-Instance")
	must.True(t, len(first) == 2*idBytes && first == second, "%q, then %q", first, second)
	if other := New(f.srv.cfg); other.instance == first {
		t.Error("another server has the same name")
	}
}

// TestKeysAreLoggedAsHashes checks the form of an Idempotency-Key that callers pass on.
func TestKeysAreLoggedAsHashes(t *testing.T) {
	f := newFixture(t, nil)
	f.ask("POST", "/v1/commit", `{"message":"m"}`, asJSONType, "Idempotency-Key: k1")
	f.ask("POST", "/v1/commit", `{"message":"m"}`, asJSONType)
	if got := []string{f.as[0].Key, f.as[1].Key}; got[0] != "6ab9f1eb8f7d3388" || got[1] != "" {
		t.Errorf("keys %q", got)
	}
}
