package outline_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/internal/view/community"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// cliques are change lines of two cliques of n persons each and a bridge, and a person alone.
func cliques(n int) string {
	var list []string
	for i := range 2 * n {
		list = append(list, repokit.Person(i))
	}
	list = append(list, repokit.Person(2*n))
	link := func(a, b int) {
		list = append(list, fmt.Sprintf(`{"edge":{"type":"knows","src":"p%d","dst":"p%d"}}`, a, b))
	}
	for a := range 2 * n {
		for b := range a {
			if a/n == b/n {
				link(a, b)
			}
		}
	}
	link(0, n)
	return strings.Join(list, "\n")
}

func communitiesOf(t testing.TB, s *core.Snapshot) *community.Partition {
	t.Helper()
	return must.Get(outline.Communities(t.Context(), s))(t)
}

// derivedOf counts derived blocks by whether they are of communities.
func derivedOf(t testing.TB, st store.Store) (communities, others int) {
	t.Helper()
	must.OK(t, st.Derived().Iterate(t.Context(), ipld.CID{}, func(b store.Block) error {
		if ipld.RecordKind(b.Data) == community.Kind {
			communities++
		} else {
			others++
		}
		return nil
	}))
	return communities, others
}

func TestCommunitiesAreKept(t *testing.T) {
	r, st := repokit.OverMem(t)
	repokit.Lines(t, r, cliques(5))
	p := communitiesOf(t, repokit.Head(t, r))
	must.Require(t, p.Len() == 2 && p.Nodes() == 10 && len(p.Members(1)) == 5,
		"%d communities of %d nodes", p.Len(), p.Nodes())
	n, _ := derivedOf(t, st)
	must.True(t, n == 1, "%d records are kept", n)
	repokit.Lines(t, r, `{"node":{"key":"p1","type":"Person","summary":"changed"}}`)
	must.Equal(t, communitiesOf(t, repokit.Head(t, r)), p, "communities are found again though no edge changed")
	again := must.Get(care.New(t.Context(), st, repokit.By, core.Options{ReadOnly: true}))(t)
	kept := communitiesOf(t, repokit.Head(t, again))
	must.Equal(t, kept.Len(), p.Len(), "those kept are others")
	must.Same(t, kept.Members(0), p.Members(0), "those kept are others")
	repokit.Lines(t, r, `{"edge":{"type":"knows","src":"p10","dst":"p1"}}`)
	must.Equal(t, communitiesOf(t, repokit.Head(t, r)).Nodes(), 11, "nodes after another edge")
	n, _ = derivedOf(t, st)
	must.True(t, n == 2, "%d records are kept", n)
	repokit.Gc(t, r, 1) // the branch still leads to all
	n, _ = derivedOf(t, st)
	must.True(t, n == 2, "%d records after a collection", n)
	repokit.CheckClean(t, r)
}

func TestPurgeDropsCommunities(t *testing.T) {
	r, st := repokit.OverMem(t)
	repokit.Lines(t, r, cliques(3))
	communitiesOf(t, repokit.Head(t, r))
	must.Get(care.Purge(t.Context(), r, "p1", care.PurgeOptions{Stamp: repokit.By}))(t)
	n, _ := derivedOf(t, st)
	must.True(t, n == 0, "%d records after a purge", n)
	must.Equal(t, communitiesOf(t, repokit.Head(t, r)).Nodes(), 5, "nodes in communities")
	old := must.Get(r.Snapshot(t.Context(), "HEAD~1"))(t)
	// The erased node keeps its place, and is shown nowhere.
	must.Equal(t, communitiesOf(t, old).Nodes(), 6, "nodes in communities of the old commit")
	a := must.Get(rank.Retrieve(t.Context(), old, retrieve.Request{Text: "`p0`", Community: true}))(t)
	for _, it := range a.Items {
		must.True(t, it.ID != graph.NodeID("p1"), "an erased node joined")
	}
	repokit.CheckClean(t, r)
}

// forgedBlock is a store with one derived block that reads as another.
type forgedBlock struct {
	store.Store
	forge func(b []byte) []byte
}

func (f *forgedBlock) Derived() store.Derived { return forgedDerived{f.Store.Derived(), f} }

type forgedDerived struct {
	store.Derived
	f *forgedBlock
}

func (d forgedDerived) Get(ctx context.Context, c ipld.CID) ([]byte, error) {
	data, err := d.Derived.Get(ctx, c)
	if err == nil && d.f.forge != nil && (c.Codec() == ipld.Raw || ipld.RecordKind(data) == community.Kind) {
		data = d.f.forge(bytes.Clone(data))
	}
	return data, err
}

func TestDamagedCommunities(t *testing.T) {
	st := mem.New()
	r := must.Get(care.New(t.Context(), st, repokit.By, core.Options{}))(t)
	repokit.Lines(t, r, cliques(4))
	want := communitiesOf(t, repokit.Head(t, r))
	for name, forge := range map[string]func(b []byte) []byte{
		"cut":     func(b []byte) []byte { return b[:len(b)-1] },
		"nothing": func([]byte) []byte { return nil },
		"number": func(b []byte) []byte {
			b[0] ^= 1
			return b
		},
	} {
		bad := &forgedBlock{st, forge}
		r := must.Get(care.New(t.Context(), bad, repokit.By, core.Options{}))(t)
		s := repokit.Head(t, r)
		must.Fail(t, must.Err(outline.Communities(t.Context(), s)), store.ErrCorrupt, name)
		report, err := care.Fsck(t.Context(), r, care.FsckOptions{})
		must.True(t, err == nil && slices.ContainsFunc(report.Errors, func(e care.FsckError) bool {
			return e.Kind == care.FsckIndex && strings.Contains(e.Message, "communities")
		}), "%s: fsck finds %v, %v", name, report.Errors, err)
		bad.forge = nil
		must.Equal(t, communitiesOf(t, s).Len(), want.Len(), name)
	}
}

// TestForgedCommunities: fsck finds communities that are in order, but of other edges.
func TestForgedCommunities(t *testing.T) {
	r, st := repokit.OverMem(t)
	repokit.Lines(t, r, cliques(4))
	communitiesOf(t, repokit.Head(t, r))
	other, otherStore := repokit.OverMem(t)
	repokit.Lines(t, other, cliques(5))
	communitiesOf(t, repokit.Head(t, other))
	var cell [2]ipld.CID
	cells := func(st store.Store, fn func(key, value ipld.CID)) {
		must.OK(t, st.Derived().(store.CellDeleter).Cells(t.Context(), func(key, value ipld.CID) error {
			block, err := st.Derived().Get(t.Context(), value)
			if err == nil && ipld.RecordKind(block) == community.Kind {
				fn(key, value)
			}
			return err
		}))
	}
	cells(st, func(key, _ ipld.CID) { cell[0] = key })
	cells(otherStore, func(_, value ipld.CID) { cell[1] = value })
	must.OK(t, otherStore.Derived().Iterate(t.Context(), ipld.CID{}, func(b store.Block) error {
		b.Data = bytes.Clone(b.Data)
		return st.Derived().Put(t.Context(), b)
	}))
	must.OK(t, st.Derived().SetCell(t.Context(), cell[0], cell[1]))
	res, err := care.Repair(t.Context(), r, care.FsckOptions{})
	must.Require(t, err == nil && len(res.Done) != 0 && len(res.Report.Errors) <= 0, "repair: %+v, %v", res, err)
	n, _ := derivedOf(t, st)
	must.True(t, n == 0, "%d records after a repair", n)
}
