package repo_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/ipfs/go-cid"

	"github.com/mnem-project/mnem/ipld/prime"
	"github.com/mnem-project/mnem/repo"
)

// TestExportSelected exports parts of a commit, which another library reads; what was erased is left out.
func TestExportSelected(t *testing.T) {
	r, st := openStore(t)
	fill(t, r)
	at := prime.Cid(head(t, r).CID())
	const graph = `{"f":{"f>":{"graph":{"R":{"l":{"none":{}},":>":{"a":{">":{"@":{}}}}}}}}}`
	export := func(selector string) ([]cid.Cid, *repo.ExportResult) {
		var b bytes.Buffer
		res, err := r.Export(t.Context(), &b, repo.ExportOptions{Selector: selector})
		if err != nil {
			t.Fatal(err)
		}
		root, order, blocks := theirs(t, b.Bytes())
		if root != at || len(blocks) != len(order) || res.Blocks != len(order) || res.Bytes != int64(b.Len()) {
			t.Errorf("%s: root %s, %d blocks of %d, %d of %d bytes", selector, root, len(blocks), res.Blocks,
				b.Len(), res.Bytes)
		}
		return order, res
	}
	if order, _ := export(`{".":{}}`); !slices.Equal(order, []cid.Cid{at}) {
		t.Errorf("the commit alone: %s", order)
	}
	before, res := export(graph)
	if len(before) < 10 || res.Redacted != 0 {
		t.Errorf("%d blocks, %d erased", len(before), res.Redacted)
	}
	if again, _ := export(graph); !slices.Equal(before, again) {
		t.Error("the same selector gave two files")
	}
	var b bytes.Buffer
	if _, err := r.Export(t.Context(), &b, repo.ExportOptions{Selector: graph}); err != nil {
		t.Fatal(err)
	}
	empty, _ := openStore(t)
	file := bytes.NewReader(b.Bytes())
	if _, err := empty.Import(t.Context(), file, file.Size(), repo.ImportOptions{}); err == nil {
		t.Error("a part of a commit was imported as a memory")
	}
	erase(t, st, nodeCID(t, r, "alice"))
	after, res := export(graph)
	if res.Redacted != 1 || len(after) != len(before)-1 {
		t.Errorf("%d blocks of %d, %d erased", len(after), len(before), res.Redacted)
	}
}
