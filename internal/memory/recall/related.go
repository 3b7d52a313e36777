package recall

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/memory/compare"
	"github.com/mnem-project/mnem/retrieve"
)

// Bounds of what is related.
const (
	DefaultRelated = 10
	MaxRelated     = 100

	relatedEdges  = 256    // of a node in each direction
	relatedTopics = 32     // entities and tags of a node
	relatedOf     = 64     // other nodes of each of these
	relatedTexts  = 20     // nodes that its text finds
	textAt        = 6_554  // .1 in units of 2^-16: less in common says nothing
	nearShare     = 16_384 // a quarter: what stands near in time counts less than what was linked
)

// RelatedRequest asks for what is related to a node.
type RelatedRequest struct {
	ID    graph.ID
	Limit int           // 1 to MaxRelated; 0 for DefaultRelated
	Marks []graph.State // hidden states to let through
}

// Reason is why a node is related to another.
type Reason struct {
	Kind  string `json:"kind" shape:"edge|shared|text"`
	Score int64  `json:"score"` // in units of 2^-16, at most 65,536
	// Names are, of edges, their types with an arrow, as in "causes ->"; of what is shared, the names
	// of entities and tags. At most 8.
	Names []string `json:"names"`
}

// RelatedNode is a node that is related to another.
type RelatedNode struct {
	Node    *graph.Node
	Score   int64    // sum of its reasons
	Reasons []Reason // in the order edge, shared, text
}

// Related returns the nodes that are related to one, by score descending and then id: by edges in
// either direction, the best of which counts its weight, a quarter of it for follows and near; by
// entities and tags that both have, which count what share of the rarity of all that the node has
// they make up; and by the terms that both texts have, of those that either has. Entities and tags
// are no such nodes themselves. The node itself may be hidden.
func Related(
	ctx context.Context, s *core.Snapshot, req RelatedRequest,
) ([]RelatedNode, error) {
	req.Limit = cmp.Or(req.Limit, DefaultRelated)
	if req.Limit < 1 || req.Limit > MaxRelated {
		return nil, &retrieve.RequestError{Param: "limit", Reason: "is outside 1 to 100"}
	}
	if err := (retrieve.Request{Marks: req.Marks}).Validate(); err != nil {
		return nil, err
	}
	n, _, err := s.Node(ctx, req.ID)
	if err != nil {
		return nil, err
	}
	a, err := text.New(retrieve.Language)
	if err != nil {
		return nil, err
	}
	l := &related{s: s, node: n, req: req, words: compare.NewVocabulary(a), by: map[graph.ID]*RelatedNode{}}
	for _, add := range []func(context.Context) error{l.edges, l.topics, l.texts} {
		if err := add(ctx); err != nil {
			return nil, err
		}
	}
	return l.list(), nil
}

type related struct {
	s     *core.Snapshot
	node  *graph.Node
	req   RelatedRequest
	words *compare.Vocabulary
	by    map[graph.ID]*RelatedNode // nil of what is not shown
}

// get returns the entry of a node, nil if it is not to be shown.
func (l *related) get(ctx context.Context, id graph.ID) (*RelatedNode, error) {
	if r, ok := l.by[id]; ok {
		return r, nil
	}
	var r *RelatedNode
	n, err := memory.SeenNode(ctx, l.s, id, l.req.Marks)
	if err != nil {
		return nil, err
	}
	if n != nil && n.ID != l.node.ID && n.Type != memory.TypeEntity && n.Type != memory.TypeTag {
		r = &RelatedNode{Node: n}
	}
	l.by[id] = r
	return r, nil
}

// reason returns the reason of a kind, made if it is missing. Kinds come in order.
func (r *RelatedNode) reason(kind string) *Reason {
	if n := len(r.Reasons); n == 0 || r.Reasons[n-1].Kind != kind {
		r.Reasons = append(r.Reasons, Reason{Kind: kind})
	}
	return &r.Reasons[len(r.Reasons)-1]
}

func (r *Reason) name(name string) {
	if len(r.Names) < 8 && !slices.Contains(r.Names, name) {
		r.Names = append(r.Names, name)
	}
}

// edges adds the nodes that edges join to the node.
func (l *related) edges(ctx context.Context) error {
	for _, side := range []adjacency.Direction{adjacency.Out, adjacency.In} {
		count := 0
		for e, err := range l.s.Adjacency().Bucket(ctx, l.node.ID, side, "", nil) {
			if err != nil {
				return err
			}
			if count++; count > relatedEdges {
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
			if r == nil {
				continue
			}
			weight := int64(e.Weight)
			if e.Type == memory.EdgeNear || e.Type == memory.EdgeFollows {
				weight = weight * nearShare / fixed.One
			}
			why := r.reason("edge")
			why.Score = max(why.Score, weight)
			arrow := e.Type + " ->"
			if side == adjacency.In {
				arrow = e.Type + " <-"
			}
			why.name(arrow)
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
			if r != nil {
				why := r.reason("shared")
				why.Score += t.rarity * fixed.One / sum
				why.name(t.name)
			}
		}
	}
	return nil
}

// texts adds the nodes whose texts have terms of the node's.
func (l *related) texts(ctx context.Context) error {
	if strings.TrimSpace(l.node.Summary) == "" || !l.s.CID().Defined() {
		return nil
	}
	own := l.words.TermsOf(text.FirstScalars(l.node.Summary, maxShown))
	ans, err := findAll(ctx, l.s, relatedTexts, retrieve.Request{
		Text: firstBytes(l.node.Summary, retrieve.MaxText), Marks: l.req.Marks,
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
		if r == nil {
			continue
		}
		if n := own.Overlap(l.words.TermsOf(text.FirstScalars(r.Node.Summary, maxShown))); n >= textAt {
			r.reason("text").Score = n
		}
	}
	return nil
}

func (l *related) list() []RelatedNode {
	var out []RelatedNode
	for _, r := range l.by {
		if r == nil || len(r.Reasons) == 0 {
			continue
		}
		for _, why := range r.Reasons {
			r.Score += why.Score
		}
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b RelatedNode) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), a.Node.ID.Compare(b.Node.ID))
	})
	return out[:min(len(out), l.req.Limit)]
}

// firstBytes returns the first n bytes of a text at most, whole scalars.
func firstBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
