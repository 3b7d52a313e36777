package repo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// ToldRedaction is what one repository tells another of a block that it erased: its CID and the record
// that is left of it.
type ToldRedaction struct {
	CID    ipld.CID
	Record []byte
}

// Check returns an error wrapping ErrInvalid unless there is a record of a redaction.
func (t *ToldRedaction) Check() error {
	if !t.CID.Defined() {
		return invalidf("a redaction without a block")
	}
	if _, err := commit.DecodeRedaction(t.Record); err != nil {
		return invalidf("redaction of %s: %w", t.CID, err)
	}
	return nil
}

// RedactionSet names the set of the blocks that were erased here, "" for none: two repositories that
// erased the same have the same name. Gaps are not in it: others say that they were erased.
func (r *Repo) RedactionSet(ctx context.Context) (string, error) {
	h, n := sha256.New(), 0
	for e, err := range r.Redactions(ctx) {
		if err != nil {
			return "", err
		}
		if e.Open {
			break
		}
		n++
		fmt.Fprintf(h, "%s\n", e.CID)
	}
	if n == 0 {
		return "", nil
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// TellRedactions returns what was erased here, in CID order after a CID, at most limit, and whether there
// is more.
func (r *Repo) TellRedactions(
	ctx context.Context, after ipld.CID, limit int,
) (out []ToldRedaction, more bool, err error) {
	for e, err := range r.Redactions(ctx) {
		switch {
		case err != nil:
			return nil, false, err
		case e.Open:
			return out, false, nil
		case after.Defined() && e.CID.Compare(after) <= 0:
			continue
		case len(out) == limit:
			return out, true, nil
		}
		out = append(out, ToldRedaction{e.CID, e.Record.Encode()})
	}
	return out, false, nil
}

// AcceptOptions say how redactions of another repository are accepted.
type AcceptOptions struct {
	Stamp
	// Reaches reports whether a ref is one of those whose histories may lose blocks.
	Reaches func(graph.RefName) bool
	DryRun  bool
	// Files, if given, removes copies of blocks from files that are no part of the store. It is called before
	// anything is erased; after its error nothing is.
	Files func(ctx context.Context) error
}

// AcceptedRedactions tells what became of redactions that were accepted.
type AcceptedRedactions struct {
	Erased []ipld.CID // blocks that were here, and texts of digests made of them
	Closed []ipld.CID // gaps that nothing fills from now on
	// Left are blocks that no such ref reaches, that have another role than the record says, or that
	// were erased before: nothing became of these.
	Left    []ipld.CID
	Pending bool   // as of PurgeResult
	Denied  string // likewise
}

// AcceptRedactions erases blocks for good as another repository did, each with its record in place of it, and
// all indexes. It erases nothing but nodes, edges, marks, embeddings and texts that the named refs reach,
// whose work follows the size of their histories, and the texts of digests that were made here of a node which goes,
// for which every block is read. One operation, which cannot be undone, tells of it.
func (r *Repo) AcceptRedactions(
	ctx context.Context, list []ToldRedaction, opt AcceptOptions,
) (out *AcceptedRedactions, err error) {
	ctx = store.Erasing(ctx)
	for i := range list {
		if err := list[i].Check(); err != nil {
			return nil, err
		}
	}
	if err := r.collecting.take(ctx); err != nil {
		return nil, fmt.Errorf("accept redactions: %w", err)
	}
	defer r.collecting.give()
	if out, err = r.accept(ctx, list, opt); err != nil {
		return nil, fmt.Errorf("accept redactions: %w", err)
	}
	return out, nil
}

func (r *Repo) accept(ctx context.Context, list []ToldRedaction, opt AcceptOptions) (*AcceptedRedactions, error) {
	erase, ok := r.store.(store.Eraser)
	notes, okNotes := r.store.(store.Notebook)
	if !ok || !okNotes {
		return nil, ErrUnsupported
	}
	if err := r.writer.Lock(ctx); err != nil {
		return nil, err
	}
	out := &AcceptedRedactions{}
	todo, err := r.sortOut(ctx, list, opt.Reaches, out)
	if err == nil {
		todo, err = r.withTexts(ctx, todo, opt.Stamp, out)
	}
	if err == nil && len(todo) > 0 && !opt.DryRun {
		if opt.Files != nil {
			err = opt.Files(ctx)
		}
		if err == nil {
			err = notes.SetNote(ctx, erasureNote()) // an opening goes on from here
		}
		if err == nil {
			err = r.eraseTold(ctx, erase, todo, opt.Stamp)
		}
	}
	r.writer.Unlock()
	if err == nil && len(todo) > 0 && !opt.DryRun {
		var lacks shortage
		lacks, err = r.expel(ctx)
		out.Pending = lacks.pending
		out.Denied, err = notEntitled(err)
	}
	return out, err
}

// withTexts adds the texts of digests that go with nodes.
func (r *Repo) withTexts(
	ctx context.Context, todo []store.Redaction, by Stamp, out *AcceptedRedactions,
) ([]store.Redaction, error) {
	texts, err := r.textsOfTold(ctx, todo, by)
	if err != nil || len(texts) == 0 {
		return todo, err
	}
	for _, t := range texts {
		out.Erased = append(out.Erased, t.CID)
	}
	slices.SortFunc(out.Erased, ipld.CID.Compare)
	todo = append(todo, texts...)
	slices.SortFunc(todo, func(a, b store.Redaction) int { return a.CID.Compare(b.CID) })
	return todo, nil
}

// eraseTold erases blocks and tells of it by an operation. Its caller holds writer.
func (r *Repo) eraseTold(ctx context.Context, erase store.Eraser, todo []store.Redaction, by Stamp) error {
	by.Command = append([]string{purgeVerb}, by.Command...)
	_, err := r.operate(ctx, by, func(t *tx) error {
		t.always = true
		return nil
	})
	if err != nil {
		return err
	}
	return r.changeAllIndexed(ctx, func() error { return erase.Redact(ctx, todo...) })
}

// sortOut finds out which blocks may be erased.
func (r *Repo) sortOut(
	ctx context.Context, list []ToldRedaction, reaches func(graph.RefName) bool, out *AcceptedRedactions,
) (todo []store.Redaction, err error) {
	records := make(map[ipld.CID][]byte)
	for _, t := range list {
		red, gone, err := r.store.(store.Eraser).Redacted(ctx, t.CID)
		if err != nil {
			return nil, err
		}
		if gone && !red.Open {
			out.Left = append(out.Left, t.CID)
			continue
		}
		records[t.CID] = t.Record
	}
	found, err := r.reachedBlocks(ctx, records, reaches)
	if err != nil {
		return nil, err
	}
	for c, stub := range records {
		is, reached := found[c]
		switch {
		case !reached:
			out.Left = append(out.Left, c)
			continue
		case is.here:
			out.Erased = append(out.Erased, c)
		default:
			out.Closed = append(out.Closed, c)
		}
		todo = append(todo, store.Redaction{CID: c, Stub: stub})
	}
	for _, cids := range [][]ipld.CID{out.Erased, out.Closed, out.Left} {
		slices.SortFunc(cids, ipld.CID.Compare)
	}
	slices.SortFunc(todo, func(a, b store.Redaction) int { return a.CID.Compare(b.CID) })
	return todo, nil
}

// reachedBlock is a block that may be erased.
type reachedBlock struct{ here bool }

// reachedBlocks walks the histories of refs until it has met the blocks that are wanted, each with what is
// to be left of it, and returns those that are as that says.
func (r *Repo) reachedBlocks(
	ctx context.Context, wanted map[ipld.CID][]byte, reaches func(graph.RefName) bool,
) (map[ipld.CID]reachedBlock, error) {
	found := make(map[ipld.CID]reachedBlock)
	if len(wanted) == 0 {
		return found, nil
	}
	refs, err := r.Refs(ctx)
	if err != nil {
		return nil, err
	}
	seen := make(map[ipld.CID]bool)
	visit := func(l lead) ([]lead, error) {
		if seen[l.cid] {
			return nil, nil
		}
		if len(found) == len(wanted) {
			return nil, errFound
		}
		seen[l.cid] = true
		block, err := r.facts().Get(ctx, l.cid)
		if err != nil && !errors.Is(err, store.ErrRedacted) {
			return nil, err
		}
		if stub, asked := wanted[l.cid]; asked && l.as.mayLeave(block, stub) {
			found[l.cid] = reachedBlock{here: err == nil}
		}
		if err != nil || l.as.leaf() {
			return nil, nil
		}
		kind := ""
		if l.as == roleAny {
			kind = ipld.PeekKind(block)
		}
		return ownLeads(l, kind, block)
	}
	for _, ref := range refs {
		if ref.Symbolic != "" || !reaches(ref.Name) {
			continue
		}
		if err := walkLeads(lead{ref.Target, roleAny}, visit); errors.Is(err, errFound) {
			break
		} else if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// mayLeave reports whether a record may be left of a block of a role, nil for one that is not here.
func (r role) mayLeave(block, stub []byte) bool {
	if !r.erasedAs(stub) {
		return false
	}
	rec, err := commit.DecodeRedaction(stub)
	if err != nil || block == nil {
		return err == nil
	}
	switch r {
	case roleEdge:
		e, err := graph.DecodeEdge(block)
		return err == nil && bytes.Equal(e.Bare().Encode(), rec.Left)
	case roleMark:
		m, err := graph.DecodeMark(block)
		return err == nil && bytes.Equal(m.Bare().Encode(), rec.Left)
	}
	return true
}
