package repo

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
)

// ReplayResult tells whether recorded answers came out the same again.
type ReplayResult struct {
	Session   string // "" when one receipt was replayed
	Receipts  int    // replayed
	Identical bool
	First     *ReplayDifference // nil when identical
}

// ReplayDifference is the first difference of a replay.
type ReplayDifference struct {
	Number  int // of the receipt in its session, from 0
	Receipt ipld.CID
	*retrieve.Difference
}

func isMissing(err error) bool { return errors.Is(err, store.ErrNotFound) }

// Replay answers the recorded requests of a session again, oldest first, each at its commit, or
// the one of a receipt named by its CID, and compares the answers bit for bit. It stops at the
// first difference. It returns an error wrapping retrieve.ErrRankingVersion where a receipt needs
// a ranking version that is not available, and store.ErrCorrupt where it meets damage.
func (r *Repo) Replay(ctx context.Context, name string) (*ReplayResult, error) {
	if c, err := ipld.ParseCID(name); err == nil {
		if ok, err := r.store.Facts().Has(ctx, c); err != nil {
			return nil, err
		} else if !ok {
			return nil, &NotFoundError{What: "receipt", Name: name}
		}
		diff, err := r.replayReceipt(ctx, c)
		if err != nil {
			return nil, err
		}
		res := &ReplayResult{Receipts: 1, Identical: diff == nil}
		if diff != nil {
			res.First = &ReplayDifference{0, c, diff}
		}
		return res, nil
	}
	receipts, err := r.receipts(ctx, name)
	if err != nil {
		return nil, err
	}
	res := &ReplayResult{Session: name, Identical: true}
	for i, c := range receipts {
		diff, err := r.replayReceipt(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("replay receipt %d: %w", i, err)
		}
		res.Receipts++
		if diff != nil {
			res.Identical, res.First = false, &ReplayDifference{i, c, diff}
			break
		}
	}
	return res, nil
}

// receipts returns a session's receipts, oldest first.
func (r *Repo) receipts(ctx context.Context, name string) ([]ipld.CID, error) {
	var all []ipld.CID
	for e, err := range r.SessionLog(ctx, name) {
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
func (r *Repo) Receipt(
	ctx context.Context, c ipld.CID,
) (*retrieve.Receipt, retrieve.Request, error) {
	facts := r.facts()
	rec, err := read(ctx, facts, c, retrieve.KindReceipt, retrieve.DecodeReceipt)
	if err != nil {
		return nil, retrieve.Request{}, err
	}
	text, err := facts.Get(ctx, rec.Query())
	if err != nil {
		return nil, retrieve.Request{}, fmt.Errorf("query of receipt %s: %w", c, err)
	}
	req, err := rec.Request(string(text))
	return rec, req, err
}

func (r *Repo) replayReceipt(ctx context.Context, c ipld.CID) (*retrieve.Difference, error) {
	rec, req, err := r.Receipt(ctx, c)
	if err != nil {
		return nil, err
	}
	snap, err := r.At(ctx, rec.Commits[0])
	if err != nil {
		return nil, err
	}
	answer, err := snap.Retrieve(ctx, req)
	if err != nil {
		return nil, err
	}
	again, _ := answer.Receipt()
	return retrieve.CompareReceipts(rec, again), nil
}
