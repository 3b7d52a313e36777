// Package trade brings the local memory and another one to the same state: fetch, push, both with merges, and
// purges. It supports every transport; its functions return what they did.
package trade

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange/remote"
	"github.com/mnem-project/mnem/internal/exchange/remote/mirror"
	"github.com/mnem-project/mnem/internal/exchange/remote/place"
	"github.com/mnem-project/mnem/internal/exchange/remote/server"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/internal/verb/transfer"
)

// Connect connects to a remote. A mirror, if needed, is in dir, or in a temporary directory if dir is empty.
func Connect(ctx context.Context, h *place.Host, r place.Remote, dir string) (remote.Side, error) {
	u, err := place.ParseURL(r.URL)
	if err == nil {
		err = r.Check()
	}
	if err != nil {
		return nil, err
	}
	switch u.Scheme {
	case "http", "https":
		return server.Reach(ctx, h, u.At)
	case "ssh":
		return server.ReachSSH(h, u)
	case "git+file", "git+http", "git+https", "git+ssh":
		return mirror.InGit(ctx, h, u, r, dir)
	case "s3":
		return mirror.InBucket(h, u, r, dir)
	}
	kept := dir
	dir = h.Absolute(u.Path)
	if len(r.Encrypt) > 0 || mirror.IsFolder(dir) {
		return mirror.InFolder(h, dir, r, kept)
	}
	if filepath.Base(dir) == core.DirName {
		dir = filepath.Dir(dir)
	}
	if _, err := os.Stat(filepath.Join(dir, core.DirName)); err != nil {
		missing := &noRepositoryError{state.NotFoundError{What: "repository", Name: dir}}
		if isGit(dir) {
			return nil, verb.Hintf(fmt.Errorf("%w, but one of git", missing), "a git repository has the URL %s", plain.Shell(place.GitURL(dir)))
		}
		return nil, verb.Hintf(missing, "correct the path or URL; 'mnem init %s' makes a repository there", plain.Shell(dir))
	}
	return h.Side(dir, false), nil
}

// noRepositoryError is returned for a directory without a repository.
type noRepositoryError struct{ state.NotFoundError }

func (e *noRepositoryError) Unwrap() error { return &e.NotFoundError }

func isGit(dir string) bool {
	for name, isDir := range map[string]bool{"HEAD": false, "objects": true, "refs": true} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.IsDir() != isDir {
			return false
		}
	}
	return true
}

// correct adds a hint on correcting a remote's URL to the error about a directory without a repository.
func correct(err error, name string) error {
	var missing *noRepositoryError
	if !errors.As(err, &missing) {
		return err
	}
	if isGit(missing.Name) {
		return verb.Hintf(err, "a git repository has another URL: mnem remote add --force %s %s", plain.Shell(name),
			plain.Shell(place.GitURL(missing.Name)))
	}
	return verb.Hintf(err, "make one there with 'mnem init %s', or correct it with 'mnem remote add --force %s URL'",
		plain.Shell(missing.Name), plain.Shell(name))
}

// Try tests whether a remote's store serializes conditional writes, if that is uncertain and access is not denied.
func Try(ctx context.Context, h *place.Host, here *Local, r place.Remote) (tried bool, err error) {
	u, err := place.ParseURL(r.URL)
	if err != nil || u.Scheme != "s3" {
		return true, err
	}
	b, err := mirror.InBucket(h, u, r, here.Mirror(r.Name))
	if err != nil {
		return false, err
	}
	defer func() { _ = b.Close() }() // it is kept
	return b.Try(ctx)
}

// Local is the local repository.
type Local struct {
	remote.Side
	branching.Asker
	Dir    string // that holds .mnem
	Signed bool   // whether incoming commits must be signed
}

// Path returns the directory of the repository itself.
func (l *Local) Path() string { return filepath.Join(l.Dir, core.DirName) }

// Kept returns the directory of a remote's files, next to the repository: incoming and outgoing packs.
func (l *Local) Kept(name string) string { return filepath.Join(l.Path(), "remotes", name) }

// Mirror returns the directory of a remote's mirror, if it needs one.
func (l *Local) Mirror(name string) string { return l.Kept(name) + ".git" }

// Transfer is a transfer between the local repository and another one.
type Transfer struct {
	host   *place.Host
	remote place.Remote
	here   *Local
	there  remote.Side
	opt    remote.TransferOptions
}

// Open connects to a remote. End must be called.
func Open(ctx context.Context, h *place.Host, here *Local, r place.Remote, dryRun bool) (*Transfer, error) {
	there, err := Connect(ctx, h, r, here.Mirror(r.Name))
	if err != nil {
		return nil, correct(err, r.Name)
	}
	return Between(h, here, r, there, dryRun), nil
}

// Between returns a transfer with a connected remote.
func Between(h *place.Host, here *Local, r place.Remote, there remote.Side, dryRun bool) *Transfer {
	limit := int64(remote.MaxPack)
	if free, ok := filestate.FreeSpace(here.Path()); ok {
		limit = int64(min(uint64(limit), free/2)) // the other side must not be able to fill the disk
	}
	return &Transfer{h, r, here, there, remote.TransferOptions{
		Name: r.Name, Dir: here.Kept(r.Name), DryRun: dryRun, MaxPack: max(limit, 1), Progress: h.Progress,
	}}
}

// WithSessions includes sessions in the transfer, if requested.
func (t *Transfer) WithSessions(sessions bool) *Transfer {
	t.opt.Sessions = sessions
	return t
}

// End ends the transfer.
func (t *Transfer) End() {
	t.host.Over()
	_ = t.there.Close() // errors were returned before
}

// keepReaders has the list of remotes name the readers that the remote has now: a store that is made later at another
// place is for these.
func keepReaders(ctx context.Context, here *Local, r place.Remote, there remote.Side) error {
	now := EncryptedFor(there)
	if now == nil || slices.Equal(now, r.Encrypt) {
		return nil
	}
	err := place.Edit(ctx, filepath.Join(here.Path(), place.ListFile), place.Change(r.Name, func(r *place.Remote) { r.Encrypt = now }))
	if errors.As(err, new(*state.NotFoundError)) {
		return nil // it was removed in between
	}
	return err
}

// Readers lists or changes the readers of an encrypted remote.
func Readers(
	ctx context.Context, h *place.Host, here *Local, r place.Remote, change mirror.ReadersChange,
) (*mirror.Readers, error) {
	there, err := Connect(ctx, h, r, here.Mirror(r.Name))
	if err != nil {
		return nil, err
	}
	defer h.Over()
	defer func() { _ = there.Close() }() // errors were returned before
	at, ok := there.(interface {
		Readers(context.Context, mirror.ReadersChange) (*mirror.Readers, error)
	})
	if !ok {
		return nil, fmt.Errorf("%w: %s is a repository and not encrypted", state.ErrInvalid, r.Name)
	}
	got, err := at.Readers(ctx, change)
	if err != nil {
		return nil, err
	}
	return got, keepReaders(ctx, here, r, there)
}

// EncryptedFor returns the readers of an encrypted remote that was looked at, nil for any other one.
func EncryptedFor(there remote.Side) []string {
	if at, ok := there.(interface{ EncryptedFor() []string }); ok {
		return at.EncryptedFor()
	}
	return nil
}

// Fetch fetches from the remote.
func (t *Transfer) Fetch(ctx context.Context, prune bool) (*remote.Fetched, error) {
	opt := remote.FetchOptions{TransferOptions: t.opt, Prune: prune, AcceptPurge: t.remote.AcceptPurge == place.AcceptAlways}
	trusts, err := t.host.TrustPurge()
	if err != nil {
		return nil, err
	}
	if trusts != nil {
		opt.Trusted = func(told care.ToldRedaction) bool {
			key, signed := transfer.SignerOf(told)
			return signed && trusts(key)
		}
	}
	out, err := remote.Fetch(ctx, t.here, t.there, opt)
	t.host.Over()
	if err != nil {
		return nil, err
	}
	if err := t.notice(ctx, out); err != nil {
		return nil, err
	}
	if t.opt.DryRun {
		return out, nil
	}
	return out, keepReaders(ctx, t.here, t.remote, t.there)
}

// Push pushes refs to the remote; the transfer's options replace those in opt.
func (t *Transfer) Push(ctx context.Context, opt remote.PushOptions) (*remote.Pushed, error) {
	opt.TransferOptions = t.opt
	res, err := remote.Push(ctx, t.here, t.there, opt)
	t.host.Over()
	if errors.Is(err, state.ErrConflict) {
		name := t.remote.Name
		return nil, verb.Hintf(err, "fetch and merge what is there first: 'mnem sync %s' does all of it", plain.Shell(name))
	}
	return res, err
}

// Refs returns the refs with the given names, and all branches or tags if requested; if nothing is given, the
// current branch.
func (t *Transfer) Refs(ctx context.Context, names []string, branches, tags bool) ([]graph.RefName, error) {
	st, err := t.here.Look(ctx, remote.Question{})
	if err != nil {
		return nil, err
	}
	there := make(map[graph.RefName]bool)
	var refs []graph.RefName
	for _, ref := range st.Refs {
		there[ref.Name] = true
		tag := strings.HasPrefix(string(ref.Name), graph.Tags)
		if tags && tag || branches && !tag {
			refs = append(refs, ref.Name)
		}
	}
	for _, name := range names {
		ref := graph.RefName(name)
		if !strings.HasPrefix(name, "refs/") {
			ref = graph.BranchRef(name)
			if tag := graph.RefName(graph.Tags + name); !there[ref] && there[tag] {
				ref = tag
			}
		}
		refs = append(refs, ref)
	}
	switch {
	case len(refs) > 0 || branches || tags:
		return refs, nil
	case st.Head == "":
		return nil, verb.Hintf(verb.Usagef("HEAD is on no branch"), "name the branch to push")
	case !there[st.Head]:
		return nil, nil // there is no commit yet
	}
	return []graph.RefName{st.Head}, nil
}
