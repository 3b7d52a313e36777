package stage

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

// joint writes a list as PART.AT:SCORE, with the counts after it.
func joint(j *complete.Joint) string {
	var parts []string
	for _, it := range j.Items {
		parts = append(parts, fmt.Sprintf("%d.%d:%d", it.Part, it.At, it.Score))
	}
	return fmt.Sprintf("%s %v left %d", strings.Join(parts, " "), j.Counts, j.Left)
}

func TestTogether(t *testing.T) {
	part := func(name string, share int64, scores ...int64) complete.Part {
		p := complete.Part{Name: name, Share: share}
		for i, score := range scores {
			p.Items = append(p.Items, retrieve.Item{Rank: i + 1, Score: score, Tokens: 10, Rendered: "x\n"})
		}
		return p
	}
	a, b := part("a", complete.FullShare, 100, 50, 50), part("b", complete.FullShare/2, 200, 90, 110)
	for _, tt := range []struct {
		limit, budget int
		parts         []complete.Part
		want          string
	}{
		{0, 0, []complete.Part{a, b}, "0.0:100 1.0:100 0.1:50 0.2:50 1.1:45 1.2:55 [3 3] left 0"},
		{3, 0, []complete.Part{a, b}, "0.0:100 1.0:100 0.1:50 [2 1] left 0"},
		{0, 45, []complete.Part{a, b}, "0.0:100 1.0:100 0.1:50 [2 1] left 3"},
		{0, 5, []complete.Part{a, b}, " [0 0] left 6"},
		{0, 0, []complete.Part{a, {Name: "b"}}, "0.0:100 0.1:50 0.2:50 [3 0] left 0"},
		{0, 0, []complete.Part{{Name: "a"}, {Name: "b"}}, " [0 0] left 0"},
	} {
		got := complete.Together(tt.limit, tt.budget, tt.parts...)
		must.Equal(t, joint(got), tt.want, "limit ", tt.limit, ", budget ", tt.budget)
		for i, it := range got.Items {
			first := "repository: " + tt.parts[it.Part].Name + "\n"
			must.Check(t, it.Rank == i+1 && it.Rendered == first+"x\n" && it.Tokens > 10,
				"item %d: %+v", i+1, it)
		}
	}
	must.Equal(t, a.Items[0].Rendered, "x\n", "the items of a part are changed")
}

func TestShareOf(t *testing.T) {
	for coverage, want := range map[int64]int64{
		-5: complete.FullShare / 16, 0: complete.FullShare / 16, 30_000: 30_000, complete.FullShare: complete.FullShare, complete.FullShare + 1: complete.FullShare,
	} {
		must.Equal(t, complete.ShareOf(coverage), want, coverage)
	}
}
