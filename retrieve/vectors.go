package retrieve

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// MaxVectors is the largest number of query vectors of a request, each of a model of its own.
	MaxVectors = 8
	// MaxWhole is the share of a query that consists of whole words alone.
	MaxWhole = 1000
)

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

// WholeWords says how well a model knows the words of a query. A model splits a word that it does not know into pieces
// that mean little: a vector of many pieces and few whole words says little about a text.
type WholeWords struct {
	Model string // of one of the request's vectors
	Share int    // pieces that are whole words, in MaxWhole of those that are no punctuation
}

// WholeOf returns the share of whole words that a model reported, and whether it did.
func (r *Request) WholeOf(model string) (share int, told bool) {
	i := slices.IndexFunc(r.Whole, func(w WholeWords) bool { return w.Model == model })
	if i < 0 {
		return 0, false
	}
	return r.Whole[i].Share, true
}

func parseWhole(model string, v ipld.Value) (WholeWords, error) {
	if n := v.Int(); v.Kind() == ipld.Int && n >= 0 && n <= MaxWhole {
		return WholeWords{model, int(n)}, nil
	}
	return WholeWords{}, badParam("whole", "%s: want an integer from 0 to %d", shortQuote(model), MaxWhole)
}

func (r *Request) checkWhole() error {
	for i, w := range r.Whole {
		if w.Share < 0 || w.Share > MaxWhole {
			return badParam("whole", "%s: %d is outside 0 to %d", shortQuote(w.Model), w.Share, MaxWhole)
		}
		if !slices.ContainsFunc(r.Vectors, func(v QueryVector) bool { return v.Model == w.Model }) {
			return badParam("whole", "there is no vector of the model %s", shortQuote(w.Model))
		}
		if slices.ContainsFunc(r.Whole[:i], func(other WholeWords) bool { return other.Model == w.Model }) {
			return badParam("whole", "two shares of the model %s", shortQuote(w.Model))
		}
	}
	return nil
}

// sortedWhole returns a copy in bytewise order of the models, nil for the empty list.
func sortedWhole(list []WholeWords) []WholeWords {
	if len(list) == 0 {
		return nil
	}
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b WholeWords) int { return cmp.Compare(a.Model, b.Model) })
	return out
}

func encodeWhole(list []WholeWords) ipld.Value {
	entries := make([]ipld.Entry, len(list))
	for i, w := range list {
		entries[i] = ipld.Entry{Key: w.Model, Value: encodeInt(w.Share)}
	}
	return ipld.MapValue(entries...)
}

func decodeWhole(v ipld.Value) []WholeWords {
	var list []WholeWords
	for _, e := range v.Entries() {
		list = append(list, WholeWords{e.Key, int(e.Value.Int())})
	}
	return list
}
