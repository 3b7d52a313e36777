package transfer

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/mnem-project/mnem/commit"
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
