package mcp_test

//lint:file-ignore SA1019 these are the clients that the server asks

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/mcp"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// versions are one of the protocol in which servers send requests, and one in which they ask by their answers.
var versions = []string{"2025-06-18", "2026-07-28"}

// project makes a repository that knows one fact.
func project(t *testing.T, dir, fact string) string {
	t.Helper()
	must.OK(t, os.MkdirAll(filepath.Join(dir, "src"), 0o700))
	a := app(dir)
	run(t, a, "", "init")
	run(t, a, "", "remember", fact)
	return dir
}

// root is the address of a folder.
func root(dir string) *sdk.Root {
	path := filepath.ToSlash(dir)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return &sdk.Root{URI: (&url.URL{Scheme: "file", Path: path}).String()}
}

// editor is a client with folders open, connected to 'mnem mcp' that was started in a directory.
func editor(t *testing.T, start *line.App, version string, roots ...*sdk.Root) (*sdk.Client, *sdk.ClientSession) {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "editor", Version: "1"}, nil)
	client.AddRoots(roots...)
	return client, attach(t, client, start, version)
}

// attach connects a client to 'mnem mcp'.
func attach(t *testing.T, client *sdk.Client, start *line.App, version string, args ...string) *sdk.ClientSession {
	t.Helper()
	ours, theirs := pipes()
	a := *start
	a.Stdin, a.Stdout = theirs.r, theirs.w
	done := make(chan int, 1)
	go func() { done <- cli.Run(context.WithoutCancel(t.Context()), &a, append([]string{"mcp"}, args...)) }()
	s, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: ours.r, Writer: ours.w},
		&sdk.ClientSessionOptions{ProtocolVersion: version})
	must.OK(t, err)
	t.Cleanup(func() {
		_ = s.Close()
		ours.w.Close()
		must.Equal(t, <-done, 0, "exit code: ", a.Stderr)
	})
	return s
}

// TestFolders: a server that is started anywhere serves the project that its client has open, and stays with it.
func TestFolders(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			top := t.TempDir()
			one := project(t, filepath.Join(top, "one"), "the staging port is 8441")
			two := project(t, filepath.Join(top, "two words"), "the staging port is 9552")
			none := t.TempDir()
			client, s := editor(t, app(none), version, root(none), root(filepath.Join(two, "src")))
			if got := call(t, s, "recall", map[string]any{"query": "which staging port?"}); !strings.Contains(got.text, "9552") {
				t.Errorf("of two: %s", got.text)
			}
			// Another project than the one that is served is refused, and nothing is written anywhere.
			client.RemoveRoots(root(none).URI, root(filepath.Join(two, "src")).URI)
			client.AddRoots(root(one))
			eventually(t, func() bool {
				a := try(t, s, "remember", map[string]any{"text": "written by mistake"})
				return a.failed && strings.Contains(a.text, "restart the server")
			})
			client.AddRoots(root(two))
			eventually(t, func() bool { return !try(t, s, "recall", map[string]any{"query": "which staging port?"}).failed })
			if got := run(t, app(one), "", "ls", "--json"); strings.Contains(got, "by mistake") {
				t.Errorf("written into one: %s", got)
			}
		})
	}
}

// eventually waits for a notification to have been read, which no answer confirms.
func eventually(t *testing.T, is func() bool) {
	t.Helper()
	for range 1000 {
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("it never was")
}

// TestFoldersWithoutRepository: tools say where there is none and how to make one, find it once it is made, or serve
// the user's own if that is configured; a project's goes before it.
func TestFoldersWithoutRepository(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			dir := t.TempDir()
			_, s := editor(t, app(t.TempDir()), version, root(dir))
			if a := try(t, s, "recall", map[string]any{"query": "x"}); !a.failed || !strings.Contains(a.text, "mnem init") ||
				!strings.Contains(a.text, filepath.Base(dir)) {
				t.Errorf("%+v", a)
			}
			if list, err := s.ListResources(t.Context(), nil); err == nil && len(list.Resources) > 0 {
				t.Errorf("%+v", list)
			}
			project(t, dir, "the staging port is 8441")
			if got := call(t, s, "recall", map[string]any{"query": "which staging port?"}); !strings.Contains(got.text, "8441") {
				t.Errorf("once there is one: %s", got.text)
			}

			home := t.TempDir()
			start := app(home)
			start.Data = home
			run(t, start, "", "init", "--global")
			run(t, start, "", "remember", "--global", "the user prefers tabs")
			run(t, start, "", "config", "set", "--user", "mcp.fallback", "global")
			_, s = editor(t, start, version, root(t.TempDir()))
			if got := call(t, s, "recall", map[string]any{"query": "does the user prefer tabs?"}); !strings.Contains(got.text, "tabs") {
				t.Errorf("of the user: %s", got.text)
			}
			_, s = editor(t, start, version, root(dir))
			if got := call(t, s, "recall", map[string]any{"query": "which staging port?"}); !strings.Contains(got.text, "8441") {
				t.Errorf("of the project next to a user's: %s", got.text)
			}
		})
	}
}

// TestFoldersUnknown: if a client has no roots, names none of this machine, or does not answer, it is the working
// directory; what was named goes before what is open.
func TestFoldersUnknown(t *testing.T) {
	top := t.TempDir()
	here := project(t, filepath.Join(top, "here"), "the staging port is 8441")
	open := project(t, filepath.Join(top, "open"), "the staging port is 9552")
	ask := func(s *sdk.ClientSession) string {
		return call(t, s, "recall", map[string]any{"query": "which staging port?"}).text
	}
	for _, version := range versions {
		for name, roots := range map[string][]*sdk.Root{
			"none": nil, "elsewhere": {{URI: "vscode-remote://x/y"}, {URI: "file://host/share"}, {URI: "%"}, {URI: "file:relative"}},
		} {
			if _, s := editor(t, app(here), version, roots...); !strings.Contains(ask(s), "8441") {
				t.Errorf("%s, %s: not that of the working directory", version, name)
			}
		}
		client := sdk.NewClient(&sdk.Implementation{Name: "editor"}, &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}})
		if s := attach(t, client, app(here), version); !strings.Contains(ask(s), "8441") {
			t.Errorf("%s: a client without roots", version)
		}
		client = sdk.NewClient(&sdk.Implementation{Name: "editor"}, nil)
		client.AddRoots(root(open))
		if s := attach(t, client, app(t.TempDir()), version, "-R", here); !strings.Contains(ask(s), "8441") {
			t.Errorf("%s: what was named does not go first", version)
		}
	}
}

// TestFoldersSilent: a client that says it has roots and never names them does not keep a call waiting for ever.
func TestFoldersSilent(t *testing.T) {
	a := memory(t, facts)
	told, end := make(chan []string, 9), make(chan struct{})
	s := server(a, mcp.ServerOptions{Folders: func(list []string) { told <- list }, FoldersWait: time.Millisecond})
	client := sdk.NewClient(&sdk.Implementation{Name: "silent"}, nil)
	client.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if method == "roots/list" {
				<-end
			}
			return next(ctx, method, req)
		}
	})
	ours, theirs := pipes()
	go func() { _ = s.Run(context.WithoutCancel(t.Context()), theirs.r, theirs.w) }()
	session, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: ours.r, Writer: ours.w},
		&sdk.ClientSessionOptions{ProtocolVersion: versions[0]})
	must.OK(t, err)
	defer func() { close(end); _ = session.Close(); ours.w.Close() }()
	call(t, session, "show", map[string]any{"name": "alice"})
	call(t, session, "show", map[string]any{"name": "bruno"})
	if list := <-told; list != nil || len(told) != 0 {
		t.Errorf("%q, and %d more", list, len(told))
	}
}
