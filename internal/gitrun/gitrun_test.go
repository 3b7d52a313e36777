package gitrun

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestRunGit has a program in the place of git print too much, complain a lot, fail, and be interrupted.
func TestRunGit(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	program := filepath.Join(t.TempDir(), "git")
	run := func(ctx context.Context, script string) (string, error) {
		t.Helper()
		must.OK(t, os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o755))
		out := &Buffer{Limit: 1000}
		err := Run(exec.CommandContext(ctx, program), "show", out)
		return out.String(), err
	}
	const lines = "i=0; while [ $i -lt 1000 ]; do echo a line of many; i=$((i+1)); done"
	must.Equal(t, must.Get(run(t.Context(), "("+lines+") >&2; echo done"))(t), "done\n", "with many warnings")
	out, err := run(t.Context(), lines)
	if !errors.Is(err, state.ErrInvalid) || len(out) > 1000 || !strings.Contains(err.Error(), "git show: ") {
		t.Errorf("%d bytes are kept of too many: %v", len(out), err)
	}
	_, err = run(t.Context(), "("+lines+") >&2; exit 3")
	var told *Error
	if !errors.As(err, &told) || len(err.Error()) > 5000 || !strings.Contains(err.Error(), "a line of many") {
		t.Errorf("refused: %.200v", err)
	}
	if _, err := run(t.Context(), "exit 3"); err == nil || err.Error() != "git show: exit status 3" {
		t.Errorf("refused without a word: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := run(ctx, "echo x"); Interrupted(ctx, err) != context.Canceled {
		t.Errorf("interrupted: %v", err)
	}
	t.Setenv("GIT_DIR", "/elsewhere")
	t.Setenv("GIT_INDEX_FILE", "/elsewhere")
	for _, v := range Program(t.Context()).Env {
		name, _, _ := strings.Cut(v, "=")
		must.True(t, name == "LC_ALL" || !slices.Contains(variables, name), "%s is handed on", v)
	}
}
