// Package mirror shares memories through stores without any knowledge of them: git repositories (Git) and buckets
// (Bucket). Such a store holds packs, which in order make up the histories of refs, and a small text that lists
// packs and refs and is replaced in one conditional step. All requests go through a local mirror, a repository with
// the store's content as of the last read.
package mirror

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/exchange/remote"
	"github.com/mnem-project/mnem/internal/exchange/remote/place"
	"github.com/mnem-project/mnem/internal/exchange/remote/seal"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb/transfer"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// maxPart is the size of a pack's parts, in bytes.
	maxPart = 40 << 20
	// maxText bounds the texts of refs and of lists of packs, in bytes.
	maxText = 32 << 20
	// mirrorBranch is the branch of a mirror's HEAD, which never exists.
	mirrorBranch = "of-a-mirror"
	// stateFile lists the packs that a mirror has.
	stateFile = "packs"
	// fileMode is the mode of files that describe a memory.
	fileMode = 0o600
)

// mirror is the local mirror of a memory stored elsewhere.
type mirror struct {
	host    *place.Host
	dir     string // the mirror's directory
	repo    string // the directory in it that holds the repository
	here    remote.Side
	close   func() error
	backend backend
	what    string // "git repository"
	name    string // the name of the small text, for messages
	remote  place.Remote
	box     *seal.Box // nil if the store is not encrypted, or empty
	// seenFile remembers the key and the number of an encrypted store. It outlives the mirror.
	seenFile string

	fresh  bool       // whether the repository here was made by this look
	head   string     // the branch that HEAD is on there
	packs  []pack     // as they were read last
	refs   []core.Ref // likewise
	erased []care.ToldRedaction
}

// pack is a stored pack: the names of its parts and, by name or as a text, its refs' targets.
type pack struct {
	parts []string
	refs  string
	size  int64 // in bytes
}

// backend stores packs and the refs that they make up, for many clients.
type backend interface {
	// read reads the store's lists into the empty fields of a mirror, and follow updates the local repository to that.
	read(ctx context.Context) error
	follow(ctx context.Context) error
	// refsOf returns the targets of a pack's refs, in lines, and copyPack writes its bytes to a file.
	refsOf(ctx context.Context, p pack) (string, error)
	copyPack(ctx context.Context, f *os.File, p pack) error
	// add stores news, whose updates say where sessions go, with the resulting refs, and updates the local
	// repository. It returns an error of state.ErrConflict if others pushed since read.
	add(ctx context.Context, news remote.News, refs []core.Ref) error
	// replace replaces all packs by one of the local repository, and records redactions; with the same packs it
	// only writes the lists again.
	replace(ctx context.Context, erased []care.ToldRedaction, samePacks bool) error
	// finish does what an interrupted replace left to do, if anything, and reports whether there was something.
	finish(ctx context.Context) (did bool, err error)
}

// open creates the mirror's directory, a temporary one if none is named.
func (m *mirror) open(pattern string) (err error) {
	m.close, m.seenFile = func() error { return nil }, m.dir+KeySuffix
	if m.dir == "" {
		if m.dir, err = os.MkdirTemp("", pattern); err != nil {
			return err
		}
		m.close, m.seenFile = func() error { return os.RemoveAll(m.dir) }, filepath.Join(m.dir, "key")
	}
	m.repo = filepath.Join(m.dir, "mirror")
	m.here = m.host.Side(m.repo, false)
	return os.MkdirAll(m.dir, 0o700)
}

// Close implements remote.Side.
func (m *mirror) Close() error { return m.close() }

// locked calls fn while no other process uses the mirror.
func (m *mirror) locked(ctx context.Context, fn func() error) error {
	unlock, err := filestate.Lock(ctx, filepath.Join(m.dir, "mnem"))
	if err != nil {
		return err
	}
	defer func() { _ = unlock() }() // the next holder finds it free or reports the error
	return fn()
}

// errNone returns the error for content that is not a memory.
func (m *mirror) errNone(format string, args ...any) error {
	return fmt.Errorf("%w: %s is no memory: %s", state.ErrInvalid, m.name, fmt.Sprintf(format, args...))
}

// errTracking refuses to store tracking refs.
func (m *mirror) errTracking(tracking string) error {
	if tracking != "" {
		return fmt.Errorf("%w: a %s keeps no refs of remotes", state.ErrInvalid, m.what)
	}
	return nil
}

// Look implements remote.Side.
func (m *mirror) Look(ctx context.Context, q remote.Question) (st *remote.State, err error) {
	err = m.locked(ctx, func() error {
		if err := m.refresh(ctx); err != nil {
			return err
		}
		if st, err = m.here.Look(ctx, q); err == nil {
			st.Head = graph.RefName(m.head)
		}
		return err
	})
	return st, err
}

// refresh reads the store and updates the local repository to it. If the local repository cannot be brought
// forward, as after a restore of the store to an older state, it is rebuilt from all packs.
func (m *mirror) refresh(ctx context.Context) error {
	m.head, m.packs, m.refs, m.erased, m.fresh = "", nil, nil, nil, false
	if err := m.backend.read(ctx); err != nil {
		return err
	}
	err := m.backend.follow(ctx)
	if !errors.Is(err, errNotInPacks) || m.fresh {
		return err
	}
	if err := m.invalidate(); err != nil {
		return err
	}
	return m.backend.follow(ctx)
}

// errNotInPacks is returned if the imported packs do not lead to the stored refs.
var errNotInPacks = errors.New("not in its packs")

// Send implements remote.Side.
func (m *mirror) Send(ctx context.Context, w io.Writer, want remote.Want, from int64) error {
	return m.here.Send(ctx, w, want, from)
}

// Redactions implements remote.Side.
func (m *mirror) Redactions(ctx context.Context, after ipld.CID) ([]care.ToldRedaction, bool, error) {
	return m.here.Redactions(ctx, after)
}

// Accept implements remote.Side: all packs are replaced by one without the erased blocks.
func (m *mirror) Accept(
	ctx context.Context, list []care.ToldRedaction, tracking string,
) (got *care.AcceptedRedactions, err error) {
	if err := m.errTracking(tracking); err != nil {
		return nil, err
	}
	err = m.locked(ctx, func() error { got, err = m.accept(ctx, list); return err })
	return got, err
}

func (m *mirror) accept(ctx context.Context, list []care.ToldRedaction) (*care.AcceptedRedactions, error) {
	if err := m.refresh(ctx); err != nil || len(m.refs) == 0 {
		left := &care.AcceptedRedactions{}
		for _, t := range list {
			left.Left = append(left.Left, t.CID)
		}
		return left, err
	}
	if _, err := m.backend.finish(ctx); err != nil {
		return nil, err
	}
	if err := m.invalidate(); err != nil {
		return nil, err
	}
	got, err := m.here.Accept(ctx, list, "")
	if err != nil || len(got.Erased)+len(got.Closed) == 0 {
		return got, err
	}
	gone := make(map[ipld.CID]bool)
	for _, c := range slices.Concat(got.Erased, got.Closed) {
		gone[c] = true
	}
	erased := slices.Clone(m.erased)
	for _, t := range list {
		if gone[t.CID] {
			erased = append(erased, t)
		}
	}
	if err := m.backend.replace(ctx, erased, false); err != nil {
		return nil, err
	}
	return got, nil
}

// Take implements remote.Side: what the mirror would accept goes to the store, and then into the mirror.
func (m *mirror) Take(ctx context.Context, news remote.News) (taken *remote.Taken, err error) {
	if err := m.errTracking(news.Tracking); err != nil {
		return nil, err
	}
	err = m.locked(ctx, func() error {
		if taken, err = m.try(ctx, news); err != nil || len(taken.Refs) == 0 {
			return err
		}
		news.Updates = settled(news.Updates, taken.Refs)
		return m.backend.add(ctx, news, changedRefs(m.refs, taken.Refs))
	})
	if err != nil {
		return nil, err
	}
	return taken, nil
}

// settled returns the updates that make refs what was taken in, with the decided places of sessions.
func settled(list []exchange.RefUpdate, taken []core.RefChange) []exchange.RefUpdate {
	list = slices.DeleteFunc(slices.Clone(list), func(u exchange.RefUpdate) bool { return u.Place })
	for _, c := range taken {
		if strings.HasPrefix(string(c.Ref), graph.Sessions) {
			list = append(list, exchange.RefUpdate{Ref: c.Ref, To: c.To, From: &c.From})
		}
	}
	return list
}

// try returns what taking news in would do, and changes nothing. The mirror's HEAD is not the store's, so it is
// checked here.
func (m *mirror) try(ctx context.Context, news remote.News) (*remote.Taken, error) {
	for _, u := range news.Updates {
		if branch, ok := u.Ref.Branch(); ok && !u.To.Defined() && string(u.Ref) == m.head {
			return nil, &core.InUseError{Branch: branch, Why: "HEAD is on it"}
		}
	}
	return m.host.Side(m.repo, true).Take(ctx, news)
}

// state returns which packs the local repository has, and whether it exists.
func (m *mirror) state() (state []byte, has bool, err error) {
	state, err = filestate.Read(filepath.Join(m.dir, stateFile), maxText)
	if err != nil {
		return nil, false, err
	}
	_, err = os.Stat(filepath.Join(m.repo, core.DirName))
	return state, err == nil && state != nil, nil
}

// keep records which packs the local repository has.
func (m *mirror) keep(state string) error {
	return filestate.Replace(filepath.Join(m.dir, stateFile), fileMode, func(w io.Writer) error {
		_, err := io.WriteString(w, state)
		return err
	})
}

// invalidate makes the next look rebuild the local repository: its content may not get published.
func (m *mirror) invalidate() error { return os.Remove(filepath.Join(m.dir, stateFile)) }

// recreate makes an empty local repository.
func (m *mirror) recreate(ctx context.Context) error {
	m.fresh = true
	if err := os.RemoveAll(m.repo); err != nil {
		return err
	}
	if err := os.MkdirAll(m.repo, 0o700); err != nil {
		return err
	}
	if err := m.host.Init(ctx, m.repo, mirrorBranch); err != nil {
		return err
	}
	return m.keep("")
}

func (m *mirror) apply(ctx context.Context, p pack) error {
	refs, err := m.refsIn(ctx, p)
	if err != nil {
		return err
	}
	var list []exchange.RefUpdate
	for _, ref := range refs {
		list = append(list, exchange.RefUpdate{Ref: ref.Name, To: ref.Target})
	}
	write := m.opening(func(f *os.File) error { return m.backend.copyPack(ctx, f, p) })
	return m.inFile(write, func(r *io.SectionReader) error {
		_, err := m.here.Take(ctx, remote.News{Pack: r, Updates: list})
		return err
	})
}

func (m *mirror) refsIn(ctx context.Context, p pack) ([]core.Ref, error) {
	text, err := m.backend.refsOf(ctx, p)
	if err != nil {
		return nil, err
	}
	return m.parseRefs(text)
}

// packed calls fn with a pack of the wanted part of the local repository.
func (m *mirror) packed(ctx context.Context, want remote.Want, fn func(*io.SectionReader) error) error {
	return m.inFile(func(f *os.File) error { return m.here.Send(ctx, f, want, 0) }, fn)
}

// inFile calls fn with the content of a temporary file that write writes.
func (m *mirror) inFile(write func(*os.File) error, fn func(*io.SectionReader) error) error {
	f, err := os.CreateTemp(m.dir, "pack-*")
	if err != nil {
		return err
	}
	defer func() { _, _ = f.Close(), os.Remove(f.Name()) }() // it was read
	if err := write(f); err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return fn(io.NewSectionReader(f, 0, info.Size()))
}

func parts(pack *io.SectionReader, fn func(*io.SectionReader) error) error {
	for off := int64(0); off < pack.Size() || off == 0; off += maxPart {
		if err := fn(io.NewSectionReader(pack, off, min(maxPart, pack.Size()-off))); err != nil {
			return err
		}
	}
	return nil
}

// settle removes local refs that are gone, and fails if the packs do not make up the refs. Then it applies the
// erasures.
func (m *mirror) settle(ctx context.Context) error {
	st, err := m.here.Look(ctx, remote.Question{Sessions: true})
	if err != nil {
		return err
	}
	want := (&remote.State{Refs: m.refs}).Targets()
	var gone []exchange.RefUpdate
	for _, ref := range st.Refs {
		if !want[ref.Name].Defined() {
			gone = append(gone, exchange.RefUpdate{Ref: ref.Name})
		} else if want[ref.Name] == ref.Target {
			delete(want, ref.Name)
		}
	}
	if len(want) > 0 {
		return fmt.Errorf("%w: %s is no memory: %s is %w", state.ErrInvalid, m.name,
			slices.Min(slices.Collect(maps.Keys(want))), errNotInPacks)
	}
	if len(gone) > 0 {
		if _, err = m.here.Take(ctx, remote.News{Updates: gone}); err != nil {
			return err
		}
	}
	if len(m.erased) == 0 {
		return nil
	}
	has, err := remote.Known(ctx, m.here)
	if err != nil {
		return err
	}
	list := slices.DeleteFunc(slices.Clone(m.erased), func(t care.ToldRedaction) bool { return has[t.CID] })
	_, err = remote.AcceptAll(ctx, m.here, list, "")
	return err
}

// foldFrom returns from which pack on packs are combined: each pack before it is at least twice as long as all
// after it together.
func foldFrom(packs []pack) int {
	from, sum := len(packs)-1, int64(0)
	for i := len(packs) - 1; i >= 0; i-- {
		if packs[i].size < 2*sum {
			from = i
		}
		sum += packs[i].size
	}
	return from
}

// known returns commits and session records that packs bring and that are here, newest first.
func (m *mirror) known(ctx context.Context, packs []pack) ([]ipld.CID, error) {
	seen := make(map[ipld.CID]bool)
	var asked []ipld.CID
	for _, p := range slices.Backward(packs) {
		refs, err := m.refsIn(ctx, p)
		if err != nil {
			return nil, err
		}
		for _, ref := range refs {
			tag := strings.HasPrefix(string(ref.Name), graph.Tags)
			if !tag && !seen[ref.Target] && len(asked) < remote.MaxAsked {
				seen[ref.Target], asked = true, append(asked, ref.Target)
			}
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	st, err := m.here.Look(ctx, remote.Question{Commits: asked})
	if err != nil {
		return nil, err
	}
	return st.Known, nil
}

func (m *mirror) parseRefs(text string) (refs []core.Ref, err error) {
	seen := make(map[graph.RefName]bool)
	for row := range strings.Lines(text) {
		name, at, _ := strings.Cut(strings.TrimSuffix(row, "\n"), " ")
		c, err := ipld.ParseCID(at)
		if err == nil {
			err = graph.ValidateRef(graph.RefName(name))
		}
		if err == nil && seen[graph.RefName(name)] {
			err = fmt.Errorf("%s is there twice", name)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: a ref in the %s: %w", state.ErrInvalid, m.what, err)
		}
		seen[graph.RefName(name)] = true
		if refs = append(refs, core.Ref{Name: graph.RefName(name), Target: c}); len(refs) > remote.MaxRefs {
			return nil, remote.ErrTooLarge
		}
	}
	return refs, nil
}

func refsText(refs []core.Ref) string {
	var b strings.Builder
	for _, ref := range refs {
		fmt.Fprintf(&b, "%s %s\n", ref.Name, ref.Target)
	}
	return b.String()
}

func (m *mirror) parseRedactions(text string) (list []care.ToldRedaction, err error) {
	for row := range strings.Lines(text) {
		t, err := transfer.ParseRedaction(strings.TrimSuffix(row, "\n"))
		if err != nil {
			return nil, fmt.Errorf("%w: a redaction in the %s: %w", state.ErrInvalid, m.what, err)
		}
		list = append(list, t)
	}
	return list, nil
}

func packedRefs(list []exchange.RefUpdate) (refs []core.Ref) {
	for _, u := range list {
		if u.To.Defined() {
			refs = append(refs, core.Ref{Name: u.Ref, Target: u.To})
		}
	}
	return refs
}

// changedRefs returns refs after changes, by name.
func changedRefs(refs []core.Ref, list []core.RefChange) []core.Ref {
	to := (&remote.State{Refs: refs}).Targets()
	for _, c := range list {
		to[c.Ref] = c.To
	}
	var out []core.Ref
	for name, c := range to {
		if c.Defined() {
			out = append(out, core.Ref{Name: name, Target: c})
		}
	}
	slices.SortFunc(out, func(a, b core.Ref) int { return strings.Compare(string(a.Name), string(b.Name)) })
	return out
}

// headOf returns the first branch among updates.
func headOf(list []exchange.RefUpdate) string {
	for _, u := range list {
		if _, branch := u.Ref.Branch(); branch && u.To.Defined() {
			return string(u.Ref)
		}
	}
	return ""
}
