package retrieve

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/ipld"
)

// Defaults and bounds of reranking: clauses 8.1 and 21.
const (
	DefaultRerankTop = 50 // nodes
	MaxRerankTop     = 200
	MaxRerankScore   = 1 << 31 // magnitude of a score in units of 2^-16
)

// Constants of reranking: clause 21.
const (
	rerankText = 4096    // scalars of a node that a Reranker reads
	judgeUnit  = 1 << 20 // one step of a Reranker's scores, above all that lies beneath
)

// Reranker judges how well texts answer a query: package rerank has some that ask a server.
type Reranker interface {
	// Model names it in receipts: 1 to graph.MaxModel bytes.
	Model() string
	// Rerank returns one score for each text, in units of 2^-16 and of at most MaxRerankScore in
	// magnitude. An error leaves the order as it is, unless ctx has ended.
	Rerank(ctx context.Context, query string, texts []string) ([]int64, error)
}

// RerankScore is what a Reranker said of one node.
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
		return badParam("rerank", "%s, but the reranker is %s", shortQuote(by),
			shortQuote(r.Reranker.Model()))
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
			return badParam("reranked", "%d is outside %d to %d", s.Score, -MaxRerankScore,
				MaxRerankScore)
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

// rerank scores the best candidates, which are in order, anew and sorts them: clause 21. Those of
// tier 1 and 2 are left alone. idle is true where a warning is due.
func (r *run) rerank(ctx context.Context) (idle bool, err error) {
	if r.req.Rerank == "" {
		return false, nil
	}
	tier0 := slices.IndexFunc(r.found, func(c *candidate) bool { return c.tier == tierNone })
	if tier0 < 0 {
		return false, nil
	}
	list := r.found[tier0:]
	window := list[:min(*r.req.RerankTop, len(list))]
	if len(window) < 2 {
		return false, nil
	}
	done, err := r.judged(ctx, list, window)
	if err != nil || !done {
		return !done, err
	}
	rankLast(slices.Clone(window))
	slices.SortFunc(list, byRank)
	return false, nil
}

// judged lets a Reranker's scores decide, and the order before among equal ones: clause 21.
func (r *run) judged(ctx context.Context, list, window []*candidate) (done bool, err error) {
	if r.req.Reranked == nil && r.req.Reranker != nil && !isBlank(r.req.Text) {
		if err := r.askReranker(ctx, window); err != nil {
			return false, err
		}
	}
	scores := make(map[graph.ID]int64, len(r.req.Reranked))
	low := int64(0)
	for _, s := range r.req.Reranked {
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
		c.lanes = append(slices.Clip(c.lanes), LaneHit{Lane: LaneRerank, Score: s})
	}
	return true, nil
}

// askReranker fills in what the request's Reranker says of the window. Where it fails there are no
// scores; only the end of ctx is an error.
func (r *run) askReranker(ctx context.Context, window []*candidate) error {
	texts := make([]string, len(window))
	for i, c := range window {
		n, _, err := r.g.Node(ctx, c.id)
		if err != nil {
			return fmt.Errorf("read node %s: %w", c.id, err)
		}
		if texts[i], err = r.judgedText(ctx, n); err != nil {
			return err
		}
	}
	scores, err := r.req.Reranker.Rerank(ctx, r.req.Text, texts)
	if ctx.Err() != nil {
		return fmt.Errorf("rerank: %w", context.Cause(ctx))
	}
	if err != nil || len(scores) != len(window) {
		return nil
	}
	judged := make([]RerankScore, len(window))
	for i, c := range window {
		if scores[i] < -MaxRerankScore || scores[i] > MaxRerankScore {
			return nil
		}
		judged[i] = RerankScore{c.id, scores[i]}
	}
	slices.SortFunc(judged, func(a, b RerankScore) int { return a.ID.Compare(b.ID) })
	r.req.Reranked = judged
	return nil
}

// judgedText returns what a Reranker reads of a node: its place first, as people read it.
func (r *run) judgedText(ctx context.Context, n *graph.Node) (string, error) {
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
