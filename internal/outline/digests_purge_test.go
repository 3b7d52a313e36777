package outline_test

import (
	"crypto/sha256"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/merging"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/ipld"
)

// forgeText puts a text, made by change from one that the current commit has, into a commit on main.
func forgeText(t testing.TB, r *core.Repo, st store.Store, source distill.Source, change func(*distill.Written)) {
	t.Helper()
	ctx, at := t.Context(), repokit.Head(t, r)
	w, _, err := outline.ReadDigestText(ctx, at, source)
	must.Require(t, err == nil && w != nil, "text: %v, %v", w, err)
	change(w)
	buffer := store.NewStage(st.Facts(), 0)
	nodes := prolly.NewNodes(buffer, nil)
	rec := *at.Commit()
	tree, err := nodes.Load(ctx, rec.Digests)
	block := store.NewBlock(ipld.DagCBOR, w.Encode())
	if err == nil {
		tree, err = tree.Edit(ctx, []prolly.Edit{{Key: w.Source[:], Value: ipld.AppendLink(nil, block.CID)}})
	}
	must.OK(t, err)
	rec.Digests, rec.Parents = tree.Root(), []ipld.CID{at.CID()}
	rec.Height++
	next := store.NewBlock(ipld.DagCBOR, rec.Encode())
	if err = buffer.Put(ctx, block, next); err == nil {
		err = buffer.Flush(ctx)
	}
	if err == nil {
		err = repokit.ForkBranch(ctx, r, "main", next.CID)
	}
	must.OK(t, err)
}

// purgedTexts purges t5, which is in p0, and returns how many texts went.
func purgedTexts(t testing.TB, r *core.Repo) int {
	t.Helper()
	res := must.Get(care.Purge(t.Context(), r, "t5", care.PurgeOptions{Stamp: repokit.By}))(t)
	return repokit.Kinds(res.Erased)["digest"]
}

// TestPurgeWithoutGraph: a text whose graph was collected goes with the next purge, which is not stopped by it.
func TestPurgeWithoutGraph(t *testing.T) {
	r, _ := repokit.OverMem(t)
	repokit.Lines(t, r, projects(20))
	repokit.Fork(t, r, "side", repokit.Head(t, r).CID())
	_, err := r.Commit(t.Context(),
		state.ReadChanges(strings.NewReader(`{"node":{"key":"x","type":"Thing","summary":"Aside."}}`), "test.jsonl"),
		core.CommitOptions{Stamp: repokit.By, Branch: "side", Message: "aside"})
	must.OK(t, err)
	mustWrite(t, r, "side", repokit.TextFor(topOf(t, repokit.Head(t, r), "p1"), "Scope one."))
	must.Get(merging.CherryPick(t.Context(), r, "side", repokit.Options("main")))(t)
	mustWrite(t, r, "", repokit.TextFor(topOf(t, repokit.Head(t, r), "p2"), "Scope two."))
	repokit.DropBranch(t, r, "side")
	repokit.Gc(t, r, 1)
	must.Equal(t, textOf(t, repokit.Head(t, r), "p1"), "Scope one.", "picked")
	if n := purgedTexts(t, r); n != 1 || textOf(t, repokit.Head(t, r), "p1") != "" || textOf(t, repokit.Head(t, r), "p2") == "" {
		t.Errorf("%d texts erased", n)
	}
}

// TestPurgeForgedTexts: the next purge erases a text that claims to describe a graph but does not.
func TestPurgeForgedTexts(t *testing.T) {
	for name, of := range map[string]func(*core.Snapshot) ipld.CID{
		"an invented graph": func(*core.Snapshot) ipld.CID { return ipld.Sum(ipld.DagCBOR, []byte("no graph")) },
		"a commit":          func(s *core.Snapshot) ipld.CID { return s.CID() },
	} {
		r, st := repokit.OverMem(t)
		repokit.Lines(t, r, projects(20))
		mustWrite(t, r, "", repokit.TextFor(topOf(t, repokit.Head(t, r), "p1"), "Scope one."),
			repokit.TextFor(topOf(t, repokit.Head(t, r), "p2"), "Scope two."))
		forgeText(t, r, st, topOf(t, repokit.Head(t, r), "p1").Source, func(w *distill.Written) {
			w.Graph, w.Text = of(repokit.Head(t, r)), "Forged."
		})
		if n := purgedTexts(t, r); n != 1 || textOf(t, repokit.Head(t, r), "p1") != "" || textOf(t, repokit.Head(t, r), "p2") == "" {
			t.Errorf("%s: %d texts erased", name, n)
		}
	}
}

// TestPurgeWithoutVersion: a text of a graph whose version of the node is not here goes with the node.
func TestPurgeWithoutVersion(t *testing.T) {
	st := mem.New()
	r := must.Get(care.New(t.Context(), st, repokit.By, core.Options{}))(t)
	repokit.Lines(t, r, projects(20))
	old := repokit.NodeCID(t, r, "t5")
	mustWrite(t, r, "", repokit.TextFor(topOf(t, repokit.Head(t, r), "p0"), "Scope zero."))
	repokit.Lines(t, r, `{"node":{"key":"t5","type":"Task","summary":"Task 5 is another."}}`)
	must.OK(t, st.Facts().(store.Deleter).Delete(t.Context(), old))
	must.Equal(t, purgedTexts(t, r), 1, "texts erased")
}

// TestPurgeOtherGraph: a text claims a graph without the node but has the source of a digest with it. It is erased with
// the node; those of other graphs stay.
func TestPurgeOtherGraph(t *testing.T) {
	r, st := repokit.OverMem(t)
	without := repokit.Lines(t, r, projects(5)).Graph
	mustWrite(t, r, "", repokit.TextFor(topOf(t, repokit.Head(t, r), "p1"), "Scope one, early."))
	repokit.Lines(t, r, projects(20))
	mustWrite(t, r, "", repokit.TextFor(topOf(t, repokit.Head(t, r), "p0"), "Scope zero."),
		repokit.TextFor(topOf(t, repokit.Head(t, r), "p1"), "Scope one."), repokit.TextFor(topOf(t, repokit.Head(t, r), "p2"), "Scope two."))
	forgeText(t, r, st, topOf(t, repokit.Head(t, r), "p0").Source, func(w *distill.Written) {
		w.Graph, w.Text = without, "Forged."
	})
	if n := purgedTexts(t, r); n != 2 || textOf(t, repokit.Head(t, r), "p1") == "" || textOf(t, repokit.Head(t, r), "p2") == "" {
		t.Errorf("%d texts erased", n)
	}
}

// TestAcceptErasesTexts: accepting another repository's purge of a node also erases texts written here about it.
func TestAcceptErasesTexts(t *testing.T) {
	from, _ := repokit.OverMem(t)
	repokit.Lines(t, from, projects(20))
	to, toStore := repokit.OverMem(t)
	tip := repokit.MainRef(t, from)
	file := repokit.Pack(t, from, exchange.PackOptions{Refs: []core.Ref{tip}})
	origin := graph.RefName("refs/remotes/origin/heads/main")
	must.Get(repokit.Receive(t, to, file, exchange.RefUpdate{Ref: origin, To: tip.Target}))(t)
	repokit.Fork(t, to, "main", tip.Target)
	mustWrite(t, to, "", repokit.TextFor(topOf(t, repokit.Head(t, to), "p0"), "Scope zero."),
		repokit.TextFor(topOf(t, repokit.Head(t, to), "p1"), "Scope one."))
	w, _, err := outline.ReadDigestText(t.Context(), repokit.Head(t, to), topOf(t, repokit.Head(t, to), "p0").Source)
	must.Require(t, err == nil && w != nil, "%v %v", w, err)
	purgedTexts(t, from)
	told, _, err := care.TellRedactions(t.Context(), from, ipld.CID{}, 10)
	must.OK(t, err)
	opt := care.AcceptOptions{Stamp: repokit.By, Reaches: func(ref graph.RefName) bool { return ref == origin }, DryRun: true}
	text := store.NewBlock(ipld.DagCBOR, w.Encode()).CID
	for _, opt.DryRun = range []bool{true, false} {
		got, err := care.AcceptRedactions(t.Context(), to, told, opt)
		must.Require(t, err == nil && slices.Contains(got.Erased, text) && len(got.Erased) == len(told)+1,
			"%+v, %v", got, err)
		_, gone, err := toStore.Redacted(t.Context(), text)
		must.True(t, gone != opt.DryRun && err == nil, "dry run %v: erased %v, %v", opt.DryRun, gone, err)
	}
	must.Equal(t, textOf(t, repokit.Head(t, to), "p1"), "Scope one.", "the text of a scope without the node")
}

// TestDigestsOfOtherRules: digests made by other rules of the guard are computed again, and the old ones are collected.
func TestDigestsOfOtherRules(t *testing.T) {
	st, by := mem.New(), state.Stamp{Author: "test", Time: 1, Command: []string{"test"}}
	r := must.Get(care.New(t.Context(), st, by, core.Options{}))(t)
	defer r.Close()
	res, err := r.Commit(t.Context(), state.ReadChanges(strings.NewReader(
		`{"node":{"key":"a","type":"Note","summary":"One thing is known."}}`), "lines"), core.CommitOptions{Stamp: by})
	must.OK(t, err)
	s := must.Get(r.At(t.Context(), res.Commit))(t)
	recipe := distill.Default()
	must.Get(outline.Open(t.Context(), s, recipe, outline.DigestOptions{Keep: true}))(t)
	mine := outline.DigestsKey(s.State.Root, recipe)
	others := outline.DigestsKeyUnder(s.State.Root, recipe, sha256.Sum256([]byte("other rules")))
	must.Require(t, mine != others && mine == outline.DigestsKeyUnder(s.State.Root, recipe, guard.Version()),
		"the key does not depend on the rules")
	head := must.Get(r.Derived().Cell(t.Context(), mine))(t)
	if err := r.Derived().SetCell(t.Context(), others, head); err != nil { // as a program with other rules left it
		t.Fatal(err)
	}
	must.OK(t, st.Derived().(store.CellDeleter).DeleteCells(t.Context(), mine))
	if d, err := outline.KeptDigests(t.Context(), r, s.State, recipe); err != nil || d != nil {
		t.Fatalf("found by other rules: %v, %v", d, err)
	}
	r.Digests.Clear()
	d, err := outline.Open(t.Context(), s, recipe, outline.DigestOptions{Keep: true})
	must.True(t, err == nil && !d.Found && d.Work.Digests != 0, "not computed again: %+v, %v", d, err)
}
