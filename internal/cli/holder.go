package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/owner"
	"github.com/mnem-project/mnem/internal/queue"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/peers"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

const (
	// keepPause is how long Keep waits before a repository that another process has is tried again.
	keepPause = 64 * time.Millisecond
	// minGreet is how long an owner may take to greet, however short the wait: it is there.
	minGreet = 2 * time.Second
	// closeGrace is how long the commands of other processes may go on when an owner ends.
	closeGrace = 3 * time.Second
)

// errEnding is returned by a Holder that was closed.
var errEnding = fmt.Errorf("%w: this process is ending", store.ErrBusy)

// Holder is the share of a process that lives long in one repository. It opens the repository when
// it is needed first, unless another process has, and then keeps it open and answers the other mnem
// processes on a socket. While another process has it open, commands are handed to that one; when
// that ends, the next need takes over.
//
// Put it into App.Holder, of every App that runs commands in this process. Safe for concurrent use.
type Holder struct {
	app *App
	dir string // that holds .mnem
	opt repo.Options

	gate   chan struct{} // held by who opens the repository
	mu     sync.Mutex
	held   *held // nil while it is not open here
	closed bool
	// dropped are repositories that failed and are being closed; added to under mu.
	dropped sync.WaitGroup
	ending  chan struct{} // closed when Close is called
}

// held is a repository that is open for many commands.
type held struct {
	repo  *repo.Repo
	at    os.FileInfo  // of .mnem, whatever its path is by now
	host  *peers.Owner // nil where nobody can be answered
	users sync.WaitGroup
}

// newHolder returns a holder of the repository that a command is about. It opens nothing.
func (c *cli) newHolder(cmd *cobra.Command) (*Holder, error) {
	if c.app.forwarded {
		return nil, usagef("%s runs in the process that was asked", cmd.CommandPath())
	}
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	opt, err := c.options()
	return &Holder{app: c.app, dir: dir, opt: opt, gate: make(chan struct{}, 1),
		ending: make(chan struct{})}, err
}

// covers reports whether a directory is the one whose repository this holds.
func (h *Holder) covers(dir string) bool {
	h.mu.Lock()
	own := h.held
	h.mu.Unlock()
	there, err := os.Stat(filepath.Join(dir, repo.DirName))
	if err != nil {
		return dir == h.dir
	}
	if own != nil {
		return os.SameFile(own.at, there)
	}
	here, err := os.Stat(filepath.Join(h.dir, repo.DirName))
	return err == nil && os.SameFile(here, there)
}

// enter begins a use of the repository where it is open here, which held.users.Done must end.
// Commands of other processes that were let in are run while this one ends.
func (h *Holder) enter(forwarded bool) (*held, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed && !forwarded {
		return nil, errEnding
	}
	if h.held != nil {
		h.held.users.Add(1)
	}
	return h.held, nil
}

// reach returns the repository, which is opened if nobody has it, for one use that
// held.users.Done must end; or a connection to the process that has it. It waits as long as
// h.opt.Wait for one that has it and does not answer.
func (h *Holder) reach(ctx context.Context, forwarded bool) (*held, *owner.Client, error) {
	if own, err := h.enter(forwarded); own != nil || err != nil {
		return own, nil, err
	}
	select {
	case h.gate <- struct{}{}:
		defer func() { <-h.gate }()
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	if own, err := h.enter(forwarded); own != nil || err != nil {
		return own, nil, err // opened meanwhile
	}
	opt := h.opt
	opt.Since = graph.From(h.app.Now()).String()
	r, client, err := reach(ctx, h.dir, opt)
	if r == nil {
		return nil, client, err
	}
	own, err := h.own(r)
	if err != nil {
		return nil, nil, errors.Join(err, r.Close())
	}
	return own, nil, nil
}

// own makes an opened repository the one of all commands, and begins a use of it.
func (h *Holder) own(r *repo.Repo) (*held, error) {
	path := filepath.Join(h.dir, repo.DirName)
	at, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	own := &held{repo: r, at: at}
	own.users.Add(1)
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil, errEnding
	}
	h.held = own
	h.mu.Unlock()
	host, err := peers.Answer(h.dir, r, peers.Options{
		Build: build(), PID: h.app.PID, Since: graph.From(h.app.Now()).String(),
		Temp: firstOf(h.app.Getenv("TMPDIR"), os.TempDir()), Use: h.use, Run: h.serve, Now: h.app.Now,
	})
	if err != nil {
		// Commands of this process work; others are told that it has the repository.
		_, _ = fmt.Fprintf(h.app.Stderr, "mnem: no other process can share the repository: %s\n",
			line(err.Error()))
	}
	h.mu.Lock()
	own.host = host
	h.mu.Unlock()
	return own, nil
}

// use begins a use of the repository for another process, nil where it is not open here any more.
func (h *Holder) use() (*repo.Repo, func(error)) {
	own, err := h.enter(true)
	if own == nil || err != nil {
		return nil, nil
	}
	return own.repo, func(err error) {
		if errors.Is(err, repo.ErrStopped) {
			h.drop(own)
		}
		own.users.Done()
	}
}

// serve runs the command line of another process.
func (h *Holder) serve(ctx context.Context, call *owner.Call) int {
	env := make(map[string]string, len(call.Env))
	for _, v := range call.Env {
		env[v[0]] = v[1]
	}
	app := &App{
		Stdin: call.Stdin, Stdout: call.Stdout, Stderr: call.Stderr,
		Getenv: func(name string) string { return env[name] },
		Now:    h.app.Now, Sleep: h.app.Sleep, Rand: h.app.Rand,
		Dir: call.Dir, User: call.User, Config: call.Config, Data: call.Data, Home: call.Home,
		Executable: call.Executable, Remote: call.Remote, PID: call.PID,
		OutTTY: call.OutTTY, ErrTTY: call.ErrTTY,
		Holder: h, writes: call.Writes, forwarded: true,
	}
	return app.Run(ctx, call.Args)
}

// Keep has the repository open here whenever no other process has, and returns when the context
// ends, or with the error of the first opening. ready, unless nil, is called each time that this
// process becomes the owner, and when it finds another one.
func (h *Holder) Keep(ctx context.Context, ready func(socket string, own bool)) error {
	for first := true; ; first = false {
		own, client, err := h.reach(ctx, false)
		switch {
		case ctx.Err() != nil || errors.Is(err, errEnding):
			err = nil
		case err != nil && (first || !errors.Is(err, store.ErrBusy)):
		case err != nil:
			holdOff(ctx) // short-lived commands, one after the other, or another version of the program
			continue
		case client != nil:
			if ready != nil {
				ready("", false)
			}
			_ = client.Wait(ctx) // its error is that of ctx
			_ = client.Close()   // nothing was sent
			continue
		default:
			if ready != nil {
				ready(own.socket(h), true)
			}
			own.users.Done() // it stays open until Close
			<-ctx.Done()
		}
		return err
	}
}

// holdOff waits a little before a repository that another process has is tried again: some refusals
// come at once, as that of another version of the program.
func holdOff(ctx context.Context) {
	timer := time.NewTimer(keepPause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (own *held) socket(h *Holder) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if own.host == nil {
		return ""
	}
	return own.host.Socket()
}

// untilEnd returns a context that ends when the share does, for commands without an end of their own:
// nobody waits for them. cancel must be called.
func (h *Holder) untilEnd(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		select {
		case <-h.ending:
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// Close ends the share: commands of other processes have three seconds to end and are then broken
// off, to be given to the next owner if they have not begun to write; those of this process are
// waited for. Then the repository is closed, and neither socket nor owner file is left behind.
func (h *Holder) Close() error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	close(h.ending)
	h.mu.Unlock()
	h.gate <- struct{}{} // who opens it has done so
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

// drop closes a repository that failed, when nobody uses it any more; the next need opens it anew.
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
		_ = h.end(own) // it has failed already, and who met that was told
	}()
}

// end closes a repository that nobody begins to use any more.
func (h *Holder) end(own *held) error {
	// The socket goes while the lock is held, since then no other process has made its own.
	var err error
	if own.host != nil {
		err = own.host.Close(closeGrace)
	}
	own.users.Wait()
	return errors.Join(err, own.repo.Close())
}

// reach opens the repository in dir, or connects to the process that has it open and answers. It
// waits as opt says for one that does not answer, and opens it in the order in which processes came.
func reach(ctx context.Context, dir string, opt repo.Options) (*repo.Repo, *owner.Client, error) {
	timeout := time.NewTimer(opt.Wait)
	defer timeout.Stop()
	wait := opt.Wait
	opt.Wait = 0
	client, err := dial(dir, wait)
	if client != nil || err != nil {
		return nil, client, err
	}
	place := queue.Join(repo.QueueFile(dir), opt.PID)
	defer place.Leave()
	for last := false; ; {
		if last || place.Turn() {
			r, err := repo.Open(dir, opt)
			if last || !errors.Is(err, store.ErrBusy) {
				return r, nil, err
			}
		}
		again := time.NewTimer(place.Pause())
		select {
		case <-again.C:
		case <-timeout.C:
			last = true // all that is left is to try
		case <-ctx.Done():
			again.Stop()
			return nil, nil, ctx.Err()
		}
		again.Stop()
		if client, err = dial(dir, wait); client != nil || err != nil {
			return nil, client, err
		}
	}
}

// dial connects to the process that has the repository in dir open and answers others, nil where
// there is none. A process that is there and cannot be talked to is an error.
func dial(dir string, wait time.Duration) (*owner.Client, error) {
	who, err := repo.ReadOwner(dir)
	if err != nil || who.Socket == "" {
		return nil, nil // nobody, or one that is just writing who it is
	}
	// A copy of a repository, and one whose owner was killed, have an owner file as well.
	if taken, err := repo.Taken(dir); err != nil || !taken {
		return nil, nil // opening it says what is wrong
	}
	greet := max(wait, minGreet)
	path := filepath.Join(dir, repo.DirName)
	client, err := owner.Dial(who.Socket, path, owner.Build{Name: build()}, who.PID, greet)
	here := filepath.Join(path, filepath.Base(who.Socket))
	if errors.Is(err, fs.ErrNotExist) && here != who.Socket {
		client, err = owner.Dial(here, path, owner.Build{Name: build()}, who.PID, greet) // the directory was moved since
	}
	var skew *owner.SkewError
	switch {
	case errors.As(err, &skew):
		return nil, skewHint(err)
	case errors.Is(err, owner.ErrSilent):
		return nil, hint(fmt.Errorf("%w: %w", store.ErrBusy, err), "it is process %d: stop it if it "+
			"hangs, or wait longer with --wait", who.PID)
	case errors.Is(err, owner.ErrPeer):
		return nil, hint(fmt.Errorf("%w: %w", store.ErrBusy, err), "stop process %d, or run mnem "+
			"where that runs", who.PID)
	}
	// What nobody listens on was left by a process that was killed; one that holds another directory
	// is the owner of what this one is a copy of.
	return client, nil
}

// skewHint says what to do about an owner that is another version of the program.
func skewHint(err error) error {
	var skew *owner.SkewError
	if !errors.As(err, &skew) {
		return err
	}
	return hint(fmt.Errorf("%w: %w", store.ErrBusy, err), "stop process %d and start it "+
		"anew, so that both are the same version", skew.PID)
}

// build names this program, so that two versions do not take each other's command lines.
func build() string {
	v := ops.VersionsHere()
	if v.Revision != "" {
		return v.Version + " (" + v.Revision + ")"
	}
	return v.Version
}
