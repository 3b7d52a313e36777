package perf

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	groupAgents    = "agents"
	agentProtocol  = "2025-06-18" // of MCP
	agentQuestions = 4            // for each of serverQuestions
)

// agents asks a server questions over MCP as serverClients agents at once. Each has a session in which its answers are
// recorded.
func (b *bench) agents(ctx context.Context) (err error) {
	s, err := b.serve(ctx, "mcp", "--http", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.end()) }()
	url, _, _ := strings.Cut(string(s.first), ";")
	start := time.Now()
	times, err := b.askAgents(ctx, url)
	if err != nil {
		return err
	}
	all, n := time.Since(start), int64(len(times))
	if err := s.end(); err != nil {
		return err
	}
	cpu := Figure{Group: groupAgents, Name: "CPU of the server for each", Unit: Nanoseconds,
		Stats: statsOf([]int64{s.cpu() / n})}
	if b.synth.Nodes <= 1_000 {
		cpu.Bound = &Bound{Most: agentMost}
	}
	b.add(Figure{Group: groupAgents, Name: "recorded answer over MCP, 8 at a time", Unit: Nanoseconds,
		Stats: statsOf(times)})
	b.add(cpu)
	b.add(Figure{Group: groupAgents, Name: "recorded answers a second", Unit: Count,
		Stats: statsOf([]int64{n * int64(time.Second) / int64(all)})})
	return nil
}

// askAgents asks all questions and returns how long each answer took.
func (b *bench) askAgents(ctx context.Context, url string) ([]int64, error) {
	times := make([]int64, agentQuestions*min(serverQuestions, b.synth.Nodes))
	errs := make([]error, serverClients)
	var all sync.WaitGroup
	for g := range serverClients {
		all.Go(func() {
			a := &agent{url: url}
			if errs[g] = a.begin(ctx, fmt.Sprintf("agent-%d", g)); errs[g] != nil {
				return
			}
			for i := g; i < len(times) && errs[g] == nil; i += serverClients {
				q, err := b.synth.Question(i % b.synth.Nodes)
				if errs[g] = err; err == nil {
					times[i], errs[g] = timed(func() error { return a.retrieve(ctx, q.Text) })
				}
			}
		})
	}
	all.Wait()
	return times, errors.Join(errs...)
}

// agent is a client of MCP over HTTP.
type agent struct {
	url, session string
	calls        int
}

// begin begins a session of the protocol under a name.
func (a *agent) begin(ctx context.Context, name string) error {
	_, err := a.call(ctx, "initialize", map[string]any{"protocolVersion": agentProtocol,
		"capabilities": map[string]any{}, "clientInfo": map[string]any{"name": name, "version": "1"}})
	return err
}

func (a *agent) retrieve(ctx context.Context, query string) error {
	said, err := a.call(ctx, "tools/call",
		map[string]any{"name": "retrieve", "arguments": map[string]any{"query": query}})
	if err == nil && bytes.Contains(said, []byte(`"isError":true`)) {
		err = fmt.Errorf("a server answered %.300s", said)
	}
	return err
}

// call sends a request and returns what came back.
func (a *agent) call(ctx context.Context, method string, params map[string]any) ([]byte, error) {
	a.calls++
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": a.calls, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if a.session != "" {
		req.Header.Set("Mcp-Session-Id", a.session)
		req.Header.Set("Mcp-Protocol-Version", agentProtocol)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	said, err := io.ReadAll(res.Body)
	err = errors.Join(err, res.Body.Close())
	if id := res.Header.Get("Mcp-Session-Id"); id != "" {
		a.session = id
	}
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("a server answered %s: %.300s", res.Status, said)
	}
	return said, err
}
