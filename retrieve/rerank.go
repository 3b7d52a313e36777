package retrieve

import (
	"context"
	"math"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/ipld"
)

// Defaults and bounds of reranking: clauses 8.1 and 21.
const (
	DefaultRerankTop = 50 // nodes
	MaxRerankTop     = 200
	MaxRerankScore   = 1 << 31 // magnitude of a score in units of 2^-16
)

// Reranker judges how well texts answer a query: package rerank has some that ask a server.
type Reranker interface {
	// Model names it in receipts: 1 to graph.MaxModel bytes.
	Model() string
	// Rerank returns one score for each text, in units of 2^-16 and of at most MaxRerankScore in
	// magnitude. An error leaves the order as it is, unless ctx has ended.
	Rerank(ctx context.Context, query string, texts []string) ([]int64, error)
}

// RerankScore is the score that a Reranker gave one node.
type RerankScore struct {
	ID    graph.ID
	Score int64 // units of 2^-16
}

// checkRerank checks the parameters of this file.
func (r *Request) checkRerank() error {
	by := r.Rerank
	if r.Reranker != nil && by == "" {
		by = r.Reranker.Model()
	}
	switch {
	case by == "" && r.RerankTop != nil:
		return badParam("rerankTop", "nothing reranks: give rerank too")
	case by == "" && len(r.Reranked) > 0:
		return badParam("reranked", "scores without a reranker's name: give rerank too")
	case r.Reranker != nil && by != r.Reranker.Model():
		return badParam("rerank", "%s, but the reranker is %s", shortQuote(by), shortQuote(r.Reranker.Model()))
	case len(r.Reranked) > MaxRerankTop:
		return badParam("reranked", "%d scores, limit %d", len(r.Reranked), MaxRerankTop)
	}
	if by != "" {
		if err := checkModel(by); err != nil {
			return badParam("rerank", "%v", err)
		}
	}
	seen := make(map[graph.ID]bool, len(r.Reranked))
	for _, s := range r.Reranked {
		if s.ID.IsZero() || seen[s.ID] {
			return badParam("reranked", "%s is there twice, or no node's id", s.ID)
		}
		if s.Score < -MaxRerankScore || s.Score > MaxRerankScore {
			return badParam("reranked", "%d is outside %d to %d", s.Score, -MaxRerankScore, MaxRerankScore)
		}
		seen[s.ID] = true
	}
	return nil
}

// resolveRerank fills in the defaults of the parameters of this file.
func (r *Request) resolveRerank() {
	if r.Rerank == "" && r.Reranker != nil {
		r.Rerank = r.Reranker.Model()
	}
	if r.Rerank != "" {
		r.RerankTop = orDefault(r.RerankTop, DefaultRerankTop)
	}
	r.Reranked = slices.Clone(r.Reranked)
	slices.SortFunc(r.Reranked, func(a, b RerankScore) int { return a.ID.Compare(b.ID) })
	if len(r.Reranked) == 0 {
		r.Reranked = nil
	}
}

// encodeReranked returns a list of maps of ids and scores.
func encodeReranked(list []RerankScore) ipld.Value {
	scores := make([]ipld.Value, len(list))
	for i, s := range list {
		scores[i] = ipld.MapValue(
			ipld.Entry{Key: "id", Value: ipld.BytesValue(s.ID[:])},
			ipld.Entry{Key: "score", Value: ipld.IntValue(s.Score)},
		)
	}
	return ipld.ListValue(scores...)
}

func decodeReranked(v ipld.Value) []RerankScore {
	var list []RerankScore
	for _, item := range v.List() {
		id, _ := item.Get("id")
		score, _ := item.Get("score")
		s := RerankScore{Score: score.Int()}
		copy(s.ID[:], id.Data())
		list = append(list, s)
	}
	return list
}

// readRerank reads the name of what reranks. Another one than the request's Reranker is not asked.
func readRerank(r *Request, p *memberParser) {
	r.Rerank = p.text()
	if r.Reranker != nil && r.Rerank != r.Reranker.Model() {
		r.Reranker = nil
	}
	if r.Rerank == "" {
		r.RerankTop = nil
	}
}

// judged reads an object of ids and their scores.
func (p *memberParser) judged() []RerankScore {
	if p.v.Kind() != ipld.Map {
		p.fail("%s, want an object of ids and scores", p.v.Kind())
	}
	var out []RerankScore
	for _, e := range p.v.Entries() {
		id, err := graph.ParseID(e.Key)
		if err != nil {
			p.fail("%v", err)
		}
		x, ok := e.Value.Number()
		if !ok {
			p.fail("%s: %s, want a number", shortQuote(e.Key), e.Value.Kind())
		}
		units := math.RoundToEven(float64(x * fixed.One))
		if !(units >= -MaxRerankScore && units <= MaxRerankScore) { // false for NaN too
			p.fail("%s: %g is outside -32768 to 32768", shortQuote(e.Key), x)
			units = 0
		}
		out = append(out, RerankScore{id, int64(units)})
	}
	return out
}
