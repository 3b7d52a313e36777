package core_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/pebble"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/merging"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// frozen holds one repository per format version, as the first release with that format wrote it,
// and what must be read from it for ever. README.md there says more. To make that of the current
// version again, as long as it was not released: MNEM_REWRITE=1 go test ./internal/core -run Frozen.
const frozen = "../../testdata/repos"

// withoutReplay is the frozen repository whose receipts come from a ranking that was never released.
const withoutReplay = "v1"

// maxFrozen is how large a frozen repository may be, in bytes.
const maxFrozen = 100_000

func stampAt(n int) state.Stamp {
	return state.Stamp{
		Author: "Frida Frost", Agent: "scribe", Task: "freeze",
		Time: graph.Time(1_700_000_000_000_000 + n*60_000_000), Command: []string{"freeze"},
	}
}

// freeze makes a repository that has something of everything, the same each time.
func freeze(t *testing.T, dir string) {
	ctx := t.Context()
	r := must.Get(care.Init(ctx, dir, stampAt(0), core.Options{}))(t)
	n := 0
	commit := func(branch, message, text string) {
		n++
		must.Get(r.Commit(ctx, state.ReadChanges(strings.NewReader(text), "freeze"),
			core.CommitOptions{Stamp: stampAt(n), Branch: branch, Message: message}))(t)
	}
	check := func(_ any, err error) {
		t.Helper()
		must.OK(t, err)
	}
	commit("", "first", `{"node":{"key":"ada","type":"Person","summary":"Ada keeps the ledger"}}
{"node":{"key":"ada","props":{"team":"ops","level":3}}}
{"node":{"key":"bo","type":"Person","summary":"Bo plants aconite"}}
{"node":{"type":"Note","summary":"Café Zürich, 東京, and 3.5 km","context":"from a diary"}}
{"edge":{"type":"knows","src":"ada","dst":"bo","weight":0.5,"props":{"since":2024}}}
{"embedding":{"node":"ada","model":"m","vector":[0.25,-1,0.5]}}
{"embedding":{"node":"ada","model":"s","sparse":{"ledger":0.75}}}`)
	commit("", "second", fmt.Sprintf(`{"node":{"key":"log","type":"Text","content":%q}}
{"node":{"key":"ada","props":{"team":"infra"}}}
{"mark":{"node":"bo","state":"stale","reason":"moved away"}}`, strings.Repeat("all quiet; ", 4000)))
	check(r.Tags().Create(ctx, "v1", "HEAD", core.TagOptions{
		RefOptions: core.RefOptions{Stamp: stampAt(10)}, Annotate: true, Message: "the first"}))
	check(r.Branches().Create(ctx, "side", "HEAD~1", core.RefOptions{Stamp: stampAt(11)}))
	commit("side", "aside", `{"node":{"key":"cy","type":"Person","summary":"Cy cooks"}}`)
	check(merging.Merge(ctx, r, "side", core.MergeOptions{CommitOptions: core.CommitOptions{Stamp: stampAt(12)}}))
	check(session.StartSession(ctx, r, "talk", session.SessionOptions{Stamp: stampAt(13)}))
	for _, q := range []retrieve.Request{
		{Text: frozenQueries[0]}, {Text: frozenQueries[1]},
		{Text: frozenQueries[0], Vectors: []retrieve.QueryVector{{Model: "m", Values: []int8{32, -127, 60}}}},
	} {
		_, _, err := session.RetrieveIn(ctx, r, "talk", q, stampAt(14))
		check(nil, err)
	}
	check(r.Stages().Add(ctx, state.ReadChanges(strings.NewReader(
		`{"edge":{"type":"likes","src":"cy","dst":"ada"}}`), "x"), core.StageOptions{Stamp: stampAt(15)}))
	check(care.GC(ctx, r, care.GCOptions{Stamp: stampAt(16), KeepOps: 4}))
	commit("", "secret", `{"node":{"key":"dee","type":"Person","summary":"Dee forgot the key"}}`)
	check(care.Purge(ctx, r, "dee", care.PurgeOptions{Stamp: stampAt(18), Reason: "on request"}))
	must.OK(t, r.Close())
}

var frozenQueries = []string{"who keeps the ledger?", "cooks 東京", "bo", "quiet"}

// thaw tells everything that a repository holds.
func thaw(t *testing.T, r *core.Repo) string {
	ctx := t.Context()
	var b strings.Builder
	fatal := func(err error) {
		t.Helper()
		must.OK(t, err)
	}
	refs, err := r.Refs(ctx)
	fatal(err)
	for _, ref := range refs {
		fmt.Fprintf(&b, "ref %s %s\n", ref.Name, ref.Value())
	}
	for rec, err := range r.OpLog().All(ctx) {
		fatal(err)
		fmt.Fprintf(&b, "operation %d %s %s %q\n", rec.Operation.Seq, rec.CID, rec.Operation.Time,
			rec.Operation.Command)
	}
	for at := "HEAD"; ; at += "~" {
		s, err := r.Snapshot(ctx, at)
		if err != nil {
			break
		}
		thawSnapshot(t, &b, s)
	}
	for e, err := range session.SessionLog(ctx, r, "talk") {
		fatal(err)
		fmt.Fprintf(&b, "session %d %s\n", e.Record.Seq, e.CID)
	}
	for e, err := range r.Redactions().All(ctx) {
		fatal(err)
		fmt.Fprintf(&b, "%s %s\n", e.CID, e.Record)
	}
	s := repokit.Head(t, r)
	for _, text := range frozenQueries {
		budget := 120
		a, err := rank.Retrieve(ctx, s, retrieve.Request{Text: text, Budget: &budget})
		fatal(err)
		fmt.Fprintf(&b, "retrieve %q: %d tokens, %d candidates\n", text, a.TokensUsed, a.Candidates)
		for _, item := range a.Items {
			fmt.Fprintf(&b, "score %d\n%s", item.Score, item.Rendered)
		}
	}
	return b.String()
}

func thawSnapshot(t *testing.T, b *strings.Builder, s *core.Snapshot) {
	c := s.Commit()
	message := must.Get(s.Message(t.Context()))(t)
	fmt.Fprintf(b, "commit %s graph %s %s %q %q\n", s.CID(), s.Graph(), c.Time, c.Author, message)
	for n, err := range s.Nodes(t.Context(), graph.ID{}) {
		must.OK(t, err)
		fmt.Fprintf(b, "  node %s %s %s %q %q\n", n.Node.ID, n.CID, n.Node.Type, n.Node.Key, n.Node.Summary)
	}
	for e, err := range s.Edges(t.Context(), graph.ID{}) {
		must.OK(t, err)
		fmt.Fprintf(b, "  edge %s %s %s %s %d\n", e.CID, e.Edge.Src, e.Edge.Type, e.Edge.Dst, e.Edge.Weight)
	}
}

func copyTree(t *testing.T, from, to string) (size int64) {
	t.Helper()
	must.OK(t, filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		data, err := os.ReadFile(path)
		size += int64(len(data))
		return errors.Join(err, os.WriteFile(filepath.Join(to, rel), data, 0o644))
	}))
	return size
}

// rewriteFrozen makes the frozen repository of this version again.
func rewriteFrozen(t *testing.T, dir string) {
	work := t.TempDir()
	freeze(t, work)
	must.OK(t, os.RemoveAll(filepath.Join(dir, "store")))
	copyTree(t, filepath.Join(work, core.DirName), filepath.Join(dir, "store"))
	// Room on the disk and nothing else: what opens the repository makes its own.
	must.OK(t, os.Remove(filepath.Join(dir, "store", "reserve")))
	r := must.Get(care.Open(work, core.Options{ReadOnly: true}))(t)
	text := thaw(t, r)
	must.OK(t, errors.Join(r.Close(), os.WriteFile(filepath.Join(dir, "expect.txt"), []byte(text), 0o644)))
}

// TestFrozen opens a copy of each frozen repository, reads everything, answers what was recorded
// again, and goes on writing.
func TestFrozen(t *testing.T) {
	current := fmt.Sprintf("v%d", pebble.FormatVersion)
	if os.Getenv("MNEM_REWRITE") != "" {
		rewriteFrozen(t, filepath.Join(frozen, current))
	}
	dirs, err := filepath.Glob(filepath.Join(frozen, "v*"))
	must.Require(t, err == nil && slices.Contains(dirs, filepath.Join(frozen, current)),
		"frozen repositories %v, %v: want one of %s", dirs, err, current)
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) { openFrozen(t, dir) })
	}
}

func openFrozen(t *testing.T, dir string) {
	work := t.TempDir()
	size := copyTree(t, filepath.Join(dir, "store"), filepath.Join(work, core.DirName))
	must.True(t, size <= maxFrozen, "%d bytes, limit %d", size, maxFrozen)
	want, err := os.ReadFile(filepath.Join(dir, "expect.txt"))
	must.Require(t, err == nil && len(want) != 0, "%d bytes expected: %v", len(want), err)
	for _, readOnly := range []bool{true, false} {
		r := must.Get(care.Open(work, core.Options{ReadOnly: readOnly}))(t)
		must.Same(t, thaw(t, r), string(want), "read only ", readOnly)
		repokit.CheckClean(t, r)
		replays := filepath.Base(dir) != withoutReplay
		res, err := session.Replay(t.Context(), r, "talk")
		must.True(t, !replays || (err == nil && res.Identical && res.Receipts == 3), "replay: %+v, %v", res, err)
		for _, rec := range repokit.Chain(t, r, "talk") {
			if rec.Receipt.Defined() {
				receipt, _, err := session.Receipt(t.Context(), r, rec.Receipt)
				if err != nil || replays && receipt.Engine != retrieve.CurrentEngine() {
					t.Errorf("receipt %s: %+v, %v", rec.Receipt, receipt, err)
				}
			}
		}
		must.Get(r.Stages().Status(t.Context(), ""))(t, "status")
		if !readOnly {
			must.Get(r.Indexes().Rebuild(t.Context(), "HEAD"))(t)
			must.Same(t, thaw(t, r), string(want), "with another index")
			repokit.Lines(t, r, `{"node":{"key":"eve","type":"Person","summary":"Eve came later"}}`)
			must.Get(history.Undo(t.Context(), r, "", repokit.By))(t, "undo")
			repokit.Gc(t, r, 1)
			repokit.CheckClean(t, r)
		}
		must.OK(t, r.Close())
	}
}

// TestFrozenIsReproducible makes the repository of this version again: the same commits, operations
// and answers, on whatever machine.
func TestFrozenIsReproducible(t *testing.T) {
	version := fmt.Sprintf("v%d", pebble.FormatVersion)
	want := must.Get(os.ReadFile(filepath.Join(frozen, version, "expect.txt")))(t)
	dir := t.TempDir()
	freeze(t, dir)
	r := must.Get(care.Open(dir, core.Options{ReadOnly: true}))(t)
	defer r.Close()
	must.Same(t, thaw(t, r), string(want), "made again")
}

// cellsOf returns the cells of a repository that is not open.
func cellsOf(t *testing.T, work string) map[ipld.CID]ipld.CID {
	t.Helper()
	st := must.Get(pebble.Open(filepath.Join(work, core.DirName), pebble.Options{ReadOnly: true}))(t)
	all := map[ipld.CID]ipld.CID{}
	err := st.Derived().(store.CellDeleter).Cells(t.Context(), func(key, value ipld.CID) error {
		all[key] = value
		return nil
	})
	if err == nil {
		err = st.Close()
	}
	must.OK(t, err)
	return all
}

// TestFrozenIndexes opens a repository with indexes of texts, links and vectors in the formats before
// package segment: read-only and rebuilt it answers the same, makes indexes of its own without a word, and a
// collection leaves nothing of the old ones.
func TestFrozenIndexes(t *testing.T) {
	work := t.TempDir()
	copyTree(t, filepath.Join(frozen, "indexed", "store"), filepath.Join(work, core.DirName))
	before := cellsOf(t, work)
	must.Require(t, len(before) >= 3, "%d cells", len(before))
	want := must.Get(os.ReadFile(filepath.Join(frozen, "indexed", "expect.txt")))(t)
	for _, readOnly := range []bool{true, false, false} {
		r := must.Get(care.Open(work, core.Options{ReadOnly: readOnly}))(t)
		got := thawAnswers(t, r)
		if os.Getenv("MNEM_REWRITE") != "" && readOnly {
			want = []byte(got)
			must.OK(t, os.WriteFile(filepath.Join(frozen, "indexed", "expect.txt"), want, 0o644))
		}
		must.Same(t, got, string(want), "read only ", readOnly)
		repokit.CheckClean(t, r)
		must.OK(t, r.Close())
		made := maps.Clone(cellsOf(t, work))
		for key := range before {
			delete(made, key)
		}
		n := len(made)
		must.True(t, readOnly == (n == 0), "read only %v: %d indexes of the new format", readOnly, n)
	}
	r := must.Get(care.Open(work, core.Options{}))(t)
	repokit.Gc(t, r, 100)
	must.OK(t, r.Close())
	left := cellsOf(t, work)
	for key := range before {
		_, ok := left[key]
		must.True(t, !ok, "cell %s of an old index is left", key)
	}
	must.True(t, len(left) >= 3, "%d indexes are left", len(left))
}

// thawAnswers tells what a repository answers by texts, links and vectors.
func thawAnswers(t *testing.T, r *core.Repo) string {
	t.Helper()
	var b strings.Builder
	for i, text := range []string{
		"copper lantern near the harbour ledger 1", "velvet ferry anew", "orchard quarry saddle",
		"who knows willow tide",
	} {
		vector := make([]float64, 16)
		for k := range vector {
			vector[k] = float64((i*3+k*k)%7-3) / 4
		}
		query := must.Get(retrieve.NewQueryVector("m", vector))(t)
		for _, vectors := range [][]retrieve.QueryVector{nil, {query}} {
			a, err := rank.Retrieve(t.Context(), repokit.Head(t, r), retrieve.Request{Text: text, Vectors: vectors})
			must.OK(t, err)
			fmt.Fprintf(&b, "%q, %d vectors: %d candidates\n", text, len(vectors), a.Candidates)
			for _, item := range a.Items {
				fmt.Fprintf(&b, "%s %d\n", item.ID, item.Score)
			}
		}
	}
	return b.String()
}
