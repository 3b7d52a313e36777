package cli

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/retrieve"
)

// querySparse reads the vectors that --sparse names.
func (c *cli) querySparse(
	ctx context.Context, o *retrieveOptions,
) ([]retrieve.SparseVector, error) {
	files, err := parseVectorFlags("--sparse", o.sparse)
	if err != nil {
		return nil, err
	}
	var out []retrieve.SparseVector
	for _, f := range files {
		terms, name, err := c.queryJSON(ctx, f)
		if err != nil {
			return nil, err
		}
		v, err := retrieve.ParseSparseVector(f.model, terms)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, v)
	}
	return out, nil
}
