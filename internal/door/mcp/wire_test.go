package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/door/mcp"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/ramdir"
)

func TestMain(m *testing.M) { os.Exit(ramdir.Run(m)) }

// wire is a client that writes lines and reads what comes back.
type wire struct {
	t   *testing.T
	out io.WriteCloser
	in  *bufio.Scanner
}

func wired(t *testing.T, s *mcp.Server) *wire {
	t.Helper()
	ours, theirs := pipes()
	go func() {
		if err := s.Run(context.WithoutCancel(t.Context()), theirs.r, theirs.w); err != nil {
			t.Errorf("server ended: %v", err)
		}
		theirs.w.Close()
	}()
	w := &wire{t, ours.w, bufio.NewScanner(ours.r)}
	w.in.Buffer(nil, 1<<24)
	return w
}

func (w *wire) send(lines ...string) {
	w.t.Helper()
	for _, l := range lines {
		must.OK(w.t, must.Err(io.WriteString(w.out, l+"\n")))
	}
}

// next returns the next message, nil at the end.
func (w *wire) next() map[string]any {
	w.t.Helper()
	if !w.in.Scan() {
		return nil
	}
	var m map[string]any
	must.OK(w.t, json.Unmarshal(w.in.Bytes(), &m), "not a message: ", w.in.Text())
	return m
}

const hello = `{"jsonrpc":"2.0","id":"h","method":"initialize","params":{"protocolVersion":"2025-11-25",` +
	`"capabilities":{},"clientInfo":{"name":"raw","version":"0"}}}`

// TestHostileLines writes what is no message between those that are: each is answered with an error,
// and the connection lives on.
func TestHostileLines(t *testing.T) {
	w := wired(t, server(memory(t, facts), mcp.ServerOptions{}))
	w.send(hello)
	if m := w.next(); m["id"] != "h" || m["result"] == nil {
		t.Fatalf("initialize: %v", m)
	}
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for i, c := range []struct {
		line string
		code float64
	}{
		{`{"jsonrpc":"2.0","id":1`, -32700},
		{"\x00\xff\xfe", -32700},
		{`nonsense`, -32700},
		{`42`, -32600}, {`null`, -32600}, {`"x"`, -32600}, {`[]`, -32600}, {`[1]`, -32600},
		{`{}`, -32600},
		{`{"jsonrpc":"1.0","id":1,"method":"ping"}`, -32600},
		{`{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, -32600},
		{strings.Repeat("[", 20_000), -32700},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","x":"` + strings.Repeat("a", 17<<20) + `"}`, -32600},
	} {
		w.send(c.line)
		m := w.next()
		e, _ := m["error"].(map[string]any)
		must.True(t, e["code"] == c.code && m["id"] == nil, "line %d (%.40q): %v", i, c.line, m)
	}
	for i, c := range []struct {
		line string
		code float64 // 0 for a result
	}{
		{`"method":"no/such/method"`, -32601},
		{`"method":"tools/call"`, -32600},
		{`"method":"tools/call","params":{"name":5}`, -32602},
		{`"method":"tools/call","params":[1]`, -32602},
		{`"method":"tools/call","params":{"name":"show","arguments":[1]}`, 0},
		{`"method":"tools/call","params":{"name":"show","arguments":"x"}`, 0},
		{`"method":"tools/call","params":{"name":"../get"}`, -32602},
		{`"method":"resources/read","params":{"uri":"file:///etc/passwd"}`, -32602},
		{`"method":"resources/read","params":{"uri":"mnem://node/%zz"}`, -32602},
		{`"method":"resources/list","params":{"cursor":"x"}`, -32602},
		{`"method":"tools/list","params":{"cursor":"x"}`, -32602},
		{`"method":"prompts/get","params":{"name":"recall"}`, -32602},
		{`"method":"prompts/get","params":{"name":"nothing"}`, -32602},
		{`"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"recall"},` +
			`"argument":{"name":"none","value":"x"}}`, 0},
		{`"method":"ping"`, 0},
	} {
		w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,%s}`, i, c.line))
		m := w.next()
		e, failed := m["error"].(map[string]any)
		if m["id"] != float64(i) || failed != (c.code != 0) || failed && e["code"] != c.code {
			t.Errorf("%s: %v", c.line, m)
		}
	}
	w.out.Close()
	if m := w.next(); m != nil {
		t.Errorf("after the end: %v", m)
	}
}

// TestAnswersBeforeTheEnd closes the input right behind the requests, as a script does.
func TestAnswersBeforeTheEnd(t *testing.T) {
	calls := 20
	if effort.Race {
		calls = 8 // each waits its turn, and for no more than five seconds
	}
	w := wired(t, server(memory(t, facts), mcp.ServerOptions{}))
	go func() {
		w.send(hello, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		for i := range calls {
			w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"remember",`+
				`"arguments":{"text":"fact number %d is so"}}}`, i, i*31))
		}
		w.out.Close()
	}()
	answered := 0
	for m := w.next(); m != nil; m = w.next() {
		if r, ok := m["result"].(map[string]any); ok && r["content"] != nil && r["isError"] == nil {
			answered++
		}
	}
	must.Equal(t, answered, calls, "answers")
}
