package repo_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
	"github.com/mnem-project/mnem/store/pebble"
)

// The texts of the node to be purged: what must not be left anywhere.
var (
	secretSummary = "Zerelda keeps the vault code 7391"
	secretContext = "from the letters of Quillfeather"
	secretProp    = "xylophone street 12"
	secretLong    = strings.Repeat("the cellar door is painted vermilion; ", 8000)
	secrets       = []string{
		secretSummary, secretContext, secretProp, "vermilion", "zerelda", "Zerelda", "vermilion",
		"Quillfeather", "quillfeath", "xylophon",
	}
)

// openPlain opens a repository on disk whose tables are not compressed.
func openPlain(t testing.TB, dir string) (*repo.Repo, *pebble.Store) {
	t.Helper()
	st, err := pebble.Open(dir, pebble.Options{
		Create: true, Uncompressed: true, MemTableBytes: 128 << 10,
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := repo.New(t.Context(), st, by, repo.Options{})
	if err != nil {
		t.Fatal(errors.Join(err, st.Close()))
	}
	return r, st
}

func nodeLine(key string, fields string) string {
	return fmt.Sprintf(`{"node":{"key":%q,"type":"Person"%s}}`, key, fields)
}

// secretNode is the node in full.
func secretNode(key string) string {
	return nodeLine(key, fmt.Sprintf(`,"summary":%q,"context":%q,"props":{"home":%q},"content":%q`,
		secretSummary, secretContext, secretProp, secretLong))
}

// fillSecret makes a history with a node that is to be purged, and returns a commit that has it.
func fillSecret(t testing.TB, r *repo.Repo) (old ipld.CID) {
	t.Helper()
	ctx := t.Context()
	lines(t, r, nodeLine("bob", `,"summary":"Bob cooks"`)+"\n"+nodeLine("carol", ``))
	old = lines(t, r, secretNode("zed")+`
{"edge":{"type":"knows","src":"bob","dst":"zed"}}
{"edge":{"type":"knows","src":"zed","dst":"carol"}}
{"embedding":{"node":"zed","model":"m","vector":[0.25,-0.5,0.125]}}`).Commit
	tag := repo.TagOptions{RefOptions: repo.RefOptions{Stamp: by}}
	if _, err := r.CreateTag(ctx, "v1", "HEAD", tag); err != nil {
		t.Fatal(err)
	}
	if _, err := r.StartSession(ctx, "s", repo.SessionOptions{Stamp: by}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"who cooks?", "vault code", "Is it so that " + secretSummary + "?"} {
		if _, _, err := r.RetrieveIn(ctx, "s", retrieve.Request{Text: text}, by); err != nil {
			t.Fatal(err)
		}
	}
	lines(t, r, `{"node":{"key":"zed","summary":"Zerelda moved to vermilion hall"}}`)
	branch(t, r, "side", "HEAD~1")
	commitOn(t, r, "side", `{"node":{"key":"zed","props":{"age":61}}}`)
	_, err := r.StageChanges(ctx, repo.ReadChanges(strings.NewReader(
		`{"node":{"key":"zed","context":"Quillfeather again"}}`), "x"), repo.StageOptions{Stamp: by})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 30 { // so that there are several tables and logs
		text := fmt.Sprintf(`,"content":%q`, strings.Repeat("x ", 9000+n))
		lines(t, r, nodeLine(fmt.Sprintf("p%d", n), text))
	}
	if _, err := head(t, r).Retrieve(ctx, retrieve.Request{Text: "vermilion"}); err != nil {
		t.Fatal(err)
	}
	return old
}

// found lists where any of the texts is: files, and keys and values as they are stored.
func found(t testing.TB, dir string, st *pebble.Store, texts []string) (where []string) {
	t.Helper()
	in := func(what string, b []byte) {
		for _, text := range texts {
			if bytes.Contains(b, []byte(text)) {
				where = append(where, fmt.Sprintf("%q in %s", text, what))
			}
		}
	}
	if st != nil {
		err := st.Keys(context.Background(), func(e pebble.Entry) error {
			in(fmt.Sprintf("key %x", e.Key), e.Key)
			in(fmt.Sprintf("value of %x", e.Key), e.Value)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	files := 0
	err := filepath.WalkDir(dir, func(path string, d iofs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		b, err := os.ReadFile(path)
		in(path, b)
		if errors.Is(err, iofs.ErrNotExist) { // old options, removed in the background
			err = nil
		}
		return err
	})
	if err != nil || files < 5 {
		t.Fatalf("%d files: %v", files, err)
	}
	return where
}

func purgeZed(t testing.TB, r *repo.Repo, opt repo.PurgeOptions) *repo.PurgeResult {
	t.Helper()
	opt.Stamp = by
	res, err := r.Purge(t.Context(), "zed", opt)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func kinds(hits []repo.PurgeHit) map[string]int {
	out := make(map[string]int)
	for _, h := range hits {
		out[h.What]++
	}
	return out
}

func TestPurge(t *testing.T) {
	ctx := t.Context()
	dir := filepath.Join(t.TempDir(), ".mnem")
	r, st := openPlain(t, dir)
	old := fillSecret(t, r)
	if len(found(t, dir, st, secrets)) < 10 {
		t.Fatal("the texts are not where they are to be removed from")
	}
	plan := purgeZed(t, r, repo.PurgeOptions{DryRun: true})
	res := purgeZed(t, r, repo.PurgeOptions{Reason: "on request"})
	if !slices.Equal(plan.Erased, res.Erased) || len(plan.Commits) != 2 || plan.Operation.Defined() {
		t.Errorf("the dry run says %+v", plan)
	}
	got := kinds(res.Erased)
	if got["node"] < 4 || got["content"] < 1 || got["embedding"] != 1 || got["query"] != 1 {
		t.Errorf("erased %v", got)
	}
	if len(res.Commits) != 2 || len(res.Stages) != 1 || !res.Operation.Defined() {
		t.Errorf("removed from %v, %v", res.Commits, res.Stages)
	}
	if where := found(t, dir, st, secrets); len(where) > 0 {
		t.Errorf("text is left: %v", where)
	}
	checkClean(t, r)
	checkPurged(t, r, old)
	again := purgeZed(t, r, repo.PurgeOptions{Reason: "again"})
	if len(again.Erased)+len(again.Commits)+len(again.Hits) > 0 {
		t.Errorf("a second purge: %+v", again)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if where := found(t, dir, nil, secrets); len(where) > 0 {
		t.Errorf("text is left after closing: %v", where)
	}
	r, st = openPlain(t, dir)
	if where := found(t, dir, st, secrets); len(where) > 0 {
		t.Errorf("text is left after opening: %v", where)
	}
	checkPurged(t, r, old)
	gc(t, r, 1)
	checkClean(t, r)
	_, err := r.Purge(ctx, "nobody", repo.PurgeOptions{Stamp: by})
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("purge of what never was: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// checkPurged checks how everything that reads sees a node that was purged.
func checkPurged(t *testing.T, r *repo.Repo, old ipld.CID) {
	t.Helper()
	ctx := t.Context()
	id := graph.NodeID("zed")
	s, err := r.At(ctx, old)
	if err != nil {
		t.Fatal(err)
	}
	n, c, err := s.Node(ctx, id)
	want := "redacted: on request, 2023-11-14T22:13:20.000000Z, Tess Tester"
	if err != nil || n.Type != repo.RedactedType || n.Summary != want || n.ID != id {
		t.Fatalf("the node in an old commit: %+v, %v", n, err)
	}
	if red, err := r.Redaction(ctx, c); err != nil || red == nil || red.Node != id {
		t.Errorf("its redaction: %+v, %v", red, err)
	}
	if err := nodesOf(s, 3); err != nil {
		t.Error(err)
	}
	edges := 0
	for _, err := range s.Adjacency().Bucket(ctx, graph.NodeID("bob"), adjacency.Out, "", nil) {
		if err != nil {
			t.Fatal(err)
		}
		edges++
	}
	if edges != 1 {
		t.Errorf("%d edges to the node", edges)
	}
	for text, items := range map[string]int{
		"cooks vault": 1, "vermilion": 0, "zed": 0, id.String(): 0,
	} {
		a, err := s.Retrieve(ctx, retrieve.Request{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Items) != items || len(a.Warnings) == 0 ||
			a.Warnings[len(a.Warnings)-1].Code != retrieve.Redacted {
			t.Errorf("retrieve %q: %d items, warnings %v", text, len(a.Items), a.Warnings)
		}
	}
	replay, err := r.Replay(ctx, "s")
	if err != nil || replay.Identical || replay.First != nil || len(replay.Redacted) == 0 {
		t.Errorf("replay: %+v, %v", replay, err)
	}
	now := head(t, r)
	if _, _, err := now.Node(ctx, id); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the node in the head: %v", err)
	}
	for nd, err := range s.Diff(now).Nodes(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if nd.ID == id && (nd.Kind != repo.Removed || nd.Old.Type != repo.RedactedType) {
			t.Errorf("diff of the node: %+v", nd)
		}
	}
	a, err := now.Retrieve(ctx, retrieve.Request{Text: "vermilion cooks"})
	if err != nil || len(a.Warnings) > 0 || len(a.Items) != 1 {
		t.Errorf("retrieve from the head: %d items, %v, %v", len(a.Items), a.Warnings, err)
	}
	if _, err := r.Status(ctx, ""); err != nil {
		t.Errorf("status: %v", err)
	}
}

// TestPurgeDoesNotComeBack puts, commits and imports what was erased, and takes operations back.
func TestPurgeDoesNotComeBack(t *testing.T) {
	ctx := t.Context()
	dir := filepath.Join(t.TempDir(), ".mnem")
	r, st := openPlain(t, dir)
	defer r.Close()
	same := nodeLine("zed", `,"summary":"`+secretSummary+`","created":"2024-01-01"`)
	old := lines(t, r, nodeLine("bob", "")+"\n"+same).Commit
	var car bytes.Buffer
	if _, err := r.Export(ctx, &car, repo.ExportOptions{All: true}); err != nil {
		t.Fatal(err)
	}
	res := purgeZed(t, r, repo.PurgeOptions{Reason: "x"})
	op, err := r.Operation(ctx, res.Operation.String())
	if err != nil || op.Operation.Command[0] != "purge" {
		t.Fatalf("operation %v, %v", op.Operation, err)
	}
	if _, err := r.Undo(ctx, res.Operation.String(), by); !errors.Is(err, repo.ErrNothingToUndo) {
		t.Errorf("undo of a purge: %v", err)
	}
	if _, err := tryLines(r, same); !errors.Is(err, store.ErrRedacted) {
		t.Errorf("commit of the same record: %v", err)
	}
	imp, err := r.Import(ctx, bytes.NewReader(car.Bytes()), int64(car.Len()),
		repo.ImportOptions{Stamp: by, Name: "back"})
	if err != nil || imp.Redacted != 1 {
		t.Errorf("import of what was erased: %+v, %v", imp, err)
	}
	if where := found(t, dir, st, []string{secretSummary}); len(where) > 0 {
		t.Errorf("it came back: %v", where)
	}
	checkClean(t, r)
	// A branch may go back to an old commit, and be worked on.
	branch(t, r, "back", old.String())
	commitOn(t, r, "back", `{"edge":{"type":"likes","src":"bob","dst":"zed"}}`)
	merge := repo.MergeOptions{CommitOptions: repo.CommitOptions{Stamp: by}}
	_, err = r.Merge(ctx, "back", merge)
	if err != nil && !errors.Is(err, repo.ErrConflict) {
		t.Errorf("merge of a branch that has it: %v", err)
	}
	commitOn(t, r, "back", `{"remove":{"node":"zed"}}`)
	commitOn(t, r, "back", nodeLine("zed", `,"summary":"someone else"`))
	checkClean(t, r)
	// The key can be used again.
	lines(t, r, nodeLine("zed", `,"summary":"another"`))
	if n := nodeByKey(t, head(t, r), "zed"); n.Summary != "another" {
		t.Errorf("the new node: %+v", n)
	}
	checkClean(t, r)
}

// TestPurgedIsNotIndexed refuses a commit of what was erased before it is indexed.
func TestPurgedIsNotIndexed(t *testing.T) {
	r, _ := overMem(t)
	line := nodeLine("zed", `,"summary":"`+secretSummary+`"`)
	old := lines(t, r, line).Commit
	purgeZed(t, r, repo.PurgeOptions{})
	branch(t, r, "old", old.String())
	if _, err := tryLines(r, line); !errors.Is(err, store.ErrRedacted) {
		t.Errorf("commit of the same record: %v", err)
	}
	checkClean(t, r)
}

// TestPurgedStaysOutOfMerges merges, restores, reverts and picks what was erased: nothing brings
// back the node unless somebody decides so, and what was erased stays so.
func TestPurgedStaysOutOfMerges(t *testing.T) {
	ctx := t.Context()
	r, _ := overMem(t)
	old := lines(t, r, nodeLine("bob", "")+"\n"+nodeLine("zed", `,"summary":"one"`)).Commit
	removed := lines(t, r, `{"remove":{"node":"zed"}}`).Commit
	picked := lines(t, r, nodeLine("zed", `,"summary":"one"`)).Commit
	purgeZed(t, r, repo.PurgeOptions{Reason: "x"})
	lines(t, r, nodeLine("carol", ""))
	gone := func(when string) {
		t.Helper()
		if n, _, err := head(t, r).Node(ctx, graph.NodeID("zed")); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: zed is %+v, %v", when, n, err)
		}
		checkClean(t, r)
	}
	gone("purge")
	at := head(t, r).CID()
	_, restore := r.Restore(ctx, old.String(), []string{"zed"}, options("").CommitOptions)
	_, revert := r.Revert(ctx, removed.String(), options(""))
	_, pick := r.CherryPick(ctx, picked.String(), options(""))
	for verb, err := range map[string]error{"restore": restore, "revert": revert, "pick": pick} {
		if !errors.Is(err, store.ErrRedacted) {
			t.Errorf("%s of what was erased: %v", verb, err)
		}
	}
	if head(t, r).CID() != at {
		t.Error("something was written")
	}

	// Branches from before it: one that leaves the node alone, and one that makes it anew.
	branch(t, r, "same", old.String())
	commitOn(t, r, "same", nodeLine("dora", ""))
	if _, err := r.Merge(ctx, "same", options("")); err != nil {
		t.Errorf("merge of a branch that left it alone: %v", err)
	}
	gone("a merge of a branch that left it alone")
	branch(t, r, "anew", old.String())
	commitOn(t, r, "anew", nodeLine("zed", `,"summary":"another"`))
	_, err := r.Merge(ctx, "anew", options(""))
	var clash *repo.MergeError
	if !errors.As(err, &clash) || len(clash.Conflicts) != 1 ||
		clash.Conflicts[0].Kind != graph.DeleteModify {
		t.Fatalf("merge of a branch that has it anew: %v", err)
	}
	gone("a merge that conflicts")
	opt := repo.CommitOptions{Stamp: by}
	_, err = r.ResolveConflict(ctx, "zed", repo.Choice{Take: graph.TakeBase}, opt)
	if !errors.Is(err, store.ErrRedacted) {
		t.Errorf("resolved by what was erased: %v", err)
	}
	resolve(t, r, "zed", repo.Choice{Take: graph.TakeTheirs})
	if _, err := r.ContinueMerge(ctx, options("")); err != nil {
		t.Fatal(err)
	}
	if n := nodeByKey(t, head(t, r), "zed"); n.Summary != "another" {
		t.Errorf("as decided: %+v", n)
	}
	checkClean(t, r)
}

// TestPurgeSpares keeps what another node has too, and names what else has the text.
func TestPurgeSpares(t *testing.T) {
	ctx := t.Context()
	r, st := overMem(t)
	vector := `{"embedding":{"node":%q,"model":"m","vector":[1,2,3]}}`
	shared := fmt.Sprintf(`,"content":%q`, secretLong)
	_, err := r.Commit(ctx, repo.ReadChanges(strings.NewReader(strings.Join([]string{
		nodeLine("zed", shared), fmt.Sprintf(vector, "zed"),
		nodeLine("twin", shared), fmt.Sprintf(vector, "twin"),
		nodeLine("fan", `,"summary":"a fan of zedd"`),
	}, "\n")), "x"), repo.CommitOptions{Stamp: by, Message: "about " + secretProp})
	if err != nil {
		t.Fatal(err)
	}
	lines(t, r, nodeLine("zed", `,"props":{"home":"`+secretProp+`","n":"abc"}`))
	lines(t, r, `{"edge":{"type":"at","src":"fan","dst":"twin","props":{"where":"near `+secretProp+`"}}}
{"mark":{"node":"fan","state":"stale","reason":"not at `+secretProp+`"}}`)
	if _, _, err := r.RetrieveIn(ctx, "_default", retrieve.Request{Text: secretProp}, by); err != nil {
		t.Fatal(err)
	}
	branch(t, r, secretProp[:9], "HEAD") // too short to be the text
	res := purgeZed(t, r, repo.PurgeOptions{KeepQueries: true})
	if got := kinds(res.Erased); got["content"] != 0 || got["embedding"] != 0 || got["node"] != 2 {
		t.Errorf("erased %v", got)
	}
	if got := kinds(res.Shared); got["content"] == 0 || got["embedding"] != 1 {
		t.Errorf("shared %v", got)
	}
	want := map[string]int{"message": 1, "edge": 1, "mark": 1, "query": 1}
	if got := kinds(res.Hits); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("hits %v, want %v", got, want)
	}
	s := head(t, r)
	twin := nodeByKey(t, s, "twin")
	if text, err := s.Content(ctx, twin.Content); err != nil || text != secretLong {
		t.Errorf("the other node's content: %v", err)
	}
	if _, _, _, vectors := s.Sizes(); vectors != 1 {
		t.Errorf("%d embeddings", vectors)
	}
	if n, err := st.Note(ctx); n != nil || err != nil {
		t.Errorf("a note is left: %x, %v", n, err)
	}
}

func TestPurgeRefuses(t *testing.T) {
	r, _ := overMem(t)
	lines(t, r, nodeLine("zed", `,"summary":"one"`))
	for name, opt := range map[string]repo.PurgeOptions{
		"author": {Stamp: repo.Stamp{Time: by.Time}},
		"reason": {Stamp: by, Reason: strings.Repeat("x", 5000)},
	} {
		if _, err := r.Purge(t.Context(), "zed", opt); !errors.Is(err, repo.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	branch(t, r, "side", "HEAD")
	lines(t, r, `{"node":{"key":"zed","summary":"two"}}`)
	commitOn(t, r, "side", `{"node":{"key":"zed","summary":"three"}}`)
	opt := repo.MergeOptions{CommitOptions: repo.CommitOptions{Stamp: by}}
	if _, err := r.Merge(t.Context(), "side", opt); err == nil {
		t.Log("the merge is to conflict")
	}
	for _, dry := range []bool{false, true} {
		_, err := r.Purge(t.Context(), "zed", repo.PurgeOptions{Stamp: by, DryRun: dry})
		if !errors.Is(err, repo.ErrConflict) {
			t.Errorf("purge of a node in a merge, dry run %v: %v", dry, err)
		}
	}
	if n := nodeByKey(t, head(t, r), "zed"); n.Summary != "two" {
		t.Errorf("the node: %+v", n)
	}
}

// TestPurgeByTitle purges a node by its exact title, and none by words that it has or by the title of another one.
func TestPurgeByTitle(t *testing.T) {
	ctx := t.Context()
	r, _ := overMem(t)
	lines(t, r, nodeLine("a", `,"summary":"Bob cooks lentils"`)+"\n"+nodeLine("b", `,"summary":"Bob cooks lentils daily"`)+
		"\n"+nodeLine("c", `,"summary":"Ann cooks beans"`)+"\n"+nodeLine("d", `,"summary":"Ann cooks beans"`)+
		"\n"+nodeLine("e", `,"summary":"a"`))
	purge := func(name string) (*repo.PurgeResult, error) {
		return r.Purge(ctx, name, repo.PurgeOptions{Stamp: by})
	}
	var missing *repo.NotFoundError
	if _, err := purge("Bob cooks"); !errors.As(err, &missing) || len(missing.Candidates) != 2 || missing.Hidden != "" {
		t.Errorf("purged by words: %v", err)
	}
	var unsure *repo.UnsureError
	if _, err := purge("Ann cooks beans"); !errors.As(err, &unsure) || len(unsure.Candidates) != 2 {
		t.Errorf("purged by the title of two: %v", err)
	}
	lines(t, r, `{"mark":{"node":"a","state":"forgotten"}}`)
	_, err := purge("Bob cooks lentils")
	if !errors.As(err, &missing) || missing.Hidden != graph.Forgotten || missing.ID != graph.NodeID("a") {
		t.Errorf("purged what is forgotten, or another one, by a title: %v", err)
	}
	lines(t, r, `{"remove":{"mark":{"node":"a"}}}`)
	if res, err := purge("Bob cooks lentils"); err != nil || res.Node != graph.NodeID("a") {
		t.Fatalf("%+v, %v", res, err)
	}
	if _, err := purge("Bob cooks lentils"); !errors.As(err, &missing) {
		t.Errorf("purged another one: %v", err)
	}
	if res, err := purge("a"); err != nil || res.Node != graph.NodeID("a") || len(res.Erased) > 0 {
		t.Errorf("what was purged is named by its key: %+v, %v", res, err)
	}
	lines(t, r, `{"remove":{"node":"b"}}`)
	if res, err := purge("b"); err != nil || res.Node != graph.NodeID("b") || len(res.Erased) != 1 {
		t.Errorf("what was removed is named by its key: %+v, %v", res, err)
	}
	if n := nodeByKey(t, head(t, r), "e"); n.Summary != "a" {
		t.Errorf("%+v", n)
	}
}
