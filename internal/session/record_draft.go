package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// Draft returns the receipt of an answer, for RecordDrafts, without a time.
func Draft(answer *retrieve.Answer) (*core.DraftReceipt, error) {
	receipt, query := answer.Receipt()
	if err := receipt.Validate(); err != nil {
		return nil, fmt.Errorf("receipt: %w", err)
	}
	texts := append([]string{string(query)}, answer.Request.Rewrites...)
	return &core.DraftReceipt{Block: receipt.Encode(), Texts: texts}, nil
}

// RecordDrafts appends receipts to a session, oldest first, in one operation, and returns how many it appended. A
// missing session is created; it follows HEAD. It skips receipts that the session already has with the same time.
// The receipts come from outside of the repository: one that is damaged, or refers to a commit or nodes that the
// repository does not have, is an error wrapping state.ErrInvalid, and then nothing is recorded; see CheckDraft.
func RecordDrafts(ctx context.Context, r *core.Repo, name string, list []*core.DraftReceipt, by state.Stamp) (int, error) {
	ref, err := SessionRef(r.Own(name))
	if err != nil {
		return 0, err
	}
	for _, d := range list {
		if err := CheckDraft(ctx, r, d); err != nil {
			return 0, err
		}
	}
	added := 0
	_, err = r.Transact(ctx, by, func(t *core.Tx) error {
		added = 0
		last, err := newestRecord(ctx, t.View, t.Stage, name)
		has := err == nil
		if err != nil && !IsMissing(err) {
			return err
		}
		if has && last.Record.Ended {
			return state.Invalidf("session %q has ended", name)
		}
		var known map[recorded]bool
		if has && len(list) > 0 {
			if known, err = recordedSince(ctx, t.Stage, last, list[0].Time); err != nil {
				return err
			}
		}
		for _, d := range list {
			if known[recorded{d.CID(), d.Time}] {
				continue
			}
			if !has {
				first := &retrieve.Session{
					Name: r.Own(name), Follow: true, Agent: by.Agent, Task: by.Task, Actor: by.Author, Time: d.Time,
				}
				if err := appendSession(ctx, t, ref, first); err != nil {
					return err
				}
				last, has = SessionEntry{CID: ipld.Sum(ipld.DagCBOR, first.Encode()), Record: first}, true
			}
			if last, err = appendDraft(ctx, t, ref, last, d, by); err != nil {
				return err
			}
			added++
		}
		return nil
	})
	return added, err
}

// recorded is a receipt of a session and its time.
type recorded struct {
	receipt ipld.CID
	at      graph.Time
}

// recordedSince returns the receipts of a session from its newest record back to a time.
func recordedSince(
	ctx context.Context, get store.Getter, e SessionEntry, since graph.Time,
) (map[recorded]bool, error) {
	known := make(map[recorded]bool)
	for e.Record.Time >= since {
		if e.Record.Receipt.Defined() {
			known[recorded{e.Record.Receipt, e.Record.Time}] = true
		}
		if !e.Record.Prev.Defined() {
			break
		}
		var err error
		if e, err = ReadSession(ctx, get, e.Record.Prev); err != nil {
			return nil, err
		}
	}
	return known, nil
}

// appendDraft stores a receipt and the record of a session that adds it.
func appendDraft(
	ctx context.Context, t *core.Tx, ref graph.RefName, last SessionEntry, d *core.DraftReceipt, by state.Stamp,
) (SessionEntry, error) {
	for _, s := range d.Texts {
		t.Secrets.Note(nil, guard.Text("query", s))
		if err := t.Stage.Put(ctx, store.NewBlock(ipld.Raw, []byte(s))); err != nil {
			return last, err
		}
	}
	c, err := t.Put(ctx, d.Block)
	if err != nil {
		return last, err
	}
	next := *last.Record
	next.Seq, next.Prev = next.Seq+1, last.CID
	next.Actor, next.Time, next.Receipt = by.Author, d.Time, c
	if err := appendSession(ctx, t, ref, &next); err != nil {
		return last, err
	}
	return SessionEntry{CID: ipld.Sum(ipld.DagCBOR, next.Encode()), Record: &next}, nil
}

// CheckDraft returns an error wrapping state.ErrInvalid unless a receipt is complete and refers only to data of the
// repository.
func CheckDraft(ctx context.Context, r *core.Repo, d *core.DraftReceipt) error {
	rec, err := retrieve.DecodeReceipt(d.Block)
	if err == nil {
		err = rec.Validate()
	}
	if err == nil && len(d.Texts) == 0 {
		err = errors.New("no query")
	}
	if err == nil {
		_, err = rec.Request(d.Texts[0], d.Texts[1:]...)
	}
	if err != nil {
		return fmt.Errorf("%w: receipt %s: %w", state.ErrInvalid, d.CID(), err)
	}
	at, err := r.At(ctx, rec.Commits[0])
	if err != nil {
		return draftErr(d, err)
	}
	for _, it := range rec.Items {
		_, c, err := at.Node(ctx, it.ID)
		if errors.Is(err, store.ErrRedacted) {
			continue // erased since
		}
		if err == nil && c != it.Node {
			err = fmt.Errorf("node %s is another one in commit %s", it.ID, rec.Commits[0])
		}
		if err != nil {
			return draftErr(d, err)
		}
	}
	return nil
}

func draftErr(d *core.DraftReceipt, err error) error {
	if errors.Is(err, store.ErrCorrupt) {
		return err
	}
	return fmt.Errorf("%w: receipt %s: %w", state.ErrInvalid, d.CID(), err)
}
