package core

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// putCommit signs a commit that is complete but for its signature, unless sign is nil, and stages it.
// Every verb that makes commits ends here.
func (t *Tx) putCommit(ctx context.Context, rec *commit.Commit, sign commit.SignFunc) (ipld.CID, error) {
	rec.Signature = nil
	if err := rec.Validate(); err != nil {
		return ipld.CID{}, fmt.Errorf("%w: commit: %w", state.ErrInvalid, err)
	}
	if sign != nil {
		if err := rec.Sign(sign); err != nil {
			t.Repo.Writer.hold(ctx, err)
			return ipld.CID{}, err
		}
	}
	return t.Put(ctx, rec.Encode())
}
