package ops

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/block/store/storetest"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
)

// liveHeap returns how many bytes are in use.
func liveHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestShowStreams shows a commit of many nodes: none is held once it was given. Were they, the heap would
// grow by 2 KiB for each.
func TestShowStreams(t *testing.T) {
	const nodes, summary, most = 12_000, 2_000, 8 << 20
	h, ctx := newHost(t), t.Context()
	req := &CommitRequest{Message: "many"}
	req.SetChanges(func(context.Context) (state.Changes, error) {
		var b strings.Builder
		text := strings.Repeat("x", summary)
		for i := range nodes {
			fmt.Fprintf(&b, `{"node":{"key":"n%d","type":"T","summary":"%s"}}`+"\n", i, text)
		}
		return state.ReadChanges(strings.NewReader(b.String()), "x"), nil
	})
	run(t, h, CommitVerb, req)
	snap, err := h.repo.Snapshot(ctx, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	c, err := compareParent(ctx, h.repo, snap)
	if err != nil {
		t.Fatal(err)
	}
	d, err := c.differed(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	n, early, late := 0, int64(0), int64(0)
	err = d.Nodes(func(NodeDiff) error {
		switch n++; n {
		case nodes / 4:
			early = liveHeap()
		case nodes - 1:
			late = liveHeap()
		}
		return nil
	})
	if err != nil || n != nodes {
		t.Fatalf("%d nodes, %v", n, err)
	}
	if late-early > most {
		t.Errorf("the heap grew by %d bytes while %d nodes were shown, want at most %d", late-early, nodes*3/4, most)
	}
}

// TestOpLogStreams ends the operation log after the first: what was read does not depend on how many
// there are.
func TestOpLogStreams(t *testing.T) {
	var reads [2]int64
	for i, ops := range []int{20, 400} {
		st := mem.New()
		by := state.Stamp{Author: "a", Command: []string{"init"}}
		r, err := care.New(t.Context(), st, by, core.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for n := range ops {
			line := fmt.Sprintf(`{"node":{"key":"n%d","type":"T"}}`, n)
			by.Command = []string{"commit"}
			_, err := r.Commit(t.Context(), state.ReadChanges(strings.NewReader(line), "x"), core.CommitOptions{Stamp: by})
			if err != nil {
				t.Fatal(err)
			}
		}
		counted := storetest.NewCounting(st.Facts())
		if r, err = care.New(t.Context(), countedFacts{st, counted}, by, core.Options{}); err != nil {
			t.Fatal(err)
		}
		counted.Reset()
		enough := errors.New("enough")
		err = OpLog.Do(t.Context(), &fakeHost{repo: r}, &OpLogRequest{}, func(any) error { return enough })
		if !errors.Is(err, enough) {
			t.Fatal(err)
		}
		reads[i] = counted.Counts().BlocksRead
	}
	if reads[1] > reads[0]+4 {
		t.Errorf("%d blocks read for one of 400 operations, %d for one of 20", reads[1], reads[0])
	}
}
