package history_test

import (
	"context"
	"testing"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
)

// ones is a model to which all texts are the same.
type ones struct{}

func (ones) Model() string { return "ones" }

func (ones) Vectors(_ context.Context, texts []string) ([][]int8, error) {
	out := make([][]int8, len(texts))
	for i := range out {
		out[i] = []int8{127, 127}
	}
	return out, nil
}

// TestUndoPassesOverVectors undoes the requested change although vectors were committed since, and keeps the
// vectors of what stays.
func TestUndoPassesOverVectors(t *testing.T) {
	r := repokit.OpenMem(t)
	repokit.Lines(t, r, `{"node":{"key":"a","type":"T","summary":"one"}}`)
	repokit.Lines(t, r, `{"node":{"key":"b","type":"T","summary":"two"}}`)
	if n, err := r.Embeddings().Rest(t.Context(), ones{}, nil); n != 2 || err != nil {
		t.Fatalf("%d nodes embedded, %v", n, err)
	}
	must.Get(history.Undo(t.Context(), r, "", repokit.By))(t)
	got := make(map[core.EmbeddingState]int)
	for e, err := range repokit.Head(t, r).Embeddings(t.Context(), "ones") {
		must.OK(t, err)
		got[e.State]++
	}
	must.Check(t, len(got) == 1 && got[core.EmbeddingCurrent] == 1,
		"embeddings %v, want the one of the node that stays", got)
	must.Get(history.Redo(t.Context(), r, repokit.By))(t)
	must.Equal(t, repokit.Sizes(repokit.Head(t, r))[0], 2, "nodes after redo")
}
