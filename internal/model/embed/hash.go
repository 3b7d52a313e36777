package embed

import (
	"cmp"
	"context"
	"fmt"

	"github.com/mnem-project/mnem/internal/base/hashed"
	"github.com/mnem-project/mnem/internal/base/text"
)

// HashDim is the number of dimensions.
const HashDim = hashed.Dim

const hashVersion = "hash-1"

// hashEmbedder is the built-in model: no file, no network, no state but buffers.
type hashEmbedder struct {
	model    string
	analyzer *text.Analyzer
	progress Progress
}

// NewHash returns the built-in model of hashed features, which the package documentation
// defines. language is "en", also meant by the empty string, or "none", as text analysis knows
// them. progress may be nil.
func NewHash(language string, progress Progress) (Embedder, error) {
	language = cmp.Or(language, "en")
	a, err := text.New(language)
	if err != nil {
		return nil, fmt.Errorf("open hash:%s: %w: known are en and none", language, err)
	}
	return &hashEmbedder{hashVersion + ":" + language, a, progress}, nil
}

func (h *hashEmbedder) Model() string { return h.model }

func (h *hashEmbedder) Dim() int { return HashDim }

func (h *hashEmbedder) Embed(ctx context.Context, texts []string, kind Kind) ([][]int8, error) {
	return embedLocal(ctx, texts, kind, h.progress, func(s string) ([]int8, error) {
		return hashed.Vector(h.analyzer, s)
	})
}
