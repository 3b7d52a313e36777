package repo

import (
	"context"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/distill"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// textsOfTold returns the redactions of the texts of digests here that were made of nodes which go, as Purge erases
// them: the other repository did not have these texts, or erased them itself. It reads every block where a node goes.
func (r *Repo) textsOfTold(ctx context.Context, todo []store.Redaction, by Stamp) ([]store.Redaction, error) {
	s := &purgeScan{
		nodes: make(map[graph.ID]*versions), erase: make(map[ipld.CID]erasure),
		texts: make(map[ipld.CID]*distill.Written),
	}
	opt := PurgeOptions{Stamp: by, Progress: func(string, int) {}}
	var first graph.ID // of the nodes, which the redactions of texts name
	for _, red := range todo {
		rec, err := decodeRedaction(red.CID, red.Stub)
		if err != nil {
			return nil, err
		}
		s.erase[red.CID] = erasure{what: rec.What}
		if rec.What != commit.ErasedNode {
			continue
		}
		id := rec.Node
		if n, err := commit.ReadNode(ctx, r.facts(), red.CID); err == nil {
			id = n.ID // whatever the record says
		} else if !untold(err) {
			return nil, err
		}
		s.nodes[id] = new(versions)
		if first.IsZero() || id.Compare(first) < 0 {
			first, opt.Reason = id, rec.Reason
		}
	}
	if len(s.nodes) == 0 {
		return nil, nil
	}
	s.p = &purge{ctx: ctx, repo: r, id: first, held: make(map[ipld.CID]bool), opt: opt}
	err := s.pass("blocks searched", func(b store.Block, kind string) error {
		if kind == distill.KindWritten {
			if w, err := distill.DecodeWritten(b.Data); err == nil {
				s.texts[b.CID] = w
			}
		}
		return nil
	})
	if err != nil || len(s.texts) == 0 {
		return nil, err
	}
	if err := s.textsOf(); err != nil {
		return nil, err
	}
	for _, red := range todo {
		delete(s.erase, red.CID)
	}
	out, err := s.redactions(opt)
	for i := 0; err == nil && i < len(out); i++ {
		_, err = commit.DecodeRedaction(out[i].Stub)
	}
	return out, err
}
