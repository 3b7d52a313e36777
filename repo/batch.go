package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/store"
)

// batch applies changes to a state, one after the other, as clause 5.2 of the specification says.
// Records are written to the stage as they are made, trees once at the end: memory is a few
// hundred bytes a change.
type batch struct {
	ctx    context.Context
	stage  *store.Stage
	author string
	now    graph.Time

	nodes, edges, out, in, marks, vectors *overlay
	profile                               ipld.CID // no change line is about it

	drafts drafter
	// near lists the edges this batch set, by each end: with a node's bucket in the base they are
	// all its edges. nil until something is removed.
	near map[graph.ID][]graph.ID
	// embeds are the embeddings to make once the nodes they are of are known as they will be.
	embeds map[string]pendingEmbedding
	// embedded lists the models this batch embedded a node with.
	embedded map[graph.ID][]string
	// cites remembers which line gave an edge, mark or embedding, by its tree key and kind, where
	// what it cites may be missing in the end.
	cites map[string]cite

	count, duplicates, unchanged int
}

// pendingEmbedding is an embedding whose text is not known yet, or why it cannot be made. The
// change itself, with a vector eight times as large, is not kept.
type pendingEmbedding struct {
	node graph.ID
	ref  graph.Ref // to the node, as the line has it
	made *graph.Embedding
	err  error
	file string // where the line was
	line int
}

// cite is where a line was, and what must exist when the batch is over.
type cite struct {
	file  string
	line  int
	order int // among the changes of the batch
	needs [2]citedNeed
}

// citedNeed is what a line cites: it names it as the line did.
type citedNeed struct {
	need  // on "" where there is none
	field string
	ref   graph.Ref // zero for the id
}

func (n *citedNeed) name() string {
	if n.ref.IsZero() {
		return n.id.String()
	}
	return n.ref.String()
}

func newBatch(ctx context.Context, t *tx, base *state, by Stamp) *batch {
	return &batch{
		ctx: ctx, stage: t.stage, author: by.Author, now: by.Time,
		nodes: newOverlay(base.nodes), edges: newOverlay(base.edges),
		out: newOverlay(base.out), in: newOverlay(base.in),
		marks: newOverlay(base.marks), vectors: newOverlay(base.vectors),
		profile:  base.profile,
		embeds:   make(map[string]pendingEmbedding),
		embedded: make(map[graph.ID][]string),
		cites:    make(map[string]cite),
	}
}

// apply applies all changes and returns the new state, whose graph record is not written yet. With
// strict, what a line cites must exist at the end.
func (b *batch) apply(changes Changes, strict bool) (*state, error) {
	defer b.drafts.end()
	for c, err := range changes {
		if err != nil {
			return nil, err
		}
		if err := b.ctx.Err(); err != nil {
			return nil, err
		}
		if err := c.Validate(); err != nil {
			return nil, c.At(err)
		}
		b.count++
		if err := b.change(&c); err != nil {
			return nil, c.At(err)
		}
	}
	if err := b.makeEmbeddings(); err != nil {
		return nil, err
	}
	if strict {
		if err := b.checkCites(); err != nil {
			return nil, err
		}
	}
	return b.flush()
}

func (b *batch) change(c *graph.Change) error {
	switch {
	case c.Node != nil:
		return b.node(c.Node)
	case c.Edge != nil:
		return b.edge(c, c.Edge)
	case c.Mark != nil:
		return b.mark(c, c.Mark)
	case c.Embedding != nil:
		return b.embedding(c, c.Embedding)
	default:
		return b.remove(c.Remove)
	}
}

func (b *batch) flush() (*state, error) {
	s := &state{get: b.stage, profile: b.profile}
	trees := []struct {
		name string
		from *overlay
		to   **prolly.Map
	}{
		{"nodes", b.nodes, &s.nodes}, {"edges", b.edges, &s.edges}, {"out", b.out, &s.out},
		{"in", b.in, &s.in}, {"marks", b.marks, &s.marks}, {"vectors", b.vectors, &s.vectors},
	}
	for _, t := range trees {
		var err error
		if *t.to, err = t.from.flush(b.ctx); err != nil {
			return nil, fmt.Errorf("write %s tree: %w", t.name, err)
		}
	}
	return s, nil
}

// put stages a record and links it in a tree.
func (b *batch) put(tree *overlay, key, data []byte) error {
	_, err := b.putBlock(tree, key, data)
	return err
}

func (b *batch) putBlock(tree *overlay, key, data []byte) (ipld.CID, error) {
	block := store.NewBlock(ipld.DagCBOR, data)
	tree.setLink(key, block.CID)
	return block.CID, b.stage.Put(b.ctx, block)
}

// find returns the record that a tree links to under key, nil where there is none.
func find[T any](
	b *batch, tree *overlay, key []byte,
	read func(context.Context, store.Getter, ipld.CID) (*T, error),
) (*T, error) {
	item, err := tree.get(b.ctx, key)
	if err != nil || item == nil {
		return nil, err
	}
	c, err := linkItem(item)
	if err != nil {
		return nil, err
	}
	return read(b.ctx, b.stage, c)
}

func (b *batch) findNode(id graph.ID) (*graph.Node, error) {
	return find(b, b.nodes, id[:], commit.ReadNode)
}

func (b *batch) findEdge(id graph.ID) (*graph.Edge, error) {
	return find(b, b.edges, id[:], commit.ReadEdge)
}

func (b *batch) node(c *graph.NodeChange) error {
	id := c.Target()
	if id.IsZero() {
		return b.fact(c)
	}
	old, err := b.findNode(id)
	if errors.Is(err, store.ErrRedacted) {
		old, err = nil, nil // made anew: nothing of it is left to change
	}
	if err != nil {
		return err
	}
	if old == nil {
		n, err := c.Make(b.now)
		if err != nil {
			return err
		}
		return b.putNode(c, n)
	}
	n, changed, err := c.Apply(old, b.now)
	if err != nil {
		return err
	}
	if !changed {
		b.unchanged++
		return nil
	}
	return b.putNode(c, n)
}

// fact makes a node whose content decides its id: the first candidate id that is free, unless one
// before it holds the same fact. A candidate that holds another was edited since it was made.
func (b *batch) fact(c *graph.NodeChange) error {
	n, err := c.Make(b.now)
	if err != nil {
		return err
	}
	canonical := n.Canonical()
	for i := uint64(0); ; i++ {
		n.ID = graph.ContentID(canonical, i)
		old, err := b.findNode(n.ID)
		if err != nil {
			return err
		}
		if old == nil {
			return b.putNode(c, n)
		}
		if bytes.Equal(old.Canonical(), canonical) {
			b.duplicates++
			return nil
		}
	}
}

func (b *batch) putNode(c *graph.NodeChange, n *graph.Node) error {
	for _, chunk := range c.Chunks {
		err := b.stage.Put(b.ctx, store.Block{CID: chunk.CID, Data: chunk.Data})
		if err != nil {
			return err
		}
	}
	cid, err := b.putBlock(b.nodes, n.ID[:], n.Encode())
	if err != nil {
		return err
	}
	return b.drafts.add(cid, n)
}

func (b *batch) edge(c *graph.Change, ec *graph.EdgeChange) error {
	id := ec.Target()
	old, err := b.findEdge(id)
	if err != nil {
		return err
	}
	if old == nil {
		e, err := ec.Make(b.now)
		if err != nil {
			return err
		}
		return b.putEdge(c, e)
	}
	e, changed, err := ec.Apply(old)
	if err != nil {
		return err
	}
	if !changed {
		b.unchanged++
		return nil
	}
	return b.putEdge(c, e)
}

func (b *batch) putEdge(c *graph.Change, e *graph.Edge) error {
	b.out.set(adjacency.OutKey(e), adjacency.Value(e))
	b.in.set(adjacency.InKey(e), adjacency.Value(e))
	if b.near != nil {
		b.setNear(e.ID, e.Src, e.Dst)
	}
	err := b.citeUnlessThere("edge", e.ID[:], c,
		citedNeed{need{graph.OnNode, e.Src}, "edge.src", c.Edge.Src},
		citedNeed{need{graph.OnNode, e.Dst}, "edge.dst", c.Edge.Dst})
	if err != nil {
		return err
	}
	return b.put(b.edges, e.ID[:], e.Encode())
}

func (b *batch) mark(c *graph.Change, mc *graph.MarkChange) error {
	on, id := mc.On.Target()
	key := graph.MarkKey(on, id)
	old, err := find(b, b.marks, key, commit.ReadMark)
	if err != nil {
		return err
	}
	var m *graph.Mark
	if old == nil {
		m, err = mc.Make(b.author, b.now)
	} else {
		var changed bool
		m, changed, err = mc.Apply(old, b.author, b.now)
		if err == nil && !changed {
			b.unchanged++
			return nil
		}
	}
	if err != nil {
		return err
	}
	needs := []citedNeed{{need{on, id}, "mark." + string(on), mc.On.Node}}
	if !m.By.IsZero() {
		needs = append(needs, citedNeed{need{graph.OnNode, m.By}, "mark.by", mc.By})
	}
	b.cite("mark", key, c, needs...)
	return b.put(b.marks, key, m.Encode())
}

func (b *batch) embedding(c *graph.Change, ec *graph.EmbeddingChange) error {
	id := ec.Node.Target()
	key := graph.EmbeddingKey(id, ec.Model)
	if _, ok := b.embeds[string(key)]; !ok {
		b.embedded[id] = append(b.embedded[id], ec.Model)
	}
	made, err := ec.Make([32]byte{})
	b.embeds[string(key)] = pendingEmbedding{id, ec.Node, made, err, c.File, c.Line}
	// Holds the place until makeEmbeddings: an embedding that a later line removes is not made.
	b.vectors.setLink(key, ipld.Sum(ipld.DagCBOR, key))
	return b.citeUnlessThere("embedding", key, c,
		citedNeed{need{graph.OnNode, id}, "embedding.node", ec.Node})
}

// citeUnlessThere is cite for what goes with the nodes it is of: where they are there now, it
// cannot be in the end without them, and nothing need be remembered.
func (b *batch) citeUnlessThere(
	what string, key []byte, c *graph.Change, needs ...citedNeed,
) error {
	for i := range needs {
		there, err := b.nodes.has(b.ctx, needs[i].id[:])
		if err != nil {
			return err
		}
		if !there {
			b.cite(what, key, c, needs...)
			return nil
		}
	}
	if len(b.cites) > 0 {
		delete(b.cites, what+string(key))
	}
	return nil
}

func (b *batch) cite(what string, key []byte, c *graph.Change, needs ...citedNeed) {
	at := cite{file: c.File, line: c.Line, order: b.count}
	copy(at.needs[:], needs)
	b.cites[what+string(key)] = at
}
