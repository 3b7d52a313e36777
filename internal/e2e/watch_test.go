package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// event is one server-sent event.
type event struct{ id, name, data string }

// listen asks for events and returns what reads the next one.
func listen(t *testing.T, url, after string) (res *http.Response, next func() event) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	must.OK(t, err)
	req.Header.Set("Accept", "text/event-stream")
	if after != "" {
		req.Header.Set("Last-Event-ID", after)
	}
	if res, err = http.DefaultClient.Do(req); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	lines := bufio.NewScanner(res.Body)
	return res, func() (e event) {
		for lines.Scan() {
			field, value, _ := strings.Cut(lines.Text(), ": ")
			switch {
			case lines.Text() == "" && e.name != "":
				return e
			case field == "id":
				e.id = value
			case field == "event":
				e.name = value
			case field == "data":
				e.data = value
			}
		}
		t.Fatalf("the stream ended: %v", lines.Err())
		return e
	}
}

// TestEventsOverHTTP watches /v1/op_watch as browsers do, and goes on from the last event.
func TestEventsOverHTTP(t *testing.T) {
	dir := newRepo(t)
	_, base := serving(t, dir)
	res, next := listen(t, base+"/v1/op_watch", "")
	if typ := res.Header.Get("Content-Type"); res.StatusCode != 200 || typ != "text/event-stream" {
		t.Fatalf("%s, %s", res.Status, typ)
	}
	begin := next()
	must.True(t, begin.name == "begin" && begin.id != "", "first %+v", begin)
	var ids []string
	for i := range 3 {
		mustRun(t, dir, fmt.Sprintf(`{"node":{"key":"e%d","type":"Fact"}}`, i), "commit", "-m",
			fmt.Sprint("e", i), "-")
		e := next()
		var op struct {
			Op       string
			Branches []struct{ Message string }
		}
		must.OK(t, json.Unmarshal([]byte(e.data), &op), e)
		if e.name != "operation" || op.Op != e.id || op.Branches[0].Message != fmt.Sprint("e", i) {
			t.Errorf("event %+v", e)
		}
		ids = append(ids, e.id)
	}
	for after, want := range map[string]string{begin.id: ids[0], ids[0]: ids[1], ids[1]: ids[2]} {
		if _, next := listen(t, base+"/v1/op_watch", after); next().id != want {
			t.Errorf("after %s: not %s", after, want)
		}
	}
	mustRun(t, dir, "", "gc", "--keep", "1", "--grace", "0s")
	res, _ = listen(t, base+"/v1/op_watch", ids[0])
	var problem struct{ Code, Detail string }
	must.OK(t, json.NewDecoder(res.Body).Decode(&problem))
	if res.StatusCode != http.StatusNotFound || !strings.Contains(problem.Detail, "the oldest to watch from") {
		t.Errorf("%s, %+v", res.Status, problem)
	}
	res = must.Get(http.Get(base + "/v1/op_watch?since=%40~1&limit=1"))(t)
	defer func() { _ = res.Body.Close() }()
	if lines := bufio.NewScanner(res.Body); !lines.Scan() || !strings.HasPrefix(lines.Text(), `{"op":`) || lines.Scan() {
		t.Errorf("lines: %q", lines.Text())
	}
}

// TestWatchGoesOn has a process watch while others write, and the process that has the repository
// open is killed: no operation is missing or told twice.
func TestWatchGoesOn(t *testing.T) {
	dir := newRepo(t)
	owner := must.Get(newClient(t.Context(), dir))(t)
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
				must.Fail(t, err, nil)
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
		must.True(t, op.Seq > last, "operation %d after %d", op.Seq, last)
		last = op.Seq
		seen[op.Branches[0].Message]++
	}
	must.OK(t, watch.Wait(), "watch")
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
