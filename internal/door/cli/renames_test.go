package cli

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/mcp"
	"github.com/mnem-project/mnem/internal/door/serve"
	"github.com/mnem-project/mnem/internal/door/verbs"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// TestRemovedNames asks each door for every removed name. The answer names a command that exists, with its flags.
func TestRemovedNames(t *testing.T) {
	w := newWorld(t)
	server := serve.New(serve.Config{
		Operations: verbs.Operations(), Now: time.Now, Rand: strings.NewReader(""),
		Log: slog.New(slog.DiscardHandler), Loopback: true,
	})
	tools := toolsOf(t, w)
	root := root(&line.Line{App: w.App})
	for _, r := range operation.Renames() {
		want := "'" + r.Name + "' is now '" + r.Now + "'"
		if cmd, rest, err := root.Find(strings.Fields(r.Name)); err == nil && len(rest) == 0 && cmd.HasParent() {
			t.Errorf("%s is a command", r.Name)
		}
		words, flags, _ := strings.Cut(r.Now, " -")
		cmd, _, err := root.Find(strings.Fields(words))
		if err != nil || cmd == root {
			t.Errorf("%s: there is no %s: %v", r.Name, r.Now, err)
			continue
		}
		for _, word := range strings.Fields(" -" + flags) {
			if name, is := strings.CutPrefix(word, "--"); is && cmd.Flags().Lookup(name) == nil {
				t.Errorf("%s: %s has no %s", r.Name, words, word)
			}
		}
		args := append(strings.Fields(r.Name), "x", "--some-flag")
		if _, stderr := w.run(2, args...); !strings.HasPrefix(stderr, "mnem: "+want+"\nhint: see 'mnem "+words) {
			t.Errorf("%s: %s", r.Name, stderr)
		}
		var failed struct {
			Error struct{ Code, Message string }
		}
		_, stderr := w.run(2, append([]string{"--json"}, args...)...)
		if err := json.Unmarshal([]byte(stderr), &failed); err != nil || failed.Error.Message != want ||
			failed.Error.Code != operation.Usage.Code {
			t.Errorf("%s: %v: %s", r.Name, err, stderr)
		}
		name := strings.NewReplacer(" ", "_", "-", "_").Replace(r.Name)
		want = strings.Replace(want, r.Name, name, 1)
		got := httptest.NewRecorder()
		server.ServeHTTP(got, httptest.NewRequest(http.MethodGet, "http://localhost/v1/"+name, http.NoBody))
		if got.Code != http.StatusNotFound || !strings.Contains(got.Body.String(), want) {
			t.Errorf("%s: %d %s", r.Name, got.Code, got.Body)
		}
		if _, err := tools.CallTool(t.Context(), &sdk.CallToolParams{Name: name}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", r.Name, err)
		}
	}
}

// TestRemovedFlags asks for every removed flag. The answer names a flag that the command has.
func TestRemovedFlags(t *testing.T) {
	w := newWorld(t)
	root := root(&line.Line{App: w.App})
	must.Require(t, len(operation.FlagsGone()) != 0, "no flags")
	for _, f := range operation.FlagsGone() {
		if f.Command == "" {
			f.Command = "commit"
		}
		cmd, _, err := root.Find(strings.Fields(f.Command))
		must.True(t, err == nil && cmd.Flags().Lookup(f.Name) == nil, "%s has --%s: %v", f.Command, f.Name, err)
		want := "mnem: --" + f.Name + " is now " + f.Now + "\n"
		if f.Now == "" {
			want = "mnem: --" + f.Name + " was removed and nothing replaces it\n"
		} else if name, isFlag := strings.CutPrefix(strings.FieldsFunc(f.Now, func(r rune) bool { return r == ' ' || r == '=' })[0], "--"); isFlag && cmd.Flags().Lookup(name) == nil {
			t.Errorf("%s has no %s", f.Command, f.Now)
		}
		if _, stderr := w.run(2, append(strings.Fields(f.Command), "--"+f.Name)...); !strings.HasPrefix(stderr, want) {
			t.Errorf("%s --%s: %s", f.Command, f.Name, stderr)
		}
	}
}

// toolsOf connects to a server of the tools of agents.
func toolsOf(t *testing.T, w *world) *sdk.ClientSession {
	t.Helper()
	server := mcp.New(verbs.Operations(), verbs.NewRunner(w.App, true), mcp.ServerOptions{Now: time.Now})
	web := httptest.NewServer(server.Handler())
	client := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, nil)
	session := must.Get(client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: web.URL}, nil))(t)
	t.Cleanup(func() {
		_ = session.Close()
		server.Close(context.WithoutCancel(t.Context()))
		web.Close()
	})
	return session
}
