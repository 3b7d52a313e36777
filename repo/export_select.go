package repo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mnem-project/mnem/car"
	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// exportSelected writes the blocks that a selector reaches from a commit, in the order of its walk. What
// was erased is left out and counted.
func (r *Repo) exportSelected(ctx context.Context, w io.Writer, v *view, opt ExportOptions) (*ExportResult, error) {
	if opt.All || opt.Session != "" || opt.Receipt != "" || strings.Contains(opt.Rev, "..") {
		return nil, invalidf("export: a selector goes with one revision and nothing else")
	}
	selector, err := ipld.ParseSelector([]byte(opt.Selector))
	if err != nil {
		return nil, invalidf("export: selector: %w", err)
	}
	rev := opt.Rev
	if rev == "" {
		rev = string(graph.Head)
	}
	root, err := r.resolve(ctx, v, rev)
	if err != nil {
		return nil, err
	}
	res := &ExportResult{Root: root, Scope: commit.ScopeSelector}
	var out *car.Writer
	err = selector.Walk(ctx, root, func(ctx context.Context, c ipld.CID) ([]byte, error) {
		block, err := r.facts().Get(ctx, c)
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
		if opt.Progress != nil && out.Blocks()%progressEvery == 0 {
			opt.Progress(out.Blocks(), out.Bytes())
		}
		return block, nil
	})
	if errors.Is(err, ipld.ErrSelector) {
		return nil, invalidf("export: %w", err)
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
