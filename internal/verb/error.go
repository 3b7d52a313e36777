package verb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"syscall"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/internal/verb/policy"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// UsageError is returned for a request that makes no sense whatever the repository holds.
type UsageError struct{ Err error }

func (e UsageError) Error() string { return e.Err.Error() }
func (e UsageError) Unwrap() error { return e.Err }

// Usagef returns a UsageError.
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// FieldError is a UsageError about one field.
type FieldError struct {
	Field string // as the flag is called
	Err   error
	Value string // of a list, that it is about; "" for none
}

func (e *FieldError) Error() string { return e.text("--" + e.Field) }

func (e *FieldError) text(name string) string {
	if e.Value != "" {
		name += fmt.Sprintf(" %q", e.Value)
	}
	return name + ": " + e.Err.Error()
}

func (e *FieldError) Unwrap() error { return e.Err }

// Bad returns an error about the value of a field.
func Bad(field, format string, args ...any) error { return BadValue(field, "", format, args...) }

// BadValue returns an error about one of the values of a field that is a list.
func BadValue(field, value, format string, args ...any) error {
	return UsageError{&FieldError{field, fmt.Errorf(format, args...), value}}
}

// Exclude returns an error about fields that exclude each other.
func Exclude(a, b string) error { return Between("%s and %s exclude each other", a, b) }

// Between returns an error about several fields; the format has a %s for each.
func Between(format string, fields ...string) error { return UsageError{&fieldsError{format, fields}} }

type fieldsError struct {
	format string
	fields []string
}

func (e *fieldsError) Error() string { return e.text(func(f string) string { return "--" + f }) }

func (e *fieldsError) text(name func(string) string) string {
	names := make([]any, len(e.fields))
	for i, f := range e.fields {
		names[i] = name(f)
	}
	return fmt.Sprintf(e.format, names...)
}

// hintError is an error with the next step, as the command line says it and as remote callers are told.
type hintError struct {
	err           error
	local, remote string
}

func (e *hintError) Error() string { return e.err.Error() }
func (e *hintError) Unwrap() error { return e.err }

// Hint adds the next step to an error: local in commands and flags, remote in verbs and parameters. If
// remote is empty, remote callers get local.
func Hint(err error, local, remote string) error { return &hintError{err, local, remote} }

// Hintf adds the next step to an error of the command line.
func Hintf(err error, format string, args ...any) error {
	return Hint(err, fmt.Sprintf(format, args...), "")
}

// answeredError is an error that comes with an answer, as the conflicts of a merge.
type answeredError struct{ error }

func (e answeredError) Unwrap() error { return e.error }

// Answered marks an error that comes with an answer: the answer is given first.
func Answered(err error) error { return answeredError{err} }

func HasAnswer(err error) bool {
	return errors.As(err, new(answeredError)) || errors.As(err, new(*News))
}

// News is an error that says that an answer is bad news, as that of a replay which differs. The answer was given.
type News struct{ Outcome operation.Outcome }

func (e *News) Error() string { return e.Outcome.When }

// ErrUnconfirmed is returned for what cannot be taken back and was not confirmed.
var ErrUnconfirmed = errors.New("nothing was erased: there is no way back from a purge")

// ErrRemote is returned if a remote caller wants what only the user of this machine may.
var ErrRemote = errors.New("not for callers from outside")

// OutcomeOf maps an error to its row of the error table.
func OutcomeOf(ctx context.Context, err error) operation.Outcome {
	is := func(targets ...error) bool {
		return slices.ContainsFunc(targets, func(t error) bool { return errors.Is(err, t) })
	}
	var done *operation.Error // of a call that another process answered
	var news *News
	switch {
	case err == nil:
		return operation.OK
	case errors.As(err, &done):
		return done.Outcome
	case errors.As(err, &news):
		return news.Outcome
	case ctx.Err() != nil && is(context.Canceled, context.DeadlineExceeded): // or a server's time is up
		return operation.Interrupted
	case errors.As(err, new(UsageError)):
		return operation.Usage
	case is(store.ErrCorrupt):
		return operation.Corrupt
	case is(store.ErrBusy):
		return operation.Busy
	case is(store.ErrRedacted):
		return operation.Redacted
	case is(core.ErrUnsigned, state.ErrSigned, history.ErrOthers, policy.ErrDenied, state.ErrSecret,
		ErrUnconfirmed, ErrRemote, ErrConfined, core.ErrOnly, store.ErrDenied):
		return operation.Refused
	case is(state.ErrConflict, store.ErrHeadMoved):
		return operation.Conflict
	case is(retrieve.ErrRankingVersion):
		return operation.Ranking
	case is(store.ErrNotFound, retrieve.ErrNoProfile):
		return operation.NotFound
	case is(graph.ErrInvalid, state.ErrInvalid, regular.ErrKind, retrieve.ErrRequest, ipld.ErrJSON, ipld.ErrInvalid,
		ipld.ErrCID, fs.ErrExist):
		return operation.Invalid
	}
	return operation.Failed
}

// MessageOf returns the message of an error, with parameters instead of flags for remote callers. Text
// in it that looks like a credential is masked: it may have been given as a name.
func MessageOf(err error, remote bool) string { return guard.Message(messageOf(err, remote)) }

func messageOf(err error, remote bool) string {
	message := err.Error()
	if !remote {
		return message
	}
	if field, ok := errors.AsType[*FieldError](err); ok {
		return strings.Replace(message, field.Error(), field.text(parameter(field.Field)), 1)
	}
	if several, ok := errors.AsType[*fieldsError](err); ok {
		return strings.Replace(message, several.Error(), several.text(parameter), 1)
	}
	return message
}

// Set begins what errors call a field that the command line has by --set.
const Set = "set "

func parameter(flag string) string {
	return strings.ReplaceAll(strings.TrimPrefix(flag, Set), "-", "_")
}

// HintGiven returns the next step that an error was given for the command line, "" for none.
func HintGiven(err error) string {
	if next, ok := errors.AsType[*hintError](err); ok {
		return next.local
	}
	return ""
}

// HintOf returns the next step after an error, "" for none.
func HintOf(err error, remote bool) string {
	local, told := hintOf(err)
	if remote && told != "" {
		local = told
	}
	return guard.Message(local)
}

// hintOf returns the next step for the command line and for remote callers.
func hintOf(err error) (local, remote string) {
	if next, ok := errors.AsType[*hintError](err); ok {
		return next.local, next.remote
	}
	if done, ok := errors.AsType[*operation.Error](err); ok && done.Hint != "" {
		return done.Hint, ""
	}
	var secret *state.SecretError
	var kind *state.KindError
	var missing *state.NotFoundError
	switch {
	case errors.As(err, new(*rank.UnsureError)):
		const how = "name one of them by its id, or give more words of it"
		return how, how
	case errors.As(err, &secret):
		return secretHint(secret)
	case errors.As(err, new(*core.DetachedError)):
		return "name a branch with --branch, or go to one with 'mnem switch NAME' or 'mnem switch -c NAME'",
			"name a branch with branch"
	case errors.As(err, new(*core.ReadOnlyError)):
		return "name a branch with --branch, or go to one with 'git switch NAME'; 'mnem status' tells more",
			"name a branch with branch"
	case errors.As(err, new(*core.UnknownHeadError)):
		return "install git or repair what it says, name a branch with --branch or --at, or end following with " +
			"'mnem git follow --remove'", "name a branch with branch or at"
	case errors.As(err, new(*core.FollowedError)):
		return "go to another branch with 'git switch NAME', name one with --branch or --at, or end it with " +
			"'mnem git follow --remove'", "name a branch with branch or at"
	case errors.As(err, &kind) && kind.Kind == retrieve.KindReceipt:
		return "'mnem session replay' takes a receipt", "replay takes a receipt"
	case kind != nil:
		return "'mnem show' prints whatever it is", "show prints whatever it is"
	case errors.As(err, &missing) && (missing.What == "branch" || missing.What == "revision"):
		return revisionHint(missing)
	case errors.Is(err, store.ErrUnknown):
		return "look with 'mnem op log' before giving the command again", "look with op_log before asking again"
	case errors.Is(err, store.ErrNoRoom) || errors.Is(err, syscall.ENOSPC):
		return roomHint(err)
	case errors.Is(err, store.ErrDenied):
		const how = "the role that owns the tables grants the rights, see docs/servers.md"
		return how + "; or connect as another role", how
	case errors.Is(err, store.ErrBusy):
		return "wait longer with --wait, or stop the other process", "ask again later"
	}
	return "", ""
}

// roomHint says what to do about a full disk. A change that erases has what was kept for it already.
func roomHint(err error) (local, remote string) {
	some := "some room"
	if room, ok := errors.AsType[*store.NoRoomError](err); ok {
		some = fmt.Sprintf("%d bytes", room.MustFree())
		if room.Erasing {
			return fmt.Sprintf("free %s on the disk and give the command again", some),
				fmt.Sprintf("free %s on the disk and ask again", some)
		}
	}
	if errors.Is(err, store.ErrServerFull) {
		return "make room on the disk of the database server and give the command again",
			"make room on the disk of the database server and ask again"
	}
	return fmt.Sprintf("free %s on the disk and give the command again; 'mnem purge' and 'mnem gc' work on a full disk "+
			"and free some", some),
		fmt.Sprintf("free %s on the disk and ask again; purge and gc work on a full disk", some)
}

// CandidatesOf returns what the name in an error may mean, nil for nothing.
func CandidatesOf(err error) (out []operation.Candidate) {
	if done, ok := errors.AsType[*operation.Error](err); ok {
		return done.Candidates
	}
	var list []state.Candidate
	if unsure, ok := errors.AsType[*rank.UnsureError](err); ok {
		list = unsure.Candidates
	} else if missing, ok := errors.AsType[*state.NotFoundError](err); ok {
		list = missing.Candidates
	}
	for _, c := range list {
		out = append(out, operation.Candidate(c))
	}
	return out
}

// namesOfThings begin fields of verbs that have no flag to write what looks like a credential.
var namesOfThings = []string{"branch", "session", "profile", "redaction", "operation", "receipt"}

func secretHint(e *state.SecretError) (local, remote string) {
	var list []string
	var again strings.Builder
	for _, r := range e.Rules {
		list = append(list, fmt.Sprintf("%q", r))
		fmt.Fprintf(&again, " --allow-secret %s", r)
	}
	const leave = "leave it out; if it is no secret, or is to be kept all the same, "
	if part, _, _ := strings.Cut(e.Field, "."); slices.Contains(namesOfThings, part) {
		const never = "leave it out: names and notes of branches, sessions, profiles and erasures are no place for it"
		return never, never
	}
	local = leave + "give" + again.String()
	if e.Bulk {
		local += ", or leave out --strict"
	}
	return local, leave + `call again with "allow_secret": [` + strings.Join(list, ", ") + "]"
}

// revisionHint says how a branch is made that does not exist, and what lists the revisions that do.
func revisionHint(err *state.NotFoundError) (local, remote string) {
	name, full := strings.CutPrefix(err.Name, graph.Heads)
	if full || err.What == "branch" {
		return fmt.Sprintf("'mnem branch' lists the branches; 'mnem branch %s' makes this one", name),
			"branch lists the branches, and makes one"
	}
	return "'mnem branch' and 'mnem tag' list names, 'mnem log' commits", "branch and tag list names, log commits"
}

// NodeHint adds to an error about a node that is not there how nodes are named, and to one about a node that a
// mark hides how to see it and how to bring it back.
func NodeHint(err error) error {
	if missing, ok := errors.AsType[*state.NotFoundError](err); ok && missing.Hidden != "" {
		return Hint(err, fmt.Sprintf("'mnem show %s --include %s' shows it, 'mnem restore %s' brings it back", missing.ID,
			missing.Hidden, missing.ID), fmt.Sprintf("show with include %s shows node %s, restore brings it back",
			missing.Hidden, missing.ID))
	}
	if errors.Is(err, store.ErrNotFound) {
		const how = "a node is named by its exact key, its id or at least 4 digits of it, its exact title, or " +
			"words that it alone has all of; "
		return Hint(err, how+"'mnem ls' lists them", how+"retrieve finds them by words")
	}
	return err
}

// NoCommitYet is how package state names what is missing on an unborn branch.
const NoCommitYet = "commit yet on branch"

// CommitHint adds to an error about a repository without commits how the first is made.
func CommitHint(err error) error {
	if IsUnborn(err) {
		return Hint(err, "make the first with 'mnem remember TEXT' or 'mnem commit -m MESSAGE FILE'",
			"memory is empty: keep the first fact with remember or commit")
	}
	return err
}

// IsUnborn reports whether an error says that there is no commit yet.
func IsUnborn(err error) bool {
	missing, ok := errors.AsType[*state.NotFoundError](err)
	return ok && missing.What == NoCommitYet
}

// Right states the permission that an agent needs from a policy before a verb begins. Every declaration states
// one: the zero value fails a test.
type Right int

const (
	// NoRight is for verbs that read, record what was read, write derived data, or make another repository.
	NoRight Right = iota + 1
	// OwnRight is for verbs that need a rule with their own name, and with those of Runs, unless a request only reads.
	OwnRight
	// PeopleOnly is for verbs that no rule allows to an agent, unless a request only reads.
	PeopleOnly
)

// rightful is implemented by requests that need the right of their verb although they neither make an operation of
// the repository nor have an author, such as reviews, whose decisions are stored outside it.
type rightful interface{ NeedsRight() bool }

// Rights returns the names of the operations that a policy must allow an agent before a request begins, the verb's
// own first, and none for a request that needs no right.
func (s *Spec) Rights(req any) []string {
	q, also := req.(rightful)
	switch {
	case s.Right != OwnRight:
		return nil
	case !s.Authored(req) && !(also && q.NeedsRight()):
		return nil
	}
	return append([]string{s.Name()}, s.Runs...)
}

// Permit returns an error wrapping policy.ErrDenied if the policy in a file does not allow an agent one of some
// operations. The agent asked for the first, which needs the others too.
func Permit(path, agent string, rights []string) error {
	p, _ := policy.Read(path) // a damaged one refuses, and says why
	for _, name := range rights {
		if err := PolicyHint(p.Operation(agent, name)); err != nil {
			if name != rights[0] {
				err = Hint(fmt.Errorf("%s needs the right to %s: %w", rights[0], name, err), hintOfPolicy, "")
			}
			return err
		}
	}
	return nil
}

// Guard refuses an operation that the policy in a file does not allow the agent, unless it needs no right, and adds
// to a stamp what refuses the changes that the policy does not allow, and the loss of commits that others have
// signed. own returns the key that the caller signs with, and whether there is one.
func Guard(by *state.Stamp, path, verb string, free bool, own func() (commit.Key, bool)) error {
	p, _ := policy.Read(path) // a damaged one refuses, and says why
	if !free {
		if err := PolicyHint(p.Operation(by.Agent, verb)); err != nil {
			return err
		}
	}
	agent := by.Agent
	by.Signed = func(lost *state.SignedError) error {
		if key, ok := own(); ok && key == lost.Key {
			return nil
		}
		return p.Signed(agent, verb, lost)
	}
	if guard := p.Guard(agent, verb); guard != nil {
		by.Guard = func(t state.Touch) error { return PolicyHint(guard(t)) }
	}
	return nil
}

// hintOfPolicy is the next step of an agent that was refused.
const hintOfPolicy = "ask the repository's owner; 'mnem config policy' prints what is allowed"

// PolicyHint says what to do about a refusal.
func PolicyHint(err error) error {
	switch {
	case errors.Is(err, policy.ErrDamaged):
		return Hint(err, "'mnem config policy' tells what is wrong with the file; until then people may write", "")
	case errors.Is(err, policy.ErrDenied):
		return Hint(err, hintOfPolicy, "")
	}
	return err
}

// RequireSigned returns what refuses commits that no trusted key has signed.
func RequireSigned(trusted commit.Verifier) func(iter.Seq2[commit.LogEntry, error]) error {
	return func(commits iter.Seq2[commit.LogEntry, error]) error {
		err := core.RequireSigned(commits, trusted)
		if errors.Is(err, core.ErrUnsigned) {
			err = Hint(err, "see 'mnem key verify', 'mnem key trust', and the setting require-signed", "")
		}
		return err
	}
}

// ErrConfined is returned for what a caller that is confined to a branch may not run.
var ErrConfined = errors.New("not for a caller that is confined to a branch")

// Confine refuses a request of a caller that is confined to a branch, unless the verb and each field that is given say
// that they stay within it. It reads nothing of the repository.
func (s *Spec) Confine(req any, only string) error {
	refuse := func(what string) error {
		const hint = "ask the repository's owner, who confined the caller"
		return Hint(fmt.Errorf("%s: %w", what, ErrConfined), hint, hint)
	}
	switch err := core.CheckOnly(only); {
	case err != nil:
		return err
	case !s.Confined:
		return refuse(s.Name())
	}
	for _, f := range s.Fields() {
		switch given := f.Value(req); {
		case f.Wide && !given.IsZero():
			return refuse(s.Name() + " with " + f.Parameter())
		case f.Name == "branch" && given.String() != "" && given.String() != only:
			return &state.NotFoundError{What: "branch", Name: given.String()}
		}
	}
	return nil
}

// PolicyOnly returns the branch that the policy in a file confines an agent to, "" for none.
func PolicyOnly(path, agent string) (string, error) {
	p, _ := policy.Read(path) // a damaged one refuses, and says why
	only, err := p.Only(agent)
	return only, PolicyHint(err)
}

// confine keeps a run of a confined caller to its branch, whatever HEAD follows.
func (s *Service) confine(ctx context.Context) (context.Context, error) {
	switch {
	case s.only == "":
		return ctx, nil
	case s.Commit.Branch != "" && s.Commit.Branch != s.only:
		return ctx, &state.NotFoundError{What: "branch", Name: s.Commit.Branch}
	}
	return core.Follow(context.WithValue(ctx, followingKey{}, (*operation.Following)(nil)), nil), nil
}
