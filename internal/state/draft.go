package state

import (
	"sync"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/view/index"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// draftFrom is how many nodes a batch makes before it begins to analyse those that follow for
	// the index as it makes them: smaller batches leave it to the index, which reads them again.
	draftFrom = 512
	// draftLimit bounds the memory of what was analysed, about 150,000 nodes of 110 words; draftTerms
	// where they lie elsewhere, about a million: their terms and where each is. The nodes that come after
	// it are read again.
	draftLimit = 64 << 20
	draftTerms = 96 << 20
	// draftGroup is how many nodes are handed over at a time, and draftQueue how many such groups
	// may wait. They hold nodes that the stage may have let go of.
	draftGroup = 64
	draftQueue = 4
)

// drafter analyses the nodes of a batch on a goroutine of its own.
type drafter struct {
	Wanted bool // whether an index follows
	Room   *ScratchRoom
	made   int
	draft  *index.Draft // nil until there are enough nodes
	group  []draftNode
	queue  chan []draftNode
	done   sync.WaitGroup
}

type draftNode struct {
	cid  ipld.CID
	node *graph.Node
}

// add takes a node that was put into the batch. Content in blocks of its own is left to the index.
func (d *drafter) add(c ipld.CID, n *graph.Node) error {
	if d.made++; !d.Wanted || d.made <= draftFrom || n.Content != nil && len(n.Content.Chunks) > 0 {
		return nil
	}
	if d.draft == nil {
		draft, err := d.begin()
		if err != nil {
			return err
		}
		d.draft, d.queue = draft, make(chan []draftNode, draftQueue)
		d.done.Go(d.run)
	}
	if d.group = append(d.group, draftNode{c, n}); len(d.group) == draftGroup {
		d.queue <- d.group
		d.group = make([]draftNode, 0, draftGroup)
	}
	return nil
}

func (d *drafter) begin() (*index.Draft, error) {
	if d.Room == nil {
		return index.NewDraft(draftLimit, nil)
	}
	return index.NewDraft(draftTerms, d.Room)
}

func (d *drafter) run() {
	for group := range d.queue {
		for _, n := range group {
			doc := &index.Document{Node: n.node}
			if n.node.Content != nil {
				doc.Content = n.node.Content.Text
			}
			d.draft.Add(n.cid, doc)
		}
	}
}

// End waits for the goroutine and returns what it made, nil for nothing.
func (d *drafter) End() *index.Draft {
	if d.queue != nil {
		if len(d.group) > 0 {
			d.queue <- d.group
		}
		close(d.queue)
		d.done.Wait()
		d.queue, d.group = nil, nil
		d.draft.Seal()
	}
	return d.draft
}
