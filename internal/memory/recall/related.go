package recall

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/memory/compare"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/retrieve"
)

// Bounds of related nodes.
const (
	relatedEdges  = 1000   // of a node in each direction
	relatedTopics = 32     // entities and tags of a node
	relatedOf     = 64     // other nodes of each of these
	relatedTexts  = 20     // nodes that its text finds
	textAt        = 6_554  // .1 in units of 2^-16: less in common says nothing
	quarter       = 16_384 // the share of the weight that counts for edges of time, for names, and for mentions
)

// RelatedRequest asks for the nodes related to a node.
type RelatedRequest struct {
	ID     graph.ID
	Linked bool // only what edges lead to
	Edges  int  // to look at in each direction, if these are more than relatedEdges
	Filter
}

// Related returns the nodes that are related to a node. Edges count with the weight of the best one, and a quarter of
// it for follows, near, and names. Mentions of titles in contents count too. Common entities and tags count with their
// share of the rarity of all that the node has, and common terms with their share of the terms of both texts. Names,
// which are entities and tags, are related by edges alone. The node itself may be hidden.
func Related(ctx context.Context, s *core.Snapshot, req RelatedRequest) (*Exploration, error) {
	if err := req.validate(retrieve.Request{}); err != nil {
		return nil, err
	}
	n, _, err := s.Node(ctx, req.ID)
	if err != nil {
		return nil, err
	}
	l := &related{s: s, node: n, req: req, words: compare.NewVocabulary(), by: map[graph.ID]*Found{}}
	steps := []func(context.Context) error{l.edges, l.mentions, l.topics, l.texts}
	if req.Linked {
		steps = steps[:1]
	}
	for _, add := range steps {
		if err := add(ctx); err != nil {
			return nil, err
		}
	}
	return l.result(), nil
}

type related struct {
	s     *core.Snapshot
	node  *graph.Node
	req   RelatedRequest
	words *compare.Vocabulary
	by    map[graph.ID]*Found // nil for nodes that are not shown
	cut   uint64
}

func (l *related) get(ctx context.Context, id graph.ID) (*Found, error) {
	if r, ok := l.by[id]; ok {
		return r, nil
	}
	var r *Found
	n, err := l.req.node(ctx, l.s, id)
	if err != nil {
		return nil, err
	}
	if n != nil && n.ID != l.node.ID {
		r = &Found{Node: n}
	}
	l.by[id] = r
	return r, nil
}

func isName(n *graph.Node) bool { return n.Type == memory.TypeEntity || n.Type == memory.TypeTag }

func (l *related) edges(ctx context.Context) (err error) {
	most := uint64(max(relatedEdges, l.req.Edges))
	l.cut, err = l.req.each(ctx, l.s, l.node.ID, most, func(e edge) error { return l.edge(ctx, e) })
	return err
}

func (l *related) edge(ctx context.Context, e edge) error {
	hidden, err := memory.IsEdgeHidden(ctx, l.s, e.Edge, l.req.Marks)
	if err != nil || hidden {
		return err
	}
	r, err := l.get(ctx, e.Other)
	if err != nil || r == nil {
		return err
	}
	why := e.reason(l.node.ID)
	if e.Type == memory.EdgeNear || e.Type == memory.EdgeFollows || isName(r.Node) {
		why.Score = why.Score * quarter / fixed.One
	}
	r.Hops, r.Reasons = 1, append(r.Reasons, why)
	return nil
}

// mentions adds the nodes whose contents have the node's title, and those whose titles its content has.
func (l *related) mentions(ctx context.Context) error {
	seen := func(ctx context.Context, id graph.ID) (bool, error) {
		n, err := l.req.node(ctx, l.s, id)
		return n != nil, err
	}
	mentioned, by, err := rank.Mentions(ctx, l.s, l.node, seen)
	if err != nil {
		return err
	}
	for i, id := range slices.Concat(mentioned, by) {
		kind := "mentions"
		if i >= len(mentioned) {
			kind = "mentioned"
		}
		r, err := l.get(ctx, id)
		if err != nil {
			return err
		}
		if r != nil {
			r.Reasons = append(r.Reasons, Reason{Kind: kind, Score: quarter})
		}
	}
	return nil
}

// topics adds the nodes that share entities and tags with the node.
func (l *related) topics(ctx context.Context) error {
	type topic struct {
		id     graph.ID
		typ    string
		name   string
		rarity int64
	}
	var list []topic
	sum := int64(0)
	trees := l.s.Adjacency()
	nodes, _, _, _ := l.s.Sizes()
	for _, typ := range []string{memory.EdgeAbout, memory.EdgeMentions, memory.EdgeTagged} {
		for e, err := range trees.Bucket(ctx, l.node.ID, adjacency.Out, typ, nil) {
			if err != nil {
				return err
			}
			if len(list) == relatedTopics {
				break
			}
			n, err := memory.SeenNode(ctx, l.s, e.Other, l.req.Marks)
			if err != nil {
				return err
			}
			degree, err := trees.Degree(ctx, e.Other, adjacency.In, typ)
			if err != nil {
				return err
			}
			hidden, err := memory.IsEdgeHidden(ctx, l.s, e.Edge, l.req.Marks)
			if err != nil {
				return err
			}
			if n == nil || hidden {
				continue
			}
			t := topic{e.Other, typ, cmp.Or(n.Summary, n.Key, n.ID.String()), idf(nodes, degree)}
			list = append(list, t)
			sum += t.rarity
		}
	}
	for _, t := range list {
		count := 0
		for e, err := range trees.Bucket(ctx, t.id, adjacency.In, t.typ, nil) {
			if err != nil {
				return err
			}
			if count++; count > relatedOf {
				break
			}
			if hidden, err := memory.IsEdgeHidden(ctx, l.s, e.Edge, l.req.Marks); err != nil {
				return err
			} else if hidden {
				continue
			}
			r, err := l.get(ctx, e.Other)
			if err != nil {
				return err
			}
			if r != nil && !isName(r.Node) {
				r.share(t.name, t.rarity*fixed.One/sum)
			}
		}
	}
	return nil
}

// share adds an entity or tag to the reason of those, which comes after all edges and mentions.
func (r *Found) share(name string, score int64) {
	if n := len(r.Reasons); n == 0 || r.Reasons[n-1].Kind != "shared" {
		r.Reasons = append(r.Reasons, Reason{Kind: "shared"})
	}
	why := &r.Reasons[len(r.Reasons)-1]
	why.Score += score
	if len(why.Names) < 8 && !slices.Contains(why.Names, name) {
		why.Names = append(why.Names, name)
	}
}

func (l *related) texts(ctx context.Context) error {
	if strings.TrimSpace(l.node.Summary) == "" || !l.s.CID().Defined() {
		return nil
	}
	own := l.words.TermsOf(text.FirstScalars(l.node.Summary, maxShown))
	ans, err := findAll(ctx, l.s, relatedTexts, retrieve.Request{
		Text: text.FirstBytes(l.node.Summary, retrieve.MaxText), Marks: l.req.Marks, Types: l.req.Types,
		Exclusions: retrieve.Exclusions{Exclude: []graph.ID{l.node.ID}}})
	if err != nil {
		return err
	}
	for _, it := range ans.Items {
		if _, err := l.get(ctx, it.ID); err != nil {
			return err
		}
	}
	for _, r := range l.by {
		if r == nil || isName(r.Node) {
			continue
		}
		if n := own.Overlap(l.words.TermsOf(text.FirstScalars(r.Node.Summary, maxShown))); n >= textAt {
			r.Reasons = append(r.Reasons, Reason{Kind: "text", Score: n})
		}
	}
	return nil
}

// result lists the nodes that have a reason. Of several edges the best counts.
func (l *related) result() *Exploration {
	out := &Exploration{Cut: l.cut}
	for _, r := range l.by {
		if r == nil || len(r.Reasons) == 0 {
			continue
		}
		edge := int64(0)
		for _, why := range r.Reasons {
			if why.Edge != nil {
				edge = max(edge, why.Score)
			} else {
				r.Score += why.Score
			}
		}
		r.Score += edge
		out.Nodes = append(out.Nodes, *r)
	}
	sortFound(out.Nodes)
	return out
}
