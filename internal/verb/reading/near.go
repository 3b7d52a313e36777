package reading

import (
	"context"
	"errors"
	"slices"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/ipld"
)

const maxNeighbors = 100_000

// NeighborsRequest asks for what is next to a node.
type NeighborsRequest struct {
	Node    string   `op:",arg,required,remote" doc:"a node by key, id, at least 4 digits of an id, or exact title"`
	Out     bool     `op:",remote" doc:"edges from the node only"`
	In      bool     `op:",remote" doc:"edges to the node only"`
	Both    bool     `op:",remote" doc:"edges in both directions (the default)"`
	Type    []string `op:",remote" doc:"only edges of this {TYPE}" note:" (repeatable)"`
	Limit   int      `op:",remote" default:"100" doc:"at most {N} edges in each direction; 0 for all"`
	Derived bool     `op:",remote" doc:"nodes linked by mentions of titles too"`
	verb.AtRevision
	verb.Marks
	verb.Params
}

// Neighbors is what is next to a node.
type Neighbors struct {
	Commit ipld.CID  `json:"commit" shape:"null"`
	ID     graph.ID  `json:"id"`
	Key    verb.Text `json:"key"`
	Buckets
	Mentions *[]Mention `json:"mentions,omitempty"` // where they were asked for
	By       *[]Mention `json:"mentioned_by,omitempty"`
}

// Buckets are the edges of a node.
type Buckets struct {
	Out     []Neighbor `json:"out"`
	In      []Neighbor `json:"in"`
	MoreOut uint64     `json:"more_out"` // edges that follow, hidden ones included
	MoreIn  uint64     `json:"more_in"`
}

// Neighbor is one edge of a node and the node at its other end.
type Neighbor struct {
	Type     string      `json:"type"`
	Edge     graph.ID    `json:"edge"`
	ID       graph.ID    `json:"id"`
	Key      verb.Text   `json:"key"`
	NodeType verb.Text   `json:"node_type"`
	Summary  verb.Text   `json:"summary"`
	Weight   verb.Weight `json:"weight"`
}

// Mention is a node that a mention links to another.
type Mention struct {
	ID       graph.ID  `json:"id"`
	Key      verb.Text `json:"key"`
	NodeType string    `json:"node_type"`
	Summary  verb.Text `json:"summary"`
}

// NeighborsOf lists the edges of a node.
var NeighborsOf = verb.Define(verb.Spec{
	Command: "neighbors", Right: verb.NoRight, Usage: "NODE [flags]", Group: "read", Effect: verb.Reads, Pure: true,
	Title: "List the edges of a node and its neighbours",
	Doc: "List the edges of a node in order of type and other end: outgoing ones (->), then incoming ones\n" +
		"(<-). NODE is named as for 'mnem show'.\n\n" +
		"--derived adds links found in texts: nodes whose titles (short summaries) occur in the node's\n" +
		"content, and nodes whose content contains its title. 'mnem retrieve' follows them like edges; they\n" +
		"are not stored.",
	Example: "  mnem neighbors alice\n  mnem neighbors svc/billing --in --type owns\n" +
		"  mnem neighbors alice --out --limit 5 --json\n  mnem neighbors alice --derived",
}, neighbors)

// Check refuses fields that exclude each other.
func (q *NeighborsRequest) Check() error {
	if err := verb.AtMostOne(q, "out", "in", "both"); err != nil {
		return err
	}
	if q.Derived && len(q.Type) > 0 {
		return verb.Between("%s is about edges, which mentions are not: leave out %s or %s", "type", "type",
			"derived")
	}
	if _, err := q.States(); err != nil {
		return err
	}
	return verb.CheckRange("limit", q.Limit, 0, maxNeighbors)
}

func neighbors(ctx context.Context, s *verb.Service, q *NeighborsRequest) (*Neighbors, error) {
	let, err := q.States()
	if err != nil {
		return nil, err
	}
	snap, err := s.At(ctx, q.At)
	if err != nil {
		return nil, err
	}
	id, err := Visible{snap, let}.Find(ctx, q.Node)
	if err != nil {
		return nil, err
	}
	b := bucketReader{snap, let, slices.Compact(slices.Sorted(slices.Values(q.Type))), q.Limit}
	outs, ins := q.Out || !q.In, q.In || !q.Out
	out := &Neighbors{Commit: snap.CID(), ID: id}
	if out.Buckets, err = b.read(ctx, id, outs, ins); err != nil {
		return nil, err
	}
	n, _, err := snap.Node(ctx, id)
	if err != nil {
		return nil, err
	}
	if out.Key = verb.Text(n.Key); q.Derived {
		err = out.derive(ctx, snap, n, Visible{snap, let}, outs, ins)
	}
	return out, err
}

// ReadBuckets reads the edges of a node that are seen, in both directions, at most limit in each.
func ReadBuckets(ctx context.Context, see Visible, id graph.ID, limit int) (Buckets, error) {
	b := bucketReader{snap: see.Snapshot, let: see.Let, limit: limit}
	return b.read(ctx, id, true, true)
}

// bucketReader reads edges of a snapshot, of some types or all.
type bucketReader struct {
	snap  *core.Snapshot
	let   []graph.State
	types []string
	limit int // in each direction, 0 for all up to maxNeighbors
}

func (b *bucketReader) read(ctx context.Context, id graph.ID, outs, ins bool) (all Buckets, err error) {
	names := NewLabels(b.snap)
	if outs {
		all.Out, all.MoreOut, err = b.side(ctx, names, id, adjacency.Out)
	}
	if ins && err == nil {
		all.In, all.MoreIn, err = b.side(ctx, names, id, adjacency.In)
	}
	return all, err
}

func (b *bucketReader) side(
	ctx context.Context, names *Labels, id graph.ID, side adjacency.Direction,
) (list []Neighbor, more uint64, err error) {
	types, limit := b.types, b.limit
	if len(types) == 0 {
		types = []string{""}
	}
	if limit == 0 {
		limit = maxNeighbors
	}
	trees, see := b.snap.Adjacency(), Visible{b.snap, b.let}
	for _, typ := range types {
		total, err := trees.Degree(ctx, id, side, typ)
		if err != nil {
			return nil, 0, err
		}
		more += total
		for e, err := range trees.Bucket(ctx, id, side, typ, nil) {
			if err != nil {
				return nil, 0, err
			}
			if len(list) == limit {
				break
			}
			more--
			ok, err := see.Edge(ctx, e.Edge, e.Other)
			if err != nil {
				return nil, 0, err
			}
			if !ok {
				continue
			}
			row := Neighbor{Type: e.Type, Edge: e.Edge, ID: e.Other, Weight: verb.Weight(e.Weight)}
			n, err := names.Node(ctx, e.Other)
			if err != nil {
				return nil, 0, err
			}
			if n != nil {
				row.Key, row.NodeType, row.Summary = verb.Text(n.Key), verb.Text(n.Type), verb.Text(n.Summary)
			}
			list = append(list, row)
		}
	}
	return list, more, nil
}

// derive adds the nodes that mentions link to n.
func (out *Neighbors) derive(
	ctx context.Context, snap *core.Snapshot, n *graph.Node, see Visible, outs, ins bool,
) error {
	mentioned, by, err := rank.Mentions(ctx, snap, n, see.Node)
	if err != nil {
		return err
	}
	out.Mentions, out.By = &[]Mention{}, &[]Mention{}
	for _, list := range []struct {
		want bool
		ids  []graph.ID
		to   *[]Mention
	}{{outs, mentioned, out.Mentions}, {ins, by, out.By}} {
		if !list.want {
			continue
		}
		for _, id := range list.ids {
			other, _, err := snap.Node(ctx, id)
			if err != nil {
				return err
			}
			*list.to = append(*list.to, Mention{id, verb.Text(other.Key), other.Type, verb.Text(other.Summary)})
		}
	}
	return nil
}

const maxHops = 1000

// PathRequest asks for a way between two nodes.
type PathRequest struct {
	From       string   `op:",arg,required,remote" doc:"a node by key, id, at least 4 digits of an id, or exact title"`
	To         string   `op:",arg,required,remote" doc:"a node by key, id, at least 4 digits of an id, or exact title"`
	Undirected bool     `op:",remote" doc:"follow edges both ways"`
	Type       []string `op:",remote" doc:"follow only edges of this {TYPE}" note:" (repeatable)"`
	MaxHops    int      `op:",remote" default:"32" doc:"look no further than {N} edges"`
	verb.AtRevision
	verb.Marks
}

// Way is a path between two nodes.
type Way struct {
	Commit ipld.CID `json:"commit" shape:"null"`
	From   graph.ID `json:"from"`
	To     graph.ID `json:"to"`
	Found  bool     `json:"found"`
	Hops   int      `json:"hops"`
	Steps  []Step   `json:"steps"`

	Start verb.Text `json:"_start,omitempty"` // the key of From
}

// Step is one edge of a path.
type Step struct {
	From    graph.ID  `json:"from"`
	FromKey verb.Text `json:"from_key"`
	To      graph.ID  `json:"to"`
	ToKey   verb.Text `json:"to_key"`
	Edge    graph.ID  `json:"edge"`
	Type    string    `json:"type"`
	Forward bool      `json:"forward"`
}

// Path finds a shortest path.
var Path = verb.Define(verb.Spec{
	Command: "path", Right: verb.NoRight, Usage: "A B [flags]", Group: "read", Effect: verb.Reads, Pure: true,
	Title: "Find a shortest path between two nodes",
	Doc: "Find a path with the fewest edges from A to B, following edges from source to destination, or in\n" +
		"both directions with --undirected. Of several shortest paths it always picks the same one. If there\n" +
		"is none, nothing is printed and the exit code is 0.",
	Example: "  mnem path alice bruno --undirected\n" +
		"  mnem path svc/booking svc/billing --type depends-on --json",
}, path)

// Check refuses what is out of bounds.
func (q *PathRequest) Check() error {
	if _, err := q.States(); err != nil {
		return err
	}
	return verb.CheckRange("max-hops", q.MaxHops, 1, maxHops)
}

func path(ctx context.Context, s *verb.Service, q *PathRequest) (*Way, error) {
	let, err := q.States()
	if err != nil {
		return nil, err
	}
	snap, err := s.At(ctx, q.At)
	if err != nil {
		return nil, err
	}
	see := Visible{snap, let}
	opt := adjacency.PathOptions{Types: q.Type, MaxHops: q.MaxHops}
	opt.Skip = func(ctx context.Context, e adjacency.Entry) (bool, error) {
		ok, err := see.Edge(ctx, e.Edge, e.Other)
		return !ok, err
	}
	if q.Undirected {
		opt.Direction = adjacency.Both
	}
	out := &Way{Commit: snap.CID()}
	if out.From, err = see.Find(ctx, q.From); err != nil {
		return nil, err
	}
	if out.To, err = see.Find(ctx, q.To); err != nil {
		return nil, err
	}
	steps, found, err := snap.Adjacency().ShortestPath(ctx, out.From, out.To, opt)
	if errors.Is(err, adjacency.ErrTooFar) {
		return nil, verb.Hint(err, "narrow the search with --type or --max-hops",
			"narrow the search with type or max_hops")
	}
	if err != nil {
		return nil, err
	}
	names := NewLabels(snap)
	if s.Human {
		if out.Start, err = names.Key(ctx, out.From); err != nil {
			return nil, err
		}
	}
	out.Found, out.Hops = found, len(steps)
	for _, step := range steps {
		row := Step{From: step.From, To: step.To, Edge: step.Edge, Type: step.Type, Forward: step.Forward}
		if row.FromKey, err = names.Key(ctx, step.From); err != nil {
			return nil, err
		}
		if row.ToKey, err = names.Key(ctx, step.To); err != nil {
			return nil, err
		}
		out.Steps = append(out.Steps, row)
	}
	return out, nil
}
