package stage

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// names lists what may be named.
func names(c retrieve.Counters) string {
	return strings.Join(append([]string{retrieve.Estimate}, slices.Sorted(maps.Keys(c))...), ", ")
}

// find returns the counter of a name, nil for Estimate.
func find(c retrieve.Counters, name string) (retrieve.Counter, error) {
	if name == retrieve.Estimate {
		return nil, nil
	}
	if counter := c[name]; counter != nil {
		return counter, nil
	}
	return nil, &tokenizerError{source.Reject("tokenizer", "no token counter %s here, known: %s",
		source.Quoted(name), names(c))}
}

// tokenizerError is a *RequestError that wraps ErrTokenizer too.
type tokenizerError struct{ error }

func (e *tokenizerError) Unwrap() []error { return []error{e.error, retrieve.ErrTokenizer} }

// tokens counts by the counter that the request names.
func (r *request) tokens(s string) (int, error) {
	if r.counter == nil {
		return text.EstimateTokens(s), nil
	}
	n := r.counter(s)
	if n < 0 || n > graph.MaxCount {
		return 0, fmt.Errorf("token counter %s: %d tokens of a text of %d bytes",
			source.Quoted(r.req.Tokenizer), n, len(s))
	}
	return n, nil
}
