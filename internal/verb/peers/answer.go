package peers

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/owner"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/table"
)

// HostOptions say how this process presents itself to others, and how it runs their verbs.
type HostOptions struct {
	Build string // the name of this program's version, for messages and for others of the same
	PID   int
	Since string // when it opened the repository, RFC 3339
	Temp  string // the system's directory for temporary files
	// Meaning embeds what is written, for callers who want that; nil for none.
	Meaning state.Meaning
	// Embeds is whether nodes that lack vectors by Meaning are embedded in the background.
	Embeds bool
	// Finish, unless nil, is given the repository before Close closes it.
	Finish func(r *core.Repo)
	// Use begins a use of the repository, which release ends with its error; r is nil if the repository is
	// no longer open here. A nil Use means that it is open until Close.
	Use func() (r *core.Repo, release func(err error))
	// Now is the clock that explanations tell the time by; nil for the system's.
	Now func() time.Time
}

// Owner answers other processes. Safe for concurrent use.
type Owner struct {
	opt  HostOptions
	dir  string // .mnem
	host *owner.Server
	find func(name string) *verb.Spec
	// ending ends verbs without an end of their own, when Close is called.
	ending context.Context
	end    context.CancelFunc
	turns  heldTurns
}

// Answer answers the other processes that want the repository r in dir/.mnem, which this process has
// open, until Close is called: before r is closed.
func Answer(dir string, r *core.Repo, opt HostOptions) (*Owner, error) {
	path := filepath.Join(dir, core.DirName)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if opt.Use == nil {
		opt.Use = func() (*core.Repo, func(error)) { return r, func(error) {} }
	}
	o := &Owner{opt: opt, dir: path, find: table.Named}
	o.ending, o.end = context.WithCancel(context.Background())
	var err error
	if o.host, err = owner.NewServer(path, opt.Temp, opt.Build, o.verb); err != nil {
		return nil, err
	}
	said := core.Owner{PID: opt.PID, Since: opt.Since, Protocol: owner.Protocol, Socket: o.host.Socket()}
	if err := r.SetOwner(said); err != nil {
		return nil, errors.Join(err, o.host.Close(0))
	}
	return o, nil
}

// Socket returns the path of the socket.
func (o *Owner) Socket() string { return o.host.Socket() }

// Close ends it: verbs of other processes have grace to end and are then broken off, to be given to
// the next owner if they have not begun to write. Those without an end are broken off at once.
func (o *Owner) Close(grace time.Duration) error {
	o.end()
	o.turns.close()
	return o.host.Close(grace)
}

// outBuffer is how many bytes of answers are gathered for one record.
const outBuffer = 64 << 10

func (o *Owner) verb(ctx context.Context, v *owner.Verb) owner.VerbResult {
	h := &host{Owner: o, call: &Call{}, verb: v, out: bufio.NewWriterSize(v.Answers, outBuffer)}
	err := h.takeIn()
	if err == nil {
		defer h.inputs.Close()
		var release func(error)
		if h.repo, release = o.opt.Use(); h.repo == nil {
			return owner.VerbResult{Elsewhere: true}
		}
		err = o.turns.during(ctx, h.call.Sign, h.run)
		release(err)
	}
	if flushErr := h.out.Flush(); err == nil {
		err = flushErr
	}
	if errors.Is(err, errEnding) {
		return owner.VerbResult{Elsewhere: true}
	}
	if strange, ok := errors.AsType[*verb.UnknownError](err); ok {
		err = unknown(strange, o.opt.PID, o.opt.Build)
	}
	return owner.VerbResult{Data: resultOf(ctx, err, h.call.Caller.Remote), Failed: err != nil}
}

// maxMessage bounds an error's message.
const maxMessage = 64 << 10

// resultOf returns the last record of a verb. Of a message that is too long the end is left out.
func resultOf(ctx context.Context, err error, remote bool) []byte {
	f := verb.FailureOf(ctx, err, remote)
	for {
		data, _ := json.Marshal(f) // it has a JSON form
		if len(data) <= maxMessage || f != nil && (f.Want != nil || f.Unsigned != nil) {
			return data
		}
		f.Message = f.Message[:len(f.Message)/2] + "…"
		f.Hint = ""
	}
}

func (h *host) run(ctx context.Context) error {
	spec := h.find(h.call.Verb)
	if spec == nil {
		return &verb.UnknownError{Verb: h.call.Verb}
	}
	req, err := spec.DecodeRequest(h.call.Request, h.call.Given)
	if err != nil {
		return err
	}
	if q, ok := req.(interface {
		SetChanges(func(context.Context) (state.Changes, error))
	}); ok && h.call.Inputs != nil {
		q.SetChanges(h.changes)
	}
	_, endless := req.(verb.Resumer)
	if endless {
		var end context.CancelCauseFunc
		ctx, end = context.WithCancelCause(ctx)
		defer end(nil)
		defer context.AfterFunc(h.ending, func() { end(errEnding) })()
	}
	err = spec.Run(ctx, h, req, func(answer any) error {
		h.worked()
		err := verb.WriteAnswer(h.out, answer, h.call.Typed)
		if err == nil && endless {
			err = h.out.Flush()
		}
		return err
	})
	if endless && errors.Is(err, context.Canceled) {
		err = context.Cause(ctx)
	}
	return err
}

// heldTurns has the writer's turns that wait for signatures, by the names given to callers. The zero value is empty.
type heldTurns struct {
	mu     sync.Mutex
	named  map[string]*core.HeldTurn
	closed bool
}

// close ends all turns; their callers cannot return.
func (t *heldTurns) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for _, turn := range t.named {
		turn.End()
	}
}

// during calls run with the turn that the previous run kept. If signatures are missing, it keeps the turn for the next
// run.
func (t *heldTurns) during(ctx context.Context, sign *verb.Signatures, run func(context.Context) error) error {
	if sign == nil || !sign.Again {
		return run(ctx)
	}
	turn := t.take(sign.Turn)
	err := run(core.WithTurn(ctx, turn))
	var unsigned *state.UnsignedError
	if errors.As(err, &unsigned) && turn.Holds() {
		unsigned.Turn = t.name(turn)
	}
	if unsigned == nil || unsigned.Turn == "" {
		turn.End()
	}
	return err
}

// take removes and returns a named turn. If it has ended, the result holds no turn.
func (t *heldTurns) take(name string) *core.HeldTurn {
	t.mu.Lock()
	defer t.mu.Unlock()
	turn := t.named[name]
	if turn == nil {
		return &core.HeldTurn{Lease: verb.SignLease}
	}
	delete(t.named, name)
	return turn
}

// name keeps a turn under a new name until its lease ends. It returns "" if the owner is closing.
func (t *heldTurns) name(turn *core.HeldTurn) string {
	name := rand.Text()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return ""
	}
	if t.named == nil {
		t.named = make(map[string]*core.HeldTurn)
	}
	t.named[name] = turn
	time.AfterFunc(verb.SignLease, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.named, name)
	})
	return name
}
