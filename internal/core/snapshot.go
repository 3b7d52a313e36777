package core

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/cache"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view"
	"github.com/mnem-project/mnem/internal/view/index"
	"github.com/mnem-project/mnem/ipld"
)

// Snapshot is the memory as one commit, or one stage, left it. It is immutable and safe for
// concurrent use as long as its repository is open.
type Snapshot struct {
	Repo   *Repo
	Id     ipld.CID       // the commit; undefined for a stage and for the state before the first
	Record *commit.Commit // nil likewise
	State  *state.State
}

// Snapshot returns the memory at a revision (see Resolve).
func (r *Repo) Snapshot(ctx context.Context, rev string) (*Snapshot, error) {
	return r.snapshot(ctx, rev, Revisions.ResolveIn)
}

// SnapshotAsked is Snapshot for the commit that people mean: see Revisions.ResolveAsked.
func (r *Repo) SnapshotAsked(ctx context.Context, rev string) (*Snapshot, error) {
	return r.snapshot(ctx, rev, Revisions.ResolveAsked)
}

func (r *Repo) snapshot(
	ctx context.Context, rev string, resolve func(Revisions, context.Context, *View, string) (ipld.CID, error),
) (s *Snapshot, err error) {
	err = r.afresh(ctx, func(store.Head) error {
		v, err := r.Current(ctx)
		if err != nil {
			return err
		}
		c, err := resolve(r.Revisions(), ctx, v, rev)
		if err == nil {
			s, err = r.At(ctx, c)
		}
		return err
	})
	return s, err
}

// At returns the memory at a commit; the undefined CID gives the empty memory.
func (r *Repo) At(ctx context.Context, c ipld.CID) (*Snapshot, error) {
	s := &Snapshot{Repo: r, Id: c}
	if !c.Defined() {
		var err error
		s.State, err = r.LoadState(ctx, state.Roots{})
		return s, err
	}
	r.Keep.Lease(c) // before reading: what is found now stays
	rec, err := r.ReadCommit(ctx, c)
	if err == nil {
		s.Record = rec
		s.State, err = r.LoadState(ctx, state.RootsOf(rec))
	}
	if err != nil {
		r.Keep.release(c)
		return nil, err
	}
	// There is nothing to close in a snapshot: the lease ends when its state cannot be reached any more.
	runtime.AddCleanup(s.State, func(c ipld.CID) { r.Keep.release(c) }, c)
	return s, nil
}

// LoadState reads a state for reading. Empty trees, which are not stored before the first commit,
// live in a buffer of the state's own.
func (r *Repo) LoadState(ctx context.Context, at state.Roots) (*state.State, error) {
	buffer := store.NewStage(r.Facts(), 0)
	return state.LoadState(ctx, prolly.NewNodes(buffer, r.Trees), buffer, at)
}

// CID returns the snapshot's commit, undefined if it is none.
func (s *Snapshot) CID() ipld.CID { return s.Id }

// Commit returns the commit record, nil if the snapshot has none.
func (s *Snapshot) Commit() *commit.Commit { return s.Record }

// Message returns the text of the commit's message as Repo.Message does, "" if there is no commit.
func (s *Snapshot) Message(ctx context.Context) (string, error) {
	if s.Record == nil {
		return "", nil
	}
	return s.Repo.Message(ctx, s.Record.Message)
}

// Graph returns the CID of the graph: the identity of what is known here. It is undefined before the first commit.
func (s *Snapshot) Graph() ipld.CID { return s.State.Root }

// Sizes returns the numbers of nodes, edges, marks and embeddings.
func (s *Snapshot) Sizes() (nodes, edges, marks, vectors uint64) {
	st := s.State
	return st.Nodes.Len(), st.Edges.Len(), st.Marks.Len(), st.Vectors.Len()
}

// Node returns a node and the CID of its record. It returns a *NotFoundError if there is none. A
// node that was purged is stood in for by one with its id, the type RedactedType and a summary that
// says why; Redactions.Read of the CID tells it from others.
func (s *Snapshot) Node(ctx context.Context, id graph.ID) (*graph.Node, ipld.CID, error) {
	n, c, err := state.Fetch(ctx, s.KeptNodes(), s.State.Nodes, id[:],
		func(ctx context.Context, get store.Getter, c ipld.CID) (*graph.Node, error) {
			return state.ReadShown(ctx, get, id, c)
		})
	if err == nil && n == nil {
		err = &state.NotFoundError{What: "node", Name: id.String()}
	}
	return n, c, err
}

// KeptNodes returns a reader of the blocks of nodes through the cache of those read last. What it returns must not be
// changed.
func (s *Snapshot) KeptNodes() store.Getter { return keptNodes{s.State.Get, &s.Repo.NodeBlocks} }

type keptNodes struct {
	store.Getter
	kept *cache.Cache[ipld.CID, []byte]
}

// Get implements store.Getter.
func (k keptNodes) Get(ctx context.Context, c ipld.CID) ([]byte, error) {
	data, ok, epoch := k.kept.Get(c)
	if ok {
		return data, nil
	}
	data, err := k.Getter.Get(ctx, c)
	if err == nil {
		k.kept.AddSince(epoch, c, data, int64(len(data)))
	}
	return data, err
}

// Edge returns an edge and the CID of its record. It returns a *NotFoundError if there is none.
func (s *Snapshot) Edge(ctx context.Context, id graph.ID) (*graph.Edge, ipld.CID, error) {
	e, c, err := s.State.Edge(ctx, id)
	if err == nil && e == nil {
		err = &state.NotFoundError{What: "edge", Name: id.String()}
	}
	return e, c, err
}

// Mark returns the mark of a node or edge, nil if it has none.
func (s *Snapshot) Mark(ctx context.Context, on graph.Target, id graph.ID) (*graph.Mark, error) {
	return s.State.Mark(ctx, on, id)
}

// Content returns the whole text of a node's content, "" for nil.
func (s *Snapshot) Content(ctx context.Context, c *graph.Content) (string, error) {
	return s.State.Content(ctx, c)
}

// Adjacency returns the adjacency trees, for walking.
func (s *Snapshot) Adjacency() adjacency.Trees { return s.State.Adjacency() }

// Name resolves the name of a node: its exact key, else its full id, else a unique prefix of its id
// of at least 4 hex digits. "key:" and "id:" before the name force one reading. It returns a
// *NotFoundError or an *AmbiguousError.
func (s *Snapshot) Name(ctx context.Context, name string) (graph.ID, error) {
	if key, ok := strings.CutPrefix(name, "key:"); ok {
		return s.named(ctx, name, graph.NodeID(key))
	}
	rest, forced := strings.CutPrefix(name, "id:")
	if !forced {
		id, err := s.named(ctx, name, graph.NodeID(name))
		if !errors.Is(err, store.ErrNotFound) {
			return id, err
		}
	}
	if id, err := graph.ParseID(rest); err == nil {
		return s.named(ctx, name, id)
	}
	return only(ctx, s.State.Nodes, "node", name, rest)
}

// EdgeName resolves the name of an edge: its full id, or a unique prefix of at least 4 hex digits,
// with "id:" before it or not. It returns a *NotFoundError or an *AmbiguousError.
func (s *Snapshot) EdgeName(ctx context.Context, name string) (graph.ID, error) {
	return only(ctx, s.State.Edges, "edge", name, strings.TrimPrefix(name, "id:"))
}

func (s *Snapshot) named(ctx context.Context, name string, id graph.ID) (graph.ID, error) {
	_, ok, err := s.State.Nodes.Get(ctx, id[:])
	if err == nil && !ok {
		err = &state.NotFoundError{What: "node", Name: name}
	}
	return id, err
}

// only returns the only id of a tree that begins with a prefix of hex digits. Errors call what the
// tree holds what, and what was asked for name.
func only(ctx context.Context, tree *prolly.Map, what, name, prefix string) (graph.ID, error) {
	id, n, err := ByPrefix(ctx, tree, prefix)
	switch {
	case err != nil:
		return graph.ID{}, fmt.Errorf("find %s %q: %w", what, prefix, err)
	case n == 0:
		return graph.ID{}, &state.NotFoundError{What: what, Name: name}
	case n > 1:
		return graph.ID{}, &state.AmbiguousError{What: what, Name: name}
	}
	return id, nil
}

// ByPrefix returns the first id of a tree that begins with a prefix of hex digits and how many there
// are, 2 standing for more than one.
func ByPrefix(ctx context.Context, tree *prolly.Map, prefix string) (first graph.ID, n int, err error) {
	low, digits, ok := prefixID(prefix)
	if !ok {
		return first, 0, nil
	}
	for kv, err := range tree.Scan(ctx, low[:], nil) {
		if err != nil {
			return first, 0, err
		}
		id := graph.ID(kv.Key)
		if !hasPrefix(id, low, digits) {
			break
		}
		if n++; n > 1 {
			return first, n, nil
		}
		first = id
	}
	return first, n, nil
}

// prefixID reads a prefix of an id's text form, in lower case, hyphens at their places allowed, as the smallest
// id that has it and the number of hex digits. It is not ok under 4 digits.
func prefixID(s string) (low graph.ID, digits int, ok bool) {
	for i := 0; i < len(s); i++ {
		var nibble byte
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			nibble = c - '0'
		case c >= 'a' && c <= 'f':
			nibble = c - 'a' + 10
		case c == '-' && (i == 8 || i == 13 || i == 18 || i == 23):
			continue
		default:
			return low, 0, false
		}
		if digits == 2*graph.IDLen {
			return low, 0, false
		}
		low[digits/2] |= nibble << (4 * (1 - digits%2))
		digits++
	}
	return low, digits, digits >= MinPrefix
}

func hasPrefix(id, low graph.ID, digits int) bool {
	full := digits / 2
	if string(id[:full]) != string(low[:full]) {
		return false
	}
	return digits%2 == 0 || id[full]>>4 == low[full]>>4
}

// IDs yields the ids of all nodes in order.
func (s *Snapshot) IDs(ctx context.Context) iter.Seq2[graph.ID, error] {
	return func(yield func(graph.ID, error) bool) {
		for kv, err := range s.State.Nodes.Scan(ctx, nil, nil) {
			var id graph.ID
			if err == nil {
				id = graph.ID(kv.Key)
			}
			if !yield(id, err) || err != nil {
				return
			}
		}
	}
}

// Nodes yields the nodes whose id is greater than after in id order, so that the zero ID gives all
// of them, hidden ones included; for purged ones a stand-in comes (see Node). It holds one node at a
// time. After an error, which comes with the zero NodeEntry, it ends.
func (s *Snapshot) Nodes(ctx context.Context, after graph.ID) iter.Seq2[state.NodeEntry, error] {
	return func(yield func(state.NodeEntry, error) bool) {
		defer runtime.KeepAlive(s.State) // and with it its lease
		state.Records(ctx, s.State.Nodes, s.State.Get, after, state.ReadShown)(
			func(c ipld.CID, n *graph.Node, err error) bool { return yield(state.NodeEntry{CID: c, Node: n}, err) })
	}
}

// Edges yields the edges whose id is greater than after in id order, as Nodes does nodes.
func (s *Snapshot) Edges(ctx context.Context, after graph.ID) iter.Seq2[state.EdgeEntry, error] {
	return func(yield func(state.EdgeEntry, error) bool) {
		defer runtime.KeepAlive(s.State)
		state.Records(ctx, s.State.Edges, s.State.Get, after, state.ReadListed)(
			func(c ipld.CID, e *graph.Edge, err error) bool { return yield(state.EdgeEntry{CID: c, Edge: e}, err) })
	}
}

// Marks yields the marks on nodes or edges in the order of their ids. It holds one mark at a time. After
// an error, which comes with nil, it ends.
func (s *Snapshot) Marks(ctx context.Context, on graph.Target) iter.Seq2[*graph.Mark, error] {
	return func(yield func(*graph.Mark, error) bool) {
		defer runtime.KeepAlive(s.State)
		from := graph.MarkKey(on, graph.ID{})
		to := []byte{from[0] + 1}
		for kv, err := range s.State.Marks.Scan(ctx, from, to) {
			var m *graph.Mark
			if err == nil {
				var c ipld.CID
				if c, err = state.LinkItem(kv.Value); err == nil {
					m, err = commit.ReadMark(ctx, s.State.Get, c)
				}
			}
			if err != nil {
				yield(nil, fmt.Errorf("list: %w", err))
				return
			}
			if !yield(m, nil) {
				return
			}
		}
	}
}

// Diff returns what differs from s to other. Reading it costs what differs, not what there is.
func (s *Snapshot) Diff(other *Snapshot) state.Diff {
	return state.Diff{From: s.State, To: other.State}
}

// AddedNodes yields the nodes of other that s lacks, in id order. It reads what differs, and no
// more of it than is consumed.
func (s *Snapshot) AddedNodes(ctx context.Context, other *Snapshot) iter.Seq2[*graph.Node, error] {
	return func(yield func(*graph.Node, error) bool) {
		for c, err := range prolly.Diff(ctx, s.State.Nodes, other.State.Nodes) {
			var n *graph.Node
			if err == nil && c.Old != nil {
				continue
			}
			if err == nil && len(c.Key) != graph.IDLen {
				err = fmt.Errorf("%w tree key of %d bytes", store.ErrCorrupt, len(c.Key))
			}
			if err == nil {
				n, _, err = other.Node(ctx, graph.ID(c.Key))
			}
			if err == nil && n == nil {
				continue
			}
			if !yield(n, err) || err != nil {
				return
			}
		}
	}
}

// Kinds counts nodes, edges and marks by kind. Node types come from the index if there is one, edge
// types from the keys of the tree that lists them: for 10^5 nodes that is a twentieth of their bytes.
// progress, if not nil, receives the number counted so far.
func (s *Snapshot) Kinds(ctx context.Context, progress func(done int)) (*state.KindCounts, error) {
	if progress == nil {
		progress = func(int) {}
	}
	out := &state.KindCounts{Nodes: make(map[string]int), Edges: make(map[string]int), Marks: make(map[graph.State]int)}
	done := 0
	count := func() {
		done++
		progress(done)
	}
	if err := s.nodeTypes(ctx, out.Nodes, count); err != nil {
		return nil, err
	}
	for kv, err := range s.State.Adjacency().Out.Scan(ctx, nil, nil) {
		if err != nil {
			return nil, fmt.Errorf("count edges: %w", err)
		}
		_, e, err := adjacency.Parse(kv.Key, kv.Value)
		if err != nil {
			return nil, fmt.Errorf("count edges: %w", err)
		}
		out.Edges[e.Type]++
		count()
	}
	for _, on := range []graph.Target{graph.OnNode, graph.OnEdge} {
		for m, err := range s.Marks(ctx, on) {
			if err != nil {
				return nil, fmt.Errorf("count marks: %w", err)
			}
			out.Marks[m.State]++
			count()
		}
	}
	return out, nil
}

func (s *Snapshot) nodeTypes(ctx context.Context, types map[string]int, count func()) error {
	_, err := s.Repo.Store.Derived().Cell(ctx, view.TextsKey(s.State.Root))
	if errors.Is(err, store.ErrNotFound) || !s.Id.Defined() { // to count is no reason to make an index
		return s.nodeTypesRead(ctx, types, count)
	}
	if err != nil {
		return err
	}
	counted := 0
	err = s.WithIndex(ctx, func(x *index.Index) error {
		clear(types)
		counted = 0
		for d, err := range x.Docs(ctx) {
			if err != nil {
				return err
			}
			types[d.Type()]++
			counted++
			count()
		}
		return nil
	})
	if err == nil && counted < int(s.State.Nodes.Len()) { // what was erased is no document
		types[state.RedactedType] += int(s.State.Nodes.Len()) - counted
	}
	return err
}

func (s *Snapshot) nodeTypesRead(ctx context.Context, types map[string]int, count func()) error {
	for e, err := range s.Nodes(ctx, graph.ID{}) {
		if err != nil {
			return err
		}
		types[e.Node.Type]++
		count()
	}
	return nil
}

// EmbeddingState tells whether a node has an embedding by a model, and whether it matches the text.
type EmbeddingState string

// The states of embeddings.
const (
	EmbeddingMissing EmbeddingState = "missing" // there is none, or it was erased
	EmbeddingStale   EmbeddingState = "stale"   // the text has changed since
	EmbeddingCurrent EmbeddingState = "current" // it embeds the current text
)

// NodeEmbedding tells how a node stands with one model.
type NodeEmbedding struct {
	ID    graph.ID
	Type  string // of the node
	State EmbeddingState
	Dims  int // of the dense embedding, 0 if there is none
}

// Embeddings yields all nodes in id order, each with the state of its embedding by a model. It skips nodes with erased
// parts. The text of a node is read only if there is an embedding to compare it with.
func (s *Snapshot) Embeddings(ctx context.Context, model string) iter.Seq2[NodeEmbedding, error] {
	return func(yield func(NodeEmbedding, error) bool) {
		defer runtime.KeepAlive(s.State) // and with it its lease
		for kv, err := range s.State.Nodes.Scan(ctx, nil, nil) {
			var e NodeEmbedding
			if err == nil {
				e, err = s.embeddingOf(ctx, graph.ID(kv.Key), model)
			}
			if errors.Is(err, store.ErrRedacted) {
				continue
			}
			if err != nil {
				err = fmt.Errorf("look for embeddings by %q: %w", model, err)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

func (s *Snapshot) embeddingOf(ctx context.Context, id graph.ID, model string) (NodeEmbedding, error) {
	out := NodeEmbedding{ID: id, State: EmbeddingMissing}
	n, _, err := s.State.Node(ctx, id)
	if err != nil {
		return out, err
	}
	out.Type = n.Type
	item, ok, err := s.State.Vectors.Get(ctx, graph.EmbeddingKey(id, model))
	if err != nil || !ok {
		return out, err
	}
	e, err := view.Embedding(ctx, s.State, item)
	if err != nil || e == nil {
		return out, err
	}
	if e.DType != graph.Sparse {
		out.Dims = e.Dims
	}
	content, err := s.State.Content(ctx, n.Content)
	if err != nil {
		return out, err
	}
	out.State = EmbeddingStale
	if e.Text == graph.TextHash(n, content) {
		out.State = EmbeddingCurrent
	}
	return out, nil
}

// EmbeddedSince reports whether a node has another embedding by a model than it has in an older
// snapshot, or one that it has not there.
func (s *Snapshot) EmbeddedSince(ctx context.Context, old *Snapshot, id graph.ID, model string) (bool, error) {
	key := graph.EmbeddingKey(id, model)
	now, ok, err := s.State.Vectors.Get(ctx, key)
	if err != nil || !ok {
		return false, err
	}
	was, ok, err := old.State.Vectors.Get(ctx, key)
	return err == nil && (!ok || !bytes.Equal(now, was)), err
}

// DenseEmbedding returns the dense embedding of a node, the first by the names of models; nil for none.
func (s *Snapshot) DenseEmbedding(ctx context.Context, id graph.ID) (*graph.Embedding, error) {
	defer runtime.KeepAlive(s.State)
	after := append(id[:len(id):len(id)], 0xff) // names of models are UTF-8
	for kv, err := range s.State.Vectors.Scan(ctx, id[:], after) {
		if err != nil {
			return nil, err
		}
		e, err := view.Embedding(ctx, s.State, kv.Value)
		if err != nil || e != nil && e.DType != graph.Sparse {
			return e, err
		}
	}
	return nil, nil
}

// EmbedText returns the text that an embedding of a node is made of (graph.EmbedText). It is not ok
// if there is no such node, or something of it was erased.
func (s *Snapshot) EmbedText(ctx context.Context, id graph.ID) (text string, ok bool, err error) {
	n, _, err := s.State.Node(ctx, id)
	if err == nil && n != nil {
		var content string
		if content, err = s.State.Content(ctx, n.Content); err == nil {
			return graph.EmbedText(n, content), true, nil
		}
	}
	if errors.Is(err, store.ErrRedacted) {
		err = nil
	}
	return "", false, err
}
