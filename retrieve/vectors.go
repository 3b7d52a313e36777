package retrieve

import (
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
		return QueryVector{}, badParam("vectors", "%s: %s, want a list of numbers", shortQuote(model), v.Kind())
	}
	values := make([]float64, len(v.List()))
	for i, item := range v.List() {
		var ok bool
		if values[i], ok = item.Number(); !ok {
			return QueryVector{}, badParam("vectors", "%s: list with %s, want numbers", shortQuote(model), item.Kind())
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
		return badParam("vectors", "%s: %d dimensions, want 1 to %d", shortQuote(v.Model), n, graph.MaxDims)
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

var queryVectors = keyed[QueryVector]{
	many: "vectors", two: "vectors of the model", most: MaxVectors,
	at:       func(r *Request) *[]QueryVector { return &r.Vectors },
	key:      func(v QueryVector) string { return v.Model },
	validate: QueryVector.validate,
	parse:    ParseQueryVector,
	value: func(v QueryVector) ipld.Value {
		data := make([]byte, len(v.Values))
		for i, x := range v.Values {
			data[i] = byte(x)
		}
		return ipld.BytesValue(data)
	},
	item: func(model string, v ipld.Value) QueryVector {
		q := QueryVector{Model: model}
		for _, x := range v.Data() {
			q.Values = append(q.Values, int8(x))
		}
		return q
	},
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

var wholeWords = keyed[WholeWords]{
	many: "shares", two: "shares of the model", most: MaxVectors,
	at:  func(r *Request) *[]WholeWords { return &r.Whole },
	key: func(w WholeWords) string { return w.Model },
	validate: func(w WholeWords) error {
		if w.Share < 0 || w.Share > MaxWhole {
			return badParam("whole", "%s: %d is outside 0 to %d", shortQuote(w.Model), w.Share, MaxWhole)
		}
		return nil
	},
	parse: parseWhole,
	value: func(w WholeWords) ipld.Value { return encodeInt(w.Share) },
	item:  func(model string, v ipld.Value) WholeWords { return WholeWords{model, int(v.Int())} },
}

func (r *Request) checkWhole() error {
	if err := wholeWords.check("whole", r.Whole); err != nil {
		return err
	}
	for _, w := range r.Whole {
		if !slices.ContainsFunc(r.Vectors, func(v QueryVector) bool { return v.Model == w.Model }) {
			return badParam("whole", "there is no vector of the model %s", shortQuote(w.Model))
		}
	}
	return nil
}
