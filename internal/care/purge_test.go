package care_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
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

func TestPurge(t *testing.T) {
	ctx := t.Context()
	dir := filepath.Join(t.TempDir(), ".mnem")
	r, st := repokit.OpenPlain(t, dir)
	old := repokit.FillSecret(t, r)
	must.Require(t, len(repokit.Found(t, dir, st, repokit.Secrets)) >= 10,
		"the texts are not where they are to be removed from")
	plan := repokit.PurgeZed(t, r, care.PurgeOptions{DryRun: true})
	res := repokit.PurgeZed(t, r, care.PurgeOptions{Reason: "on request"})
	must.True(t, slices.Equal(plan.Erased, res.Erased) && len(plan.Branches) == 2 && !plan.Operation.Defined(),
		"the dry run says %+v", plan)
	got := repokit.Kinds(res.Erased)
	must.True(t, got["node"] >= 4 && got["content"] >= 1 && got["embedding"] == 1 && got["query"] == 1,
		"erased %v", got)
	must.True(t, len(res.Branches) == 2 && len(res.Stages) == 1 && res.Operation.Defined(),
		"removed from %v, %v", res.Branches, res.Stages)
	where := repokit.Found(t, dir, st, repokit.Secrets)
	must.True(t, len(where) == 0, "text is left: %v", where)
	repokit.CheckClean(t, r)
	checkPurged(t, r, old)
	again := repokit.PurgeZed(t, r, care.PurgeOptions{Reason: "again"})
	must.True(t, len(again.Erased)+len(again.Branches)+len(again.Hits) <= 0, "a second purge: %+v", again)
	must.OK(t, r.Close())
	where = repokit.Found(t, dir, nil, repokit.Secrets)
	must.True(t, len(where) == 0, "text is left after closing: %v", where)
	r, st = repokit.OpenPlain(t, dir)
	where = repokit.Found(t, dir, st, repokit.Secrets)
	must.True(t, len(where) == 0, "text is left after opening: %v", where)
	checkPurged(t, r, old)
	repokit.Gc(t, r, 1)
	repokit.CheckClean(t, r)
	must.Fail(t, must.Err(care.Purge(ctx, r, "nobody", care.PurgeOptions{Stamp: repokit.By})), store.ErrNotFound)
	must.OK(t, r.Close())
}

// checkPurged checks how everything that reads sees a node that was purged.
func checkPurged(t *testing.T, r *core.Repo, old ipld.CID) {
	t.Helper()
	ctx := t.Context()
	id := graph.NodeID("zed")
	s := must.Get(r.At(ctx, old))(t)
	n, c, err := s.Node(ctx, id)
	want := "redacted: on request, 2023-11-14T22:13:20.000000Z, Tess Tester"
	must.Require(t, err == nil && n.Type == state.RedactedType && n.Summary == want && n.ID == id,
		"the node in an old commit: %+v, %v", n, err)
	red, err := r.Redactions().Read(ctx, c)
	must.True(t, err == nil && red != nil && red.Node == id, "its redaction: %+v, %v", red, err)
	must.OK(t, nodesOf(s, 3))
	edges := 0
	for _, err := range s.Adjacency().Bucket(ctx, graph.NodeID("bob"), adjacency.Out, "", nil) {
		must.OK(t, err)
		edges++
	}
	must.Equal(t, edges, 1, "edges to the node")
	for text, items := range map[string]int{"cooks vault": 1, "vermilion": 0, "zed": 0, id.String(): 0} {
		a := must.Get(rank.Retrieve(ctx, s, retrieve.Request{Text: text}))(t)
		must.True(t, len(a.Items) == items && len(a.Warnings) != 0 &&
			a.Warnings[len(a.Warnings)-1].Code == retrieve.Redacted,
			"retrieve %q: %d items, warnings %v", text, len(a.Items), a.Warnings)
	}
	replay, err := session.Replay(ctx, r, "s")
	must.True(t, err == nil && !replay.Identical && replay.First == nil && len(replay.Redacted) != 0,
		"replay: %+v, %v", replay, err)
	now := repokit.Head(t, r)
	_, _, err = now.Node(ctx, id)
	must.Fail(t, err, store.ErrNotFound)
	for nd, err := range s.Diff(now).Nodes(ctx) {
		must.OK(t, err)
		must.True(t, nd.ID != id || (nd.Kind == state.Removed && nd.Old.Type == state.RedactedType),
			"diff of the node: %+v", nd)
	}
	a, err := rank.Retrieve(ctx, now, retrieve.Request{Text: "vermilion cooks"})
	must.True(t, err == nil && len(a.Warnings) <= 0 && len(a.Items) == 1,
		"retrieve from the head: %d items, %v, %v", len(a.Items), a.Warnings, err)
	must.Get(r.Stages().Status(ctx, ""))(t, "status")
}

// TestPurgeDoesNotComeBack puts, commits and imports erased data, and undoes operations.
func TestPurgeDoesNotComeBack(t *testing.T) {
	ctx := t.Context()
	dir := filepath.Join(t.TempDir(), ".mnem")
	r, st := repokit.OpenPlain(t, dir)
	defer r.Close()
	same := repokit.NodeLine("zed", `,"summary":"`+repokit.SecretSummary+`","created":"2024-01-01"`)
	old := repokit.Lines(t, r, repokit.NodeLine("bob", "")+"\n"+same).Commit
	var car bytes.Buffer
	must.Get(exchange.Export(ctx, r, &car, exchange.ExportOptions{All: true}))(t)
	res := repokit.PurgeZed(t, r, care.PurgeOptions{Reason: "x"})
	op := must.Get(r.OpLog().Find(ctx, res.Operation.String()))(t, "operation")
	must.Equal(t, op.Operation.Command[0], "purge", "operation")
	must.Fail(t, must.Err(history.Undo(ctx, r, res.Operation.String(), repokit.By)), history.ErrNothingToUndo)
	must.Fail(t, must.Err(repokit.TryLines(r, same)), store.ErrRedacted)
	imp := must.Get(exchange.Import(ctx, r, bytes.NewReader(car.Bytes()), int64(car.Len()),
		exchange.ImportOptions{Stamp: repokit.By, Name: "back"}))(t, "import of what was erased")
	must.Equal(t, imp.Redacted, 1, "import of what was erased")
	where := repokit.Found(t, dir, st, []string{repokit.SecretSummary})
	must.True(t, len(where) == 0, "it came back: %v", where)
	repokit.CheckClean(t, r)
	// A branch may go back to an old commit, and be worked on.
	repokit.Branch(t, r, "back", old.String())
	repokit.CommitOn(t, r, "back", `{"edge":{"type":"likes","src":"bob","dst":"zed"}}`)
	merge := core.MergeOptions{CommitOptions: core.CommitOptions{Stamp: repokit.By}}
	_, err := merging.Merge(ctx, r, "back", merge)
	must.True(t, err == nil || errors.Is(err, state.ErrConflict), "merge of a branch that has it: %v", err)
	repokit.CommitOn(t, r, "back", `{"remove":{"node":"zed"}}`)
	repokit.CommitOn(t, r, "back", repokit.NodeLine("zed", `,"summary":"someone else"`))
	repokit.CheckClean(t, r)
	// The key can be used again.
	repokit.Lines(t, r, repokit.NodeLine("zed", `,"summary":"another"`))
	must.Equal(t, repokit.NodeByKey(t, repokit.Head(t, r), "zed").Summary, "another", "the new node")
	repokit.CheckClean(t, r)
}

// TestPurgedStaysOutOfMerges merges, restores, reverts and picks erased data: the node comes back only by an
// explicit decision, and erased data never does.
func TestPurgedStaysOutOfMerges(t *testing.T) {
	ctx := t.Context()
	r, _ := repokit.OverMem(t)
	old := repokit.Lines(t, r, repokit.NodeLine("bob", "")+"\n"+repokit.NodeLine("zed", `,"summary":"one"`)).Commit
	removed := repokit.Lines(t, r, `{"remove":{"node":"zed"}}`).Commit
	picked := repokit.Lines(t, r, repokit.NodeLine("zed", `,"summary":"one"`)).Commit
	repokit.PurgeZed(t, r, care.PurgeOptions{Reason: "x"})
	repokit.Lines(t, r, repokit.NodeLine("carol", ""))
	gone := func(when string) {
		t.Helper()
		n, _, err := repokit.Head(t, r).Node(ctx, graph.NodeID("zed"))
		must.True(t, errors.Is(err, store.ErrNotFound), "%s: zed is %+v, %v", when, n, err)
		repokit.CheckClean(t, r)
	}
	gone("purge")
	at := repokit.Head(t, r).CID()
	_, restore := merging.Restore(ctx, r, old.String(), []string{"zed"}, repokit.Options("").CommitOptions)
	_, revert := merging.Revert(ctx, r, removed.String(), repokit.Options(""))
	_, pick := merging.CherryPick(ctx, r, picked.String(), repokit.Options(""))
	for verb, err := range map[string]error{"restore": restore, "revert": revert, "pick": pick} {
		must.Fail(t, err, store.ErrRedacted, verb)
	}
	must.Equal(t, repokit.Head(t, r).CID(), at, "something was written")

	// Branches from before it: one that does not touch the node, and one that makes it again.
	repokit.Branch(t, r, "same", old.String())
	repokit.CommitOn(t, r, "same", repokit.NodeLine("dora", ""))
	must.Get(merging.Merge(ctx, r, "same", repokit.Options("")))(t, "merge of a branch that left it alone")
	gone("a merge of a branch that left it alone")
	repokit.Branch(t, r, "anew", old.String())
	repokit.CommitOn(t, r, "anew", repokit.NodeLine("zed", `,"summary":"another"`))
	_, err := merging.Merge(ctx, r, "anew", repokit.Options(""))
	var clash *core.MergeError
	must.Require(t, errors.As(err, &clash) && len(clash.Conflicts) == 1 &&
		clash.Conflicts[0].Kind == graph.DeleteModify, "merge of a branch that has it anew: %v", err)
	gone("a merge that conflicts")
	opt := core.CommitOptions{Stamp: repokit.By}
	_, err = merging.ResolveConflict(ctx, r, "zed", merging.Choice{Take: graph.TakeBase}, opt)
	must.Fail(t, err, store.ErrRedacted)
	repokit.Resolve(t, r, "zed", merging.Choice{Take: graph.TakeTheirs})
	must.Get(merging.ContinueMerge(ctx, r, repokit.Options("")))(t)
	must.Equal(t, repokit.NodeByKey(t, repokit.Head(t, r), "zed").Summary, "another", "as decided")
	repokit.CheckClean(t, r)
}

// TestPurgeSpares keeps what another node has too, and reports what else contains the text.
func TestPurgeSpares(t *testing.T) {
	ctx := t.Context()
	r, st := repokit.OverMem(t)
	vector := `{"embedding":{"node":%q,"model":"m","vector":[1,2,3]}}`
	shared := fmt.Sprintf(`,"content":%q`, repokit.SecretLong)
	must.Get(r.Commit(ctx, state.ReadChanges(strings.NewReader(strings.Join([]string{
		repokit.NodeLine("zed", shared), fmt.Sprintf(vector, "zed"),
		repokit.NodeLine("twin", shared), fmt.Sprintf(vector, "twin"),
		repokit.NodeLine("fan", `,"summary":"a fan of zedd"`),
	}, "\n")), "x"), core.CommitOptions{Stamp: repokit.By, Message: "about " + repokit.SecretProp}))(t)
	repokit.Lines(t, r, repokit.NodeLine("zed", `,"props":{"home":"`+repokit.SecretProp+`","n":"abc"}`))
	repokit.Lines(t, r, `{"edge":{"type":"at","src":"fan","dst":"twin","props":{"where":"near `+repokit.SecretProp+`"}}}
{"mark":{"node":"fan","state":"stale","reason":"not at `+repokit.SecretProp+`"}}`)
	_, _, err := session.RetrieveIn(ctx, r, "_default", retrieve.Request{Text: repokit.SecretProp}, repokit.By)
	must.Require(t, err == nil, "%v", err)
	repokit.Branch(t, r, repokit.SecretProp[:9], "HEAD") // too short to count as the text
	res := repokit.PurgeZed(t, r, care.PurgeOptions{KeepQueries: true})
	got := repokit.Kinds(res.Erased)
	must.True(t, got["content"] == 0 && got["embedding"] == 0 && got["node"] == 2, "erased %v", got)
	got = repokit.Kinds(res.Shared)
	must.True(t, got["content"] != 0 && got["embedding"] == 1, "shared %v", got)
	want := map[string]int{"message": 1, "edge": 1, "mark": 1, "query": 1}
	must.Equal(t, fmt.Sprint(repokit.Kinds(res.Hits)), fmt.Sprint(want), "hits")
	s := repokit.Head(t, r)
	twin := repokit.NodeByKey(t, s, "twin")
	must.Equal(t, must.Get(s.Content(ctx, twin.Content))(t), repokit.SecretLong, "the other node's content")
	_, _, _, vectors := s.Sizes()
	must.True(t, vectors == 1, "%d embeddings", vectors)
	n, err := st.Note(ctx)
	must.True(t, n == nil && err == nil, "a note is left: %x, %v", n, err)
}

func TestPurgeRefuses(t *testing.T) {
	r, _ := repokit.OverMem(t)
	repokit.Lines(t, r, repokit.NodeLine("zed", `,"summary":"one"`))
	for name, opt := range map[string]care.PurgeOptions{
		"author": {Stamp: state.Stamp{Time: repokit.By.Time}},
		"reason": {Stamp: repokit.By, Reason: strings.Repeat("x", 5000)},
	} {
		must.Fail(t, must.Err(care.Purge(t.Context(), r, "zed", opt)), state.ErrInvalid, name)
	}
}

// TestPurgeSigned signs what a purge writes when it is known: the redactions at once, then the commits of all branches
// at once. Nothing is erased before.
func TestPurgeSigned(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".mnem")
	r, st := repokit.OpenPlain(t, dir)
	repokit.FillSecret(t, r)
	key := must.Get(commit.NewSecret(bytes.NewReader(bytes.Repeat([]byte{1}, commit.KeyLen))))(t)
	made := state.Signatures{}
	opt := care.PurgeOptions{Stamp: repokit.By}
	opt.Sign = made.Sign
	want := repokit.PurgeZed(t, r, care.PurgeOptions{DryRun: true})
	for _, records := range []int{len(want.Erased), len(want.Branches)} {
		found := len(repokit.Found(t, dir, st, repokit.Secrets))
		var lacks *state.UnsignedError
		_, err := care.Purge(t.Context(), r, "zed", opt)
		must.Require(t, errors.As(err, &lacks) && len(lacks.Records) == records, "%v: want %d records", err, records)
		must.Equal(t, len(repokit.Found(t, dir, st, repokit.Secrets)), found, "texts are in")
		for _, record := range lacks.Records {
			signature := must.Get(key.Sign(record))(t)
			made.Add(record, signature)
		}
	}
	res, err := care.Purge(t.Context(), r, "zed", opt)
	must.Require(t, err == nil && len(res.Branches) == len(want.Branches) && len(res.Erased) == len(want.Erased),
		"%+v, %v", res, err)
	where := repokit.Found(t, dir, st, repokit.Secrets)
	must.True(t, len(where) == 0, "text is left: %v", where)
	repokit.CheckClean(t, r)
}

// forgetful is a store that loses the answers to commits: the commits are made.
type forgetful struct {
	*mem.Store
	lost bool
}

func (s *forgetful) Commit(ctx context.Context, old, next store.Head, add ...store.Block) error {
	err := s.Store.Commit(ctx, old, next, add...)
	if err == nil && s.lost {
		err = fmt.Errorf("commit operation %d: %w", next.Seq, store.ErrUnknown)
	}
	return err
}

// TestPurgeOfUnknownOutcome: the next opening finishes a purge whose commit was made but not confirmed.
func TestPurgeOfUnknownOutcome(t *testing.T) {
	ctx := t.Context()
	by := state.Stamp{Author: "a", Time: 1, Command: []string{"x"}}
	st := &forgetful{Store: mem.New()}
	r := must.Get(care.New(ctx, st, by, core.Options{}))(t)
	line := `{"node":{"key":"secret","type":"N","summary":"The word is heron."}}`
	must.Get(r.Commit(ctx, state.ReadChanges(strings.NewReader(line), "x"), core.CommitOptions{Stamp: by}))(t)
	snap := must.Get(r.Snapshot(ctx, "HEAD"))(t)
	id := must.Get(rank.Find(ctx, snap, "secret", nil))(t)
	_, block, err := snap.Node(ctx, id)
	must.OK(t, err)
	st.lost = true
	must.Fail(t, must.Err(care.Purge(ctx, r, "secret", care.PurgeOptions{Stamp: by})), store.ErrUnknown)
	st.lost = false
	must.Get(care.New(ctx, st, by, core.Options{}))(t)
	must.Fail(t, must.Err(st.Facts().Get(ctx, block)), store.ErrRedacted)
}

// TestPurgeCallsFiles: Files gets the texts before the store changes, and again afterwards. Its first error leaves
// everything unchanged; after its second one the same purge continues.
func TestPurgeCallsFiles(t *testing.T) {
	ctx := t.Context()
	r, st := repokit.OverMem(t)
	repokit.Lines(t, r, repokit.NodeLine("zed", `,"summary":"`+repokit.SecretSummary+`"`)+"\n"+repokit.NodeLine("bob", ""))
	broken := errors.New("broken")
	var calls []string
	var held bool
	failAt := ""
	files := func(ctx context.Context, holds func(string) bool, dry bool) (bool, error) {
		_, _, err := repokit.Head(t, r).Node(ctx, graph.NodeID("zed"))
		call := fmt.Sprintf("there %v, dry %v", err == nil, dry)
		calls = append(calls, call)
		must.True(t, !holds("zed") && !holds("bob cooks"), "a text that is too short, or another one, counts")
		held = holds("it says: " + repokit.SecretSummary + "!")
		if call == failAt {
			return false, broken
		}
		return held, nil
	}
	purge := func(dry bool) error {
		calls, held = nil, false
		_, err := care.Purge(ctx, r, "zed", care.PurgeOptions{Stamp: repokit.By, Files: files, DryRun: dry})
		return err
	}
	if err := purge(true); err != nil || !slices.Equal(calls, []string{"there true, dry true"}) || !held {
		t.Errorf("a dry run: %q, held %v, %v", calls, held, err)
	}
	failAt = "there true, dry false"
	must.Fail(t, purge(false), broken)
	n := repokit.NodeByKey(t, repokit.Head(t, r), "zed")
	must.True(t, n.Summary == repokit.SecretSummary, "something was erased: %+v", n)
	note, err := st.Note(ctx)
	must.True(t, note == nil && err == nil, "a note is left: %x, %v", note, err)
	failAt = "there false, dry false"
	err = purge(false)
	must.True(t, errors.Is(err, broken) && held, "files fail later: held %v, %v", held, err)
	failAt = ""
	must.OK(t, purge(false), "the purge again")
	must.Equal(t, len(calls), 2, "the purge again")
}

// TestPurgeTextInFilesAlone purges a text that only files outside the store contain.
func TestPurgeTextInFilesAlone(t *testing.T) {
	ctx := t.Context()
	r, _ := repokit.OverMem(t)
	repokit.Lines(t, r, repokit.NodeLine("bob", ""))
	for _, held := range []bool{true, false} {
		calls := 0
		files := func(_ context.Context, holds func(string) bool, dry bool) (bool, error) {
			calls++
			must.True(t, holds("THE LETTERS of quillfeather"), "the text in another case does not count")
			return held, nil
		}
		_, err := care.PurgeText(ctx, r, "letters of Quillfeather", care.PurgeOptions{Stamp: repokit.By, Files: files})
		must.True(t, (err == nil) == held && (held || errors.Is(err, store.ErrNotFound)), "held %v: %v", held, err)
		must.Equal(t, calls, map[bool]int{true: 3, false: 1}[held], "held ", held)
	}
}

// TestErasurePending purges while the disk has no space to rewrite tables: the purge is recorded and reports
// remaining bytes, and the next opening, purge or collection continues.
func TestErasurePending(t *testing.T) {
	ctx := t.Context()
	mem := vfs.NewMem()
	opt := core.Options{FS: mem}
	r := must.Get(care.Init(ctx, "/r", repokit.By, opt))(t)
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		repokit.Lines(t, r, repokit.NodeLine(key, `,"summary":"about `+key+`"`))
	}
	full, room := vfs.DiskUsage{AvailBytes: 300 << 10}, vfs.DiskUsage{AvailBytes: 1 << 30}
	purge := func(key string) bool {
		t.Helper()
		res := must.Get(care.Purge(ctx, r, key, care.PurgeOptions{Stamp: repokit.By}))(t)
		return res.Pending
	}
	pending := func(want bool) {
		t.Helper()
		got, err := care.ErasurePending(ctx, r)
		must.True(t, err == nil && got == want, "pending %v, %v, want %v", got, err, want)
	}
	reopen := func() {
		t.Helper()
		must.OK(t, r.Close())
		r = must.Get(care.Open("/r", opt))(t)
	}
	pending(false)
	mem.TestingSetDiskUsage(full)
	must.True(t, purge("a"), "it claims that bytes are gone")
	pending(true)
	reopen() // which finds no room either, and opens
	pending(true)
	must.True(t, must.Err(care.Purge(ctx, r, "none", care.PurgeOptions{Stamp: repokit.By})) != nil,
		"purged what is not there")
	pending(true)
	var lacks *store.NoRoomError
	_, err := care.Purge(ctx, r, "b", care.PurgeOptions{Stamp: repokit.By}) // opening for writing takes more
	must.True(t, errors.As(err, &lacks) && lacks.MustFree() != 0 && lacks.Erasing, "a purge without room: %v", err)
	pending(true)
	mem.TestingSetDiskUsage(room)
	reopen()
	pending(false)
	mem.TestingSetDiskUsage(full)
	must.True(t, purge("c"), "it claims that bytes are gone")
	mem.TestingSetDiskUsage(room)
	must.Get(care.GC(ctx, r, care.GCOptions{Stamp: repokit.By}))(t)
	pending(false)
	mem.TestingSetDiskUsage(full)
	must.True(t, purge("d"), "it claims that bytes are gone")
	mem.TestingSetDiskUsage(room)
	must.True(t, !purge("e"), "with room it is pending")
	pending(false)
	repokit.CheckClean(t, r)
	must.OK(t, r.Close())
}
