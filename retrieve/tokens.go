package retrieve

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
)

// Estimate names the token counter that needs no vocabulary: the default.
const Estimate = "estimate"

// ErrTokenizer is wrapped by the error of a request, so also of a receipt's, whose token counter
// is not there.
var ErrTokenizer = errors.New("token counter not available")

// Counter counts the tokens of a text, which is UTF-8. It must be a pure function, for receipts to
// be repeated anywhere it must be the one that its name stands for, and it must be safe for
// concurrent use. A count below 0 ends the retrieval with an error.
type Counter func(text string) int

// Counters are the token counters that requests may name beside Estimate.
type Counters map[string]Counter

// names lists what may be named.
func (c Counters) names() string {
	return strings.Join(append([]string{Estimate}, slices.Sorted(maps.Keys(c))...), ", ")
}

// find returns the counter of a name, nil for Estimate.
func (c Counters) find(name string) (Counter, error) {
	if name == Estimate {
		return nil, nil
	}
	if counter := c[name]; counter != nil {
		return counter, nil
	}
	return nil, &tokenizerError{reject("tokenizer", "no token counter %s here, known: %s",
		quoted(name), c.names())}
}

// tokenizerError is a *RequestError that wraps ErrTokenizer too.
type tokenizerError struct{ error }

func (e *tokenizerError) Unwrap() []error { return []error{e.error, ErrTokenizer} }

// tokens counts by the counter that the request names.
func (r *run) tokens(s string) (int, error) {
	if r.counter == nil {
		return text.EstimateTokens(s), nil
	}
	n := r.counter(s)
	if n < 0 || n > graph.MaxCount {
		return 0, fmt.Errorf("token counter %s: %d tokens of a text of %d bytes",
			quoted(r.req.Tokenizer), n, len(s))
	}
	return n, nil
}

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
