// Package peers lets a program that has a repository open answer the other processes that want it: the
// database admits one process at a time. Answer is all that such a program calls. A Holder opens the
// repository when it is needed and no other process has it, and else sends verbs to the one that has.
//
// The others ask for verbs of internal/verb, by their names, over the socket of package internal/owner.
// A Call says which one with what, and who asks. What depends on the caller's machine stays with the
// caller: its configuration and environment, and what its files and models say of a question, are in the request
// already; inputs follow the call. A run whose commits are signed ends with their records, and the caller, whose keys never
// leave it, signs these and calls again. Answers are JSON, which the caller prints as it would print its own.
//
// Two builds understand each other where they speak one protocol. A field that has its default is left
// out, so that one which the owner does not know yet is refused only where it is used.
package peers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/queue"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/owner"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/upkeep"
)

const (
	// keepPause is how long Keep waits before a repository that another process has is tried again.
	keepPause = 64 * time.Millisecond
	// minGreet is how long an owner may take to greet, however short the wait: it is there.
	minGreet = 2 * time.Second
	// closeGrace is how long the verbs of other processes may go on when an owner ends.
	closeGrace = 3 * time.Second
	// closeLimit is how long Close waits in all: a verb that is broken off and does not end keeps no process from
	// ending.
	closeLimit = 10 * time.Second
	// answerPause is how long a process that holds a repository and cannot answer others waits before it tries again;
	// each pause is twice the one before, up to maxAnswerPause.
	answerPause    = time.Second
	maxAnswerPause = 8 * time.Second
	// embedPause is how long after its opening a repository is looked at for nodes without vectors.
	embedPause = 2 * time.Second
)

// errEnding is returned by a Holder that was closed.
var errEnding = fmt.Errorf("%w: this process is ending", store.ErrBusy)

// Holder is the share of a process that lives long in one repository. It opens the repository when
// it is needed first, unless another process has, and then keeps it open and answers the other
// processes on a socket. While another process has it open, verbs are sent to that one; when that
// ends, the next need takes over. Safe for concurrent use.
type Holder struct {
	dir  string // that holds .mnem
	open core.Options
	opt  HostOptions
	warn func(error)
	most time.Duration // how long Close waits

	gate   chan struct{} // held while the repository is opened
	mu     sync.Mutex
	held   *held // nil while it is not open here
	closed bool
	// dropped are repositories that failed and are being closed; added to under mu.
	dropped sync.WaitGroup
}

type held struct {
	repo  *core.Repo
	at    os.FileInfo // of .mnem, whatever its path is by now
	host  *Owner      // nil while no other process can be answered; set under mu of the Holder
	users sync.WaitGroup
	stop  context.CancelFunc // ends background work
}

// Use is one use of a repository that is open here. Done must be called.
type Use struct {
	Repo *core.Repo
	h    *Holder
	own  *held
}

// Done ends the use with its error. If the repository can no longer be written, it is closed when all
// uses have ended, and the next use opens it again.
func (u *Use) Done(err error) {
	if errors.Is(err, core.ErrStopped) {
		u.h.drop(u.own)
	}
	u.own.users.Done()
}

// NewHolder returns the holder of the repository in dir/.mnem, and opens nothing. It ignores the fields
// Build, Since and Use of opt. It calls warn if it cannot answer other processes or embed missing vectors.
func NewHolder(dir string, open core.Options, opt HostOptions, warn func(error)) *Holder {
	h := &Holder{dir: dir, open: open, opt: opt, warn: warn, most: closeLimit, gate: make(chan struct{}, 1)}
	h.opt.Build, h.opt.Use = build(), h.use
	if opt.Now == nil {
		h.opt.Now = time.Now
	}
	return h
}

// Dir returns the directory that holds .mnem.
func (h *Holder) Dir() string { return h.dir }

// Covers reports whether h holds the repository in a directory.
func (h *Holder) Covers(dir string) bool {
	h.mu.Lock()
	own := h.held
	h.mu.Unlock()
	there, err := os.Stat(filepath.Join(dir, core.DirName))
	if err != nil {
		return dir == h.dir
	}
	if own != nil {
		return os.SameFile(own.at, there)
	}
	here, err := os.Stat(filepath.Join(h.dir, core.DirName))
	return err == nil && os.SameFile(here, there)
}

// enter begins a use of the repository, nil if it is not open here. Verbs of other processes that
// were let in are run while this one ends.
func (h *Holder) enter(asked bool) (*Use, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed && !asked {
		return nil, errEnding
	}
	if h.held == nil {
		return nil, nil
	}
	h.held.users.Add(1)
	return &Use{h.held.repo, h, h.held}, nil
}

// use begins a use of the repository for another process, nil if it is not open here any more.
func (h *Holder) use() (*core.Repo, func(error)) {
	u, _ := h.enter(true) // it has no error
	if u == nil {
		return nil, nil
	}
	return u.Repo, u.Done
}

// Owns reports whether the repository is open in this process.
func (h *Holder) Owns() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.held != nil
}

// Reach returns one use of the repository, which is opened unless another process has it; or a
// connection to that one. It waits as long as the options of opening say for one that does not answer.
func (h *Holder) Reach(ctx context.Context) (*Use, *owner.Client, error) {
	if u, err := h.enter(false); u != nil || err != nil {
		return u, nil, err
	}
	select {
	case h.gate <- struct{}{}:
		defer func() { <-h.gate }()
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	if u, err := h.enter(false); u != nil || err != nil {
		return u, nil, err // another caller opened it
	}
	opt := h.open
	opt.Since = h.since()
	r, client, err := Reach(ctx, h.dir, opt)
	if r == nil {
		return nil, client, err
	}
	u, err := h.own(r)
	if err != nil {
		return nil, nil, errors.Join(err, r.Close())
	}
	return u, nil, nil
}

func (h *Holder) since() string { return graph.From(h.opt.Now()).String() }

// own makes an opened repository the one of all verbs, and begins a use of it.
func (h *Holder) own(r *core.Repo) (*Use, error) {
	at, err := os.Stat(filepath.Join(h.dir, core.DirName))
	if err != nil {
		return nil, err
	}
	own := &held{repo: r, at: at}
	own.users.Add(1)
	h.embedLeft(own)
	opt := h.opt
	opt.Since = h.since()
	if !r.Shared() { // else others open it themselves
		if own.host, err = Answer(h.dir, r, opt); err != nil {
			h.warn(fmt.Errorf("no other process can share the repository: %w", err)) // verbs of this process work; others are told that it has the repository
		}
	}
	h.mu.Lock()
	ending := h.closed
	later := !r.Shared() && own.host == nil
	if !ending {
		h.held = own // whole: a use that meets a failure may drop it at once
	}
	h.mu.Unlock()
	if !ending {
		if later {
			go h.answerLater(own)
		}
		return &Use{r, h, own}, nil
	}
	own.stop()
	if own.host != nil {
		err = own.host.Close(closeGrace)
	}
	return nil, errors.Join(errEnding, err)
}

// embedLeft embeds nodes without vectors in the background: soon after the repository was opened, and after each
// commit that leaves some. It ends with the repository.
func (h *Holder) embedLeft(own *held) {
	ctx, stop := context.WithCancel(context.Background())
	own.stop = stop
	if !h.opt.Embeds || h.opt.Meaning == nil {
		return
	}
	own.users.Add(1)
	own.repo.Embeddings().RunBy(h.opt.Meaning.Model())
	go func() {
		defer own.users.Done()
		soon := time.After(embedPause)
		for first := true; ; first = false {
			select {
			case <-ctx.Done():
				return
			case <-soon:
			case <-own.repo.Embeddings().Left():
			}
			if lacks, err := own.repo.Embeddings().Missing(ctx); first && (err != nil || lacks == 0) {
				continue
			}
			if _, err := own.repo.Embeddings().Rest(ctx, h.opt.Meaning, nil); err != nil && ctx.Err() == nil {
				h.warn(fmt.Errorf("vectors are missing: %w", err))
			}
		}
	}()
}

// answerLater retries answering other processes until it succeeds, for example once a full disk has space for the
// owner file. It also ends soon after the repository is no longer held here.
func (h *Holder) answerLater(own *held) {
	for pause := answerPause; ; pause = min(2*pause, maxAnswerPause) {
		time.Sleep(pause)
		h.mu.Lock()
		here := h.held == own && !h.closed
		if here {
			own.users.Add(1) // the lock stays while the owner file is written
		}
		h.mu.Unlock()
		if !here || h.answer(own) {
			return
		}
	}
}

// answer answers other processes and reports whether that is settled. It ends a use.
func (h *Holder) answer(own *held) bool {
	defer own.users.Done()
	opt := h.opt
	opt.Since = h.since()
	host, err := Answer(h.dir, own.repo, opt)
	if err != nil {
		return false
	}
	h.mu.Lock()
	here := h.held == own && !h.closed
	if here {
		own.host = host
	}
	h.mu.Unlock()
	if !here {
		_ = host.Close(closeGrace) // tells current callers to ask the next owner
	}
	return true
}

// Keep has the repository open here whenever no other process has, and returns when the context
// ends, or with the error of the first opening. ready, unless nil, is called each time that this
// process becomes the owner, and when it finds another one.
func (h *Holder) Keep(ctx context.Context, ready func(socket string, own bool)) error {
	for first := true; ; first = false {
		u, client, err := h.Reach(ctx)
		switch {
		case ctx.Err() != nil || errors.Is(err, errEnding):
			err = nil
			if u != nil {
				u.Done(nil) // it was opened while the context ended: Close waits for all uses
			}
			if client != nil {
				_ = client.Close() // nothing was sent
			}
		case err != nil && (first || !errors.Is(err, store.ErrBusy)):
		case err != nil:
			holdOff(ctx) // short-lived commands, one after the other, or another version of the program
			continue
		case client != nil:
			if ready != nil {
				ready("", false)
			}
			_ = client.Wait(ctx) // its error comes from ctx
			_ = client.Close()   // nothing was sent
			continue
		default:
			if ready != nil {
				ready(h.socket(u.own), true)
			}
			u.Done(nil) // it stays open until Close
			<-ctx.Done()
		}
		return err
	}
}

// holdOff waits a little before a repository that another process has is tried again: some refusals
// come at once, as that of another version of the program.
func holdOff(ctx context.Context) {
	select {
	case <-time.After(keepPause):
	case <-ctx.Done():
	}
}

func (h *Holder) socket(own *held) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if own.host == nil {
		return ""
	}
	return own.host.Socket()
}

// Close ends the share: verbs of other processes have three seconds to end and are then broken
// off, to be given to the next owner if they have not begun to write; those of this process are
// waited for. Then the repository is closed, and neither socket nor owner file is left behind. What has not ended after
// ten seconds is left: Close returns an error that wraps store.ErrBusy, and the repository is closed when that ends. All
// that was acknowledged is on disk either way.
func (h *Holder) Close() error {
	if u, _ := h.enter(false); u != nil { // the error says that it is closed already
		if h.opt.Finish != nil {
			h.opt.Finish(u.Repo)
		}
		u.Done(nil)
	}
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	h.mu.Unlock()
	ended := make(chan error, 1)
	go func() { ended <- h.close() }()
	select {
	case err := <-ended:
		return err
	case <-time.After(h.most):
		return fmt.Errorf("%w: what uses the repository %s did not end within %v and was left", store.ErrBusy, h.dir, h.most)
	}
}

func (h *Holder) close() error {
	h.gate <- struct{}{} // it is not being opened any more
	h.mu.Lock()
	own := h.held
	h.mu.Unlock()
	h.dropped.Wait()
	if own == nil {
		return nil
	}
	err := h.end(own)
	h.mu.Lock()
	h.held = nil
	h.mu.Unlock()
	return err
}

// drop closes a failed repository when its last use ends; the next use opens it again.
func (h *Holder) drop(own *held) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held != own || h.closed {
		return
	}
	h.held = nil
	h.dropped.Add(1)
	go func() {
		defer h.dropped.Done()
		_ = h.end(own) // it has failed already, as the use that met it was told
	}()
}

func (h *Holder) end(own *held) error {
	// The socket goes while the lock is held, since then no other process has made its own.
	own.stop()
	var err error
	if own.host != nil {
		err = own.host.Close(closeGrace)
	}
	own.users.Wait()
	return errors.Join(err, own.repo.Close())
}

// Reach opens the repository in dir, or connects to the process that has it open and answers. It
// waits as opt says for one that does not answer, and opens it in the order in which processes came.
func Reach(ctx context.Context, dir string, opt core.Options) (*core.Repo, *owner.Client, error) {
	timeout := time.After(opt.Wait)
	wait := opt.Wait
	opt.Wait = 0
	client, err := Dial(dir, wait)
	if client != nil || err != nil {
		return nil, client, err
	}
	place := queue.Join(core.QueueFile(dir), opt.PID)
	defer place.Leave()
	for last := false; ; {
		if last || place.Turn() {
			r, err := care.Open(dir, opt)
			if last || !errors.Is(err, store.ErrBusy) {
				return r, nil, err
			}
		}
		select {
		case <-time.After(place.Pause()):
		case <-timeout:
			last = true // all that is left is to try
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
		if client, err = Dial(dir, wait); client != nil || err != nil {
			return nil, client, err
		}
	}
}

// Dial connects to the process that has the repository in dir open and answers others, nil if
// there is none. A process that is there and cannot be talked to is an error.
func Dial(dir string, wait time.Duration) (*owner.Client, error) {
	other, err := core.ReadOwner(dir)
	if err != nil || other.Socket == "" {
		return nil, nil // none, or one that is just writing its owner file
	}
	// A copy of a repository, and one whose owner was killed, have an owner file as well.
	if taken, err := core.Taken(dir); err != nil || !taken {
		return nil, nil // opening it says what is wrong
	}
	greet := max(wait, minGreet)
	path := filepath.Join(dir, core.DirName)
	client, err := owner.Dial(other.Socket, path, build(), other.PID, greet)
	here := filepath.Join(path, filepath.Base(other.Socket))
	if errors.Is(err, fs.ErrNotExist) && here != other.Socket {
		client, err = owner.Dial(here, path, build(), other.PID, greet) // the directory was moved since
	}
	if errors.Is(err, owner.ErrProtocol) && other.Protocol != 0 && other.Protocol != owner.Protocol {
		err = &owner.SkewError{PID: other.PID, Ours: owner.Build{Name: build(), Newest: owner.Protocol},
			Owner: owner.Build{Name: "of another version", Newest: other.Protocol}}
	}
	next := ""
	switch {
	case errors.As(err, new(*owner.SkewError)):
		next = "stop process %d and restart it, so that both are the same version"
	case errors.Is(err, owner.ErrSilent):
		next = "it is process %d: stop it if it hangs, or wait longer with --wait"
	case errors.Is(err, owner.ErrPeer):
		next = "stop process %d, or run mnem where that runs"
	default:
		// What nothing listens on was left by a process that was killed; one that holds another directory
		// is the owner of what this one is a copy of.
		return client, nil
	}
	return nil, verb.Hint(fmt.Errorf("%w: %w", store.ErrBusy, err), fmt.Sprintf(next, other.PID), "")
}

// Passes reports whether a repository that cannot be reached may be had soon, and waits a little where it
// may: not where a process that cannot be talked to keeps it.
func Passes(ctx context.Context, err error) bool {
	if ctx.Err() != nil || !errors.Is(err, store.ErrBusy) || errors.As(err, new(*owner.SkewError)) ||
		errors.Is(err, owner.ErrPeer) {
		return false
	}
	holdOff(ctx)
	return true
}

func build() string {
	v := upkeep.VersionsHere()
	if v.Revision != "" {
		return v.Version + " (" + v.Revision + ")"
	}
	return v.Version
}
