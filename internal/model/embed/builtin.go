package embed

import "context"

// BuiltIn is the spec of the model that is a part of the program, and Off that of none at all.
const (
	BuiltIn = "minilm"
	Off     = "off"
)

// Exact is a model whose vectors are functions of the texts alone, with the same bytes in every process. Safe for
// concurrent use.
type Exact interface {
	// Model names it: 1 to vector.MaxModel bytes.
	Model() string
	// Dim returns the number of dimensions.
	Dim() int
	// Vectors returns the vector of each text, in their order: all of the same dimensions, in the form that
	// vector.Quantise makes, nil for a text in which it finds nothing.
	Vectors(ctx context.Context, texts []string) ([][]int8, error)
	// Whole returns how many of 1,000 pieces of some texts are whole words, and whether there are any.
	Whole(texts ...string) (permille int, ok bool)
}

// exact is such a model as an Embedder.
type exact struct {
	Exact
	progress Progress
}

// OpenExact returns an exact model as an Embedder.
func OpenExact(m Exact, progress Progress) Embedder { return exact{m, progress} }

// Embed implements Embedder.

func (e exact) Embed(ctx context.Context, texts []string, kind Kind) (out [][]int8, err error) {
	if err := checkTexts(texts, kind); err != nil {
		return nil, err
	}
	for at := 0; at < len(texts); at += localBatch {
		end := min(at+localBatch, len(texts))
		part, err := e.Vectors(ctx, texts[at:end])
		if err != nil {
			return nil, err
		}
		out = append(out, part...)
		e.progress.report(end, len(texts))
	}
	return out, nil
}
