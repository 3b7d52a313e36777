package core

import (
	"cmp"
	"context"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// Decision holds the changes that a caller derives from a state of the memory.
type Decision struct {
	Changes []graph.Change // none: no commit is made
	Message string         // of the commit, unless the options have one
}

// DecideOptions say how a decision becomes a commit. A Base is refused: the base is the snapshot the
// decision was made on.
type DecideOptions struct {
	CommitOptions
	// Long says that deciding takes much longer than committing. It first runs concurrently with
	// other writers, and blocks them only for a second run if the branch has moved by its end.
	Long bool
}

// Decide commits what decide makes of the newest commit of a branch, upon that very commit: it is for changes that
// depend on what is stored. Writers take turns in the order in which they ask, and decide is called within the turn, so
// that no caller is refused because others write too; only one that gave an Expect is, by its *ExpectError.
//
// The snapshot shows the newest commit that was begun, durable or not. decide must return a function
// of it alone, as it may be called twice, with a later snapshot: its error is returned at once. While
// it runs other writers wait, so that it must neither write to this repository nor wait for a model,
// a file or a network. What Commit says of its result and errors holds here too.
func (r *Repo) Decide(
	ctx context.Context, opt DecideOptions, decide func(*Snapshot) (*Decision, error),
) (*CommitResult, error) {
	if opt.Base != nil {
		return nil, state.Invalidf("a decision takes no base: it is made upon the newest commit")
	}
	var at ipld.CID
	var made *Decision
	var refused error // by decide
	about := func(s *Snapshot) error {
		at = s.Id
		made, refused = decide(s)
		return refused
	}
	if h := heldTurnOf(ctx); (opt.Long || opt.Meaning != nil) && (h == nil || !h.Holds()) {
		// Without a snapshot the turn tells why, about the state that is the newest then.
		if s, err := r.begunHead(ctx, opt.CommitOptions); err == nil && about(s) != nil {
			return nil, r.refusal(ctx, refused)
		}
	}
	if opt.Meaning != nil && made != nil {
		state.Foresee(ctx, opt.Meaning, made.Changes)
	}
	res := new(CommitResult)
	_, err := r.pipeline(ctx, opt.Stamp, func(t *Tx) error {
		ref, head, err := t.Base(ctx, opt.CommitOptions)
		if err != nil {
			return err
		}
		if made == nil || at != head.Id {
			s, err := r.At(ctx, head.Id) // it may be kept, which a snapshot of t may not
			if err == nil {
				err = about(s)
			}
			if err != nil {
				return err
			}
		}
		opt.Message = cmp.Or(opt.Message, made.Message)
		next, err := t.apply(ctx, head, each(made.Changes), opt.CommitOptions, res)
		if err != nil {
			return err
		}
		return t.Commit(ctx, ref, head, next, opt.CommitOptions, res)
	})
	if refused != nil {
		err = r.refusal(ctx, refused)
	}
	if err != nil {
		return nil, err
	}
	return res, nil
}

// refusal returns the error of a decision once the state it was made on is durable: no caller learns
// anything that a power cut could take back.
func (r *Repo) refusal(ctx context.Context, err error) error {
	if unsettled := r.Writer.settle(ctx, r.Store); unsettled != nil {
		return unsettled
	}
	return err
}

// begunHead returns the newest commit of a branch that was begun, durable or not.
func (r *Repo) begunHead(ctx context.Context, opt CommitOptions) (*Snapshot, error) {
	head, err := r.Writer.newest(ctx, r.Store)
	if err != nil {
		return nil, err
	}
	v, err := LoadView(ctx, r.Nodes(), r.Facts(), head)
	if err != nil {
		return nil, err
	}
	r.askedBy(ctx, v)
	ref, err := v.branch(ctx, opt)
	if err == nil {
		err = r.Embeddings().expected(ctx, ref.Target, opt.Expect)
	}
	if err != nil {
		return nil, err
	}
	return r.At(ctx, ref.Target)
}

// each returns a list as a stream, which ends with errors.
func each(list []graph.Change, end ...error) state.Changes {
	return func(yield func(graph.Change, error) bool) {
		for _, c := range list {
			if !yield(c, nil) {
				return
			}
		}
		for _, err := range end {
			if !yield(graph.Change{}, err) {
				return
			}
		}
	}
}
