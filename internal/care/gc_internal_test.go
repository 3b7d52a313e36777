package care_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// dropping drops all indexes once its cells were listed, like a concurrent repair.
type dropping struct {
	care.DerivedDeleter
	drop func() error
}

func (d *dropping) Cells(ctx context.Context, fn func(key, value ipld.CID) error) error {
	var cells [][2]ipld.CID
	err := d.DerivedDeleter.Cells(ctx, func(key, value ipld.CID) error {
		cells = append(cells, [2]ipld.CID{key, value})
		return nil
	})
	if drop := d.drop; err == nil && drop != nil {
		d.drop = nil
		err = drop()
	}
	for _, c := range cells {
		if err == nil {
			err = fn(c[0], c[1])
		}
	}
	return err
}

// TestCollectionMeetsRepair has a repair drop the indexes that a collection walks ahead of the locks.
func TestCollectionMeetsRepair(t *testing.T) {
	ctx := t.Context()
	by := state.Stamp{Author: "Tess Tester", Command: []string{"commit"}}
	r := must.Get(care.New(ctx, mem.New(), by, core.Options{}))(t)
	defer func() { _ = r.Close() }() // in memory
	for i := range 3 {
		changes := func(yield func(graph.Change, error) bool) {
			yield(graph.Change{Node: &graph.NodeChange{
				Key: fmt.Sprint("n", i), Type: "N", Summary: new("some words"),
			}}, nil)
		}
		must.Get(r.Commit(ctx, changes, core.CommitOptions{Stamp: by}))(t)
		must.Get(r.Indexes().Rebuild(ctx, string(graph.Head)))(t)
	}
	dropped := 0
	g := &care.Collector{Ctx: ctx, Repo: r, Res: &core.GCResult{}, Opt: care.GCOptions{
		Stamp: by, KeepOps: care.DefaultKeepOps, Progress: func(string, int) {},
	}}
	g.Derived = &dropping{r.Store.Derived().(care.DerivedDeleter), func() error { dropped++; return care.DropIndexes(ctx, r) }}
	g.Marks = care.NewMarker(ctx, r, g.Opt.Progress)
	must.OK(t, g.Mark())
	must.OK(t, g.SweepDerived(), "dropped")
	must.Equal(t, dropped, 1, "dropped")
	must.Get(r.Indexes().Rebuild(ctx, string(graph.Head)))(t)
}
