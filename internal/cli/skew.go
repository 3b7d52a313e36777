package cli

import (
	"context"
	"strings"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

const (
	// maxSkew is how far a commit of another machine may be ahead of the clock here before that is told.
	maxSkew = time.Minute
	// mostSkewed is of how many branches the newest commit is looked at.
	mostSkewed = 16
)

// skewJSON is a branch that came with a commit that is ahead of the clock here.
type skewJSON struct {
	Ref   graph.RefName `json:"ref"`
	Time  graph.Time    `json:"time"`          // of its newest commit
	Ahead int64         `json:"ahead_seconds"` // of the clock here
}

// skewed returns the branches that moved to a commit which is ahead of the clock here: that of one of both machines is
// wrong, and what was changed last is not what it says.
func (t *transfer) skewed(ctx context.Context, moved []repo.RefChange) (out ops.List[skewJSON], err error) {
	looked := 0
	for _, ref := range moved {
		if t.opt.DryRun || !ref.To.Defined() || !strings.Contains(string(ref.Ref), "/heads/") || looked == mostSkewed {
			continue
		}
		looked++
		req := &ops.LogRequest{Names: []string{ref.To.String()}, Dash: -1, Limit: 1}
		ops.SetGiven(req, []string{"limit"})
		answer, err := t.here.run(ctx, &ops.Log.Spec, req, nil, nil)
		if err != nil {
			return nil, err
		}
		c, ok := answer.(*ops.Commit)
		if !ok {
			continue
		}
		if ahead := c.Time.Std().Sub(t.c.app.Now()); ahead > maxSkew {
			out = append(out, skewJSON{ref.Ref, c.Time, int64(ahead / time.Second)})
		}
	}
	return out, nil
}

// remarkSkewed says of which branches a clock was ahead.
func (c *cli) remarkSkewed(list []skewJSON) {
	for _, s := range list {
		c.remark("note: the newest commit of %s is of %s, %s ahead of the clock here: one of both is wrong, and "+
			"--conflicts newest would believe it", line(string(s.Ref)), s.Time,
			(time.Duration(s.Ahead) * time.Second).Round(time.Second))
	}
}
