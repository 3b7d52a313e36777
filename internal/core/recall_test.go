package core_test

import (
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/retrieve"
)

// TestRecallReads bounds what recalls read beyond retrieval, with nothing cached, in memories of two
// sizes: of each node that is looked at a bucket is counted, and of those that may have the entities
// of the question the records are read. Of the smaller memory nearly every block is read.
func TestRecallReads(t *testing.T) {
	effort.Alone(t)
	const asked, most = 3, 500
	few, many := effort.Pick(1000, 2000, 2000), effort.Pick(8000, 16_000, 16_000)
	measure := func(nodes int, intent retrieve.Intent) (blocks int) {
		base := repokit.Memory(t, nodes)
		for i := range asked {
			counting := testkit.NewTamper(base)
			r := must.Get(care.New(t.Context(), counting, repokit.By, core.Options{ReadOnly: true}))(t)
			s := repokit.Head(t, r)
			read := len(counting.Read())
			must.Get(rank.Retrieve(t.Context(), s, retrieve.Request{
				Text: fmt.Sprintf("about w%d w%d w%d", i+7, i*7+100, i*31+1000), Intent: intent,
			}))(t)
			blocks += len(counting.Read()) - read
		}
		return blocks / asked
	}
	small := measure(few, retrieve.IntentWhy) - measure(few, "")
	large := measure(many, retrieve.IntentWhy) - measure(many, "")
	t.Logf("%d more blocks of %d nodes, %d of %d", small, few, large, many)
	must.Check(t, large <= most && large <= 6*max(small, 50),
		"%d more blocks, want at most %d; in an eighth of the nodes %d", large, most, small)
}
