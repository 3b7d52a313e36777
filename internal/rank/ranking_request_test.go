package rank_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// wireRequest is a request as goldens write it: the parameters of clause 8.1 of the specification by their names.
type wireRequest struct {
	Text                                                    string
	Types, Marks, ExpandTypes, Show                         []string
	Limit, Budget, Expand, SummaryCap                       *int
	Adjacency                                               int
	Exclude                                                 []string
	UnseenFrom                                              int64
	Dedup                                                   bool
	Order                                                   string
	Pack, Tokenizer, Altitude                               string
	PassageTokens                                           *int
	Direction                                               string
	CreatedFrom, CreatedTo, UpdatedFrom, UpdatedTo, ValidAt *int64
	Now                                                     *int64
	Vectors                                                 map[string][]int8
	Sparse                                                  map[string]map[string]int64
	Fusion                                                  retrieve.Fusion
	Spelling                                                retrieve.Spelling
	Intent                                                  retrieve.Intent
	Pairs                                                   retrieve.Pairing
	Weights                                                 map[retrieve.Lane]int64
	EdgeWeights                                             map[string]int64
	Expansion                                               retrieve.Expansion
	MaxExpand, Decay, Damping                               *int
	Rewrites                                                []string
	Rewrite, Rerank                                         string
	RerankTop                                               *int
	Reranked                                                map[string]int64
	Where                                                   []struct {
		Name, Op, Edges string
		Value           json.RawMessage
	}
	Community bool
	Floor     retrieve.Floor
	Format    retrieve.Format
}

func goldenRequest(t testing.TB, data []byte) retrieve.Request {
	t.Helper()
	var w wireRequest
	cases.Parse(t, data, &w)
	at := func(p *int64) graph.OptTime {
		if p == nil {
			return graph.OptTime{}
		}
		return graph.At(graph.Time(*p))
	}
	q := retrieve.Request{Floor: w.Floor, OutputOptions: retrieve.OutputOptions{Format: w.Format,
		Altitude: retrieve.Altitude(w.Altitude), Show: w.Show, SummaryCap: w.SummaryCap, Adjacency: w.Adjacency,
		Order: retrieve.Order(w.Order), Pack: retrieve.Packing(w.Pack), PassageTokens: w.PassageTokens,
		Tokenizer: w.Tokenizer},
		Text: w.Text, Types: w.Types, ExpansionOptions: retrieve.ExpansionOptions{ExpandTypes: w.ExpandTypes,
			Expand: w.Expand, Direction: retrieve.Direction(w.Direction)},
		Limit: w.Limit, Budget: w.Budget,

		TimeFilter: retrieve.TimeFilter{CreatedFrom: at(w.CreatedFrom), CreatedTo: at(w.CreatedTo),
			UpdatedFrom: at(w.UpdatedFrom), UpdatedTo: at(w.UpdatedTo), ValidAt: at(w.ValidAt)},
		Exclusions: retrieve.Exclusions{Exclude: goldenIDs(t, w.Exclude), UnseenFrom: w.UnseenFrom}, Dedup: w.Dedup,
		Community: w.Community, RewriteOptions: retrieve.RewriteOptions{Rewrites: w.Rewrites, Rewrite: w.Rewrite},
		RerankOptions: retrieve.RerankOptions{Rerank: w.Rerank, RerankTop: w.RerankTop}, Now: at(w.Now)}
	for id, score := range w.Reranked {
		s := retrieve.RerankScore{ID: goldenIDs(t, []string{id})[0], Score: score}
		q.Reranked = append(q.Reranked, s)
	}
	for _, m := range w.Marks {
		q.Marks = append(q.Marks, graph.State(m))
	}
	for model, values := range w.Vectors {
		q.Vectors = append(q.Vectors, retrieve.QueryVector{Model: model, Values: values})
	}
	for model, weights := range w.Sparse {
		v := retrieve.SparseVector{Model: model}
		for term, weight := range weights {
			v.Terms = append(v.Terms, graph.Term{Term: term, Weight: weight})
		}
		slices.SortFunc(v.Terms, func(a, b graph.Term) int { return ipld.CompareKeys(a.Term, b.Term) })
		q.Sparse = append(q.Sparse, v)
	}
	q.Fusion = w.Fusion
	q.Spelling, q.Intent = w.Spelling, w.Intent
	q.Pairs = w.Pairs
	for typ, weight := range w.EdgeWeights {
		q.EdgeWeights = append(q.EdgeWeights, retrieve.EdgeWeight{Type: typ, Weight: weight})
	}
	q.Expansion, q.MaxExpand, q.Decay, q.Damping = w.Expansion, w.MaxExpand, w.Decay, w.Damping
	for lane, weight := range w.Weights {
		q.Weights = append(q.Weights, retrieve.LaneWeight{Lane: lane, Weight: weight})
	}
	for _, p := range w.Where {
		pred := retrieve.Predicate{
			Name: p.Name, Op: retrieve.Op(p.Op), Edges: retrieve.Direction(p.Edges),
		}
		if p.Value != nil {
			value := must.Get(ipld.ParseJSON(p.Value))(t)
			pred.Value = value
		}
		q.Where = append(q.Where, pred)
	}
	return q
}

func goldenIDs(t testing.TB, texts []string) []graph.ID {
	t.Helper()
	var ids []graph.ID
	for _, s := range texts {
		id := must.Get(graph.ParseID(s))(t)
		ids = append(ids, id)
	}
	return ids
}
