package transfer

import (
	"context"
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/exchange/remote"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/ipld"
)

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

// PackRedactionsRequest asks what was erased.
type PackRedactionsRequest struct {
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

// PackRedactRequest asks for blocks to be erased that were erased elsewhere.
type PackRedactRequest struct {
	Redactions []string `op:"redactions,remote" doc:"erase the block of {CID=RECORD}, as 'mnem pack redactions' lists them" note:" (repeatable)"`
	Tracking   string   `op:"" doc:"erase what refs under refs/remotes/{NAME} reach, in place of what branches, tags and sessions reach"`
	DryRun     bool     `op:",remote" doc:"say what would be erased and erase nothing"`
	Yes        bool     `op:",remote" doc:"really erase: there is no way back"`
	verb.Actor
	verb.Params
}

// write lets nothing be written that is not confirmed.
func (q *PackRedactRequest) Into(w *verb.Writing) { w.DryRun = !q.Yes }

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

func packRedactions(ctx context.Context, s *verb.Service, q *PackRedactionsRequest) (*PackRedactionsAnswer, error) {
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

func (q *PackRedactRequest) Check() error {
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

func packRedact(ctx context.Context, s *verb.Service, q *PackRedactRequest) (*PackRedacted, error) {
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
