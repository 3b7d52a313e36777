package repo

import (
	"context"
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store/mem"
)

// dropping drops all indexes once its cells were listed, as a repair does meanwhile.
type dropping struct {
	derivedDeleter
	drop func() error
}

func (d *dropping) Cells(ctx context.Context, fn func(key, value ipld.CID) error) error {
	var cells [][2]ipld.CID
	err := d.derivedDeleter.Cells(ctx, func(key, value ipld.CID) error {
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
	by := Stamp{Author: "Tess Tester", Command: []string{"commit"}}
	r, err := New(ctx, mem.New(), by, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }() // in memory
	for i := range 3 {
		changes := func(yield func(graph.Change, error) bool) {
			yield(graph.Change{Node: &graph.NodeChange{
				Key: fmt.Sprint("n", i), Type: "N", Summary: new("some words"),
			}}, nil)
		}
		if _, err := r.Commit(ctx, changes, CommitOptions{Stamp: by}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.RebuildIndex(ctx, string(graph.Head)); err != nil {
			t.Fatal(err)
		}
	}
	dropped := 0
	g := &collector{ctx: ctx, repo: r, res: &GCResult{}, opt: GCOptions{
		Stamp: by, KeepOps: DefaultKeepOps, Progress: func(string, int) {},
	}}
	g.derived = &dropping{r.store.Derived().(derivedDeleter), func() error { dropped++; return r.dropIndexes(ctx) }}
	g.marks = newMarker(ctx, r, g.opt.Progress)
	if err := g.mark(); err != nil {
		t.Fatal(err)
	}
	if err := g.sweepDerived(); err != nil || dropped != 1 {
		t.Errorf("dropped %d times: %v", dropped, err)
	}
	if _, err := r.RebuildIndex(ctx, string(graph.Head)); err != nil {
		t.Error(err)
	}
}
