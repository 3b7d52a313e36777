package embed

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/internal/model/minilm"
)

// sentences is the sentence model that a program carries.
type sentences struct {
	model    *minilm.Model
	progress Progress
}

// NewMiniLM returns the sentence model that docs/model.md defines. file is that of package model/minilm/weights; the error
// wraps minilm.ErrNoFile if it is empty. progress may be nil. Its small tables are decoded, 0.6 MB; texts that are embedded
// at the same time on n processors take 3 MB for each of them.
func NewMiniLM(file string, progress Progress) (Embedder, error) {
	m, err := minilm.Open(file)
	if err != nil {
		return nil, fmt.Errorf("open minilm: %w", err)
	}
	return &sentences{m, progress}, nil
}

func (s *sentences) Model() string { return minilm.Name }

func (s *sentences) Dim() int { return minilm.Dims }

// Embed makes no difference between documents and queries: nor does the model.
func (s *sentences) Embed(ctx context.Context, texts []string, kind Kind) ([][]int8, error) {
	if err := checkTexts(texts, kind); err != nil {
		return nil, err
	}
	vectors, err := s.model.Vectors(ctx, texts, func(done int) { s.progress.report(done, len(texts)) })
	if err != nil {
		return nil, fmt.Errorf("embed %d texts: %w", len(texts), err)
	}
	return vectors, nil
}
