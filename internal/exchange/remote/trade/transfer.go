package trade

import (
	"context"
	"errors"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange/remote"
	"github.com/mnem-project/mnem/internal/exchange/remote/place"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/transfer"
)

// Fetched is the result of a fetch.
type Fetched struct {
	Remote    string           `json:"remote"`
	Refs      []core.RefChange `json:"refs"`
	Clashing  []graph.RefName  `json:"clashing"` // tags with another target here, which stay
	Bytes     int64            `json:"bytes"`
	NewBlocks int              `json:"new_blocks"`
	Skewed    []Skew           `json:"clock_ahead"`
	WentBack  []graph.RefName  `json:"went_back"` // branches that are at an earlier commit than before
	Learned
	DryRun bool `json:"dry_run"`
}

// Learned counts the erasures that a fetch learned about.
type Learned struct {
	Gaps    int `json:"gaps"`    // blocks that did not arrive since they were erased there
	Learned int `json:"learned"` // redactions that are new in quarantine
	Waiting int `json:"waiting"` // redactions in quarantine that are neither accepted nor rejected
	Erased  int `json:"erased"`  // blocks that were erased here, if that is accepted without asking
}

func (l *Learned) add(more Learned) {
	l.Gaps, l.Learned, l.Erased = l.Gaps+more.Gaps, l.Learned+more.Learned, l.Erased+more.Erased
	l.Waiting = more.Waiting
}

// Fetch fetches from the remote.
func (t *Transfer) Fetch(ctx context.Context, prune bool) (*Fetched, error) {
	opt := remote.FetchOptions{TransferOptions: t.opt, Prune: prune, AcceptPurge: t.remote.AcceptPurge == place.AcceptAlways}
	trusts, err := t.host.TrustPurge()
	if err != nil {
		return nil, err
	}
	if trusts != nil {
		opt.Trusted = func(told care.ToldRedaction) bool {
			key, signed := transfer.SignerOf(told)
			return signed && trusts(key)
		}
	}
	res, err := remote.Fetch(ctx, t.here, t.there, opt)
	t.host.Over()
	if err != nil {
		return nil, err
	}
	out := &Fetched{
		Remote: t.remote.Name, Refs: res.Refs, Clashing: res.Clashing, Bytes: res.Bytes, NewBlocks: res.Blocks,
		DryRun:  t.opt.DryRun,
		Learned: Learned{Gaps: res.Gaps, Learned: res.Learned, Waiting: res.Waiting, Erased: res.Erased},
	}
	if err := t.notice(ctx, out); err != nil {
		return nil, err
	}
	if t.opt.DryRun {
		return out, nil
	}
	return out, keepReaders(ctx, t.here, t.remote, t.there)
}

// Pushed is the result of a push.
type Pushed struct {
	Remote string `json:"remote"`
	remote.Pushed
	DryRun bool `json:"dry_run"`
}

// Push pushes refs to the remote; the transfer's options replace those in opt.
func (t *Transfer) Push(ctx context.Context, opt remote.PushOptions) (*Pushed, error) {
	opt.TransferOptions = t.opt
	res, err := remote.Push(ctx, t.here, t.there, opt)
	t.host.Over()
	if errors.Is(err, state.ErrConflict) {
		name := t.remote.Name
		return nil, verb.Hintf(err, "fetch and merge what is there first: 'mnem sync %s' does all of it", plain.Shell(name))
	}
	if err != nil {
		return nil, err
	}
	return &Pushed{t.remote.Name, *res, t.opt.DryRun}, nil
}

// Refs returns the refs with the given names, and all branches or tags if requested; if nothing is given, the
// current branch.
func (t *Transfer) Refs(ctx context.Context, names []string, branches, tags bool) ([]graph.RefName, error) {
	st, err := t.here.Look(ctx, remote.Question{})
	if err != nil {
		return nil, err
	}
	there := make(map[graph.RefName]bool)
	var refs []graph.RefName
	for _, ref := range st.Refs {
		there[ref.Name] = true
		tag := strings.HasPrefix(string(ref.Name), graph.Tags)
		if tags && tag || branches && !tag {
			refs = append(refs, ref.Name)
		}
	}
	for _, name := range names {
		ref := graph.RefName(name)
		if !strings.HasPrefix(name, "refs/") {
			ref = graph.BranchRef(name)
			if tag := graph.RefName(graph.Tags + name); !there[ref] && there[tag] {
				ref = tag
			}
		}
		refs = append(refs, ref)
	}
	switch {
	case len(refs) > 0 || branches || tags:
		return refs, nil
	case st.Head == "":
		return nil, verb.Hintf(verb.Usagef("HEAD is on no branch"), "name the branch to push")
	case !there[st.Head]:
		return nil, nil // there is no commit yet
	}
	return []graph.RefName{st.Head}, nil
}
