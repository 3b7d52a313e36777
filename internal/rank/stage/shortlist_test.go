package stage

import (
	"testing"

	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

// TestShortlistOfAnyLimit: what a score counts as follows from the 200th and the 20th of a dense lane, which must be the
// same whatever is asked for at most, so that an answer with a lower limit is the beginning of one with a higher.
func TestShortlistOfAnyLimit(t *testing.T) {
	for limit, most := range map[int]int{1: 2560, 10: 2560, 40: 10_240, 200: maxShortlist} {
		list := shortlistOf(retrieve.Request{Limit: &limit})
		must.Equal(t, list.Near, distantRank, "limit ", limit)
		must.Equal(t, list.Most, most, "limit ", limit)
	}
	limit := 10
	if list := shortlistOf(retrieve.Request{Limit: &limit, Ranking: retrieve.PlainRanking}); list.Near != limit {
		t.Errorf("plain: %+v", list)
	}
}

func shortlistOf(req retrieve.Request) source.Shortlist {
	return (&request{req: req, row: rankingOf(req.Ranking)}).shortlist()
}
