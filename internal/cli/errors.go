package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/filestate"
	"github.com/mnem-project/mnem/internal/keyring"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/operation"
	"github.com/mnem-project/mnem/policy"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
)

// usageError is a command line that makes no sense.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// hintError adds the next step to an error.
type hintError struct {
	err  error
	hint string
}

func (e hintError) Error() string { return e.err.Error() }
func (e hintError) Unwrap() error { return e.err }

func hint(err error, format string, args ...any) error {
	return hintError{err, fmt.Sprintf(format, args...)}
}

// existsError says what is there already, where the system speaks of files.
type existsError struct {
	what string
	err  error
}

func (e existsError) Error() string { return e.what + " already exists" }
func (e existsError) Unwrap() error { return e.err }

func already(err error, format string, args ...any) error {
	return existsError{fmt.Sprintf(format, args...), err}
}

// noRepoError says where no repository was found.
type noRepoError struct {
	dir string
	err error
}

func (e noRepoError) Error() string { return "no repository in " + e.dir + " or above it" }
func (e noRepoError) Unwrap() error { return e.err }

// lockHint says what to do about a repository that may not be written, or not even its lock file.
func lockHint(err error) error {
	var at *fs.PathError
	if !errors.As(err, &at) ||
		!errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
		return err
	}
	if filepath.Base(at.Path) != lockFile {
		return hint(err, "writing needs write permission to %s and what is in it; reading and --dry-run do not",
			filepath.Dir(at.Path))
	}
	return hint(err, "reading needs read permission to %s, writing write permission too", at.Path)
}

// lockFile is the name of the lock file in a repository's db directory.
const lockFile = "LOCK"

// outcomeOf maps an error to its row of the error table.
func outcomeOf(ctx context.Context, err error) operation.Outcome {
	is := func(targets ...error) bool {
		for _, t := range targets {
			if errors.Is(err, t) {
				return true
			}
		}
		return false
	}
	var usage usageError
	var part *operation.Error // of a command line that this one ran
	switch {
	case err == nil:
		return operation.OK
	case errors.As(err, &part):
		return part.Outcome
	case ctx.Err() != nil && is(context.Canceled, context.DeadlineExceeded): // or a server's time is up
		return operation.Interrupted
	case errors.As(err, &usage):
		return operation.Usage
	case is(store.ErrCorrupt):
		return operation.Corrupt
	case is(store.ErrBusy, filestate.ErrLocked):
		return operation.Busy
	case is(store.ErrRedacted):
		return operation.Redacted
	case is(repo.ErrUnsigned, repo.ErrSigned, policy.ErrDenied, errForeign, keyring.ErrExposed, errRevoked,
		errUnconfirmed, errRemote, errOpenToAll, repo.ErrSecret):
		return operation.Refused
	case is(repo.ErrConflict, store.ErrHeadMoved, filestate.ErrMoved):
		return operation.Conflict
	case is(retrieve.ErrRankingVersion):
		return operation.Ranking
	case is(store.ErrNotFound, retrieve.ErrNoProfile):
		return operation.NotFound
	case is(graph.ErrInvalid, repo.ErrInvalid, retrieve.ErrRequest, ipld.ErrJSON, ipld.ErrInvalid,
		ipld.ErrCID, filestate.ErrUnfit, fs.ErrExist):
		return operation.Invalid
	}
	return operation.Failed
}

// kindHint says which command takes what the caller gave to another.
func kindHint(err *repo.KindError) string {
	switch err.Kind {
	case commit.KindCommit, commit.KindTag:
		return "'mnem show' prints a commit"
	case commit.KindOperation:
		return "'mnem op show' prints an operation"
	case retrieve.KindReceipt:
		return "'mnem replay' takes a receipt"
	}
	return "'mnem cat-file' prints whatever it is"
}

// errorJSON is the JSON form of an error.
type errorJSON struct {
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Hint    string `json:"hint,omitempty"`
		Kind    string `json:"kind"` // see operation.Outcome
	} `json:"error"`
}

// report writes an error to the error stream and returns its exit code. The message is one line,
// whatever names are in it.
func (c *cli) report(ctx context.Context, err error) int {
	row := outcomeOf(ctx, err)
	var next hintError
	if !errors.As(err, &next) && errors.Is(err, filestate.ErrLocked) {
		next.hint = "try again; stop the process that has it if it never ends"
	} else if next.hint == "" && row == operation.Busy {
		next.hint = "wait longer with --wait, or stop the other process"
	}
	var part *operation.Error
	if next.hint == "" && errors.As(err, &part) {
		next.hint = part.Hint
	}
	var secret *repo.SecretError
	if next.hint == "" && errors.As(err, &secret) {
		next.hint = c.secretHint(secret)
	}
	var detached *repo.DetachedError
	if next.hint == "" && errors.As(err, &detached) {
		next.hint = "name a branch with --branch, or go to one with 'mnem switch NAME' or " +
			"'mnem switch -c NAME'"
	}
	var kind *repo.KindError
	if next.hint == "" && errors.As(err, &kind) {
		next.hint = kindHint(kind)
	}
	if next.hint == "" && (errors.Is(err, store.ErrNoRoom) || errors.Is(err, syscall.ENOSPC)) {
		next.hint = "make room on the disk and give the command again; 'mnem purge' and 'mnem gc' have " +
			"room of their own"
	}
	message := err.Error()
	if row == operation.Interrupted {
		message = "interrupted"
	}
	if c.global.json || c.global.jsonErrors {
		var body errorJSON
		body.Error.Code, body.Error.Message, body.Error.Hint = row.Code, message, next.hint
		body.Error.Kind = row.Refusal()
		data, _ := encodeJSON(body) // strings always have a JSON form
		fmt.Fprintf(c.app.Stderr, "%s\n", data)
		return row.Exit
	}
	fmt.Fprintf(c.app.Stderr, "%s: %s\n", firstOf(c.program, "mnem"), line(message))
	if next.hint != "" {
		fmt.Fprintf(c.app.Stderr, "hint: %s\n", line(next.hint))
	}
	return row.Exit
}
