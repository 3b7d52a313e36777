package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/mnem-project/mnem/memory"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

// importanceText is an effective importance for people.
func importanceText(e *ops.Importance) string {
	q := func(n int64) string { return strconv.FormatFloat(float64(n)/65536, 'f', 2, 64) }
	return fmt.Sprintf("%s = importance %d (%s) × use %s × age %s × links %s", q(e.Value), e.Importance,
		q(e.Base), q(e.Use), q(e.Decay), q(e.Links))
}

// importanceOptions returns what importance is made of beside the snapshot: the half-lives of its
// commit, and how often memories were used, where that is counted.
func (c *cli) importanceOptions(
	ctx context.Context, s *repo.Snapshot,
) (opt memory.ImportanceOptions, err error) {
	if opt.HalfLives, err = memory.HalfLivesAt(ctx, s); err != nil {
		return opt, err
	}
	opt.Accesses, err = c.accesses()
	return opt, err
}
