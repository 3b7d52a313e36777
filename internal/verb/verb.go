// Package verb declares verbs, the operations on a repository that the surfaces offer. A declaration consists of a
// request struct, a result type, the strongest effect, the help, and a function. The packages below declare the verbs
// by subject, and package table lists them; this package knows none.
//
// From the declaration follow the flags and the help of the command line, the parameters of HTTP, the
// schemas of MCP, the names that policies know, and the shapes of the docs. A field of a request is for
// the command line of this machine alone unless its tag says remote.
//
// Requests and answers go between processes as JSON, by Spec.EncodeRequest and WriteAnswer. So an answer has
// no members that its JSON form leaves out. A member for people alone is filled in if Service.Human is
// set, left out if it is empty, and its name begins with an underscore: json:"_title,omitempty".
//
// A field is described by its tags:
//
//	op:"NAME,OPTION…"  the flag's name, "" for the Go name in lower case with dashes; the options are
//	                   below; "-" for a field that no surface fills
//	doc:"TEXT"         one phrase, in which {WORD} names the value in help
//	note:"TEXT"        added in help, not for remote callers: variables, settings
//	remote:"TEXT"      replaces doc for remote callers
//	enum:"A B"         the values that it may have
//	default:"VALUE"    its value if it is not given
//	complete:"KIND"    its completion: rev, branch, stage, session, key, rule, tag
//	not:"A B"          flags that it excludes
//
// The options are short=X (the one-letter flag), arg (a positional argument; a list takes all that the others leave),
// required (of an arg), remote (remote callers may give it), remoteonly, varies (a pure verb is not pure with it),
// writes (a verb that reads writes with it), destroys (with it a verb does something that undo cannot reverse), comma
// (a list whose values may hold several, with commas between), words (all positional arguments are one text, or
// standard input if they are a hyphen; words=BYTES says how much of that), set (no flag: the command line sets it by
// NAME=VALUE), settable (by both), sets (the list of these NAME=VALUE), true=VALUE (the text that a remote caller's
// true stands for) and alone (the flag without a value means that too).
//
// A struct that is embedded with the tag op:"local" has no field for remote callers here; one with the tag flags:"A B"
// has no other flags than these.
//
// Fields can come from the table of retrieval's parameters: see Parameters.
//
// A new verb is a variable that Define or Stream makes, in a package below, and a line in package table; a new field is
// one of its request. docs/internals/architecture.md, "Where something new goes", has the rest, and docs/internals/testing.md the commands
// that rewrite pages and lists.
package verb

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// The effects of verbs, as package operation has them.
const (
	Reads    = operation.Reads
	Writes   = operation.Writes
	Destroys = operation.Destroys
)

// Spec declares a verb.
type Spec struct {
	Command string // its words on the command line, as "op log"
	Usage   string // what follows them there
	Args    string // the positional arguments, if Usage has more than these
	Group   string // of the help, of a command of the root
	Title   string // a few words
	Doc     string // the help; remote callers get its first paragraph
	Example string

	Right Right    // that an agent needs before the verb begins
	Runs  []string // names of other verbs that it has the repository run, whose rights it needs as well

	Effect     operation.Effect // the most that it does without fields that write
	Idempotent bool
	// Pure is whether an answer that names one commit depends on it and the request alone.
	Pure bool
	// Derived is whether it writes derived data alone: it makes no operation and needs no author.
	Derived bool
	// NoRepo is whether it needs no repository.
	NoRepo bool
	// Long is whether it takes so long that others should work on the repository at the same time.
	Long bool
	// Local is whether it is for the command line of this machine alone.
	Local bool
	// Confined is whether a caller that is confined to a branch may run it: it reads and writes what Service.Repo has, and
	// nothing else.
	Confined bool
	// Hidden leaves the command out of help and completion, since it is seldom called by hand.
	Hidden bool
	// Answers are values of the answer's types; nil for the result type of the function.
	Answers []any
	// Body and Answer are the media types of a body of bytes and an answer of bytes, "" for none: the positional
	// argument is a file that the body stands for. Fixed are the flags that remote callers always give.
	Body, Answer string
	Fixed        []string
	// Told are values of the types of answers that people alone are given.
	Told []any
	// Lines says what the lines are that the verb reads, nil for none: its request embeds Reader.
	Lines *LinesSpec
	// Batch says how the verb answers each of the lines of a file too, nil if it does not.
	Batch *BatchSpec
	// Exclude lists groups of mutually exclusive fields, Together groups that must be given together.
	Exclude, Together [][]string
	// Complete names the completion of the first positional argument, as in the tags of fields.
	Complete string

	stream bool
	result reflect.Type
	fields func() []Field // of the request, made once

	request func() any
	do      func(ctx context.Context, s *Service, req any, emit func(any) error) error
}

// Verb is a declaration with the types of its function, which is kept as one of any types: what there is of
// each verb is small.
type Verb[Req, Res any] struct{ Spec }

// Define declares a verb with one answer, which is given even with an error of Answered or News.
func Define[Req, Res any](spec Spec, do func(ctx context.Context, s *Service, req *Req) (Res, error)) *Verb[Req, Res] {
	spec.do = func(ctx context.Context, s *Service, req any, emit func(any) error) error {
		res, err := do(ctx, s, req.(*Req))
		if err != nil && !HasAnswer(err) {
			return err
		}
		return cmp.Or(emit(res), err)
	}
	return define[Req, Res](spec)
}

// Stream declares a verb that answers with any number of results, which it gives to emit one by one.
func Stream[Req, Res any](
	spec Spec, do func(ctx context.Context, s *Service, req *Req, emit func(Res) error) error,
) *Verb[Req, Res] {
	spec.stream = true
	spec.do = func(ctx context.Context, s *Service, req any, emit func(any) error) error {
		return do(ctx, s, req.(*Req), func(res Res) error { return emit(res) })
	}
	return define[Req, Res](spec)
}

func define[Req, Res any](spec Spec) *Verb[Req, Res] {
	spec.result = reflect.TypeFor[Res]()
	spec.request = func() any { return new(Req) }
	v := &Verb[Req, Res]{spec}
	v.typed(reflect.TypeFor[Req]())
	return v
}

func (s *Spec) typed(request reflect.Type) {
	s.fields = sync.OnceValue(func() []Field { return sortedFields(request) })
}

// Here describes what a program does by itself with its files, keys and servers, and no other surface has, as a verb
// is described: it is none, and Do does not run it. lines is whether it prints any number of answers.
func Here(spec Spec, request reflect.Type, lines bool) *Spec {
	spec.Local, spec.NoRepo, spec.stream = true, true, lines
	spec.request = func() any { return reflect.New(request).Interface() }
	spec.typed(request)
	return &spec
}

// New returns a request with its defaults, a pointer.
func (s *Spec) New() (any, error) {
	req := s.request()
	for _, f := range s.Fields() {
		if err := f.SetDefault(req); err != nil {
			return nil, err
		}
	}
	return req, nil
}

// Request returns a request without its defaults, a pointer.
func (s *Spec) Request() any { return s.request() }

// Name is how remote callers and policies name the verb: "op_log".
func (s *Spec) Name() string {
	return strings.NewReplacer(" ", "_", "-", "_").Replace(s.Command)
}

// Stream is whether an answer, but for one to a batch, is any number of results.
func (s *Spec) Stream() bool { return s.stream && s.Batch == nil }

// BatchSpec is a verb's way to answer lines: remote callers know it as an operation of its own, with
// _batch after the name of the verb.
type BatchSpec struct {
	Title string
	Lines LinesSpec // Flag names the field for the file
}

// Operations returns the verb as remote callers may ask for it, and that of its batch.
func (s *Spec) Operations() []operation.Operation {
	one := s.Operation()
	if s.Batch == nil {
		return []operation.Operation{one}
	}
	batch := one
	batch.Name, batch.Title, batch.Pure = one.Name+"_batch", s.Batch.Title, false
	batch.Body, batch.Answer = operation.MediaNDJSON, operation.MediaNDJSON
	batch.Params = []operation.Param{s.Batch.Lines.param()}
	for _, p := range one.Params {
		if p.Flag != "" {
			p.Varies = false
			batch.Params = append(batch.Params, p)
		}
	}
	return []operation.Operation{one, batch}
}

// Operation returns the verb as remote callers may ask for it: the fields that say so.
func (s *Spec) Operation() operation.Operation {
	first, _, _ := strings.Cut(s.Doc, "\n\n")
	o := operation.Operation{
		Name: s.Name(), Command: append(strings.Fields(s.Command), s.Fixed...), Title: s.Title,
		Doc: strings.Join(strings.Fields(first), " "), Effect: s.Effect,
		Idempotent: s.Idempotent || s.Effect == Reads, Pure: s.Pure, Confined: s.Confined,
		Body: s.Body, Answer: operation.MediaJSON, Shapes: s.Shapes(),
	}
	switch {
	case s.Answer != "":
		o.Answer, o.Shapes = s.Answer, nil
	case s.Stream():
		o.Answer = operation.MediaNDJSON
	}
	lines := s.Lines != nil
	for _, f := range s.Fields() {
		if lines && !f.Arg {
			o.Params, lines = append(o.Params, s.Lines.param()), false
		}
		if f.Remote {
			o.Params = append(o.Params, f.param())
		}
	}
	if s.Lines != nil {
		o.Body = operation.MediaNDJSON
	}
	return o
}

func (s *Spec) excluded(req any) error {
	given := func(name string) bool {
		return slices.ContainsFunc(s.Fields(), func(f Field) bool { return f.Name == name && !f.Value(req).IsZero() })
	}
	if err := s.CheckExclusive(given); err != nil {
		return err
	}
	lines, reads := req.(interface{ HasChanges() bool })
	for _, group := range s.Together {
		for _, name := range group {
			if given(group[0]) && !given(name) && !(reads && s.Lines.Flag == name && lines.HasChanges()) {
				return Between("%s needs %s", group[0], name)
			}
		}
	}
	return nil
}

// Exclusive returns groups of fields that exclude each other.
func (s *Spec) Exclusive() [][]string {
	groups := slices.Clone(s.Exclude)
	for _, f := range s.Fields() {
		for _, other := range f.Not {
			groups = append(groups, []string{other, f.Name})
		}
	}
	return groups
}

// CheckExclusive refuses two given fields that exclude each other.
func (s *Spec) CheckExclusive(given func(name string) bool) error {
	for _, group := range s.Exclusive() {
		if err := exclusive(given, group); err != nil {
			return err
		}
	}
	return nil
}

func exclusive(given func(name string) bool, names []string) error {
	some := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !given(name) })
	if len(some) > 1 {
		return Exclude(some[0], some[1])
	}
	return nil
}

// Checker is implemented by requests that can say what is wrong with them before the repository is opened.
type Checker interface{ Check() error }

// Configurer is implemented by requests that take from the caller's environment and configuration what
// they do not say.
type Configurer interface {
	Configure(setting func(variable, key string) (string, error)) error
}

// TakesAlong is implemented by requests that have fields of the caller's environment and configuration on a server too.
type TakesAlong interface {
	TakeAlong(setting func(variable, key string) (string, error)) error
}

// Preparer is implemented by requests that read files and ask models. Prepare does so in the caller's process, before
// the repository is opened, which others may wait for, and keeps what it finds in fields with the tag op:"-". req is
// the request, or one that embeds it.
type Preparer interface {
	Prepare(ctx context.Context, s *Service, req any) error
}

// Driver is implemented by requests that may take more than one run: between two, models are asked and files read. If
// Drives returns true, Drive is called in the caller's process after Prepare, and has the repository answer by
// s.Call.
type Driver interface {
	Drives() bool
	Drive(ctx context.Context, s *Service, req any, emit func(any) error) error
}

// Resumer is implemented by requests whose answers come as things happen, without an end: each is passed on
// at once, and if the process that answers ends, another one continues with the rest of the request.
// Answered is called with each answer that the caller has received, and returns whether more are wanted.
type Resumer interface {
	Answered(answer any) (more bool)
}

// Do runs the verb for a caller, with a request that New or Request made, and gives each answer to emit. It asks first
// whether the caller has the rights that the request needs, and prepares the request. Then the verb runs where the
// repository is open, here or in another process by Run. A verb that writes has its stamp made and the repository
// opened for writing; in a dry run it writes to one that is forgotten.
func (spec *Spec) Do(ctx context.Context, by Caller, req any, emit func(any) error) error {
	s, err := spec.begin(by, req, by.Setting)
	if err != nil {
		return err
	}
	s.Caller = by
	if p, ok := req.(Preparer); ok {
		if err := p.Prepare(ctx, s, req); err != nil {
			return err
		}
	}
	if d, ok := req.(Driver); ok && d.Drives() {
		return d.Drive(ctx, s, req, emit)
	}
	return s.Call(ctx, req, emit)
}

// Run runs the verb with a prepared request for a process that has the repository open.
func (spec *Spec) Run(ctx context.Context, host Host, req any, emit func(any) error) error {
	s, err := spec.begin(host, req, nil)
	if err != nil {
		return err
	}
	return s.Call(ctx, req, emit)
}

// begin checks a request, the branch that the caller is confined to, and its rights before anything is read, asked, sent
// or written.
func (spec *Spec) begin(host Host, req any, setting func(variable, key string) (string, error)) (*Service, error) {
	agent := WritingOf(req).Agent
	only, err := host.Only(agent)
	if err == nil && only != "" {
		err = spec.Confine(req, only)
	}
	if err != nil {
		return nil, err
	}
	if err := spec.excluded(req); err != nil {
		return nil, err
	}
	if c, ok := req.(Checker); ok {
		if err := c.Check(); err != nil {
			return nil, err
		}
	}
	if c, ok := req.(Configurer); ok && setting != nil {
		if err := c.Configure(setting); err != nil {
			return nil, err
		}
	}
	s := &Service{Host: host, Spec: spec, Human: host.Human(), agent: agent, only: only}
	return s, host.Permit(s.agent, spec.Rights(req))
}

// Call has the repository answer a prepared request.
func (s *Service) Call(ctx context.Context, req any, emit func(any) error) error {
	spec, one := s.Spec, *s
	s = &one
	if spec.NoRepo {
		return spec.do(ctx, s, req, emit)
	}
	write, err := s.prepare(req)
	if err == nil {
		ctx, err = s.confine(ctx)
	}
	if err != nil {
		return err
	}
	return s.signed(ctx, &Job{Spec: spec, Req: req, Emit: emit, Write: write}, func(ctx context.Context) error {
		ctx, _ = s.confine(ctx) // which the host has given what HEAD follows
		if err := cmp.Or(s.open(ctx), s.mayWrite(ctx, req)); err != nil {
			return err
		}
		if spec.Answer == "" && (spec.derives(req) || spec.EffectOf(req) == Reads) {
			return spec.steadily(ctx, s, req, emit)
		}
		return spec.do(ctx, s, req, emit)
	})
}

// maxAgain is how often a reading verb is repeated because records that it reads were removed.
const maxAgain = 3

// steadily runs a verb that reads, and again if a purge or a collection removed derived blocks during the run:
// that is no damage, and they are rebuilt. In a shared store another process may have removed them without
// notice, so the open indexes are dropped once.
func (spec *Spec) steadily(ctx context.Context, s *Service, req any, emit func(any) error) error {
	given := false
	for again := 0; ; again++ {
		since := s.Repo.Indexes().Sweeps()
		err := spec.do(ctx, s, req, func(res any) error {
			given = true
			return emit(res)
		})
		switch {
		case !errors.Is(err, store.ErrCorrupt) || again == maxAgain:
			return err
		case s.Repo.Indexes().SweptSince(since):
			if given {
				return fmt.Errorf("%w: something was erased at the same time: ask again", store.ErrBusy)
			}
		case again > 0 || given || !s.Repo.Shared():
			return err
		default:
			s.Repo.ForgetOpened()
		}
	}
}

// Tells reports whether an answer is one that people alone are given.
func (s *Spec) Tells(answer any) bool {
	return slices.ContainsFunc(s.Told, func(told any) bool {
		return reflect.TypeOf(answer) == reflect.PointerTo(reflect.TypeOf(told))
	})
}

// AnswerTypes are the types of the answers, those that people alone are given among them.
func (s *Spec) AnswerTypes() []reflect.Type {
	if s.Answers == nil {
		return []reflect.Type{s.result.Elem()}
	}
	var types []reflect.Type
	for _, a := range slices.Concat(s.Answers, s.Told) {
		types = append(types, reflect.TypeOf(a))
	}
	return types
}

// OneOf returns an answer of a verb that has several types of answers, nil for none.
func OneOf[T any](res *T, err error) (any, error) {
	if res == nil {
		return nil, err
	}
	return res, err
}

// LinesSpec says what the lines are that a verb reads.
type LinesSpec struct {
	Doc      string
	Flag     string // that names their file on the command line, "" for positional arguments
	Required bool
}

func (l *LinesSpec) param() operation.Param {
	return operation.Param{Name: "lines", Flag: l.Flag, Kind: operation.Lines, Doc: l.Doc, Required: l.Required}
}

// ChangeReader is embedded in requests of verbs that read change lines.
type ChangeReader struct {
	read func(ctx context.Context) (state.Changes, error)
}

// SetChanges tells where change lines are read. It is called when the repository is open, once.
func (q *ChangeReader) SetChanges(read func(ctx context.Context) (state.Changes, error)) {
	q.read = read
}

// HasChanges reports whether there are change lines.
func (q *ChangeReader) HasChanges() bool { return q.read != nil }

// Changes returns what reads the change lines.
func (q *ChangeReader) Changes(ctx context.Context) (state.Changes, error) { return q.read(ctx) }

// EachLine gives the lines of a file that are not blank to read, with their numbers. The error of a line names file and
// line. After each line, and before such an error and the end of the file, rest is called, unless nil: waits is
// whether going on may wait for who writes the file.
func EachLine(
	ctx context.Context, by Caller, name string, read func(n int, line []byte) error,
	rest func(shown string, waits bool) error,
) error {
	in, shown, err := by.File(ctx, name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read from
	if rest == nil {
		rest = func(string, bool) error { return nil }
	}
	lines := bufio.NewReaderSize(in, 64<<10)
	for n := 1; ; n++ {
		text, err := readLine(lines)
		if errors.Is(err, io.EOF) {
			return rest(shown, true)
		}
		if err == nil && len(bytes.TrimSpace(text)) > 0 {
			err = read(n, text)
		}
		if err != nil {
			return cmp.Or(rest(shown, true), error(&graph.LineError{File: shown, Line: n, Err: err}))
		}
		ahead, _ := lines.Peek(lines.Buffered()) // they are there
		if err := rest(shown, bytes.IndexByte(ahead, '\n') < 0); err != nil {
			return err
		}
	}
}

// readLine returns the next line without its end, or io.EOF. One longer than graph.MaxLine is
// refused without reading on.
func readLine(r *bufio.Reader) ([]byte, error) {
	var text []byte
	for {
		part, err := r.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case len(text) > graph.MaxLine+1:
			return nil, graph.Fieldf("", "line of more than %d bytes", graph.MaxLine)
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(text) > 0, err == nil:
			return bytes.TrimSuffix(text, []byte("\n")), nil
		default:
			return nil, err
		}
	}
}
