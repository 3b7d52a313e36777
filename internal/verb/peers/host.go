package peers

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/gitfollow"
	"github.com/mnem-project/mnem/internal/keyring"
	"github.com/mnem-project/mnem/internal/owner"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/policy"
	"github.com/mnem-project/mnem/internal/verb/table"
	"github.com/mnem-project/mnem/internal/verb/upkeep"
)

// tellEvery is how often the caller is told how far something is.
const tellEvery = 100 * time.Millisecond

// host is the verb.Host of a call from another process.
type host struct {
	*Owner
	call *Call
	verb *owner.Verb
	repo *core.Repo
	out  *bufio.Writer
	// inputs holds the caller's inputs, one after another, each up to one of ends.
	inputs *verb.File
	ends   []int64

	shows bool // whether the caller shows that something takes its time
	told  time.Time
}

var _ verb.Host = (*host)(nil)

func (h *host) Open(ctx context.Context, job *verb.Job, fn func(context.Context) error) error {
	if job.Write {
		if err := h.verb.Writes(); err != nil {
			return fmt.Errorf("tell the process that asked: %w", err)
		}
	}
	on, err := gitfollow.Origins(ctx, h.repo, h.call.Caller.Following)
	if err != nil {
		return err
	}
	ctx = verb.Follow(ctx, on)
	if err := fn(ctx); err != nil || !job.Write || h.call.Collect == nil {
		return err
	}
	if h.out.Flush() == nil {
		h.collect(ctx)
	}
	return nil
}

func (h *host) Repo() *core.Repo { return h.repo }

func (h *host) Defaults(w *verb.Writing) {
	if w.Branch == "" {
		w.Branch = h.call.Caller.Branch
	}
	if w.Stage == "" {
		w.Stage = h.call.Caller.Stage
	}
}

func (h *host) Stamp(_ *verb.Spec, w *verb.Writing) (state.Stamp, error) {
	who := &h.call.Caller
	by := state.Stamp{
		Author: who.Author, Agent: who.Agent, Task: who.Task, Command: h.call.Words,
		Secrets: state.SecretOptions{Allow: w.AllowSecret, Strict: w.Strict},
	}
	var err error
	if by.Time, err = h.Now(); err != nil {
		return by, err
	}
	if by.Head, err = verb.ParseExpect(w.ExpectHead); err != nil {
		return by, err
	}
	if h.call.Meaning {
		by.Meaning = h.opt.Meaning
	}
	if sign := h.call.Sign; sign != nil && w.Signs && !w.DryRun {
		by.Sign = sign.Made.Sign
	}
	if by.Agent == "" && !who.Remote {
		return by, nil
	}
	name := h.call.Verb
	err = verb.Guard(&by, filepath.Join(h.dir, policy.FileName), name, table.Recording(name), h.key)
	return by, err
}

// Permit implements verb.Host. Who asks is in the call already.
func (h *host) Permit(_ string, rights []string) error {
	who := &h.call.Caller
	if who.Agent == "" && !who.Remote {
		return nil
	}
	return verb.Permit(filepath.Join(h.dir, policy.FileName), who.Agent, rights)
}

func (h *host) Only(string) (string, error) {
	who := &h.call.Caller
	if who.Only != "" || who.Agent == "" && !who.Remote {
		return who.Only, nil
	}
	return verb.PolicyOnly(filepath.Join(h.dir, policy.FileName), who.Agent)
}

func (h *host) Now() (graph.Time, error) {
	t, err := graph.ParseTime(h.call.Caller.Time)
	if err != nil {
		return 0, fmt.Errorf("%w: the time of a call: %w", owner.ErrProtocol, err)
	}
	return t, nil
}

func (h *host) key() (commit.Key, bool) {
	key, err := commit.ParseKey(h.call.Key)
	return key, err == nil
}

func (h *host) Trusted() (commit.Verifier, error) {
	if h.call.Untrusted != nil {
		return nil, h.call.Untrusted.Err()
	}
	return keyring.ParseTrustList(h.call.Trusted)
}

func (h *host) Require(rule string, given bool) (func(iter.Seq2[commit.LogEntry, error]) error, error) {
	if said := h.call.RequireSigned; !given && said != rule && said != "all" {
		return nil, nil
	}
	trusted, err := h.Trusted()
	if err != nil {
		return nil, err
	}
	return verb.RequireSigned(trusted), nil
}

func (h *host) Human() bool { return h.call.Human }

// tell sends the caller a message. A failure means that the caller is gone, and is ignored.
func (h *host) tell(t ProgressMessage) {
	data, _ := json.Marshal(t) // it has a JSON form
	_ = h.verb.Tell(data[:min(len(data), owner.MaxTold)])
}

func (h *host) Working(what string) func() {
	if h.call.Progress {
		h.shows = true
		h.tell(ProgressMessage{Start: what})
	}
	return h.worked
}

func (h *host) Progress() (set func(what string, done, total int), done func()) {
	return func(what string, done, total int) {
		if now := time.Now(); h.call.Progress && now.Sub(h.told) >= tellEvery {
			h.shows, h.told = true, now
			h.tell(ProgressMessage{What: what, Done: done, Total: total})
		}
	}, h.worked
}

// worked takes away what shows that something takes its time.
func (h *host) worked() {
	if h.shows {
		h.shows = false
		h.tell(ProgressMessage{End: true})
	}
}

// takeIn decodes the call and copies its inputs before the repository is used, so that a caller that sends them slowly
// does not delay others.
func (h *host) takeIn() (err error) {
	if err := json.Unmarshal(h.verb.Request, h.call); err != nil {
		return err
	}
	h.inputs, err = spool(h.dir, &arriving{host: h})
	names, n := h.call.Inputs, len(h.ends)
	switch {
	case errors.As(err, new(*fs.PathError)): // of the copy
		return fmt.Errorf("copy %s: %w", names[min(n, len(names)-1)], err)
	case err == nil && n < len(names):
		h.inputs.Close()
		return fmt.Errorf("%w: %s is not sent with the call", owner.ErrProtocol, names[n])
	}
	return err
}

// arriving reads the inputs of a call, one after another, and notes where each ends.
type arriving struct {
	*host
	in   io.Reader // the current input, nil between two
	read int64
}

func (a *arriving) Read(p []byte) (n int, err error) {
	for n == 0 && err == nil {
		if a.in == nil {
			if a.in, err = a.verb.Input(); err != nil {
				return 0, err
			}
			if len(a.ends) == len(a.call.Inputs) {
				return 0, fmt.Errorf("%w: more inputs than the call names", owner.ErrProtocol)
			}
		}
		n, err = a.in.Read(p)
		a.read += int64(n)
		if errors.Is(err, io.EOF) {
			a.in, a.ends, err = nil, append(a.ends, a.read), nil
		}
	}
	return n, err
}

// changes reads the change lines of the caller's files, and tells how many changes there are.
func (h *host) changes(context.Context) (state.Changes, error) {
	set, _ := h.Progress()
	return func(yield func(graph.Change, error) bool) {
		n, begin := 0, int64(0)
		for i, end := range h.ends {
			for change, err := range state.ReadChanges(io.NewSectionReader(h.inputs, begin, end-begin), h.call.Inputs[i]) {
				if !yield(change, err) {
					return
				}
				n++
				set("changes read:", n, 0)
			}
			begin = end
		}
		if h.call.Progress {
			h.tell(ProgressMessage{Say: "writing"})
		}
	}, nil
}

// collect collects garbage after a write that makes it worth while.
func (h *host) collect(ctx context.Context) {
	opt := care.GCOptions{KeepOps: h.call.Collect.KeepOps, Grace: h.call.Collect.Grace}
	stamp := func() (state.Stamp, error) { return h.Stamp(nil, &verb.Writing{}) }
	switch res, err := upkeep.CollectAfter(ctx, h.repo, opt, stamp); {
	case err != nil:
		h.tell(ProgressMessage{Remark: "note: collecting garbage failed: " + err.Error()})
	case res != nil:
		h.tell(ProgressMessage{Collected: res})
	}
}

func (h *host) Clock() func() time.Duration {
	now := h.opt.Now
	if now == nil {
		now = time.Now
	}
	begin := now()
	return func() time.Duration { return now().Sub(begin) }
}

// Read implements verb.Host. The copy of the caller's file is removed when the call ends.
func (h *host) Read(_ context.Context, name string) (*verb.File, error) {
	if len(h.ends) != 1 {
		return nil, fmt.Errorf("%w: %s is not sent with the call", owner.ErrProtocol, name)
	}
	return &verb.File{ReaderAt: h.inputs.ReaderAt, Size: h.inputs.Size, Close: func() {}}, nil
}

// Create implements verb.Host: the caller has begun to write its file, and keeps it if the verb succeeds.
func (h *host) Create(_ context.Context, _ string, write func(io.Writer) error) error {
	out := bufio.NewWriterSize(h.verb.File, outBuffer)
	return cmp.Or(write(out), out.Flush())
}

// OpenRoot implements verb.Host: the directory is one of this machine, which both processes are on.
func (h *host) OpenRoot(dir string) (*os.Root, error) {
	switch {
	case dir == "":
		dir = h.call.Root
	case h.call.Caller.Remote:
		return nil, fmt.Errorf("%w: an argument names a file", verb.ErrRemote)
	case !filepath.IsAbs(dir):
		dir = filepath.Join(h.call.Dir, dir)
	}
	return regular.OpenDir(filepath.Clean(dir))
}

// maxHeld is how many bytes of what is spooled are in memory.
const maxHeld = 1 << 20

// spool reads all of from, the inputs of another process, so that no caller waits for it while reading the
// result. Input longer than 1 MiB goes to a temporary file in dir.
func spool(dir string, from io.Reader) (*verb.File, error) {
	head, err := io.ReadAll(io.LimitReader(from, maxHeld))
	if err != nil {
		return nil, err
	}
	if len(head) < maxHeld {
		return &verb.File{ReaderAt: bytes.NewReader(head), Size: int64(len(head)), Close: func() {}}, nil
	}
	f, err := SpoolFile(dir, io.MultiReader(bytes.NewReader(head), from))
	if err != nil {
		return nil, err
	}
	return &verb.File{ReaderAt: f, Size: f.Size, Close: func() { _ = f.Close() }}, nil // only read from
}

// TempFile is a file that is gone when it is closed.
type TempFile struct {
	*os.File
	Size    int64
	removed bool
}

// SpoolFile copies what is read into a file of the directory.
func SpoolFile(dir string, from io.Reader) (*TempFile, error) {
	f, err := os.CreateTemp(dir, "import-*")
	if err != nil {
		return nil, err
	}
	// Remove the name at once if the system allows it, so that nothing is left behind whatever happens;
	// otherwise when the file is closed.
	out := &TempFile{File: f, removed: os.Remove(f.Name()) == nil}
	if out.Size, err = io.Copy(f, from); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, out.Close())
	}
	return out, nil
}

// Close closes the file, and removes it if that could not be done before.
func (f *TempFile) Close() error {
	err := f.File.Close()
	if !f.removed {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}
