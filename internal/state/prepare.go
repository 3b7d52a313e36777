package state

import (
	"context"
	"iter"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/parallel"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// prepareGroup is how many changes are prepared at a time, and prepareBytes about how many bytes
	// of them, unless one alone has more.
	prepareGroup = 64
	prepareBytes = 256 << 10
	// prepareLimit bounds the changes in flight, in addition to one group of any size.
	prepareLimit = 8 << 20
)

// prepared is a change after the work that needs no graph, which is most of it for new items: validation, ids, and
// the item it makes with its encoded record.
type prepared struct {
	graph.Change
	Err error // of the stream, or of an invalid change

	id        graph.ID // of the node or edge; zero for a node whose content decides it
	node      *graph.Node
	edge      *graph.Edge
	embedding *graph.Embedding
	block     store.Block // the record of node or edge
	made      error       // why it makes no item
	secrets   []guard.Place
}

// Prepare yields the changes in their order, prepared on several goroutines. The first with an error is the last.
func Prepare(ctx context.Context, changes Changes, now graph.Time) iter.Seq[*prepared] {
	limit := parallel.Limit[[]prepared]{Bytes: prepareLimit, Size: func(group []prepared) int {
		size := 0
		for i := range group {
			size += changeSize(&group[i].Change)
		}
		return size
	}}
	groups := parallel.Map(groupChanges(ctx, changes), limit, func(group []prepared) []prepared {
		for i := range group {
			if group[i].Err == nil {
				group[i].prepare(now)
			}
		}
		return group
	})
	return func(yield func(*prepared) bool) {
		for group := range groups {
			for i := range group {
				if !yield(&group[i]) || group[i].Err != nil {
					return
				}
			}
		}
	}
}

// groupChanges yields the changes in small groups, up to the first error.
func groupChanges(ctx context.Context, changes Changes) iter.Seq[[]prepared] {
	return func(yield func([]prepared) bool) {
		var group []prepared
		size := 0
		for c, err := range changes {
			if err == nil {
				err = ctx.Err()
			}
			group = append(group, prepared{Change: c, Err: err})
			if err != nil {
				break
			}
			if size += changeSize(&c); len(group) == prepareGroup || size >= prepareBytes {
				if !yield(group) {
					return
				}
				group, size = make([]prepared, 0, prepareGroup), 0
			}
		}
		if len(group) > 0 {
			yield(group)
		}
	}
}

// changeSize returns approximately how many bytes a change takes.
func changeSize(c *graph.Change) int {
	const each = 512
	switch {
	case c.Node != nil:
		n := c.Node
		size := each + len(n.Key) + propsSize(n.Props)
		for _, text := range []*string{n.Summary, n.Context} {
			if text != nil {
				size += len(*text)
			}
		}
		for _, cue := range n.Cues {
			size += len(cue)
		}
		if n.Content != nil {
			size += len(n.Content.Text)
		}
		for i := range n.Chunks {
			size += len(n.Chunks[i].Data)
		}
		return size
	case c.Edge != nil:
		return each + propsSize(c.Edge.Props)
	case c.Embedding != nil:
		return each + 8*len(c.Embedding.Vector) + 16*len(c.Embedding.Sparse)
	}
	return each
}

func propsSize(props []ipld.Entry) int {
	size := 0
	for i := range props {
		size += len(props[i].Key) + valueSize(props[i].Value)
	}
	return size
}

func valueSize(v ipld.Value) int {
	const each = 48
	size := each
	switch v.Kind() {
	case ipld.String, ipld.Bytes:
		size += len(v.Text())
	case ipld.List:
		for _, item := range v.List() {
			size += valueSize(item)
		}
	case ipld.Map:
		size += propsSize(v.Entries())
	}
	return size
}

func (p *prepared) prepare(now graph.Time) {
	if err := p.Validate(); err != nil {
		p.Err = p.At(err)
		return
	}
	p.secrets = guard.Change(&p.Change)
	now = p.Now(now)
	switch {
	case p.Node != nil:
		p.id = p.Node.Target()
		if p.node, p.made = p.Node.Make(now); p.made == nil {
			p.block = store.NewBlock(ipld.DagCBOR, p.node.Encode())
		}
	case p.Edge != nil:
		p.id = p.Edge.Target()
		if p.edge, p.made = p.Edge.Make(now); p.made == nil {
			p.block = store.NewBlock(ipld.DagCBOR, p.edge.Encode())
		}
	case p.Embedding != nil:
		p.id = p.Embedding.Node.Target()
		p.embedding, p.made = p.Embedding.Make([32]byte{})
	}
}
