package rank_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
)

// TestUnembedded counts nodes without vectors in memories that are looked through and in larger ones, with nodes that
// have nothing to embed.
func TestUnembedded(t *testing.T) {
	for _, tt := range []struct {
		name                  string
		vectors, texts, empty int // nodes with a vector, with a text alone, without a text
		other                 int // nodes with a text and a vector by another model
		lack                  int
	}{
		{"nothing", 0, 0, 0, 0, 0},
		{"small, none", 0, 3, 0, 0, 3},
		{"small, all", 5, 0, 0, 0, 0},
		{"small, empty ones", 5, 2, 4, 0, 2},
		{"small, another model", 5, 2, 4, 3, 5},
		{"large, all", 300, 0, 0, 0, 0},
		{"large, some", 300, 7, 0, 0, 7},
		{"large, few empty ones", 300, 0, 9, 0, 0},
		{"large, many empty ones", 300, 0, 40, 0, 0},
		{"large, both, few", 300, 5, 6, 0, 5},
		{"large, both, many", 300, 40, 40, 0, 80}, // at most
		{"large, another model", 300, 1, 2, 3, 6}, // at most
		{"large, none", 0, 300, 0, 0, 300},
		{"large, nothing to embed", 0, 0, 300, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := repokit.OpenMem(t)
			var lines strings.Builder
			add := func(kind string, n int, summary, model string) {
				for i := range n {
					fmt.Fprintf(&lines, `{"node":{"key":"%s%d","type":"T"%s}}`+"\n", kind, i, summary)
					if model != "" {
						fmt.Fprintf(&lines, `{"embedding":{"node":"%s%d","model":"%s","vector":[1,2]}}`+"\n", kind, i, model)
					}
				}
			}
			add("v", tt.vectors, `,"summary":"a text"`, "m")
			add("t", tt.texts, `,"content":"a text"`, "")
			add("e", tt.empty, `,"summary":" "`, "")
			add("o", tt.other, `,"summary":"a text"`, "n")
			if lines.Len() > 0 {
				must.Get(r.Commit(t.Context(), state.ReadChanges(strings.NewReader(lines.String()), ""),
					core.CommitOptions{Stamp: repokit.By}))(t)
			}
			_, at, err := r.Branch(t.Context())
			must.OK(t, err)
			s := must.Get(r.At(t.Context(), at))(t)
			lack, of, err := rank.Unembedded(t.Context(), s, "m")
			if all := tt.vectors + tt.texts + tt.empty + tt.other; err != nil || lack != tt.lack || of != all {
				t.Errorf("%d of %d, %v: want %d of %d", lack, of, err, tt.lack, all)
			}
		})
	}
}
