package place

import (
	"context"
	"io"
	"path/filepath"
	"time"

	"filippo.io/age"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/internal/exchange/remote"
)

// Host provides what transfers need from the program: they look up nothing themselves.
type Host struct {
	// Side returns the repository in a directory, which may be open in another process; with try it only checks
	// what it would take in.
	Side func(dir string, try bool) remote.Side
	// Init makes an empty repository in dir with HEAD on a branch, as a local copy of another one: nothing in it is
	// signed or guarded.
	Init func(ctx context.Context, dir, branch string) error

	Author      func() (string, error) // who makes changes, "" if unknown
	Agent, Task string
	Time        string // of changes, "" for when they are made

	Getenv func(name string) string
	Now    func() time.Time
	// Pause waits, or returns an error if the context ends first.
	Pause func(ctx context.Context, d time.Duration) error
	// Spread is a number that differs between processes, to spread their retries.
	Spread int
	Rand   io.Reader

	// Dir is the base of relative paths of remotes, Config the user's own configuration, "" for none, and Helper
	// returns the program that prints tokens, "" for none.
	Dir    string
	Config string
	Helper func() (string, error)
	// Stderr receives the errors of child processes; Terminal is whether a person reads it.
	Stderr   io.Writer
	Terminal bool
	// Identities returns the identities that open encrypted remotes: those of a file, or if path is "" the user's.
	// Passphrase asks for a passphrase.
	Identities func(path string) ([]age.Identity, error)
	Passphrase func() (string, error)
	// TrustPurge returns a function that reports which keys are trusted to erase, nil if no key is.
	TrustPurge func() (func(commit.Key) bool, error)
	// Progress receives the number of bytes transferred, and Over is called at the end.
	Progress func(what string, bytes int64)
	Over     func()
}

// Absolute resolves a path against the host's directory.
func (h *Host) Absolute(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(h.Dir, path)
}

// Env returns the value of the first variable that is set.
func (h *Host) Env(names ...string) string {
	for _, name := range names {
		if v := h.Getenv(name); v != "" {
			return v
		}
	}
	return ""
}
