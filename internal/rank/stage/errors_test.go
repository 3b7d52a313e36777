package stage

import (
	"context"
	"errors"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// graphIndex is both sources of a run.
type graphIndex interface {
	source.Graph
	source.Index
}

// grouped is a graph with communities, which it fails to find.
type grouped struct{ *memory }

func (m grouped) Community(context.Context, graph.ID) (*source.Community, error) {
	return nil, m.fail("Community")
}

// sparse is an index of sparse vectors, which it fails to search.
type sparse struct{ *memory }

func (m sparse) Sparse(context.Context, retrieve.SparseVector, source.Accept, int) (source.SparseResult, error) {
	return source.SparseResult{}, m.fail("Sparse")
}

// TestErrorsComeBack: a request that needs a method of the graph or the index fails with its error, and has no answer.
func TestErrorsComeBack(t *testing.T) {
	words := func(m evenMemory) (*memory, graphIndex) { return m.memory, m }
	plain := func(m *memory) (*memory, graphIndex) { return m, m }
	beef := func() (*memory, graphIndex) {
		m := library()
		m.add(graph.Node{Key: "beef", Summary: "beef web", Content: &graph.Content{Text: "the web", Size: 7}, Created: 1})
		return plain(m)
	}
	none := retrieve.ExpansionOptions{Expand: new(0)}
	for name, c := range map[string]struct {
		of      func() (*memory, graphIndex)
		req     retrieve.Request
		methods []string
	}{
		"text": {beef, retrieve.Request{Text: "beef", OutputOptions: retrieve.OutputOptions{Adjacency: 1,
			Show: []string{retrieve.ShowContent}}}, []string{"Node", "Mark", "Bucket", "IDPrefix", "Content", "Text",
			"TermScores", "Mentioned", "Mentioning"}},
		"newest": {beef, retrieve.Request{}, []string{"Recency"}},
		"a type": {beef, retrieve.Request{Text: "web", Types: []string{"X"}}, []string{"Recency"}},
		"decay": {beef, retrieve.Request{Text: "beef", ExpansionOptions: retrieve.ExpansionOptions{
			Expansion: retrieve.Decay}}, []string{"Bucket", "Mark", "Mentioned", "Mentioning"}},
		"page rank": {beef, retrieve.Request{Text: "beef", ExpansionOptions: retrieve.ExpansionOptions{
			Expansion: retrieve.PPR}}, []string{"Bucket", "Mark", "Mentioned", "Mentioning"}},
		"passages": {beef, retrieve.Request{Text: "beef", OutputOptions: retrieve.OutputOptions{
			Pack: retrieve.PackPassages}}, []string{"TermWeights", "Content"}},
		"brief": {beef, retrieve.Request{Text: "web ?", ExpansionOptions: none,
			OutputOptions: retrieve.OutputOptions{Format: retrieve.FormatBrief}}, []string{"IDPrefix"}},
		"without repeats": {beef, retrieve.Request{Text: "web", Dedup: true}, []string{"Content"}},
		"spelling":        {beef, retrieve.Request{Text: "webq"}, []string{"Readings"}},
		"communities": {func() (*memory, graphIndex) { m := library(); return m, grouped{m} },
			retrieve.Request{Text: "web", Community: true}, []string{"Community"}},
		"a date":       {beef, retrieve.Request{Text: "web in 2023"}, []string{"Times"}},
		"a date alone": {beef, retrieve.Request{Text: "in 2023"}, []string{"ByTime"}},
		"vectors": {func() (*memory, graphIndex) { return plain(shelf()) }, retrieve.Request{Vectors: vectorOf("m", 1, 0)},
			[]string{"Dense", "Embedding"}},
		"sparse vectors": {func() (*memory, graphIndex) { m := shelf(); return m, sparse{m} },
			retrieve.Request{Sparse: sparseOf("s", graph.Term{Term: "y", Weight: 1})}, []string{"Sparse"}},
		"a verdict": {func() (*memory, graphIndex) { return words(says("zorb plim", "zorb plim grak")) },
			retrieve.Request{Text: "zorb plim", ExpansionOptions: none},
			[]string{"Types", "TermWeights", "TermScores", "Counts", "IDFs", "Mark", "Node"}},
		"a reason": {func() (*memory, graphIndex) { return words(says("zorb", "plim")) },
			retrieve.Request{Text: "why zorb", Intent: retrieve.IntentWhy, ExpansionOptions: none},
			[]string{"Times", "ByTime", "Bucket", "Mark", "Node"}},
	} {
		for _, method := range c.methods {
			m, sources := c.of()
			m.failOn = method
			a, err := (Runner{}).Run(t.Context(), sources, sources, testCommit, ofAll(c.req))
			must.Check(t, errors.Is(err, errBroken) && a == nil, "%s: %s fails: %v, %v", name, method, a, err)
		}
	}
	m := library()
	m.failOn = "Node"
	must.Fail(t, must.Err((Runner{}).Run(t.Context(), m, m, testCommit, retrieve.Request{Text: "web",
		RerankOptions: retrieve.RerankOptions{Reranker: &judge{}}})), errBroken, "a reranker's texts")
	unseen := retrieve.Request{Exclusions: retrieve.Exclusions{Unseen: true}}
	must.Fail(t, must.Err(complete.ExcludeSeen(unseen, func(yield func(complete.Shown, error) bool) {
		yield(complete.Shown{}, errBroken)
	})), errBroken, "a session's records")
}

// TestMissingNode checks that a graph which lost a node is an error, never a shorter answer.
func TestMissingNode(t *testing.T) {
	m := library()
	m.link(graph.NodeID("alice"), "knows", num(7), 65_536)
	_, err := Runner{}.Run(t.Context(), m, m, testCommit, retrieve.Request{Text: "alice"})
	must.Fail(t, err, source.ErrNoNode)
}

// TestIndexWithoutVectors: an index that keeps no vectors of a kind says so, and does not answer without them.
func TestIndexWithoutVectors(t *testing.T) {
	m := shelf()
	for _, req := range []retrieve.Request{
		{Vectors: vectorOf("m", 1)}, {Sparse: sparseOf("s", graph.Term{Term: "y", Weight: 1})},
	} {
		a, err := Runner{}.Run(t.Context(), m, struct{ source.Index }{m}, testCommit, req)
		must.Check(t, err != nil && a == nil, "%+v: %v, %v", req, a, err)
	}
}

// brokenDocument fails to read its properties.
type brokenDocument struct{ source.Document }

func (brokenDocument) Prop(string) (ipld.Value, bool, error) {
	return ipld.Value{}, false, errBroken
}

func TestAcceptFails(t *testing.T) {
	n := &graph.Node{ID: num(1), Type: "A"}
	req := retrieve.Request{Where: []retrieve.Predicate{{Name: "p", Op: retrieve.Exists}}}
	f := source.NewFilter(newMemory(), &req)
	ok, err := f.Accept(t.Context())(brokenDocument{source.NodeDocument(n)})
	must.Check(t, !ok && errors.Is(err, errBroken), "accepted %v, error %v", ok, err)
}
