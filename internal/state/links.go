package state

import (
	"context"
	"iter"

	"github.com/mnem-project/mnem/prolly"
)

func scanned(ctx context.Context, m *prolly.Map) iter.Seq2[prolly.Entry, error] {
	return m.Scan(ctx, nil, nil)
}
