package remote

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/block/car"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// TransferOptions configure a transfer.
type TransferOptions struct {
	Name string // of the remote, one part of a ref's name
	// Dir is the directory for incoming and outgoing packs of this remote; it is created if missing, and must
	// contain nothing else.
	Dir string
	// MaxPack is the largest pack accepted, in bytes; 0 means the constant MaxPack.
	MaxPack int64
	DryRun  bool // find out which refs would change, and change nothing
	// Sessions transfers all sessions, too. Those of the other side are stored next to the local ones.
	Sessions bool
	// Progress, if not nil, receives the number of bytes transferred, on any goroutine but never concurrently.
	Progress func(what string, bytes int64)
}

// FetchOptions say what is fetched.
type FetchOptions struct {
	TransferOptions
	Prune bool // forget refs that are not there any more
	// AcceptPurge erases here what was erased there, in what the remote's refs reach, without asking.
	AcceptPurge bool
	// Trusted, if not nil, reports whether a redaction is signed by a trusted key: it is then accepted as with
	// AcceptPurge.
	Trusted func(care.ToldRedaction) bool
}

// Fetched is the result of a fetch. Fetch fills it in except for Skewed and WentBack.
type Fetched struct {
	Remote    string           `json:"remote"`
	Refs      []core.RefChange `json:"refs"`     // of this repository
	Clashing  []graph.RefName  `json:"clashing"` // tags with another target here, which stay
	Bytes     int64            `json:"bytes"`    // of the pack
	NewBlocks int              `json:"new_blocks"`
	Skewed    []Skew           `json:"clock_ahead"`
	WentBack  []graph.RefName  `json:"went_back"` // branches that are at an earlier commit than before
	Learned
	DryRun bool `json:"dry_run"`
}

// Skew is a branch that arrived with a commit ahead of the local clock.
type Skew struct {
	Ref   graph.RefName `json:"ref"`
	Time  graph.Time    `json:"time"`          // of its newest commit
	Ahead int64         `json:"ahead_seconds"` // of the clock here
}

// Learned counts the erasures that a fetch learned about.
type Learned struct {
	Gaps    int `json:"gaps"`    // blocks that did not arrive since they were erased there
	Learned int `json:"learned"` // redactions that are new in quarantine
	Waiting int `json:"waiting"` // redactions in quarantine that are neither accepted nor rejected
	Erased  int `json:"erased"`  // blocks that were erased here, if that is accepted without asking
}

// moves is how often a transfer restarts because refs moved concurrently.
const moves = 10

// errMoved marks an error about refs that moved between two requests.
var errMoved = errors.New("refs moved during the transfer")

// settle retries do while refs keep moving.
func settle(ctx context.Context, do func() error) error {
	for range moves {
		if err := do(); !errors.Is(err, errMoved) || ctx.Err() != nil {
			return err
		}
	}
	return do()
}

// moved marks conflicts as caused by moved refs.
func moved(err error) error {
	if errors.Is(err, state.ErrConflict) {
		return fmt.Errorf("%w: %w", errMoved, err)
	}
	return err
}

// Fetch transfers the branches and tags of another repository here. It changes only refs under refs/remotes/NAME
// and new tags. After an error it can be called again, and resumes.
func Fetch(ctx context.Context, here, from Side, opt FetchOptions) (out *Fetched, err error) {
	if err := graph.ValidateImport(opt.Name); err != nil {
		return nil, fmt.Errorf("%w: remote: %w", state.ErrInvalid, err)
	}
	err = opt.locked(ctx, "fetch", func() error {
		return settle(ctx, func() error { out, err = opt.fetch(ctx, here, from); return err })
	})
	return out, err
}

// locked calls fn while no other transfer of this kind with the remote runs. A dry run needs no lock.
func (opt *TransferOptions) locked(ctx context.Context, kind string, fn func() error) error {
	if opt.DryRun {
		return fn()
	}
	if err := os.MkdirAll(opt.Dir, 0o700); err != nil {
		return err
	}
	unlock, err := filestate.Lock(ctx, filepath.Join(opt.Dir, kind))
	if err != nil {
		return err
	}
	defer func() { _ = unlock() }() // the next holder finds it free or reports the error
	return fn()
}

func (opt *FetchOptions) fetch(ctx context.Context, here, from Side) (*Fetched, error) {
	mine, err := here.Look(ctx, Question{Tracking: true, Sessions: opt.Sessions})
	if err != nil {
		return nil, err
	}
	st, err := opt.look(ctx, mine, from)
	if err != nil {
		return nil, err
	}
	out := &Fetched{Remote: opt.Name, DryRun: opt.DryRun}
	want, list, err := opt.wanted(mine, st, out)
	if err != nil {
		return nil, err
	}
	if opt.DryRun {
		out.Refs = changes(list)
		return out, nil
	}
	taken := &Taken{}
	switch {
	case len(want.Refs) > 0:
		taken, err = opt.take(ctx, here, from, want, list, out)
	case len(list) > 0:
		taken, err = here.Take(ctx, News{Updates: list, Tracking: opt.Name})
	}
	if err != nil {
		return nil, err
	}
	out.Refs, out.NewBlocks, out.Gaps = taken.Refs, taken.Blocks, taken.Gaps
	return out, opt.learn(ctx, here, from, mine.Redactions, st.Redactions, out)
}

// look asks for the refs and for which local commits and records exist there. If there are more than one question
// holds, it asks once more, starting with those whose ref differs there.
func (opt *FetchOptions) look(ctx context.Context, mine *State, from Side) (*State, error) {
	tips := opt.tipsOf(mine.Refs, nil)
	for again := false; ; again = true {
		asked := tips[:min(len(tips), MaxAsked)]
		st, err := from.Look(ctx, Question{Commits: asked, Sessions: opt.Sessions})
		if err != nil {
			return nil, err
		}
		if len(st.Refs) > MaxRefs || len(st.Known) > len(asked) {
			return nil, ErrTooLarge
		}
		if again || len(tips) <= MaxAsked {
			return st, nil
		}
		tips = opt.tipsOf(mine.Refs, st)
	}
}

func changes(list []exchange.RefUpdate) (out []core.RefChange) {
	for _, u := range list {
		change := core.RefChange{Ref: u.Ref, To: u.To}
		if u.From != nil {
			change.From = *u.From
		}
		out = append(out, change)
	}
	return out
}

// wanted returns what to request and the resulting updates here.
func (opt *FetchOptions) wanted(mine, st *State, out *Fetched) (want Want, list []exchange.RefUpdate, err error) {
	here, there := mine.Targets(), make(map[graph.RefName]bool)
	want.Have = st.Known
	for _, ref := range st.Refs {
		session := isSession(ref.Name)
		asked := travels(ref.Name) || session && opt.Sessions
		if err := graph.ValidateRef(ref.Name); err != nil || !asked || !ref.Target.Defined() {
			return want, nil, fmt.Errorf("%w: it tells of the ref %q", state.ErrInvalid, ref.Name)
		}
		to := Tracking(opt.Name, ref.Name)
		there[to] = true
		have, tag := here[ref.Name], strings.HasPrefix(string(ref.Name), graph.Tags)
		if tag && have.Defined() && have != ref.Target {
			out.Clashing = append(out.Clashing, ref.Name)
		}
		var add []exchange.RefUpdate
		if at := here[to]; at != ref.Target {
			add = append(add, exchange.RefUpdate{Ref: to, To: ref.Target, From: &at})
			if session {
				add = append(add, exchange.RefUpdate{Ref: ref.Name, To: ref.Target, Place: true})
			}
		}
		if tag && !have.Defined() {
			add = append(add, exchange.RefUpdate{Ref: ref.Name, To: ref.Target, From: &have})
		}
		if len(add) > 0 {
			want.Refs, list = append(want.Refs, ref), append(list, add...)
		}
	}
	if opt.Prune {
		list = append(list, opt.gone(mine, there)...)
	}
	return want, list, nil
}

// gone returns the updates that remove tracking refs whose refs were removed; sessions only if they were asked about.
func (opt *TransferOptions) gone(mine *State, there map[graph.RefName]bool) (list []exchange.RefUpdate) {
	for _, ref := range mine.Refs {
		rest, tracked := strings.CutPrefix(string(ref.Name), Prefix(opt.Name))
		if tracked && !there[ref.Name] && (opt.Sessions || !strings.HasPrefix(rest, "sessions/")) {
			list = append(list, exchange.RefUpdate{Ref: ref.Name, From: &ref.Target})
		}
	}
	return list
}

func (opt *TransferOptions) take(
	ctx context.Context, here, from Side, want Want, list []exchange.RefUpdate, out *Fetched,
) (*Taken, error) {
	f, err := opt.arrive(ctx, from, want)
	if err != nil {
		return nil, moved(err)
	}
	var taken *Taken
	info, err := f.Stat()
	if err == nil {
		out.Bytes = info.Size()
		taken, err = here.Take(ctx, News{
			Pack: io.NewSectionReader(f, 0, info.Size()), Updates: list, Tracking: opt.Name,
		})
	}
	return taken, errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// tipsOf returns the targets of branches and, if wanted, of sessions: first those of refs that differ at the
// remote, if its state is known, and tracking refs of that remote before others.
func (opt *TransferOptions) tipsOf(refs []core.Ref, st *State) []ipld.CID {
	there := make(map[graph.RefName]ipld.CID)
	if st != nil {
		for _, ref := range st.Refs {
			there[ref.Name], there[Tracking(opt.Name, ref.Name)] = ref.Target, ref.Target
		}
	}
	var order [4][]ipld.CID
	for _, ref := range refs {
		if !isKind(ref.Name, graph.Heads) && !(opt.Sessions && isKind(ref.Name, graph.Sessions)) {
			continue
		}
		at := 0
		if c := there[ref.Name]; !c.Defined() || c == ref.Target {
			at = 2
		}
		if !strings.HasPrefix(string(ref.Name), Prefix(opt.Name)) {
			at++
		}
		order[at] = append(order[at], ref.Target)
	}
	return exchange.Distinct(slices.Concat(order[:]...))
}

// isKind reports whether a ref is in a namespace, here or at another repository.
func isKind(name graph.RefName, namespace string) bool {
	if rest, tracked := strings.CutPrefix(string(name), graph.Remotes); tracked {
		_, rest, _ = strings.Cut(rest, "/")
		name = graph.RefName("refs/" + rest)
	}
	return strings.HasPrefix(string(name), namespace)
}

// arrive fetches a pack into a file, resuming an earlier attempt, and verifies blocks on arrival.
func (opt *TransferOptions) arrive(ctx context.Context, from Side, want Want) (_ *os.File, err error) {
	path := filepath.Join(opt.Dir, want.id()+".pack")
	old, err := filepath.Glob(filepath.Join(opt.Dir, "*.pack"))
	for _, name := range old {
		if err == nil && name != path {
			err = os.Remove(name) // of a pack that is no longer wanted
		}
	}
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	at, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	limit := cmp.Or(opt.MaxPack, MaxPack)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	in, to := io.Pipe()
	sent := make(chan error, 1)
	go func() {
		err := from.Send(ctx, to, want, at)
		_ = to.CloseWithError(err) // nil is the end of the pack
		sent <- err
	}()
	news := io.TeeReader(&bounded{in, limit - at}, &Counted{f, at, "received", opt.Progress})
	err = verify(io.MultiReader(io.NewSectionReader(f, 0, at), news))
	_ = in.CloseWithError(errBroken)
	if sendErr := <-sent; sendErr != nil && !errors.Is(sendErr, errBroken) {
		return nil, sendErr // what has arrived stays
	}
	if err != nil { // the pack or the partial file is bad: start again
		return nil, errors.Join(err, f.Truncate(0))
	}
	return f, nil
}

// Counted counts the bytes written, and reports them.
type Counted struct {
	To    io.Writer
	Bytes int64

	what string
	tell func(what string, bytes int64) // nil for none
}

// Write implements io.Writer.
func (c *Counted) Write(p []byte) (int, error) {
	n, err := c.To.Write(p)
	if c.Bytes += int64(n); c.tell != nil {
		c.tell(c.what, c.Bytes)
	}
	return n, err
}

// errBroken aborts sending when the receiver stops reading.
var errBroken = errors.New("the receiver stopped reading")

// bounded fails if more than left bytes are read.
type bounded struct {
	from io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, ErrTooLarge
	}
	return n, err
}

func verify(in io.Reader) error {
	r, err := car.NewReader(in)
	for err == nil {
		_, err = r.Next()
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	if errors.Is(err, car.ErrFormat) {
		return fmt.Errorf("%w: what arrives: %w", state.ErrInvalid, err)
	}
	return err
}

// id names a request: equal requests give equal bytes.
func (w *Want) id() string {
	h := sha256.New()
	for _, ref := range w.Refs {
		fmt.Fprintf(h, "%s %s\n", ref.Name, ref.Target)
	}
	for _, c := range w.Have {
		fmt.Fprintf(h, "%s\n", c)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
