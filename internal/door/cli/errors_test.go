package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// world is a program with its surroundings in a directory of its own.
type world struct {
	*line.App
	t        *testing.T
	ctx      context.Context
	out, err bytes.Buffer
	env      map[string]string
	servers  map[string]string // addresses of models by spec, or by provider
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, ctx: t.Context(), env: map[string]string{"SOURCE_DATE_EPOCH": "1767323045"}}
	w.App = &line.App{
		Stdin: strings.NewReader(""), Stdout: &w.out, Stderr: &w.err, Now: time.Now,
		Getenv: func(name string) string { return w.at(w.env[name]) },
		Rand:   mathrand.NewChaCha8([32]byte{1}),
		Dir:    t.TempDir(), User: "Sys Tem", PID: os.Getpid(),
		Executable: "/opt/bin/mnem",
	}
	w.Home = filepath.Join(w.Dir, "home")
	w.Config, w.Data = filepath.Join(w.Home, "config"), filepath.Join(w.Home, "data")
	return w
}

// init makes a repository that is checked at the end.
func (w *world) init() {
	w.t.Helper()
	w.run(0, "init")
	w.t.Cleanup(func() {
		w.ctx = context.Background()
		w.run(0, "fsck", "--full")
	})
}

// run runs a command line that must end with an exit code, and returns what it printed.
func (w *world) run(exit int, args ...string) (stdout, stderr string) {
	w.t.Helper()
	w.out.Reset()
	w.err.Reset()
	args = w.words(args)
	if got := Run(w.ctx, w.App, args); got != exit {
		w.t.Fatalf("mnem %q: exit code %d, want %d\n%s%s", args, got, exit, &w.out, &w.err)
	}
	return w.out.String(), w.err.String()
}

// words returns a command line whose models are at a test's servers.
func (w *world) words(args []string) (words []string) {
	for _, word := range args {
		words = append(words, w.at(word))
	}
	return words
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

func (w *world) write(name, text string) {
	w.t.Helper()
	must.OK(w.t, os.WriteFile(filepath.Join(w.Dir, name), []byte(text), 0o600))
}

const aliceLine = `{"node":{"key":"alice","type":"Person"}}` + "\n"

// provocations return command lines with the outcomes that no script has, by code.
var provocations = map[string]func(w *world) []string{
	"busy": func(w *world) []string {
		w.init()
		r := must.Get(care.Open(w.Dir, core.Options{PID: w.PID}))(w.t)
		w.t.Cleanup(func() {
			if err := r.Close(); err != nil {
				w.t.Error(err)
			}
		})
		return []string{"status", "--wait", "10ms"}
	},
	"interrupted": func(w *world) []string {
		w.init()
		in, _ := io.Pipe() // as a person who does not type
		w.t.Cleanup(func() { _ = in.Close() })
		var cancel context.CancelFunc
		w.Stdin = in
		w.ctx, cancel = context.WithCancel(w.t.Context())
		time.AfterFunc(20*time.Millisecond, cancel)
		return []string{"commit", "-m", "x", "-"}
	},
}

// withoutError are the outcomes that no error stands for: the tests of those commands see them.
var withoutError = map[string]bool{"ok": true, "mismatch": true, "incomplete": true, "unknown": true}

// outOfReach are the outcomes that only another release of the program can cause.
var outOfReach = map[string]error{
	"ranking_version": fmt.Errorf("replay: %w", retrieve.ErrRankingVersion),
}

// TestEveryOutcome sees to it that each outcome is provoked, here or by a script.
func TestEveryOutcome(t *testing.T) {
	effort.Alone(t)
	scripts := ""
	files := must.Get(filepath.Glob("testdata/script/*.txtar"))(t)
	for _, file := range files {
		text := must.Get(os.ReadFile(file))(t)
		scripts += string(text)
	}
	for _, row := range operation.Outcomes() {
		t.Run(row.Code, func(t *testing.T) {
			if withoutError[row.Code] {
				return
			}
			if err := outOfReach[row.Code]; err != nil {
				must.Equal(t, line.OutcomeOf(t.Context(), err), row, err)
				return
			}
			provoke, ok := provocations[row.Code]
			if !ok {
				must.Contain(t, scripts, `"code":"`+row.Code+`"`, "nothing provokes this row of the table")
				return
			}
			w := newWorld(t)
			args := provoke(w)
			_, stderr := w.run(row.Exit, append(args, "--json")...)
			want := fmt.Sprintf(`{"error":{"code":%q,"message":`, row.Code)
			if !strings.HasPrefix(stderr, want) || !json.Valid([]byte(stderr)) {
				t.Errorf("stderr %q, want %s…", stderr, want)
			}
		})
	}
}

func TestOutcomeOfWrappedErrors(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		ctx  context.Context
		err  error
		want operation.Outcome
	}{
		{t.Context(), nil, operation.OK},
		{t.Context(), errors.New("disk full"), operation.Failed},
		{t.Context(), &state.NotFoundError{What: "node", Name: "x"}, operation.NotFound},
		{t.Context(), &state.AmbiguousError{What: "node", Name: "x"}, operation.Invalid},
		{t.Context(), &core.MergeError{}, operation.Conflict},
		{t.Context(), line.Hint(fmt.Errorf("x: %w", &state.ExpectError{}), "look"), operation.Conflict},
		{t.Context(), fmt.Errorf("x: %w", store.ErrHeadMoved), operation.Conflict},
		{t.Context(), &store.CorruptError{}, operation.Corrupt},
		{t.Context(), &state.MissingError{}, operation.Corrupt},
		// Damage goes before what it looks like.
		{t.Context(), fmt.Errorf("%w: %w", store.ErrCorrupt, ipld.ErrInvalid), operation.Corrupt},
		{t.Context(), store.ErrReadOnly, operation.Failed},
		{t.Context(), context.Canceled, operation.Failed}, // without a signal
		{cancelled, fmt.Errorf("x: %w", context.Canceled), operation.Interrupted},
		{cancelled, line.Usagef("flag"), operation.Usage},
	}
	for _, tt := range tests {
		must.Equal(t, line.OutcomeOf(tt.ctx, tt.err), tt.want, tt.err)
	}
}

// failing is a stream that cannot be written.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestResultsThatCannotBeWritten(t *testing.T) {
	w := newWorld(t)
	w.Stdout = failing{&os.PathError{Op: "write", Path: "stdout", Err: syscall.EPIPE}}
	w.run(0, "version")
	must.True(t, w.err.Len() == 0, "a closed pipe is reported: %s", &w.err)
	w.Stdout = failing{errors.New("disk full")}
	w.run(1, "version")
	must.Equal(t, w.err.String(), "mnem: disk full\n", "stderr")
}
