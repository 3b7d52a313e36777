package stage

import (
	"context"
	"slices"

	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// Names of parameters of warnings.
const (
	paramSmallest = "smallest"
	paramNodes    = "nodes"
	paramSources  = "sources"
	paramFrom     = "from"
	paramModel    = "model"
	paramModels   = "models"
	paramVectors  = "vectors"
	paramWay      = "way"
	paramRewrites = "rewrites"
	paramDates    = "dates"
	paramWord     = "word"
	paramTerm     = "term"
)

func warning(code retrieve.Code, param string, n int) retrieve.Warning {
	return retrieve.Warning{Code: code, Params: []ipld.Entry{{Key: param, Value: ipld.IntValue(int64(n))}}}
}

// warnings returns what the answer must say of itself, in the order of the table.
func (r *run) warnings(ctx context.Context, a *retrieve.Answer) ([]retrieve.Warning, error) {
	var out []retrieve.Warning
	f := r.find
	if f.asked && f.text.Terms == 0 && f.exact == 0 {
		out = append(out, retrieve.Warning{Code: retrieve.NoTerms})
	}
	textBlocked := f.asked && f.text.Known > 0 && len(f.text.Hits) == 0
	if f.exact == 0 && (textBlocked || len(r.lists) == 0 && f.blocked) {
		out = append(out, retrieve.Warning{Code: retrieve.NothingPasses})
	}
	if len(a.Items) == 0 && a.Dropped > 0 {
		smallest := a.DroppedItems[0].Tokens
		for _, d := range a.DroppedItems {
			smallest = min(smallest, d.Tokens)
		}
		out = append(out, warning(retrieve.BudgetTooSmall, paramSmallest, smallest))
	}
	out = append(out, r.expand.expansionWarnings()...)
	if r.filter.Erased > 0 {
		out = append(out, warning(retrieve.Redacted, paramNodes, r.filter.Erased))
	}
	if r.req.UnseenFrom > 0 {
		out = append(out, warning(retrieve.UnseenCut, paramFrom, int(r.req.UnseenFrom)))
	}
	out = append(append(out, f.noVectors...), f.otherDims...)
	if r.pack.stale > 0 {
		out = append(out, warning(retrieve.StaleVectors, paramNodes, r.pack.stale))
	}
	out = append(out, r.respelled()...)
	if len(r.req.EdgeWeights) > 0 && !r.expands() {
		out = append(out, retrieve.Warning{Code: retrieve.EdgeWeightsUnused})
	}
	if r.req.Community && r.grouped == 0 {
		out = append(out, retrieve.Warning{Code: retrieve.NoCommunity})
	}
	if r.unranked {
		by := ipld.Entry{Key: paramModel, Value: ipld.StringValue(r.req.Rerank)}
		out = append(out, retrieve.Warning{Code: retrieve.NotReranked, Params: []ipld.Entry{by}})
	}
	idle, err := r.pack.idleWarnings(ctx)
	return slices.Concat(out, f.rewriteWarnings(), r.timeWarnings(), idle, f.noSparse), err
}
