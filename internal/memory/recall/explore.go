package recall

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/memory/compare"
	"github.com/mnem-project/mnem/internal/rank/stage"
	"github.com/mnem-project/mnem/retrieve"
)

// Bounds and defaults of exploring.
const (
	DefaultDepth = 3
	MaxDepth     = 8
	DefaultBeam  = 4
	MaxBeam      = 64

	beamEdges  = 128    // of a node in each direction, the first of its bucket
	beamWindow = 100    // nodes of a hop that are compared with each other
	mmrLambda  = 45_875 // .7 in units of 2^-16
	// decayBits is 2^16 · log2 .85, rounded: the cost of a hop.
	decayBits = -15_366
	// timeBits is the additional cost of an edge that only records an order in time.
	timeBits = 2 * fixed.One
	maxShown = 8192 // scalars of a text that are compared
)

// Filter says which edges are followed, and which nodes may be found.
type Filter struct {
	Directions []adjacency.Direction // of edges to follow; empty for both
	EdgeTypes  []string              // of edges to follow; empty for all
	Types      []string              // of nodes that may be found or passed; empty for all
	Marks      []graph.State         // hidden states to let through
}

// edge is an edge of a node.
type edge struct {
	adjacency.Entry
	side   adjacency.Direction
	degree uint64 // of the node, on that side and by the type that was followed
}

// each calls fn with the edges of a node that are followed, at most most of each type on each side, and returns how many
// are cut off by that.
func (f *Filter) each(
	ctx context.Context, s *core.Snapshot, id graph.ID, most uint64, fn func(edge) error,
) (cut uint64, err error) {
	sides, types := f.Directions, f.EdgeTypes
	if len(sides) == 0 {
		sides = []adjacency.Direction{adjacency.Out, adjacency.In}
	}
	if len(types) == 0 {
		types = []string{""} // of all types
	}
	for _, side := range sides {
		for _, typ := range types {
			degree, err := s.Adjacency().Degree(ctx, id, side, typ)
			if err != nil {
				return 0, err
			}
			cut += degree - min(degree, most)
			count := uint64(0)
			for e, err := range s.Adjacency().Bucket(ctx, id, side, typ, nil) {
				if err != nil {
					return 0, err
				}
				if count++; count > most {
					break
				}
				if err := fn(edge{e, side, degree}); err != nil {
					return 0, err
				}
			}
		}
	}
	return cut, nil
}

func (f *Filter) validate(q retrieve.Request) error {
	q.Types, q.ExpandTypes, q.Marks = f.Types, f.EdgeTypes, f.Marks
	return q.Validate()
}

// node returns a node, nil for one that is not to be found.
func (f *Filter) node(ctx context.Context, s *core.Snapshot, id graph.ID) (*graph.Node, error) {
	n, err := memory.SeenNode(ctx, s, id, f.Marks)
	if n != nil && len(f.Types) > 0 && !slices.Contains(f.Types, n.Type) {
		return nil, err
	}
	return n, err
}

// ExploreRequest asks for what edges lead to from a node, or from what fits a topic.
type ExploreRequest struct {
	Node  graph.ID // the zero id for a topic
	Topic string   // at most retrieve.MaxText bytes, not blank
	Depth int      // hops, 1 to MaxDepth; 0 for DefaultDepth
	Beam  int      // nodes that are followed from each hop, 1 to MaxBeam; 0 for DefaultBeam
	Filter
}

func (r ExploreRequest) resolve() (ExploreRequest, error) {
	r.Depth, r.Beam = cmp.Or(r.Depth, DefaultDepth), cmp.Or(r.Beam, DefaultBeam)
	switch {
	case r.Node.IsZero() && strings.TrimSpace(r.Topic) == "":
		return r, &retrieve.RequestError{Param: "topic", Reason: "is blank"}
	case r.Depth < 1 || r.Depth > MaxDepth:
		return r, &retrieve.RequestError{Param: "depth",
			Reason: fmt.Sprintf("%d is outside 1 to %d", r.Depth, MaxDepth)}
	case r.Beam < 1 || r.Beam > MaxBeam:
		return r, &retrieve.RequestError{Param: "beam",
			Reason: fmt.Sprintf("%d is outside 1 to %d", r.Beam, MaxBeam)}
	}
	return r, r.validate(retrieve.Request{Text: r.Topic})
}

// Found is a node that was found, and why.
type Found struct {
	Node    *graph.Node
	Score   int64 // of Explore 2^16 · log2 of its relevance, 0 for the best; of Related the sum of its reasons
	Hops    int   // edges from the beginning, 0 if no edge leads to it
	Reasons []Reason
}

// Reason is why a node was found.
type Reason struct {
	Kind  string `json:"kind" enum:"edge match mentions mentioned shared text"`
	Score int64  `json:"score"` // in units of 2^-16, at most 65,536
	// Names names shared entities and tags, at most 8.
	Names []string `json:"names,omitempty"`
	// Edge is the edge that leads to the node. Nodes at the start of edges are in the same answer.
	Edge *adjacency.Step `json:"edge,omitempty"`
}

// Exploration holds the nodes that were found.
type Exploration struct {
	Nodes []Found // by score descending; of equal ones fewer hops first, then by id
	// Cut is how many edges were not looked at, as a node has more of them than are followed.
	Cut uint64
}

// Explore searches over edges from a node or from those that fit a topic, and follows from each hop those that
// promise most and are least alike: docs/internals/memories.md. No way leads through a node or edge that a mark hides. It returns a
// *retrieve.RequestError for a request out of bounds.
func Explore(ctx context.Context, s *core.Snapshot, req ExploreRequest) (*Exploration, error) {
	req, err := req.resolve()
	if err != nil {
		return nil, err
	}
	x := &explorer{s: s, req: req, words: compare.NewVocabulary(), found: map[graph.ID]*reached{}}
	x.topic = x.termsOf(req.Topic)
	list, err := x.begin(ctx)
	for hop := 0; err == nil && len(list) > 0; hop++ {
		x.keep(list)
		if hop == req.Depth {
			break
		}
		list, err = x.hop(ctx)
	}
	if err != nil {
		return nil, err
	}
	return x.result(), nil
}

type explorer struct {
	s     *core.Snapshot
	req   ExploreRequest
	words *compare.Vocabulary
	topic compare.TermSet
	found map[graph.ID]*reached // nodes reached, kept or not
	kept  []*reached
	beam  []*reached // the last hop's
	cut   uint64
}

type reached struct {
	node  *graph.Node
	terms compare.TermSet
	score int64
	hops  int
	from  *reached // nil for a beginning
	why   Reason
}

func (x *explorer) termsOf(texts ...string) (out compare.TermSet) {
	for _, s := range texts {
		out = append(out, x.words.TermsOf(text.FirstScalars(s, maxShown))...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (x *explorer) begin(ctx context.Context) ([]*reached, error) {
	if !x.req.Node.IsZero() {
		n, _, err := x.s.Node(ctx, x.req.Node)
		if err != nil {
			return nil, err
		}
		x.topic = x.termsOf(n.Summary)
		return []*reached{{node: n, terms: x.termsOf(n.Summary, n.Context)}}, nil
	}
	if !x.s.CID().Defined() {
		return nil, nil
	}
	ans, err := findAll(ctx, x.s, min(3*x.req.Beam, retrieve.MaxLimit),
		retrieve.Request{Text: x.req.Topic, Types: x.req.Types, Marks: x.req.Marks})
	if err != nil {
		return nil, err
	}
	top := int64(1)
	for _, it := range ans.Items {
		top = max(top, it.Score)
	}
	var list []*reached
	for _, it := range ans.Items {
		n, _, err := x.s.Node(ctx, it.ID)
		if err != nil {
			return nil, err
		}
		score := fixed.Log2(uint64(max(1, it.Score))) - fixed.Log2(uint64(top))
		if it.Tier > 0 { // the topic names it
			score = 0
		}
		why := Reason{Kind: "match", Score: max(0, it.Score) * fixed.One / top}
		list = append(list, &reached{node: n, terms: x.termsOf(n.Summary, n.Context), score: score, why: why})
	}
	return list, nil
}

// keep adds the best nodes of a hop to the beam, preferring those that are least like the nodes kept already.
func (x *explorer) keep(list []*reached) {
	slices.SortFunc(list, func(a, b *reached) int {
		return cmp.Or(cmp.Compare(b.score, a.score), a.node.ID.Compare(b.node.ID))
	})
	list = list[:min(len(list), beamWindow)]
	before := len(x.kept)
	all := append(slices.Clone(x.kept), list...)
	relevance := make([]int64, len(all))
	terms := make([][]uint32, len(all))
	first := make([]int, before)
	for i, r := range all {
		terms[i] = r.terms
		if i < before {
			first[i] = i
			continue
		}
		relevance[i] = max(0, fixed.One-(list[0].score-r.score)/4)
	}
	x.beam = nil
	for _, at := range stage.Marginal(relevance, terms, first, mmrLambda, before+x.req.Beam)[before:] {
		x.beam = append(x.beam, all[at])
	}
	for _, r := range x.beam {
		x.found[r.node.ID] = r
	}
	x.kept = append(x.kept, x.beam...)
}

// hop returns the nodes that edges of the beam lead to and that are not kept yet, each by its best path; of equal ones
// the first in the order of the beam, outgoing edges first, in the order of buckets.
func (x *explorer) hop(ctx context.Context) ([]*reached, error) {
	best := map[graph.ID]*reached{}
	var list []*reached
	for _, from := range x.beam {
		cut, err := x.req.each(ctx, x.s, from.node.ID, beamEdges, func(e edge) error {
			r, err := x.step(ctx, from, e)
			if err != nil || r == nil {
				return err
			}
			switch old := best[r.node.ID]; {
			case old == nil:
				best[r.node.ID] = r
				list = append(list, r)
			case r.score > old.score:
				*old = *r
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		x.cut += cut
	}
	return list, nil
}

// step returns the node that one edge leads to, nil if it is not wanted. The cost is the hop, the edge's weight, two
// bits for an edge of time alone, half the logarithm of the node's number of such edges, and up to one bit for a node
// unrelated to the topic.
func (x *explorer) step(ctx context.Context, from *reached, e edge) (*reached, error) {
	if x.found[e.Other] != nil {
		return nil, nil
	}
	m, err := x.s.Mark(ctx, graph.OnEdge, e.Edge)
	if err != nil || m != nil && m.State.Hides() && !slices.Contains(x.req.Marks, m.State) {
		return nil, err
	}
	n, err := x.req.node(ctx, x.s, e.Other)
	if err != nil || n == nil {
		return nil, err
	}
	r := &reached{node: n, terms: x.termsOf(n.Summary, n.Context), hops: from.hops + 1, from: from}
	affinity := int64(0)
	if len(x.topic) > 0 {
		affinity = x.topic.Common(r.terms) * fixed.One / int64(len(x.topic))
	}
	r.score = from.score + decayBits + fixed.Log2(uint64(e.Weight)) - 16*fixed.One -
		fixed.Log2(e.degree)/2 + fixed.Log2(uint64(fixed.One+affinity)) - 17*fixed.One
	if e.Type == memory.EdgeNear || e.Type == memory.EdgeFollows {
		r.score -= timeBits
	}
	r.why = e.reason(from.node.ID)
	return r, nil
}

// reason is the reason of the node at the other end of an edge of a node.
func (e edge) reason(of graph.ID) Reason {
	return Reason{Kind: "edge", Score: int64(e.Weight),
		Edge: &adjacency.Step{From: of, To: e.Other, Edge: e.Edge, Type: e.Type, Forward: e.side == adjacency.Out}}
}

func (x *explorer) result() *Exploration {
	out := &Exploration{Cut: x.cut}
	for _, r := range x.kept {
		if r.node.ID != x.req.Node {
			out.Nodes = append(out.Nodes, Found{r.node, r.score, r.hops, []Reason{r.why}})
		}
	}
	sortFound(out.Nodes)
	return out
}

func sortFound(list []Found) {
	slices.SortFunc(list, func(a, b Found) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Hops, b.Hops), a.Node.ID.Compare(b.Node.ID))
	})
}
