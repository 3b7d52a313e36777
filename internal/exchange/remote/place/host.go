package place

import (
	"context"
	"io"
	"path/filepath"
	"time"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/internal/exchange/remote"
)

// Host is the program that transfers are made by, as far as they need it: they look nothing up themselves.
type Host struct {
	// Side returns the repository in a directory, which may be open in another process; one that is tried only checks
	// what it would take in.
	Side func(dir string, try bool) remote.Side
	// Init makes an empty repository in dir whose HEAD is on a branch, as a copy here of what is elsewhere: nothing
	// in it is signed or guarded.
	Init func(ctx context.Context, dir, branch string) error

	Author      func() (string, error) // who makes changes, "" if nobody is named
	Agent, Task string
	Time        string // of changes, "" for when they are made

	Getenv func(name string) string
	Now    func() time.Time
	// Pause waits, or returns an error where the context ends first.
	Pause func(ctx context.Context, d time.Duration) error
	// Spread is a number by which processes that begin at once do not go on at once.
	Spread int
	Rand   io.Reader

	// Dir is that from which paths of remotes begin, Config the user's own configuration, "" for none, and Helper
	// returns the program that tells tokens, "" for none.
	Dir    string
	Config string
	Helper func() (string, error)
	// Stderr is where programs that are started complain, Terminal whether a person reads it.
	Stderr   io.Writer
	Terminal bool
	// TrustPurge returns what says which keys are trusted to erase, nil if no key is trusted.
	TrustPurge func() (func(commit.Key) bool, error)
	// Progress is told how many bytes have come or gone, and Over is called when no more do.
	Progress func(what string, bytes int64)
	Over     func()
}

// Absolute returns a path from the host's directory.
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
