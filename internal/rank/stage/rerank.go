package stage

import (
	"context"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/retrieve"
)

// Constants of reranking: clause 21.
const (
	rerankText = 4096    // scalars of a node that a Reranker reads
	judgeUnit  = 1 << 20 // one step of a Reranker's scores, above all that lies beneath
)

// rerank rescores and sorts the best candidates, which come in order: clause 21. Those of
// tier 1 and 2 are left alone. idle is true if a warning is due.
func (p *pool) rerank(ctx context.Context) (idle bool, err error) {
	if p.req.Rerank == "" {
		return false, nil
	}
	defer p.trace.stage(StageRerank)
	tier0 := slices.IndexFunc(p.found, func(c *candidate) bool { return c.tier == tierNone })
	if tier0 < 0 {
		return false, nil
	}
	list := p.found[tier0:]
	window := list[:min(*p.req.RerankTop, len(list))]
	if len(window) < 2 {
		return false, nil
	}
	done, err := p.judged(ctx, list, window)
	if err != nil || !done {
		return !done, err
	}
	rankLast(slices.Clone(window))
	slices.SortFunc(list, byRank)
	return false, nil
}

// judged lets a Reranker's scores decide, and the order before among equal ones: clause 21.
func (p *pool) judged(ctx context.Context, list, window []*candidate) (done bool, err error) {
	if p.req.Reranked == nil && p.req.Reranker != nil && !isBlank(p.req.Text) {
		if err := p.askReranker(ctx, window); err != nil {
			return false, err
		}
	}
	scores := make(map[graph.ID]int64, len(p.req.Reranked))
	low := int64(0)
	for _, s := range p.req.Reranked {
		scores[s.ID] = s.Score
		low = min(low, s.Score)
	}
	if !slices.ContainsFunc(window, func(c *candidate) bool { _, ok := scores[c.id]; return ok }) {
		return false, nil
	}
	top := list[0].score
	for _, c := range list {
		c.score = int64(fixed.MulDivSat(uint64(c.score), judgeUnit-1, uint64(max(top, 1))))
	}
	for _, c := range window {
		s, ok := scores[c.id]
		if ok {
			c.score += (s - low + 1) * judgeUnit
		} else {
			s = low - 1
		}
		c.lanes = append(slices.Clip(c.lanes), retrieve.LaneHit{Lane: retrieve.LaneRerank, Score: s})
	}
	return true, nil
}

// askReranker fills in what the request's Reranker says of the window. If it fails there are no
// scores; only the end of ctx is an error.
func (p *pool) askReranker(ctx context.Context, window []*candidate) error {
	texts := make([]string, len(window))
	for i, c := range window {
		n, _, err := p.g.Node(ctx, c.id)
		if err != nil {
			return fmt.Errorf("read node %s: %w", c.id, err)
		}
		if texts[i], err = p.judgedText(ctx, n); err != nil {
			return err
		}
	}
	scores, err := p.req.Reranker.Rerank(ctx, p.req.Text, texts)
	if ctx.Err() != nil {
		return fmt.Errorf("rerank: %w", context.Cause(ctx))
	}
	if err != nil || len(scores) != len(window) {
		return nil
	}
	judged := make([]retrieve.RerankScore, len(window))
	for i, c := range window {
		if scores[i] < -retrieve.MaxRerankScore || scores[i] > retrieve.MaxRerankScore {
			return nil
		}
		judged[i] = retrieve.RerankScore{ID: c.id, Score: scores[i]}
	}
	slices.SortFunc(judged, func(a, b retrieve.RerankScore) int { return a.ID.Compare(b.ID) })
	p.req.Reranked = judged
	return nil
}

// judgedText returns what a Reranker reads of a node: its place first, as people read it.
func (r *request) judgedText(ctx context.Context, n *graph.Node) (string, error) {
	texts, err := comparedTexts(ctx, r.g, n)
	if err != nil {
		return "", err
	}
	out := ""
	for _, s := range []string{texts[1], texts[0], texts[2]} {
		if s != "" && out != "" {
			out += "\n"
		}
		out += s
	}
	return text.FirstScalars(out, rerankText), nil
}
