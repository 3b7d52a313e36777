package outline_test

import (
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
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/ipld"
)

var keepDigests = outline.DigestOptions{Keep: true}

func digestsOf(t testing.TB, s *core.Snapshot, opt outline.DigestOptions) *outline.Digests {
	t.Helper()
	return must.Get(outline.Open(t.Context(), s, distill.Default(), opt))(t)
}

// digestBlocks counts the digests in a store.
func digestBlocks(t testing.TB, st store.Store) (n int) {
	t.Helper()
	must.OK(t, st.Derived().Iterate(t.Context(), ipld.CID{}, func(b store.Block) error {
		if ipld.RecordKind(b.Data) == distill.KindDigest {
			n++
		}
		return nil
	}))
	return n
}

// projects are lines of so many tasks in five projects.
func projects(n int) string {
	var b strings.Builder
	for i := range 5 {
		fmt.Fprintf(&b, `{"node":{"key":"p%d","type":"Project","summary":"Project number %d of the harbour."}}`+"\n", i, i)
	}
	for i := range n {
		fmt.Fprintf(&b, `{"node":{"key":"t%d","type":"Task","summary":"Task %d moors the boat %d at berth %d."}}`+"\n",
			i, i, i*7%13, i%9)
		fmt.Fprintf(&b, `{"edge":{"type":"part-of","src":"t%d","dst":"p%d"}}`+"\n", i, i%5)
	}
	return b.String()
}

func TestDigestsAreKept(t *testing.T) {
	effort.Alone(t)
	r, st := repokit.OverMem(t)
	repokit.Lines(t, r, projects(400))
	if d := digestsOf(t, repokit.Head(t, r), outline.DigestOptions{Only: true}); d.Found || d.Scopes != nil {
		t.Errorf("something was made where nothing was before: %+v", d.Work)
	}
	first := digestsOf(t, repokit.Head(t, r), keepDigests)
	must.Require(t, first.Kept && !first.Found && first.Work.Digests >= 20 && digestBlocks(t, st) != 0,
		"kept %v, %+v", first.Kept, first.Work)
	root, _, err := first.Top(t.Context(), first.Blocks, graph.ID{})
	must.Require(t, err == nil && root.Facts == 405 && root.Scopes == 5 && len(root.Text) != 0,
		"%+v, %v", root, err)
	must.Equal(t, digestsOf(t, repokit.Head(t, r), keepDigests).Work, (distill.Work{}), "work for nothing")
	repokit.Lines(t, r, `{"node":{"key":"t7","type":"Task","summary":"Task 7 is done on 3 May."}}`)
	next := digestsOf(t, repokit.Head(t, r), outline.DigestOptions{Only: true, Keep: true})
	above, err := next.Above(t.Context(), graph.NodeID("t7"))
	must.Check(t, err == nil && next.Found && next.Work.Digests <= 2*len(above)+2,
		"height %d: %+v, %v", len(above), next.Work, err)
	ro := must.Get(care.New(t.Context(), st, repokit.By, core.Options{ReadOnly: true}))(t)
	if kept := digestsOf(t, repokit.Head(t, ro), outline.DigestOptions{}); kept.Root != next.Root || kept.Work.Digests > 0 {
		t.Errorf("kept %s, want %s", kept.Root, next.Root)
	}
	other, _ := repokit.OverMem(t)
	repokit.Lines(t, other, projects(400))
	repokit.Lines(t, other, `{"node":{"key":"t7","type":"Task","summary":"Task 7 is done on 3 May."}}`)
	if fresh := digestsOf(t, repokit.Head(t, other), outline.DigestOptions{}); fresh.Root != next.Root || fresh.Kept {
		t.Errorf("another way gives another root: %s, %s", fresh.Root, next.Root)
	}
	repokit.Gc(t, r, 1)
	must.Check(t, digestsOf(t, repokit.Head(t, r), outline.DigestOptions{}).Work.Digests <= 0,
		"gone after a collection")
	repokit.CheckClean(t, r)
}

// TestDigestsSeeMarks: hidden nodes are in no digest, and return when the mark is removed.
func TestDigestsSeeMarks(t *testing.T) {
	r, _ := repokit.OverMem(t)
	repokit.Lines(t, r, projects(30))
	before := digestsOf(t, repokit.Head(t, r), keepDigests)
	repokit.Lines(t, r, `{"mark":{"node":"t3","state":"retired"}}`)
	hidden := digestsOf(t, repokit.Head(t, r), keepDigests)
	root, _, err := hidden.Top(t.Context(), hidden.Blocks, graph.ID{})
	must.OK(t, err, "facts")
	must.Equal(t, root.Facts, 34, "facts")
	if list, err := hidden.Above(t.Context(), graph.NodeID("t3")); len(list) > 0 || err != nil {
		t.Errorf("a hidden node is in %d digests, %v", len(list), err)
	}
	must.Check(t, hidden.Root != before.Root, "a mark changes nothing")
	repokit.Lines(t, r, `{"mark":{"node":"p1","state":"forgotten"}}`)
	scope := digestsOf(t, repokit.Head(t, r), keepDigests)
	d, _, err := scope.Top(t.Context(), scope.Blocks, graph.NodeID("p1"))
	if err != nil || d == nil || d.Facts != 6 || strings.Contains(distill.JoinText(d.Text), "Project number 1") {
		t.Errorf("the scope of a hidden node: %+v, %v", d, err)
	}
	repokit.CheckClean(t, r)
}

func TestPurgeDropsDigests(t *testing.T) {
	r, st := repokit.OverMem(t)
	repokit.Lines(t, r, projects(40))
	digestsOf(t, repokit.Head(t, r), keepDigests)
	must.Get(care.Purge(t.Context(), r, "t5", care.PurgeOptions{Stamp: repokit.By}))(t)
	must.Equal(t, digestBlocks(t, st), 0, "digests after a purge")
	for _, rev := range []string{"HEAD", "HEAD~1"} {
		s := must.Get(r.Snapshot(t.Context(), rev))(t)
		d := digestsOf(t, s, keepDigests)
		root, _, err := d.Top(t.Context(), d.Blocks, graph.ID{})
		must.OK(t, err, rev)
		must.Equal(t, root.Facts, 44, rev)
	}
	repokit.CheckClean(t, r)
}

func TestDigestsAreCollected(t *testing.T) {
	r, st := repokit.OverMem(t)
	repokit.Lines(t, r, projects(40))
	repokit.Branch(t, r, "side", "HEAD")
	repokit.CommitOn(t, r, "side", `{"node":{"key":"t3","type":"Task","summary":"Something else."}}`)
	side := must.Get(r.Snapshot(t.Context(), "side"))(t)
	digestsOf(t, repokit.Head(t, r), keepDigests)
	only := digestBlocks(t, st)
	digestsOf(t, side, keepDigests)
	if n := digestBlocks(t, st); n <= only {
		t.Errorf("%d digests of two states, %d of one", n, only)
	}
	repokit.DropBranch(t, r, "side")
	r = must.Get(care.New(t.Context(), st, repokit.By, core.Options{}))(t)
	repokit.Gc(t, r, 1)
	must.Equal(t, digestBlocks(t, st), only, "digests after the branch is gone")
	repokit.CheckClean(t, r)
}

// TestDamagedDigests: damage is reported, and a repair computes the digests again.
func TestDamagedDigests(t *testing.T) {
	st := mem.New()
	r := must.Get(care.New(t.Context(), st, repokit.By, core.Options{}))(t)
	repokit.Lines(t, r, projects(40))
	want := digestsOf(t, repokit.Head(t, r), keepDigests)
	other, otherStore := repokit.OverMem(t)
	repokit.Lines(t, other, projects(41))
	digestsOf(t, repokit.Head(t, other), keepDigests)
	cells := func(st store.Store) (key, value ipld.CID) {
		must.OK(t, st.Derived().(store.CellDeleter).Cells(t.Context(), func(k, v ipld.CID) error {
			block, err := st.Derived().Get(t.Context(), v)
			if err == nil && ipld.RecordKind(block) == "digests" {
				key, value = k, v
			}
			return err
		}))
		return key, value
	}
	key, _ := cells(st)
	_, forged := cells(otherStore)
	must.OK(t, otherStore.Derived().Iterate(t.Context(), ipld.CID{}, func(b store.Block) error {
		b.Data = slices.Clone(b.Data)
		return st.Derived().Put(t.Context(), b)
	}))
	must.OK(t, st.Derived().SetCell(t.Context(), key, forged))
	r = must.Get(care.New(t.Context(), st, repokit.By, core.Options{}))(t)
	_, err := outline.Open(t.Context(), repokit.Head(t, r), distill.Default(), outline.DigestOptions{})
	must.Fail(t, err, store.ErrCorrupt)
	res, err := care.Repair(t.Context(), r, care.FsckOptions{})
	must.Require(t, err == nil && len(res.Done) != 0 && len(res.Report.Errors) <= 0,
		"repair: %+v, %v", res, err)
	must.Check(t, digestsOf(t, repokit.Head(t, r), keepDigests).Root == want.Root,
		"other digests after the repair")
}

// TestDigestRules: properties and types make scopes too.
func TestDigestRules(t *testing.T) {
	r, _ := repokit.OverMem(t)
	repokit.Lines(t, r, `{"node":{"key":"a","type":"Note","summary":"One.","props":{"team":"blue","n":1}}}
{"node":{"key":"b","type":"Note","summary":"Two.","props":{"team":"red"}}}
{"node":{"key":"c","type":"Idea","summary":"Three.","props":{"team":"blue"}}}`)
	for words, want := range map[string]map[string]int{
		"prop:team": {"prop team=\"blue\"": 2, "prop team=\"red\"": 1},
		"type":      {"type Note": 2, "type Idea": 1},
		"prop:n":    {"prop n=1": 1},
	} {
		recipe := must.Get(distill.ParseRules([]string{words}))(t)
		d := must.Get(outline.Open(t.Context(), repokit.Head(t, r), recipe, keepDigests))(t)
		for name, facts := range want {
			got, _, err := d.Top(t.Context(), d.Blocks, distill.PseudoScope(name))
			must.Check(t, err == nil && got != nil && got.Facts == facts && got.Name == name,
				"%s: %s: %+v, %v", words, name, got, err)
		}
	}
	for _, bad := range [][]string{{"edge:"}, {"prop"}, {"type:x"}, {"type", "type"}, {"x:y"}, slices.Repeat([]string{"type"}, 20)} {
		_, err := distill.ParseRules(bad)
		must.Fail(t, err, distill.ErrRecipe, bad)
	}
}
