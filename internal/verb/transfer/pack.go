// Package transfer has the verbs that carry histories between repositories: packs, archives, erasures that travel.
package transfer

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/commit"
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

type packRefsRequest struct {
	Commits  []string `op:"have,remote" doc:"tell which of these commits and records of sessions the repository has: each a {CID}, at most 256"`
	Tracking bool     `op:",remote" doc:"tell of the refs under refs/remotes too"`
	Sessions bool     `op:",remote" doc:"tell of sessions too"`
	verb.Params
}

type packSendRequest struct {
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

type packTakeRequest struct {
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

func (q *packTakeRequest) Into(w *verb.Writing) { w.DryRun = q.DryRun }

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

func packRefs(ctx context.Context, s *verb.Service, q *packRefsRequest) (*remote.State, error) {
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
func (q *packSendRequest) OutputName() string { return q.Output }

func (q *packSendRequest) Check() error {
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

func packSend(ctx context.Context, s *verb.Service, q *packSendRequest) (*PackSent, error) {
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

func (q *packSendRequest) want() (want remote.Want, err error) {
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

func (q *packTakeRequest) Check() error {
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

func packTake(ctx context.Context, s *verb.Service, q *packTakeRequest) (*PackTaken, error) {
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
func (q *packTakeRequest) InputName() string { return q.File }

// updates reads what is to become of refs.
func (q *packTakeRequest) updates() (list []exchange.RefUpdate, err error) {
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
	req := &packRefsRequest{Commits: texts(q.Commits), Tracking: q.Tracking, Sessions: q.Sessions}
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
	req := &packSendRequest{Have: texts(want.Have), From: int(from), Output: verb.Itself}
	for _, ref := range want.Refs {
		req.Refs = append(req.Refs, string(ref.Name)+"="+ref.Target.String())
	}
	_, err := v.Do(ctx, &PackSend.Spec, req, nil, nil, w)
	return err
}

// Redactions implements remote.Side.
func (v Verbs) Redactions(ctx context.Context, after ipld.CID) (list []care.ToldRedaction, more bool, err error) {
	req := &packRedactionsRequest{}
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
	req := &packRedactRequest{Redactions: RedactionTexts(list), Tracking: tracking, Yes: true}
	req.Time = v.Time
	a, err := answerOf[PackRedacted](ctx, v, &PackRedact.Spec, req, nil)
	if err != nil {
		return nil, err
	}
	return &a.AcceptedRedactions, nil
}

// Take implements remote.Side.
func (v Verbs) Take(ctx context.Context, news remote.News) (*remote.Taken, error) {
	req := &packTakeRequest{Tracking: news.Tracking, RequireSigned: v.Signed, DryRun: v.DryRun}
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

// remotesDir is the directory of a repository that has one of each remote.
const remotesDir = "remotes"

// RemoteRedactionsRequest asks what other repositories say was erased, or decides about it.
type RemoteRedactionsRequest struct {
	Name   string   `op:"name,arg,remote" doc:"of this remote (default: of all)"`
	CIDs   []string `op:"cid,arg,remote" doc:"about these blocks alone"`
	Accept bool     `op:",remote,destroys" not:"reject" doc:"erase the blocks here for good"`
	Reject bool     `op:",remote,writes" doc:"leave the blocks here"`
	Auto   string   `op:"" not:"accept reject" enum:"on off" doc:"accept this remote's redactions as they come, from now on, or not: {WHEN} is on or off"`
	verb.Actor
}

// Quarantine lists redactions that remotes report.
type Quarantine struct {
	Remote     verb.Text     `json:"remote"` // null for all
	Redactions []Quarantined `json:"redactions"`
}

// Quarantined is a redaction that a remote reported.
type Quarantined struct {
	Remote   verb.Text       `json:"remote"`
	Decision remote.Decision `json:"decision" shape:"waiting|rejected|accepted"`
	Key      verb.Text       `json:"key"` // that signed it, null for none
	ToldRedaction
}

// QuarantineDecided is the result of a decision about redactions.
type QuarantineDecided struct {
	Remote         string     `json:"remote"`
	Erased         []ipld.CID `json:"erased"`
	Closed         []ipld.CID `json:"closed"`
	Waiting        int        `json:"waiting"`
	ErasurePending bool       `json:"erasure_pending"`
	ErasureDenied  verb.Text  `json:"erasure_denied,omitempty"` // why it is left to another role of the database
}

// RemoteRedactions shows what waits in quarantine, and decides about it.
var RemoteRedactions = verb.Define(verb.Spec{
	Command: "remote redactions", Right: verb.OwnRight,
	Usage: "[NAME] [CID…] [flags]", Args: "[NAME] [CID…]", Effect: verb.Reads,
	Title: "Accept or reject erasures that a remote reports",
	Doc: "List what another repository, by default origin, says was purged there and is not purged here, as of\n" +
		"the last fetch. It is in quarantine: nothing is erased here, and a block that comes from elsewhere is\n" +
		"kept. --accept erases the blocks here for good, in all that the refs under refs/remotes/NAME reach,\n" +
		"and keeps them away from then on; there is no way back. What no such ref reaches waits on. --reject\n" +
		"leaves them. Both are about all that wait, or about the blocks that are named, and what was decided\n" +
		"is not asked again.\n\n" +
		"What is signed by a key that is trusted for it ('mnem key trust KEY --redactions') is accepted as it comes.\n" +
		"--auto on has each later fetch that brings something accept this remote's redactions, --auto off has\n" +
		"them wait again.\n" +
		"Other copies, backups and old commits of a git host keep what they have.",
	Example: "  mnem remote redactions\n  mnem remote redactions origin --accept\n  mnem remote redactions team --reject",
	Answers: []any{Quarantine{}, QuarantineDecided{}},
}, remoteRedactions)

// NeedsRight reports whether it is said what becomes of what comes later, which is kept outside the repository.
func (q *RemoteRedactionsRequest) NeedsRight() bool { return q.Auto != "" }

func (q *RemoteRedactionsRequest) Check() error {
	decides := q.Accept || q.Reject
	switch {
	case q.Auto != "" && q.Auto != "on" && q.Auto != "off":
		return verb.Bad("auto", "%q is neither on nor off", q.Auto)
	case q.Accept && q.Reject:
		return verb.Exclude("accept", "reject")
	case len(q.CIDs) > 0 && !decides:
		return verb.Between("say what to do with the blocks: %s or %s", "accept", "reject")
	case decides && q.Name == "":
		return verb.Bad("name", "name the remote whose redactions are decided about")
	}
	for _, text := range q.CIDs {
		if _, err := ipld.ParseCID(text); err != nil {
			return verb.BadValue("cid", text, "it is no CID: %w", err)
		}
	}
	return nil
}

func remoteRedactions(ctx context.Context, s *verb.Service, q *RemoteRedactionsRequest) (any, error) {
	own, err := s.OwnDir()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(own, remotesDir)
	names, err := remoteNames(dir)
	if err != nil {
		return nil, err
	}
	if q.Name != "" {
		names = slices.DeleteFunc(names, func(name string) bool { return name != q.Name })
	}
	if q.Accept || q.Reject {
		return q.decide(ctx, s, dir, names)
	}
	out := &Quarantine{Remote: verb.Text(q.Name)}
	for _, name := range names {
		kept, err := remote.ReadQuarantine(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		for _, e := range kept.Entries {
			r, err := RedactionOf(e.ToldRedaction)
			if err != nil {
				return nil, err
			}
			key := ""
			if k, signed := SignerOf(e.ToldRedaction); signed {
				key = k.String()
			}
			out.Redactions = append(out.Redactions, Quarantined{verb.Text(name), e.Decision, verb.Text(key), r})
		}
	}
	return out, nil
}

// remoteNames returns the remotes that something is kept of, in the order of their names. It reads directories alone, so
// that no name leads elsewhere.
func remoteNames(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

func (q *RemoteRedactionsRequest) decide(
	ctx context.Context, s *verb.Service, dir string, names []string,
) (*QuarantineDecided, error) {
	var only []ipld.CID
	for _, text := range q.CIDs {
		c, err := ipld.ParseCID(text)
		if err != nil {
			return nil, err
		}
		only = append(only, c)
	}
	out := &QuarantineDecided{Remote: q.Name}
	if len(names) == 0 {
		if len(only) > 0 {
			return nil, &state.NotFoundError{What: "redaction", Name: only[0].String()}
		}
		return out, nil
	}
	here := &remote.Here{Repo: s.From, Stamp: func() (state.Stamp, error) { return s.Commit.Stamp, nil }}
	opt := remote.TransferOptions{Name: q.Name, Dir: filepath.Join(dir, q.Name)}
	as := remote.Rejected
	if q.Accept {
		as = remote.Accepted
	}
	got, err := remote.Decide(ctx, here, opt, only, as)
	if err != nil {
		return nil, err
	}
	kept, err := remote.ReadQuarantine(opt.Dir)
	if err != nil {
		return nil, err
	}
	out.Erased, out.Closed, out.ErasurePending = got.Erased, got.Closed, got.Pending
	out.ErasureDenied = verb.Text(got.Denied)
	out.Waiting = kept.Count(remote.Waiting)
	return out, nil
}

// SignerOf returns the key that signed a redaction, and whether one did.
func SignerOf(told care.ToldRedaction) (commit.Key, bool) {
	rec, err := commit.DecodeRedaction(told.Record)
	if err != nil {
		return commit.Key{}, false
	}
	key, err := rec.Signer(told.CID)
	return key, err == nil
}

type packRedactionsRequest struct {
	After string `op:",remote" doc:"list only blocks whose CID comes after {CID}"`
	verb.Params
}

// PackRedactionsAnswer is a part of what was erased, in CID order.
type PackRedactionsAnswer struct {
	Redactions []ToldRedaction `json:"redactions"`
	More       bool            `json:"more"`
}

// ToldRedaction is an erased block and what is reported about it.
type ToldRedaction struct {
	CID    ipld.CID   `json:"cid"`
	What   string     `json:"what" shape:"node|content|embedding|digest|query|message|edge|mark"`
	Reason verb.Text  `json:"reason"`
	Actor  verb.Text  `json:"actor"`
	Time   graph.Time `json:"time"`
	Record string     `json:"record"` // canonical DAG-CBOR, as base64
}

type packRedactRequest struct {
	Redactions []string `op:"redactions,remote" doc:"erase the block of {CID=RECORD}, as 'mnem pack redactions' lists them" note:" (repeatable)"`
	Tracking   string   `op:"" doc:"erase what refs under refs/remotes/{NAME} reach, in place of what branches, tags and sessions reach"`
	DryRun     bool     `op:",remote" doc:"say what would be erased and erase nothing"`
	Yes        bool     `op:",remote" doc:"really erase: there is no way back"`
	verb.Actor
	verb.Params
}

// write lets nothing be written that is not confirmed.
func (q *packRedactRequest) Into(w *verb.Writing) { w.DryRun = !q.Yes }

// PackRedacted is the result of taking in redactions.
type PackRedacted struct {
	care.AcceptedRedactions
	DryRun bool `json:"dry_run"`
}

// PackRedactions and PackRedact bring what was erased from one repository to another.
var (
	PackRedactions = verb.Define(verb.Spec{
		Command: "pack redactions", Right: verb.NoRight, Effect: verb.Reads,
		Title: "List erased blocks for other repositories",
		Doc: "List the blocks that were erased here, each with its redaction record: at most 1000 at once, in the\n" +
			"order of their CIDs. 'mnem pack redact' applies them to another repository.",
		Example: "  mnem pack redactions\n  mnem pack redactions --json",
	}, packRedactions)

	PackRedact = verb.Define(verb.Spec{
		Command: "pack redact", Right: verb.OwnRight,
		Usage: "--redactions CID=RECORD --yes", Args: "[flags]", Effect: verb.Destroys,
		Title: "Erase blocks that another repository erased",
		Doc: "Erase blocks as another repository did: their bytes are gone from the files here, and gaps stay gaps.\n" +
			"Nothing is erased but nodes, edges, marks, embeddings and texts that branches, tags and sessions reach, and\n" +
			"that are what the record says. This cannot be undone. Without --yes it says what it would erase and\n" +
			"is refused.",
		Example: "  mnem pack redact --dry-run --redactions " +
			"bafyreih4h5fr4tuwmsbbgqy5gf2cxlo7bnbuoqqbtmtlmmqlmpivlxdr4e=" +
			"pWF2AWRraW5kaXJlZGFjdGlvbmR0aW1lGwAGCiQYHkAAZHdoYXRkbm9kZWVhY3RvcmNBZGE=",
	}, packRedact)
)

func packRedactions(ctx context.Context, s *verb.Service, q *packRedactionsRequest) (*PackRedactionsAnswer, error) {
	var after ipld.CID
	if q.After != "" {
		var err error
		if after, err = ipld.ParseCID(q.After); err != nil {
			return nil, verb.BadValue("after", q.After, "%w", err)
		}
	}
	list, more, err := (&remote.Here{Repo: s.Repo}).Redactions(ctx, after)
	if err != nil {
		return nil, err
	}
	out := &PackRedactionsAnswer{More: more}
	for _, t := range list {
		told, err := RedactionOf(t)
		if err != nil {
			return nil, err
		}
		out.Redactions = append(out.Redactions, told)
	}
	return out, nil
}

// RedactionOf returns the form of a redaction.
func RedactionOf(t care.ToldRedaction) (ToldRedaction, error) {
	rec, err := commit.DecodeRedaction(t.Record)
	if err != nil {
		return ToldRedaction{}, err
	}
	return ToldRedaction{
		CID: t.CID, What: string(rec.What), Reason: verb.Text(rec.Reason), Actor: verb.Text(rec.Actor), Time: rec.Time,
		Record: base64.StdEncoding.EncodeToString(t.Record),
	}, nil
}

// RedactionTexts returns the values of redaction for redactions.
func RedactionTexts(list []care.ToldRedaction) (out []string) {
	for _, t := range list {
		out = append(out, t.CID.String()+"="+base64.StdEncoding.EncodeToString(t.Record))
	}
	return out
}

// at returns what names a redaction.
func at(text string) string {
	c, _, _ := strings.Cut(text, "=")
	return c[:min(len(c), 2*ipld.CIDLen)]
}

// ParseRedaction reads CID=RECORD.
func ParseRedaction(text string) (t care.ToldRedaction, err error) {
	c, record, found := strings.Cut(text, "=")
	if !found {
		return t, verb.Usagef("want CID=RECORD")
	}
	if t.CID, err = ipld.ParseCID(c); err == nil {
		t.Record, err = base64.StdEncoding.DecodeString(record)
	}
	if err == nil {
		err = t.Check()
	}
	return t, err
}

func (q *packRedactRequest) Check() error {
	switch {
	case len(q.Redactions) == 0:
		return verb.Between("say what to erase with %s", "redactions")
	case len(q.Redactions) > remote.MaxTold:
		return verb.Bad("redactions", "%d values, limit %d", len(q.Redactions), remote.MaxTold)
	case q.Yes && q.DryRun:
		return verb.Exclude("yes", "dry-run")
	case q.Tracking != "":
		if err := graph.ValidateImport(q.Tracking); err != nil {
			return verb.Bad("tracking", "%w", err)
		}
	}
	return nil
}

func packRedact(ctx context.Context, s *verb.Service, q *packRedactRequest) (*PackRedacted, error) {
	var list []care.ToldRedaction
	for _, text := range q.Redactions {
		t, err := ParseRedaction(text)
		if err != nil {
			return nil, verb.BadValue("redactions", at(text), "%w", err)
		}
		list = append(list, t)
	}
	here := &remote.Here{
		Repo: s.From, Stamp: func() (state.Stamp, error) { return s.Commit.Stamp, nil }, DryRun: !q.Yes,
	}
	got, err := here.Accept(ctx, list, q.Tracking)
	if err != nil {
		return nil, err
	}
	out := &PackRedacted{*got, !q.Yes}
	if !q.Yes && !q.DryRun {
		return out, verb.Answered(verb.Hint(verb.ErrUnconfirmed, "give --yes to erase it", "call again with yes to erase it"))
	}
	return out, nil
}
