package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/mcp"
	"github.com/mnem-project/mnem/internal/door/verbs"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// slow is a runner that says when a call begins, and ends it when it is let go or cancelled.
type slow struct {
	operation.Runner
	began chan string
	end   chan struct{}
}

func (r *slow) Run(
	ctx context.Context, call operation.Call, out io.Writer,
) (operation.Outcome, error) {
	r.began <- call.Operation.Name
	select {
	case <-r.end:
		return r.Runner.Run(ctx, call, out)
	case <-ctx.Done():
		r.began <- "cancelled"
		return operation.Interrupted, &operation.Error{
			Outcome: operation.Interrupted, Message: "interrupted",
		}
	}
}

// TestCancel cancels a call that is under way: its operation is told, the connection lives on, and
// nothing was written.
func TestCancel(t *testing.T) {
	a := memory(t, facts)
	r := &slow{verbs.NewRunner(a, true), make(chan string, 9), make(chan struct{})}
	s := connect(t, mcp.New(verbs.Operations(), r, mcp.ServerOptions{Now: time.Now}), nil)
	before := run(t, a, "", "log", "--oneline")
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := s.CallTool(ctx, params("remember", map[string]any{"text": "never to be kept"}))
		failed <- err
	}()
	must.Equal(t, <-r.began, "remember", "began")
	cancel()
	if err := <-failed; err == nil {
		t.Error("the client got an answer")
	}
	select {
	case got := <-r.began:
		must.Equal(t, got, "cancelled", "then came")
	case <-time.After(10 * time.Second):
		t.Fatal("the operation was not told")
	}
	close(r.end)
	call(t, s, "show", map[string]any{"name": "alice"})
	must.Equal(t, run(t, a, "", "log", "--oneline"), before, "the log became")
}

// TestCancelCommit cancels large commits at any point: each is whole or not there at all.
func TestCancelCommit(t *testing.T) {
	a := memory(t, facts)
	s := connect(t, server(a, mcp.ServerOptions{}), nil)
	for i := range 12 {
		nodes := make([]any, 400)
		for j := range nodes {
			nodes[j] = map[string]any{"key": fmt.Sprintf("c%d/%d", i, j), "type": "T",
				"summary": fmt.Sprintf("batch %d has the number %d", i, j)}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*4*time.Millisecond)
		res, err := s.CallTool(ctx, params("commit", map[string]any{"message": "m", "nodes": nodes}))
		cancel()
		answered := err == nil && !res.IsError
		there := strings.Count(run(t, a, "", "ls", "--type", "T", "--limit", "0", "--json"),
			fmt.Sprintf(`"key":"c%d/`, i))
		// What is cancelled may go on to its end, while it is looked at.
		if there != 0 && there != len(nodes) || answered && there != len(nodes) {
			t.Errorf("commit %d: %d of %d nodes, answered %v", i, there, len(nodes), answered)
		}
	}
}

// TestProgress asks for progress of a call that takes a while.
func TestProgress(t *testing.T) {
	r := &slow{verbs.NewRunner(memory(t, facts), true), make(chan string, 9), make(chan struct{})}
	var mu sync.Mutex
	var got []float64
	s := connect(t, mcp.New(verbs.Operations(), r, mcp.ServerOptions{Now: time.Now}), &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
			mu.Lock()
			defer mu.Unlock()
			must.True(t, req.Params.ProgressToken == "p1" && req.Params.Message != "", "progress %+v", req.Params)
			got = append(got, req.Params.Progress)
			if len(got) == 2 {
				close(r.end)
			}
		},
	})
	p := params("show", map[string]any{"name": "alice"})
	p.SetProgressToken("p1")
	if res, err := s.CallTool(t.Context(), p); err != nil || res.IsError {
		t.Fatalf("%v %v", res, err)
	}
	mu.Lock()
	defer mu.Unlock()
	must.True(t, len(got) >= 2 && got[0] == 0 && got[1] == 1, "progress %v", got)
}

// TestNothingBeforeTheFirstCall counts what is run before a client asks for something.
func TestNothingBeforeTheFirstCall(t *testing.T) {
	r := &slow{nil, make(chan string), nil} // the first call would block
	s := connect(t, mcp.New(verbs.Operations(), r, mcp.ServerOptions{Now: time.Now}), nil)
	must.OK(t, must.Err(s.ListTools(t.Context(), nil)))
	must.OK(t, must.Err(s.ListPrompts(t.Context(), nil)))
}

// TestTooLarge has an operation answer more than anybody reads.
func TestTooLarge(t *testing.T) {
	s := connect(t, mcp.New(verbs.Operations(), flood{}, mcp.ServerOptions{Now: time.Now}), nil)
	a := try(t, s, "diff", nil)
	must.True(t, a.failed && strings.Contains(a.text, "larger than"), "%.200s", a.text)
}

// flood is a runner whose answers have no end.
type flood struct{}

func (flood) Run(_ context.Context, _ operation.Call, out io.Writer) (operation.Outcome, error) {
	for {
		if _, err := out.Write(bytes.Repeat([]byte("x"), 1<<20)); err != nil {
			return operation.Interrupted, err
		}
	}
}

// TestSessions looks at what is recorded, by default and otherwise.
func TestSessions(t *testing.T) {
	for record, want := range map[mcp.Record]struct {
		items  int
		follow bool
	}{mcp.RecordFollow: {2, true}, mcp.RecordPin: {1, false}, mcp.RecordNone: {2, true}} {
		a := memory(t, facts)
		sv := server(a, mcp.ServerOptions{Record: record})
		s := connect(t, sv, nil)
		ask := map[string]any{"query": "PostgreSQL", "type": []string{"Decision"}}
		call(t, s, "show", map[string]any{"name": "d1"})
		run(t, a, `{"node":{"key":"d2","type":"Decision","summary":"PostgreSQL again"}}`, "commit", "-m", "x", "-")
		call(t, s, "retrieve", map[string]any{"query": "billing"})
		if got := call(t, s, "retrieve", ask).out["items"].([]any); len(got) != want.items {
			t.Errorf("record %d: %d items, want %d", record, len(got), want.items)
		}
		if got := try(t, s, "show", map[string]any{"name": "d2"}); got.failed == want.follow {
			t.Errorf("record %d: get of what came later: %s", record, got.text)
		}
		s.Close()
		checkSession(t, a, record, want.follow)
	}
}

func checkSession(t *testing.T, a *line.App, record mcp.Record, follow bool) {
	t.Helper()
	var rows []struct {
		Session string
		Follow  bool
		Agent   string
		Ended   bool
		Records int
	}
	for range 100 { // the server ends it when it sees that its client has gone
		rows = rows[:0]
		for line := range strings.Lines(run(t, a, "", "session", "list", "--json")) {
			rows = append(rows, struct {
				Session string
				Follow  bool
				Agent   string
				Ended   bool
				Records int
			}{})
			must.OK(t, json.Unmarshal([]byte(line), &rows[len(rows)-1]))
		}
		if record == mcp.RecordNone || len(rows) == 1 && rows[0].Ended {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if record == mcp.RecordNone {
		must.Equal(t, len(rows), 0, "recorded without need: ", rows)
		return
	}
	if len(rows) != 1 || !rows[0].Ended || rows[0].Follow != follow || rows[0].Agent != "tester/1.2" ||
		!strings.HasPrefix(rows[0].Session, "tester-20") || rows[0].Records < 3 {
		t.Errorf("record %d: sessions %+v", record, rows)
		return
	}
	run(t, a, "", "session", "replay", rows[0].Session)
}

// TestSessionsBelongToTokens has one client use the session of another one, which says who that is.
func TestSessionsBelongToTokens(t *testing.T) {
	sv := server(memory(t, facts), mcp.ServerOptions{})
	web := httptest.NewServer(sv.Handler())
	defer web.Close()
	defer sv.Close(context.WithoutCancel(t.Context()))
	post := func(token, session, body string) (status int, id string) {
		t.Helper()
		req := httptest.NewRequestWithContext(t.Context(), "POST", web.URL, strings.NewReader(body))
		req.RequestURI = ""
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
			req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		}
		res := must.Get(http.DefaultClient.Do(req))(t)
		defer func() { _ = res.Body.Close() }()
		return res.StatusCode, res.Header.Get("Mcp-Session-Id")
	}
	const ping = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	_, id := post("ours", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{`+
		`"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	must.Require(t, id != "", "no session")
	for token, want := range map[string]int{"ours": 200, "theirs": 403, "": 403} {
		if got, _ := post(token, id, ping); got != want {
			t.Errorf("token %q: status %d, want %d", token, got, want)
		}
	}
}

// TestHTTP connects clients of both eras to one server: each gets what it asked for, and commits
// name them.
func TestHTTP(t *testing.T) {
	a := memory(t, facts)
	sv := server(a, mcp.ServerOptions{})
	web := httptest.NewServer(sv.Handler())
	defer web.Close()
	defer sv.Close(context.WithoutCancel(t.Context()))
	for _, version := range []string{"2026-07-28", "2025-11-25", "2025-06-18"} {
		client := sdk.NewClient(&sdk.Implementation{Name: "web" + version, Version: "1"}, nil)
		s, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
			Endpoint: web.URL, DisableStandaloneSSE: true,
		}, &sdk.ClientSessionOptions{ProtocolVersion: version})
		must.OK(t, err, version)
		must.Equal(t, s.InitializeResult().ProtocolVersion, version, "asked")
		call(t, s, "remember", map[string]any{"text": "said over version " + version})
		if got := call(t, s, "retrieve", map[string]any{"query": version}); !strings.Contains(got.text,
			version) {
			t.Errorf("%s: %s", version, got.text)
		}
		if log := run(t, a, "", "log", "-n", "1"); !strings.Contains(log, "web"+version+"/1") {
			t.Errorf("%s: the commit does not name its client: %s", version, log)
		}
		must.OK(t, s.Close(), version, ": close")
	}
}
