package storetest_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/storetest"
	"github.com/mnem-project/mnem/ipld"
)

func TestCounting(t *testing.T) {
	ctx := context.Background()
	c := storetest.NewCounting(mem.New().Facts())
	a, b := storetest.Block(1, 100), storetest.Block(2, 200)
	check := func(what string, err error, want storetest.Traffic) {
		t.Helper()
		diff := cmp.Diff(want, c.Counts())
		must.True(t, err == nil && diff == "", "%s: %v (-want +got):\n%s", what, err, diff)
		c.Reset()
	}
	check("Put", c.Put(ctx, a, b), storetest.Traffic{BlocksWritten: 2, BytesWritten: 300})
	check("Put again", c.Put(ctx, a), storetest.Traffic{BlocksWritten: 1, BytesWritten: 100})
	_, err := c.Get(ctx, b.CID)
	check("Get", err, storetest.Traffic{Gets: 1, BlocksRead: 1, BytesRead: 200})
	err = c.GetEach(ctx, slices.Values([]ipld.CID{a.CID, b.CID, storetest.Block(3, 8).CID}),
		func(ipld.CID, []byte, error) error { return nil })
	check("GetEach", err, storetest.Traffic{BlocksRead: 2, BytesRead: 300})
	_, err = c.Has(ctx, b.CID)
	check("Has", err, storetest.Traffic{})
	err = c.Iterate(ctx, ipld.CID{}, func(store.Block) error { return nil })
	check("Iterate", err, storetest.Traffic{BlocksRead: 2, BytesRead: 300})

	must.Fail(t, must.Err(c.Get(ctx, storetest.Block(3, 8).CID)), store.ErrNotFound)
	check("failed Get", nil, storetest.Traffic{})
	must.Fail(t, c.Put(ctx, store.Block{CID: a.CID, Data: b.Data}), store.ErrCorrupt)
	check("failed Put", nil, storetest.Traffic{})
}
