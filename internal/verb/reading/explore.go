package reading

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/memory/recall"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/view/community"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

const (
	maxListed = 100_000
	maxHops   = 1000 // of a path
	wayWidth  = 28   // characters of a node that a reason names
	// shortPrefix is the length from which digits name a node by its id: fewer may well be a word, or a year.
	shortPrefix = 8
)

// ExploreRequest asks what surrounds a node or a topic.
type ExploreRequest struct {
	Topic       string   `op:",arg,remote,words" doc:"a node by key, id, at least 8 digits of an id, or exact title; or words to look for"`
	To          string   `op:",remote" doc:"find a shortest path to this {NODE}"`
	Tags        bool     `op:",remote" doc:"suggest tags for the text"`
	Communities bool     `op:",remote" doc:"list groups of densely connected nodes, or the members of the one of a node"`
	Keep        bool     `op:",writes" doc:"with --communities: keep them, so that others need not find them again"`
	Depth       int      `op:",remote" doc:"follow up to {N} edges in a row (default: 3 from words, 32 with --to)"`
	In          bool     `op:",remote" not:"out" doc:"follow edges against their direction only"`
	Out         bool     `op:",remote" doc:"follow edges in their direction only"`
	Edge        []string `op:",remote" doc:"follow only edges of this {TYPE}" note:" (repeatable)"`
	Type        []string `op:",remote" doc:"only nodes of this {TYPE}, on the way too" note:" (repeatable)"`
	Limit       int      `op:",remote" default:"16" doc:"at most {N} nodes, or communities; 0 for all"`
	Adjacency   int      `op:",remote" doc:"list {N} edges of each node in each direction too"`
	verb.AtRevision
	verb.Marks
	verb.Params
}

// Explored holds the surroundings of a node or a topic.
type Explored struct {
	Commit      ipld.CID              `json:"commit" shape:"null"`
	Node        *NodeName             `json:"node"` // that the topic names, null for words
	Nodes       []ExploredNode        `json:"nodes"`
	More        int                   `json:"more"` // nodes or communities that are not listed
	Cut         uint64                `json:"cut"`  // edges of large nodes that were not looked at
	Tags        []recall.SuggestedTag `json:"tags,omitzero"`
	Communities []Community           `json:"communities,omitzero"`
}

// NodeName identifies a node.
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

// ExploredNode is one node that was found, and why.
type ExploredNode struct {
	NodeName
	Score   int64           `json:"score"` // comparable within an answer, 0 for a path
	Hops    int             `json:"hops"`  // 0 if no edge leads there
	Why     verb.Text       `json:"why"`   // the reasons in words
	Reasons []recall.Reason `json:"reasons"`
	Edges   *Buckets        `json:"edges,omitempty"`
}

// Explore shows what surrounds a node or a topic.
var Explore = verb.Define(verb.Spec{
	Command: "explore", Right: verb.NoRight, Confined: true, Usage: "[NODE|TEXT…] [flags]", Group: "read", Effect: verb.Reads,
	Pure: true, Derived: true,
	Title: "Show what surrounds a node or a topic, and how it is connected",
	Doc: "List what surrounds a node, best first, each neighbour with its reason: an edge, a mention of a\n" +
		"title, shared entities and tags, or shared words. With --depth, --in, --out or --edge only edges\n" +
		"count. For words that name no node, the search starts at the nodes that match them.\n\n" +
		"Beyond one hop, the most promising nodes of each hop are followed: by the weights of the edges on\n" +
		"the path and by how well they match the topic, reduced for nodes with many edges on the path and\n" +
		"for nodes that resemble each other. Nodes and edges hidden by a mark are neither found nor passed.\n\n" +
		"--to finds a path with the fewest edges, of several always the same one. --tags suggests three to\n" +
		"six tags for a text: those of the most similar memories, then names in the text.\n\n" +
		"--communities lists sets of nodes with more edge weight inside than chance would give, the largest\n" +
		"first. They depend on the edges alone, and 'mnem retrieve --set community' uses them. Computing them\n" +
		"takes some seconds for 300,000 edges; --keep, or any process that may write, keeps them until the\n" +
		"edges change. \"-\" reads the TEXT from standard input.",
	Example: "  mnem explore svc/billing\n  mnem explore billing outage\n  mnem explore alice --in --edge owns\n" +
		"  mnem explore alice --to bruno\n  mnem explore --tags 'The billing cache ran out of memory'\n" +
		"  mnem explore --communities\n  mnem explore alice --communities --at HEAD~1 --json",
	Exclude: [][]string{{"to", "tags", "communities"}},
}, explore)

func (q *ExploreRequest) Check() error {
	most, mode, unused := recall.MaxDepth, "", []string(nil)
	switch edges := []string{"depth", "in", "out", "edge", "type", "adjacency"}; {
	case q.To != "":
		most, mode, unused = maxHops, "to", []string{"type", "limit"}
	case q.Tags:
		mode, unused = "tags", append(edges, "limit", "include")
	case q.Communities:
		mode, unused = "communities", edges
	}
	for _, name := range unused {
		if q.Given(name) {
			return verb.Between("%s has no meaning with %s", name, mode)
		}
	}
	if q.Keep && !q.Communities {
		return verb.Between("%s is for %s", "keep", "communities")
	}
	if q.Topic == "" && !q.Communities {
		return verb.Usagef("what to explore is missing: a node, or words")
	}
	hops := cmp.Or(q.Depth, 1)
	if q.Given("depth") {
		hops = q.Depth
	}
	_, err := q.States()
	return cmp.Or(verb.CheckRange("depth", hops, 1, most), verb.CheckRange("limit", q.Limit, 0, maxListed),
		verb.CheckRange("adjacency", q.Adjacency, 0, retrieve.MaxAdjacency), err)
}

func (q *ExploreRequest) filter(let []graph.State) recall.Filter {
	f := recall.Filter{EdgeTypes: q.Edge, Types: q.Type, Marks: let}
	if q.Out {
		f.Directions = []adjacency.Direction{adjacency.Out}
	} else if q.In {
		f.Directions = []adjacency.Direction{adjacency.In}
	}
	return f
}

func explore(ctx context.Context, s *verb.Service, q *ExploreRequest) (*Explored, error) {
	let, err := q.States()
	if err != nil {
		return nil, err
	}
	snap, err := s.At(ctx, q.At)
	if err != nil {
		return nil, err
	}
	see, out, limit := Visible{snap, let}, &Explored{Commit: snap.CID()}, cmp.Or(q.Limit, maxListed)
	if q.Tags {
		tags, err := recall.Suggest(ctx, snap, q.Topic)
		out.Tags = append([]recall.SuggestedTag{}, tags...)
		return out, err
	}
	if q.Topic != "" {
		if out.Node, err = q.named(ctx, see); err != nil {
			return nil, err
		}
	}
	switch {
	case q.Communities:
		return out, out.communities(ctx, see, limit)
	case q.To != "":
		err = out.path(ctx, see, q)
	default:
		err = out.surroundings(ctx, see, q, limit)
	}
	for i := range out.Nodes {
		if err == nil && q.Adjacency > 0 {
			var edges Buckets
			edges, err = see.Buckets(ctx, out.Nodes[i].ID, q.Adjacency)
			out.Nodes[i].Edges = &edges
		}
	}
	return out, err
}

// named returns the node that the topic names, nil if it names none for sure. What must be a node is looked up as
// everywhere else.
func (q *ExploreRequest) named(ctx context.Context, see Visible) (*NodeName, error) {
	must := q.To != "" || q.Communities
	find := rank.FindTitle
	if must {
		find = rank.Find
	}
	id, err := find(ctx, see.Snapshot, q.Topic, see.Shows)
	switch {
	case err == nil:
	case must:
		return nil, verb.NodeHint(err)
	default:
		return nil, q.unnamed(err)
	}
	n, _, err := see.Snapshot.Node(ctx, id)
	if err != nil {
		return nil, err
	}
	name, digits := NameOf(n), strings.HasPrefix(id.String(), strings.ToLower(q.Topic))
	if digits && !must && len(q.Topic) < shortPrefix && n.Key != q.Topic && n.Summary != q.Topic {
		return nil, nil
	}
	shown, err := see.Node(ctx, id)
	if !shown { // a key or an id names it all the same
		name.Summary = ""
	}
	return &name, err
}

// unnamed returns the error of a topic that names no node, nil if it may be words.
func (q *ExploreRequest) unnamed(err error) error {
	var missing *state.NotFoundError
	var unsure *state.AmbiguousError
	_, notID := graph.ParseID(q.Topic)
	switch {
	case notID == nil, strings.HasPrefix(q.Topic, "key:"), strings.HasPrefix(q.Topic, "id:"),
		errors.As(err, &missing) && missing.Hidden != "":
		return verb.NodeHint(err)
	case errors.Is(err, store.ErrNotFound), errors.As(err, &unsure):
		return nil
	}
	return err
}

// surroundings lists what surrounds the node that is named, or the nodes that match a topic.
func (x *Explored) surroundings(ctx context.Context, see Visible, q *ExploreRequest, limit int) (err error) {
	var found *recall.Exploration
	filter := q.filter(see.Let)
	if x.Node != nil && q.Depth <= 1 {
		linked := q.Depth == 1 || q.In || q.Out || len(q.Edge) > 0
		found, err = recall.Related(ctx, see.Snapshot,
			recall.RelatedRequest{ID: x.Node.ID, Linked: linked, Edges: limit, Filter: filter})
	} else {
		req := recall.ExploreRequest{Topic: q.Topic, Depth: cmp.Or(q.Depth, recall.DefaultDepth), Filter: filter}
		req.Beam = min(max(1, limit/(req.Depth+1)), recall.MaxBeam)
		if x.Node != nil {
			req.Node, req.Topic = x.Node.ID, ""
		}
		found, err = recall.Explore(ctx, see.Snapshot, req)
	}
	if err != nil {
		return err
	}
	x.Cut = found.Cut
	x.More = max(0, len(found.Nodes)-limit)
	for _, n := range found.Nodes[:len(found.Nodes)-x.More] {
		x.Nodes = append(x.Nodes, ExploredNode{
			NodeName: NameOf(n.Node), Score: n.Score, Hops: n.Hops, Reasons: n.Reasons})
	}
	x.say()
	return nil
}

// path lists the nodes of a shortest path, none if there is no path.
func (x *Explored) path(ctx context.Context, see Visible, q *ExploreRequest) error {
	to, err := see.Find(ctx, q.To)
	if err != nil {
		return err
	}
	opt := adjacency.PathOptions{Types: q.Edge, MaxHops: q.Depth, Direction: adjacency.Both}
	if one := q.filter(nil).Directions; one != nil {
		opt.Direction = one[0]
	}
	opt.Skip = func(ctx context.Context, e adjacency.Entry) (bool, error) {
		ok, err := see.Edge(ctx, e.Edge, e.Other)
		return !ok, err
	}
	steps, found, err := see.Snapshot.Adjacency().ShortestPath(ctx, x.Node.ID, to, opt)
	if errors.Is(err, adjacency.ErrTooFar) {
		return verb.Hint(err, "narrow the search with --edge or --depth", "narrow the search with edge or depth")
	}
	if err != nil || !found {
		return err
	}
	x.Nodes = []ExploredNode{{NodeName: *x.Node}}
	for _, step := range steps {
		n, _, err := see.Snapshot.Node(ctx, step.To)
		if err != nil {
			return err
		}
		why := recall.Reason{Kind: "edge", Edge: &step}
		x.Nodes = append(x.Nodes, ExploredNode{NodeName: NameOf(n), Hops: len(x.Nodes), Why: verb.Text(say(why, nil)),
			Reasons: []recall.Reason{why}})
	}
	return nil
}

// say puts the reasons of the nodes into words.
func (x *Explored) say() {
	known := map[graph.ID]*ExploredNode{}
	for i := range x.Nodes {
		known[x.Nodes[i].ID] = &x.Nodes[i]
	}
	for i := range x.Nodes {
		var all []string
		for _, r := range x.Nodes[i].Reasons {
			all = append(all, say(r, known))
		}
		x.Nodes[i].Why = verb.Text(strings.Join(all, "; "))
	}
}

// say puts a reason into words: of an edge the way to the node, from one that is found without an edge.
func say(r recall.Reason, known map[graph.ID]*ExploredNode) string {
	switch r.Kind {
	case "edge":
		way := " this"
		for step := r.Edge; ; {
			arrow := "<-" + step.Type + "-"
			if step.Forward {
				arrow = "-" + step.Type + "->"
			}
			from := known[step.From]
			if from == nil {
				return strings.TrimSpace(arrow + way)
			}
			way = " " + arrow + way
			name := plain.Brief(cmp.Or(string(from.Summary), string(from.Key), from.ID.String()), wayWidth)
			if from.Hops == 0 || len(from.Reasons) == 0 {
				return name + way
			}
			way, step = " "+name+way, from.Reasons[0].Edge
		}
	case "match":
		return "matches"
	case "mentions":
		return "its title is mentioned"
	case "mentioned":
		return "it mentions the title"
	case "shared":
		names := make([]string, len(r.Names))
		for i, n := range r.Names {
			names[i] = plain.Brief(n, wayWidth)
		}
		return "both have " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("%d%% of their words", r.Score*100/graph.MaxWeight)
}

const shownMembers = 5 // of each community in a list

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

// communities lists the communities of a commit with their first members, or all members of the one of the node.
func (x *Explored) communities(ctx context.Context, see Visible, limit int) error {
	p, err := outline.Communities(ctx, see.Snapshot)
	if err != nil {
		return err
	}
	names := NewLabels(see.Snapshot)
	first, last, most := 0, min(p.Len(), limit), shownMembers
	x.Communities, x.More = []Community{}, p.Len()-last
	if x.Node != nil {
		number, ok := p.Of(x.Node.ID)
		if x.More = 0; !ok {
			return nil
		}
		first, last, most = number, number+1, limit
	}
	for number := first; number < last; number++ {
		list := p.Members(number)
		one := Community{Number: number + 1, Size: len(list)}
		if one.Members, err = members(ctx, names, see, list, most); err != nil {
			return err
		}
		if one.Title, err = one.title(ctx, see.Snapshot); err != nil {
			return err
		}
		x.Communities = append(x.Communities, one)
	}
	return nil
}

func (c *Community) title(ctx context.Context, s *core.Snapshot) (string, error) {
	var ids []graph.ID
	for _, m := range c.Members {
		ids = append(ids, m.ID)
	}
	return history.Titler{}.Nodes(ctx, s, ids)
}

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
