// Package minilm computes vectors of texts with all-MiniLM-L6-v2 in integers. It is a sentence model of six layers.
// Every operation is exact, so a text always has the same vector, on every processor, by every kernel and in any batch.
// It reads a file that package weights carries, and uses no network.
//
// docs/internals/model.md describes the computation: formats, scales, rounding and limits. make/quantise.py writes the
// file from the published weights; make/reference.py is the same forward pass in numpy, which made the vectors of
// testdata.
//
// Only the products of matrices use vector instructions, in package dot. A text beyond 128 pieces is ignored.
package minilm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/mnem-project/mnem/internal/base/parallel"
)

const (
	// Name is the model's name: its kind, and the first 8 hexadecimal digits of the SHA-256 of its file.
	Name = "minilm-l6-912ede31"
	// Dims is the number of dimensions of a vector.
	Dims = hidden
)

// ErrNoFile is returned when there is no file to open: the program was built without it.
var ErrNoFile = errors.New("this program was built without the model")

// Model is an open model. Its methods may be called at the same time.
type Model struct {
	parameters *parameters
	scratch    sync.Pool
}

// Open reads the small tables of the model's file, which package weights has; the rest is read when it is wanted. The
// error is ErrNoFile for an empty file.
func Open(file string) (*Model, error) {
	if file == "" {
		return nil, ErrNoFile
	}
	p, err := read(file)
	if err != nil {
		return nil, fmt.Errorf("read the file of %s: %w", Name, err)
	}
	return &Model{parameters: p, scratch: sync.Pool{New: func() any { return new(scratch) }}}, nil
}

// Count counts the pieces of a text, without making a vector.
func (m *Model) Count(text string) TokenCounts {
	_, c := m.parameters.vocabulary.tokenize(nil, text)
	return c
}

// group is the number of texts that one goroutine takes at a time.
const group = 16

// Vectors returns the vector of each text, in their order: Dims numbers, the largest absolute value 127. A text without
// a word that the model knows has nil. Only the first MaxPieces pieces of a text count. progress, unless nil, is called
// on the caller's goroutine with the number of texts done. The only error is that ctx ended; then there are no vectors.
func (m *Model) Vectors(ctx context.Context, texts []string, progress func(done int)) ([][]int8, error) {
	out := make([][]int8, 0, len(texts))
	limit := parallel.Limit[[]string]{Bytes: 1 << 20, Size: func([]string) int { return 0 }}
	for vectors := range parallel.Map(slices.Chunk(texts, group), limit, func(part []string) [][]int8 {
		return m.vectors(ctx, part)
	}) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		out = append(out, vectors...)
		if progress != nil {
			progress(len(out))
		}
	}
	return out, nil
}

// vectors makes the vectors of some texts, as many at once as maxRows allows, and none once ctx has ended.
func (m *Model) vectors(ctx context.Context, texts []string) [][]int8 {
	s := m.scratch.Get().(*scratch)
	defer m.scratch.Put(s)
	out := make([][]int8, len(texts))
	var ids []int32
	var ends, of []int
	flush := func() {
		if len(ends) > 0 && ctx.Err() == nil {
			m.parameters.run(s, ids, ends, nil)
			first := 0
			for i, end := range ends {
				out[of[i]] = pool(s.state[first*hidden : end*hidden])
				first = end
			}
		}
		ids, ends, of = ids[:0], ends[:0], of[:0]
	}
	for i, text := range texts {
		if len(ids) > maxRows-MaxPieces {
			flush()
		}
		before := len(ids)
		ids, _ = m.parameters.vocabulary.tokenize(ids, text)
		if knows(ids[before:]) {
			ends, of = append(ends, len(ids)), append(of, i)
		} else {
			ids = ids[:before]
		}
	}
	flush()
	return out
}

// knows reports whether the model knows a piece of the text. The first and last piece do not belong to the text.
func knows(ids []int32) bool {
	return slices.ContainsFunc(ids[1:len(ids)-1], func(id int32) bool { return id != unknownID })
}

// pool returns the vector of a text from the states of its pieces. The mean of them and the length of that make no
// difference to an int8 vector, so their sum is quantised.
func pool(states []int32) []int8 {
	var sums [hidden]int64
	for row := range slices.Chunk(states, hidden) {
		for i, v := range row {
			sums[i] += int64(v)
		}
	}
	m := int64(1)
	for _, v := range sums {
		m = max(m, v, -v)
	}
	out := make([]int8, hidden)
	for i, v := range sums {
		out[i] = int8(halfEven(levels*v, m))
	}
	return out
}
