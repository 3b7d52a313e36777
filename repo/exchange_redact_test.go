package repo_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
	"github.com/mnem-project/mnem/store/mem"
)

func stub() []byte {
	r := &commit.Redaction{What: commit.ErasedNode, Actor: "f", Time: forgedTime, Reason: "asked"}
	return r.Encode()
}

// erase redacts blocks of a store.
func erase(t testing.TB, st *mem.Store, cids ...ipld.CID) {
	t.Helper()
	for _, c := range cids {
		if err := st.Redact(t.Context(), store.Redaction{CID: c, Stub: stub()}); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Derived().Clear(t.Context()); err != nil { // as a purge does
		t.Fatal(err)
	}
}

func nodeCID(t testing.TB, r *repo.Repo, key string) ipld.CID {
	t.Helper()
	_, c, err := head(t, r).Node(t.Context(), graph.NodeID(key))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func redacted(t testing.TB, st *mem.Store, c ipld.CID) bool {
	t.Helper()
	left, ok, err := st.Redacted(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return ok && bytes.Equal(left.Stub, stub())
}

// TestExportOfRedacted exports a memory of which a node was erased: the other side knows it, and
// what it exports is the same file.
func TestExportOfRedacted(t *testing.T) {
	from, st := openStore(t)
	fill(t, from)
	c := nodeCID(t, from, "alice")
	whole, _ := export(t, from, repo.ExportOptions{All: true})
	erase(t, st, c)
	file, res := export(t, from, repo.ExportOptions{All: true})
	if res.Redacted != 1 || bytes.Contains(file, []byte("Alice leads")) {
		t.Errorf("%+v", res)
	}
	to, there := openStore(t)
	dry := importInto(t, to, file, repo.ImportOptions{DryRun: true})
	if dry.Redactions != 1 || redacted(t, there, c) {
		t.Errorf("dry run: %+v", dry)
	}
	if got := importInto(t, to, file, repo.ImportOptions{}); got.Redactions != 1 || got.Redacted != 0 {
		t.Errorf("import: %+v", got)
	}
	if !redacted(t, there, c) {
		t.Error("the redaction did not come along")
	}
	if again, _ := export(t, to, repo.ExportOptions{All: true}); !bytes.Equal(again, file) {
		t.Error("exported again it is another file")
	}
	// An older file brings the block: it stays away.
	got := importInto(t, to, whole, repo.ImportOptions{Name: "old"})
	if got.Redacted != 1 || got.Redactions != 0 || len(got.Refs) != 2 || !redacted(t, there, c) {
		t.Errorf("import of what was erased: %+v", got)
	}
	if _, _, err := to.Block(t.Context(), c.String()); !errors.Is(err, store.ErrRedacted) {
		t.Errorf("the block: %v", err)
	}
}

// TestImportKeepsNothingAway: beside a memory that is there already a file says of blocks that they were erased, and
// whoever has them brings them all the same.
func TestImportKeepsNothingAway(t *testing.T) {
	from, st := openStore(t)
	fill(t, from)
	c := nodeCID(t, from, "alice")
	whole, _ := export(t, from, repo.ExportOptions{All: true})
	erase(t, st, c)
	file, _ := export(t, from, repo.ExportOptions{All: true})
	to, there := openStore(t)
	lines(t, to, person(1))
	if got := importInto(t, to, file, repo.ImportOptions{Name: "n"}); got.Redactions != 1 || !redacted(t, there, c) {
		t.Errorf("import: %+v", got)
	}
	if got := importInto(t, to, whole, repo.ImportOptions{Name: "old"}); got.Redacted != 0 || got.NewBlocks != 1 {
		t.Errorf("import of the block: %+v", got)
	}
	if _, _, err := to.Block(t.Context(), c.String()); err != nil {
		t.Errorf("the block: %v", err)
	}
	checkClean(t, to)
}

// TestImportErasesNothing imports a file that says a block was erased which is here.
func TestImportErasesNothing(t *testing.T) {
	from, st := openStore(t)
	fill(t, from)
	c := nodeCID(t, from, "alice")
	to, there := openStore(t)
	whole, _ := export(t, from, repo.ExportOptions{All: true})
	importInto(t, to, whole, repo.ImportOptions{})
	erase(t, st, c)
	file, _ := export(t, from, repo.ExportOptions{All: true})
	if got := importInto(t, to, file, repo.ImportOptions{Name: "n"}); got.Redactions != 0 {
		t.Errorf("import: %+v", got)
	}
	if redacted(t, there, c) || nodeByKey(t, head(t, to), "alice").Summary == "" {
		t.Error("an import erased a block")
	}
}

func TestImportRefusesRedactions(t *testing.T) {
	redact := func(f *forgery, c ipld.CID) {
		f.manifest.Redacted = f.tree(map[string][]byte{string(c.Bytes()): linkTo(f.put(stub()))})
	}
	cases := []struct {
		name, reason string
		edit         func(f *forgery)
	}{
		{"of a block in the file", "in the file and redacted", func(f *forgery) {
			redact(f, f.tips[0])
		}},
		{"of what nothing leads to", "nothing in the file leads", func(f *forgery) {
			redact(f, ipld.Sum(ipld.Raw, []byte("elsewhere")))
		}},
		{"of a commit", "missing", func(f *forgery) {
			redact(f, f.tips[0])
			delete(f.blocks, f.tips[0])
		}},
		{"of an edge", "missing", func(f *forgery) {
			for _, item := range f.edges {
				v, err := ipld.DecodeValue(item)
				if err != nil {
					f.t.Fatal(err)
				}
				redact(f, v.Link())
				delete(f.blocks, v.Link())
			}
		}},
		{"under no CID", "redactions", func(f *forgery) {
			f.manifest.Redacted = f.tree(map[string][]byte{"x": linkTo(f.put(stub()))})
		}},
		{"that is none", "not a redaction", func(f *forgery) {
			f.manifest.Redacted = f.tree(map[string][]byte{
				string(ipld.Sum(ipld.Raw, nil).Bytes()): linkTo(f.put(ipld.AppendMap(nil, 0))),
			})
		}},
	}
	for _, c := range cases {
		f := forge(t)
		f.after = c.edit
		refuses(t, "redaction "+c.name, f.file(), c.reason)
	}
	f := forge(t)
	f.after = func(f *forgery) { // the good case: a query
		c := ipld.Sum(ipld.Raw, []byte("query"))
		redact(f, c)
		delete(f.blocks, c)
	}
	r, st := openStore(t)
	res := importInto(t, r, f.file(), repo.ImportOptions{Name: "n"})
	if res.Redactions != 1 || !redacted(t, st, ipld.Sum(ipld.Raw, []byte("query"))) {
		t.Errorf("a redacted query: %+v", res)
	}
}

// TestExportAfterPurge purges a node and carries the memory elsewhere: old commits can be read
// there, without it, and what was recorded says why it does not come out the same.
func TestExportAfterPurge(t *testing.T) {
	from, _ := openStore(t)
	fill(t, from)
	opt := repo.PurgeOptions{Stamp: by, Reason: "asked"}
	if _, err := from.Purge(t.Context(), "alice", opt); err != nil {
		t.Fatal(err)
	}
	file, res := export(t, from, repo.ExportOptions{All: true})
	if res.Redacted < 2 || bytes.Contains(file, []byte("Alice leads")) {
		t.Errorf("%+v", res)
	}
	to, _ := openStore(t)
	if got := importInto(t, to, file, repo.ImportOptions{}); got.Redactions != res.Redacted {
		t.Errorf("%d redactions, want %d", got.Redactions, res.Redacted)
	}
	if a, b := refNames(t, from), refNames(t, to); a["refs/heads/main"] != b["refs/heads/main"] {
		t.Errorf("main is %s, want %s", b["refs/heads/main"], a["refs/heads/main"])
	}
	old, err := to.Snapshot(t.Context(), "HEAD~2")
	if err != nil {
		t.Fatal(err)
	}
	if n := nodeByKey(t, old, "alice"); n.Type != repo.RedactedType {
		t.Errorf("the node is a %s", n.Type)
	}
	for _, r := range []*repo.Repo{from, to} {
		replay, err := r.Replay(t.Context(), "review")
		if err != nil || len(replay.Redacted) == 0 {
			t.Errorf("replay: %+v, %v", replay, err)
		}
	}
	again, _ := export(t, to, repo.ExportOptions{All: true})
	if !bytes.Equal(again, file) {
		t.Error("exported again it is another file")
	}
}
