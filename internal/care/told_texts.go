package care

import (
	"context"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/ipld"
)

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
