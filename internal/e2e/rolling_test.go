//go:build linux

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/pgserver"
)

const (
	rollingServers = 3
	rollingClients = 6
	// rollingStep is how many writes are acknowledged between one thing that happens to servers and the next.
	rollingStep = 12
	rollingDoor = "/team/notes/v1/"
)

// fleet is several servers before one database, and what their clients were told.
type fleet struct {
	t     *testing.T
	at    string // of the database
	dir   string
	addrs []string
	cmds  []*exec.Cmd

	client http.Client
	stop   chan struct{}

	mu      sync.Mutex
	made    map[string]bool // keys whose write was acknowledged, or read back
	counts  map[string]int
	resolve atomic.Int64 // unknown outcomes that reading back resolved
}

// start starts a server and waits until it is ready.
func (f *fleet) start(n int) {
	f.t.Helper()
	dir := filepath.Join(f.dir, fmt.Sprint("machine", n))
	cmd := command(f.t.Context(), f.dir, "serve", "-R", f.at, "--all", "--addr", f.addrs[n], "--limit", "drain=200ms", "--log", "none")
	cmd.Env = append(cmd.Env, "XDG_DATA_HOME="+dir)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	must.OK(f.t, cmd.Start())
	f.cmds[n] = cmd
	for range 600 {
		res, err := f.client.Get("http://" + f.addrs[n] + "/readyz")
		if err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	f.t.Fatalf("server %d is not ready: %s", n, &errs)
}

// end ends a server by a signal and waits for it.
func (f *fleet) end(n int, by syscall.Signal) {
	f.t.Helper()
	must.OK(f.t, f.cmds[n].Process.Signal(by))
	err := f.cmds[n].Wait()
	must.Equal(f.t, err != nil, by == syscall.SIGKILL, "server ", n, " ended by ", by, ": ", err)
}

func (f *fleet) count(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[what]++
}

// ask asks a server, and returns status 0 if the answer did not come; sent is whether the request may have.
func (f *fleet) ask(n int, path, body string) (status int, answer []byte, sent bool) {
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(f.t.Context(), method, "http://"+f.addrs[n]+rollingDoor+path, bytes.NewReader([]byte(body)))
	if err != nil {
		f.t.Error(err)
		return 0, nil, false
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := f.client.Do(req)
	if err != nil {
		return 0, nil, !errors.Is(err, syscall.ECONNREFUSED)
	}
	defer func() { _ = res.Body.Close() }() // it is read below
	answer, err = io.ReadAll(res.Body)
	if err != nil {
		return 0, nil, true
	}
	return res.StatusCode, answer, true
}

// there reads back whether a node is there, from whatever server answers.
func (f *fleet) there(n int, key string) bool {
	for try := range 400 {
		switch status, answer, _ := f.ask((n+try)%rollingServers, "show?name="+url.QueryEscape(key), ""); status {
		case http.StatusOK:
			return true
		case http.StatusNotFound:
			return false
		case 0, http.StatusServiceUnavailable:
			time.Sleep(10 * time.Millisecond)
		default:
			f.t.Errorf("read back %s: status %d: %s", key, status, answer)
			return false
		}
	}
	f.t.Errorf("read back %s: no server answers", key)
	return false
}

// write writes one node: again at another server where one is away, and after reading back where it is unknown
// whether it was written.
func (f *fleet) write(n int, key string) {
	body := fmt.Sprintf(`{"message":%q,"lines":[{"node":{"key":%q,"type":"Fact","summary":"what %s says"}}]}`, key, key, key)
	for try := range 400 {
		status, answer, sent := f.ask((n+try)%rollingServers, "commit", body)
		var problem struct{ Code string }
		_ = json.Unmarshal(answer, &problem) // what is none has no code
		switch {
		case status == http.StatusOK:
		case status == 0 && !sent:
			f.count("refused connection")
			time.Sleep(5 * time.Millisecond)
			continue
		case status == 0, status == http.StatusServiceUnavailable && problem.Code == "busy",
			status == http.StatusServiceUnavailable && problem.Code == "interrupted":
			f.count(fmt.Sprintf("unknown %d %s", status, problem.Code))
			if !f.there(n+try+1, key) {
				continue
			}
			f.resolve.Add(1)
		default:
			f.t.Errorf("write %s: status %d: %s", key, status, answer)
			return
		}
		f.mu.Lock()
		f.made[key] = true
		f.mu.Unlock()
		return
	}
	f.t.Errorf("write %s: no server takes it", key)
}

// wait waits until so many more writes are acknowledged.
func (f *fleet) wait() {
	f.t.Helper()
	want := f.acknowledged() + rollingStep
	for range 3000 {
		if f.acknowledged() >= want || f.t.Failed() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	f.t.Error("writes do not go on")
}

func (f *fleet) acknowledged() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.made)
}

// TestRollingRestart restarts the servers of one database one after the other, and kills each once in the midst of it,
// while clients write: what was acknowledged is there once, and clients see nothing that trying again, or reading back
// first, does not resolve.
func TestRollingRestart(t *testing.T) {
	server := pgserver.Start(t)
	f := &fleet{
		t: t, at: server.URL("any"), dir: t.TempDir(), cmds: make([]*exec.Cmd, rollingServers), stop: make(chan struct{}),
		made: make(map[string]bool), counts: make(map[string]int), client: http.Client{Timeout: time.Minute},
	}
	notes := server.URL("team/notes")
	here := func(args ...string) string { return mustRun(t, f.dir, "", append(args, "-R", notes)...) }
	t.Setenv("XDG_DATA_HOME", filepath.Join(f.dir, "machine"))
	here("init")
	for n := range rollingServers {
		l := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
		f.addrs = append(f.addrs, l.Addr().String())
		_ = l.Close() // for the server
		f.start(n)
	}
	var clients sync.WaitGroup
	for n := range rollingClients {
		clients.Go(func() {
			for i := 0; !closed(f.stop) && !t.Failed(); i++ {
				f.write(n+i, fmt.Sprintf("w%d-%d", n, i))
			}
		})
	}
	for n := range rollingServers {
		f.wait()
		f.end(n, syscall.SIGTERM)
		f.wait()
		killed := (n + 1) % rollingServers
		f.end(killed, syscall.SIGKILL)
		f.wait()
		f.start(n)
		f.start(killed)
	}
	f.wait()
	close(f.stop)
	clients.Wait()
	for n := range rollingServers {
		f.end(n, syscall.SIGTERM)
	}

	var got struct{ Nodes []struct{ Key string } }
	must.OK(t, json.Unmarshal([]byte(here("ls", "--json", "--limit", "100000")), &got))
	times := make(map[string]int)
	for _, n := range got.Nodes {
		times[n.Key]++
	}
	for key := range f.made {
		must.True(t, times[key] == 1, "%s was acknowledged and is there %d times", key, times[key])
	}
	must.True(t, len(got.Nodes) == len(f.made), "%d nodes, %d acknowledged", len(got.Nodes), len(f.made))
	here("fsck", "--full")
	t.Logf("%d acknowledged, %d unknown outcomes that reading back resolved, %v", len(f.made), f.resolve.Load(), f.counts)
}
