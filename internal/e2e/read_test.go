package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// resident returns the resident memory of a process in bytes, 0 if the system does not tell.
func resident(t *testing.T, pid int) int64 {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			must.OK(t, err)
			return kb << 10
		}
	}
	return 0
}

// TestManyConnections opens ten thousand connections that say nothing, or half of a request: the
// server's memory stays bounded and it answers others when they have gone.
func TestManyConnections(t *testing.T) {
	const many, most = 10_000, 512 << 20
	if free := openFiles(); free < many+500 {
		t.Skipf("%d files may be open at once here, and this needs %d: raise 'ulimit -n'", free, many+500)
	}
	dir := newRepo(t)
	server, base := serving(t, dir)
	addr := strings.TrimPrefix(base, "http://")
	var mu sync.Mutex
	var conns []net.Conn
	var group sync.WaitGroup
	refused := 0
	for range 16 {
		group.Go(func() {
			for i := range many / 16 {
				conn, err := net.DialTimeout("tcp", addr, 10*time.Second)
				mu.Lock()
				if err != nil {
					refused++
					mu.Unlock()
					continue
				}
				conns = append(conns, conn)
				mu.Unlock()
				if i%2 == 0 {
					_, _ = io.WriteString(conn, "GET /v1/stats HTTP/1.1\r\nHost: ") // the rest never comes
				}
			}
		})
	}
	group.Wait()
	used := resident(t, server.Process.Pid)
	t.Logf("%d connections, %d refused, %d MiB resident", len(conns), refused, used>>20)
	if used > most {
		t.Errorf("%d MiB resident, want at most %d", used>>20, most>>20)
	}
	for _, conn := range conns {
		_ = conn.Close() // whatever became of it
	}
	res, err := (&http.Client{Timeout: 20 * time.Second}).Get(base + "/v1/stats")
	if err != nil {
		t.Fatalf("afterwards: %v", err)
	}
	_ = res.Body.Close() // its status is enough
	if res.StatusCode != http.StatusOK {
		t.Errorf("afterwards: %s", res.Status)
	}
}

// openFiles returns how many files a process may have open, none if there is no shell to ask.
func openFiles() int {
	out, err := exec.Command("sh", "-c", "ulimit -n").Output()
	if err != nil {
		return 0
	}
	text := strings.TrimSpace(string(out))
	if text == "unlimited" {
		return 1 << 30
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

// TestWatchGoesOn has a process watch while others write, and the process that has the repository
// open is killed: no operation is missing or told twice.
func TestWatchGoesOn(t *testing.T) {
	dir := newRepo(t)
	owner, err := newClient(t.Context(), dir)
	must.OK(t, err)
	var answer struct{ Commit string }
	must.OK(t, owner.tool("commit", fact("w/first"), &answer))
	const writers, each = 3, 8
	watch := command(t.Context(), dir, "op", "watch", "--since", "0", "--ref", "main", "--json",
		"--limit", strconv.Itoa(2+writers*each))
	out, err := watch.StdoutPipe()
	must.OK(t, err)
	must.OK(t, watch.Start())
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range each {
				key := fmt.Sprintf("w%d/%d", w, i)
				line := fmt.Sprintf(`{"node":{"key":%q,"type":"Fact"}}`, key)
				var err error
				for range 5 { // one whose owner was killed tells so, and is given again
					if _, err = mnem(t.Context(), dir, line, "commit", "-m", key, "-"); err == nil {
						break
					}
				}
				if err != nil {
					t.Error(err)
				}
				if w == 0 && i == each/2 {
					if err := owner.cmd.Process.Kill(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	seen := make(map[string]int)
	last := uint64(0)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var op struct {
			Seq      uint64
			Branches []struct{ Message string }
		}
		must.OK(t, json.Unmarshal(lines.Bytes(), &op))
		if op.Seq <= last {
			t.Errorf("operation %d after %d", op.Seq, last)
		}
		last = op.Seq
		seen[op.Branches[0].Message]++
	}
	if err := watch.Wait(); err != nil {
		t.Errorf("watch: %v", err)
	}
	group.Wait()
	_ = owner.cmd.Wait() // it was killed
	for w := range writers {
		for i := range each {
			if key := fmt.Sprintf("w%d/%d", w, i); seen[key] != 1 {
				t.Errorf("%s was told %d times", key, seen[key])
			}
		}
	}
}

// BenchmarkHandshake is the time from the start of 'mnem mcp' to its answer to initialize, on the
// repository in MNEM_E2E_REPO or on a small one.
func BenchmarkHandshake(b *testing.B) {
	dir := os.Getenv("MNEM_E2E_REPO")
	if dir == "" {
		dir = b.TempDir()
		if _, err := mnem(b.Context(), dir, "", "init"); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		c, err := newClient(b.Context(), dir)
		must.OK(b, err)
		b.StopTimer()
		must.OK(b, c.close())
		b.StartTimer()
	}
}
