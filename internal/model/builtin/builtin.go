// Package builtin holds the model that is part of the program. It opens the model at the first text to embed, and
// caches the vectors of the latest texts, so that texts embedded before a commit are not embedded again within it.
package builtin

import (
	"context"
	"sync"

	"github.com/mnem-project/mnem/internal/model/minilm"
)

const (
	keepTexts = 256     // vectors that are kept
	keepBytes = 1 << 20 // of these texts
)

// Model is a model in a file. It reads nothing from the file before the first use. Safe for concurrent use.
type Model struct {
	open func() (*minilm.Model, error)

	mu    sync.Mutex
	kept  map[string][]int8
	order []string // of the texts that are kept, oldest first
	bytes int      // of these
}

// New returns the model of a file, nil for an empty one.
func New(file string) *Model {
	if file == "" {
		return nil
	}
	return &Model{
		open: sync.OnceValues(func() (*minilm.Model, error) { return minilm.Open(file) }),
		kept: make(map[string][]int8),
	}
}

// Model returns the model's name.
func (*Model) Model() string { return minilm.Name }

// Dim returns the number of dimensions of a vector.
func (*Model) Dim() int { return minilm.Dims }

// Vectors returns the vector of each text, in their order, nil for a text without a word that the model knows. Neither
// texts nor vectors may be changed afterwards. It returns the error of ctx, or an error if the file is not the model's.
func (m *Model) Vectors(ctx context.Context, texts []string) ([][]int8, error) {
	out := make([][]int8, len(texts))
	rest := m.known(texts, out)
	if len(rest) == 0 {
		return out, nil
	}
	model, err := m.open()
	if err != nil {
		return nil, err
	}
	unknown := make([]string, len(rest))
	for i, at := range rest {
		unknown[i] = texts[at]
	}
	vectors, err := model.Vectors(ctx, unknown, nil)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, at := range rest {
		out[at] = vectors[i]
		m.keep(unknown[i], vectors[i])
	}
	return out, nil
}

// Whole returns how many of 1,000 pieces of some texts that are no punctuation are whole words, and whether there are any.
func (m *Model) Whole(texts ...string) (permille int, ok bool) {
	model, err := m.open()
	if err != nil {
		return 0, false
	}
	var all minilm.TokenCounts
	for _, text := range texts {
		all = all.Add(model.Count(text))
	}
	return all.Share()
}

// known fills in the cached vectors, and returns the indexes of the other texts.
func (m *Model) known(texts []string, out [][]int8) (rest []int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, text := range texts {
		v, ok := m.kept[text]
		if !ok {
			rest = append(rest, i)
		}
		out[i] = v
	}
	return rest
}

// keep caches a vector and evicts the oldest ones. Its caller holds mu.
func (m *Model) keep(text string, vector []int8) {
	if _, ok := m.kept[text]; ok || len(text) > keepBytes/4 {
		return
	}
	m.kept[text] = vector
	m.order, m.bytes = append(m.order, text), m.bytes+len(text)
	for len(m.order) > keepTexts || m.bytes > keepBytes {
		oldest := m.order[0]
		delete(m.kept, oldest)
		m.order, m.bytes = m.order[1:], m.bytes-len(oldest)
	}
}
