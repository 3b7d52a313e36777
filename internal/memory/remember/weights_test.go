package remember

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
)

// TestWeightsAreLookedUpOnce has the weights of terms that were asked for before come without a snapshot.
func TestWeightsAreLookedUpOnce(t *testing.T) {
	r, err := care.New(t.Context(), mem.New(), linkBy, core.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, r, 100)
	s, err := r.Snapshot(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(r).newPlanner(t.Context(), s, rememberAt(0))
	if err != nil {
		t.Fatal(err)
	}
	terms := []string{"note", "w17", "nowher", "note"}
	want, err := rank.FreshIDFs(t.Context(), s, terms)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, err := p.idfs(t.Context(), terms)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
		p.s = nil // to look anything up a second time would panic
	}
}
