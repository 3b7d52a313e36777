package retrieve

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/ipld"
)

// MaxVectors is the largest number of query vectors of a request, each of a model of its own.
const MaxVectors = 8

// MaxModelsNamed is the largest number of models that the warning NoVectors names.
const MaxModelsNamed = 16

// QueryVector is a query as an embedding model sees it. It is compared with the dense embeddings
// of that model, in a lane of its own.
type QueryVector struct {
	Model  string // 1 to graph.MaxModel bytes of UTF-8 without NUL
	Values []int8 // 1 to graph.MaxDims, each -127 to 127, not all 0; must not be changed
}

// NewQueryVector quantises a vector as those of nodes are (graph.Quantise). It returns a
// *RequestError for what cannot be one.
func NewQueryVector(model string, values []float64) (QueryVector, error) {
	q, err := graph.Quantise(values)
	if err != nil {
		return QueryVector{}, badVector(model, err)
	}
	v := QueryVector{Model: model, Values: q}
	return v, v.validate()
}

// badVector names the model whose vector was refused.
func badVector(model string, err error) error {
	reason := err.Error()
	var field *graph.FieldError
	if errors.As(err, &field) {
		reason = field.Reason
	}
	return badParam("vectors", "%s: %s", shortQuote(model), reason)
}

// ParseQueryVector reads a vector from a JSON list of numbers.
func ParseQueryVector(model string, v ipld.Value) (QueryVector, error) {
	if v.Kind() != ipld.List {
		return QueryVector{}, badParam("vectors", "%s: %s, want a list of numbers",
			shortQuote(model), v.Kind())
	}
	values := make([]float64, len(v.List()))
	for i, item := range v.List() {
		var ok bool
		if values[i], ok = item.Number(); !ok {
			return QueryVector{}, badParam("vectors", "%s: list with %s, want numbers",
				shortQuote(model), item.Kind())
		}
	}
	return NewQueryVector(model, values)
}

// checkModel refuses what cannot be the name of a model.
func checkModel(model string) error {
	if strings.IndexByte(model, 0) >= 0 {
		return errors.New("a NUL in the name of a model")
	}
	return graph.CheckText("", model, 1, graph.MaxModel)
}

func (v QueryVector) validate() error {
	if err := checkModel(v.Model); err != nil {
		return badVector(v.Model, err)
	}
	if n := len(v.Values); n == 0 || n > graph.MaxDims {
		return badParam("vectors", "%s: %d dimensions, want 1 to %d", shortQuote(v.Model), n,
			graph.MaxDims)
	}
	zeros := true
	for _, x := range v.Values {
		if x == -128 {
			return badParam("vectors", "%s: holds -128, want -127 to 127", shortQuote(v.Model))
		}
		zeros = zeros && x == 0
	}
	if zeros {
		return badParam("vectors", "%s: all zeros", shortQuote(v.Model))
	}
	return nil
}

func (r *Request) checkVectors() error {
	if len(r.Vectors) > MaxVectors {
		return badParam("vectors", "%d vectors, limit %d", len(r.Vectors), MaxVectors)
	}
	for i, v := range r.Vectors {
		if err := v.validate(); err != nil {
			return err
		}
		for _, other := range r.Vectors[:i] {
			if other.Model == v.Model {
				return badParam("vectors", "two vectors of the model %s", shortQuote(v.Model))
			}
		}
	}
	return nil
}

// sortedVectors returns a copy in bytewise order of the models, nil for the empty list.
func sortedVectors(list []QueryVector) []QueryVector {
	if len(list) == 0 {
		return nil
	}
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b QueryVector) int { return cmp.Compare(a.Model, b.Model) })
	return out
}

// encodeVectors returns the map of models to bytes that a receipt keeps.
func encodeVectors(list []QueryVector) ipld.Value {
	entries := make([]ipld.Entry, len(list))
	for i, v := range list {
		data := make([]byte, len(v.Values))
		for j, x := range v.Values {
			data[j] = byte(x)
		}
		entries[i] = ipld.Entry{Key: v.Model, Value: ipld.BytesValue(data)}
	}
	return ipld.MapValue(entries...)
}

func decodeVectors(v ipld.Value) []QueryVector {
	var list []QueryVector
	for _, e := range v.Entries() {
		q := QueryVector{Model: e.Key}
		for _, x := range e.Value.Data() {
			q.Values = append(q.Values, int8(x))
		}
		list = append(list, q)
	}
	return list
}

// Vectors is the ability of an Index to find documents by their embeddings. A request with vectors
// needs it.
type Vectors interface {
	// Dense returns the best k accepted documents by the cosine of their dense embedding by the
	// query's model (clause 9.5), in the order (score descending, id ascending). Where there are too
	// many to compare all, those on the shortlist are compared exactly.
	Dense(
		ctx context.Context, q QueryVector, accept Accept, k int, list Shortlist,
	) (DenseResult, error)
	// EmbeddedText returns the hash of the text that a node's embedding by a model stands for, which
	// Dense has found.
	EmbeddedText(ctx context.Context, id graph.ID, model string) ([sha256.Size]byte, error)
}

// DenseResult is the answer of a dense lane.
type DenseResult struct {
	Hits   []Hit    // by the cosine
	Own    []Hit    // the same by what each has beside the others, where that was asked for
	Other  int      // embeddings of the model that have other dimensions than the query
	None   bool     // whether there is no dense embedding of the model
	Models []string // where None: the first MaxModelsNamed models there are, ascending
}

// dense asks for the list of one model.
func (r *run) dense(ctx context.Context, q QueryVector) (*laneList, error) {
	l := &laneList{lane: LaneDense(q.Model)}
	x, ok := r.x.(Vectors)
	if !ok {
		return l, errors.New("this index has no vectors")
	}
	res, err := x.Dense(ctx, q, r.filter.accept(ctx), laneDepth, r.shortlist())
	if err != nil {
		return l, err
	}
	r.denseWarnings(q, res)
	if l.hits = ranked(res.Hits); len(l.hits) == 0 {
		return l, nil
	}
	l.crowd, l.cosines = l.scoreOf(crowdRank), make(map[graph.ID]int64, len(l.hits))
	for _, h := range l.hits {
		l.cosines[h.ID] = h.Score
	}
	if len(res.Own) > 0 {
		l.hits = ranked(res.Own)
	}
	l.ground = l.scoreOf(distantRank) * r.row.ground >> fixed.FracBits
	return l, nil
}

func (r *run) denseWarnings(q QueryVector, res DenseResult) {
	if res.None {
		r.noVectors = append(r.noVectors, noVectors(NoVectors, q.Model, res.Models))
	}
	if res.Other > 0 {
		model := ipld.Entry{Key: paramModel, Value: ipld.StringValue(q.Model)}
		n := ipld.Entry{Key: paramVectors, Value: ipld.IntValue(int64(res.Other))}
		r.otherDims = append(r.otherDims, Warning{Dimension, []ipld.Entry{model, n}})
	}
}

// noVectors returns the warning that there are no vectors of a model, and of which there are.
func noVectors(code Code, model string, models []string) Warning {
	w := Warning{code, []ipld.Entry{{Key: paramModel, Value: ipld.StringValue(model)}}}
	if len(models) > 0 {
		names := textList(models[:min(len(models), MaxModelsNamed)])
		w.Params = append(w.Params, ipld.Entry{Key: paramModels, Value: names})
	}
	return w
}

// countStale counts an item that a dense or sparse lane found by a vector of a text that it has no more.
func (r *run) countStale(ctx context.Context, n *graph.Node, lanes []LaneHit) error {
	var text [sha256.Size]byte
	known := false
	for _, l := range lanes {
		model, ok := l.Lane.embedded()
		if !ok {
			continue
		}
		if !known {
			content := ""
			if n.Content != nil {
				var err error
				if content, err = r.g.Content(ctx, n.Content); err != nil {
					return fmt.Errorf("read content of %s: %w", n.ID, err)
				}
			}
			text, known = graph.TextHash(n, content), true
		}
		embedded, err := r.x.(Vectors).EmbeddedText(ctx, n.ID, model)
		if err != nil {
			return fmt.Errorf("read embedding of %s: %w", n.ID, err)
		}
		if embedded != text {
			r.stale++
			return nil
		}
	}
	return nil
}
