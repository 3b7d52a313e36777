package retrieve

import (
	"errors"

	"github.com/mnem-project/mnem/graph"
)

// Estimate names the token counter that needs no vocabulary: the default.
const Estimate = "estimate"

// ErrTokenizer is wrapped by the error of a request, so also of a receipt's, whose token counter
// is not there.
var ErrTokenizer = errors.New("token counter not available")

// Counter counts the tokens of a UTF-8 text. It must be a pure function and safe for concurrent use. Receipts can be
// replayed elsewhere only if the same name stands for the same function there. A count below 0 ends the retrieval with
// an error.
type Counter func(text string) int

// Counters are the token counters that requests may name besides Estimate.
type Counters map[string]Counter

func (r *Request) checkTokenizer() error {
	if r.Tokenizer == "" {
		return nil
	}
	if err := graph.CheckLine("", r.Tokenizer, 1, graph.MaxType); err != nil {
		return badParam("tokenizer", "%s is not the name of a token counter",
			shortQuote(r.Tokenizer))
	}
	return nil
}
