package outline_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
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
	d := digestsOf(t, repokit.Head(t, r), outline.DigestOptions{Only: true})
	must.True(t, !d.Found && d.Scopes == nil, "something was made where nothing was before: %+v", d.Work)
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
	must.True(t, err == nil && next.Found && next.Work.Digests <= 2*len(above)+2,
		"height %d: %+v, %v", len(above), next.Work, err)
	ro := must.Get(care.New(t.Context(), st, repokit.By, core.Options{ReadOnly: true}))(t)
	kept := digestsOf(t, repokit.Head(t, ro), outline.DigestOptions{})
	must.True(t, kept.Root == next.Root && kept.Work.Digests <= 0, "kept %s, want %s", kept.Root, next.Root)
	other, _ := repokit.OverMem(t)
	repokit.Lines(t, other, projects(400))
	repokit.Lines(t, other, `{"node":{"key":"t7","type":"Task","summary":"Task 7 is done on 3 May."}}`)
	if fresh := digestsOf(t, repokit.Head(t, other), outline.DigestOptions{}); fresh.Root != next.Root || fresh.Kept {
		t.Errorf("another way gives another root: %s, %s", fresh.Root, next.Root)
	}
	repokit.Gc(t, r, 1)
	must.True(t, digestsOf(t, repokit.Head(t, r), outline.DigestOptions{}).Work.Digests <= 0,
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
	list, err := hidden.Above(t.Context(), graph.NodeID("t3"))
	must.True(t, len(list) == 0 && err == nil, "a hidden node is in %d digests, %v", len(list), err)
	must.True(t, hidden.Root != before.Root, "a mark changes nothing")
	repokit.Lines(t, r, `{"mark":{"node":"p1","state":"forgotten"}}`)
	scope := digestsOf(t, repokit.Head(t, r), keepDigests)
	d, _, err := scope.Top(t.Context(), scope.Blocks, graph.NodeID("p1"))
	must.True(t, err == nil && d != nil && d.Facts == 6 &&
		!strings.Contains(distill.JoinText(d.Text), "Project number 1"), "the scope of a hidden node: %+v, %v", d, err)
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
	must.Require(t, err == nil && len(res.Done) != 0 && len(res.Report.Errors) <= 0, "repair: %+v, %v", res, err)
	must.True(t, digestsOf(t, repokit.Head(t, r), keepDigests).Root == want.Root, "other digests after the repair")
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
			must.True(t, err == nil && got != nil && got.Facts == facts && got.Name == name,
				"%s: %s: %+v, %v", words, name, got, err)
		}
	}
	for _, bad := range [][]string{{"edge:"}, {"prop"}, {"type:x"}, {"type", "type"}, {"x:y"}, slices.Repeat([]string{"type"}, 20)} {
		must.Fail(t, must.Err(distill.ParseRules(bad)), distill.ErrRecipe, bad)
	}
}

// TestAltitude: digests stand in place of what does not fit, say which facts they cover, and replay.
func TestAltitude(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	r, _ := repokit.OverMem(t)
	repokit.Lines(t, r, projects(120))
	s := repokit.Head(t, r)
	ask := func(at retrieve.Altitude, text string, budget int) *retrieve.Answer {
		t.Helper()
		a, err := rank.Retrieve(t.Context(), s, retrieve.Request{
			Text: text, OutputOptions: retrieve.OutputOptions{Altitude: at}, Budget: new(budget), Floor: retrieve.FloorRest,
		})
		must.OK(t, err)
		must.True(t, budget <= 0 || a.TokensUsed <= budget, "%s: %d tokens of %d", at, a.TokensUsed, budget)
		sum := 0
		covered := map[graph.ID]string{}
		for _, d := range a.Digests {
			sum += d.Tokens
			name, label, _ := strings.Cut(d.Name, "/")
			if id, err := graph.ParseID(name); err == nil { // a scope is called by its key
				n, _, err := s.Node(t.Context(), id)
				must.OK(t, err)
				name = n.Key
			}
			must.True(t, strings.HasPrefix(d.Rendered, "digest: "+strings.TrimSuffix(name+"/"+label, "/")+" ("),
				"%s is rendered %q", d.Name, d.Rendered)
			for _, id := range d.Covers {
				must.True(t, covered[id] == "", "%s is covered by %s and by %s", id, covered[id], d.Name)
				covered[id] = d.Name
			}
		}
		for _, it := range a.Items {
			sum += it.Tokens
			must.Equal(t, covered[it.ID], "", it.ID, " is an item and covered")
		}
		must.Equal(t, sum, a.TokensUsed, "tokens, said to be")
		return a
	}
	const broad, narrow = "what do we know about boats at a berth", "which boat does task 7 moor"
	plain := ask(retrieve.AltitudeEntity, broad, 400)
	must.True(t, len(plain.Digests) <= 0 && len(plain.Items) != 0,
		"%d digests and %d items of entities", len(plain.Digests), len(plain.Items))
	for _, at := range []retrieve.Altitude{retrieve.AltitudeScope, retrieve.AltitudeAuto} {
		a := ask(at, broad, 400)
		must.True(t, len(a.Digests) != 0 && len(a.Items) != 0 && len(a.Digests[0].Covers) != 0 &&
			a.Digests[0].Facts != 0, "%s: %d digests and %d items", at, len(a.Digests), len(a.Items))
	}
	must.True(t, len(ask(retrieve.AltitudeAuto, narrow, 400).Digests) <= 0, "digests for a narrow question")
	a := ask(retrieve.AltitudeRoot, broad, 2000)
	must.True(t, len(a.Digests) != 0 && a.Digests[0].Name == "root", "no digest of the whole")
	if a := ask(retrieve.AltitudeScope, broad, 0); len(a.Digests) != 0 && a.TokensBudget != 0 {
		t.Errorf("%d digests without a budget", len(a.Digests))
	}
	if a := ask(retrieve.AltitudeAuto, "What do we know?", 2000); len(a.Digests) == 0 || a.Digests[0].Name != "root" {
		t.Error("no digest of the whole for a question about nothing in particular")
	}
	if a := ask(retrieve.AltitudeAuto, "Give me an overview of project number 3.", 600); len(a.Digests) == 0 ||
		a.Digests[0].Band != retrieve.BandAnswer || !strings.HasPrefix(a.Digests[0].Rendered, "digest: p3 (25 facts)\n") {
		t.Errorf("a question about one scope is answered by %+v", a.Digests)
	}
	_, err := rank.Retrieve(t.Context(), s, retrieve.Request{Text: broad,
		OutputOptions: retrieve.OutputOptions{Altitude: "sky"}})
	must.True(t, err != nil, "an altitude that there is not")
	for _, at := range retrieve.Altitudes() {
		must.Get(session.Record(t.Context(), r, session.DefaultSession, ask(at, broad, 600), repokit.By))(t, at)
	}
	res, err := session.Replay(t.Context(), r, session.DefaultSession)
	must.True(t, err == nil && res.Identical, "replay: %+v, %v", res, err)
	repokit.CheckClean(t, r)
}

// digestSteps are change lines whose digests are kept after each of them: the first makes a tree, the others move,
// edit, add and remove facts of it.
var digestSteps = []string{
	projects(60),
	`{"node":{"key":"t7","type":"Task","summary":"Task 7 is done on 3 May."}}`,
	`{"remove":{"edge":{"type":"part-of","src":"t9","dst":"p4"}}}` + "\n" +
		`{"edge":{"type":"part-of","src":"t9","dst":"p1"}}`,
	`{"node":{"key":"p5","type":"Project","summary":"Project number 5 dredges the basin."}}` + "\n" +
		`{"edge":{"type":"part-of","src":"p5","dst":"p0"}}` + "\n" + `{"remove":{"node":"t12"}}`,
}

// TestDigestsCrash cuts power while digests are made, kept and updated. What is kept afterwards is whole: the digests
// of the newest commit, updated from what was left, are those made from nothing.
func TestDigestsCrash(t *testing.T) {
	t.Parallel()
	stride := effort.Pick(7, 2, 1)
	if effort.Race {
		stride = 19
	}
	fresh := make(map[ipld.CID]ipld.CID) // by graph
	for n := range digestSteps {
		r, _ := repokit.OverMem(t)
		for _, step := range digestSteps[:n+1] {
			repokit.Lines(t, r, step)
		}
		s := repokit.Head(t, r)
		fresh[s.Graph()] = digestsOf(t, s, outline.DigestOptions{}).Root
	}

	rng := rand.New(rand.NewPCG(repokit.CrashSeed, 2))
	points, kept := 0, 0
	var fsys *testkit.CrashFS
	fsys = testkit.NewCrashFS(nil, func(op testkit.Op) error {
		if op.N%stride != 0 {
			return nil
		}
		points++
		for _, percent := range []int{0, 1 + rng.IntN(99)} {
			found, err := checkDigestsCrashed(t, fsys.Clone(percent, rng), fresh)
			if err != nil {
				t.Errorf("seed %d, change %d (%s %s), %d%% of what was not synced: %v",
					repokit.CrashSeed, op.N, op.Kind, op.Path, percent, err)
			}
			if found {
				kept++
			}
		}
		return nil
	})
	r := must.Get(care.Init(t.Context(), repokit.CrashDir, repokit.By, core.Options{FS: fsys, Logf: repokit.Logf}))(t)
	for _, step := range digestSteps {
		repokit.Lines(t, r, step)
		digestsOf(t, repokit.Head(t, r), keepDigests)
	}
	must.OK(t, r.Close())
	t.Logf("%d changes, power cut at %d, digests found in %d of twice as many", fsys.Ops(), points, kept)
	must.True(t, points >= 3 && kept != 0, "%d points tested, digests found in %d", points, kept)
	found, err := checkDigestsCrashed(t, fsys.Clone(0, nil), fresh)
	must.True(t, err == nil && found, "at the end: found %v, %v", found, err)
}

// checkDigestsCrashed opens what a power cut left and compares the digests of its newest commit with those made from
// nothing. It reports whether there were some to begin with.
func checkDigestsCrashed(t *testing.T, fsys vfs.FS, fresh map[ipld.CID]ipld.CID) (found bool, err error) {
	r, err := repokit.OpenCrashed(fsys, repokit.Promises{})
	if err != nil {
		return false, fmt.Errorf("open: %w", err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	_, newest, err := r.Branch(t.Context())
	if err != nil || !newest.Defined() {
		return false, err
	}
	s, err := r.Snapshot(t.Context(), "HEAD")
	if err != nil {
		return false, err
	}
	d, err := outline.Open(t.Context(), s, distill.Default(), keepDigests)
	if err != nil {
		return false, err
	}
	if want := fresh[s.Graph()]; d.Root != want {
		return d.Found, fmt.Errorf("digests %s, from nothing %s", d.Root, want)
	}
	return d.Found, repokit.Clean(r)
}

func byCommunity(t testing.TB, r *core.Repo, opt outline.DigestOptions) *outline.Digests {
	t.Helper()
	recipe := must.Get(distill.ParseRules([]string{"community", "prop:team"}))(t)
	return must.Get(outline.Open(t.Context(), repokit.Head(t, r), recipe, opt))(t)
}

// TestDigestsByCommunity: whatever nodes and edges come and go, digests by communities are those made from
// scratch, by another repository and in one step.
func TestDigestsByCommunity(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 7))
		edited, _ := repokit.OverMem(t)
		var all strings.Builder
		const nodes = 60
		for i := range nodes {
			fmt.Fprintf(&all, `{"node":{"key":"n%d","type":"Note","summary":"Note %d moors the boat %d."}}`+"\n", i, i, i*7%13)
		}
		edges := map[[2]int]bool{}
		change := func() string {
			a := rng.IntN(nodes)
			b := (a/12)*12 + rng.IntN(12) // mostly of the same twelve
			if rng.IntN(12) == 0 {
				b = rng.IntN(nodes)
			}
			switch e := [2]int{a, b}; {
			case rng.IntN(8) == 0:
				return fmt.Sprintf(`{"node":{"key":"n%d","type":"Note","summary":"Note %d is %d now."}}`+"\n", a, a, rng.IntN(99))
			case a == b:
				return ""
			case edges[e]:
				delete(edges, e)
				return fmt.Sprintf(`{"remove":{"edge":{"type":"near","src":"n%d","dst":"n%d"}}}`+"\n", a, b)
			default:
				edges[e] = true
				return fmt.Sprintf(`{"edge":{"type":"near","src":"n%d","dst":"n%d"}}`+"\n", a, b)
			}
		}
		for range 150 {
			all.WriteString(change())
		}
		repokit.Lines(t, edited, all.String())
		byCommunity(t, edited, keepDigests)
		for step := range 6 {
			var some strings.Builder
			for range 1 + rng.IntN(20) {
				some.WriteString(change())
			}
			if some.Len() > 0 {
				repokit.Lines(t, edited, some.String())
				all.WriteString(some.String())
			}
			got := byCommunity(t, edited, keepDigests)
			scratch, _ := repokit.OverMem(t)
			repokit.Lines(t, scratch, all.String())
			want := byCommunity(t, scratch, outline.DigestOptions{})
			must.Require(t, got.Root == want.Root && got.Scopes.Root() == want.Scopes.Root() &&
				got.Hashes.Root() == want.Hashes.Root(),
				"seed %d, step %d: other digests than from scratch", seed, step)
			must.True(t, got.Found && got.Scopes.Len() >= 3,
				"seed %d, step %d: from kept ones %v, %d scopes", seed, step, got.Found, got.Scopes.Len())
		}
		checkCommunities(t, edited)
	}
}

// checkCommunities: each community is a scope of its members, and texts of other recipes have other sources.
func checkCommunities(t *testing.T, r *core.Repo) {
	t.Helper()
	d := byCommunity(t, r, outline.DigestOptions{})
	p := must.Get(outline.Communities(t.Context(), repokit.Head(t, r)))(t)
	for number := range p.Len() {
		ids := make([]graph.ID, 0, len(p.Members(number)))
		for _, m := range p.Members(number) {
			ids = append(ids, m.ID)
		}
		least := slices.MinFunc(ids, graph.ID.Compare)
		must.Equal(t, p.Smallest(number), least, "the smallest of community ", number, " is said to be")
		name := distill.CommunityName(least)
		one, _, err := d.Top(t.Context(), d.Blocks, distill.PseudoScope(name))
		must.True(t, err == nil && one != nil && one.Facts == len(ids) && one.Name == name &&
			distill.IsCommunity(one.Name), "%s of %d: %+v, %v", name, len(ids), one, err)
	}
	root, _, err := d.Top(t.Context(), d.Blocks, graph.ID{})
	must.OK(t, err)
	other := digestsOf(t, repokit.Head(t, r), outline.DigestOptions{})
	plain, _, err := other.Top(t.Context(), other.Blocks, graph.ID{})
	must.True(t, err == nil && plain.Source != root.Source, "two recipes have one source, %v", err)
	repokit.CheckClean(t, r)
}
