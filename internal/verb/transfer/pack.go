// Package transfer has the verbs that carry histories between repositories: packs, archives, erasures that travel.
package transfer

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/exchange/remote"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/ipld"
)

// PackRefsRequest asks what a repository has for others.
type PackRefsRequest struct {
	Commits  []string `op:"have,remote" doc:"tell which of these commits and records of sessions the repository has: each a {CID}, at most 256"`
	Tracking bool     `op:",remote" doc:"tell of the refs under refs/remotes too"`
	Sessions bool     `op:",remote" doc:"tell of sessions too"`
	verb.Params
}

// PackSendRequest asks for a pack.
type PackSendRequest struct {
	Refs   []string `op:"ref,remote" doc:"pack the branch, tag or session {REF}; as REF=CID refused where it is not at that CID" note:" (repeatable)"`
	Have   []string `op:",remote" doc:"leave out what the commit or record of a session {CID} leads to" note:" (repeatable)"`
	From   int      `op:",remote" doc:"leave out the first {BYTES} of the pack"`
	Output string   `op:",short=o" doc:"the {FILE} to write, or \"-\" for standard output; required"`
	verb.Params
}

// PackSent describes a pack.
type PackSent struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
}

// PackTakeRequest asks for a pack to be taken in.
type PackTakeRequest struct {
	File          string   `op:",arg"`
	Move          []string `op:",remote" doc:"move {REF=FROM..TO}, to a descendant only" note:" (repeatable)"`
	Set           []string `op:",remote" doc:"set {REF=FROM..TO}, whatever its history" note:" (repeatable)"`
	Place         []string `op:"session,remote" doc:"keep the session {REF=CID} next to the ones here" note:" (repeatable)"`
	Tracking      string   `op:"" doc:"take it in as what the remote {NAME} has: refs under refs/remotes/NAME, new tags and sessions"`
	RequireSigned bool     `op:",remote" doc:"refuse commits that no key you trust has signed" note:" (MNEM_REQUIRE_SIGNED; config: require-signed)"`
	DryRun        bool     `op:",remote" doc:"check everything and write nothing"`
	verb.Actor
	verb.Params
}

func (q *PackTakeRequest) Into(w *verb.Writing) { w.DryRun = q.DryRun }

// PackTaken is the result of taking in a pack.
type PackTaken struct {
	remote.Taken
	DryRun bool `json:"dry_run"`
}

// The words for no commit and for any in updates of refs.
const (
	noCommit  = "none"
	anyCommit = "any"
)

// PackRefs, PackSend and PackTake make up a transfer between two repositories; PackRedactions
// and PackRedact bring what was erased.
var (
	PackRefs = verb.Define(verb.Spec{
		Command: "pack refs", Right: verb.NoRight, Effect: verb.Reads,
		Title: "List branches and tags for another repository",
		Doc: "List what another repository can have of this one: branches, tags, with --sessions sessions, the\n" +
			"branch that HEAD is on, and which of some commits are here. It is the first question of a fetch or a push.",
		Example: "  mnem pack refs\n  mnem pack refs --tracking --sessions --json",
	}, packRefs)

	PackSend = verb.Define(verb.Spec{
		Command: "pack send", Right: verb.NoRight,
		Usage: "--ref REF[=CID] -o FILE|-", Args: "[flags]", Effect: verb.Reads, Fixed: []string{"--output=" + verb.Itself},
		Answer: operation.MediaCAR,
		Title:  "Write what another repository lacks of branches and tags",
		Doc: "Write the blocks of branches, tags and sessions that a repository lacks which has some commits already.\n" +
			"A ref that is not at the CID any more is refused. The same question gives the same bytes, so\n" +
			"that a transfer that was cut goes on with --from.",
		Example: "  mnem pack send --ref refs/heads/main -o main.pack",
	}, packSend)

	PackTake = verb.Define(verb.Spec{
		Command: "pack take", Right: verb.OwnRight,
		Usage: "[FILE|-] --move REF=FROM..TO", Args: "[FILE|-]", Effect: verb.Writes,
		Body:  operation.MediaCAR,
		Title: "Import a pack and move branches and tags, all or nothing",
		Doc: "Take in what 'mnem pack send' wrote and move branches and tags, all or nothing: every block and\n" +
			"every new commit is verified before a ref moves. A ref that is not at FROM is refused, and with\n" +
			"--move one whose history would be left; FROM and TO may be none, and FROM may be any. Without\n" +
			"a file refs can be removed only. --session keeps a session: one that goes on from a chain of it here\n" +
			"moves that, and one that differs is kept under NAME.CID, with the first record that differs.",
		Example: "  mnem pack take --set refs/heads/old=any..none",
	}, packTake)
)

func packRefs(ctx context.Context, s *verb.Service, q *PackRefsRequest) (*remote.State, error) {
	commits, err := cids("have", q.Commits)
	if err != nil {
		return nil, err
	}
	return (&remote.Here{Repo: s.Repo}).Look(ctx, remote.Question{
		Commits: commits, Tracking: q.Tracking, Sessions: q.Sessions,
	})
}

// cids reads the values of a field.
func cids(field string, list []string) (out []ipld.CID, err error) {
	if len(list) > remote.MaxAsked {
		return nil, verb.Bad(field, "%d values, limit %d", len(list), remote.MaxAsked)
	}
	for _, text := range list {
		c, err := ipld.ParseCID(text)
		if err != nil {
			return nil, verb.BadValue(field, text, "%w", err)
		}
		out = append(out, c)
	}
	return out, nil
}

// OutputName is the file that is written.
func (q *PackSendRequest) OutputName() string { return q.Output }

func (q *PackSendRequest) Check() error {
	switch {
	case len(q.Refs) == 0:
		return verb.Between("name what to pack with %s", "ref")
	case q.From < 0:
		return verb.Bad("from", "%d is less than 0", q.From)
	case q.Output == "":
		return verb.Usagef("no file: name one with -o FILE, or \"-\" for standard output")
	}
	return nil
}

func packSend(ctx context.Context, s *verb.Service, q *PackSendRequest) (*PackSent, error) {
	want, err := q.want()
	if err != nil {
		return nil, err
	}
	progress, done := s.Host.Progress()
	defer done()
	here := &remote.Here{Repo: s.Repo, Progress: func(what string, n int) { progress(what+":", n, 0) }}
	out := &PackSent{File: q.Output}
	err = s.Host.Create(ctx, q.Output, func(w io.Writer) error {
		to := &remote.Counted{To: w}
		err := here.Send(ctx, to, want, int64(q.From))
		out.Bytes = to.Bytes
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (q *PackSendRequest) want() (want remote.Want, err error) {
	if len(q.Refs) > remote.MaxRefs {
		return want, verb.Bad("ref", "%d values, limit %d", len(q.Refs), remote.MaxRefs)
	}
	for _, text := range q.Refs {
		name, at, found := strings.Cut(text, "=")
		var c ipld.CID
		if found {
			if c, err = ipld.ParseCID(at); err != nil {
				return want, verb.BadValue("ref", text, "want REF=CID: %w", err)
			}
		}
		want.Refs = append(want.Refs, core.Ref{Name: graph.RefName(name), Target: c})
	}
	want.Have, err = cids("have", q.Have)
	return want, err
}

func (q *PackTakeRequest) Check() error {
	if len(q.Move)+len(q.Set)+len(q.Place) == 0 {
		return verb.Between("say which refs change, with %s, %s or %s", "move", "set", "session")
	}
	if q.Tracking != "" {
		if err := graph.ValidateImport(q.Tracking); err != nil {
			return verb.Bad("tracking", "%w", err)
		}
	}
	return nil
}

func packTake(ctx context.Context, s *verb.Service, q *PackTakeRequest) (*PackTaken, error) {
	news := remote.News{Tracking: q.Tracking}
	var err error
	if news.Updates, err = q.updates(); err != nil {
		return nil, err
	}
	here := &remote.Here{
		Repo: s.From, Stamp: func() (state.Stamp, error) { return s.Commit.Stamp, nil },
		DryRun: q.DryRun,
	}
	if here.Verify, err = s.Host.Require("import", q.RequireSigned); err != nil {
		return nil, err
	}
	if q.File != "" {
		in, err := s.Host.Read(ctx, q.File)
		if err != nil {
			return nil, err
		}
		defer in.Close()
		if in.Size > 0 {
			news.Pack = io.NewSectionReader(in, 0, in.Size)
		}
	}
	progress, done := s.Host.Progress()
	defer done()
	here.Progress = func(what string, n int) { progress(what+":", n, 0) }
	taken, err := here.Take(ctx, news)
	if err != nil {
		return nil, err
	}
	return &PackTaken{*taken, q.DryRun}, nil
}

// InputName is the file that is read.
func (q *PackTakeRequest) InputName() string { return q.File }

// updates reads what is to become of refs.
func (q *PackTakeRequest) updates() (list []exchange.RefUpdate, err error) {
	if n := len(q.Move) + len(q.Set) + len(q.Place); n > 2*remote.MaxRefs {
		return nil, verb.Usagef("%d refs, limit %d", n, 2*remote.MaxRefs)
	}
	for _, part := range []struct {
		field  string
		values []string
	}{{"move", q.Move}, {"set", q.Set}} {
		for _, text := range part.values {
			u, err := parseUpdate(text)
			if err != nil {
				return nil, verb.BadValue(part.field, text, "%w", err)
			}
			u.Forward = part.field == "move"
			list = append(list, u)
		}
	}
	for _, text := range q.Place {
		name, at, _ := strings.Cut(text, "=")
		c, err := ipld.ParseCID(at)
		if err != nil {
			return nil, verb.BadValue("session", text, "want REF=CID: %w", err)
		}
		list = append(list, exchange.RefUpdate{Ref: graph.RefName(name), To: c, Place: true})
	}
	return list, nil
}

// parseUpdate reads REF=FROM..TO.
func parseUpdate(text string) (u exchange.RefUpdate, err error) {
	name, at, _ := strings.Cut(text, "=")
	from, to, found := strings.Cut(at, "..")
	if !found {
		return u, verb.Usagef("want REF=FROM..TO")
	}
	u.Ref = graph.RefName(name)
	if from != anyCommit {
		var c ipld.CID
		if from != noCommit {
			if c, err = ipld.ParseCID(from); err != nil {
				return u, err
			}
		}
		u.From = &c
	}
	if to != noCommit {
		u.To, err = ipld.ParseCID(to)
	}
	return u, err
}

// UpdateTexts returns the values of move, set and place for updates of refs.
func UpdateTexts(list []exchange.RefUpdate) (move, set, place []string) {
	for _, u := range list {
		from, to := anyCommit, noCommit
		if u.From != nil {
			from = noCommit
			if u.From.Defined() {
				from = u.From.String()
			}
		}
		if u.To.Defined() {
			to = u.To.String()
		}
		text := string(u.Ref) + "=" + from + ".." + to
		switch {
		case u.Place:
			place = append(place, string(u.Ref)+"="+to)
		case u.Forward:
			move = append(move, text)
		default:
			set = append(set, text)
		}
	}
	return move, set, place
}

// Verbs is a side that another process has open: it is asked by verbs, whatever carries them.
type Verbs struct {
	// Do runs a verb. It reads into answer, which is a pointer, or returns another one of the same type. What the
	// verb reads comes from in, what it writes goes to out; both may be nil.
	Do     func(ctx context.Context, v *verb.Spec, req, answer any, in io.Reader, out io.Writer) (any, error)
	Time   string // of changes
	Signed bool   // whether commits that come must be signed
	DryRun bool   // whether what comes is only checked
}

var _ remote.Side = Verbs{}

func answerOf[T any](ctx context.Context, v Verbs, spec *verb.Spec, req any, in io.Reader) (*T, error) {
	answer, err := v.Do(ctx, spec, req, new(T), in, nil)
	if err != nil {
		return nil, err
	}
	return answer.(*T), nil
}

// Look implements remote.Side.
func (v Verbs) Look(ctx context.Context, q remote.Question) (*remote.State, error) {
	req := &PackRefsRequest{Commits: texts(q.Commits), Tracking: q.Tracking, Sessions: q.Sessions}
	return answerOf[remote.State](ctx, v, &PackRefs.Spec, req, nil)
}

func texts(list []ipld.CID) (out []string) {
	for _, c := range list {
		out = append(out, c.String())
	}
	return out
}

// Send implements remote.Side.
func (v Verbs) Send(ctx context.Context, w io.Writer, want remote.Want, from int64) error {
	if from > math.MaxInt {
		return remote.ErrTooLarge
	}
	req := &PackSendRequest{Have: texts(want.Have), From: int(from), Output: verb.Itself}
	for _, ref := range want.Refs {
		req.Refs = append(req.Refs, string(ref.Name)+"="+ref.Target.String())
	}
	_, err := v.Do(ctx, &PackSend.Spec, req, nil, nil, w)
	return err
}

// Redactions implements remote.Side.
func (v Verbs) Redactions(ctx context.Context, after ipld.CID) (list []care.ToldRedaction, more bool, err error) {
	req := &PackRedactionsRequest{}
	if after.Defined() {
		req.After = after.String()
	}
	a, err := answerOf[PackRedactionsAnswer](ctx, v, &PackRedactions.Spec, req, nil)
	if err != nil {
		return nil, false, err
	}
	for _, r := range a.Redactions {
		t, err := ParseRedaction(r.CID.String() + "=" + r.Record)
		if err != nil {
			return nil, false, err
		}
		list = append(list, t)
	}
	return list, a.More, nil
}

// Accept implements remote.Side.
func (v Verbs) Accept(
	ctx context.Context, list []care.ToldRedaction, tracking string,
) (*care.AcceptedRedactions, error) {
	req := &PackRedactRequest{Redactions: RedactionTexts(list), Tracking: tracking, Yes: true}
	req.Time = v.Time
	a, err := answerOf[PackRedacted](ctx, v, &PackRedact.Spec, req, nil)
	if err != nil {
		return nil, err
	}
	return &a.AcceptedRedactions, nil
}

// Take implements remote.Side.
func (v Verbs) Take(ctx context.Context, news remote.News) (*remote.Taken, error) {
	req := &PackTakeRequest{Tracking: news.Tracking, RequireSigned: v.Signed, DryRun: v.DryRun}
	req.Time = v.Time
	req.Move, req.Set, req.Place = UpdateTexts(news.Updates)
	var in io.Reader
	if news.Pack != nil {
		req.File, in = verb.Itself, news.Pack
	}
	a, err := answerOf[PackTaken](ctx, v, &PackTake.Spec, req, in)
	if err != nil {
		return nil, err
	}
	return &a.Taken, nil
}

// Close implements remote.Side.
func (v Verbs) Close() error { return nil }

// Conflict makes an error one of state.ErrConflict and adds nothing to what it says.
func Conflict(err error) error { return fmt.Errorf("%w%w", silentConflict{}, err) }

type silentConflict struct{}

func (silentConflict) Error() string        { return "" }
func (silentConflict) Is(target error) bool { return target == state.ErrConflict }
