package care

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
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/ipld"
)

// ToldRedaction is a repository's report of a block that it erased: its CID and redaction record.
type ToldRedaction struct {
	CID    ipld.CID `json:"cid"`
	Record []byte   `json:"record"`
}

// Check returns an error wrapping state.ErrInvalid unless it has a valid redaction record.
func (t *ToldRedaction) Check() error {
	if !t.CID.Defined() {
		return state.Invalidf("a redaction without a block")
	}
	if _, err := commit.DecodeRedaction(t.Record); err != nil {
		return state.Invalidf("redaction of %s: %w", t.CID, err)
	}
	return nil
}

// RedactionSet names the set of the blocks that were erased here, "" for none: repositories that erased the same
// blocks have the same name. Gaps do not count: others erased those.
func RedactionSet(ctx context.Context, r *core.Repo) (string, error) {
	h, n := sha256.New(), 0
	for e, err := range r.Redactions().All(ctx) {
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

// TellRedactions returns at most limit redactions made here, in CID order, beginning after a CID, and whether there
// are more.
func TellRedactions(
	ctx context.Context, r *core.Repo, after ipld.CID, limit int,
) (out []ToldRedaction, more bool, err error) {
	for e, err := range r.Redactions().All(ctx) {
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

// AcceptOptions configure the acceptance of another repository's redactions.
type AcceptOptions struct {
	state.Stamp
	// Reaches reports whether a ref's history may lose blocks.
	Reaches func(graph.RefName) bool
	DryRun  bool
	// Files, if not nil, removes copies of blocks from files outside of the store. It is called before anything is
	// erased; if it fails nothing is.
	Files func(ctx context.Context) error
}

// AcceptedRedactions is the result of accepting redactions.
type AcceptedRedactions struct {
	Erased []ipld.CID `json:"erased"` // blocks that were here, and texts of digests made of them
	Closed []ipld.CID `json:"closed"` // gaps that nothing fills from now on
	// Left lists blocks that no such ref reaches, that have another role than the record says, or that were erased
	// before: they were not changed.
	Left    []ipld.CID `json:"left"`
	Pending bool       `json:"erasure_pending"`                       // as of PurgeResult
	Denied  string     `json:"erasure_denied,omitempty" shape:"null"` // likewise
}

// AcceptRedactions permanently erases blocks that another repository erased, replacing each by its record, and all
// indexes. It erases only nodes, edges, marks, embeddings and texts that the selected refs reach, which costs a
// walk of their histories, and the texts of digests made here from an erased node, for which every block is read.
// It records one operation, which cannot be undone.
func AcceptRedactions(
	ctx context.Context, r *core.Repo, list []ToldRedaction, opt AcceptOptions,
) (out *AcceptedRedactions, err error) {
	ctx = store.Erasing(ctx)
	for i := range list {
		if err := list[i].Check(); err != nil {
			return nil, err
		}
	}
	if err := r.Collecting.Take(ctx); err != nil {
		return nil, fmt.Errorf("accept redactions: %w", err)
	}
	defer r.Collecting.Give()
	if out, err = accept(ctx, r, list, opt); err != nil {
		return nil, fmt.Errorf("accept redactions: %w", err)
	}
	return out, nil
}

func accept(ctx context.Context, r *core.Repo, list []ToldRedaction, opt AcceptOptions) (*AcceptedRedactions, error) {
	erase, ok := r.Store.(store.Eraser)
	notes, okNotes := r.Store.(store.Notebook)
	if !ok || !okNotes {
		return nil, ErrUnsupported
	}
	if err := r.Writer.Lock(ctx); err != nil {
		return nil, err
	}
	out := &AcceptedRedactions{}
	todo, err := sortOut(ctx, r, list, opt.Reaches, out)
	if err == nil {
		todo, err = withTexts(ctx, r, todo, opt.Stamp, out)
	}
	if err == nil && len(todo) > 0 && !opt.DryRun {
		if opt.Files != nil {
			err = opt.Files(ctx)
		}
		if err == nil {
			err = notes.SetNote(ctx, erasureNote()) // the next opening continues from here
		}
		if err == nil {
			err = eraseTold(ctx, r, erase, todo, opt.Stamp)
		}
	}
	r.Writer.Unlock()
	if err == nil && len(todo) > 0 && !opt.DryRun {
		var lacks shortage
		lacks, err = expel(ctx, r)
		out.Pending = lacks.pending
		out.Denied, err = notEntitled(err)
	}
	return out, err
}

// withTexts adds the texts of digests that go with nodes.
func withTexts(
	ctx context.Context, r *core.Repo, todo []store.Redaction, by state.Stamp, out *AcceptedRedactions,
) ([]store.Redaction, error) {
	texts, err := TextsOfTold(ctx, r, todo, by)
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

// eraseTold erases blocks and records an operation. Its caller holds writer.
func eraseTold(ctx context.Context, r *core.Repo, erase store.Eraser, todo []store.Redaction, by state.Stamp) error {
	by.Command = append([]string{core.PurgeVerb}, by.Command...)
	_, err := r.Operate(ctx, by, func(t *core.Tx) error {
		t.Always = true
		return nil
	})
	if err != nil {
		return err
	}
	return r.Indexes().ChangeAll(ctx, func() error { return erase.Redact(ctx, todo...) })
}

// sortOut determines which blocks may be erased.
func sortOut(
	ctx context.Context, r *core.Repo, list []ToldRedaction, reaches func(graph.RefName) bool, out *AcceptedRedactions,
) (todo []store.Redaction, err error) {
	records := make(map[ipld.CID][]byte)
	for _, t := range list {
		red, gone, err := r.Store.(store.Eraser).Redacted(ctx, t.CID)
		if err != nil {
			return nil, err
		}
		if gone && !red.Open {
			out.Left = append(out.Left, t.CID)
			continue
		}
		records[t.CID] = t.Record
	}
	found, err := reachedBlocks(ctx, r, records, reaches)
	if err != nil {
		return nil, err
	}
	for c, stub := range records {
		here, reached := found[c]
		switch {
		case !reached:
			out.Left = append(out.Left, c)
			continue
		case here:
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

// reachedBlocks walks the histories of refs until it has met all wanted blocks, and returns those that match the
// remainder wanted for them, with whether the block itself is here.
func reachedBlocks(
	ctx context.Context, r *core.Repo, wanted map[ipld.CID][]byte, reaches func(graph.RefName) bool,
) (map[ipld.CID]bool, error) {
	found := make(map[ipld.CID]bool)
	if len(wanted) == 0 {
		return found, nil
	}
	refs, err := r.Refs(ctx)
	if err != nil {
		return nil, err
	}
	seen := make(map[ipld.CID]bool)
	visit := func(l state.Lead) ([]state.Lead, error) {
		if seen[l.Cid] {
			return nil, nil
		}
		if len(found) == len(wanted) {
			return nil, core.ErrStop
		}
		seen[l.Cid] = true
		block, err := r.Facts().Get(ctx, l.Cid)
		if err != nil && !errors.Is(err, store.ErrRedacted) {
			return nil, err
		}
		if stub, asked := wanted[l.Cid]; asked && mayLeave(l.As, block, stub) {
			found[l.Cid] = err == nil
		}
		if err != nil || leaf(l.As) {
			return nil, nil
		}
		kind := ""
		if l.As == state.RoleAny {
			kind = ipld.PeekKind(block)
		}
		return ownLeads(l, kind, block)
	}
	for _, ref := range refs {
		if ref.Symbolic != "" || !reaches(ref.Name) {
			continue
		}
		if err := state.WalkLeads(state.Lead{Cid: ref.Target, As: state.RoleAny}, visit); errors.Is(err, core.ErrStop) {
			break
		} else if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// mayLeave reports whether a record may replace a block with a role; block is nil if it is absent here.
func mayLeave(r state.Role, block, stub []byte) bool {
	if !r.ErasedAs(stub) {
		return false
	}
	rec, err := commit.DecodeRedaction(stub)
	if err != nil || block == nil {
		return err == nil
	}
	switch r {
	case state.RoleEdge:
		e, err := graph.DecodeEdge(block)
		return err == nil && bytes.Equal(e.Bare().Encode(), rec.Left)
	case state.RoleMark:
		m, err := graph.DecodeMark(block)
		return err == nil && bytes.Equal(m.Bare().Encode(), rec.Left)
	}
	return true
}

// TextsOfTold returns the redactions of the texts of digests here that were made from erased nodes, as Purge erases
// them: the other repository did not have these texts, or erased them itself. It reads every block if a node goes.
func TextsOfTold(ctx context.Context, r *core.Repo, todo []store.Redaction, by state.Stamp) ([]store.Redaction, error) {
	s := &PurgeScan{
		Nodes: make(map[graph.ID]*Versions), Erase: make(map[ipld.CID]Erasure),
		Texts: make(map[ipld.CID]*distill.Written),
	}
	opt := PurgeOptions{Stamp: by, Progress: func(string, int) {}}
	var first graph.ID // of the nodes, which the redactions of texts name
	for _, red := range todo {
		rec, err := state.DecodeRedaction(red.CID, red.Stub)
		if err != nil {
			return nil, err
		}
		s.Erase[red.CID] = Erasure{what: rec.What}
		if rec.What != commit.ErasedNode {
			continue
		}
		id := rec.Node
		if n, err := commit.ReadNode(ctx, r.Facts(), red.CID); err == nil {
			id = n.ID // whatever the record says
		} else if !outline.Untold(err) {
			return nil, err
		}
		s.Nodes[id] = new(Versions)
		if first.IsZero() || id.Compare(first) < 0 {
			first, opt.Reason = id, rec.Reason
		}
	}
	if len(s.Nodes) == 0 {
		return nil, nil
	}
	s.P = &Erasing{Ctx: ctx, Repo: r, id: first, Held: make(map[ipld.CID]bool), opt: opt}
	err := s.pass("blocks searched", func(b store.Block, kind string) error {
		if kind == distill.KindWritten {
			if w, err := distill.DecodeWritten(b.Data); err == nil {
				s.Texts[b.CID] = w
			}
		}
		return nil
	})
	if err != nil || len(s.Texts) == 0 {
		return nil, err
	}
	if err := s.TextsOf(); err != nil {
		return nil, err
	}
	for _, red := range todo {
		delete(s.Erase, red.CID)
	}
	out, err := s.redactions(opt)
	for i := 0; err == nil && i < len(out); i++ {
		_, err = commit.DecodeRedaction(out[i].Stub)
	}
	return out, err
}
