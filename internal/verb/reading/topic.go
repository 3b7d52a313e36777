package reading

import (
	"cmp"
	"context"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/memory/recall"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/view/community"
	"github.com/mnem-project/mnem/ipld"
)

// ExploreRequest asks what lies around a topic.
type ExploreRequest struct {
	Topic    string   `op:",arg,required,remote,words" doc:"the question or words to look for"`
	Keyword  bool     `op:",remote" doc:"begin at the tag, entity or node of this name"`
	Depth    int      `op:",remote" default:"3" doc:"go {N} hops"`
	Beam     int      `op:",remote" default:"4" doc:"follow {N} nodes from each hop"`
	EdgeType []string `op:",remote" doc:"follow only edges of this {TYPE}" note:" (repeatable)"`
	Type     []string `op:",remote" doc:"only nodes of this {TYPE}, on the way too" note:" (repeatable)"`
	verb.AtRevision
	verb.Marks
}

// Explored is what lies around a topic.
type Explored struct {
	Commit ipld.CID       `json:"commit" shape:"null"`
	Topic  string         `json:"topic"`
	Nodes  []ExploredNode `json:"nodes"`
	Edges  []ExploredEdge `json:"edges"`
	Cut    uint64         `json:"cut"` // edges of large nodes that were left out
}

// NodeName tells which node is meant.
type NodeName struct {
	ID      graph.ID  `json:"id"`
	Key     verb.Text `json:"key"`
	Type    string    `json:"type"`
	Summary verb.Text `json:"summary"`
}

// NameOf returns how answers name a node.
func NameOf(n *graph.Node) NodeName {
	return NodeName{n.ID, verb.Text(n.Key), n.Type, verb.Text(n.Summary)}
}

// ExploredNode is one node that was found and the best way to it.
type ExploredNode struct {
	NodeName
	Score int64            `json:"score"`
	Hops  int              `json:"hops"`
	Path  []adjacency.Step `json:"path"`
}

// ExploredEdge is one edge among the nodes that were found.
type ExploredEdge struct {
	ID     graph.ID    `json:"id"`
	Type   string      `json:"type"`
	Src    graph.ID    `json:"src"`
	Dst    graph.ID    `json:"dst"`
	Weight verb.Weight `json:"weight"`
}

// Explore shows what lies around a topic.
var Explore = verb.Define(verb.Spec{
	Command: "explore", Right: verb.NoRight, Usage: "TOPIC… [flags]", Group: "read", Effect: verb.Reads, Pure: true,
	Title: "Show what surrounds a topic, and how it is connected",
	Doc: "Search along edges, in both directions, from the nodes that match a topic, and print what is found\n" +
		"with the best path to each node. At each of --depth hops the --beam most promising nodes are\n" +
		"followed: by the weights of the edges on the path and by how well they match the topic, reduced for\n" +
		"nodes with many edges on the path and for nodes that resemble each other.\n\n" +
		"The number before a node is its score in bits: 0 for the best, one less for each halving of\n" +
		"relevance. Nodes and edges hidden by a mark are neither found nor passed.\n\n" +
		"With --keyword the TOPIC is the name of a tag or an entity, or a key or id, and the search starts\n" +
		"there. \"-\" reads the TOPIC from standard input.",
	Example: "  mnem explore billing outage\n  mnem explore billing --depth 2 --beam 8\n" +
		"  mnem explore --keyword svc/billing --edge-type depends-on --json\n" +
		"  mnem explore billing --at HEAD~1",
}, func(ctx context.Context, s *verb.Service, q *ExploreRequest) (*Explored, error) {
	req := recall.ExploreRequest{Topic: q.Topic, Keyword: q.Keyword, Depth: q.Depth, Beam: q.Beam,
		EdgeTypes: q.EdgeType, Types: q.Type}
	var err error
	if req.Marks, err = q.States(); err != nil {
		return nil, err
	}
	snap, err := s.Repo.Snapshot(ctx, q.At)
	if err != nil {
		return nil, verb.CommitHint(err)
	}
	x, err := recall.Explore(ctx, snap, req)
	if q.Keyword && errors.Is(err, store.ErrNotFound) {
		return nil, verb.Hint(err, "leave out --keyword to search for it; 'mnem ls --type Tag' lists the tags",
			"leave out keyword to search for it; ls with type Tag lists the tags")
	}
	if err != nil {
		return nil, err
	}
	out := &Explored{Commit: snap.CID(), Topic: x.Request.Topic, Cut: x.Cut}
	for _, n := range x.Nodes {
		out.Nodes = append(out.Nodes, ExploredNode{NameOf(n.Node), n.Score, n.Hops, n.Path})
	}
	for _, e := range x.Edges {
		out.Edges = append(out.Edges, ExploredEdge{e.ID, e.Type, e.Src, e.Dst, verb.Weight(e.Weight)})
	}
	return out, nil
})

// Check refuses what is out of bounds.
func (q *ExploreRequest) Check() error {
	_, err := q.States()
	return cmp.Or(verb.CheckRange("depth", q.Depth, 1, recall.MaxDepth),
		verb.CheckRange("beam", q.Beam, 1, recall.MaxBeam), err)
}

// SuggestRequest asks for tags for a text.
type SuggestRequest struct {
	Text string `op:",arg,required,remote,words" doc:"the text to find tags for"`
	verb.AtRevision
}

// Suggested are tags for a text.
type Suggested struct {
	Commit ipld.CID              `json:"commit" shape:"null"`
	Tags   []recall.SuggestedTag `json:"tags"`
}

// Suggest suggests tags for a text.
var Suggest = verb.Define(verb.Spec{
	Command: "suggest", Right: verb.NoRight, Usage: "TEXT… [flags]", Group: "read", Effect: verb.Reads, Pure: true,
	Title: "Suggest tags for a text",
	Doc: "Print three to six tags for a text, best first: those of the most similar memories, weighed by\n" +
		"similarity and rarity; if these are too few, names found in the text itself. \"-\" reads the TEXT from\n" +
		"standard input.",
	Example: "  mnem suggest 'The billing cache ran out of memory'\n" +
		"  mnem suggest - --json < note.txt",
}, func(ctx context.Context, s *verb.Service, q *SuggestRequest) (*Suggested, error) {
	snap, err := s.At(ctx, q.At)
	if err != nil {
		return nil, err
	}
	tags, err := recall.Suggest(ctx, snap, q.Text)
	return &Suggested{snap.CID(), tags}, err
})

// RelatedRequest asks what is related to a node.
type RelatedRequest struct {
	Node  string `op:",arg,required,remote" doc:"a node by key, id, at least 4 digits of an id, or exact title"`
	Limit int    `op:",remote" default:"10" doc:"at most {N} nodes"`
	verb.AtRevision
	verb.Marks
}

// RelatedNodes are the nodes that are related to one.
type RelatedNodes struct {
	Commit ipld.CID      `json:"commit" shape:"null"`
	ID     graph.ID      `json:"id"`
	Nodes  []RelatedNode `json:"nodes"`
}

// RelatedNode is one of them, and why.
type RelatedNode struct {
	NodeName
	Score   int64           `json:"score"`
	Reasons []recall.Reason `json:"reasons"`
}

// RelatedTo lists what is related to a node.
var RelatedTo = verb.Define(verb.Spec{
	Command: "related", Right: verb.NoRight, Usage: "NODE [flags]", Group: "read", Effect: verb.Reads, Pure: true,
	Title: "List nodes related to a node, and why",
	Doc: "List the nodes related to a node, best first, each with the reason: edges between them, shared\n" +
		"entities and tags (rarer ones count more), and shared words. NODE is named as for 'mnem show'. Tags\n" +
		"and entities are not listed.",
	Example: "  mnem related svc/billing\n  mnem related alice --limit 5 --json",
}, func(ctx context.Context, s *verb.Service, q *RelatedRequest) (*RelatedNodes, error) {
	req := recall.RelatedRequest{Limit: q.Limit}
	var err error
	if req.Marks, err = q.States(); err != nil {
		return nil, err
	}
	snap, err := s.At(ctx, q.At)
	if err != nil {
		return nil, err
	}
	if req.ID, err = (Visible{snap, req.Marks}).Find(ctx, q.Node); err != nil {
		return nil, err
	}
	list, err := recall.Related(ctx, snap, req)
	out := &RelatedNodes{Commit: snap.CID(), ID: req.ID}
	for _, r := range list {
		out.Nodes = append(out.Nodes, RelatedNode{NameOf(r.Node), r.Score, r.Reasons})
	}
	return out, err
})

// Check refuses what is out of bounds.
func (q *RelatedRequest) Check() error {
	_, err := q.States()
	return cmp.Or(verb.CheckRange("limit", q.Limit, 1, recall.MaxRelated), err)
}

const (
	shownMembers = 5 // of each community in a list
	maxListed    = 100_000
)

// CommunitiesRequest asks for the communities, or the one of a node.
type CommunitiesRequest struct {
	Node  string `op:",arg,remote" doc:"a node by key, id, at least 4 digits of an id, or exact title"`
	Limit int    `op:",remote" default:"20" doc:"at most {N} communities or members; 0 for all"`
	Keep  bool   `op:",writes" doc:"keep the communities, so that others need not find them anew"`
	verb.AtRevision
	verb.Marks
}

// CommunityList are the communities of a commit.
type CommunityList struct {
	Commit      ipld.CID    `json:"commit" shape:"null"`
	Count       int         `json:"count"`
	Nodes       int         `json:"nodes"` // that are in one
	Communities []Community `json:"communities"`
	More        int         `json:"more"`
}

// NodeCommunity is the community of a node; its number is 0 if it is in none.
type NodeCommunity struct {
	Commit ipld.CID `json:"commit" shape:"null"`
	ID     graph.ID `json:"id"`
	Community
}

// Community is one community.
type Community struct {
	Number  int      `json:"number"` // from 1, the largest first
	Size    int      `json:"size"`
	Members []Member `json:"members"` // best-connected first
	Title   string   `json:"title"`   // the names of the first of them
}

// Member is a node in a community.
type Member struct {
	ID       graph.ID  `json:"id"`
	Key      verb.Text `json:"key"`
	NodeType verb.Text `json:"node_type"`
	Summary  verb.Text `json:"summary"`
	Inside   Inside    `json:"weight" shape:"number"` // of its edges inside
}

// Inside is a sum of weights of edges, to the nearest thousandth.
type Inside uint64

// MarshalJSON writes a number.
func (w Inside) MarshalJSON() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalJSON reads a number, to the nearest thousandth.
func (w *Inside) UnmarshalJSON(data []byte) error {
	x, err := strconv.ParseFloat(string(data), 64)
	*w = Inside(math.Round(x * graph.MaxWeight))
	return err
}

func (w Inside) String() string {
	s := strconv.FormatFloat(float64(w)/graph.MaxWeight, 'f', 3, 64)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// Communities lists groups of nodes that edges hold together.
var Communities = verb.Define(verb.Spec{
	Command: "communities", Right: verb.NoRight,
	Usage: "[NODE] [flags]", Group: "read", Effect: verb.Reads, Pure: true, Derived: true,
	Title: "List groups of densely connected nodes",
	Doc: "List the communities of a commit, the largest first, with their best-connected members; or the\n" +
		"members of the community that contains NODE. NODE is a key, an id, or at least 4 digits of an id.\n\n" +
		"A community is a set of nodes with more edge weight inside than chance would give. A node with edges\n" +
		"is in at most one. Communities depend on the edges alone, not on types and marks, and are the same on\n" +
		"every machine; 'mnem retrieve --community' uses them.\n\n" +
		"Computing them takes some seconds for 300,000 edges. A process that may write keeps them in the\n" +
		"repository, as --keep does, until the edges change.",
	Example: "  mnem communities\n  mnem communities alice\n" +
		"  mnem communities --at HEAD~1 --limit 5 --json\n  mnem communities --keep",
	Answers: []any{CommunityList{}, NodeCommunity{}},
}, communities)

// Check refuses what is out of bounds.
func (q *CommunitiesRequest) Check() error {
	_, err := q.States()
	return cmp.Or(verb.CheckRange("limit", q.Limit, 0, maxListed), err)
}

func communities(ctx context.Context, s *verb.Service, q *CommunitiesRequest) (any, error) {
	let, err := q.States()
	if err != nil {
		return nil, err
	}
	limit := q.Limit
	if limit == 0 {
		limit = maxListed
	}
	snap, err := s.At(ctx, q.At)
	if err != nil {
		return nil, err
	}
	var of graph.ID
	if q.Node != "" {
		if of, err = (Visible{snap, let}).Find(ctx, q.Node); err != nil {
			return nil, err
		}
	}
	p, err := outline.Communities(ctx, snap)
	if err != nil {
		return nil, err
	}
	names := NewLabels(snap)
	if q.Node != "" {
		out := &NodeCommunity{Commit: snap.CID(), ID: of}
		if number, ok := p.Of(of); ok {
			list := p.Members(number)
			out.Number, out.Size = number+1, len(list)
			out.Members, err = members(ctx, names, Visible{snap, let}, list, limit)
			if err == nil {
				out.Title, err = out.title(ctx, snap)
			}
		}
		return out, err
	}
	out := &CommunityList{Commit: snap.CID(), Count: p.Len(), Nodes: p.Nodes()}
	for number := range min(p.Len(), limit) {
		list := p.Members(number)
		one := Community{Number: number + 1, Size: len(list)}
		if one.Members, err = members(ctx, names, Visible{snap, let}, list, shownMembers); err != nil {
			return nil, err
		}
		if one.Title, err = one.title(ctx, snap); err != nil {
			return nil, err
		}
		out.Communities = append(out.Communities, one)
	}
	out.More = p.Len() - len(out.Communities)
	return out, nil
}

// title names the members that are listed.
func (c *Community) title(ctx context.Context, s *core.Snapshot) (string, error) {
	var ids []graph.ID
	for _, m := range c.Members {
		ids = append(ids, m.ID)
	}
	return history.Titler{}.Nodes(ctx, s, ids)
}

// members reads the first members of a community that are not hidden.
func members(
	ctx context.Context, names *Labels, see Visible, list []community.Member, limit int,
) (out []Member, err error) {
	for _, m := range list {
		if len(out) == limit {
			break
		}
		ok, err := see.Node(ctx, m.ID)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		row := Member{ID: m.ID, Inside: Inside(m.Inside)}
		n, err := names.Node(ctx, m.ID)
		if err != nil {
			return nil, err
		}
		if n != nil {
			row.Key, row.NodeType, row.Summary = verb.Text(n.Key), verb.Text(n.Type), verb.Text(n.Summary)
		}
		out = append(out, row)
	}
	return out, nil
}
