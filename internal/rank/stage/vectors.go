package stage

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// dense asks for the list of one model.
func (f *finder) dense(ctx context.Context, q retrieve.QueryVector) (*laneList, error) {
	l := &laneList{lane: retrieve.LaneDense(q.Model), trust: f.trust(q.Model)}
	x, ok := f.x.(source.Vectors)
	if !ok {
		return l, errors.New("this index has no vectors")
	}
	res, err := x.Dense(ctx, q, f.filter.Accept(ctx), laneDepth, f.shortlist())
	if err != nil {
		return l, err
	}
	f.denseWarnings(q, res)
	if l.hits = ranked(res.Hits); len(l.hits) == 0 {
		return l, nil
	}
	l.floor, l.cosines = l.scoreOf(distantRank), make(map[graph.ID]int64, len(l.hits))
	for _, h := range l.hits {
		l.cosines[h.ID] = h.Score
	}
	if len(res.Own) > 0 {
		l.hits = ranked(res.Own)
	}
	l.ground = l.scoreOf(distantRank) * f.row.ground >> fixed.FracBits
	return l, nil
}

// trust returns how well the question's vector represents it, at most 65,536: a model that splits the words of a
// language into pieces knows little of that language. A model that reports no share is trusted.
func (r *request) trust(model string) int64 {
	whole, told := r.req.WholeOf(model)
	if !told {
		return fixed.One
	}
	return min(fixed.One, share(int64(whole), r.row.whole))
}

func (f *finder) denseWarnings(q retrieve.QueryVector, res source.DenseResult) {
	if res.None {
		f.noVectors = append(f.noVectors, noVectors(retrieve.NoVectors, q.Model, res.Models))
	}
	if res.Other > 0 {
		model := ipld.Entry{Key: paramModel, Value: ipld.StringValue(q.Model)}
		n := ipld.Entry{Key: paramVectors, Value: ipld.IntValue(int64(res.Other))}
		f.otherDims = append(f.otherDims, retrieve.Warning{Code: retrieve.Dimension, Params: []ipld.Entry{model, n}})
	}
}

// noVectors returns the warning that there are no vectors of a model, with the models that have some.
func noVectors(code retrieve.Code, model string, models []string) retrieve.Warning {
	w := retrieve.Warning{Code: code, Params: []ipld.Entry{{Key: paramModel, Value: ipld.StringValue(model)}}}
	if len(models) > 0 {
		names := source.TextList(models[:min(len(models), source.MaxModelsNamed)])
		w.Params = append(w.Params, ipld.Entry{Key: paramModels, Value: names})
	}
	return w
}

// countStale counts an item that a dense or sparse lane found by the vector of an outdated text.
func (p *packer) countStale(ctx context.Context, n *graph.Node, lanes []retrieve.LaneHit) error {
	var text [sha256.Size]byte
	known := false
	for _, l := range lanes {
		model, ok := l.Lane.Model()
		if !ok {
			continue
		}
		if !known {
			content := ""
			if n.Content != nil {
				var err error
				if content, err = p.g.Content(ctx, n.Content); err != nil {
					return fmt.Errorf("read content of %s: %w", n.ID, err)
				}
			}
			text, known = graph.TextHash(n, content), true
		}
		embedded, err := p.embedding(ctx, n.ID, model)
		if err != nil {
			return err
		}
		if embedded.Text != text {
			p.stale++
			return nil
		}
	}
	return nil
}

// embedding reads a node's embedding that a lane has found.
func (r *request) embedding(ctx context.Context, id graph.ID, model string) (*graph.Embedding, error) {
	e, err := r.x.(source.Vectors).Embedding(ctx, id, model)
	if err != nil {
		return nil, fmt.Errorf("read embedding of %s: %w", id, err)
	}
	return e, nil
}

// cosine returns the cosine of two vectors in units of 2^-16, 0 if they cannot be compared, one is zero, or the cosine
// is not positive.
func cosine(a, b []int8) int64 {
	if len(a) != len(b) {
		return 0
	}
	var product, m, n int64
	for i, x := range a {
		y := int64(b[i])
		product += int64(x) * y
		m += int64(x) * int64(x)
		n += y * y
	}
	if product <= 0 {
		return 0
	}
	return min(fixed.One, share(product, int64(fixed.Isqrt(uint64(m)*uint64(n)))))
}
