package core

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// OpPrefix may come before the name of an operation, and must in a revision.
const OpPrefix = "op:"

// RefMove is one ref that differs between two views. Absent is the zero Ref.
type RefMove struct {
	Name graph.RefName `json:"ref"`
	From RefTarget     `json:"from" shape:"text|null"`
	To   RefTarget     `json:"to" shape:"text|null"`
}

// RefTarget is a ref whose JSON form is its target.
type RefTarget struct{ Ref }

// Exists reports whether a ref, as one side of a change, is there.
func (r Ref) Exists() bool { return r.Target.Defined() || r.Symbolic != "" }

// Value returns the text form of what a ref leads to: a CID, or the name of another ref; empty if it does not exist.
func (r Ref) Value() string {
	if r.Symbolic != "" {
		return string(r.Symbolic)
	}
	return r.Target.String()
}

// MarshalJSON writes Value, null for what does not exist.
func (r RefTarget) MarshalJSON() ([]byte, error) {
	if !r.Exists() {
		return []byte("null"), nil
	}
	return ipld.AppendJSON(nil, ipld.StringValue(r.Value())), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *RefTarget) UnmarshalJSON(data []byte) error {
	var value string
	if err := json.Unmarshal(data, &value); err != nil {
		return err
	}
	*r = RefTarget{}
	if target, err := ipld.ParseCID(value); err == nil {
		r.Target = target
	} else {
		r.Symbolic = graph.RefName(value)
	}
	return nil
}

// OpRecord is one operation and the refs it changed, in name order.
type OpRecord struct {
	CID       ipld.CID
	Operation *commit.Operation
	Refs      []RefMove
	// Oldest says that this is the oldest operation kept and not the first: what it changed is not known any more.
	Oldest bool
}

// Reverses returns the operation that this one took back, undefined for none.
func (e OpRecord) Reverses() ipld.CID { return Reversed(e.Operation) }

// OpLog reads the operation log of a repository: who changed which refs, and when.
type OpLog struct{ repo *Repo }

// OpLog returns the log of operations.
func (r *Repo) OpLog() OpLog { return OpLog{r} }

// All yields the operation log, newest first.
func (l OpLog) All(ctx context.Context) iter.Seq2[OpRecord, error] {
	return func(yield func(OpRecord, error) bool) {
		head, err := l.repo.Store.Head(ctx)
		if err != nil {
			yield(OpRecord{}, fmt.Errorf("read operation head: %w", err))
			return
		}
		// What an operation changed is reported when the one before it is known, so that each is read once.
		var last commit.OpEntry
		var after *View
		for e, err := range commit.Operations(ctx, l.repo.Facts(), head.Operation) {
			var before *View
			var rec OpRecord
			if err == nil {
				before, err = l.View(ctx, e)
			}
			if err == nil && after != nil {
				rec, err = l.moved(ctx, last, before, after)
			}
			if (after != nil && l.has(&rec) || err != nil) && (!yield(rec, err) || err != nil) {
				return
			}
			last, after = e, before
		}
		if after != nil {
			if rec, err := l.oldest(ctx, last, after); err != nil || l.has(&rec) {
				yield(rec, err)
			}
		}
	}
}

// moved returns an operation with what it changed.
func (l OpLog) moved(ctx context.Context, e commit.OpEntry, before, after *View) (rec OpRecord, err error) {
	rec = OpRecord{CID: e.CID, Operation: e.Operation}
	if rec.Refs, err = l.diffAll(ctx, before, after); err == nil {
		l.own(&rec)
	}
	return rec, err
}

// oldest returns the oldest operation kept: its changes are those from no refs, if it is the first, and
// else not known any more.
func (l OpLog) oldest(ctx context.Context, e commit.OpEntry, after *View) (OpRecord, error) {
	if e.Operation.Seq > 1 {
		return OpRecord{CID: e.CID, Operation: e.Operation, Oldest: true}, nil
	}
	return l.moved(ctx, e, &View{}, after)
}

// Find returns the operation of a name: its sequence number, its CID or a unique prefix of that, or @ for the newest,
// each with or without op: before it; OP~n is the n-th before OP. It returns a *NotFoundError or an *AmbiguousError.
func (l OpLog) Find(ctx context.Context, name string) (OpRecord, error) {
	head, err := l.repo.Store.Head(ctx)
	if err != nil {
		return OpRecord{}, fmt.Errorf("read operation head: %w", err)
	}
	e, err := l.Read(ctx, head, name)
	if err != nil {
		return OpRecord{}, err
	}
	return l.Record(ctx, e)
}

// Diff returns the refs that differ between how two operations left them.
func (l OpLog) Diff(ctx context.Context, a, b string) ([]RefMove, error) {
	head, err := l.repo.Store.Head(ctx)
	if err != nil {
		return nil, fmt.Errorf("read operation head: %w", err)
	}
	var views [2]*View
	for i, name := range []string{a, b} {
		e, err := l.Read(ctx, head, name)
		if err != nil {
			return nil, err
		}
		if views[i], err = l.View(ctx, e); err != nil {
			return nil, err
		}
	}
	return l.DiffViews(ctx, views[0], views[1])
}

// Entries yields the operations from head back to the oldest that is kept.
func (l OpLog) Entries(ctx context.Context, head store.Head) iter.Seq2[commit.OpEntry, error] {
	return func(yield func(commit.OpEntry, error) bool) {
		for e, err := range commit.Operations(ctx, l.repo.Facts(), head.Operation) {
			owned := true
			if err == nil {
				owned, err = l.owns(ctx, e)
			}
			if (owned || err != nil) && (!yield(e, err) || err != nil) {
				return
			}
		}
	}
}

// end reports whether nothing before an operation is kept: it is the first, or at the horizon of the newest.
func (l OpLog) end(ctx context.Context, o *commit.Operation) (bool, error) {
	if !o.Parent.Defined() {
		return true, nil
	}
	head, err := l.repo.Store.Head(ctx)
	if err != nil {
		return false, fmt.Errorf("read operation head: %w", err)
	}
	newest, err := commit.ReadOperation(ctx, l.repo.Facts(), head.Operation)
	return err == nil && newest.Behind(o.Seq-1), err
}

// View returns the refs as an operation left them; HEAD is the repository's own.
func (l OpLog) View(ctx context.Context, e commit.OpEntry) (*View, error) {
	tree, err := l.repo.Nodes().Load(ctx, e.Operation.View)
	if err != nil {
		return nil, fmt.Errorf("read view: %w", err)
	}
	return &View{Tree: tree, head: store.Head{Seq: e.Operation.Seq, Operation: e.CID}, only: l.repo.only}, nil
}

// Record returns an operation with what it changed.
func (l OpLog) Record(ctx context.Context, e commit.OpEntry) (OpRecord, error) {
	rec := OpRecord{CID: e.CID, Operation: e.Operation}
	after, err := l.View(ctx, e)
	if err != nil {
		return rec, err
	}
	end, err := l.end(ctx, e.Operation)
	if err != nil {
		return rec, err
	}
	if end {
		return l.oldest(ctx, e, after)
	}
	head := store.Head{Seq: e.Operation.Seq - 1, Operation: e.Operation.Parent}
	before, err := l.repo.ViewAt(ctx, head)
	if err != nil {
		return rec, err
	}
	return l.moved(ctx, e, before, after)
}

// DiffViews returns the refs of the caller that differ, in name order.
func (l OpLog) DiffViews(ctx context.Context, from, to *View) ([]RefMove, error) {
	moves, err := l.diffAll(ctx, from, to)
	return l.mine(moves), err
}

func (l OpLog) diffAll(ctx context.Context, from, to *View) ([]RefMove, error) {
	a, b, err := l.trees(ctx, from, to)
	if err != nil {
		return nil, err
	}
	var out []RefMove
	for c, err := range prolly.Diff(ctx, a, b) {
		if err != nil {
			return nil, fmt.Errorf("compare refs: %w", err)
		}
		rc := RefMove{Name: graph.RefName(c.Key)}
		if rc.From.Ref, err = decodeSide(rc.Name, c.Old); err != nil {
			return nil, err
		}
		if rc.To.Ref, err = decodeSide(rc.Name, c.New); err != nil {
			return nil, err
		}
		out = append(out, rc)
	}
	return out, nil
}

// trees returns the trees of two views; that of no refs lives in memory alone.
func (l OpLog) trees(ctx context.Context, from, to *View) (a, b *prolly.Map, err error) {
	if a, b = from.Tree, to.Tree; a != nil && b != nil {
		return a, b, nil
	}
	none, err := state.EmptyTree(ctx, prolly.NewNodes(store.NewStage(l.repo.Facts(), 0), l.repo.Trees))
	if a == nil {
		a = none
	}
	if b == nil {
		b = none
	}
	return a, b, err
}

func decodeSide(name graph.RefName, item []byte) (Ref, error) {
	if item == nil {
		return Ref{}, nil
	}
	return DecodeRef(string(name), item)
}

// Read finds an operation of the log that ends with head by its name (see Operation).
func (l OpLog) Read(ctx context.Context, head store.Head, name string) (commit.OpEntry, error) {
	missing := &state.NotFoundError{What: "operation", Name: name}
	base, back, stepped := strings.Cut(strings.TrimPrefix(name, OpPrefix), "~")
	steps := uint64(0)
	if stepped {
		var err error
		if steps, err = ParseSeq(name, cmp.Or(back, "1")); err != nil {
			return commit.OpEntry{}, err
		}
	}
	if l.repo.Confined() {
		return l.readOwn(ctx, head, name, base, steps)
	}
	seq, err := l.seq(ctx, head, name, base)
	if err != nil {
		return commit.OpEntry{}, err
	}
	if stepped && steps >= seq {
		return commit.OpEntry{}, missing
	}
	e, err := commit.OperationAt(ctx, l.repo.Facts(), head.Operation, seq-steps)
	if errors.Is(err, store.ErrNotFound) {
		err = missing
	}
	return e, err
}

// seq returns the sequence number of a name without a step.
func (l OpLog) seq(ctx context.Context, head store.Head, name, base string) (uint64, error) {
	switch {
	case base == headShort:
		return head.Seq, nil
	case IsNumber(base):
		return ParseSeq(name, base)
	}
	c, err := ipld.ParseCID(base)
	if err != nil {
		if c, err = l.repo.Revisions().byPrefix(ctx, base, commit.KindOperation, "operation"); err != nil {
			return 0, err
		}
	}
	missing := &state.NotFoundError{What: "operation", Name: name}
	if err := l.repo.Revisions().OfKind(ctx, c, name, commit.KindOperation); err != nil {
		return 0, err
	}
	o, err := commit.ReadOperation(ctx, l.repo.Facts(), c)
	if err != nil {
		return 0, err
	}
	// What a crash or a lost race left behind is no operation of this log.
	at, err := commit.OperationAt(ctx, l.repo.Facts(), head.Operation, o.Seq)
	if errors.Is(err, store.ErrNotFound) || err == nil && at.CID != c {
		err = missing
	}
	return o.Seq, err
}

// ParseSeq reads a decimal sequence number of an operation. name is for errors: one wraps state.ErrInvalid if
// digits is no number, and is a *NotFoundError if it does not fit 64 bits.
func ParseSeq(name, digits string) (uint64, error) {
	if !IsNumber(digits) {
		return 0, state.Invalidf("operation %q: %q is not a number of operations", name, digits)
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil { // more than any log has
		return 0, &state.NotFoundError{What: "operation", Name: name}
	}
	return n, nil
}

// RefChange is one ref that an import sets, or that exchange.Receive removes.
type RefChange struct {
	Ref  graph.RefName `json:"ref"`
	From ipld.CID      `json:"from" shape:"null"` // undefined if it is new
	To   ipld.CID      `json:"to" shape:"null"`   // undefined if it is removed
}

// EncodeRef returns the value of a ref in a view, nil for one that does not exist.
func EncodeRef(ref Ref) []byte {
	switch {
	case ref.Symbolic != "":
		return ipld.AppendString(nil, string(ref.Symbolic))
	case ref.Target.Defined():
		return ipld.AppendLink(nil, ref.Target)
	}
	return nil
}

// Reversed returns the operation that one took back, undefined for none.
func Reversed(o *commit.Operation) ipld.CID {
	if o.Undoes.Defined() {
		return o.Undoes
	}
	return o.Redoes
}
