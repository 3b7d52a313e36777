package exchange_test

import (
	"bytes"
	"testing"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

func stub() []byte {
	r := &commit.Redaction{What: commit.ErasedNode, Actor: "f", Time: repokit.ForgedTime, Reason: "asked"}
	return r.Encode()
}

// erase redacts blocks of a store.
func erase(t testing.TB, st *mem.Store, cids ...ipld.CID) {
	t.Helper()
	for _, c := range cids {
		must.OK(t, st.Redact(t.Context(), store.Redaction{CID: c, Stub: stub()}))
	}
	if err := st.Derived().Clear(t.Context()); err != nil { // as a purge does
		t.Fatal(err)
	}
}

func redacted(t testing.TB, st *mem.Store, c ipld.CID) bool {
	t.Helper()
	left, ok, err := st.Redacted(t.Context(), c)
	must.OK(t, err)
	return ok && bytes.Equal(left.Stub, stub())
}

// TestExportOfRedacted exports a memory with an erased node: the receiver records the erasure, and exports the same
// file.
func TestExportOfRedacted(t *testing.T) {
	from, st := repokit.OverMem(t)
	fill(t, from)
	c := repokit.NodeCID(t, from, "alice")
	whole, _ := repokit.Export(t, from, exchange.ExportOptions{All: true})
	erase(t, st, c)
	file, res := repokit.Export(t, from, exchange.ExportOptions{All: true})
	must.True(t, res.Redacted == 1 && !bytes.Contains(file, []byte("Alice leads")), "%+v", res)
	to, there := repokit.OverMem(t)
	dry := repokit.ImportInto(t, to, file, exchange.ImportOptions{DryRun: true})
	must.True(t, dry.Redactions == 1 && !redacted(t, there, c), "dry run: %+v", dry)
	if got := repokit.ImportInto(t, to, file, exchange.ImportOptions{}); got.Redactions != 1 || got.Redacted != 0 {
		t.Errorf("import: %+v", got)
	}
	must.True(t, redacted(t, there, c), "the redaction did not come along")
	again, _ := repokit.Export(t, to, exchange.ExportOptions{All: true})
	must.True(t, bytes.Equal(again, file), "exported again it is another file")
	// An older file that contains the block does not bring it back.
	got := repokit.ImportInto(t, to, whole, exchange.ImportOptions{Name: "old"})
	must.True(t, got.Redacted == 1 && got.Redactions == 0 && len(got.Refs) == 2 && redacted(t, there, c),
		"import of what was erased: %+v", got)
	_, _, err := to.Storage().Block(t.Context(), c.String())
	must.Fail(t, err, store.ErrRedacted)
}

// TestImportKeepsNothingAway: a file imported into an existing memory says that blocks were erased; another file
// that contains them still adds them.
func TestImportKeepsNothingAway(t *testing.T) {
	from, st := repokit.OverMem(t)
	fill(t, from)
	c := repokit.NodeCID(t, from, "alice")
	whole, _ := repokit.Export(t, from, exchange.ExportOptions{All: true})
	erase(t, st, c)
	file, _ := repokit.Export(t, from, exchange.ExportOptions{All: true})
	to, there := repokit.OverMem(t)
	repokit.Lines(t, to, repokit.Person(1))
	got := repokit.ImportInto(t, to, file, exchange.ImportOptions{Name: "n"})
	must.True(t, got.Redactions == 1 && redacted(t, there, c), "import: %+v", got)
	got = repokit.ImportInto(t, to, whole, exchange.ImportOptions{Name: "old"})
	must.True(t, got.Redacted == 0 && got.NewBlocks == 1, "import of the block: %+v", got)
	_, _, err := to.Storage().Block(t.Context(), c.String())
	must.True(t, err == nil, "the block: %v", err)
	repokit.CheckClean(t, to)
}

// TestImportErasesNothing imports a file that says a block was erased which this repository has.
func TestImportErasesNothing(t *testing.T) {
	from, st := repokit.OverMem(t)
	fill(t, from)
	c := repokit.NodeCID(t, from, "alice")
	to, there := repokit.OverMem(t)
	whole, _ := repokit.Export(t, from, exchange.ExportOptions{All: true})
	repokit.ImportInto(t, to, whole, exchange.ImportOptions{})
	erase(t, st, c)
	file, _ := repokit.Export(t, from, exchange.ExportOptions{All: true})
	got := repokit.ImportInto(t, to, file, exchange.ImportOptions{Name: "n"})
	must.True(t, got.Redactions == 0, "import: %+v", got)
	must.True(t, !redacted(t, there, c) && repokit.NodeByKey(t, repokit.Head(t, to), "alice").Summary != "",
		"an import erased a block")
}

func TestImportRefusesRedactions(t *testing.T) {
	redact := func(f *repokit.Forgery, c ipld.CID) {
		f.Manifest.Redacted = f.Tree(map[string][]byte{string(c.Bytes()): repokit.LinkTo(f.Put(stub()))})
	}
	cases := []struct {
		name, reason string
		edit         func(f *repokit.Forgery)
	}{
		{"of a block in the file", "in the file and redacted", func(f *repokit.Forgery) { redact(f, f.Tips[0]) }},
		{"of what nothing leads to", "nothing in the file leads", func(f *repokit.Forgery) {
			redact(f, ipld.Sum(ipld.Raw, []byte("elsewhere")))
		}},
		{"of a commit", "missing", func(f *repokit.Forgery) {
			redact(f, f.Tips[0])
			delete(f.Blocks, f.Tips[0])
		}},
		{"of an edge", "missing", func(f *repokit.Forgery) {
			for _, item := range f.Edges {
				v := must.Get(ipld.DecodeValue(item))(f.T)
				redact(f, v.Link())
				delete(f.Blocks, v.Link())
			}
		}},
		{"under no CID", "redactions", func(f *repokit.Forgery) {
			f.Manifest.Redacted = f.Tree(map[string][]byte{"x": repokit.LinkTo(f.Put(stub()))})
		}},
		{"that is none", "not a redaction", func(f *repokit.Forgery) {
			f.Manifest.Redacted = f.Tree(map[string][]byte{
				string(ipld.Sum(ipld.Raw, nil).Bytes()): repokit.LinkTo(f.Put(ipld.AppendMap(nil, 0))),
			})
		}},
	}
	for _, c := range cases {
		f := repokit.Forge(t)
		f.After = c.edit
		refuses(t, "redaction "+c.name, f.File(), c.reason)
	}
	f := repokit.Forge(t)
	f.After = func(f *repokit.Forgery) { // the good case: a query
		c := ipld.Sum(ipld.Raw, []byte("query"))
		redact(f, c)
		delete(f.Blocks, c)
	}
	r, st := repokit.OverMem(t)
	res := repokit.ImportInto(t, r, f.File(), exchange.ImportOptions{Name: "n"})
	must.True(t, res.Redactions == 1 && redacted(t, st, ipld.Sum(ipld.Raw, []byte("query"))),
		"a redacted query: %+v", res)
}

// TestExportAfterPurge purges a node and exports the memory: the importer can read old commits without it, and
// receipts say why they do not replay identically.
func TestExportAfterPurge(t *testing.T) {
	from, _ := repokit.OverMem(t)
	fill(t, from)
	opt := care.PurgeOptions{Stamp: repokit.By, Reason: "asked"}
	must.OK(t, must.Err(care.Purge(t.Context(), from, "alice", opt)))
	file, res := repokit.Export(t, from, exchange.ExportOptions{All: true})
	must.True(t, res.Redacted >= 2 && !bytes.Contains(file, []byte("Alice leads")), "%+v", res)
	to, _ := repokit.OverMem(t)
	got := repokit.ImportInto(t, to, file, exchange.ImportOptions{})
	must.True(t, got.Redactions == res.Redacted, "%d redactions, want %d", got.Redactions, res.Redacted)
	if a, b := refNames(t, from), refNames(t, to); a["refs/heads/main"] != b["refs/heads/main"] {
		t.Errorf("main is %s, want %s", b["refs/heads/main"], a["refs/heads/main"])
	}
	old := must.Get(to.Snapshot(t.Context(), "HEAD~2"))(t)
	n := repokit.NodeByKey(t, old, "alice")
	must.True(t, n.Type == state.RedactedType, "the node is a %s", n.Type)
	for _, r := range []*core.Repo{from, to} {
		replay, err := session.Replay(t.Context(), r, "review")
		must.True(t, err == nil && len(replay.Redacted) > 0, "replay: %+v, %v", replay, err)
	}
	again, _ := repokit.Export(t, to, exchange.ExportOptions{All: true})
	must.Same(t, again, file, "exported again it is another file")
}
