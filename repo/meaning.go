package repo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/retrieve"
)

// Meaning sees texts as vectors, so that a question finds what answers it in other words. A vector is a function of its
// text alone, with the same bytes in every process. Safe for concurrent use. Package repo/minilm has one.
type Meaning interface {
	// Model names it, in 1 to 255 bytes without NUL: vectors of one model are compared with each other alone.
	Model() string
	// Vectors returns the vector of each text, in their order: all of the same dimensions, with numbers from -127 to 127
	// that reach one of the two, or nil for a text in which it finds nothing. The caller changes neither.
	Vectors(ctx context.Context, texts []string) ([][]int8, error)
}

// wholeWords is a Meaning that knows how well it knows the words of a question, which then counts by that.
type wholeWords interface {
	// Whole returns how many of 1,000 pieces of some texts are whole words, and whether there are any.
	Whole(texts ...string) (permille int, ok bool)
}

// Embed makes the vectors, by Options.Meaning, of what the current branch has without one: nodes that commits of more
// than 64 at once left, or that were written without a Meaning. It commits them in batches, and returns how many they
// were. It refuses to write without a Meaning, an author or a time.
func (r *Repo) Embed(ctx context.Context) (nodes int, err error) {
	if err := r.canWrite(); err != nil {
		return 0, err
	}
	if r.meaning == nil {
		return 0, fmt.Errorf("%w: no model: set Options.Meaning", ErrInvalid)
	}
	return r.core.Embeddings().Rest(ctx, r.meaning, nil)
}

// asked adds the vector of a request's text, unless the request has one.
func asked(ctx context.Context, m Meaning, req retrieve.Request) (retrieve.Request, error) {
	if m == nil || strings.TrimSpace(req.Text) == "" || complete.HasVector(req, m.Model()) ||
		len(req.Vectors) == retrieve.MaxVectors {
		return req, nil
	}
	vectors, err := m.Vectors(ctx, []string{req.Text})
	if err != nil || len(vectors) != 1 || vectors[0] == nil {
		return req, err
	}
	req.Vectors = append(slices.Clone(req.Vectors), retrieve.QueryVector{Model: m.Model(), Values: vectors[0]})
	if k, tells := m.(wholeWords); tells {
		if share, ok := k.Whole(req.Text); ok {
			req.Whole = append(slices.Clone(req.Whole), retrieve.WholeWords{Model: m.Model(), Share: share})
		}
	}
	return req, nil
}
