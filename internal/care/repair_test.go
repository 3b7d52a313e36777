package care_test

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// badBlocks is a store whose derived blocks read as other data.
type badBlocks struct {
	store.Store
	bad *bool
}

func (b badBlocks) Derived() store.Derived { return badDerived{b.Store.Derived(), b.bad} }

type badDerived struct {
	store.Derived
	bad *bool
}

func (d badDerived) Iterate(ctx context.Context, from ipld.CID, fn func(store.Block) error) error {
	return d.Derived.Iterate(ctx, from, func(b store.Block) error {
		if *d.bad && len(b.Data) > 0 {
			b.Data = bytes.Clone(b.Data)
			b.Data[0] ^= 1
		}
		return fn(b)
	})
}

func (d badDerived) Clear(ctx context.Context) error {
	*d.bad = false
	return d.Derived.Clear(ctx)
}

func TestRepair(t *testing.T) {
	ctx := t.Context()
	bad := false
	r := must.Get(care.New(ctx, badBlocks{mem.New(), &bad}, repokit.By, core.Options{}))(t)
	defer r.Close()
	repokit.Lines(t, r, repokit.Person(1)+"\n"+repokit.Person(2))
	answer := must.Get(rank.Retrieve(ctx, repokit.Head(t, r), retrieve.Request{Text: "person"}))(t)
	res, err := care.Repair(ctx, r, care.FsckOptions{})
	must.True(t, err == nil && len(res.Done) <= 0 && len(res.Report.Errors) <= 0,
		"repair of a sound repository: %+v, %v", res, err)
	bad = true
	res = must.Get(care.Repair(ctx, r, care.FsckOptions{}))(t)
	must.True(t, len(res.Done) == 2 && len(res.Report.Errors) <= 0,
		"repair: %v, then %v", res.Done, res.Report.Errors)
	again, err := rank.Retrieve(ctx, repokit.Head(t, r), retrieve.Request{Text: "person"})
	must.OK(t, err, "retrieve after the repair")
	must.Equal(t, len(again.Items), len(answer.Items), "retrieve after the repair")
}

// TestRepairMakesUpNothing leaves damaged facts alone.
func TestRepairMakesUpNothing(t *testing.T) {
	st := mem.New()
	r := repokit.OverStore(t, st)
	c := repokit.Lines(t, r, repokit.Person(1))
	must.OK(t, st.Facts().(store.Deleter).Delete(t.Context(), c.Graph))
	res, err := care.Repair(t.Context(), r, care.FsckOptions{})
	must.True(t, err == nil && len(res.Done) <= 0 && len(res.Report.Errors) != 0, "repair: %+v, %v", res, err)
}

// TestRepairWithDamagedFacts keeps a working index although a fact that it was made from is damaged, so that it
// could not be rebuilt.
func TestRepairWithDamagedFacts(t *testing.T) {
	ctx := t.Context()
	tamper := testkit.NewTamper(mem.New())
	r := must.Get(care.New(ctx, tamper, repokit.By, core.Options{}))(t)
	defer r.Close()
	repokit.Lines(t, r, `{"node":{"key":"a","type":"Note","summary":"amber"}}`+"\n"+
		`{"node":{"key":"b","type":"Note","summary":"basalt"}}`)
	var bad ipld.CID
	err := tamper.Facts().Iterate(ctx, ipld.CID{}, func(b store.Block) error {
		if ipld.RecordKind(b.Data) == "node" && bytes.Contains(b.Data, []byte("basalt")) {
			bad = b.CID
		}
		return nil
	})
	must.Require(t, err == nil && bad.Defined(), "the fact to damage: %v, %v", bad, err)
	retrieves := func(when string) {
		t.Helper()
		answer, err := rank.Retrieve(ctx, repokit.Head(t, r), retrieve.Request{Text: "amber"})
		must.True(t, err == nil && len(answer.Items) == 1, "retrieve %s: %+v, %v", when, answer, err)
	}
	retrieves("before")
	before := must.Get(repokit.Head(t, r).IndexStats(ctx))(t)
	worse := false // the index is damaged as well
	tamper.Lie = func(c ipld.CID, data []byte) ([]byte, error) {
		if c == bad || worse && c == before.Manifest {
			return nil, &store.CorruptError{Want: c}
		}
		return data, nil
	}
	for range 2 {
		res, err := care.Repair(ctx, r, care.FsckOptions{})
		must.True(t, err == nil && len(res.Done) <= 0 && slices.ContainsFunc(res.Report.Errors,
			func(e care.FsckError) bool { return e.CID == bad }), "repair: %+v, %v", res, err)
		must.Fail(t, must.Err(r.Indexes().Rebuild(ctx, "HEAD")), store.ErrCorrupt)
		worse = !worse
	}
	retrieves("after the index cannot be made anew")
	r = must.Get(care.New(ctx, tamper, repokit.By, core.Options{}))(t)
	retrieves("with nothing in memory")
}

func TestOnDatabase(t *testing.T) { repokit.OnDatabase(t, 5) }
