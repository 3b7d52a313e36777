package verb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// Host is the environment in which a surface runs verbs: it knows the configuration, the clock, the
// keys and the process that has the repository open.
type Host interface {
	// Open opens the repository for a job, runs fn and closes it, or has the process that has it open do the job.
	// Repo returns the repository while fn runs.
	Open(ctx context.Context, job *Job, fn func(ctx context.Context) error) error
	Repo() *core.Repo
	// Defaults fills in what the caller's environment says where the request says nothing.
	Defaults(w *Writing)
	// Permit returns an error if the policy does not allow the caller one of some operations. agent is the agent
	// named by the request, "" for none.
	Permit(agent string, rights []string) error
	// Only returns the branch that the caller is confined to, "" for none. agent is as in Permit.
	Only(agent string) (string, error)
	// Stamp says who makes a change, and when.
	Stamp(spec *Spec, w *Writing) (state.Stamp, error)
	// Now is the time of what is asked for without one.
	Now() (graph.Time, error)
	// Trusted returns the keys that the user trusts.
	Trusted() (commit.Verifier, error)
	// Require returns what checks commits that a verb takes in, nil if no rule says that they must be
	// signed, nor the caller.
	Require(rule string, given bool) (func(iter.Seq2[commit.LogEntry, error]) error, error)
	// Working shows that something takes its time, until what it returns is called.
	Working(what string) (done func())
	// Progress shows how much of something is done, of a total, 0 if that is not known, until done is called.
	Progress() (set func(what string, done, total int), done func())
	// Human is whether answers are shown to people as text.
	Human() bool
	// Clock returns the time since any fixed moment, for explanations.
	Clock() func() time.Duration
	// OpenRoot opens a directory of this machine, "" for the one that holds the repository.
	OpenRoot(dir string) (*os.Root, error)
	// Create writes a file of this machine, Itself for the answer of the call.
	Create(ctx context.Context, name string, write func(io.Writer) error) error
	// Read opens a file of this machine, Itself for the body of the call.
	Read(ctx context.Context, name string) (*File, error)
}

// Caller is the Host of who asks for a verb: it has the configuration, files and models that Prepare needs.
type Caller interface {
	Host
	// Setting returns the value of a variable of the caller's environment, or else of a key of the
	// configuration; "" for none.
	Setting(variable, key string) (string, error)
	// File opens a file that a field names, standard input for a hyphen, and returns what errors call it.
	File(ctx context.Context, name string) (in io.ReadCloser, shown string, err error)
	// Embedder opens the model that a spec names, "" for that of the configuration. progress receives the
	// number of texts done within each call.
	Embedder(spec string, progress func(done, total int)) (Embedder, error)
	// Models opens the models that a question names. The reranker is nil for none, and for one that asks no model.
	Models(m *QuestionModels) (*complete.Models, retrieve.Reranker, error)
	// Global returns what runs verbs on the user's own repository.
	Global() (Runner, error)
}

// Runner runs a verb on a repository, and gives each answer to emit.
type Runner func(ctx context.Context, v *Spec, req any, emit func(any) error) error

// Job is one run of a verb with a prepared request.
type Job struct {
	Spec  *Spec
	Req   any
	Emit  func(any) error
	Write bool        // whether the repository is opened for writing
	Sign  *Signatures // of one whose commits the caller signs, nil for others
}

// Itself stands for the answer or the body of a call where a file could be named.
const Itself = "-"

// Embedder makes vectors of texts.
type Embedder interface {
	state.Meaning
	// Dim is the number of dimensions, 0 while it is not known.
	Dim() int
	// MaxText is how many bytes a text may have.
	MaxText() int
}

// File is a file that can be read anywhere. Close must be called.
type File struct {
	io.ReaderAt
	Size  int64
	Close func()
}

// Writing holds the fields common to the requests of verbs that write.
type Writing struct {
	Author, Agent, Task, Time string
	Branch, Stage             string
	Message                   string
	Expect                    string // where the branch must be
	ExpectHead                string // where HEAD must be
	Sign, NoSign              bool
	Key                       string
	AllowSecret               []string
	Strict                    bool
	DryRun                    bool

	Signs bool // whether commits are signed if that is configured
}

// Service gives the function of a verb access to the repository and the caller, for one call.
type Service struct {
	// Repo is the open repository. In a dry run it is one whose writes are discarded, and From is the
	// stored one; otherwise they are the same.
	Repo, From *core.Repo
	// Commit says who makes a change, and where; verbs that make no commit use its Stamp too.
	Commit core.CommitOptions
	Stage  string
	DryRun bool
	// Human is whether the answer is shown to people: what only that needs may be added.
	Human bool

	Host    Host
	Caller  Caller // the same, nil if the repository is open for another process
	Spec    *Spec
	only    string          // the branch that the caller is confined to, "" for none
	agent   string          // that the request names, "" for the one that the host knows
	trusted commit.Verifier // once needed
}

// prepare reads what a request has in common with others, and makes the stamp of one that writes.
func (s *Service) prepare(req any) (write bool, err error) {
	spec := s.Spec
	w := WritingOf(req)
	s.Host.Defaults(&w)
	s.Commit.Branch, s.Commit.Message = w.Branch, w.Message
	s.Stage = w.Stage
	switch {
	case spec.EffectOf(req) == Reads:
		return false, nil
	case spec.derives(req):
		return true, nil
	}
	s.DryRun = w.DryRun
	if s.Commit.Stamp, err = s.Host.Stamp(spec, &w); err != nil {
		return false, err
	}
	s.Commit.Expect, err = ParseExpect(w.Expect)
	return !w.DryRun, err
}

func (s *Service) open(ctx context.Context) (err error) {
	s.Repo = s.Host.Repo().Only(s.only)
	s.From = s.Repo
	if s.DryRun {
		s.Repo, err = s.From.Trial(ctx)
	}
	return err
}

// derives reports whether the verb writes nothing but what is derived with a request.
func (s *Spec) derives(req any) bool {
	q, ok := req.(interface{ Authored() bool })
	return s.Derived && !(ok && q.Authored())
}

// Authored reports whether the verb makes a change with a request that has an author.
func (s *Spec) Authored(req any) bool { return s.EffectOf(req) != Reads && !s.derives(req) }

// EffectOf returns the most that the verb does with a request.
func (s *Spec) EffectOf(req any) operation.Effect {
	if q, ok := req.(interface{ ReadsOnly() bool }); ok && q.ReadsOnly() {
		return Reads
	}
	most, asked := s.Effect, paramsOf(req)
	for _, f := range s.Fields() {
		given := !f.Value(req).IsZero() || f.table && f.Kind != operation.Boolean && asked.Given(f.Name)
		switch {
		case given && f.Destroys:
			most = Destroys
		case given && f.Writes:
			most = max(most, Writes)
		}
	}
	return most
}

// Writer is implemented by the parts of requests that have something of a Writing.
type Writer interface{ Into(w *Writing) }

// WritingOf gathers what the parts of a request say.
func WritingOf(req any) (w Writing) {
	gather(reflect.ValueOf(req), &w)
	w.NoSign = w.Signs && !w.Sign && w.Key == "" && paramsOf(req).Given("sign")
	return w
}

func gather(part reflect.Value, w *Writing) {
	if p, ok := part.Interface().(Writer); ok {
		p.Into(w)
	}
	for i := range part.Elem().NumField() {
		if f := part.Elem().Type().Field(i); f.Anonymous && f.IsExported() {
			gather(part.Elem().Field(i).Addr(), w)
		}
	}
}

// MadeBy returns the commit of a result, none if a dry run would change something: its time would be another.
func (s *Service) MadeBy(res *core.CommitResult) (made ipld.CID) {
	if !s.DryRun || res.NoChange {
		made = res.Commit
	}
	return made
}

// At returns the memory at a revision. HEAD before the first commit is the empty memory.
func (s *Service) At(ctx context.Context, rev string) (*core.Snapshot, error) {
	if rev == string(graph.Head) {
		_, head, err := s.Repo.Branch(ctx)
		if err != nil {
			return nil, err
		}
		return s.Repo.At(ctx, head)
	}
	return s.Repo.Snapshot(ctx, rev)
}

// ParseExpect reads a commit that a ref must be at: nil if none was given.
func ParseExpect(s string) (*ipld.CID, error) {
	var c ipld.CID
	switch s {
	case "":
		return nil, nil
	case "none":
		return &c, nil
	}
	c, err := ipld.ParseCID(s)
	if err != nil {
		return nil, Bad("expect", "%w", err)
	}
	return &c, nil
}

// OwnDir returns the directory .mnem of the repository.
func (s *Service) OwnDir() (string, error) {
	root, err := s.Host.OpenRoot("")
	if err != nil {
		return "", err
	}
	return filepath.Join(root.Name(), core.DirName), root.Close()
}

// Now reads a time that a request gives, that of the change where it gives none.
func (s *Service) Now(text string) (graph.Time, error) {
	t, err := OptTime("now", text)
	if err == nil && !t.Given {
		return s.Host.Now()
	}
	return t.Time, err
}

// TargetBranch returns the branch that is written to, "" for the one that HEAD is on.
func TargetBranch(ctx context.Context, r *core.Repo, name string) (core.BranchInfo, error) {
	if name == "" {
		current, at, err := r.Branch(ctx)
		if err == nil && current == "" {
			err = &core.DetachedError{At: at}
		}
		return core.BranchInfo{Name: current, Commit: at}, err
	}
	all, err := r.Branches().List(ctx)
	if err != nil {
		return core.BranchInfo{}, err
	}
	i := slices.IndexFunc(all, func(b core.BranchInfo) bool { return b.Name == name })
	if i >= 0 && name != string(graph.Head) {
		return all[i], nil
	}
	return core.BranchInfo{}, &state.NotFoundError{What: "branch", Name: name}
}

// MayNote reports whether the caller has the right of the verb that runs.
func (s *Service) MayNote() bool {
	return s.Host.Permit(s.agent, slices.Concat([]string{s.Spec.Name()}, s.Spec.Runs)) == nil
}

// Trusted returns the keys that the user trusts.
func (s *Service) Trusted() (by commit.Verifier, err error) {
	if s.trusted == nil {
		s.trusted, err = s.Host.Trusted()
	}
	return s.trusted, err
}

type followingKey struct{}

// Follow returns a context in which HEAD is as f says; nil means the stored HEAD. A Host passes it to the
// function given to Open.
func Follow(ctx context.Context, f *operation.Following) context.Context {
	if f == nil {
		return ctx
	}
	return core.Follow(context.WithValue(ctx, followingKey{}, f), coreOf(f))
}

func coreOf(f *operation.Following) *core.Following {
	return &core.Following{Branch: f.Branch, From: f.From, ReadOnly: f.ReadOnly, Unknown: f.Unknown}
}

// MayWrite returns why nothing is written to the branch that f is on. f may be nil.
func MayWrite(f *operation.Following) error {
	if f == nil {
		return nil
	}
	return coreOf(f).MayWrite()
}

// FollowedBy returns what Follow put into a context, nil for nothing.
func FollowedBy(ctx context.Context) *operation.Following {
	f, _ := ctx.Value(followingKey{}).(*operation.Following)
	return f
}

// mayWrite refuses a write to the branch that HEAD is on while that is followed and not to be written.
func (s *Service) mayWrite(ctx context.Context, req any) error {
	err := core.FollowingOf(ctx).MayWrite()
	if err == nil || s.Commit.Branch != "" || s.Spec.EffectOf(req) == Reads || s.Spec.derives(req) {
		return nil
	}
	for _, field := range s.Spec.Fields() {
		if field.Name == "branch" {
			return err
		}
	}
	return nil
}

const (
	// signPause is how long the first run waits for a signature; a key in memory takes less.
	signPause = 50 * time.Millisecond
	// SignLease is how long later runs make other writers wait for a signature.
	SignLease = 2 * time.Second
	// maxSigned bounds the runs of a verb: each commit of a chain takes one, as does each change by another writer.
	maxSigned = 256
)

// Signatures gives a run of a verb the signatures of its commits.
type Signatures struct {
	Made state.Signatures `json:"made,omitempty"`
	// Again is set after the first run: if signatures are missing, the run keeps the writer's turn until SignLease ends.
	// Turn is the turn that the previous run kept, "" for none.
	Again bool   `json:"again,omitempty"`
	Turn  string `json:"turn,omitempty"`
}

// signed runs a job whose commits the caller signs. The repository does not wait for a key: a run without all signatures
// ends with an UnsignedError that has the unsigned records, and signed runs the job again with their signatures. That
// run fails if the records have changed, as after another writer's commit; from then on other writers wait up to
// SignLease. If the repository is open in this process, a signature made within signPause saves the second run.
func (s *Service) signed(ctx context.Context, job *Job, run func(context.Context) error) error {
	if s.Commit.Sign == nil || s.Caller == nil {
		return s.Host.Open(ctx, job, run)
	}
	by := &signer{sign: s.Commit.Sign, made: state.Signatures{}, under: map[string]chan signature{}}
	job.Sign = &Signatures{Made: by.made}
	for range maxSigned {
		s.Commit.Sign = by.within(signPause)
		if job.Sign.Again {
			s.Commit.Sign = by.within(SignLease)
		}
		err := s.Host.Open(ctx, job, run)
		var unsigned *state.UnsignedError
		if !errors.As(err, &unsigned) {
			return err
		}
		for _, record := range unsigned.Records {
			if err := by.wait(ctx, record); err != nil {
				return fmt.Errorf("sign commit: %w", err)
			}
		}
		job.Sign.Again, job.Sign.Turn = true, unsigned.Turn
	}
	return fmt.Errorf("%w: the memory changed each time before its commit was signed", store.ErrBusy)
}

// signer signs each record once, each in its own goroutine: a key may wait for a person.
type signer struct {
	sign  commit.SignFunc
	made  state.Signatures
	under map[string]chan signature // pending, by record
}

type signature struct {
	bytes []byte
	err   error
}

// begin starts signing a record, unless that is under way.
func (b *signer) begin(record []byte) chan signature {
	made, ok := b.under[string(record)]
	if !ok {
		made = make(chan signature, 1)
		b.under[string(record)] = made
		record = bytes.Clone(record)
		go func() {
			signed, err := b.sign(record)
			made <- signature{signed, err}
		}()
	}
	return made
}

func (b *signer) take(record []byte, made signature) error {
	delete(b.under, string(record))
	if made.err == nil && len(made.bytes) == 0 {
		return commit.ErrUnsigned
	}
	if made.err == nil {
		b.made.Add(record, made.bytes)
	}
	return made.err
}

// within returns what signs in this process, with a signature that is made in time. After a record whose signature is
// not, it waits for no other one: a purge has as many records as blocks, and writers wait for it.
func (b *signer) within(most time.Duration) commit.SignFunc {
	late := false
	return func(record []byte) ([]byte, error) {
		signed, lacks := b.made.Sign(record)
		if lacks == nil || late {
			return signed, lacks
		}
		select {
		case made := <-b.begin(record):
			return made.bytes, b.take(record, made)
		case <-time.After(most):
			late = true
			return nil, lacks
		}
	}
}

func (b *signer) wait(ctx context.Context, record []byte) error {
	select {
	case made := <-b.begin(record):
		return b.take(record, made)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
