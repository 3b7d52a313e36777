package memory

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
	"github.com/mnem-project/mnem/store/pebble"
)

// The key of nobody's account, in parts so that no scanner takes it for a real one. Its pieces stand
// in nothing else.
var (
	apiPieces = []string{"zq7k2xv9", "m4hw8t3rj6"}
	apiKey    = "Zq" + "-live-" + "Zq7k2Xv9" + "-" + "M4hw8T3rJ6"
)

// onDisk opens a repository on disk whose tables are not compressed.
func onDisk(t *testing.T, dir string) (*repo.Repo, *pebble.Store) {
	t.Helper()
	st, err := pebble.Open(dir, pebble.Options{Create: true, Uncompressed: true})
	if err != nil {
		t.Fatal(err)
	}
	r, err := repo.New(t.Context(), st, linkBy, repo.Options{})
	if err != nil {
		t.Fatal(errors.Join(err, st.Close()))
	}
	return r, st
}

// leaks lists every key, value and file that has a piece of the key in any spelling: each string of
// each block is looked at decoded, and the keys of chunks of trees with their prefix.
func leaks(t *testing.T, dir string, st *pebble.Store) (where []string) {
	t.Helper()
	has := func(s string) bool {
		s = strings.ToLower(s)
		words := strings.Join(strings.FieldsFunc(s, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9')
		}), " ")
		return slices.ContainsFunc(apiPieces, func(p string) bool {
			return strings.Contains(s, p) || strings.Contains(words, p)
		})
	}
	entries := 0
	err := st.Keys(context.Background(), func(e pebble.Entry) error {
		entries++
		found := has(string(e.Key)) || has(string(e.Value))
		if v, err := ipld.DecodeValue(e.Value); err == nil {
			eachText(v, func(s string) { found = found || has(s) })
		}
		if found {
			what := ipld.RecordKind(e.Value)
			where = append(where, fmt.Sprintf("%s %q in space %v", e.CID, what, e.Space))
		}
		return nil
	})
	if err != nil || entries < 20 {
		t.Fatalf("%d entries: %v", entries, err)
	}
	files := 0
	err = filepath.WalkDir(dir, func(path string, d iofs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if errors.Is(err, iofs.ErrNotExist) { // removed in the background
			return nil
		}
		if files++; has(string(b)) {
			where = append(where, path)
		}
		return err
	})
	if err != nil || files < 5 {
		t.Fatalf("%d files: %v", files, err)
	}
	return where
}

// eachText calls fn with every string of a value, the names of fields and what stands for bytes among
// them; with the keys of a chunk of a tree as they are without their prefix taken away.
func eachText(v ipld.Value, fn func(string)) {
	switch v.Kind() {
	case ipld.String, ipld.Bytes:
		fn(v.Text())
	case ipld.List:
		for _, item := range v.List() {
			eachText(item, fn)
		}
	case ipld.Map:
		prefix, _ := v.Get("prefix")
		keys, _ := v.Get("keys")
		for _, key := range keys.List() {
			fn(prefix.Text() + key.Text())
		}
		for _, e := range v.Entries() {
			fn(e.Key)
			eachText(e.Value, fn)
		}
	}
}

// rememberKey remembers a text with the key, and asks for it. Where no rule makes an entity of it, one
// is written as programs did that made one.
func rememberKey(t *testing.T, r *repo.Repo) graph.ID {
	t.Helper()
	ctx := t.Context()
	m := New(r)
	keep(t, m, said("Deployments go through Stripe since March")...)
	got := keep(t, m, RememberRequest{
		Text: "The Stripe account of billing is reached with " + apiKey + " from the vault",
		Tags: []string{"key " + apiKey}, About: "billing",
	})
	id := got[0].ID
	s, err := r.Snapshot(ctx, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	key := EntityKey(apiKey)
	var lines []string
	if _, _, err := s.Node(ctx, graph.NodeID(key)); errors.Is(err, store.ErrNotFound) {
		lines = append(lines, fmt.Sprintf(`{"node":{"key":%q,"type":"Entity","summary":%q}}`, key, apiKey),
			fmt.Sprintf(`{"edge":{"type":"mentions","src":%q,"dst":%q}}`, id, key))
	}
	lines = append(lines, fmt.Sprintf(
		`{"edge":{"type":"uses","src":%q,"dst":"billing","props":{"with":%q}}}`, id, apiKey),
		fmt.Sprintf(`{"mark":{"node":%q,"state":"stale","reason":"not %s any more"}}`, id, apiKey),
		fmt.Sprintf(`{"embedding":{"node":%q,"model":"m","vector":[1,2,3]}}`, id))
	by := repo.CommitOptions{Stamp: linkBy}
	_, err = r.Commit(ctx, repo.ReadChanges(strings.NewReader(strings.Join(lines, "\n")), "x"), by)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.StartSession(ctx, "s", repo.SessionOptions{Stamp: linkBy}); err != nil {
		t.Fatal(err)
	}
	_, _, err = r.RetrieveIn(ctx, "s", retrieve.Request{
		Text: "The Stripe account of billing is reached with " + apiKey + " from the vault?",
	}, linkBy)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// answersNone checks that nothing answers a question for the pieces of the key.
func answersNone(t *testing.T, r *repo.Repo) {
	t.Helper()
	s, err := r.Snapshot(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range append([]string{apiKey, EntityKey(apiKey)}, apiPieces...) {
		a, err := s.Retrieve(t.Context(), retrieve.Request{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range a.Items {
			if strings.Contains(strings.ToLower(item.Rendered), apiPieces[0]) {
				t.Errorf("retrieve %q answers %q", text, item.Rendered)
			}
		}
	}
}

// TestPurgeTakesWhatIsDerived purges a memory with a key that became an entity and a tag: nothing in
// the store has a piece of it afterwards, and what others lead to stays.
func TestPurgeTakesWhatIsDerived(t *testing.T) {
	ctx := t.Context()
	dir := filepath.Join(t.TempDir(), ".mnem")
	r, st := onDisk(t, dir)
	id := rememberKey(t, r)
	if where := leaks(t, dir, st); len(where) < 7 {
		t.Fatalf("the key is not where it is to be removed from: %v", where)
	}
	opt := repo.PurgeOptions{Stamp: linkBy, Reason: "a key"}
	opt.DryRun = true
	plan, err := r.Purge(ctx, id.String(), opt)
	if err != nil {
		t.Fatal(err)
	}
	opt.DryRun = false
	res, err := r.Purge(ctx, id.String(), opt)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(plan.Erased, res.Erased) || !slices.Equal(plan.Derived, res.Derived) {
		t.Errorf("the dry run says %+v, then %+v", plan, res)
	}
	want := []graph.ID{
		graph.NodeID("billing"), graph.NodeID(EntityKey(apiKey)), graph.NodeID(TagKey("key " + apiKey)),
	}
	for _, id := range want {
		if !slices.Contains(res.Derived, id) {
			t.Errorf("node %s stays; gone are %v", id, res.Derived)
		}
	}
	stripe := graph.NodeID(EntityKey("Stripe"))
	if slices.Contains(res.Derived, stripe) {
		t.Error("an entity goes that another memory mentions")
	}
	if !slices.ContainsFunc(res.Hits, func(h repo.PurgeHit) bool { return h.Name == stripe.String() }) {
		t.Errorf("what is shared is not named: %v", res.Hits)
	}
	if where := leaks(t, dir, st); len(where) > 0 {
		t.Errorf("left: %v", where)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r, st = onDisk(t, dir)
	answersNone(t, r)
	if where := leaks(t, dir, st); len(where) > 0 {
		t.Errorf("left after opening: %v", where)
	}
	report, err := r.Fsck(ctx, repo.FsckOptions{Full: true})
	if err != nil || len(report.Errors) > 0 {
		t.Errorf("fsck: %v, %v", report.Errors, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestPurgeOneAfterTheOther purges both memories that mention an entity: with the second it goes.
func TestPurgeOneAfterTheOther(t *testing.T) {
	m := newMemory(t)
	got := keep(t, m, said("We sell rail to Initech", "We rent halls to Initech")...)
	name := graph.NodeID(EntityKey("Initech"))
	for i, mem := range got {
		res, err := m.r.Purge(t.Context(), mem.ID.String(), repo.PurgeOptions{Stamp: linkBy})
		if err != nil {
			t.Fatal(err)
		}
		if goes := slices.Contains(res.Derived, name); goes != (i == 1) {
			t.Errorf("purge %d: the entity goes: %v", i+1, goes)
		}
	}
}
