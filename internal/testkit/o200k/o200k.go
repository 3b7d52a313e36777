// Package o200k counts tokens as models with the vocabulary o200k_base do, for tests that bound what answers cost.
package o200k

import (
	"sync"
	"testing"

	"github.com/tiktoken-go/tokenizer/codec"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

var vocabulary = sync.OnceValue(codec.NewO200kBase)

// Count returns the number of tokens of a text.
func Count(t testing.TB, text string) int {
	t.Helper()
	n := must.Get(vocabulary().Count(text))(t)
	return n
}
