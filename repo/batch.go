package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/parallel"
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
	digests                               *prolly.Map // no change line is about these two
	profile                               ipld.CID

	drafts drafter
	fresh  *freshTrees
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

	secrets secretLog
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

	repeats int // lines of this embedding before it that said the same as the line before them
	// onBase is what the first such line made of the embedding before the batch, nil where a line
	// removed that one first.
	onBase *graph.Embedding
}

// follow makes p the line after another one of the same embedding. The text is that of the node after
// the batch for both, so that they say the same where all else is equal.
func (p *pendingEmbedding) follow(before pendingEmbedding) {
	p.onBase, p.repeats = before.onBase, before.repeats
	if p.made != nil && before.made != nil && bytes.Equal(p.made.Encode(), before.made.Encode()) {
		p.repeats++
	}
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

func newBatch(ctx context.Context, stage *store.Stage, scratch *scratchRoom, base *state, by Stamp) *batch {
	return &batch{
		ctx: ctx, stage: stage, author: by.Author, now: by.Time,
		nodes: newOverlay(base.nodes).apart(scratch, lookOften), // for the ends of each edge
		edges: newOverlay(base.edges).apart(scratch, lookInVain),
		out:   newOverlay(base.out).apart(scratch, lookHardly),
		in:    newOverlay(base.in).apart(scratch, lookHardly),
		marks: newOverlay(base.marks), vectors: newOverlay(base.vectors),
		digests:  base.digests,
		profile:  base.profile,
		embeds:   make(map[string]pendingEmbedding),
		embedded: make(map[graph.ID][]string),
		cites:    make(map[string]cite),
		secrets:  secretLog{opt: by.Secrets},
		fresh:    new(freshTrees),
	}
}

// apply applies all changes and returns the new state, whose graph record is not written yet. With
// strict, what a line cites must exist at the end.
func (b *batch) apply(changes Changes, strict bool) (*state, error) {
	defer b.drafts.end()
	for p := range prepare(b.ctx, changes, b.now) {
		if err := b.change(p); err != nil {
			return nil, err
		}
	}
	if err := b.secrets.verdict(b.count); err != nil {
		return nil, err
	}
	if err := b.makeEmbeddings(); err != nil {
		return nil, err
	}
	if strict {
		if err := b.checkCites(); err != nil {
			return nil, err
		}
	}
	next, err := b.flush()
	if err == nil && strict {
		err = b.checkCircles(next)
	}
	return next, err
}

// change applies one change. Errors name its line.
func (b *batch) change(p *prepared) error {
	if p.err != nil {
		return p.err
	}
	if err := b.ctx.Err(); err != nil {
		return err
	}
	b.count++
	b.secrets.note(&p.Change, p.secrets)
	var err error
	switch {
	case p.Node != nil:
		err = b.node(p)
	case p.Edge != nil:
		err = b.edge(p)
	case p.Mark != nil:
		err = b.mark(&p.Change, p.Mark)
	case p.Embedding != nil:
		err = b.embedding(p)
	default:
		err = b.remove(p.Remove)
	}
	return p.At(err)
}

// flush writes the trees, side by side.
func (b *batch) flush() (*state, error) {
	s := &state{get: b.stage, digests: b.digests, profile: b.profile}
	var trees []func() error
	flush := func(name string, from *overlay, to **prolly.Map) {
		trees = append(trees, func() error {
			m, entries, err := from.flush(b.ctx)
			if err != nil {
				return fmt.Errorf("write %s tree: %w", name, err)
			}
			*to = m
			b.fresh.add(m, entries)
			return nil
		})
	}
	flush("nodes", b.nodes, &s.nodes)
	flush("edges", b.edges, &s.edges)
	flush("out", b.out, &s.out)
	flush("in", b.in, &s.in)
	flush("marks", b.marks, &s.marks)
	flush("vectors", b.vectors, &s.vectors)
	if err := parallel.Do(trees...); err != nil {
		return nil, err
	}
	return s, nil
}

// put stages a record and links it in a tree.
func (b *batch) put(tree *overlay, key, data []byte) error {
	return b.putBlock(tree, key, store.NewBlock(ipld.DagCBOR, data))
}

func (b *batch) putBlock(tree *overlay, key []byte, block store.Block) error {
	tree.setLink(key, block.CID)
	return b.stage.Put(b.ctx, block)
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

func (b *batch) node(p *prepared) error {
	if p.id.IsZero() {
		return b.fact(p)
	}
	old, err := b.findNode(p.id)
	if errors.Is(err, store.ErrRedacted) {
		old, err = nil, nil // made anew: nothing of it is left to change
	}
	if err != nil {
		return err
	}
	if old == nil {
		if p.made != nil {
			return p.made
		}
		return b.putNode(p.Node, p.node, p.block)
	}
	n, changed, err := p.Node.Apply(old, p.Now(b.now))
	if err != nil {
		return err
	}
	if !changed {
		b.unchanged++
		return nil
	}
	return b.putNode(p.Node, n, store.NewBlock(ipld.DagCBOR, n.Encode()))
}

// fact makes a node whose content decides its id: the first candidate id that is free, unless one
// before it holds the same fact. A candidate that holds another was edited since it was made.
func (b *batch) fact(p *prepared) error {
	if p.made != nil {
		return p.made
	}
	n, block := p.node, p.block // with the first candidate
	canonical := n.Canonical()
	for i := uint64(0); ; i++ {
		if i > 0 {
			n.ID = graph.ContentID(canonical, i)
			block = store.NewBlock(ipld.DagCBOR, n.Encode())
		}
		old, err := b.findNode(n.ID)
		if err != nil {
			return err
		}
		if old == nil {
			return b.putNode(p.Node, n, block)
		}
		if bytes.Equal(old.Canonical(), canonical) {
			b.duplicates++
			return nil
		}
	}
}

// putNode stages a node, whose record is in block, and the content that came with it.
func (b *batch) putNode(c *graph.NodeChange, n *graph.Node, block store.Block) error {
	for _, chunk := range c.Chunks {
		err := b.stage.Put(b.ctx, store.Block{CID: chunk.CID, Data: chunk.Data})
		if err != nil {
			return err
		}
	}
	if err := b.putBlock(b.nodes, n.ID[:], block); err != nil {
		return err
	}
	return b.drafts.add(block.CID, n)
}

func (b *batch) edge(p *prepared) error {
	old, err := b.findEdge(p.id)
	if err != nil {
		return err
	}
	if old == nil {
		if p.made != nil {
			return p.made
		}
		return b.putEdge(p, p.edge, p.block)
	}
	e, changed, err := p.Edge.Apply(old)
	if err != nil {
		return err
	}
	if !changed {
		b.unchanged++
		return nil
	}
	return b.putEdge(p, e, store.NewBlock(ipld.DagCBOR, e.Encode()))
}

func (b *batch) putEdge(p *prepared, e *graph.Edge, block store.Block) error {
	value := adjacency.Value(e)
	b.out.set(adjacency.OutKey(e), value)
	b.in.set(adjacency.InKey(e), value)
	if b.near != nil {
		b.setNear(e.ID, e.Src, e.Dst)
	}
	err := b.citeUnlessThere("edge", e.ID[:], &p.Change,
		citedNeed{need{graph.OnNode, e.Src}, "edge.src", p.Edge.Src},
		citedNeed{need{graph.OnNode, e.Dst}, "edge.dst", p.Edge.Dst})
	if err != nil {
		return err
	}
	return b.putBlock(b.edges, e.ID[:], block)
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
		m, err = mc.Make(b.author, c.Now(b.now))
	} else {
		var changed bool
		m, changed, err = mc.Apply(old, b.author, c.Now(b.now))
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

func (b *batch) embedding(p *prepared) error {
	ec, id := p.Embedding, p.id
	key := graph.EmbeddingKey(id, ec.Model)
	pending := pendingEmbedding{
		node: id, ref: ec.Node, made: p.embedding, err: p.made, file: p.File, line: p.Line,
	}
	if before, ok := b.embeds[string(key)]; ok {
		pending.follow(before)
	} else {
		b.embedded[id] = append(b.embedded[id], ec.Model)
		gone, err := b.vectors.removed(key)
		if err != nil {
			return err
		}
		if !gone {
			pending.onBase = p.embedding
		}
	}
	b.embeds[string(key)] = pending
	// Holds the place until makeEmbeddings: an embedding that a later line removes is not made.
	b.vectors.setLink(key, ipld.Sum(ipld.DagCBOR, key))
	return b.citeUnlessThere("embedding", key, &p.Change,
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
