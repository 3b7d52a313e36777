package peers

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/gitfollow"
	"github.com/mnem-project/mnem/internal/keyring"
	"github.com/mnem-project/mnem/internal/owner"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
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

// Call is one request for a verb.
type Call struct {
	Verb    string          `json:"verb"`
	Request json.RawMessage `json:"request"`         // see verb.Spec.EncodeRequest
	Given   []string        `json:"given,omitempty"` // the names of the fields that were given
	Words   []string        `json:"words,omitempty"` // how the operation log names it

	Caller operation.Caller `json:"caller"`
	// Human is whether people read the answers, Typed whether answers come with their types, and
	// Progress whether people see how far it is.
	Human    bool `json:"human,omitempty"`
	Typed    bool `json:"typed,omitempty"`
	Progress bool `json:"progress,omitempty"`
	// Inputs are the names of the files of change lines, or of the file that the verb reads. Their contents follow the call.
	Inputs []string `json:"inputs,omitempty"`

	// Sign is set for a run whose commits the caller signs.
	Sign *verb.Signatures `json:"sign,omitempty"`
	// Meaning is whether written nodes are embedded by the built-in model.
	Meaning bool `json:"meaning,omitempty"`
	// The caller's configuration: the verbs that accept signed commits only, and the options for collecting garbage
	// after a write.
	RequireSigned string   `json:"require_signed,omitempty"`
	Collect       *Collect `json:"collect,omitempty"`

	// Trusted is the caller's trust list, or Untrusted why it cannot be read. Key is the public key that an agent
	// signs with, "" for none.
	Trusted   json.RawMessage `json:"trusted,omitempty"`
	Untrusted *verb.Failure   `json:"untrusted,omitempty"`
	Key       string          `json:"key,omitempty"`
	// Root is the directory that holds the repository, and Dir the one that the caller works in: paths of
	// directories that a request names begin there.
	Root string `json:"root,omitempty"`
	Dir  string `json:"dir,omitempty"`
}

// Collect holds the options of a collection after a write.
type Collect struct {
	KeepOps int           `json:"keep_ops"`
	Grace   time.Duration `json:"grace"`
}

// ProgressMessage is a progress message that the owner sends while a verb runs.
type ProgressMessage struct {
	Start string `json:"start,omitempty"` // something begins that takes its time
	What  string `json:"what,omitempty"`  // how much of something is done, of a total, 0 for an unknown one
	Done  int    `json:"done,omitempty"`
	Total int    `json:"total,omitempty"`
	Say   string `json:"say,omitempty"` // replaces the shown text
	End   bool   `json:"end,omitempty"` // nothing is to show any more
	// Collected reports a collection after the write; Remark is any other message.
	Collected *core.GCResult `json:"collected,omitempty"`
	Remark    string         `json:"remark,omitempty"`
}

// Caller holds the callbacks of a process for a verb that another process runs for it.
type Caller struct {
	// Input opens one of the files of the call.
	Input func(number int) (io.Reader, error)
	// Output is the file that the verb writes.
	Output io.Writer
	Tell   func(*ProgressMessage)
	// Read reads the answers.
	Read func(io.Reader) error
}

// Ask has the owner run a verb and returns the error that it ended with. An *owner.LostError says that
// the owner ended first.
func Ask(ctx context.Context, client *owner.Client, call *Call, by *Caller) error {
	request, err := json.Marshal(call)
	if err != nil {
		return fmt.Errorf("ask another process: %w", err)
	}
	asker := owner.Asker{File: by.Output, Tell: func(data []byte) {
		t := &ProgressMessage{}
		if json.Unmarshal(data, t) == nil {
			by.Tell(t)
		}
	}}
	for i := range call.Inputs {
		in, err := by.Input(i)
		if err != nil {
			return err
		}
		asker.Inputs = append(asker.Inputs, in)
	}
	result, err := client.Ask(ctx, request, asker, by.Read)
	broken := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) // an answer is, and why is said
	if err != nil && (!broken || result == nil) {
		return err
	}
	var failure *verb.Failure
	if jsonErr := json.Unmarshal(result, &failure); jsonErr != nil {
		return fmt.Errorf("%w: a result: %w", owner.ErrProtocol, jsonErr)
	}
	if failure == nil && broken {
		return err
	}
	return failure.Err()
}

// unknown says what to do about a verb or field that this process does not know.
func unknown(err *verb.UnknownError, pid int, build string) error {
	what, without := "the verb "+err.Verb, ""
	if err.Field != "" {
		what, without = err.Field+" of "+err.Verb, ", or leave out "+err.Field
	}
	next := fmt.Sprintf("stop process %d and restart it, so that it is the same version%s", pid, without)
	return verb.Hint(fmt.Errorf("%w: process %d has it open, and mnem %s does not know %s",
		store.ErrBusy, pid, build, what), next, next)
}

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
