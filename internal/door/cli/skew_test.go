package cli

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/owner"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/internal/verb/peers"
)

// TestOtherVersionTakesOver has an owner be followed by one of another version, which refuses at
// once: who keeps a place asks again now and then, and who watches is told.
func TestOtherVersionTakesOver(t *testing.T) {
	var asked atomic.Int64 // each time that the repository is tried the clock is read
	app := &line.App{
		Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Dir: t.TempDir(),
		User: "Tess", PID: os.Getpid(), Rand: rand.NewChaCha8([32]byte{}),
		Getenv: func(string) string { return "" },
		Now:    func() time.Time { asked.Add(1); return time.Now() },
	}
	must.Equal(t, Run(t.Context(), app, []string{"init"}), 0, "init: exit code")
	r := must.Get(care.Open(app.Dir, core.Options{}))(t)
	defer func() { _ = r.Close() }()
	first, err := owner.NewServer(filepath.Join(app.Dir, core.DirName), os.TempDir(), "v1",
		func(ctx context.Context, _ *owner.Verb) owner.VerbResult {
			<-ctx.Done()
			return owner.VerbResult{Failed: true}
		})
	if err == nil {
		err = r.SetOwner(core.Owner{PID: os.Getpid(), Protocol: owner.Protocol, Socket: first.Socket()})
	}
	must.OK(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	holder := peers.NewHolder(app.Dir, core.Options{Wait: time.Second}, peers.HostOptions{Now: app.Now}, nil)
	found, kept, watched := make(chan bool, 10), make(chan error, 1), make(chan int, 1)
	go func() { kept <- holder.Keep(ctx, func(_ string, own bool) { found <- own }) }()
	if <-found {
		t.Fatal("it has what another process has")
	}
	go func() { watched <- Run(ctx, app, []string{"op", "watch"}) }()
	time.Sleep(100 * time.Millisecond) // until it is at the owner; sooner it is told the same
	must.OK(t, first.Close(0))
	defer alien(t, r)()
	select {
	case code := <-watched:
		must.Equal(t, code, 6, "watch: exit code")
	case <-time.After(10 * time.Second):
		t.Fatal("the watch is not told that it cannot go on")
	}
	before := asked.Load()
	time.Sleep(500 * time.Millisecond)
	if n := asked.Load() - before; n < 1 || n > 20 {
		t.Errorf("asked %d times in half a second", n)
	}
	cancel()
	if err := <-kept; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// alien listens for other processes and greets them in a protocol of its own.
func alien(t *testing.T, r *core.Repo) (stop func()) {
	t.Helper()
	room := must.Get(os.MkdirTemp("", "m"))(t)
	socket := filepath.Join(room, "s")
	l, err := net.Listen("unix", socket)
	if err == nil {
		err = r.SetOwner(core.Owner{PID: os.Getpid(), Protocol: 99, Socket: socket})
	}
	must.OK(t, err)
	go func() { //nolint:gosec // until the listener is closed
		_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"build":"v9.9","oldest":99,"newest":99}`)
		}))
	}()
	return func() {
		_ = l.Close()
		_ = os.RemoveAll(room)
	}
}

// TestOtherWire greets an owner that does not speak HTTP and whose owner file names another protocol: the message says that
// the versions differ, without a wait.
func TestOtherWire(t *testing.T) {
	w, _ := remoteWorld(t)
	r := must.Get(care.Open(w.Dir, core.Options{}))(t)
	defer func() { _ = r.Close() }()
	room := must.Get(os.MkdirTemp("", "m"))(t)
	defer func() { _ = os.RemoveAll(room) }()
	socket := filepath.Join(room, "s")
	l, err := net.Listen("unix", socket)
	if err == nil {
		err = r.SetOwner(core.Owner{PID: os.Getpid(), Protocol: 7, Socket: socket})
	}
	must.OK(t, err)
	defer func() { _ = l.Close() }()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 64))
			_ = c.Close()
		}
	}()
	_, err = peers.Dial(w.Dir, 5*time.Second)
	if skew := (*owner.SkewError)(nil); !errors.As(err, &skew) || skew.Owner.Newest != 7 {
		t.Errorf("%v", err)
	}
}

// TestUnknownWrites has an owner end in the middle of a write for a caller: the caller must learn
// that the write may have been made.
func TestUnknownWrites(t *testing.T) {
	for _, tt := range []struct {
		writes     bool
		name, args string
	}{
		{true, "remember", `{"text":"Ada leads infra"}`}, {false, "remember", `{"text":"Ada leads infra"}`},
		{true, "branch", `{"name":"draft"}`}, {false, "branch", `{"name":"draft"}`},
	} {
		writes := tt.writes
		w, run := remoteWorld(t)
		r := must.Get(care.Open(w.Dir, core.Options{}))(t)
		began := make(chan struct{})
		begin := func(ctx context.Context, out io.Writer, willWrite func() error) {
			if writes {
				_ = willWrite()
			} else {
				_, _ = io.WriteString(out, "{}\n")
			}
			close(began)
			<-ctx.Done()
		}
		host, err := owner.NewServer(filepath.Join(w.Dir, core.DirName), os.TempDir(), "v1",
			func(ctx context.Context, v *owner.Verb) owner.VerbResult {
				begin(ctx, v.Answers, v.Writes)
				return owner.VerbResult{Failed: true}
			})
		if err == nil {
			err = r.SetOwner(core.Owner{PID: os.Getpid(), Protocol: owner.Protocol, Socket: host.Socket()})
		}
		must.OK(t, err)
		ended := make(chan error, 1)
		go func() { <-began; ended <- host.Close(0) }()
		_, failed := ask(t, run, operation.Busy, call(t, tt.name, tt.args))
		must.True(t, failed != nil && failed.Unknown == writes, "%s, writes %t: %+v", tt.name, writes, failed)
		must.OK(t, errors.Join(<-ended, r.Close()))
	}
}
