package care_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/block/store/pebble"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/retrieve"
)

// readStopped opens what an interrupted purge left read-only, and reads it in every way. It reports whether the
// node is gone from the branch.
func readStopped(fs vfs.FS, old string) (gone bool, err error) {
	ctx := context.Background()
	st, err := pebble.Open(purgeDir, pebble.Options{FS: fs, ReadOnly: true})
	if err != nil {
		return false, fmt.Errorf("open: %w", err)
	}
	r, err := care.New(ctx, st, repokit.By, core.Options{ReadOnly: true})
	if err != nil {
		return false, errors.Join(err, st.Close())
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	now, err := r.Snapshot(ctx, "HEAD")
	if err != nil {
		return false, err
	}
	_, _, err = now.Node(ctx, graph.NodeID("zed"))
	if gone = errors.Is(err, store.ErrNotFound); err != nil && !gone {
		return false, err
	}
	then, err := r.Snapshot(ctx, old)
	if err != nil {
		return gone, err
	}
	return gone, errors.Join(readsOf(ctx, r, now), readsOf(ctx, r, then))
}

// readsOf reads a commit in every way that an index or a tree is used.
func readsOf(ctx context.Context, r *core.Repo, s *core.Snapshot) error {
	var errs []error
	failed := func(what string, err error) {
		if err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrRedacted) &&
			!errors.Is(err, state.ErrInvalid) {
			errs = append(errs, fmt.Errorf("%s: %w", what, err))
		}
	}
	for _, text := range []string{"vermilion", "zed", "bob cooks", "who knows Zerelda?", repokit.SecretSummary, repokit.SecretProp} {
		for _, how := range retrieve.Expansions() {
			_, err := rank.Retrieve(ctx, s, retrieve.Request{Text: text, ExpansionOptions: retrieve.ExpansionOptions{Expansion: how}})
			failed("retrieve "+text, err)
		}
		_, err := rank.Find(ctx, s, text, func(*graph.Mark) bool { return true })
		failed("find "+text, err)
	}
	for _, key := range []string{"zed", "bob", "carol"} {
		_, _, err := s.Node(ctx, graph.NodeID(key))
		failed("node "+key, err)
		_, err = history.Blame(ctx, s, graph.NodeID(key))
		failed("blame "+key, err)
	}
	for _, err := range s.Nodes(ctx, graph.ID{}) {
		failed("nodes", err)
	}
	for _, err := range s.Edges(ctx, graph.ID{}) {
		failed("edges", err)
	}
	for _, err := range history.Log(ctx, r, s.CID().String()) {
		failed("log", err)
	}
	for _, err := range r.OpLog().All(ctx) {
		failed("operations", err)
	}
	_, err := outline.Communities(ctx, s)
	failed("communities", err)
	_, err = s.IndexStats(ctx)
	failed("index status", err)
	_, err = outline.Open(ctx, s, distill.Default(), outline.DigestOptions{})
	failed("digests", err)
	_, err = r.Stages().Status(ctx, "")
	failed("status", err)
	_, err = exchange.Export(ctx, r, io.Discard, exchange.ExportOptions{All: true})
	failed("export", err)
	report, err := care.Fsck(ctx, r, care.FsckOptions{Full: true})
	failed("fsck", err)
	if report != nil && len(report.Errors) > 0 {
		errs = append(errs, fmt.Errorf("fsck: %v", report.Errors))
	}
	return errors.Join(errs...)
}

// TestReadsOfStoppedPurge stops a purge at each of its changes and reads what is left: the node is there or gone,
// or redacted in the older commit, and nothing is ever reported as damage.
func TestReadsOfStoppedPurge(t *testing.T) {
	const seed = 79
	stride := effort.Pick(2, 1, 1)
	rng := rand.New(rand.NewPCG(seed, 0))
	var watch atomic.Bool // the hook is called by Pebble's own goroutines too
	var old string
	points, stopped := 0, 0
	var fs *testkit.CrashFS
	fs = testkit.NewCrashFS(nil, func(op testkit.Op) error {
		if !watch.Load() || op.N%stride != 0 {
			return nil
		}
		points++
		for _, percent := range []int{0, 100} { // a power cut, and a process that was killed
			gone, err := readStopped(fs.Clone(percent, rng), old)
			must.True(t, err == nil, "change %d (%s %s), %d%%: %v", op.N, op.Kind, op.Path, percent, err)
			if gone {
				stopped++
			}
		}
		return nil
	})
	r, _, err := openVFS(fs)
	must.OK(t, err)
	repokit.Lines(t, r, repokit.NodeLine("carol", "")+"\n"+repokit.NodeLine("bob", `,"summary":"Bob cooks with Zerelda"`)+
		"\n"+repokit.SecretNode("zed")+`
{"node":{"key":"entity/zerelda","type":"Entity","summary":"Zerelda"}}
{"edge":{"type":"knows","src":"bob","dst":"zed"}}
{"edge":{"type":"mentions","src":"zed","dst":"entity/zerelda"}}
{"edge":{"type":"mentions","src":"bob","dst":"entity/zerelda"}}
{"embedding":{"node":"zed","model":"m","vector":[0.25,-0.5,0.125]}}`)
	old = repokit.Head(t, r).CID().String()
	repokit.Lines(t, r, `{"node":{"key":"zed","summary":"Zerelda keeps more of vermilion"}}`)
	if err := readsOf(t.Context(), r, repokit.Head(t, r)); err != nil { // indexes are built
		t.Fatal(err)
	}
	watch.Store(true)
	repokit.PurgeZed(t, r, care.PurgeOptions{Reason: "stopped"})
	watch.Store(false)
	must.OK(t, r.Close())
	must.True(t, points >= 5 && stopped != 0, "%d points, %d with the node gone", points, stopped)
}

// harbourNodes is how many nodes harbour makes.
const harbourNodes = 8

// harbour commits nodes and returns their snapshot, its digests and the top one of these.
func harbour(t *testing.T, r *core.Repo) (*core.Snapshot, *outline.Digests, *distill.Digest) {
	t.Helper()
	var text strings.Builder
	for i := range harbourNodes {
		fmt.Fprintf(&text, `{"node":{"key":"n%d","type":"N","summary":"Number %d of the harbour."}}`+"\n", i, i)
	}
	repokit.Lines(t, r, text.String())
	s := repokit.Head(t, r)
	d := must.Get(outline.Open(t.Context(), s, distill.Default(), outline.DigestOptions{}))(t)
	root, _, err := d.Top(t.Context(), d.Blocks, graph.ID{})
	must.OK(t, err)
	return s, d, root
}

// TestTextsOfToldAreTheSame: the redaction of a text made from several erased nodes deterministically names the
// first of them.
func TestTextsOfToldAreTheSame(t *testing.T) {
	ctx := t.Context()
	r := repokit.OverStore(t, mem.New())
	s, _, root := harbour(t, r)
	one := outline.DigestText{Source: root.Source, Text: "The harbour, by number.", Model: "m"}
	must.Get(repokit.WriteTexts(r, "", one))(t)
	var todo []store.Redaction
	var first graph.ID
	for kv, err := range s.State.Nodes.Scan(ctx, nil, nil) {
		must.OK(t, err)
		c := must.Get(state.LinkItem(kv.Value))(t)
		id := graph.ID(kv.Key)
		if first.IsZero() {
			first = id // they ascend
		}
		rec := commit.Redaction{What: commit.ErasedNode, Node: id, Actor: "b", Time: 2, Reason: "of " + id.String()}
		todo = append(todo, store.Redaction{CID: c, Stub: rec.Encode()})
	}
	must.Require(t, len(todo) == harbourNodes, "%d nodes", len(todo))
	for range 20 {
		got, err := care.TextsOfTold(ctx, r, todo, repokit.By)
		must.Require(t, err == nil && len(got) == 1, "%d texts, %v", len(got), err)
		rec, err := commit.DecodeRedaction(got[0].Stub)
		must.Require(t, err == nil && rec.Node == first && rec.Reason == "of "+first.String(),
			"%+v, %v: not of %s", rec, err, first)
	}
}
