package embed

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"
)

// MaxText is the longest text, in bytes, that an Embedder takes. A megabyte is some hundred pages, and one vector for
// more than that describes none of it. Callers must split longer content into passages, each with a vector of its own.
const MaxText = 1 << 20

// ErrText is wrapped by the errors about a text that no provider is asked about: one longer than MaxText or not UTF-8.
var ErrText = errors.New("text cannot be embedded")

// Kind is the purpose of a text. Some models need it: they were trained with different prefixes for questions and
// passages.
type Kind uint8

// The kinds of texts.
const (
	Document Kind = iota // to be found
	Query                // to find with
)

// String returns "document" or "query".
func (k Kind) String() string {
	switch k {
	case Document:
		return "document"
	case Query:
		return "query"
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Embedder turns texts into vectors. Implementations are safe for concurrent use.
type Embedder interface {
	// Model names what made a vector: two vectors may be compared only if the names are
	// equal. It is 1 to vector.MaxModel bytes and never changes while the Embedder lives.
	Model() string
	// Dim returns the number of dimensions, 0 while a remote model has not answered yet.
	Dim() int
	// Embed returns one vector for each text, in their order, in the form that vector.Quantise makes. A vector is nil
	// if the text has nothing that the model knows (it is blank, or made of unknown words): such a text is stored
	// without a vector. The error is one that wraps ErrText or the cause of ctx, or a *model.Error; then there are no
	// vectors at all. Neither texts nor the result is kept.
	Embed(ctx context.Context, texts []string, kind Kind) ([][]int8, error)
}

// Progress receives how many texts of one call of Embed are done. Calls come in order, on the goroutine that called
// Embed, after each batch; the last has done == total. There is no call for an empty list or after an error.
type Progress func(done, total int)

// report calls p unless it is nil.
func (p Progress) report(done, total int) {
	if p != nil {
		p(done, total)
	}
}

// checkTexts refuses what no provider may be asked.
func checkTexts(texts []string, kind Kind) error {
	if kind > Query {
		return fmt.Errorf("embed: %s is neither document nor query", kind)
	}
	for i, s := range texts {
		if len(s) > MaxText {
			return fmt.Errorf("embed text %d: %d bytes, limit %d: split it into passages: %w",
				i, len(s), MaxText, ErrText)
		}
		if !utf8.ValidString(s) {
			return fmt.Errorf("embed text %d: not UTF-8: convert it first: %w", i, ErrText)
		}
	}
	return nil
}

// localBatch is the number of texts between two calls of Progress by a model in this process.
const localBatch = 64

// embedLocal runs one model in this process over texts.
func embedLocal(
	ctx context.Context, texts []string, kind Kind, progress Progress,
	one func(string) ([]int8, error),
) ([][]int8, error) {
	if err := checkTexts(texts, kind); err != nil {
		return nil, err
	}
	out := make([][]int8, len(texts))
	for i, s := range texts {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("embed text %d of %d: %w", i+1, len(texts), context.Cause(ctx))
		}
		v, err := one(s)
		if err != nil {
			return nil, fmt.Errorf("embed text %d: %w", i, err)
		}
		out[i] = v
		if done := i + 1; done%localBatch == 0 || done == len(texts) {
			progress.report(done, len(texts))
		}
	}
	return out, nil
}
