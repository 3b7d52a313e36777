// Package gitrun runs git, whose output it bounds.
package gitrun

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
)

const (
	// maxSaid is how much of what git says on its error stream is kept, in bytes, maxShown how many characters of
	// that are shown.
	maxSaid  = 4 << 10
	maxShown = 1000
)

// variables are those with which git's environment selects a repository, as in a hook that runs this program. They are
// removed, because here the directory selects it.
var variables = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
	"GIT_QUARANTINE_PATH", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX", "LC_ALL", "LANGUAGE",
}

// Program returns git, about the repository that its arguments name.
func Program(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(variables, name)
	}), "LC_ALL=C")
	return cmd
}

// Run runs a command of git, and puts its output into out unless that is nil. It returns an *Error if git fails.
func Run(cmd *exec.Cmd, name string, out *Buffer) error {
	said := &Buffer{Limit: maxSaid, cut: true}
	cmd.Stderr = said
	if out != nil {
		cmd.Stdout = out
	}
	err := cmd.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return verb.Hint(fmt.Errorf("git: %w", err), "install git, or put it on the PATH", "")
	case out != nil && out.Over:
		return fmt.Errorf("git %s: %w", name, out.Err())
	case err != nil:
		return &Error{name, plain.Brief(strings.TrimSpace(said.String()), maxShown), err}
	}
	return nil
}

// Error holds git's error message.
type Error struct {
	command string
	Says    string // at most so much as is shown
	err     error
}

func (e *Error) Error() string { return "git " + e.command + ": " + cmp.Or(e.Says, e.err.Error()) }
func (e *Error) Unwrap() error { return e.err }

// Buffer keeps written bytes up to a limit. Beyond it, it refuses further bytes, or drops them if cut is set.
type Buffer struct {
	kept  bytes.Buffer // not embedded: its ReadFrom knows no limit
	Limit int          // in bytes
	cut   bool
	Over  bool // whether there was more
}

func (b *Buffer) String() string { return b.kept.String() }

func (b *Buffer) Write(p []byte) (int, error) {
	if b.kept.Len()+len(p) <= b.Limit {
		return b.kept.Write(p)
	}
	b.Over = true
	if !b.cut {
		return 0, b.Err()
	}
	_, _ = b.kept.Write(p[:b.Limit-b.kept.Len()]) // a buffer in memory
	return len(p), nil
}

// Err returns an error if bytes were refused.
func (b *Buffer) Err() error {
	if !b.Over || b.cut {
		return nil
	}
	return fmt.Errorf("%w: it prints more than %d bytes", state.ErrInvalid, b.Limit)
}

// Interrupted returns the context's error if that caused err.
func Interrupted(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
