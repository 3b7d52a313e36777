// Package mirror shares memories through stores that know nothing of them: git repositories (Git) and buckets
// (Bucket). Such a store keeps packs, which in their order make the histories of refs, and a small text that says
// which packs and refs there are and is replaced in one step if it is the one that was seen. It is asked by way of a
// mirror here, a repository that has what was kept there when that was read last.
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
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb/transfer"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// maxPart is how many bytes a part of a pack has.
	maxPart = 40 << 20
	// maxText bounds what is read of refs and of lists of packs, in bytes.
	maxText = 32 << 20
	// mirrorBranch is what HEAD of a mirror is on: there is never such a branch.
	mirrorBranch = "of-a-mirror"
	// stateFile says which packs a mirror has.
	stateFile = "packs"
	// fileMode is that of files that tell of a memory.
	fileMode = 0o600
)

// mirror is what is here of a memory that is kept elsewhere.
type mirror struct {
	host   *place.Host
	dir    string // of all that is kept here
	repo   string // the directory in it that holds a repository
	here   remote.Side
	close  func() error
	keeper keeper
	what   string // "git repository"
	name   string // of what has the small text there, for messages

	fresh  bool       // whether the repository here was made by this look
	head   string     // the branch that HEAD is on there
	packs  []pack     // as they were read last
	refs   []core.Ref // likewise
	erased []care.ToldRedaction
}

// pack is a pack as it is kept: the names of its parts and, by name or as a text, what is at its refs.
type pack struct {
	parts []string
	refs  string
	size  int64 // in bytes
}

// keeper keeps packs and the refs that they make, for many.
type keeper interface {
	// read reads what is kept into the fields of a mirror, which are empty, and follow brings the repository here to
	// that.
	read(ctx context.Context) error
	follow(ctx context.Context) error
	// refsOf returns what the refs in a pack are at, in lines, and copyPack writes its bytes to a file.
	refsOf(ctx context.Context, p pack) (string, error)
	copyPack(ctx context.Context, f *os.File, p pack) error
	// add keeps news, whose updates say where sessions go, with which refs are these, and brings the repository here to
	// that. It returns an error of state.ErrConflict if others pushed since read.
	add(ctx context.Context, news remote.News, refs []core.Ref) error
	// replace has all packs replaced by one of what is here, and redactions noted.
	replace(ctx context.Context, erased []care.ToldRedaction) error
}

// open makes the directory of a mirror, where none is named one that is gone in the end.
func (m *mirror) open(pattern string) (err error) {
	m.close = func() error { return nil }
	if m.dir == "" {
		if m.dir, err = os.MkdirTemp("", pattern); err != nil {
			return err
		}
		m.close = func() error { return os.RemoveAll(m.dir) }
	}
	m.repo = filepath.Join(m.dir, "mirror")
	m.here = m.host.Side(m.repo, false)
	return os.MkdirAll(m.dir, 0o700)
}

// Close implements remote.Side.
func (m *mirror) Close() error { return m.close() }

// locked calls fn while no other process uses what is here.
func (m *mirror) locked(ctx context.Context, fn func() error) error {
	unlock, err := filestate.Lock(ctx, filepath.Join(m.dir, "mnem"))
	if err != nil {
		return err
	}
	defer func() { _ = unlock() }() // the next one finds it free or says so
	return fn()
}

// errNone is returned for what is kept and no memory.
func (m *mirror) errNone(format string, args ...any) error {
	return fmt.Errorf("%w: %s is no memory: %s", state.ErrInvalid, m.name, fmt.Sprintf(format, args...))
}

// errTracking refuses to keep refs of remotes.
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

// refresh reads what is kept and brings the repository here to it. If the repository here does not lead there, as
// after a restore of what is kept to an older state, it is made again from all packs.
func (m *mirror) refresh(ctx context.Context) error {
	m.head, m.packs, m.refs, m.erased, m.fresh = "", nil, nil, nil, false
	if err := m.keeper.read(ctx); err != nil {
		return err
	}
	err := m.keeper.follow(ctx)
	if !errors.Is(err, errNotInPacks) || m.fresh {
		return err
	}
	if err := m.unsettle(); err != nil {
		return err
	}
	return m.keeper.follow(ctx)
}

// errNotInPacks is returned if the packs that were taken in do not lead to the refs that are kept.
var errNotInPacks = errors.New("not in its packs")

// Send implements remote.Side.
func (m *mirror) Send(ctx context.Context, w io.Writer, want remote.Want, from int64) error {
	return m.here.Send(ctx, w, want, from)
}

// Redactions implements remote.Side.
func (m *mirror) Redactions(ctx context.Context, after ipld.CID) ([]care.ToldRedaction, bool, error) {
	return m.here.Redactions(ctx, after)
}

// Accept implements remote.Side: all packs are replaced by one without what is erased.
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
	if err := m.unsettle(); err != nil {
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
	if err := m.keeper.replace(ctx, erased); err != nil {
		return nil, err
	}
	return got, nil
}

// Take implements remote.Side: what the mirror would take goes to what is kept, and into the mirror when it is there.
func (m *mirror) Take(ctx context.Context, news remote.News) (taken *remote.Taken, err error) {
	if err := m.errTracking(news.Tracking); err != nil {
		return nil, err
	}
	err = m.locked(ctx, func() error {
		if taken, err = m.try(ctx, news); err != nil || len(taken.Refs) == 0 {
			return err
		}
		news.Updates = settled(news.Updates, taken.Refs)
		return m.keeper.add(ctx, news, changedRefs(m.refs, taken.Refs))
	})
	if err != nil {
		return nil, err
	}
	return taken, nil
}

// settled are the updates by which refs become what was taken in: where sessions go was decided.
func settled(list []exchange.RefUpdate, taken []core.RefChange) []exchange.RefUpdate {
	list = slices.DeleteFunc(slices.Clone(list), func(u exchange.RefUpdate) bool { return u.Place })
	for _, c := range taken {
		if strings.HasPrefix(string(c.Ref), graph.Sessions) {
			list = append(list, exchange.RefUpdate{Ref: c.Ref, To: c.To, From: &c.From})
		}
	}
	return list
}

// try returns what taking news in would do, and changes nothing. HEAD of the mirror says nothing of that there.
func (m *mirror) try(ctx context.Context, news remote.News) (*remote.Taken, error) {
	for _, u := range news.Updates {
		if branch, ok := u.Ref.Branch(); ok && !u.To.Defined() && string(u.Ref) == m.head {
			return nil, &core.InUseError{Branch: branch, Why: "HEAD is on it"}
		}
	}
	return m.host.Side(m.repo, true).Take(ctx, news)
}

// state returns which packs the repository here has, and whether there is one.
func (m *mirror) state() (state []byte, has bool, err error) {
	state, err = filestate.Read(filepath.Join(m.dir, stateFile), maxText)
	if err != nil {
		return nil, false, err
	}
	_, err = os.Stat(filepath.Join(m.repo, core.DirName))
	return state, err == nil && state != nil, nil
}

// keep notes which packs the repository here has.
func (m *mirror) keep(state string) error {
	return filestate.Replace(filepath.Join(m.dir, stateFile), fileMode, func(w io.Writer) error {
		_, err := io.WriteString(w, state)
		return err
	})
}

// unsettle has the repository here made anew at the next look: it is to become what may not be published.
func (m *mirror) unsettle() error { return os.Remove(filepath.Join(m.dir, stateFile)) }

// anew makes an empty repository here.
func (m *mirror) anew(ctx context.Context) error {
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

// apply takes a pack into the repository here.
func (m *mirror) apply(ctx context.Context, p pack) error {
	refs, err := m.refsIn(ctx, p)
	if err != nil {
		return err
	}
	var list []exchange.RefUpdate
	for _, ref := range refs {
		list = append(list, exchange.RefUpdate{Ref: ref.Name, To: ref.Target})
	}
	write := func(f *os.File) error { return m.keeper.copyPack(ctx, f, p) }
	return m.inFile(write, func(r *io.SectionReader) error {
		_, err := m.here.Take(ctx, remote.News{Pack: r, Updates: list})
		return err
	})
}

// refsIn returns what the refs in a pack are at.
func (m *mirror) refsIn(ctx context.Context, p pack) ([]core.Ref, error) {
	text, err := m.keeper.refsOf(ctx, p)
	if err != nil {
		return nil, err
	}
	return m.parseRefs(text)
}

// packed calls fn with a pack of what is wanted of the repository here.
func (m *mirror) packed(ctx context.Context, want remote.Want, fn func(*io.SectionReader) error) error {
	return m.inFile(func(f *os.File) error { return m.here.Send(ctx, f, want, 0) }, fn)
}

// inFile calls fn with what is written to a file, which is gone in the end.
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

// parts calls fn with each part of a pack.
func parts(pack *io.SectionReader, fn func(*io.SectionReader) error) error {
	for off := int64(0); off < pack.Size() || off == 0; off += maxPart {
		if err := fn(io.NewSectionReader(pack, off, min(maxPart, pack.Size()-off))); err != nil {
			return err
		}
	}
	return nil
}

// settle removes refs of the repository here that are gone, and refuses what the packs do not make. Then it erases
// what was erased there.
func (m *mirror) settle(ctx context.Context) error {
	st, err := m.here.Look(ctx, remote.Question{Sessions: true})
	if err != nil {
		return err
	}
	want := make(map[graph.RefName]ipld.CID)
	for _, ref := range m.refs {
		want[ref.Name] = ref.Target
	}
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

// foldFrom returns from which pack on packs become one: those before it are each at least twice as long as all after
// them together.
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

// known returns commits and records of sessions that packs bring and that are here, the newest first.
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

// parseRefs reads lines of refs and CIDs.
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

// parseRedactions reads lines of redactions.
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

// packedRefs are what refs in a pack are at.
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
	to := make(map[graph.RefName]ipld.CID)
	for _, ref := range refs {
		to[ref.Name] = ref.Target
	}
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

// headOf is the first branch among updates.
func headOf(list []exchange.RefUpdate) string {
	for _, u := range list {
		if _, branch := u.Ref.Branch(); branch && u.To.Defined() {
			return string(u.Ref)
		}
	}
	return ""
}
