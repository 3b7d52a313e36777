package core

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/postgres"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// anewFor is how long a transaction is retried while other processes move the head.
	anewFor = 30 * time.Second
	// maxReplayed is how many changes are kept to apply them again.
	maxReplayed = 100_000
	// linkFile says in which database a directory's repository is.
	linkFile = "database"
	maxLink  = 4096
)

// LinkFile returns the file in dir/.mnem with the URL of the database that holds the repository, if one does.
// Files of the client, such as its configuration, are in the same directory.
func LinkFile(dir string) string { return filepath.Join(dir, DirName, linkFile) }

// readLink returns the URL of the database that a repository's directory links to, "" for none.
func readLink(path string) (string, error) {
	f, err := regular.Open(filepath.Join(path, linkFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was read
	data, err := io.ReadAll(io.LimitReader(f, maxLink+1))
	at := strings.TrimSpace(string(data))
	if err == nil && (len(data) > maxLink || !postgres.IsURL(at)) {
		err = fmt.Errorf("%s: %w: want the URL of a database", f.Name(), state.ErrInvalid)
	}
	return at, err
}

// IsDatabase reports whether a text is the URL of a database that may have repositories, and not a path.
func IsDatabase(s string) bool { return postgres.IsURL(s) }

// CheckDatabase returns an error of ErrInvalid if the URL of a repository in a database cannot be read.
func CheckDatabase(at string) error {
	if len(at) > maxLink-1 {
		return state.Invalidf("the URL of the database has %d bytes, limit %d", len(at), maxLink-1)
	}
	if _, _, err := postgres.Parse(at); err != nil {
		return fmt.Errorf("%w: %w", state.ErrInvalid, err)
	}
	return nil
}

// maxClient is how many bytes the name of a client may have.
const maxClient = 64

// CheckClient returns an error of ErrInvalid unless a text may be the name of a client.
func CheckClient(name string) error {
	if len(name) > maxClient || strings.Contains(name, "/") {
		return state.Invalidf("client %q: want one part of at most %d bytes", name, maxClient)
	}
	if err := graph.ValidateName(name); err != nil {
		return fmt.Errorf("%w: client: %w", state.ErrInvalid, err)
	}
	return nil
}

// ShownDatabase is the URL of a repository in a database without its password.
func ShownDatabase(at string) string { return postgres.Shown(at) }

// Database is the connection of a server to a database with several repositories.
type Database = postgres.Database

// OpenDatabase returns the connection to the database of a URL, and the name of the repository which that names.
func OpenDatabase(at string) (*Database, string, error) {
	_, name, err := postgres.Parse(at)
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", state.ErrInvalid, err)
	}
	d, err := postgres.OpenDatabase(at)
	return d, name, err
}

// LinkedDatabase returns the URL of the database that the repository of a directory is in, "" for none.
func LinkedDatabase(dir string) (string, error) { return readLink(filepath.Join(dir, DirName)) }

// Shared reports whether other processes may have the repository open at the same time.
func (r *Repo) Shared() bool { return r.SharedStore != nil }

// share makes the repository one of several over a store, if it is such a store.
func (r *Repo) share() {
	sh, ok := r.Store.(store.Shared)
	if !ok {
		return
	}
	r.SharedStore, r.Writer.shared = sh, sh
	sh.Erased(r.forgetErased)
	if !r.Ro {
		sh.Keep(r.Keep.Leased)
	}
}

// forgetErased drops what was made of blocks that another process has erased.
func (r *Repo) forgetErased() {
	defer r.SweepCount.Add(1)
	r.ForgetOpened()
}

// ForgetOpened drops open indexes, digests and other derived blocks, which other processes may have removed
// without notice. The next use opens them again.
func (r *Repo) ForgetOpened() {
	r.IndexMu.Lock()
	defer r.IndexMu.Unlock()
	r.Communities.Mu.Lock()
	defer r.Communities.Mu.Unlock()
	r.Digests.Mu.Lock()
	defer r.Digests.Mu.Unlock()
	r.Digests.Clear()
	r.Indexes().Forget()
	r.Rows.Clear()
	r.Parts.Clear()
	r.Vectors.Clear()
}

// TransactAnew runs a transaction until no other process was first, bounded by time.
func (r *Repo) TransactAnew(ctx context.Context, once func() (ipld.CID, error)) (ipld.CID, error) {
	var over <-chan time.Time
	for {
		c, err := once()
		if r.SharedStore == nil || !errors.Is(err, store.ErrHeadMoved) {
			return c, err
		}
		if over == nil {
			limit := time.NewTimer(anewFor)
			defer limit.Stop()
			over = limit.C
		}
		select {
		case <-over:
			return c, fmt.Errorf("%w: other processes were first each time for %s: %w", store.ErrBusy, anewFor, err)
		case <-ctx.Done():
			return c, ctx.Err()
		default:
		}
	}
}

// Replayed returns changes that can be applied again, as their reader may yield them only once. In a store of
// one process they never are.
func (r *Repo) Replayed(changes state.Changes) state.Changes {
	if r.SharedStore == nil || changes == nil {
		return changes
	}
	var kept []graph.Change
	read := false
	return func(yield func(graph.Change, error) bool) {
		if read {
			if len(kept) > maxReplayed {
				yield(graph.Change{}, fmt.Errorf("%w: another process was first, and more than %d changes are not kept",
					store.ErrBusy, maxReplayed))
				return
			}
			Each(kept)(yield)
			return
		}
		read = true
		for c, err := range changes {
			if err == nil && len(kept) <= maxReplayed {
				kept = append(kept, c)
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// Since returns what says whether blocks that are put from now on are still there.
func (r *Repo) Since(ctx context.Context) (check func(context.Context) error, err error) {
	if r.SharedStore == nil || r.Ro {
		return func(context.Context) error { return nil }, nil
	}
	return r.SharedStore.Since(ctx)
}

// Hear rings the bell when other processes move the head, until what it returns is called.
func (r *Repo) Hear(ctx context.Context) (stop func()) {
	if r.SharedStore == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	go r.SharedStore.Listen(ctx, r.Bell.ring)
	return cancel
}

// Abandoned returns the note of work that no process is doing any more. Who does such work has the turn.
func (r *Repo) Abandoned(ctx context.Context, notes store.Notebook) ([]byte, error) {
	if err := r.Writer.Lock(ctx); err != nil {
		return nil, err
	}
	defer r.Writer.Unlock()
	return notes.Note(ctx)
}
