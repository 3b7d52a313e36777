package rank_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// linkless is a store without indexes of links.
type linkless struct {
	store.Store
	hidden *int // how many were not found
}

func (l linkless) Derived() store.Derived { return linklessDerived{l.Store.Derived(), l.hidden} }

type linklessDerived struct {
	store.Derived
	hidden *int
}

func (d linklessDerived) Cell(ctx context.Context, key ipld.CID) (ipld.CID, error) {
	c, err := d.Derived.Cell(ctx, key)
	if err != nil {
		return c, err
	}
	if data, err := d.Derived.Get(ctx, c); err == nil && ipld.RecordKind(data) == "links" {
		*d.hidden++
		return ipld.CID{}, &store.NotFoundError{CID: key}
	}
	return c, nil
}

// linkModel is the state from which the lines of a random history are made.
type linkModel struct {
	rng    *rand.Rand
	n      int
	edges  []string // as lines name them
	marked map[string]bool
}

// change returns the lines of a commit: most edges are new, some of them parallel, some go, some get
// a mark or lose it, and many lead to the first nodes.
func (m *linkModel) change(size int) string {
	var b strings.Builder
	node := func() int { return min(m.rng.IntN(m.n), m.rng.IntN(m.n), m.rng.IntN(m.n)) }
	for range size {
		kind := m.rng.IntN(12)
		if len(m.edges) == 0 {
			kind = 12
		}
		at, edge := 0, ""
		if kind < 4 {
			at = m.rng.IntN(len(m.edges))
			edge = m.edges[at]
		}
		switch {
		case kind == 0:
			fmt.Fprintf(&b, `{"remove":{"edge":{%s}}}`, edge)
			m.edges = slices.Delete(m.edges, at, at+1)
			delete(m.marked, edge)
		case kind < 3:
			state := []string{"stale", "retired", "forgotten"}[m.rng.IntN(3)]
			fmt.Fprintf(&b, `{"mark":{"edge":{%s},"state":"%s"}}`, edge, state)
			m.marked[edge] = true
		case kind == 3 && m.marked[edge]:
			fmt.Fprintf(&b, `{"remove":{"mark":{"edge":{%s}}}}`, edge)
			delete(m.marked, edge)
		case kind == 4:
			fmt.Fprintf(&b, `{"mark":{"node":"n%d","state":"stale"}}`, node())
		default:
			edge = fmt.Sprintf(`"type":"%s","src":"n%d","dst":"n%d","key":"%d"`,
				[]string{"about", "next", "re"}[m.rng.IntN(3)], node(), node(), m.rng.IntN(3))
			fmt.Fprintf(&b, `{"edge":{%s,"weight":%g}}`, edge, float64(1+m.rng.IntN(4))/4)
			if !slices.Contains(m.edges, edge) {
				m.edges = append(m.edges, edge)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// linkRequests asks in every way that edges matter to.
func linkRequests() (list []retrieve.Request) {
	for i := range 2 {
		req := retrieve.Request{Text: fmt.Sprintf("w%d w%d", i, i+5), Limit: new(0), Budget: new(0)}
		list = append(list, req)
		in, types, marks, shown := req, req, req, req
		in.Direction = retrieve.In
		types.ExpandTypes = []string{"about", "re"}
		marks.Marks = []graph.State{graph.Retired}
		shown.Adjacency = 3
		list = append(list, in, types, marks, shown)
		for _, e := range []retrieve.Expansion{retrieve.Decay, retrieve.PPR} {
			for _, r := range []retrieve.Request{req, in, types, marks} {
				r.Expansion = e
				list = append(list, r)
			}
		}
	}
	return list
}

// TestLinksChangeNoAnswer compares the answers of a random history with those of the same memory without indexes of
// links, in which everything is read from the trees.
func TestLinksChangeNoAnswer(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	ctx := t.Context()
	for seed := range effort.Pick[uint64](1, 2, 2) {
		rng := rand.New(rand.NewPCG(seed, 21))
		st := mem.New()
		r := must.Get(care.New(ctx, st, repokit.By, core.Options{}))(t)
		n := []int{40, 300}[seed]
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `{"node":{"key":"n%d","type":"T","summary":"note w%d w%d"}}`+"\n", i, i%9, i%5)
		}
		repokit.Lines(t, r, b.String())
		m := &linkModel{rng: rng, n: n, marked: map[string]bool{}}
		reqs := repokit.Some(linkRequests(), 10)
		hidden := 0
		sizes := effort.Pick([]int{800, 1, 2, 30}, []int{2000, 1, 2, 30, 300, 1}, []int{2000, 1, 2, 30, 300, 1})
		for commit, size := range sizes {
			repokit.Lines(t, r, m.change(size))
			bare := must.Get(care.New(ctx, linkless{st, &hidden}, repokit.By, core.Options{ReadOnly: true}))(t)
			want, _ := answers(t, bare, reqs)
			got, _ := answers(t, r, reqs)
			repokit.Same(t, fmt.Sprintf("seed %d, commit %d", seed, commit), want, got)
			if size > 5 {
				continue
			}
			fresh := must.Get(care.New(ctx, st, repokit.By, core.Options{ReadOnly: true}))(t)
			got, _ = answers(t, fresh, reqs)
			repokit.Same(t, fmt.Sprintf("seed %d, commit %d, opened anew", seed, commit), want, got)
		}
		must.True(t, hidden != 0, "there were no indexes to do without")
		repokit.CheckClean(t, r)
	}
}

// linkCells returns the cells of the indexes of links of a store.
func linkCells(t *testing.T, st store.Store) map[ipld.CID]ipld.CID {
	t.Helper()
	out := map[ipld.CID]ipld.CID{}
	must.OK(t, st.Derived().(store.CellDeleter).Cells(t.Context(), func(key, value ipld.CID) error {
		data, err := st.Derived().Get(t.Context(), value)
		if err == nil && ipld.RecordKind(data) == "links" {
			out[key] = value
		}
		return err
	}))
	return out
}

// TestLinksOfOthers gives a commit a valid index of other edges: fsck and a retrieval report it, and a repair rebuilds
// it.
func TestLinksOfOthers(t *testing.T) {
	ctx := t.Context()
	st := mem.New()
	r := must.Get(care.New(ctx, st, repokit.By, core.Options{}))(t)
	repokit.Lines(t, r, `{"node":{"key":"a","type":"T","summary":"zebra"}}
{"node":{"key":"b","type":"T","summary":"other"}}
{"edge":{"type":"e","src":"a","dst":"b"}}`)
	before := linkCells(t, st)
	repokit.Lines(t, r, `{"edge":{"type":"f","src":"a","dst":"b"}}`)
	var key, old ipld.CID
	for k, v := range linkCells(t, st) {
		if _, ok := before[k]; ok {
			old = v
		} else {
			key = k
		}
	}
	must.OK(t, st.Derived().SetCell(ctx, key, old))
	fresh := must.Get(care.New(ctx, st, repokit.By, core.Options{}))(t)
	_, err := rank.Retrieve(ctx, repokit.Head(t, fresh), retrieve.Request{Text: "zebra"})
	must.Fail(t, err, store.ErrCorrupt)
	report, err := care.Fsck(ctx, fresh, care.FsckOptions{})
	must.True(t, err == nil && len(report.Errors) == 1 && report.Errors[0].Kind == care.FsckIndex,
		"fsck: %+v, %v", report, err)
	res, err := care.Repair(ctx, fresh, care.FsckOptions{})
	must.Require(t, err == nil && len(res.Done) == 2 && len(res.Report.Errors) <= 0, "repair: %+v, %v", res, err)
	must.Equal(t, len(linkCells(t, st)), 1, "indexes of links after the repair")
}

// TestLinksAreCollected keeps the indexes of the links of commits that are kept, and no other.
func TestLinksAreCollected(t *testing.T) {
	effort.Alone(t)
	ctx := t.Context()
	st := mem.New()
	r := must.Get(care.New(ctx, st, repokit.By, core.Options{}))(t)
	m := &linkModel{rng: rand.New(rand.NewPCG(4, 4)), n: 300, marked: map[string]bool{}}
	var b strings.Builder
	for i := range m.n {
		fmt.Fprintf(&b, `{"node":{"key":"n%d","type":"T","summary":"note w%d"}}`+"\n", i, i%9)
	}
	repokit.Lines(t, r, b.String())
	for _, size := range []int{2000, 3, 3, 3, 3, 3, 3} {
		repokit.Lines(t, r, m.change(size))
	}
	kept := len(linkCells(t, st))
	repokit.Branch(t, r, "other", "HEAD")
	repokit.CommitOn(t, r, "other", m.change(400))
	n := len(linkCells(t, st))
	must.True(t, n == kept+1 && kept >= 7, "%d indexes of links, %d before", n, kept)
	must.Get(r.Branches().Remove(ctx, "other", core.RefOptions{Stamp: repokit.By, Force: true}))(t)
	reqs := linkRequests()
	want, _ := answers(t, r, reqs)
	repokit.Gc(t, r, 1)
	must.Equal(t, len(linkCells(t, st)), kept, "indexes of links after a collection")
	got, _ := answers(t, r, reqs)
	repokit.Same(t, "after a collection", want, got)
	repokit.CheckClean(t, r)
}
