package remember

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/pebble"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repofiles"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// An invented key, in parts so that no scanner takes it for a real one. Its pieces occur nowhere else.
var (
	apiPieces = []string{"zq7k2xv9", "m4hw8t3rj6"}
	apiKey    = "Zq" + "-live-" + "Zq7k2Xv9" + "-" + "M4hw8T3rJ6"
)

// onDisk opens a repository on disk whose tables are not compressed.
func onDisk(t *testing.T, dir string) *core.Repo {
	t.Helper()
	st := must.Get(pebble.Open(dir, pebble.Options{Create: true, Uncompressed: true}))(t)
	return must.Get(care.New(t.Context(), st, linkBy, core.Options{}))(t)
}

// leaks closes a repository and lists where its files have a piece of the key, in any spelling and form.
func leaks(t *testing.T, dir string, r *core.Repo) (where []string) {
	t.Helper()
	must.OK(t, r.Close())
	must.OK(t, repofiles.Texts(dir, func(at, text string) {
		text = strings.ToLower(text)
		words := strings.Join(strings.FieldsFunc(text, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9')
		}), " ")
		if slices.ContainsFunc(apiPieces, func(p string) bool {
			return strings.Contains(text, p) || strings.Contains(words, p)
		}) && !slices.Contains(where, at) {
			where = append(where, at)
		}
	}))
	return where
}

// rememberKey remembers a text with the key, and asks for it. If no rule makes an entity of it, it writes one as older
// programs did.
func rememberKey(t *testing.T, r *core.Repo) graph.ID {
	t.Helper()
	ctx := t.Context()
	m := New(r)
	keep(t, m, said("Deployments go through Stripe since March")...)
	got := keep(t, m, Request{
		Text: "The Stripe account of billing is reached with " + apiKey + " from the vault",
		Tags: []string{"key " + apiKey}, About: "billing",
	})
	id := got[0].ID
	s := must.Get(r.Snapshot(ctx, "HEAD"))(t)
	key := memory.EntityKey(apiKey)
	var lines []string
	if _, _, err := s.Node(ctx, graph.NodeID(key)); errors.Is(err, store.ErrNotFound) {
		lines = append(lines, fmt.Sprintf(`{"node":{"key":%q,"type":"Entity","summary":%q}}`, key, apiKey),
			fmt.Sprintf(`{"edge":{"type":"mentions","src":%q,"dst":%q}}`, id, key))
	}
	lines = append(lines, fmt.Sprintf(
		`{"edge":{"type":"uses","src":%q,"dst":"billing","props":{"with":%q}}}`, id, apiKey),
		fmt.Sprintf(`{"mark":{"node":%q,"state":"stale","reason":"not %s any more"}}`, id, apiKey),
		fmt.Sprintf(`{"embedding":{"node":%q,"model":"m","vector":[1,2,3]}}`, id))
	by := core.CommitOptions{Stamp: linkBy}
	must.Get(r.Commit(ctx, state.ReadChanges(strings.NewReader(strings.Join(lines, "\n")), "x"), by))(t)
	must.Get(session.StartSession(ctx, r, "s", session.SessionOptions{Stamp: linkBy}))(t)
	_, _, err := session.RetrieveIn(ctx, r, "s", retrieve.Request{
		Text: "The Stripe account of billing is reached with " + apiKey + " from the vault?",
	}, linkBy)
	must.OK(t, err)
	return id
}

// answersNone checks that nothing answers a question for the pieces of the key.
func answersNone(t *testing.T, r *core.Repo) {
	t.Helper()
	s := must.Get(r.Snapshot(t.Context(), "HEAD"))(t)
	for _, text := range append([]string{apiKey, memory.EntityKey(apiKey)}, apiPieces...) {
		a := must.Get(rank.Retrieve(t.Context(), s, retrieve.Request{Text: text}))(t)
		for _, item := range a.Items {
			must.True(t, !strings.Contains(strings.ToLower(item.Rendered), apiPieces[0]),
				"retrieve %q answers %q", text, item.Rendered)
		}
	}
}

// TestPurgeTakesWhatIsDerived purges a memory with a key that became an entity and a tag: nothing in the store has a
// piece of it afterwards, and nodes that others use stay.
func TestPurgeTakesWhatIsDerived(t *testing.T) {
	ctx := t.Context()
	dir := filepath.Join(t.TempDir(), ".mnem")
	r := onDisk(t, dir)
	id := rememberKey(t, r)
	where := leaks(t, dir, r)
	must.Require(t, len(where) >= 7, "the key is not where it is to be removed from: %v", where)
	r = onDisk(t, dir)
	opt := care.PurgeOptions{Stamp: linkBy, Reason: "a key", DryRun: true}
	plan := must.Get(care.Purge(ctx, r, id.String(), opt))(t)
	opt.DryRun = false
	res := must.Get(care.Purge(ctx, r, id.String(), opt))(t)
	must.Same(t, plan.Erased, res.Erased, "the dry run says")
	must.Same(t, plan.Derived, res.Derived, "the dry run says")
	want := []graph.ID{
		graph.NodeID("billing"), graph.NodeID(memory.EntityKey(apiKey)), graph.NodeID(memory.TagKey("key " + apiKey)),
	}
	for _, id := range want {
		must.True(t, slices.Contains(res.Derived, id), "node %s stays; gone are %v", id, res.Derived)
	}
	stripe := graph.NodeID(memory.EntityKey("Stripe"))
	must.True(t, !slices.Contains(res.Derived, stripe), "an entity goes that another memory mentions")
	if !slices.ContainsFunc(res.Hits, func(h care.PurgeHit) bool { return h.Name == stripe.String() }) {
		t.Errorf("what is shared is not named: %v", res.Hits)
	}
	where = leaks(t, dir, r)
	must.True(t, len(where) == 0, "left: %v", where)
	r = onDisk(t, dir)
	answersNone(t, r)
	report, err := care.Fsck(ctx, r, care.FsckOptions{Full: true})
	must.True(t, err == nil && len(report.Errors) <= 0, "fsck: %v, %v", report.Errors, err)
	where = leaks(t, dir, r)
	must.True(t, len(where) == 0, "left after opening: %v", where)
}

// TestPurgeOneAfterTheOther purges both memories that mention an entity: with the second it goes.
func TestPurgeOneAfterTheOther(t *testing.T) {
	m := newMemory(t)
	got := keep(t, m, said("We sell rail to Initech", "We rent halls to Initech")...)
	name := graph.NodeID(memory.EntityKey("Initech"))
	for i, mem := range got {
		res := must.Get(care.Purge(t.Context(), m.r, mem.ID.String(), care.PurgeOptions{Stamp: linkBy}))(t)
		must.Equal(t, slices.Contains(res.Derived, name), i == 1, "purge ", i+1, ": the entity goes")
	}
}

// keyEverywhere writes the key wherever a caller can put a text.
func keyEverywhere(t *testing.T, r *core.Repo) {
	t.Helper()
	ctx := t.Context()
	lines := func(message string, list ...string) {
		t.Helper()
		opt := core.CommitOptions{Stamp: linkBy, Message: message}
		in := strings.NewReader(strings.Join(list, "\n"))
		must.Get(r.Commit(ctx, state.ReadChanges(in, "x"), opt))(t)
	}
	const chunk = 262_144
	split := strings.Repeat("x ", chunk/2-4) + apiKey + strings.Repeat(" y", 40_000)
	lines("the key is "+apiKey,
		`{"node":{"key":"a","type":"T","summary":"a"}}`,
		fmt.Sprintf(`{"node":{"key":"b","type":"T","summary":"use %s"}}`, strings.ToUpper(apiKey)),
		fmt.Sprintf(`{"node":{"key":"long","type":"T","content":%q}}`, split),
		fmt.Sprintf(`{"node":{"key":"c","type":"T","props":{"x":[{"y":%q}]}}}`, apiKey),
		`{"embedding":{"node":"b","model":"m","vector":[1,2,3]}}`,
		fmt.Sprintf(`{"edge":{"type":"e","src":"a","dst":"c","key":%q,"props":{"with":%q}}}`, apiKey, apiKey),
		fmt.Sprintf(`{"edge":{"type":"e","src":"a","dst":"a","sources":[%q]}}`, "https://x.test/"+apiKey))
	lines("and marks", fmt.Sprintf(`{"mark":{"node":"a","state":"stale","reason":"%s leaked"}}`, apiKey))
	lines("c is clean", `{"node":{"key":"c","props":{"x":1}}}`)
	tag := core.TagOptions{RefOptions: core.RefOptions{Stamp: linkBy}, Annotate: true,
		Message: "before " + apiKey + " changed"}
	must.Get(r.Tags().Create(ctx, "v1", "HEAD", tag))(t)
	must.Get(r.Stages().Add(ctx, state.ReadChanges(strings.NewReader(
		fmt.Sprintf(`{"node":{"key":"d","type":"T","context":%q}}`, apiKey)), "x"),
		core.StageOptions{Stamp: linkBy}))(t)
	words := strings.ReplaceAll(apiKey, "-", " ")
	_, _, err := session.RetrieveIn(ctx, r, "_default", retrieve.Request{Text: words}, linkBy)
	must.Require(t, err == nil, "%v", err)
}

// TestPurgeText erases a text everywhere, in any spelling; commits keep their CIDs and stay readable.
func TestPurgeText(t *testing.T) {
	ctx := t.Context()
	dir := filepath.Join(t.TempDir(), ".mnem")
	r := onDisk(t, dir)
	keyEverywhere(t, r)
	first := must.Get(r.Revisions().Resolve(ctx, "HEAD~2"))(t)
	where := leaks(t, dir, r)
	must.Require(t, len(where) >= 11, "the key is not where it is to be removed from: %v", where)
	r = onDisk(t, dir)
	opt := care.PurgeOptions{Stamp: linkBy, Reason: "leaked", DryRun: true}
	plan := must.Get(care.PurgeText(ctx, r, apiKey, opt))(t)
	opt.DryRun = false
	res := must.Get(care.PurgeText(ctx, r, apiKey, opt))(t)
	must.True(t, slices.Equal(plan.Erased, res.Erased) && len(res.Hits) <= 0,
		"the dry run says %+v, then %+v", plan, res)
	got := map[string]int{}
	for _, h := range res.Erased {
		got[string(h.What)]++
	}
	want := map[string]int{"node": 4, "content": 2, "embedding": 1, "query": 1, "message": 2, "edge": 2, "mark": 1}
	must.Equal(t, fmt.Sprint(got), fmt.Sprint(want), "erased ", got, ", want ", want)
	must.True(t, len(res.Branches) == 1 && len(res.Stages) == 1, "removed from %v, %v", res.Branches, res.Stages)
	where = leaks(t, dir, r)
	must.True(t, len(where) == 0, "left: %v", where)
	r = onDisk(t, dir)
	answersNone(t, r)
	checkErasedText(t, r, first)
	must.Fail(t, must.Err(care.PurgeText(ctx, r, apiKey, opt)), store.ErrNotFound)
	where = leaks(t, dir, r)
	must.True(t, len(where) == 0, "left after opening: %v", where)
}

// checkErasedText checks the remains of keyEverywhere's writes, also in a copy of the store.
func checkErasedText(t *testing.T, r *core.Repo, first ipld.CID) {
	t.Helper()
	ctx := t.Context()
	s := must.Get(r.At(ctx, first))(t)
	text, err := s.Message(ctx)
	must.True(t, err == nil && strings.HasPrefix(text, "redacted: leaked, "),
		"the message of the first commit is %q, %v", text, err)
	edges := 0
	for e, err := range s.Edges(ctx, graph.ID{}) {
		must.OK(t, err)
		if edges++; e.Edge.Type != "e" || len(e.Edge.Props) > 0 || e.Edge.Key != "" {
			t.Errorf("an edge in the first commit: %+v", e.Edge)
		}
	}
	now := must.Get(r.Snapshot(ctx, "HEAD"))(t)
	m, err := now.Mark(ctx, graph.OnNode, graph.NodeID("a"))
	must.True(t, err == nil && m.State == graph.Stale && m.Reason == "", "the mark: %+v, %v", m, err)
	n, _, err := now.Node(ctx, graph.NodeID("c"))
	must.True(t, err == nil && n.Type == "T", "a node that is clean by now: %+v, %v", n, err)
	must.Equal(t, edges, 2, "edges")
	for _, err := range history.History(ctx, r, history.LogOptions{}) {
		must.OK(t, err)
	}
	var car bytes.Buffer
	must.Get(exchange.Export(ctx, r, &car, exchange.ExportOptions{All: true}))(t)
	other := newMemory(t) // checked at the end
	imp, err := exchange.Import(ctx, other.r, bytes.NewReader(car.Bytes()), int64(car.Len()),
		exchange.ImportOptions{Stamp: linkBy})
	must.True(t, err == nil && imp.Redactions >= 10, "import: %+v, %v", imp, err)
	must.Get(care.GC(ctx, r, care.GCOptions{Stamp: linkBy, KeepOps: 1}))(t, "gc")
	report, err := care.Fsck(ctx, r, care.FsckOptions{Full: true})
	must.True(t, err == nil && len(report.Errors) <= 0, "fsck: %v, %v", report.Errors, err)
	opt := core.CommitOptions{Stamp: linkBy, Message: "the key is " + apiKey}
	line := state.ReadChanges(strings.NewReader(`{"node":{"key":"z","type":"T"}}`), "x")
	must.Fail(t, must.Err(r.Commit(ctx, line, opt)), store.ErrRedacted)
}

// TestPurgeTextNamesTheRest checks that a purge names the places that have the text and cannot be erased.
func TestPurgeTextNamesTheRest(t *testing.T) {
	ctx := t.Context()
	m := newMemory(t)
	keep(t, m, said("We sell rail to Initech")...)
	by := linkBy
	by.Author = "the owner of " + apiKey
	must.Get(m.r.Branches().Create(ctx, apiKey, "HEAD", core.RefOptions{Stamp: by}))(t)
	for name, opt := range map[string]care.PurgeOptions{
		"author": {Stamp: by}, "reason": {Stamp: linkBy, Reason: "not " + apiKey},
	} {
		must.Fail(t, must.Err(care.PurgeText(ctx, m.r, apiKey, opt)), state.ErrInvalid, name)
	}
	must.Fail(t, must.Err(care.PurgeText(ctx, m.r, "short", care.PurgeOptions{Stamp: linkBy})), state.ErrInvalid)
	res := must.Get(care.PurgeText(ctx, m.r, apiKey, care.PurgeOptions{Stamp: linkBy, DryRun: true}))(t)
	got := map[string]int{}
	for _, h := range res.Hits {
		got[h.What]++
	}
	must.Equal(t, fmt.Sprint(got), fmt.Sprint(map[string]int{"operation": 1, "tree": 1, "ref": 1}), "named ", got)
}
