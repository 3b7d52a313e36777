package serve

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// inUse returns how many bytes of the room of bodies are taken.
func (r *room) inUse() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.used
}

// begin sends a request by hand, and returns the connection.
func (f *fixture) begin(text string) net.Conn {
	f.t.Helper()
	c := must.Get(net.Dial("tcp", strings.TrimPrefix(f.url, "http://")))(f.t)
	f.t.Cleanup(func() { _ = c.Close() })
	must.OK(f.t, c.SetDeadline(time.Now().Add(30*time.Second)))
	must.OK(f.t, must.Err(io.WriteString(c, text)))
	return c
}

const linesHead = "POST /v1/commit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"

// TestIdleBodiesHoldNoRoom opens connections that announce the largest bodies, twice as many as there
// is room for, and send none.
func TestIdleBodiesHoldNoRoom(t *testing.T) {
	const size, idle = 1 << 20, 16
	f := newFixture(t, func(c *Config) { c.Limits.Body, c.Limits.Bodies = size, 8*size })
	for range idle {
		f.begin(fmt.Sprintf("%sContent-Length: %d\r\n\r\n", linesHead, size))
	}
	for f.srv.bodies.inUse() < idle*firstPiece { // until all are being read
		time.Sleep(time.Millisecond)
	}
	if used := f.srv.bodies.inUse(); used > idle*firstPiece {
		t.Errorf("%d bytes are reserved for nothing", used)
	}
	lines := "Content-Type: " + operation.MediaNDJSON
	f.want(f.ask("POST", "/v1/commit", strings.Repeat("x", size), lines), 200, "")
	f.want(f.ask("POST", "/v1/commit", `{"message":"m"}`, asJSONType), 200, "")
	for f.srv.bodies.inUse() != idle*firstPiece { // the last request gives its room back after its answer
		time.Sleep(time.Millisecond)
	}
}

// TestLargeBodiesFollowEachOther sends many more large bodies at once than there is room for: each is
// taken in the end, and they never use more.
func TestLargeBodiesFollowEachOther(t *testing.T) {
	const size, many = 4 << 20, 24
	f := newFixture(t, func(c *Config) { c.Limits.Body, c.Limits.Bodies = size, 16<<20 })
	all := newBodies(f.srv.cfg.Limits).all
	f.run = func(_ context.Context, _ operation.Call, out io.Writer) (operation.Outcome, error) {
		if used := f.srv.bodies.inUse(); used > all {
			t.Errorf("%d bytes of %d are used", used, all)
		}
		_, err := io.WriteString(out, "{}")
		return operation.OK, err
	}
	var wg sync.WaitGroup
	for range many {
		wg.Go(func() {
			res, err := http.Post(f.url+"/v1/commit", operation.MediaNDJSON,
				strings.NewReader(strings.Repeat("x", size)))
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = res.Body.Close() }()
			must.Equal(t, res.StatusCode, 200, "status")
		})
	}
	wg.Wait()
}

// TestRoomIsShared checks that one caller cannot use all room, nor large bodies the room of small ones.
func TestRoomIsShared(t *testing.T) {
	const large = 128 << 10
	r := newRoom(16*large, 8*large, 2*large)
	fill := func(caller string, n int64, as use) (total int64) {
		for r.take(caller, n, as) {
			total += n
		}
		return total
	}
	must.Equal(t, fill("a", large, wholly), 8*large, "one caller")
	must.Equal(t, fill("a", 1<<10, little), large, "in small bodies")
	must.Equal(t, fill("b", large, wholly), 5*large, "another one")
	if got := fill("c", 1<<10, little); got != 2*large {
		t.Errorf("a third one has %d in small bodies", got)
	}
	must.True(t, !r.take("d", 1, little), "there is more room than there is")
	r.give("a", 9*large)
	r.give("b", 5*large)
	r.give("c", 2*large)
	must.True(t, r.used == 0 && len(r.by) == 0, "%d in use, %v", r.used, r.by)
}

// TestLargestBodiesFit checks that one caller can always send as much as the bounds allow.
func TestLargestBodiesFit(t *testing.T) {
	for _, size := range []int64{1, 100, 1 << 20, 8 << 20, 64 << 20, 1 << 30} {
		l := Limits{Body: size}
		l.fill()
		r := newBodies(l)
		must.True(t, r.take("a", size+1, wholly), "no room for %d", size)
		r.give("a", size+1)
		if !r.take("a", parsedWeight*(min(size, maxJSON)+1), wholly) {
			t.Errorf("no room for %d of JSON", min(size, maxJSON))
		}
	}
}

// TestReadingGivesBack checks that a body is not held twice: read bytes are freed.
func TestReadingGivesBack(t *testing.T) {
	b := &body{room: newRoom(1<<20, 1<<20, 0), caller: "a", weight: 1}
	for range 4 {
		must.Require(t, b.reserve(1000, largeBody), "no room")
		b.pieces, b.size = append(b.pieces, bytes.Repeat([]byte("x"), 1000)), b.size+1000
	}
	for left := int64(3000); left >= 0; left -= 1000 {
		if n, err := io.ReadFull(b, make([]byte, 1000)); n != 1000 || err != nil {
			t.Fatal(n, err)
		}
		if used := b.room.inUse(); used != left || int64(len(b.pieces)) != left/1000 {
			t.Errorf("%d bytes and %d pieces are held, want %d", used, len(b.pieces), left)
		}
	}
	if n, err := b.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("%d, %v at the end", n, err)
	}
	b.release()
	b.release()
	must.Equal(t, b.room.inUse(), 0, "bytes are held")
}

// TestStalledBodies sees to it that a body which stops coming is ended long before its time is over.
func TestStalledBodies(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.Limits.Stall, c.Limits.Read = 50*time.Millisecond, time.Hour })
	for _, part := range []int{0, 10, 300_000} {
		c := f.begin(linesHead + "Content-Length: 1000000\r\n\r\n" + strings.Repeat("x", part))
		line, err := bufio.NewReader(c).ReadString('\n')
		must.Contain(t, line, " 408 ", "after ", part, " bytes: ", err)
	}
	// A chunked one likewise.
	c := f.begin(linesHead + "Transfer-Encoding: chunked\r\n\r\n5\r\nxxxxx\r\n")
	if line, err := bufio.NewReader(c).ReadString('\n'); !strings.Contains(line, " 408 ") {
		t.Errorf("chunked: %q, %v", line, err)
	}
	must.Equal(t, f.srv.bodies.inUse(), 0, "bytes are held")
}

// TestHeadersOnce sends each header that decides something twice.
func TestHeadersOnce(t *testing.T) {
	const own = "Origin: http://localhost\r\n"
	f := newFixture(t, func(c *Config) { c.Origins = []string{"https://app.example.org"} })
	ask := func(headers string) string {
		c := f.begin("GET /v1/get?node=a HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n")
		line := must.Get(bufio.NewReader(c).ReadString('\n'))(t)
		return line
	}
	for _, tt := range []struct{ headers, status string }{
		{own + "Origin: https://evil.example.org\r\n", " 403 "},
		{"Origin: https://evil.example.org\r\n" + own, " 403 "},
		{"Origin: https://app.example.org\r\nOrigin: null\r\n", " 403 "},
		{"Origin:\r\nOrigin: https://evil.example.org\r\n", " 403 "},
		{"Sec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site\r\n", " 403 "},
		{own + own, " 400 "},
		{"Host: localhost\r\n", " 400 "}, {"Content-Length: 0\r\nContent-Length: 1\r\n", " 400 "},
		{"Accept: text/plain\r\nAccept: application/json\r\n", " 200 "},
		{"If-None-Match: \"a\"\r\nIf-None-Match: \"b\"\r\n", " 200 "},
		{own + "Sec-Fetch-Site: same-origin\r\n", " 200 "},
	} {
		must.Contain(t, ask(tt.headers), tt.status, tt.headers)
	}
	calls := len(f.calls)
	for _, name := range append(slices.Clone(singular), "Mnem-Agent", "mnem-author", "Mcp-Session-Id",
		"Mcp-Protocol-Version") {
		for _, values := range [][2]string{{"a", "a"}, {"a", "b"}, {"", "a"}, {"a", ""}} {
			line := ask(fmt.Sprintf("%s: %s\r\n%[1]s: %[3]s\r\n", name, values[0], values[1]))
			if !strings.Contains(line, " 400 ") && !strings.Contains(line, " 403 ") {
				t.Errorf("%s twice: %q", name, line)
			}
		}
	}
	must.Equal(t, len(f.calls), calls, "calls ", f.calls[calls:])
}

// TestHeadersReadOnceAreSingular reads this package and the MCP package: a header that is read as one value must be in
// the list of headers that a request may have only once.
func TestHeadersReadOnceAreSingular(t *testing.T) {
	read := regexp.MustCompile(`r\.Header\.Get\("?([\w-]+)"?\)`)
	named := map[string]string{"lastEventID": "Last-Event-Id", "versionHeader": "Mcp-Protocol-Version"}
	n := 0
	for _, dir := range []string{".", filepath.Join("..", "mcp")} {
		files := must.Get(filepath.Glob(filepath.Join(dir, "*.go")))(t)
		for _, file := range files {
			text := must.Get(os.ReadFile(file))(t)
			for _, m := range read.FindAllStringSubmatch(string(text), -1) {
				name := cmp.Or(named[m[1]], http.CanonicalHeaderKey(m[1]))
				twice := http.Header{name: {"a", "a"}}
				if n++; !strings.HasSuffix(file, "_test.go") && once(twice) == nil {
					t.Errorf("%s reads the first of several %s", file, name)
				}
			}
		}
	}
	must.True(t, n >= 8, "only %d headers", n)
}

// TestSlowReadersBlockNoOperation has as many clients as operations run at once read nothing of answers that are larger
// than the system's buffers.
func TestSlowReadersBlockNoOperation(t *testing.T) {
	f := newFixture(t, func(c *Config) {
		c.Limits.Running, c.Limits.Write, c.Limits.Time = 1, time.Hour, 10*time.Second
	})
	part := strings.Repeat("x", 1<<20)
	begun := make(chan struct{}, 2)
	f.run = func(_ context.Context, call operation.Call, out io.Writer) (operation.Outcome, error) {
		if call.Operation.Name != "export" {
			_, err := io.WriteString(out, "{}")
			return operation.OK, err
		}
		begun <- struct{}{}
		for {
			if _, err := io.WriteString(out, part); err != nil {
				return operation.Interrupted, err
			}
		}
	}
	for range 2 {
		f.begin("GET /v1/export HTTP/1.1\r\nHost: localhost\r\n\r\n")
		<-begun
	}
	f.want(f.ask("GET", "/v1/get?node=a", ""), 200, "")
}
