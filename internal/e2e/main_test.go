package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/ramdir"
)

// program is the mnem that is tried.
var program string

func TestMain(m *testing.M) {
	os.Exit(build(m))
}

func build(m *testing.M) int {
	if os.Getenv(effort.SoakVariable) == "" { // soaks write more than memory has room for
		remove, err := ramdir.Use()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer remove()
	}
	dir, err := os.MkdirTemp("", "mnem-e2e-")
	if err == nil {
		err = errors.Join(os.Chmod(dir, 0o755), os.Setenv("TMPDIR", dir)) // the database runs as another user
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program = filepath.Join(dir, "mnem")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	cmd := exec.Command("go", "build", "-trimpath", "-o", program, "../../cmd/mnem")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build mnem: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// command is mnem with the environment of the tests.
func command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "MNEM_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "MNEM_AUTHOR=Ann", "MNEM_WAIT=30s", "XDG_CONFIG_HOME="+dir)
	return cmd
}

// mnem runs one command line to its end and returns what it printed.
func mnem(ctx context.Context, dir, input string, args ...string) (string, error) {
	cmd := command(ctx, dir, args...)
	cmd.Stdin = strings.NewReader(input)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("mnem %s: %w: %s", strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String(), nil
}

func mustRun(t *testing.T, dir, input string, args ...string) string {
	t.Helper()
	out := must.Get(mnem(t.Context(), dir, input, args...))(t)
	return out
}

// newRepo makes a repository with a few facts, which the end of the test checks.
func newRepo(t *testing.T) string {
	t.Helper()
	return newRepoIn(t, t.TempDir())
}

// newRepoIn is newRepo in a directory.
func newRepoIn(t *testing.T, dir string) string {
	t.Helper()
	mustRun(t, dir, "", "init")
	mustRun(t, dir, `{"node":{"key":"alice","type":"Person","summary":"Alice leads infra"}}
{"node":{"key":"billing","type":"Service","summary":"Billing sends invoices"}}
{"edge":{"type":"owns","src":"alice","dst":"billing"}}
`, "commit", "-m", "who is who", "-")
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
		defer cancel()
		must.OK(t, must.Err(mnem(ctx, dir, "", "fsck")))
	})
	return dir
}

// mcpClient is a client of 'mnem mcp' that is written for these tests: one call at a time.
type mcpClient struct {
	cmd  *exec.Cmd
	errs *firstBytes // of the error stream
	in   io.WriteCloser
	out  *bufio.Reader
	next int
	mu   sync.Mutex
}

func newClient(ctx context.Context, dir string, args ...string) (*mcpClient, error) {
	c := &mcpClient{cmd: command(ctx, dir, append([]string{"mcp"}, args...)...), errs: &firstBytes{}}
	c.cmd.Stderr = c.errs
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	_, err = c.ask("initialize", map[string]any{
		"protocolVersion": "2025-11-25", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "e2e", "version": "1"},
	})
	if err == nil {
		_, err = io.WriteString(c.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	}
	return c, err
}

// ask sends a request and returns the result.
func (c *mcpClient) ask(method string, params any) (json.RawMessage, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next++
	data, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": c.next, "method": method, "params": params,
	})
	if err != nil {
		return nil, err
	}
	if _, err := c.in.Write(append(data, '\n')); err != nil {
		return nil, err
	}
	for {
		line, err := c.out.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		var got struct {
			ID     int
			Result json.RawMessage
			Error  json.RawMessage
		}
		if err := json.Unmarshal(line, &got); err != nil {
			return nil, err
		}
		switch {
		case got.ID != c.next: // a notification
		case got.Error != nil:
			return nil, fmt.Errorf("%s: %s", method, got.Error)
		default:
			return got.Result, nil
		}
	}
}

// tool calls a tool and decodes its structured answer into into.
func (c *mcpClient) tool(name string, args map[string]any, into any) error {
	data, err := c.ask("tools/call", map[string]any{
		"name": name, "arguments": args, "_meta": map[string]any{"mnem/structured": true},
	})
	if err != nil {
		return err
	}
	var got struct {
		IsError           bool
		Content           []struct{ Text string }
		StructuredContent json.RawMessage
	}
	if err := json.Unmarshal(data, &got); err != nil {
		return err
	}
	if got.IsError {
		return fmt.Errorf("%s: %s", name, got.Content[0].Text)
	}
	return json.Unmarshal(got.StructuredContent, into)
}

// firstBytes keeps what is written to it, up to 16 KiB: a trace begins with what went wrong.
type firstBytes struct {
	mu   sync.Mutex
	text []byte
}

func (f *firstBytes) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.text = append(f.text, p[:min(len(p), 16<<10-len(f.text))]...)
	return len(p), nil
}

func (f *firstBytes) String() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return string(f.text)
}

// close ends the client and waits for its process.
func (c *mcpClient) close() error {
	_ = c.in.Close()
	return c.cmd.Wait()
}

var urlPattern = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

// serving starts 'mnem serve' and returns its process and address.
func serving(t *testing.T, dir string, args ...string) (*exec.Cmd, string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := command(ctx, dir, append([]string{"serve", "--addr", "127.0.0.1:0", "--log", "none",
		"--limit", "rate=1000000"}, args...)...)
	out := must.Get(cmd.StdoutPipe())(t)
	cmd.Stderr = cmd.Stdout
	must.OK(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		time.AfterFunc(20*time.Second, cancel)
		must.OK(t, cmd.Wait(), "serve")
		cancel()
	})
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if url := urlPattern.FindString(line); url != "" {
			go func() { _, _ = io.Copy(io.Discard, lines) }() // ends with the process
			return cmd, url
		}
		must.OK(t, err, "serve says no address")
	}
}
