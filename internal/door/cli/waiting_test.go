package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/peers"
)

// waiting is a repository whose commands wait for models, pipes and servers. Whenever one does, another command uses the
// repository, without waiting for it.
type waiting struct {
	*world
	meanwhile func()
	waits     int
	ran, most int    // how often another command ran, and may: a few times are enough of each command
	patience  string // of the other command
}

func newWaiting(t *testing.T, held bool) *waiting {
	t.Helper()
	world, models := modelWorld(t, 4)
	w := &waiting{world: world, most: 3, patience: "0s"}
	var mu sync.Mutex
	w.meanwhile = func() {
		mu.Lock()
		defer mu.Unlock()
		w.waits++
		if w.ran++; w.ran > w.most {
			return
		}
		other := *w.App
		var out strings.Builder
		other.Stdout, other.Stderr = &out, &out
		other.Stdin = strings.NewReader(`{"node":{"key":"meanwhile","type":"N","summary":"` + strings.Repeat("x", w.ran) + `"}}`)
		if code := Run(t.Context(), &other, []string{"commit", "-m", "meanwhile", "--sign=false", "-", "--wait", w.patience}); code != 0 {
			t.Errorf("another command: exit code %d: %s", code, &out)
		}
	}
	models.Asked = func(int) { w.meanwhile() }
	nowhere := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, _ *http.Request) {
		w.meanwhile()
		http.Error(to, "out of order", http.StatusBadRequest)
	}))
	t.Cleanup(nowhere.Close)
	w.env["CO_API_KEY"], w.env["COHERE_API_KEY"] = "sesame", "sesame"
	w.run(0, "remote", "add", "origin", nowhere.URL)
	if held {
		holder := *w.App
		holder.Getenv = func(string) string { return "" } // it has no model to ask
		ready, done := make(chan struct{}), make(chan struct{})
		ended := make(chan error, 1)
		go func() {
			ended <- Live(&holder, func(h *peers.Holder) {
				u, _, err := h.Reach(t.Context())
				if err != nil {
					t.Error(err)
				} else {
					u.Done(nil)
				}
				close(ready)
				<-done
			})
		}()
		<-ready
		t.Cleanup(func() {
			close(done)
			must.OK(t, <-ended)
		})
	}
	return w
}

// slowly is standard input that somebody else is still writing.
type slowly struct {
	w    *waiting
	rest io.Reader
}

func (s *slowly) Read(p []byte) (int, error) {
	s.w.meanwhile()
	return s.rest.Read(p[:min(len(p), 40)])
}

// TestNothingWaitsWithTheRepository runs commands that wait for a model, a pipe or a server, while another process has
// the repository open or none has.
func TestNothingWaitsWithTheRepository(t *testing.T) {
	for _, tt := range []struct {
		stdin string
		fails bool
		args  []string
	}{
		{args: []string{"retrieve", "fact", "--embed=ollama:m"}},
		{args: []string{"retrieve", "fact", "--set", "rerank=cohere:m"}},
		{args: []string{"retrieve", "fact", "--set", "rewrite=multi", "--set", "rewrite-model=ollama:m"}},
		{args: []string{"recall", "fact", "--set", "rerank=cohere:m", "--receipt"}},
		{stdin: "{\"text\":\"fact\"}\n{\"text\":\"fact 1\"}\n", args: []string{"retrieve", "--batch", "-", "--set", "rerank=cohere:m"}},
		{stdin: "{\"text\":\"fact\"}\n{\"text\":\"fact 1\"}\n", args: []string{"recall", "--batch", "-"}},
		{args: []string{"remember", "the port is 5432", "--embed=ollama:m"}},
		{stdin: "the port of the server is 5433", args: []string{"remember", "-"}},
		{stdin: "{\"text\":\"the port of the server is 5434\"}\n", args: []string{"remember", "--batch", "-"}},
		{args: []string{"embed", "--model", "ollama:m"}},
		{args: []string{"embed", "cues", "--model=ollama:m"}},
		{args: []string{"map", "--rebuild", "--model=ollama:m"}},
		{stdin: `{"node":{"key":"late","type":"N"}}`, args: []string{"commit", "-m", "x", "-"}},
		{stdin: "# Title\n\nSome text that is long enough to be kept as it is.\n", args: []string{"ingest", "-", "--name", "a.md"}},
		{stdin: "fact number that is nowhere", fails: true, args: []string{"purge", "-", "--dry-run"}},
		{stdin: "no archive", fails: true, args: []string{"import", "-"}},
		{fails: true, args: []string{"push"}},
		{fails: true, args: []string{"fetch"}},
		{fails: true, args: []string{"sync"}},
	} {
		for _, held := range []bool{false, true} {
			w := newWaiting(t, held)
			if tt.stdin != "" {
				w.Stdin = &slowly{w, strings.NewReader(tt.stdin)}
			}
			w.out.Reset()
			w.err.Reset()
			if code := Run(w.ctx, w.App, w.words(tt.args)); (code != 0) != tt.fails || w.waits == 0 {
				t.Errorf("mnem %q, held %t: exit code %d after %d waits\n%s%s", tt.args, held, code, w.waits, &w.out, &w.err)
			}
		}
	}
}

// stalled is a reader of results that takes them only when another command has used the repository.
type stalled struct {
	w    *waiting
	once sync.Once
	got  strings.Builder
}

func (s *stalled) Write(p []byte) (int, error) {
	s.once.Do(s.w.meanwhile)
	return s.got.Write(p)
}

// TestNothingWaitsForAReader has results be read only when another command has used the repository, while another process
// has that open or none has. They are more than is kept in memory.
func TestNothingWaitsForAReader(t *testing.T) {
	for _, args := range [][]string{{"export", "-o", "-"}, {"export", "--format", "jsonl", "-o", "-"}, {"ls", "--json", "--limit", "100"}} {
		for _, held := range []bool{false, true} {
			w := newWaiting(t, held)
			w.most, w.patience = 1, "1m"
			for i := range 4 {
				w.Stdin = strings.NewReader(fmt.Sprintf(`{"node":{"key":"big%d","type":"N","content":%q}}`, i,
					strings.Repeat(fmt.Sprint("word", i, " "), 100_000)))
				w.run(0, "commit", "-m", "x", "-")
			}
			want, _ := w.run(0, args...)
			to := &stalled{w: w}
			one := *w.App
			one.Stdout = to
			if code := Run(w.ctx, &one, w.words(args)); code != 0 || w.waits != 1 || to.got.String() != want {
				t.Errorf("mnem %q, held %t: exit code %d after %d waits, %d bytes of %d\n%s", args, held, code, w.waits,
					to.got.Len(), len(want), &w.err)
			}
		}
	}
}

// TestNothingWaitsForAKey signs commits with a key that answers only when another command has used the repository. What
// that committed makes the record another one, which is signed too.
func TestNothingWaitsForAKey(t *testing.T) {
	for _, tt := range []struct {
		stdin string
		args  []string
	}{
		{stdin: `{"node":{"key":"late","type":"N"}}`, args: []string{"commit", "-m", "x", "-"}},
		{args: []string{"remember", "the port is 5432"}},
		{args: []string{"pin", "n1"}},
		{args: []string{"embed", "--model", "ollama:m"}},
		{stdin: "# Title\n\nSome text that is long enough to be kept as it is.\n", args: []string{"ingest", "-", "--name", "a.md"}},
		{args: []string{"purge", "n2", "--yes"}},
		{args: []string{"merge", "--no-ff", "side"}},
	} {
		for _, held := range []bool{false, true} {
			w := newWaiting(t, held)
			w.env["MNEM_KEYS"], w.env["MNEM_SIGN"] = "keys", "true"
			w.run(0, "key", "new", "work")
			w.run(0, "branch", "side")
			w.Stdin = strings.NewReader(`{"node":{"key":"of-side","type":"N"}}`)
			w.run(0, "commit", "-m", "x", "--branch", "side", "--sign=false", "-")
			w.most, w.patience = 0, "1m"
			records := 0
			w.App.Signer = func(key commit.SignFunc) commit.SignFunc {
				return func(record []byte) ([]byte, error) {
					if records++; records == 1 {
						w.most = w.ran + 1
					}
					w.meanwhile()
					return key(record)
				}
			}
			w.Stdin = strings.NewReader(tt.stdin)
			w.run(0, tt.args...)
			if records < 2 {
				t.Errorf("mnem %q, held %t: %d records were signed, and each is another one", tt.args, held, records)
			}
			w.App.Signer = nil
			out, _ := w.run(0, "log", "--signatures", "-n", "1")
			if !strings.Contains(out, "sign   signed") && !strings.Contains(out, "sign   untrusted") {
				t.Errorf("mnem %q, held %t: %s", tt.args, held, out)
			}
		}
	}
}

// TestHangingKey has a key that never answers: the command can be interrupted, and nothing is written.
func TestHangingKey(t *testing.T) {
	for _, held := range []bool{false, true} {
		w := newWaiting(t, held)
		w.env["MNEM_KEYS"] = "keys"
		w.run(0, "key", "new", "work")
		asked, hangs := make(chan struct{}), make(chan struct{})
		w.App.Signer = func(commit.SignFunc) commit.SignFunc {
			return func([]byte) ([]byte, error) { close(asked); <-hangs; return nil, io.EOF }
		}
		ctx, cancel := context.WithCancel(w.ctx)
		before, _ := w.run(0, "op", "log", "--json", "-n", "1")
		ended := make(chan int)
		one := *w.App
		one.Stdout, one.Stderr = io.Discard, io.Discard
		go func() { ended <- Run(ctx, &one, []string{"remember", "the port is 5432", "--sign"}) }()
		<-asked
		if after, _ := w.run(0, "op", "log", "--json", "-n", "1", "--wait", "1m"); after != before {
			t.Errorf("held %t: something was written: %s", held, after)
		}
		cancel()
		must.Equal(t, <-ended, 130, "held ", held, ": exit code")
		close(hangs)
	}
}
