package state

import (
	"sync"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/view/index"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// draftFrom is how many nodes a batch makes before it starts to analyse further ones for the index
	// concurrently. The index analyses the others later, which reads them again.
	draftFrom = 512
	// draftLimit bounds the memory of analysed nodes, about 150,000 nodes of 110 words. draftTerms is the bound if
	// texts are spilled, about a million nodes: their terms and offsets. Nodes beyond the bound are read again.
	draftLimit = 64 << 20
	draftTerms = 96 << 20
	// draftGroup is how many nodes are queued at a time, and draftQueue how many such groups may wait. They hold
	// nodes that the stage may have released.
	draftGroup = 64
	draftQueue = 4
)

// drafter analyses the nodes of a batch on its own goroutine.
type drafter struct {
	Wanted bool // whether an index will be built
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

// add queues a node of the batch. The index handles content in separate blocks later.
func (d *drafter) add(c ipld.CID, n *graph.Node) {
	if d.made++; !d.Wanted || d.made <= draftFrom || n.Content != nil && len(n.Content.Chunks) > 0 {
		return
	}
	if d.draft == nil {
		d.draft, d.queue = d.begin(), make(chan []draftNode, draftQueue)
		d.done.Go(d.run)
	}
	if d.group = append(d.group, draftNode{c, n}); len(d.group) == draftGroup {
		d.queue <- d.group
		d.group = make([]draftNode, 0, draftGroup)
	}
}

func (d *drafter) begin() *index.Draft {
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

// End waits for the goroutine and returns its draft, or nil.
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
