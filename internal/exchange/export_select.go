package exchange

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/car"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// exportSelected writes the blocks that a selector reaches from a commit, in the order of its walk. Erased blocks
// are omitted and counted.
func exportSelected(ctx context.Context, r *core.Repo, w io.Writer, v *core.View, opt ExportOptions) (*ExportResult, error) {
	selector, err := ipld.ParseSelector([]byte(opt.Selector))
	if err != nil {
		return nil, state.Invalidf("export: selector: %w", err)
	}
	rev := opt.Rev
	if rev == "" {
		rev = string(graph.Head)
	}
	root, err := r.Revisions().ResolveIn(ctx, v, rev)
	if err != nil {
		return nil, err
	}
	res := &ExportResult{Roots: []ipld.CID{root}, Scope: commit.ScopeSelector}
	var out *car.Writer
	err = selector.Walk(ctx, root, func(ctx context.Context, c ipld.CID) ([]byte, error) {
		block, err := r.Facts().Get(ctx, c)
		if errors.Is(err, store.ErrRedacted) {
			res.Redacted++
			return nil, ipld.ErrSkip
		}
		if err == nil && out == nil {
			out, err = car.NewWriter(w, root)
		}
		if err != nil {
			return nil, err
		}
		if err := out.Put(c, block); err != nil {
			return nil, err
		}
		if opt.Progress != nil && out.Blocks()%core.ProgressEvery == 0 {
			opt.Progress(out.Blocks(), out.Bytes())
		}
		return block, nil
	})
	if errors.Is(err, ipld.ErrSelector) {
		return nil, state.Invalidf("export: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	if err := out.Flush(); err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	res.Blocks, res.Bytes = out.Blocks(), out.Bytes()
	return res, nil
}
