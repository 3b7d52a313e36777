package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/repo"
)

// maxSaid is how much of what git says on its error stream is kept, in bytes.
const maxSaid = 4 << 10

// gitVariables are those by which git's environment says which repository is meant, as in a hook that runs this: here
// that is said by directory.
var gitVariables = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
	"GIT_QUARANTINE_PATH", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX", "LC_ALL", "LANGUAGE",
}

// gitProgram returns git, about the repository that its arguments name.
func gitProgram(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(gitVariables, name)
	}), "LC_ALL=C")
	return cmd
}

// runGit runs a command of git, and takes what it prints where out is given.
func runGit(cmd *exec.Cmd, name string, out *boundedBuffer) error {
	said := &boundedBuffer{limit: maxSaid, cut: true}
	cmd.Stderr = said
	if out != nil {
		cmd.Stdout = out
	}
	err := cmd.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return hint(fmt.Errorf("git: %w", err), "install git, or put it on the PATH")
	case out != nil && out.over:
		return fmt.Errorf("git %s: %w", name, out.err())
	case err != nil:
		return &gitError{name, brief(strings.TrimSpace(said.String()), maxShown), err}
	}
	return nil
}

// gitError is what git says went wrong.
type gitError struct {
	command, says string
	err           error
}

func (e *gitError) Error() string { return "git " + e.command + ": " + firstOf(e.says, e.err.Error()) }
func (e *gitError) Unwrap() error { return e.err }

// boundedBuffer keeps what is written up to a limit. It refuses what is beyond, or leaves that out where cut is set.
type boundedBuffer struct {
	kept  bytes.Buffer // not embedded: its ReadFrom knows no limit
	limit int
	cut   bool
	over  bool // whether there was more
}

func (b *boundedBuffer) String() string { return b.kept.String() }

func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.kept.Len()+len(p) <= b.limit {
		return b.kept.Write(p)
	}
	b.over = true
	if !b.cut {
		return 0, b.err()
	}
	_, _ = b.kept.Write(p[:b.limit-b.kept.Len()]) // a buffer in memory
	return len(p), nil
}

// err is about what was refused, nil for nothing.
func (b *boundedBuffer) err() error {
	if !b.over || b.cut {
		return nil
	}
	return fmt.Errorf("%w: it prints more than %d bytes", repo.ErrInvalid, b.limit)
}
