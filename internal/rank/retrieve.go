// Package rank answers retrieval requests from a snapshot: it opens the indexes of the commit and gives them to
// internal/rank/stage, which ranks. It also finds nodes by name and reads and writes retrieval profiles.
package rank

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/cache"
	"github.com/mnem-project/mnem/internal/base/tuning"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/rank/stage"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view"
	"github.com/mnem-project/mnem/internal/view/index"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// Retrieve answers a request from the snapshot, which must belong to a commit. The same commit and request give the
// same answer in every process. Open parameters come from the matching profile (see Resolve).
func Retrieve(ctx context.Context, s *core.Snapshot, req retrieve.Request) (*retrieve.Answer, error) {
	return RetrieveTraced(ctx, s, req, nil)
}

// RetrieveTraced is Retrieve, and fills in trace, if it is not nil. A trace changes no answer.
func RetrieveTraced(
	ctx context.Context, s *core.Snapshot, req retrieve.Request, trace *stage.Trace,
) (*retrieve.Answer, error) {
	return answer(ctx, s, req, stage.Runner{Trace: trace})
}

// RetrieveTuned is Retrieve with a different value for a constant of the ranking, for measurements. The answer has no
// ranking version.
func RetrieveTuned(
	ctx context.Context, s *core.Snapshot, req retrieve.Request, by *tuning.Constant,
) (*retrieve.Answer, error) {
	return answer(ctx, s, req, stage.Runner{Tuning: by})
}

// answer runs a request with a runner, on the repository's indexes.
func answer(ctx context.Context, s *core.Snapshot, req retrieve.Request, u stage.Runner) (*retrieve.Answer, error) {
	if !s.Id.Defined() {
		return nil, &state.NotFoundError{What: "commit", Name: "to retrieve from"}
	}
	req, err := Excluding(ctx, s, req)
	if err != nil {
		return nil, err
	}
	if req, err = profiled(ctx, s, req); err != nil {
		return nil, err
	}
	// Nothing here waits for the writer's turn, within which answers are asked for too. A model may take as long as
	// it likes.
	if req.Reranker == nil {
		if err := s.Repo.Answering.Take(ctx); err != nil {
			return nil, err
		}
		defer s.Repo.Answering.Give()
	}
	u.Counters, u.Mentions = s.Repo.Counters, OpenMentions(s)
	var found *retrieve.Answer
	err = s.WithIndex(ctx, func(x *index.Index) error {
		erased := int(s.State.Nodes.Len()) - int(x.Stats().Nodes)
		g := graphView{State: s.State, s: s, erased: erased, links: new(linkView), nodes: map[graph.ID]foundNode{}}
		found, err = u.Run(ctx, g, newIndexView(s, x), s.Id, req)
		return err
	})
	return found, err
}

// TermScore is the contribution of one term of a query to a node's score in the text lane.
type TermScore struct {
	Term   string `json:"term"`
	ReadAs string `json:"read_as,omitempty"` // the term that it was read as, "" for itself
	Added  bool   `json:"added,omitempty"`   // not in the query, but kindred to a term of it
	Score  int64  `json:"score"`
}

// TermScores explains the text lane of an answer. For each node it lists the query's terms that the node has, in the
// order of their first occurrence in the query, some read as the answer says, and then kindred terms. Their scores add
// up to the node's.
func TermScores(ctx context.Context, s *core.Snapshot, a *retrieve.Answer, ids []graph.ID) ([][]TermScore, error) {
	out := make([][]TermScore, len(ids))
	if !s.Id.Defined() || len(ids) == 0 {
		return out, nil
	}
	var got *index.TermScores
	err := s.WithIndex(ctx, func(x *index.Index) (err error) {
		q := source.TextQuery{Text: a.Request.Text, Readings: a.Readings, Added: a.Kin}
		got, err = x.Split(ctx, newIndexView(s, x).query(q), ids, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	as := make(map[string]string)
	for _, r := range a.Readings {
		as[r.Term] = r.As
	}
	own := len(got.Terms) - len(a.Kin)
	for i, row := range got.Scores {
		for t, n := range row {
			if n > 0 {
				term := got.Terms[t]
				out[i] = append(out[i], TermScore{term, as[term], t >= own, n})
			}
		}
	}
	return out, nil
}

// Mentions returns the nodes that a node's content mentions by their titles, and those whose contents mention it, both
// in id order: links that texts make and expansion follows, which are no edges. keep says which nodes take part.
func Mentions(
	ctx context.Context, s *core.Snapshot, n *graph.Node, keep func(context.Context, graph.ID) (bool, error),
) (mentioned, by []graph.ID, err error) {
	if !s.Id.Defined() {
		return nil, nil, nil
	}
	err = s.WithIndex(ctx, func(x *index.Index) (err error) {
		mentioned, by, err = source.Mentions(ctx, graphView{State: s.State, s: s}, newIndexView(s, x), n, keep)
		return err
	})
	return mentioned, by, err
}

// graphView is the graph as retrieval sees it: a source.Graph.
type graphView struct {
	*state.State
	s      *core.Snapshot
	erased int       // nodes that are no documents, since they were erased
	links  *linkView // nil if edges are read from the trees alone
	// nodes are the first that were read: the best are asked for several times. nil keeps none.
	nodes map[graph.ID]foundNode
}

// foundNode is a node with the CID of its record.
type foundNode struct {
	node *graph.Node
	cid  ipld.CID
}

// maxFoundNodes is how many nodes a retrieval keeps.
const maxFoundNodes = 256

// ErasedNodes implements source.Erased.
func (g graphView) ErasedNodes() int { return g.erased }

// Unmarked implements source.Unmarked.
func (g graphView) Unmarked() bool { return g.State.Marks.Len() == 0 }

// IsErased implements source.Erased.
func (g graphView) IsErased(ctx context.Context, id graph.ID) (bool, error) {
	d, err := view.Document(ctx, g.State, id)
	return d == nil && err == nil, err
}

// Node implements source.Graph. It keeps the first maxFoundNodes nodes unless g.nodes is nil. An erased node is
// source.ErrNoNode, like a missing one.
func (g graphView) Node(ctx context.Context, id graph.ID) (*graph.Node, ipld.CID, error) {
	if found, ok := g.nodes[id]; ok {
		return found.node, found.cid, nil
	}
	st := g.State
	n, c, err := state.Fetch(ctx, g.s.KeptNodes(), st.Nodes, id[:], commit.ReadNode)
	if err == nil && n == nil || errors.Is(err, store.ErrRedacted) {
		err = fmt.Errorf("%w: %s", source.ErrNoNode, id)
	}
	if err == nil && g.nodes != nil && len(g.nodes) < maxFoundNodes {
		g.nodes[id] = foundNode{n, c}
	}
	return n, c, err
}

// IDPrefix implements source.Graph.
func (g graphView) IDPrefix(ctx context.Context, digits string) (graph.ID, bool, error) {
	id, n, err := core.ByPrefix(ctx, g.State.Nodes, digits)
	return id, n == 1, err
}

// indexView is the index as one retrieval sees it: a source.Index.
type indexView struct {
	*index.Index
	s *core.Snapshot
	// texts are the texts that were asked about. A retrieval asks many questions about the few texts of its request.
	texts map[string]*index.QueryText
}

func newIndexView(s *core.Snapshot, x *index.Index) indexView {
	return indexView{x, s, map[string]*index.QueryText{}}
}

func (v indexView) text(s string) *index.QueryText {
	t := v.texts[s]
	if t == nil {
		t = v.Analyse(s)
		v.texts[s] = t
	}
	return t
}

func (v indexView) query(q source.TextQuery) index.Query {
	terms := slices.Clip(v.text(q.Text).Query(q.Readings))
	for _, t := range q.Added {
		terms = append(terms, index.QueryTerm{Term: t.Term, As: t.Term, Times: 1, Weight: t.Weight})
	}
	return terms
}

// Readings implements source.Index.
func (v indexView) Readings(ctx context.Context, text string) ([]retrieve.Reading, error) {
	return v.text(text).Readings(ctx)
}

// Text implements source.Index.
func (v indexView) Text(
	ctx context.Context, query source.TextQuery, accept source.Accept, k int,
) (source.TextResult, error) {
	return v.Search(ctx, v.query(query), accept, k)
}

// TermScores implements source.Index.
func (v indexView) TermScores(
	ctx context.Context, query source.TextQuery, ids []graph.ID, only []int,
) ([][]int64, error) {
	got, err := v.Split(ctx, v.query(query), ids, only)
	if err != nil {
		return nil, err
	}
	return got.Scores, nil
}

// TermWeights implements source.Index.
func (v indexView) TermWeights(ctx context.Context, query source.TextQuery) ([]source.TermWeight, error) {
	return v.Index.TermWeights(ctx, v.query(query))
}

// TitlesNamed implements source.Index.
func (v indexView) TitlesNamed(ctx context.Context, query source.TextQuery, ids []graph.ID) ([][]int, error) {
	return v.text(query.Text).TitlesNamed(ctx, query.Readings, ids)
}

// Counts implements source.Index.
func (v indexView) Counts(ctx context.Context, terms []string) (having []int64, nodes int64, err error) {
	having = make([]int64, len(terms))
	for i, term := range terms {
		if having[i], err = v.TermStats(ctx, term); err != nil {
			return nil, 0, err
		}
	}
	return having, v.Stats().Nodes, nil
}

// TermCounts returns how many nodes of the snapshot's commit have each of some terms of the analyser in any field, and
// the number of nodes: df and N of clause 9.2. It reads only these terms from the index.
func TermCounts(ctx context.Context, s *core.Snapshot, terms []string) (nodes []int64, of int64, err error) {
	if !s.Id.Defined() {
		return make([]int64, len(terms)), 0, nil
	}
	err = s.WithIndex(ctx, func(x *index.Index) (err error) {
		nodes, of, err = newIndexView(s, x).Counts(ctx, terms)
		return err
	})
	return nodes, of, err
}

// keptMentions remembers the mentions of a graph's nodes from one retrieval to the next, as retrieve.MentionMemo.
type keptMentions struct {
	nodes ipld.CID
	epoch int // of kept, when the retrieval began
	kept  *cache.Cache[core.MentionsOf, *source.Mentioning]
}

func (k keptMentions) of(id graph.ID, d retrieve.Direction) core.MentionsOf {
	return core.MentionsOf{Nodes: k.nodes, Node: id, In: d == retrieve.In}
}

// OpenMentions returns those of the snapshot's nodes, on which alone they depend: not on edges or marks.
func OpenMentions(s *core.Snapshot) keptMentions {
	_, _, epoch := s.Repo.Mentions.Get(core.MentionsOf{})
	return keptMentions{s.State.Nodes.Root(), epoch, &s.Repo.Mentions}
}

// Known returns what is kept of a node, nil for nothing.
func (k keptMentions) Known(id graph.ID, d retrieve.Direction) *source.Mentioning {
	m, _, _ := k.kept.Get(k.of(id, d))
	return m
}

// Remember keeps what was found of a node.
func (k keptMentions) Remember(id graph.ID, d retrieve.Direction, m *source.Mentioning) {
	k.kept.AddSince(k.epoch, k.of(id, d), m, int64(len(m.IDs)*graph.IDLen))
}

// Excluding returns the request with the names of excluded nodes resolved. A whole id stands for
// itself whether or not the commit has the node, which may be gone; any other name that the commit
// does not know is refused, as it would exclude nothing.
func Excluding(ctx context.Context, s *core.Snapshot, req retrieve.Request) (retrieve.Request, error) {
	if err := req.ValidateGiven(); err != nil {
		return req, err
	}
	exclude := slices.Clone(req.Exclude)
	for _, name := range req.ExcludeNames {
		id, err := s.Name(ctx, name)
		if errors.Is(err, store.ErrNotFound) {
			if whole, bad := graph.ParseID(strings.TrimPrefix(name, "id:")); bad == nil {
				id, err = whole, nil
			}
		}
		if err != nil {
			return req, err
		}
		exclude = append(exclude, id)
	}
	req.Exclude, req.ExcludeNames = exclude, nil
	return req, nil
}
