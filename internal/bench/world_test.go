package bench

import (
	"bytes"
	"context"
	mathrand "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/ramdir"
)

// asProgram makes the test binary be mnem, for processes that a command starts. The name does not begin with MNEM_: those are taken out of
// what such a process sees.
const asProgram = "TEST_AS_MNEM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		code := cli.Run(ctx, line.System(), os.Args[1:])
		stop()
		os.Exit(code)
	}
	if err := os.Setenv(asProgram, "1"); err != nil {
		panic(err)
	}
	os.Exit(ramdir.Run(m))
}

// world runs command lines of both programs in a directory.
type world struct {
	*line.App
	t        *testing.T
	out, err bytes.Buffer
	env      map[string]string
	servers  map[string]string // addresses of models by spec, or by provider
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, env: map[string]string{"SOURCE_DATE_EPOCH": "1767323045"}}
	w.App = &line.App{
		Stdin: strings.NewReader(""), Stdout: &w.out, Stderr: &w.err, Now: time.Now,
		Getenv: func(name string) string { return w.env[name] },
		Sleep:  func(ctx context.Context, _ time.Duration) error { return context.Cause(ctx) },
		Rand:   mathrand.NewChaCha8([32]byte{1}),
		Dir:    t.TempDir(), User: "Sys Tem", PID: os.Getpid(),
	}
	w.Home = filepath.Join(w.Dir, "home")
	w.Config, w.Data = filepath.Join(w.Home, "config"), filepath.Join(w.Home, "data")
	return w
}

// run runs a command line of mnem that must end with an exit code, and returns what it printed.
func (w *world) run(exit int, args ...string) (stdout, stderr string) {
	w.t.Helper()
	return w.ends(exit, args, func(ctx context.Context, args []string) int { return cli.Run(ctx, w.App, args) })
}

// bench is run for mnem-bench.
func (w *world) bench(exit int, args ...string) (stdout, stderr string) {
	w.t.Helper()
	return w.ends(exit, args, func(ctx context.Context, args []string) int {
		return Run(ctx, w.App, args)
	})
}

// at appends the address of a test's server to the model that a word ends with.
func (w *world) at(word string) string {
	spec := word[strings.LastIndexByte(word, '=')+1:]
	provider, _, _ := strings.Cut(spec, ":")
	for _, name := range []string{spec, provider} {
		if url := w.servers[name]; url != "" && provider != spec {
			return word + "@" + url
		}
	}
	return word
}

func (w *world) ends(
	exit int, args []string, run func(context.Context, []string) int,
) (stdout, stderr string) {
	w.t.Helper()
	w.out.Reset()
	w.err.Reset()
	args = slices.Clone(args)
	for i := range args {
		args[i] = w.at(args[i])
	}
	if got := run(w.t.Context(), args); got != exit {
		w.t.Fatalf("%q: exit code %d, want %d\n%s%s", args, got, exit, &w.out, &w.err)
	}
	return w.out.String(), w.err.String()
}

func (w *world) write(name, text string) {
	w.t.Helper()
	must.OK(w.t, os.WriteFile(filepath.Join(w.Dir, name), []byte(text), 0o600))
}

// copyIn copies a directory into one of the world.
func (w *world) copyIn(name, from string) {
	w.t.Helper()
	must.OK(w.t, os.CopyFS(filepath.Join(w.Dir, name), os.DirFS(from)))
}

// serveModel starts a server that ends with the test.
func serveModel(t *testing.T, h http.Handler) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}
