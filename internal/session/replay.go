package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// ReplayResult says whether recorded answers were reproduced.
type ReplayResult struct {
	Session   string // "" when one receipt was replayed
	Receipts  int    // replayed
	Identical bool
	First     *ReplayDifference // nil when identical, or if Redacted is set
	// Redacted lists, by CID, erased data that a receipt needs, if its answer could not be compared because of that.
	Redacted []core.RedactionEntry
}

// ReplayDifference is the first difference of a replay.
type ReplayDifference struct {
	Number  int // of the receipt in its session, from 0
	Receipt ipld.CID
	*retrieve.Difference
}

// IsMissing reports whether err wraps store.ErrNotFound.
func IsMissing(err error) bool { return errors.Is(err, store.ErrNotFound) }

// Replay answers the recorded requests of a session again, oldest first, each at its commit, or the request of a
// single receipt named by its CID, and compares the answers bit for bit. It stops at the first difference, and at
// the first receipt that depends on erased data. It returns a *state.KindError for the CID of another record, an
// error wrapping retrieve.ErrRankingVersion if a receipt needs a ranking version that is not available, and one
// wrapping store.ErrCorrupt for damage.
func Replay(ctx context.Context, r *core.Repo, name string) (*ReplayResult, error) {
	if c, err := ipld.ParseCID(name); err == nil {
		if err := r.Revisions().OfKind(ctx, c, name, retrieve.KindReceipt); err != nil {
			return nil, err
		}
		res := &ReplayResult{Identical: true}
		return res, replayOne(ctx, r, res, 0, c)
	}
	receipts, err := receipts(ctx, r, name)
	if err != nil {
		return nil, err
	}
	res := &ReplayResult{Session: name, Identical: true}
	for i, c := range receipts {
		if err := replayOne(ctx, r, res, i, c); err != nil {
			return nil, fmt.Errorf("replay receipt %d: %w", i, err)
		}
		if !res.Identical {
			break
		}
	}
	return res, nil
}

func replayOne(ctx context.Context, r *core.Repo, res *ReplayResult, number int, c ipld.CID) error {
	diff, gone, err := replayReceipt(ctx, r, c)
	if err != nil {
		return err
	}
	res.Receipts++
	if res.Identical = diff == nil && gone == nil; gone != nil {
		res.Redacted = gone
	} else if diff != nil {
		res.First = &ReplayDifference{number, c, diff}
	}
	return nil
}

func receipts(ctx context.Context, r *core.Repo, name string) ([]ipld.CID, error) {
	var all []ipld.CID
	for e, err := range SessionLog(ctx, r, name) {
		if err != nil {
			return nil, err
		}
		if e.Record.Receipt.Defined() {
			all = append(all, e.Record.Receipt)
		}
	}
	slices.Reverse(all)
	return all, nil
}

// Receipt returns a receipt and the request it records.
func Receipt(ctx context.Context, r *core.Repo, c ipld.CID) (*retrieve.Receipt, retrieve.Request, error) {
	facts := r.Facts()
	rec, err := read(ctx, facts, c, retrieve.KindReceipt, retrieve.DecodeReceipt)
	if err != nil {
		return nil, retrieve.Request{}, err
	}
	text, err := facts.Get(ctx, rec.Query())
	if err != nil {
		return nil, retrieve.Request{}, fmt.Errorf("query of receipt %s: %w", c, err)
	}
	var rewrites []string
	for i, link := range rec.Rewrites() {
		s, err := facts.Get(ctx, link)
		if err != nil {
			return nil, retrieve.Request{}, fmt.Errorf("rewrite %d of receipt %s: %w", i+1, c, err)
		}
		rewrites = append(rewrites, string(s))
	}
	req, err := rec.Request(string(text), rewrites...)
	return rec, req, err
}

// replayReceipt returns the first difference, or the erased data that the receipt needs.
func replayReceipt(
	ctx context.Context, r *core.Repo, c ipld.CID,
) (*retrieve.Difference, []core.RedactionEntry, error) {
	rec, req, err := Receipt(ctx, r, c)
	var query *store.RedactedError
	if errors.As(err, &query) {
		red, err := state.DecodeRedaction(query.CID, query.Stub)
		return nil, []core.RedactionEntry{{CID: query.CID, Record: red}}, err
	}
	if err != nil {
		return nil, nil, err
	}
	snap, err := r.At(ctx, rec.Commits[0])
	if err != nil {
		return nil, nil, err
	}
	answer, err := rank.Retrieve(ctx, snap, req)
	if err != nil {
		return nil, nil, err
	}
	again, _ := answer.Receipt()
	diff := retrieve.CompareReceipts(rec, again)
	if diff == nil {
		return nil, nil, nil
	}
	gone, err := r.Redactions().Of(ctx, snap.State)
	if err != nil || len(gone) > 0 {
		return nil, gone, err
	}
	return diff, nil, nil
}
