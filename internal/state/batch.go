package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/parallel"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// Batch applies changes to a state, in order, as clause 5.2 of the specification says. It stages records at once
// and writes trees once at the end. Memory is a few hundred bytes a change.
type Batch struct {
	Ctx    context.Context
	Stage  *store.Stage
	author string
	Now    graph.Time

	Nodes, Edges, Out, In, Marks, Vectors *overlay
	digests                               *prolly.Map // no change line edits these two
	Profile                               ipld.CID

	Drafts drafter
	Fresh  *FreshTrees
	// near lists, by node, the edges this batch set. Together with the node's bucket in the base they are all its
	// edges. nil until something is removed.
	near map[graph.ID][]graph.ID
	// embeds holds embeddings to make at the end, when their nodes are final.
	embeds map[string]pendingEmbedding
	// embedded lists, by node, the models that this batch embedded it with.
	embedded map[graph.ID][]string
	meaning  meant
	// cites records, by tree key and kind, which line set an edge, mark or embedding whose references may be
	// missing at the end.
	cites map[string]cite

	Count, Duplicates, Unchanged int

	Secrets SecretLog
}

// pendingEmbedding is an embedding whose text is not known yet, or the reason why it cannot be made. The change
// itself, whose vector is eight times as large, is dropped.
type pendingEmbedding struct {
	node graph.ID
	ref  graph.Ref // to the node, as the line names it
	made *graph.Embedding
	err  error
	file string // where the line is
	line int

	repeats int // preceding lines of this embedding that equal the line before them
	// onBase is the result of the first such line for the embedding before the batch, or nil if a line removed that one
	// first.
	onBase *graph.Embedding
}

// follow makes p the next line after before, of the same embedding. Both use the node's text after the batch, so
// they are equal if everything else is.
func (p *pendingEmbedding) follow(before pendingEmbedding) {
	p.onBase, p.repeats = before.onBase, before.repeats
	if p.made != nil && before.made != nil && bytes.Equal(p.made.Encode(), before.made.Encode()) {
		p.repeats++
	}
}

// cite is the place of a line, and what must exist at the end of the batch.
type cite struct {
	file  string
	line  int
	order int // among the changes of the batch
	needs [2]citedNeed
}

// citedNeed is a reference of a line, named as in the line.
type citedNeed struct {
	Need  // On is "" if there is none
	field string
	ref   graph.Ref // zero: use the id
}

func (n *citedNeed) name() string {
	if n.ref.IsZero() {
		return n.Id.String()
	}
	return n.ref.String()
}

// NewBatch returns a batch of changes to base. Records go to stage, and edits that outgrow memory to scratch; with
// a nil scratch all edits stay in memory.
func NewBatch(ctx context.Context, stage *store.Stage, scratch *ScratchRoom, base *State, by Stamp) *Batch {
	return &Batch{
		Ctx: ctx, Stage: stage, author: by.Author, Now: by.Time,
		Nodes: NewOverlay(base.Nodes).Apart(scratch, lookOften), // for the ends of each edge
		Edges: NewOverlay(base.Edges).Apart(scratch, LookInVain),
		Out:   NewOverlay(base.Out).Apart(scratch, lookHardly),
		In:    NewOverlay(base.In).Apart(scratch, lookHardly),
		Marks: NewOverlay(base.Marks), Vectors: NewOverlay(base.Vectors),
		digests:  base.Digests,
		Profile:  base.Profile,
		embeds:   make(map[string]pendingEmbedding),
		embedded: make(map[graph.ID][]string),
		cites:    make(map[string]cite),
		Secrets:  SecretLog{Opt: by.Secrets},
		Fresh:    new(FreshTrees),
		meaning:  meant{by: by.Meaning},
	}
}

// Apply applies all changes and returns the new state, whose graph record is not written yet. With strict,
// everything that lines reference must exist at the end.
func (b *Batch) Apply(changes Changes, strict bool) (*State, error) {
	defer b.Drafts.End()
	for p := range Prepare(b.Ctx, changes, b.Now) {
		if err := b.Change(p); err != nil {
			return nil, err
		}
	}
	if err := b.Secrets.Verdict(b.Count); err != nil {
		return nil, err
	}
	if err := b.makeEmbeddings(); err != nil {
		return nil, err
	}
	if err := b.embedMeant(); err != nil {
		return nil, err
	}
	if strict {
		if err := b.checkCites(); err != nil {
			return nil, err
		}
	}
	next, err := b.Flush()
	if err == nil && strict {
		err = b.checkCircles(next)
	}
	return next, err
}

// Change applies one change. Errors name its line.
func (b *Batch) Change(p *prepared) error {
	if p.Err != nil {
		return p.Err
	}
	if err := b.Ctx.Err(); err != nil {
		return err
	}
	b.Count++
	b.Secrets.Note(&p.Change, p.secrets)
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

// Flush writes the trees concurrently.
func (b *Batch) Flush() (*State, error) {
	s := &State{Get: b.Stage, Digests: b.digests, Profile: b.Profile}
	var trees []func() error
	flush := func(name string, from *overlay, to **prolly.Map) {
		trees = append(trees, func() error {
			m, entries, err := from.Flush(b.Ctx)
			if err != nil {
				return fmt.Errorf("write %s tree: %w", name, err)
			}
			*to = m
			b.Fresh.Add(m, entries)
			return nil
		})
	}
	flush("nodes", b.Nodes, &s.Nodes)
	flush("edges", b.Edges, &s.Edges)
	flush("out", b.Out, &s.Out)
	flush("in", b.In, &s.In)
	flush("marks", b.Marks, &s.Marks)
	flush("vectors", b.Vectors, &s.Vectors)
	if err := parallel.Do(trees...); err != nil {
		return nil, err
	}
	return s, nil
}

// put stages a record and links it in a tree.
func (b *Batch) put(tree *overlay, key, data []byte) error {
	return b.putBlock(tree, key, store.NewBlock(ipld.DagCBOR, data))
}

func (b *Batch) putBlock(tree *overlay, key []byte, block store.Block) error {
	tree.SetLink(key, block.CID)
	return b.Stage.Put(b.Ctx, block)
}

// find returns the record that a tree links to under key, or nil.
func find[T any](
	b *Batch, tree *overlay, key []byte,
	read func(context.Context, store.Getter, ipld.CID) (*T, error),
) (*T, error) {
	item, err := tree.Get(b.Ctx, key)
	if err != nil || item == nil {
		return nil, err
	}
	c, err := LinkItem(item)
	if err != nil {
		return nil, err
	}
	return read(b.Ctx, b.Stage, c)
}

func (b *Batch) findNode(id graph.ID) (*graph.Node, error) {
	return find(b, b.Nodes, id[:], commit.ReadNode)
}

// FindEdge returns an edge as changed so far, or nil.
func (b *Batch) FindEdge(id graph.ID) (*graph.Edge, error) {
	return find(b, b.Edges, id[:], commit.ReadEdge)
}

func (b *Batch) node(p *prepared) error {
	if p.id.IsZero() {
		return b.fact(p)
	}
	old, err := b.findNode(p.id)
	if errors.Is(err, store.ErrRedacted) {
		old, err = nil, nil // set again in this batch: nothing of it is left to change
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
	n, changed, err := p.Node.Apply(old, p.Now(b.Now))
	if err != nil {
		return err
	}
	if !changed {
		b.Unchanged++
		return nil
	}
	return b.putNode(p.Node, n, store.NewBlock(ipld.DagCBOR, n.Encode()))
}

// fact makes a node whose id depends on its content: the first free candidate id, unless an earlier candidate holds
// the same fact. A candidate that holds another fact was edited after it was made.
func (b *Batch) fact(p *prepared) error {
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
			b.Duplicates++
			return nil
		}
	}
}

// putNode stages a node, whose record is in block, and the content that came with it.
func (b *Batch) putNode(c *graph.NodeChange, n *graph.Node, block store.Block) error {
	for _, chunk := range c.Chunks {
		err := b.Stage.Put(b.Ctx, store.Block{CID: chunk.CID, Data: chunk.Data})
		if err != nil {
			return err
		}
	}
	if err := b.putBlock(b.Nodes, n.ID[:], block); err != nil {
		return err
	}
	b.meaning.note(n.ID)
	b.Drafts.add(block.CID, n)
	return nil
}

func (b *Batch) edge(p *prepared) error {
	old, err := b.FindEdge(p.id)
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
		b.Unchanged++
		return nil
	}
	return b.putEdge(p, e, store.NewBlock(ipld.DagCBOR, e.Encode()))
}

func (b *Batch) putEdge(p *prepared, e *graph.Edge, block store.Block) error {
	value := adjacency.Value(e)
	b.Out.Set(adjacency.OutKey(e), value)
	b.In.Set(adjacency.InKey(e), value)
	if b.near != nil {
		b.setNear(e.ID, e.Src, e.Dst)
	}
	err := b.citeUnlessThere("edge", e.ID[:], &p.Change,
		citedNeed{Need{graph.OnNode, e.Src}, "edge.src", p.Edge.Src},
		citedNeed{Need{graph.OnNode, e.Dst}, "edge.dst", p.Edge.Dst})
	if err != nil {
		return err
	}
	return b.putBlock(b.Edges, e.ID[:], block)
}

func (b *Batch) mark(c *graph.Change, mc *graph.MarkChange) error {
	on, id := mc.On.Target()
	key := graph.MarkKey(on, id)
	old, err := find(b, b.Marks, key, commit.ReadMark)
	if err != nil {
		return err
	}
	var m *graph.Mark
	if old == nil {
		m, err = mc.Make(b.author, c.Now(b.Now))
	} else {
		var changed bool
		m, changed, err = mc.Apply(old, b.author, c.Now(b.Now))
		if err == nil && !changed {
			b.Unchanged++
			return nil
		}
	}
	if err != nil {
		return err
	}
	needs := []citedNeed{{Need{on, id}, "mark." + string(on), mc.On.Node}}
	if !m.By.IsZero() {
		needs = append(needs, citedNeed{Need{graph.OnNode, m.By}, "mark.by", mc.By})
	}
	b.cite("mark", key, c, needs...)
	return b.put(b.Marks, key, m.Encode())
}

func (b *Batch) embedding(p *prepared) error {
	ec, id := p.Embedding, p.id
	key := graph.EmbeddingKey(id, ec.Model)
	pending := pendingEmbedding{
		node: id, ref: ec.Node, made: p.embedding, err: p.made, file: p.File, line: p.Line,
	}
	if before, ok := b.embeds[string(key)]; ok {
		pending.follow(before)
	} else {
		b.embedded[id] = append(b.embedded[id], ec.Model)
		gone, err := b.Vectors.Removed(key)
		if err != nil {
			return err
		}
		if !gone {
			pending.onBase = p.embedding
		}
	}
	b.embeds[string(key)] = pending
	// Reserves the key until makeEmbeddings: an embedding that a later line removes is not made.
	b.Vectors.SetLink(key, ipld.Sum(ipld.DagCBOR, key))
	return b.citeUnlessThere("embedding", key, &p.Change, citedNeed{Need{graph.OnNode, id}, "embedding.node", ec.Node})
}

// citeUnlessThere is cite for items that are removed with their nodes: if the nodes exist now, the item cannot
// outlive them, so nothing need be recorded.
func (b *Batch) citeUnlessThere(what string, key []byte, c *graph.Change, needs ...citedNeed) error {
	for i := range needs {
		there, err := b.Nodes.Has(b.Ctx, needs[i].Id[:])
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

func (b *Batch) cite(what string, key []byte, c *graph.Change, needs ...citedNeed) {
	at := cite{file: c.File, line: c.Line, order: b.Count}
	copy(at.needs[:], needs)
	b.cites[what+string(key)] = at
}
